//! The end of a warning that is about several links.

/// How many more links a warning is about than the one that it names.
pub(super) fn and_more(count: usize) -> String {
    match count {
        0 => String::new(),
        more => format!(" (and {more} more like it)"),
    }
}
