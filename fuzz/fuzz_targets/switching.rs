//! Arbitrary frames at one switch of any scheme: it decides about each, keeps its tables within their limits and never panics.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/switching/tests/switching/explore/one_switch.rs"]
mod one_switch;

fuzz_target!(|bytes: &[u8]| one_switch::run(bytes));
