//! Any bytes, as a table of a tuner, are rejected with a line and a reason, or parsed, and choose an algorithm for any size.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_traffic::{Algorithm, Collective, read_tuner};

fuzz_target!(|bytes: &[u8]| {
    match read_tuner(bytes) {
        Err(error) => assert!(!error.why.trim_end().ends_with(':'), "no reason: {error}"),
        Ok(tuner) => {
            for bytes in [1, 1 << 20, u64::MAX] {
                let collective = Collective::new(Algorithm::RingAllReduce, bytes, 1);
                if let Ok(chosen) = tuner.choose(&collective, 8, 1) {
                    assert!((1..=64).contains(&chosen.collective.channels) && chosen.collective.bytes == bytes);
                }
            }
        }
    }
});
