//! A flow size file is rejected with a message, or its mean is a valid flow size.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_traffic::read_cdf;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(sizes) = read_cdf(bytes) {
        assert!(sizes.mean() >= 0.0 && sizes.mean().is_finite());
    }
});
