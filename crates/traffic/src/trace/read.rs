//! [`Read`]: the content of a file, and its text.

/// The content of a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Read<T> {
    /// Its flows.
    pub flows: T,
    /// Parts of the file that Weft ignores, in words.
    pub ignored: Vec<String>,
}

/// The text of a file without the byte order mark that some editors put before it.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}
