//! A trace in Parquet is refused with its place or read, whatever its bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_traffic::trace::read_parquet;
use weft_units::HostId;

fuzz_target!(|bytes: &[u8]| {
    let find = |name: &str| match name.strip_prefix('h').and_then(|id| id.parse().ok()) {
        Some(id) => Ok(HostId(id)),
        None => Err("there is no such host".to_owned()),
    };
    let _ = read_parquet(bytes, &find);
});
