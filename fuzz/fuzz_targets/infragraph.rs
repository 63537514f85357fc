//! Any bytes, as an infrastructure of InfraGraph, are rejected with a reason, or survive a round trip.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_fabric::{LinkSpec, read, write};

fuzz_target!(|bytes: &[u8]| {
    match read::file("fuzz.yaml", bytes, &LinkSpec::default()) {
        Err(error) => assert!(!error.to_string().trim_end().ends_with(':'), "no reason: {error}"),
        Ok(fabric) => {
            let again = read::file("again.json", write::node_link(&fabric).as_bytes(), &LinkSpec::default());
            assert_eq!(again.expect("written output parses").links().len(), fabric.links().len());
        }
    }
});
