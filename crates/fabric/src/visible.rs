//! [`visible`]: words of a file as messages repeat them.

/// The text with escapes for control characters and for spaces other than ` `, which a reader of a message cannot see.
pub fn visible(text: &str) -> String {
    let spell = |c: char| match c != ' ' && (c.is_control() || c.is_whitespace()) {
        true => c.escape_unicode().to_string(),
        false => c.to_string(),
    };
    text.chars().map(spell).collect()
}
