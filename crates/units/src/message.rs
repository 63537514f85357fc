//! Parts of messages to users: a number with its noun ([`plural`]), words to choose from ([`alternatives`]), and the reason of a
//! failed system call ([`reason`]).

use std::fmt::Display;
use std::io;

/// A number of things: `1 rank`, `2 ranks`. The first word of `noun` gets the plural: `1 host per leaf`,
/// `2 hosts per leaf`.
pub fn plural<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let (word, rest) = noun.find(' ').map_or((noun, ""), |at| noun.split_at(at));
    match word {
        _ if count == N::from(1) => format!("{count} {noun}"),
        "leaf" => format!("{count} leaves{rest}"),
        _ if word.ends_with("ch") => format!("{count} {word}es{rest}"),
        "entry" => format!("{count} entries{rest}"),
        _ => format!("{count} {word}s{rest}"),
    }
}

/// Words to choose from: `a`, `a or b`, `a, b or c`; empty without any.
pub fn alternatives(words: &[String]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    }
}

/// Why a system call failed, in the system's words without the error's number: `No such file or directory`.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let number = error.raw_os_error().map(|code| format!(" (os error {code})")).unwrap_or_default();
    text.strip_suffix(&number).unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_has_the_singular() {
        assert_eq!([0_u64, 1, 2].map(|count| plural(count, "rank")), ["0 ranks", "1 rank", "2 ranks"]);
        assert_eq!(
            [1, 2].map(|count| plural(count, "host per leaf")),
            ["1 host per leaf", "2 hosts per leaf"]
        );
        assert_eq!(
            ["leaf", "switch", "entry"].map(|noun| plural(3, noun)),
            ["3 leaves", "3 switches", "3 entries"]
        );
    }

    #[test]
    fn the_last_alternative_follows_an_or() {
        let words = ["a", "b", "c"].map(str::to_owned);
        let all: Vec<String> = (0..=3).map(|count| alternatives(&words[..count])).collect();
        assert_eq!(all, ["", "a", "a or b", "a, b or c"]);
    }

    #[test]
    fn a_reason_has_no_number_of_an_error() {
        assert_eq!(reason(&io::Error::from_raw_os_error(2)), "No such file or directory");
        assert_eq!(reason(&io::Error::other("no space")), "no space");
    }
}
