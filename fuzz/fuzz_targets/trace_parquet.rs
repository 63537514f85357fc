//! A trace in Parquet is refused with its place or read, whatever its bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_traffic::trace::read_parquet;
use weft_units::HostId;

fuzz_target!(
    // The reader catches what the parquet crate throws at damaged files, and libFuzzer's hook would
    // end the run before it can; what is not caught ends the run all the same.
    init: std::panic::set_hook(Box::new(|info| eprintln!("{info}"))),
    |bytes: &[u8]| {
        let find = |name: &str| match name.strip_prefix('h').and_then(|id| id.parse().ok()) {
            Some(id) => Ok(HostId(id)),
            None => Err("there is no such host".to_owned()),
        };
        let _ = read_parquet(bytes, &find);
    }
);
