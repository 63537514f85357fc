//! [`there_are`] and [`short`]: parts of messages.

use weft_fabric::visible;
use weft_units::plural;

/// The most characters of a word of a file that a message repeats.
const MOST: usize = 40;

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
        assert_eq!([1, 2].map(|count| there_are(count, "flow")), ["there is 1 flow", "there are 2 flows"]);
        assert_eq!(short(&"é".repeat(40)), "é".repeat(40));
        assert_eq!(short(&"é".repeat(41)), format!("{}...", "é".repeat(40)));
        assert_eq!(short("a\u{a0}\t b"), "a\\u{a0}\\u{9} b", "characters that nobody sees");
    }
}
