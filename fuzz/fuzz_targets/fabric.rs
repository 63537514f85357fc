//! Any fabric is rejected with a message, or survives a round trip, whichever format its bytes are read as.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_fabric::{LinkSpec, read, write};

fuzz_target!(|bytes: &[u8]| {
    for name in ["fuzz.toml", "fuzz.graphml", "fuzz.json", "fuzz.topo", "fuzz.txt", "fuzz.yaml", "fuzz"] {
        if let Ok(fabric) = read::file(name, bytes, &LinkSpec::default()) {
            let again = read::file("again.json", write::node_link(&fabric).as_bytes(), &LinkSpec::default());
            assert_eq!(again.expect("written output parses").links().len(), fabric.links().len());
        }
    }
});
