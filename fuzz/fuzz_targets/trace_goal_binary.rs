//! Any bytes after the cookie of GOAL's binary form are rejected with their place and a reason, or parsed, and their
//! flows put in order.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_traffic::trace::read_goal;

fuzz_target!(|bytes: &[u8]| {
    match read_goal(&[&4223_u64.to_le_bytes(), bytes].concat()) {
        Err(error) => assert!(!error.why.trim_end().ends_with(':'), "no reason: {error}"),
        Ok(mut program) => {
            program.settle().expect("a circle is an error of the file");
            assert!(
                program.flows.iter().all(|flow| flow.src.0 < program.ranks && flow.dst.0 < program.ranks)
            );
        }
    }
});
