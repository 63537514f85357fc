//! [`Table`]: the keys of one table of a file, and [`Fault`]: an error with its position.

use std::cell::Cell;
use std::fmt::Display;

use super::super::notes::Notes;
use super::super::yaml::{Entry, Kind, Yaml};
use super::super::{ErrorKind, ReadError};
use crate::nearest::misspelt;
use crate::visible;

/// An error with its position.
#[derive(Debug)]
pub(super) struct Fault {
    pub byte: usize,
    /// The element, such as ``device `server` ``; empty for none.
    pub element: String,
    pub why: ErrorKind,
}

impl Fault {
    pub fn new(byte: usize, element: &str, why: impl Into<ErrorKind>) -> Self {
        Self { byte, element: element.to_owned(), why: why.into() }
    }

    /// An error of a kind that needs words only.
    pub fn said(byte: usize, element: &str, why: impl Into<String>) -> Self {
        Self::new(byte, element, ErrorKind::Syntax(why.into()))
    }

    /// The error with line and column.
    pub fn of_text(self, text: &str) -> ReadError {
        let error = ReadError::from(self.why).at(text, self.byte);
        if self.element.is_empty() { error } else { error.of(self.element) }
    }
}

/// A text with its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'y> {
    pub text: &'y str,
    pub byte: usize,
}

/// The keys of a table.
pub(super) struct Table<'y> {
    entries: &'y [Entry<'y>],
    /// Where it begins.
    pub byte: usize,
    /// Its name in messages.
    pub element: String,
    /// The first key that [`only`](Self::only) did not know.
    unknown: Cell<Option<&'y str>>,
}

impl<'y> Table<'y> {
    /// The table `value`, called `element` in messages.
    pub fn of(value: &'y Yaml<'y>, element: impl Into<String>) -> Result<Self, Fault> {
        let element = element.into();
        match &value.kind {
            Kind::Table(entries) => Ok(Self { entries, byte: value.byte, element, unknown: Cell::new(None) }),
            other => {
                let why = format!("expected a table of keys and values, not {}", other.name());
                Err(Fault::said(value.byte, &element, why))
            }
        }
    }

    /// Rejects misspelt keys and notes that other unknown ones have no effect. `elements` names tables of this kind.
    pub fn only(&self, known: &[&str], elements: &'static str, notes: &mut Notes) -> Result<(), Fault> {
        for entry in self.entries.iter().filter(|entry| !known.contains(&&*entry.key)) {
            if let Some(meant) = misspelt(&entry.key, known.iter().copied()) {
                let why = format!("unknown key `{}`: did you mean `{meant}`?", visible(&entry.key));
                return Err(Fault::said(entry.byte, &self.element, why));
            }
            notes.ignore(elements, &visible(&entry.key));
            self.unknown.set(self.unknown.get().or(Some(&entry.key)));
        }
        Ok(())
    }

    /// Rejects `connections`, which drafts of InfraGraph had in the place of `edges`.
    pub fn check_draft(&self) -> Result<(), Fault> {
        let old = self.entries.iter().find(|entry| entry.key == "connections");
        match old.filter(|_| self.get("edges").is_none()) {
            None => Ok(()),
            Some(old) => {
                let why = "`connections` is of the drafts of InfraGraph; expected `edges`";
                Err(Fault::said(old.byte, &self.element, why))
            }
        }
    }

    /// The value of a key, unless it is missing or nothing.
    pub fn get(&self, key: &str) -> Option<&'y Yaml<'y>> {
        let entry = self.entries.iter().find(|entry| entry.key == key);
        entry.map(|entry| &entry.value).filter(|value| !matches!(value.kind, Kind::Null))
    }

    /// An error about the value of a key.
    pub fn invalid(&self, key: &'static str, byte: usize, why: impl Into<String>) -> Fault {
        Fault::new(byte, &self.element, ErrorKind::Value { key, why: why.into() })
    }

    /// A text, if given.
    pub fn text(&self, key: &'static str) -> Result<Option<Word<'y>>, Fault> {
        match self.get(key) {
            None => Ok(None),
            Some(Yaml { byte, kind: Kind::Text(text) }) => Ok(Some(Word { text, byte: *byte })),
            Some(Yaml { byte, kind }) => {
                Err(self.invalid(key, *byte, format!("expected a single value, not {}", kind.name())))
            }
        }
    }

    /// A text that must be given; `missing` is the key in quotes.
    pub fn word(&self, key: &'static str, missing: &'static str) -> Result<Word<'y>, Fault> {
        let missing = || match self.unknown.get() {
            None => Fault::new(self.byte, &self.element, ErrorKind::Missing(missing)),
            Some(unknown) => {
                let why = format!("{missing} is missing, and the key `{}` is unknown", visible(unknown));
                Fault::said(self.byte, &self.element, why)
            }
        };
        self.text(key)?.ok_or_else(missing)
    }

    /// A list; empty if missing.
    pub fn list(&self, key: &'static str) -> Result<&'y [Yaml<'y>], Fault> {
        match self.get(key) {
            None => Ok(&[]),
            Some(Yaml { kind: Kind::List(items), .. }) => Ok(items),
            Some(Yaml { byte, kind }) => {
                Err(self.invalid(key, *byte, format!("expected a list, not {}", kind.name())))
            }
        }
    }

    /// A table within this one, if given.
    pub fn table(&self, key: &str) -> Result<Option<Table<'y>>, Fault> {
        self.get(key).map(|value| Table::of(value, format!("{}: `{key}`", self.element))).transpose()
    }

    /// A whole number from 1 that must be given.
    pub fn count(&self, key: &'static str, missing: &'static str) -> Result<u32, Fault> {
        let Word { text, byte } = self.word(key, missing)?;
        let why = || format!("`{}` is not a whole number below 2^32", visible(text));
        match text.parse().map_err(|_| self.invalid(key, byte, why()))? {
            0 => Err(self.invalid(key, byte, "it is 0: write at least 1, or leave this table out")),
            count => Ok(count),
        }
    }

    /// A number that must be given, times `unit`: finite, not negative and at most `most`, which messages call `shown`.
    pub fn number(
        &self,
        (key, missing, unit): (&'static str, &'static str, f64),
        most: f64,
        shown: impl Display,
    ) -> Result<u64, Fault> {
        let Word { text, byte } = self.word(key, missing)?;
        let parsed = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
        let why = |why: String| self.invalid(key, byte, format!("`{}` {why}", visible(text)));
        let number = parsed.ok_or_else(|| why("is not a number from 0".into()))? * unit;
        if number > most {
            return Err(why(format!("is too much: expected at most {shown}")));
        }
        Ok(number.round() as u64)
    }
}
