//! [`part`]: data in parts.

/// The size of the part with this number, of `parts` that are as equal as possible.
pub(crate) fn part(bytes: u64, parts: u64, number: u64) -> u64 {
    bytes / parts + u64::from(number < bytes % parts)
}
