//! [`Table`]: a configuration table being read. Keys are requested by name and type; a wrong type and, at the
//! end, a key that was never requested are problems with a position.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use weft_units::{Given, ParamInfo, ParamKind, ParamValue, QuantityError, Range as Valid};

use super::diagnostic::{Problem, suggest};

/// The largest count: of entries of a table, which are allocated at start.
const MOST: u64 = (1 << 26) - 1;

/// A table, and the keys requested so far.
pub struct Table<'t> {
    /// Its name in messages: `[hello]`, or empty for the top level.
    name: &'static str,
    entries: Option<&'t DeTable<'t>>,
    problems: &'t RefCell<Vec<Problem>>,
    asked: RefCell<Vec<&'static str>>,
}

/// A value and its position.
pub type Place<T> = (T, Range<usize>);

impl<'t> Table<'t> {
    /// The whole text.
    pub fn top(entries: &'t DeTable<'t>, problems: &'t RefCell<Vec<Problem>>) -> Self {
        Self { name: "", entries: Some(entries), problems, asked: RefCell::default() }
    }

    /// Records a problem.
    pub fn problem(&self, span: Range<usize>, message: impl Into<String>, label: impl Into<String>) {
        self.problems.borrow_mut().push(Problem::at(span, message, label));
    }

    fn value(&self, key: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.asked.borrow_mut().push(key);
        self.entries?.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    /// The value of `key` if `read` accepts it, otherwise a problem stating the `expected` values.
    fn read<T>(
        &self,
        key: &'static str,
        expected: &str,
        read: impl FnOnce(&'t DeValue<'t>) -> Option<T>,
    ) -> Option<Place<T>> {
        let value = self.value(key)?;
        let read = read(value.get_ref());
        if read.is_none() {
            // Secrets never appear in messages.
            let secret = key.ends_with("key") || key.ends_with("keys");
            let found = if secret { "of the wrong type".to_owned() } else { describe(value.get_ref()) };
            self.problem(value.span(), format!("`{key}` is {found}"), format!("expected {expected}"));
        }
        read.map(|read| (read, value.span()))
    }

    /// A string.
    pub fn text(&self, key: &'static str) -> Option<Place<String>> {
        self.read(key, "a string in quotes", |value| value.as_str().map(str::to_owned))
    }

    /// A string that `parse` turns into a value or an error label.
    pub fn parsed<T>(
        &self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<Place<T>> {
        let (text, span) = self.text(key)?;
        match parse(&text) {
            Ok(value) => Some((value, span)),
            Err(label) => {
                self.problem(span, format!("`{key}` is {text:?}"), label);
                None
            }
        }
    }

    /// A whole number in `range`.
    pub fn number(&self, key: &'static str, range: Range<u64>) -> Option<Place<u64>> {
        let expected = format!("a whole number from {} to {}", range.start, range.end - 1);
        self.read(key, &expected, |value| {
            let integer = value.as_integer()?;
            u64::from_str_radix(integer.as_str(), integer.radix())
                .ok()
                .filter(|number| range.contains(number))
        })
    }

    /// One of a few words.
    pub fn word(&self, key: &'static str, words: &[&'static str]) -> Option<Place<&'static str>> {
        self.parsed(key, |text| {
            words
                .iter()
                .find(|word| **word == text)
                .copied()
                .ok_or_else(|| suggest(text, words.iter().copied()))
        })
    }

    /// The values given for parameters, each of its kind and in its range, and their positions.
    pub fn params<'p>(
        &self,
        params: impl IntoIterator<Item = &'p ParamInfo>,
    ) -> (Given, HashMap<&'static str, Range<usize>>) {
        let given = params.into_iter().filter_map(|param| Some((param.name, self.param(param)?)));
        given.map(|(name, (value, span))| ((name.to_owned(), value), (name, span))).unzip()
    }

    /// The value given for a parameter.
    fn param(&self, param: &ParamInfo) -> Option<Place<ParamValue>> {
        let name = param.name;
        let wrong = |error: QuantityError| format!("expected {}: {}", error.expected, error.why);
        let (value, span) = match (param.kind, param.range) {
            (ParamKind::Count, Valid::Whole(least, most)) => {
                let count = self.number(name, least..most.min(MOST) + 1);
                count.map(|(count, span)| (ParamValue::Count(count), span))
            }
            (kind, _) => self.parsed(name, |text| match kind {
                ParamKind::Choice(words) if words.contains(&text) => Ok(ParamValue::Text(text.to_owned())),
                ParamKind::Choice(words) => Err(suggest(text, words.iter().copied())),
                ParamKind::Duration => text.parse().map(ParamValue::Duration).map_err(wrong),
                ParamKind::Bytes => text.parse().map(ParamValue::Bytes).map_err(wrong),
                _ => Err("not a key of a switch".to_owned()),
            }),
        }?;
        let Some(valid) = param.refusal(&value) else { return Some((value, span)) };
        self.problem(span, format!("`{name}` is {value}"), format!("expected {valid}"));
        None
    }

    /// A list of strings.
    pub fn texts(&self, key: &'static str) -> Option<Place<Vec<Place<String>>>> {
        self.read(key, "a list of strings, such as [\"eth1\", \"eth2\"]", |value| {
            let text = |item: &Spanned<DeValue<'_>>| Some((item.get_ref().as_str()?.to_owned(), item.span()));
            value.as_array()?.iter().map(text).collect()
        })
    }

    /// Whether there is a `key`.
    pub fn has(&self, key: &str) -> bool {
        self.entries.is_some_and(|entries| entries.iter().any(|(name, _)| name.get_ref() == key))
    }

    /// Whether `key` is a string.
    pub fn is_text(&self, key: &str) -> bool {
        let value = self.entries.and_then(|all| all.iter().find(|(name, _)| name.get_ref() == key));
        value.is_some_and(|(_, value)| value.get_ref().is_str())
    }

    /// The table `key`, called `name` in messages; empty if it is missing.
    pub fn table(&self, key: &'static str, name: &'static str) -> Table<'t> {
        let entries = self.read(key, "a table", DeValue::as_table).map(|(entries, _)| entries);
        Table { name, entries, problems: self.problems, asked: RefCell::default() }
    }

    /// The tables of the list `key`, called `name` in messages.
    pub fn tables(&self, key: &'static str, name: &'static str) -> Vec<Place<Table<'t>>> {
        let expected = format!("an array of tables, each starting with [[{key}]]");
        let items = self.read(key, &expected, |value| {
            let table = |item: &'t Spanned<DeValue<'t>>| Some((item.get_ref().as_table()?, item.span()));
            value.as_array()?.iter().map(table).collect::<Option<Vec<_>>>()
        });
        let table = |(entries, span)| {
            (Table { name, entries: Some(entries), problems: self.problems, asked: RefCell::default() }, span)
        };
        items.into_iter().flat_map(|(items, _)| items).map(table).collect()
    }

    /// Reports every key that was not requested as unknown.
    pub fn finish(self) {
        let asked = self.asked.borrow();
        for (key, _) in self.entries.into_iter().flat_map(|entries| entries.iter()) {
            if !asked.iter().any(|known| key.get_ref() == known) {
                let place = if self.name.is_empty() { String::new() } else { format!(" in {}", self.name) };
                let label = suggest(key.get_ref(), asked.iter().copied());
                self.problem(key.span(), format!("unknown key `{}`{place}", key.get_ref()), label);
            }
        }
    }
}

fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the string {text:?}"),
        DeValue::Integer(number) => format!("the number {number}"),
        DeValue::Float(number) => format!("the number {number}"),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(date) => format!("the date {date}"),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// Parses a text as one TOML table.
///
/// # Errors
/// The TOML syntax error.
pub fn parse(text: &str) -> Result<Spanned<DeTable<'_>>, Problem> {
    DeTable::parse(text).map_err(|error| {
        Problem::at(error.span().unwrap_or_default(), "invalid TOML", error.message().replace('\n', ", "))
    })
}
