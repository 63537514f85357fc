//! `[sweep]`: lists of values for any keys, and their points: every combination of values.

use crate::diagnostic::Problems;
use crate::section::Section;
use crate::source::Span;
use crate::tree::{Node, Table, Value};

/// The section of variants, and the key of a point's overrides that names its variant.
pub(crate) const VARIANT: &str = "variant";

/// Maximum number of points of a sweep, before seeds.
const MAX_POINTS: usize = 100_000;

/// A key and its values.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Axis {
    pub(crate) key: String,
    pub(crate) span: Span,
    pub(crate) values: Vec<Node>,
}

/// One choice of a value for every key.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Combination {
    /// Key, its position, value.
    pub(crate) values: Vec<(String, Span, Node)>,
    pub(crate) label: String,
}

impl Combination {
    /// The keys and their values, as in results.
    pub(crate) fn overrides(&self) -> serde_json::Map<String, serde_json::Value> {
        self.values.iter().map(|(key, _, node)| (key.clone(), node.to_json())).collect()
    }
}

/// Reads the axes of `[sweep]`. `"traffic.load" = [...]` and `traffic.load = [...]` are the same.
pub(crate) fn decode(section: &Section<'_>) -> Vec<Axis> {
    let mut axes = Vec::new();
    collect(section, section.table, "", &mut axes);
    for axis in &axes {
        if axis.values.is_empty() {
            let label = "expected at least one value, such as [0.2, 0.4]";
            section.problem(axis.span, format!("the sweep over `{}` has no values", axis.key), label);
        }
        if ["sweep", "run.seeds", "name"].contains(&axis.key.as_str())
            || ["sweep.", "variant."].iter().any(|section| axis.key.starts_with(section))
        {
            let label = match axis.key.as_str() {
                "run.seeds" => "every point already runs with all seeds: list them in [run]",
                _ => "expected a key of another section, such as `traffic.load`",
            };
            section.problem(axis.span, format!("`{}` cannot be swept", axis.key), label);
        }
    }
    for (at, axis) in axes.iter().enumerate() {
        if axes[..at].iter().any(|before| before.key == axis.key) {
            section.problem(axis.span, format!("`{}` is swept twice", axis.key), "expected one list");
        }
    }
    let points = axes.iter().try_fold(1_usize, |points, axis| points.checked_mul(axis.values.len()));
    if points.is_none_or(|points| points > MAX_POINTS) {
        let label = format!("expected at most {MAX_POINTS}");
        section.problem(section.span, "the sweep has too many points", label);
        return Vec::new();
    }
    axes
}

fn collect(section: &Section<'_>, table: &Table, prefix: &str, axes: &mut Vec<Axis>) {
    for entry in &table.0 {
        let key = if prefix.is_empty() { entry.key.clone() } else { format!("{prefix}.{}", entry.key) };
        match &entry.node.value {
            Value::Table(table) => collect(section, table, &key, axes),
            Value::List(values) => axes.push(Axis { key, span: entry.span, values: values.clone() }),
            _ => {
                let message = format!("the sweep over `{key}` is {}, not a list", entry.node.describe());
                section.problem(entry.node.span, message, "expected a list of values, such as [0.2, 0.4]");
            }
        }
    }
}

/// Every combination of the values, the first key changing slowest.
pub(crate) fn combinations(axes: &[Axis], problems: &Problems, fallback: &str) -> Vec<Combination> {
    let names = short_names(axes);
    let mut all = vec![Combination::default()];
    for (axis, name) in axes.iter().zip(&names) {
        all = all
            .iter()
            .flat_map(|before| {
                axis.values.iter().map(move |node| {
                    let mut next = before.clone();
                    let value = node.short();
                    let part = if name.is_empty() { value } else { format!("{name}={value}") };
                    next.label =
                        if before.label.is_empty() { part } else { format!("{}, {part}", before.label) };
                    next.values.push((axis.key.clone(), axis.span, node.clone()));
                    next
                })
            })
            .collect();
    }
    let mut seen = std::collections::HashMap::with_capacity(all.len());
    for combination in &mut all {
        if combination.label.is_empty() {
            fallback.clone_into(&mut combination.label);
        }
        if let Some(before) = seen.insert(combination.label.clone(), combination.values.clone()) {
            let twin =
                combination.values.iter().zip(&before).find(|(now, before)| now.2.span != before.2.span);
            let span = twin.map_or_else(Span::default, |(now, _)| now.2.span);
            let message = format!("two points of the sweep have the label `{}`", combination.label);
            problems.add(crate::diagnostic::Problem::at(span, message).label("expected different values"));
        }
    }
    all
}

/// The name of each key in labels: none for the scheme and the variant, else its last part, or all of it if two keys have
/// the same last part.
fn short_names(axes: &[Axis]) -> Vec<String> {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    axes.iter()
        .map(|axis| match axis.key.as_str() {
            "scheme.name" | "scheme" | VARIANT => String::new(),
            key if axes.iter().filter(|other| last(&other.key) == last(key)).count() > 1 => key.to_owned(),
            key => last(key),
        })
        .collect()
}
