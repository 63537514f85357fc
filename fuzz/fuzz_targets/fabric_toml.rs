//! A fabric in TOML, whatever it says, is refused with a message or can be written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_fabric::{LinkSpec, read, write};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(fabric) = read::file("fuzz.toml", bytes, &LinkSpec::default()) {
        let again = read::file("again.json", write::node_link(&fabric).as_bytes(), &LinkSpec::default());
        assert_eq!(again.expect("what is written is read").links().len(), fabric.links().len());
    }
});
