//! [`Words`]: the words of a file, with their lines.

use std::collections::VecDeque;

use crate::trace::error::TraceError;
use crate::trace::value::{is_too_large, too_large};
use crate::words::short;

/// A word of the file and its line.
#[derive(Clone, Copy, Debug)]
pub struct Word<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its line.
    pub line: u64,
}

/// The words of a file that are not read yet.
pub struct Words<'a> {
    words: VecDeque<Word<'a>>,
    /// The last line.
    last: u64,
}

impl<'a> Words<'a> {
    /// Without comments. Braces and the colon after a label are words of their own.
    pub fn of(text: &'a str) -> Result<Self, TraceError> {
        let mut words: VecDeque<Word> = VecDeque::new();
        let mut open: Option<u64> = None;
        for (line, number) in text.lines().zip(1_u64..) {
            let mut rest = line;
            while !rest.is_empty() {
                if open.is_some() {
                    let Some(at) = rest.find("*/") else { break };
                    (open, rest) = (None, &rest[at + 2..]);
                    continue;
                }
                rest = rest.trim_start();
                if rest.starts_with("//") || rest.starts_with('#') {
                    break;
                }
                if let Some(after) = rest.strip_prefix("/*") {
                    (open, rest) = (Some(number), after);
                    continue;
                }
                let is_end = |c: char| c.is_whitespace() || matches!(c, '{' | '}' | ':' | '/');
                let end = match rest.find(is_end) {
                    None => rest.len(),
                    // A mark is a word of its own.
                    Some(0) => rest.chars().next().map_or(0, char::len_utf8),
                    Some(at) => at,
                };
                let (word, after) = rest.split_at(end);
                if !word.is_empty() {
                    words.push_back(Word { text: word, line: number });
                }
                rest = after;
            }
        }
        match open {
            None => Ok(Self { last: words.back().map_or(1, |word| word.line), words }),
            Some(line) => Err(TraceError::line(line, "this comment has no end")),
        }
    }

    /// The word at `place` among those that are left.
    pub fn get(&self, place: usize) -> Option<Word<'a>> {
        self.words.get(place).copied()
    }

    /// The line of the next word; the last line if there is none.
    pub fn line(&self) -> u64 {
        self.words.front().map_or(self.last, |word| word.line)
    }

    /// Takes the next word; `expected` is for the error at the end of the file.
    pub fn next(&mut self, expected: &str) -> Result<Word<'a>, TraceError> {
        self.words
            .pop_front()
            .ok_or_else(|| TraceError::line(self.last, format!("the file ends here; expected {expected}")))
    }

    /// Takes the next word if it is `text`.
    pub fn take(&mut self, text: &str) -> bool {
        let is_it = self.words.front().is_some_and(|word| word.text == text);
        if is_it {
            self.words.pop_front();
        }
        is_it
    }

    /// Takes the next word, which must be `text`.
    pub fn need(&mut self, text: &str) -> Result<(), TraceError> {
        let word = self.next(&format!("`{text}`"))?;
        match word.text == text {
            true => Ok(()),
            false => Err(TraceError::line(
                word.line,
                format!("`{}` is not expected here; expected `{text}`", short(word.text)),
            )),
        }
    }

    /// Takes the next word, a number that is called `name`, without the end `unit`.
    pub fn number(&mut self, name: &str, unit: &str) -> Result<u64, TraceError> {
        let word = self.next(&format!("a number: {name}"))?;
        let digits = word.text.strip_suffix(unit).unwrap_or(word.text);
        let number = digits.parse().map_err(|error| match is_too_large(&error) {
            true => TraceError::line(word.line, too_large(name, digits)),
            false => {
                TraceError::line(word.line, format!("{name}: `{}` is not a whole number", short(word.text)))
            }
        })?;
        if digits.len() == word.text.len() && !unit.is_empty() && !self.take(unit) {
            return Err(TraceError::line(
                word.line,
                format!("{name}: the unit is missing; expected `{number}{unit}`"),
            ));
        }
        Ok(number)
    }
}
