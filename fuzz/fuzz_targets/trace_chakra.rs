//! Any bytes, as the files of two ranks of Chakra, are rejected with their place and a reason, or parsed, and their
//! flows put in order. The first two bytes are the length of the first file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_traffic::trace::read_chakra;

fuzz_target!(|bytes: &[u8]| {
    let Some((length, files)) = bytes.split_first_chunk() else { return };
    let (first, second) = files.split_at(usize::from(u16::from_le_bytes(*length)).min(files.len()));
    match read_chakra(&[first, second], Some(br#"{"1": [1, 0], "2": [1]}"#)) {
        Err(error) => assert!(!error.why.trim_end().ends_with(':'), "no reason: {error}"),
        Ok(read) => {
            let mut program = read.flows;
            program.settle().expect("a circle is an error of the file");
            assert!(program.flows.iter().all(|flow| flow.src.0 < 2 && flow.dst.0 < 2));
        }
    }
});
