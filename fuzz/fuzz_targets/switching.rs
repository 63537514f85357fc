//! Arbitrary frames at one switch of any scheme: each gets a decision, tables stay within their limits, no panic.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/switching/tests/switching/explore/one_switch.rs"]
mod one_switch;

fuzz_target!(|bytes: &[u8]| one_switch::run(bytes));
