//! [`plural`], [`there_are`] and [`short`]: parts of messages.

use std::fmt::Display;

use weft_fabric::visible;

/// The most characters of a word of a file that a message repeats.
const MOST: usize = 40;

/// A number of things: `1 rank`, `2 ranks`.
pub(crate) fn plural<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let end = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{end}")
}

/// A phrase for this number of things: "there is one flow", "there are 3 flows".
pub(crate) fn there_are(count: u64, noun: &str) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("there {verb} {}", plural(count, noun))
}

/// A word of a file as a message repeats it: the start of a long one, with escapes for control characters and for spaces
/// other than ` `, which a reader of the message cannot see.
pub(crate) fn short(word: &str) -> String {
    let mut text = visible(&word.chars().take(MOST).collect::<String>());
    if word.chars().nth(MOST).is_some() {
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_form_and_long_words_are_cut_between_characters() {
        assert_eq!([0_u64, 1, 2].map(|count| plural(count, "rank")), ["0 ranks", "1 rank", "2 ranks"]);
        assert_eq!([1, 2].map(|count| there_are(count, "flow")), ["there is 1 flow", "there are 2 flows"]);
        assert_eq!(short(&"é".repeat(40)), "é".repeat(40));
        assert_eq!(short(&"é".repeat(41)), format!("{}...", "é".repeat(40)));
        assert_eq!(short("a\u{a0}\t b"), "a\\u{a0}\\u{9} b", "characters that nobody sees");
    }
}
