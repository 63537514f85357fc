//! `--set`: changes to the keys of a file.

use crate::diagnostic::{Problem, Problems};
use crate::path;
use crate::source::{SET, Sources, Span};
use crate::sweep::VARIANT;
use crate::tree::{self, Node, Table, Value};

/// Reads the text of a file and applies `--set` changes; errors go to `problems`.
pub(crate) fn read(
    text: &str,
    file: &str,
    sets: &[String],
    sources: &mut Sources,
    problems: &Problems,
) -> Table {
    let source = sources.add(file, text);
    let mut table = tree::read(text, source, problems);
    if problems.is_empty() {
        sets.iter().for_each(|set| apply_set(&mut table, set, sources, problems));
    }
    table
}

/// Applies a `--set` to the table. A swept key is no longer swept.
fn apply_set(table: &mut Table, set: &str, sources: &mut Sources, problems: &Problems) {
    let source = sources.add(SET, set);
    let Some((key, text)) = set.split_once('=') else {
        let problem = Problem::at(Span::new(source, 0..set.len()), "expected KEY=VALUE");
        problems.add(problem.label("for example traffic.load=0.4"));
        return;
    };
    if key.trim().is_empty() || text.trim().is_empty() {
        let missing = if key.trim().is_empty() { "key" } else { "value" };
        let problem = Problem::at(Span::new(source, 0..set.len()), format!("the {missing} is missing"));
        problems.add(problem.label("expected KEY=VALUE, for example traffic.load=0.4"));
        return;
    }
    let offset = key.len() + 1;
    let whole = Span::new(source, offset..set.len());
    let read = tree::read_value(text, source, offset, problems);
    if read.is_none() && text.trim().starts_with(['[', '{']) {
        let problem = Problem::at(whole, format!("`{}` is not valid TOML", text.trim()));
        problems.add(problem.label("strings in a list or table need quotes: [\"ecmp\", \"spray\"]"));
        return;
    }
    if read.is_none() && text.trim().starts_with('"') {
        let problem = Problem::at(whole, format!("`{}` is not valid TOML", text.trim()));
        problems.add(problem.label("a text in quotes ends with a quote, and nothing follows it"));
        return;
    }
    let node = read.unwrap_or_else(|| Node { value: Value::Text(text.trim().to_owned()), span: whole });
    let start = key.len() - key.trim_start().len();
    let key = key.trim();
    let span = Span::new(source, start..start + key.len());
    // `--set variant=uec` runs this variant alone.
    let (key, node) = match &node.value {
        Value::Text(_) if key == VARIANT => {
            ("sweep.variant", Node { span: node.span, value: Value::List(vec![node]) })
        }
        _ => (key, node),
    };
    if let Some(Value::Table(sweep)) =
        table.0.iter_mut().find(|entry| entry.key == "sweep").map(|e| &mut e.node.value)
    {
        if let Some(swept) = key.strip_prefix("sweep.") {
            let swept = swept.trim_matches('"');
            unsweep(sweep, swept);
            sweep.set(swept, span, node);
            return;
        }
        unsweep(sweep, key);
    } else if let Some(swept) = key.strip_prefix("sweep.") {
        let mut sweep = Table::default();
        sweep.set(swept.trim_matches('"'), span, node);
        table.set("sweep", span, Node { value: Value::Table(sweep), span });
        return;
    }
    if let Err(problem) = path::set(table, key, span, &node) {
        problems.add(problem);
    }
}

/// Removes a key from `[sweep]`, however it is written there.
fn unsweep(sweep: &mut Table, key: &str) {
    sweep.remove(key);
    for (at, _) in key.match_indices('.') {
        if let Some(Value::Table(inner)) =
            sweep.0.iter_mut().find(|entry| entry.key == key[..at]).map(|entry| &mut entry.node.value)
        {
            unsweep(inner, &key[at + 1..]);
        }
    }
}
