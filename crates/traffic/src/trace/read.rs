//! [`Read`]: what a file holds, and its text.

/// What a file holds.
#[derive(Clone, PartialEq, Debug)]
pub struct Read<T> {
    /// Its flows.
    pub flows: T,
    /// What else it says that Weft ignores, in words.
    pub ignored: Vec<String>,
}

/// The text of a file without the byte order mark that some editors put before it.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}
