//! Any text, as a CSV trace or a list of conweave-ns3, is rejected with its position or parsed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_traffic::trace::{read_conweave, read_csv};
use weft_units::HostId;

fuzz_target!(|bytes: &[u8]| {
    let find = |name: &str| match name.strip_prefix('h').and_then(|id| id.parse().ok()) {
        Some(id) => Ok(HostId(id)),
        None => Err("no such host".to_owned()),
    };
    let _ = read_csv(bytes, &find);
    let _ = read_conweave(bytes, &find);
});
