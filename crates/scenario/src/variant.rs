//! `[variant.NAME]`: named sets of keys of several sections. Each variant is one of the things that a scenario
//! compares, as the values of a swept key are.

use crate::diagnostic::Problems;
use crate::nearest::suggest;
use crate::section::Section;
use crate::source::Span;
use crate::sweep::{Axis, VARIANT};
use crate::tree::{self, Node, Table, Value};

/// Keys that concern the whole scenario.
const COMMON: [&str; 6] = ["name", "description", "sweep", VARIANT, "run.seeds", "measure.baseline"];

/// Longest name, as names are part of labels.
const LONGEST: usize = 40;

/// A named set of keys.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Variant {
    pub(crate) name: String,
    pub(crate) span: Span,
    /// Key, its position, value.
    pub(crate) values: Vec<(String, Span, Node)>,
}

/// Reads `[variant]`. `scenario` is the rest of the file, `axes` are those of `[sweep]`.
pub(crate) fn decode(section: &Section<'_>, scenario: &Table, axes: &[Axis]) -> Vec<Variant> {
    let mut variants: Vec<Variant> = Vec::new();
    for entry in &section.table.0 {
        let name = &entry.key;
        if !is_name(name) {
            let message = format!("`{name}` is not a name of a variant");
            let label =
                format!("expected at most {LONGEST} letters, digits, `-`, `_` and `.`, such as `roce`");
            section.problem(entry.span, message, label);
        } else if tree::read_value(name, 0, 0, &Problems::default()).is_some() {
            let message = format!("`{name}` is not a name of a variant");
            let label = "`--set variant=...` and [sweep] read it as a number, date or flag: expected a word, such as `roce`";
            section.problem(entry.span, message, label);
        }
        let Value::Table(table) = &entry.node.value else {
            let message = format!("the variant `{name}` is {}, not a table", entry.node.describe());
            let label = format!("expected a section [variant.{name}] with keys such as `transport.protocol`");
            section.problem(entry.node.span, message, label);
            continue;
        };
        let mut values = Vec::new();
        for part in &table.0 {
            collect(&part.node, scenario.get(&part.key), &part.key, part.span, &mut values);
        }
        for (key, span, _) in &values {
            check(section, name, key, *span, axes);
        }
        variants.push(Variant { name: name.clone(), span: entry.span, values });
    }
    if variants.is_empty() && section.table.0.is_empty() {
        section.problem(
            section.span,
            "[variant] has no variants",
            "expected sections such as [variant.roce]",
        );
    }
    variants
}

fn is_name(name: &str) -> bool {
    let usual = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    name.len() <= LONGEST && name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(usual)
}

/// The keys of a section of a variant. A table as a key's value replaces the key's value as a whole; in a list
/// of tables of the scenario (`[[traffic]]`), a table's key selects one of them.
fn collect(
    node: &Node,
    in_scenario: Option<&Node>,
    key: &str,
    span: Span,
    values: &mut Vec<(String, Span, Node)>,
) {
    let Value::Table(table) = &node.value else {
        values.push((key.to_owned(), span, node.clone()));
        return;
    };
    let is_list = matches!(in_scenario.map(|node| &node.value), Some(Value::List(_)));
    for entry in &table.0 {
        let inner = format!("{key}.{}", entry.key);
        if is_list && matches!(entry.node.value, Value::Table(_)) {
            collect(&entry.node, None, &inner, entry.span, values);
        } else {
            values.push((inner, entry.span, entry.node.clone()));
        }
    }
}

/// Rejects a key that all variants share, or that is swept.
fn check(section: &Section<'_>, name: &str, key: &str, span: Span, axes: &[Axis]) {
    if COMMON.iter().any(|common| *common == key || key.starts_with(&format!("{common}."))) {
        let label = "all variants share it: expected a key of another section, such as `transport.protocol`";
        section.problem(span, format!("`{key}` cannot differ between variants"), label);
    }
    if let Some(axis) = axes.iter().find(|axis| overlap(&axis.key, key)) {
        let message = format!("`{}` is swept and set in [variant.{name}]", axis.key);
        section.problem(span, message, "remove it here or from [sweep]");
    }
}

/// Whether one key is the other or a part of it.
fn overlap(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The axis of the variants: all of them, or those that `[sweep]` chooses; it comes first.
pub(crate) fn add_axis(section: &Section<'_>, variants: &[Variant], axes: &mut Vec<Axis>) {
    let names = || variants.iter().map(|variant| variant.name.as_str());
    if let Some(at) = axes.iter().position(|axis| axis.key == VARIANT) {
        for node in &axes[at].values {
            let known = matches!(&node.value, Value::Text(name) if names().any(|other| other == name));
            if !known {
                let name = node.short();
                let label = suggest(&name, names().collect::<Vec<_>>());
                section.problem(node.span, format!("there is no variant `{name}`"), label);
            }
        }
        let chosen = axes.remove(at);
        axes.insert(0, chosen);
    } else if !variants.is_empty() {
        let node = |of: &Variant| Node { value: Value::Text(of.name.clone()), span: of.span };
        let values = variants.iter().map(node).collect();
        axes.insert(0, Axis { key: VARIANT.to_owned(), span: section.span, values });
    }
}
