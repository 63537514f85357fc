//! Any bytes, as the files of several ranks of Chakra, are rejected with their place and a reason, or parsed, and their
//! flows put in order.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_traffic::trace::read_chakra;

fuzz_target!(|input: (Vec<Vec<u8>>, Option<Vec<u8>>)| {
    let files: Vec<&[u8]> = input.0.iter().map(Vec::as_slice).take(8).collect();
    match read_chakra(&files, input.1.as_deref()) {
        Err(error) => assert!(!error.why.trim_end().ends_with(':'), "no reason: {error}"),
        Ok(read) => {
            let mut program = read.flows;
            program.settle().expect("a circle is an error of the file");
            assert_eq!(program.ranks as usize, files.len());
            assert!(
                program.flows.iter().all(|flow| flow.src.0 < program.ranks && flow.dst.0 < program.ranks)
            );
        }
    }
});
