//! The text form of every parsed rule or group parses to the same change.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_control::tag_forward::{FlowFilter, Verb, parse_change};

fuzz_target!(|line: &str| {
    let (verb, text) = Verb::split(line);
    if let Ok(change) = parse_change(verb, text) {
        let shown = change.to_string();
        let (verb, text) = Verb::split(&shown);
        assert_eq!(parse_change(verb, text).as_ref(), Ok(&change), "{shown}");
    }
    let _ = FlowFilter::parse(line);
});
