//! Any scenario is rejected with a message or parsed; files that it names do not exist.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_scenario::Scenario;

fuzz_target!(|text: &str| {
    match Scenario::parse(text, "fuzz.toml") {
        Ok(scenario) => assert!(!scenario.points().is_empty()),
        Err(wrong) => assert!(wrong.to_string().starts_with("error: ")),
    }
});
