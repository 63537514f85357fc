//! Shortens a sequence that shows a difference.

use crate::conformance::pair::{Pair, Step};
use crate::conformance::setting::Setting;

/// Runs steps from the beginning; returns the difference, if any.
pub fn replay(setting: &Setting, steps: &[Step]) -> Option<String> {
    let mut pair = Pair::new(setting);
    steps.iter().find_map(|step| pair.step(step).err())
}

/// Removes steps from a sequence as long as it still shows a difference: halves first, single steps
/// last.
pub fn shorten(setting: &Setting, mut steps: Vec<Step>) -> Vec<Step> {
    let mut chunk = steps.len().div_ceil(2);
    while chunk > 0 {
        let mut end = steps.len().saturating_sub(1);
        while end > 0 {
            let start = end.saturating_sub(chunk);
            let mut fewer = steps.clone();
            let wait: u64 = fewer.drain(start..end).map(|step| step.wait).sum();
            fewer[start].wait += wait;
            if replay(setting, &fewer).is_some() {
                steps = fewer;
            }
            end = start;
        }
        chunk /= 2;
    }
    steps
}
