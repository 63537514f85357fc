//! Names of switches and maps, and readable names of the numbers in maps.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use thiserror::Error;

/// Maximum length of a switch's name, in bytes.
const LONGEST_NAME: usize = 32;

/// The name of a switch on this machine: 1 to 32 ASCII letters, digits, `-` and `_`. Its socket, files and pins are
/// named after it, so it is never a path: no `/`, no `.`, not empty.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SwitchName(String);

/// Not a valid switch name.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("expected 1 to {LONGEST_NAME} letters, digits, `-` and `_`: files and pins are named after it")]
pub struct WrongName;

impl SwitchName {
    /// The default name.
    pub fn standard() -> Self {
        Self("weft".to_owned())
    }
}

impl FromStr for SwitchName {
    type Err = WrongName;

    fn from_str(text: &str) -> Result<Self, WrongName> {
        let right = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        match (1..=LONGEST_NAME).contains(&text.len()) && text.chars().all(right) {
            true => Ok(Self(text.to_owned())),
            false => Err(WrongName),
        }
    }
}

impl Deref for SwitchName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SwitchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The prefix of map names in the kernel, shared by all programs there. Pins have their own directory, and no prefix.
const PREFIX: &str = "weft_";

/// The name of a map in the programs and in the kernel, which keeps 15 bytes of it.
pub fn map_in_kernel(map: &str) -> String {
    format!("{PREFIX}{map}")
}

/// The name of a program's map without the prefix; `None` for a data section.
pub fn map_of_program(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX)
}

/// A station's class, by the numbers of `weft_switching::arp_path`.
pub const fn station_class(class: u8) -> &'static str {
    match class {
        weft_switching::arp_path::LOCKED => "locked",
        weft_switching::arp_path::LEARNT => "learnt",
        _ => "attached",
    }
}

/// A flow's class, by the numbers of `weft_switching::path_table`.
pub const fn path_class(class: u8) -> &'static str {
    match class {
        weft_switching::path_table::LOCKED => "locked",
        weft_switching::path_table::CLOSING => "closing",
        _ => "confirmed",
    }
}

/// A frame's kind, by the numbers of `weft_switching::Kind`.
pub fn kind(number: u8) -> &'static str {
    const KINDS: [&str; 10] = [
        "tcp",
        "other",
        "arp-request",
        "arp-reply",
        "hello",
        "path-request",
        "path-reply",
        "path-fail",
        "recovery-request",
        "recovery-reply",
    ];
    KINDS.get(usize::from(number)).copied().unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_switching::Kind;

    #[test]
    fn a_name_of_a_switch_is_never_a_path() {
        for right in ["s", "S1", "leaf-1_a", "attach", &"n".repeat(32)] {
            assert_eq!(right.parse::<SwitchName>().as_deref(), Ok(right));
        }
        for wrong in ["", ".", "..", "a.b", "/", "a/b", "../a", "a b", "a\n", "\u{e4}", "%", &"n".repeat(33)]
        {
            assert_eq!(wrong.parse::<SwitchName>(), Err(WrongName), "{wrong:?}");
        }
    }

    #[test]
    fn kinds_have_the_names_of_their_numbers() {
        assert_eq!(kind(Kind::Tcp as u8), "tcp");
        assert_eq!(kind(Kind::Hello as u8), "hello");
        assert_eq!(kind(Kind::RecoveryReply as u8), "recovery-reply");
    }
}
