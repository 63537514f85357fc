//! Any bytes, as a workload of SimAI, are rejected with a line and a reason, or parsed, and its flows put in order.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_traffic::trace::{is_simai, read_simai};

fuzz_target!(|bytes: &[u8]| {
    is_simai(bytes);
    match read_simai(bytes, 16) {
        Err(error) => assert!(!error.why.trim_end().ends_with(':'), "no reason: {error}"),
        Ok(read) => {
            let mut program = read.flows;
            program.settle().expect("no circle");
            assert!(
                program.flows.iter().all(|flow| flow.src.0 < program.ranks && flow.dst.0 < program.ranks)
            );
        }
    }
});
