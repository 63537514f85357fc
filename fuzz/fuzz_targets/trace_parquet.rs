//! Any Parquet trace is rejected with its position or parsed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_traffic::trace::read_parquet;
use weft_units::HostId;

fuzz_target!(
    // The reader catches panics of the parquet crate on damaged files, but libFuzzer's hook would
    // abort before that. An uncaught panic still aborts.
    init: std::panic::set_hook(Box::new(|info| eprintln!("{info}"))),
    |bytes: &[u8]| {
        let find = |name: &str| match name.strip_prefix('h').and_then(|id| id.parse().ok()) {
            Some(id) => Ok(HostId(id)),
            None => Err("no such host".to_owned()),
        };
        let _ = read_parquet(bytes, &find);
    }
);
