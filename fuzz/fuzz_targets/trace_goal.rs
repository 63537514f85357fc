//! Any text, as the text form of GOAL, is rejected with its position or parsed, and its flows put in order.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_traffic::trace::read_goal;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(mut program) = read_goal(bytes) {
        let nodes = program.flows.len() + program.steps.len();
        if let Err(circle) = program.settle() {
            assert!(!circle.is_empty() && circle.len() <= nodes);
        }
        assert!(program.flows.iter().all(|flow| flow.src.0 < program.ranks && flow.dst.0 < program.ranks));
    }
});
