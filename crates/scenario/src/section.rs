//! [`Section`]: a table being read key by key.

use weft_units::{ParamInfo, ParamKind, ParamValue};

use crate::diagnostic::{Problem, Problems};
use crate::key::{Key, Kind};
use crate::nearest::{list, nearest, suggest};
use crate::reading::Read;
use crate::source::Span;
use crate::synonym::{key_synonym, synonym};
use crate::tree::{Node, Table, Value, read_value};

/// A value and its position.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// A table being read.
#[derive(Clone, Debug)]
pub(crate) struct Section<'a> {
    /// Its name in messages: `fabric`, `traffic.0`.
    pub(crate) path: String,
    pub(crate) table: &'a Table,
    /// Position of problems with the section as a whole.
    pub(crate) span: Span,
    pub(crate) problems: &'a Problems,
}

impl<'a> Section<'a> {
    /// Rejects every key that is not in `keys`.
    pub(crate) fn only(&self, keys: &[&[Key]]) {
        self.only_below(keys, self, &[]);
    }

    /// As [`only`](Self::only); keys of `above` belong to the section `parent` of this one.
    pub(crate) fn only_below(&self, keys: &[&[Key]], parent: &Section<'_>, above: &[&str]) {
        let names = || keys.iter().copied().flatten().map(|key| key.name);
        for entry in self.table.0.iter().filter(|entry| !names().any(|name| name == entry.key)) {
            let key = &entry.key;
            let problem = Problem::at(entry.span, format!("unknown key `{key}` in {}", self.title()));
            if above.contains(&key.as_str()) {
                let label = format!("write it as `{}`, in {}", parent.path_of(key), parent.title());
                self.problems.add(problem.label(label));
                continue;
            }
            self.problems.add(match key_synonym(&self.path, key).or_else(|| nearest(key, names())) {
                Some(nearest) => problem.label(format!("did you mean `{nearest}`?")).help(format!(
                    "the keys of {} are {}",
                    self.title(),
                    list(names())
                )),
                None => problem.label(format!("expected one of {}", list(names()))),
            });
        }
    }

    pub(crate) fn title(&self) -> String {
        if self.path.is_empty() { "the scenario".to_owned() } else { format!("[{}]", self.path) }
    }

    pub(crate) fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// The raw value of a key.
    pub(crate) fn node(&self, key: &str) -> Option<&'a Node> {
        self.table.get(key)
    }

    /// The value of a key; `None` if missing or invalid.
    pub(crate) fn get<T: Read>(&self, key: &str) -> Option<At<T>> {
        self.read(self.node(key)?, &self.path_of(key))
    }

    /// The value of the key `name` of `keys`, or its default; `None` if it is invalid.
    pub(crate) fn get_or_default<T: Read>(&self, keys: &[Key], name: &str) -> Option<At<T>> {
        self.read(&self.node_or_default(keys, name)?, &self.path_of(name))
    }

    /// As [`get_or_default`](Self::get_or_default), without the position.
    pub(crate) fn value<T: Read>(&self, keys: &[Key], name: &str) -> Option<T> {
        self.get_or_default(keys, name).map(|at| at.value)
    }

    /// The raw value of the key `name` of `keys`, or its default.
    pub(crate) fn node_or_default(&self, keys: &[Key], name: &str) -> Option<Node> {
        if let Some(node) = self.node(name) {
            return Some(node.clone());
        }
        let text = keys.iter().find(|key| key.name == name)?.default();
        let node = read_value(&text, 0, 0, &Problems::default());
        Some(node.unwrap_or_else(|| Node { value: Value::Text(text), span: Span::default() }))
    }

    /// The value of a required key.
    pub(crate) fn need<T: Read>(&self, key: &str) -> Option<At<T>> {
        if self.node(key).is_none() {
            self.problem(
                self.span,
                format!("{} has no `{key}`", self.title()),
                format!("expected {}", T::WHAT),
            );
        }
        self.get(key)
    }

    /// The value of `node` as a `T`.
    pub(crate) fn read<T: Read>(&self, node: &Node, path: &str) -> Option<At<T>> {
        match T::read(node) {
            Ok(value) => Some(At { value, span: node.span }),
            Err(why) => {
                self.problems.add(unreadable(path, node, T::WHAT, T::CHOICES, why));
                None
            }
        }
    }

    /// The value of the parameter `param`; `None` if missing or invalid. If it has another kind, the label of the problem
    /// ends with `note`.
    pub(crate) fn param(&self, param: &ParamInfo, note: &str) -> Option<ParamValue> {
        fn of<T: Read>(node: &Node, value: fn(T) -> ParamValue) -> (&str, Result<ParamValue, String>) {
            (T::WHAT, T::read(node).map(value))
        }
        let node = self.node(param.name)?;
        let (what, value) = match param.kind {
            ParamKind::Choice(_) => of(node, ParamValue::Text),
            ParamKind::Duration => of(node, ParamValue::Duration),
            ParamKind::Bytes => of(node, ParamValue::Bytes),
            ParamKind::Rate => of(node, ParamValue::Rate),
            ParamKind::Count => of(node, ParamValue::Count),
            ParamKind::Number => of(node, ParamValue::Number),
            ParamKind::Flag => of(node, ParamValue::Flag),
        };
        let path = self.path_of(param.name);
        let problem = match (value, param.kind) {
            (Ok(ParamValue::Text(text)), ParamKind::Choice(words)) if !words.contains(&text.as_str()) => {
                unknown(&path, &text, node.span, words.iter().copied())
            }
            (Ok(value), _) => match param.refusal(&value) {
                None => return Some(value),
                Some(valid) => {
                    Problem::at(node.span, format!("`{path}` is {value}")).label(format!("expected {valid}"))
                }
            },
            (Err(_), ParamKind::Choice(words)) => {
                let why = format!("expected one of {}{note}", list(words.iter().copied()));
                unreadable(&path, node, what, &[], why)
            }
            (Err(why), _) => unreadable(&path, node, what, &[], why + note),
        };
        self.problems.add(problem);
        None
    }

    /// The values of a list.
    pub(crate) fn list<T: Read>(&self, key: &str) -> Option<At<Vec<At<T>>>> {
        let node = self.node(key)?;
        let path = self.path_of(key);
        let Value::List(nodes) = &node.value else {
            let message = format!("`{path}` is {}, not a list", node.describe());
            self.problem(node.span, message, format!("expected a list of values, each {}", T::WHAT));
            return None;
        };
        let values = nodes.iter().enumerate().map(|(at, node)| self.read(node, &format!("{path}[{at}]")));
        let values: Vec<Option<At<T>>> = values.collect();
        Some(At { value: values.into_iter().collect::<Option<Vec<_>>>()?, span: node.span })
    }

    /// The word that `key` has, or its default; `None` if it is invalid.
    pub(crate) fn choice(&self, key: &Key) -> Option<&'static str> {
        let Kind::Choice(words) = key.kind else { return None };
        let choices: Vec<_> = words().into_iter().map(|word| (word, word)).collect();
        let text = self.get_or_default::<String>(&[*key], key.name)?;
        self.choose(&text, key.name, &choices).map(|at| at.value)
    }

    /// The choice that `text` names.
    pub(crate) fn choose<T: Copy>(
        &self,
        text: &At<String>,
        key: &str,
        choices: &[(&str, T)],
    ) -> Option<At<T>> {
        let found = choices.iter().find(|(name, _)| *name == text.value);
        if found.is_none() {
            let names = choices.iter().map(|(name, _)| *name);
            self.problems.add(unknown(&self.path_of(key), &text.value, text.span, names));
        }
        found.map(|(_, value)| At { value: *value, span: text.span })
    }

    /// The table under a key.
    pub(crate) fn section(&self, key: &str) -> Option<Section<'a>> {
        let entry = self.table.entry(key)?;
        let path = self.path_of(key);
        match &entry.node.value {
            Value::Table(table) => Some(Section { path, table, span: entry.span, problems: self.problems }),
            _ => {
                let message = format!("`{path}` is {}, not a table", entry.node.describe());
                let label = match &entry.node.value {
                    Value::Text(name) if path == "scheme" => format!("write it as scheme.name = \"{name}\""),
                    _ => format!("expected a section [{path}]"),
                };
                self.problem(entry.node.span, message, label);
                None
            }
        }
    }

    /// The table under a key; an empty one if it is missing.
    pub(crate) fn section_or_empty(&self, key: &str) -> Section<'a> {
        static EMPTY: Table = Table(Vec::new());
        self.section(key).unwrap_or_else(|| Section {
            path: self.path_of(key),
            table: &EMPTY,
            ..self.clone()
        })
    }

    /// The tables under a key: one `[key]`, or `[[key]]`, numbered in messages if there are several.
    pub(crate) fn sections(&self, key: &str) -> Vec<Section<'a>> {
        let Some(entry) = self.table.entry(key) else { return Vec::new() };
        let Value::List(nodes) = &entry.node.value else { return self.section(key).into_iter().collect() };
        let path = self.path_of(key);
        let sections = nodes.iter().enumerate().filter_map(|(at, node)| match &node.value {
            Value::Table(table) => {
                let path = if nodes.len() == 1 { path.clone() } else { format!("{path}.{at}") };
                Some(Section { path, table, span: node.span, problems: self.problems })
            }
            _ => {
                let message = format!("`{path}[{at}]` is {}, not a table", node.describe());
                self.problem(node.span, message, "expected a table such as { ... }");
                None
            }
        });
        sections.collect()
    }

    /// Reports a problem at a position, with the expected value.
    pub(crate) fn problem(&self, span: Span, message: impl Into<String>, label: impl Into<String>) {
        self.problems.add(Problem::at(span, message).label(label));
    }
}

/// The problem that the value of the key `path` is not `what`; `why` adds to this. If only `choices` are valid, a text is
/// none of them.
fn unreadable(path: &str, node: &Node, what: &str, choices: &[&str], why: String) -> Problem {
    if let Value::Float(number) = node.value
        && !number.is_finite()
    {
        let is = if number.is_nan() { "NaN (not a number)" } else { "infinite" };
        let label = if what == f64::WHAT { why } else { format!("expected {what}") };
        return Problem::at(node.span, format!("`{path}` is {is}")).label(label);
    }
    let wrong = match node.value {
        Value::Float(number) if what == u64::WHAT && number.fract() == 0.0 => {
            format!("written as a float, not as {what}")
        }
        Value::Integer(number) if what == u64::WHAT && number > 0 => "which is too large".to_owned(),
        _ => format!("not {what}"),
    };
    let problem = Problem::at(node.span, format!("`{path}` is {}, {wrong}", node.describe()));
    match &node.value {
        Value::Text(text) if !choices.is_empty() => unknown(path, text, node.span, choices.iter().copied()),
        Value::List(_) => problem.label("expected one value").help(sweep_instead(path, node)),
        _ => problem.label(why),
    }
}

/// The problem that the value `text` of the key `path` is none of `names`.
fn unknown<'n>(path: &str, text: &str, span: Span, names: impl Iterator<Item = &'n str> + Clone) -> Problem {
    let problem = Problem::at(span, format!("`{path}` cannot be `{text}`"));
    if let Some(answer) = synonym(path, text) {
        return problem.label(answer).help(format!("expected one of {}", list(names)));
    }
    let problem = problem.label(suggest(text, names.clone()));
    match nearest(text, names.clone()) {
        Some(_) => problem.help(format!("expected one of {}", list(names))),
        None => problem,
    }
}

/// How to run a scenario once per value of a list: on the command line, or in the file.
fn sweep_instead(path: &str, list: &Node) -> String {
    let values = list.to_json();
    match list.span.source {
        0 => format!("to run with each value, write \"{path}\" = {values} in [sweep]"),
        _ => format!("to run with each value: --set 'sweep.{path}={values}'"),
    }
}
