//! Any bytes, as either form of GOAL, are rejected with its position and a reason, or parsed, and its flows put in
//! order.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_traffic::trace::read_goal;

fuzz_target!(|bytes: &[u8]| {
    match read_goal(bytes) {
        Err(error) => assert!(!error.why.trim_end().ends_with(':'), "no reason: {error}"),
        Ok(mut program) => {
            program.settle().expect("a circle is an error of the file");
            assert!(
                program.flows.iter().all(|flow| flow.src.0 < program.ranks && flow.dst.0 < program.ranks)
            );
        }
    }
});
