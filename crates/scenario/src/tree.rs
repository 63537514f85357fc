//! [`Node`], a TOML value with its position. The scenario file is read into a tree of nodes once; `--set` and
//! sweep values are inserted before the tree is interpreted.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Problem, Problems};
use crate::source::Span;

/// A number for a message: very large and very small ones with an exponent.
pub(crate) fn shown(number: f64) -> String {
    let is_plain = number == 0.0 || (1e-9..1e15).contains(&number.abs());
    if is_plain { number.to_string() } else { format!("{number:e}") }
}

/// A value and its position.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) span: Span,
}

/// A TOML value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Flag(bool),
    /// A date or time, which no key takes.
    Date(String),
    List(Vec<Node>),
    Table(Table),
}

/// Keys and their values, in the order of the text.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Table(pub(crate) Vec<Entry>);

/// A key and its value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    /// The position of the key.
    pub(crate) span: Span,
    pub(crate) node: Node,
}

impl Table {
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.key == key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// Sets `key` to `node`; `span` is the position of the key.
    pub(crate) fn set(&mut self, key: &str, span: Span, node: Node) {
        match self.0.iter_mut().find(|entry| entry.key == key) {
            Some(entry) => {
                entry.span = span;
                entry.node = node;
            }
            None => self.0.push(Entry { key: key.to_owned(), span, node }),
        }
    }

    /// Adds every value to `values` by its dotted key, including values of tables and of tables in a list. An empty
    /// table counts as a value, as it may switch something on, unless it is a section.
    pub(crate) fn flatten(&self, prefix: &str, values: &mut BTreeMap<String, String>) {
        for entry in &self.0 {
            let key = if prefix.is_empty() { entry.key.clone() } else { format!("{prefix}.{}", entry.key) };
            entry.node.flatten(key, values);
        }
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Entry> {
        let at = self.0.iter().position(|entry| entry.key == key)?;
        Some(self.0.remove(at))
    }
}

impl Node {
    /// Describes the value for messages: `the string "four"`.
    pub(crate) fn describe(&self) -> String {
        match &self.value {
            Value::Text(text) => format!("the string {text:?}"),
            Value::Integer(number) => format!("the number {number}"),
            Value::Float(number) => format!("the number {}", shown(*number)),
            Value::Flag(flag) => format!("{flag}"),
            Value::Date(date) => format!("the date {date}"),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }

    fn flatten(&self, key: String, values: &mut BTreeMap<String, String>) {
        match &self.value {
            Value::Table(table) if !table.0.is_empty() || !key.contains('.') => table.flatten(&key, values),
            Value::List(nodes) if nodes.iter().any(|node| matches!(node.value, Value::Table(_))) => {
                for (at, node) in nodes.iter().enumerate() {
                    node.flatten(format!("{key}.{at}"), values);
                }
            }
            Value::Text(text) => drop(values.insert(key, text.clone())),
            _ => drop(values.insert(key, self.to_json().to_string())),
        }
    }

    /// The value as short text, for the labels of a sweep.
    pub(crate) fn short(&self) -> String {
        match &self.value {
            Value::Text(text) | Value::Date(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Flag(flag) => flag.to_string(),
            Value::List(list) => list.iter().map(Self::short).collect::<Vec<_>>().join("+"),
            Value::Table(table) => {
                let short = |entry: &Entry| match entry.key.as_str() {
                    "name" => entry.node.short(),
                    key => format!("{key}={}", entry.node.short()),
                };
                table.0.iter().map(short).collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// The value as JSON with the keys of tables in their order, which a [`serde_json::Value`] does not keep.
    pub(crate) fn to_ordered_json(&self) -> String {
        match &self.value {
            Value::List(list) => {
                format!("[{}]", list.iter().map(Self::to_ordered_json).collect::<Vec<_>>().join(","))
            }
            Value::Table(Table(entries)) => {
                let key = |entry: &Entry| serde_json::Value::from(entry.key.as_str());
                let member = |entry: &Entry| format!("{}:{}", key(entry), entry.node.to_ordered_json());
                format!("{{{}}}", entries.iter().map(member).collect::<Vec<_>>().join(","))
            }
            _ => self.to_json().to_string(),
        }
    }

    /// The value without its position.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Text(text) | Value::Date(text) => text.as_str().into(),
            Value::Integer(number) => (*number).into(),
            Value::Float(number) => (*number).into(),
            Value::Flag(flag) => (*flag).into(),
            Value::List(list) => list.iter().map(Self::to_json).collect(),
            Value::Table(table) => {
                let entries = table.0.iter().map(|entry| (entry.key.clone(), entry.node.to_json()));
                serde_json::Value::Object(entries.collect())
            }
        }
    }
}

/// Reads the text of a source. Only the first TOML error is reported: later ones often follow from it, and in
/// a file of another format every line has one.
pub(crate) fn read(text: &str, source: u32, problems: &Problems) -> Table {
    let (table, errors) = DeTable::parse_recoverable(text);
    if let Some(first) = errors.iter().min_by_key(|error| error.span().map(|span| span.start)) {
        let span = Span::new(source, first.span().unwrap_or_default());
        let problem = Problem::at(span, "this is not valid TOML").label(first.message().trim_end());
        problems.add(match other_format(text) {
            Some(format) => problem.help(format!(
                "it looks like {format}; a scenario is TOML: [section] on a line, then lines such as key = \"value\""
            )),
            None => problem,
        });
    }
    let reading = Reading { source, offset: 0, problems };
    reading.table(table.into_inner())
}

/// The format of a text that is not TOML, by its first line.
fn other_format(text: &str) -> Option<&'static str> {
    let is_yaml = |line: &str| {
        let key = line.trim_end().split_once(':').map(|(key, _)| key.trim_start_matches("- "));
        line.starts_with("---")
            || key.is_some_and(|key| key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-'))
    };
    let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'))?;
    match first.trim_start() {
        line if line.starts_with('{') || line.starts_with("[{") => Some("JSON"),
        line if line.starts_with('<') => Some("XML"),
        line => is_yaml(line).then_some("YAML"),
    }
}

/// Reads one TOML value that starts at `offset` of a source; `None` if it is not valid.
pub(crate) fn read_value(text: &str, source: u32, offset: usize, problems: &Problems) -> Option<Node> {
    let value = DeValue::parse(text).ok()?;
    Some(Reading { source, offset, problems }.node(value))
}

struct Reading<'a> {
    source: u32,
    offset: usize,
    problems: &'a Problems,
}

impl Reading<'_> {
    fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span::new(self.source, self.offset + range.start..self.offset + range.end)
    }

    fn table(&self, table: DeTable<'_>) -> Table {
        let mut entries: Vec<Entry> = table
            .into_iter()
            .map(|(key, value)| Entry {
                span: self.span(key.span()),
                key: key.into_inner().into_owned(),
                node: self.node(value),
            })
            .collect();
        entries.sort_by_key(|entry| entry.span);
        Table(entries)
    }

    fn node(&self, value: toml::Spanned<DeValue<'_>>) -> Node {
        let span = self.span(value.span());
        let value = match value.into_inner() {
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Integer(number) => {
                let digits = number.as_str().replace('_', "");
                Value::Integer(i64::from_str_radix(&digits, number.radix()).unwrap_or_else(|_| {
                    let problem = Problem::at(span, format!("the number {digits} is too large"));
                    self.problems.add(problem.label("expected at most 9223372036854775807"));
                    0
                }))
            }
            DeValue::Float(number) => {
                Value::Float(number.as_str().replace('_', "").parse().unwrap_or(f64::NAN))
            }
            DeValue::Boolean(flag) => Value::Flag(flag),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Array(list) => Value::List(list.into_iter().map(|node| self.node(node)).collect()),
            DeValue::Table(table) => Value::Table(self.table(table)),
        };
        Node { value, span }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good(text: &str) -> Table {
        let problems = Problems::default();
        let table = read(text, 0, &problems);
        assert!(problems.is_empty(), "{problems:?}");
        table
    }

    #[test]
    fn keys_keep_the_order_of_the_text_and_values_their_place() {
        let text = "[b]\nz = 0x1F\na = [1.5, \"x\"]\n[a]\n\"c.d\" = { e = true }\n";
        let table = good(text);
        assert_eq!(table.0.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(), ["b", "a"]);
        let Value::Table(b) = &table.get("b").unwrap().value else { panic!() };
        assert_eq!(b.0[0].node.value, Value::Integer(31));
        let node = b.get("a").unwrap();
        assert_eq!(&text[node.span.start..node.span.end], "[1.5, \"x\"]");
        assert_eq!(node.to_json(), serde_json::json!([1.5, "x"]));
        let Value::Table(a) = &table.get("a").unwrap().value else { panic!() };
        assert_eq!((a.0[0].key.as_str(), a.0[0].node.short().as_str()), ("c.d", "e=true"));
    }

    #[test]
    fn what_is_no_toml_is_a_problem_with_its_place() {
        let problems = Problems::default();
        read("a = 1\nb = [1, \nc = 99999999999999999999\n", 0, &problems);
        assert!(!problems.is_empty());
    }
}
