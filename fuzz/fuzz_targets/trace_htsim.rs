//! Any text, as a connection matrix of htsim, is rejected with its position or parsed, and its flows put in order.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_traffic::trace::read_htsim;

fuzz_target!(|bytes: &[u8]| {
    if let Ok((read, _)) = read_htsim(bytes) {
        let mut program = read.flows;
        let nodes = program.flows.len() + program.steps.len();
        if let Err(circle) = program.settle() {
            assert!(!circle.is_empty() && circle.len() <= nodes);
        }
        assert!(program.flows.iter().all(|flow| flow.src.0 < program.ranks && flow.dst.0 < program.ranks));
    }
});
