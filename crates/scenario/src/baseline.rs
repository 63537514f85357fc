//! The values of `measure.baseline`: the label of a variant or scheme, or a value of another swept key.
//!
//! `weft.variants` in Python reads a stored baseline by the same rules.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::sweep::VARIANT;
use crate::sweep::{Axis, Combination};

/// Keys that choose the scheme.
pub(crate) fn chooses_scheme(key: &str) -> bool {
    key == "scheme.name" || key == "scheme"
}

/// Whether a key is part of the label of a scheme or variant.
fn is_of_scheme(key: &str) -> bool {
    key == VARIANT || key == "scheme" || key.starts_with("scheme.")
}

/// The baselines that a scenario has.
pub(crate) struct Baselines<'a> {
    /// Variants and schemes, with the parameters that are swept.
    labels: Vec<String>,
    /// The other swept keys with several values.
    axes: Vec<&'a Axis>,
    /// All swept keys.
    swept: Vec<String>,
}

impl<'a> Baselines<'a> {
    /// Those of a sweep; `own` is the scheme of points that name none.
    pub(crate) fn of(axes: &'a [Axis], combinations: &[Combination], own: &str) -> Self {
        let mut seen = HashSet::new();
        let labels = combinations.iter().map(|combination| label(&combination.overrides(), own));
        let labels: Vec<String> = labels.filter(|label| seen.insert(label.clone())).collect();
        let several = |axis: &&Axis| axis.values.len() > 1 && !is_of_scheme(&axis.key);
        let mut keys = HashSet::new();
        let overridden = combinations.iter().flat_map(|one| one.overrides().into_iter().map(|(key, _)| key));
        let swept = overridden.filter(|key| keys.insert(key.clone())).collect();
        Self { labels, axes: axes.iter().filter(several).collect(), swept }
    }

    /// Whether `baseline` is one of them: a label or its first words (the first such label is meant), a value,
    /// `key=value`, or a label with that.
    pub(crate) fn has(&self, baseline: &str) -> bool {
        let begins = |label: &String| label.strip_prefix(baseline).is_some_and(|rest| rest.starts_with(' '));
        self.labels.iter().any(|label| label == baseline || begins(label))
            || self.axes.iter().any(|axis| {
                axis.values.iter().any(|node| {
                    let value = node.to_json();
                    let of_label = |label: &String| {
                        let rest =
                            baseline.strip_prefix(label.as_str()).and_then(|rest| rest.strip_prefix(' '));
                        rest.is_some_and(|rest| assigns(rest, &axis.key, &value))
                    };
                    spells(baseline, &value)
                        || assigns(baseline, &axis.key, &value)
                        || self.labels.iter().any(of_label)
                })
            })
    }

    /// The key of a baseline such as `load=0.2`, if it is not swept.
    pub(crate) fn unswept<'b>(&self, baseline: &'b str) -> Option<&'b str> {
        let (name, _) = baseline.rsplit(' ').next()?.split_once('=').filter(|(name, _)| !name.is_empty())?;
        let is_swept =
            |key: &String| key.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
        (!self.swept.iter().any(is_swept)).then_some(name)
    }

    /// All swept keys, for messages.
    pub(crate) fn swept(&self) -> String {
        let keys: Vec<String> = self.swept.iter().map(|key| format!("`{key}`")).collect();
        if keys.is_empty() { "none".to_owned() } else { keys.join(", ") }
    }

    /// All of them, for messages.
    pub(crate) fn names(&self) -> Vec<String> {
        let values = self.axes.iter().flat_map(|axis| {
            let name = axis.key.rsplit('.').next().unwrap_or_default();
            axis.values.iter().map(move |node| format!("{name}={}", spelled(&node.to_json())))
        });
        self.labels.iter().cloned().chain(values).collect()
    }
}

/// The variant and the scheme of a point with the scheme's swept parameters, such as `letflow gap=100 us`. The
/// scheme of a variant is one of its keys, and named only where schemes are swept as well.
fn label(overrides: &Map<String, Value>, own: &str) -> String {
    let (mut name, mut variant) = (None, None);
    let mut parameters: Vec<(&str, &Value)> = Vec::new();
    for (key, value) in overrides {
        match (key.as_str(), value) {
            (VARIANT, value) => variant = Some(spelled(value)),
            ("scheme", Value::Object(of)) => {
                name = of.get("name").map(spelled);
                let others = of.iter().filter(|(key, _)| *key != "name");
                parameters.extend(others.map(|(key, value)| (key.as_str(), value)));
            }
            ("scheme.name", value) => name = Some(spelled(value)),
            (key, value) => parameters.extend(key.strip_prefix("scheme.").map(|key| (key, value))),
        }
    }
    let mut parts: Vec<String> = variant.into_iter().chain(name).collect();
    if parts.is_empty() {
        parts.push(own.to_owned());
    }
    parts.extend(parameters.into_iter().map(|(key, value)| format!("{key}={}", spelled(value))));
    parts.join(" ")
}

/// Whether `text` is `key=value`, with the whole key or its last parts.
fn assigns(text: &str, key: &str, value: &Value) -> bool {
    text.split_once('=').is_some_and(|(name, text)| {
        let rest = key.strip_suffix(name).filter(|_| !name.is_empty());
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.')) && spells(text, value)
    })
}

/// A value as text: text as it is, numbers without a fraction as integers, others as JSON.
fn spelled(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => {
            number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string())
        }
        other => other.to_string(),
    }
}

/// Whether `text` means `value`: `1`, `1.0` and `1e0` are the same.
fn spells(text: &str, value: &Value) -> bool {
    spelled(value) == text || serde_json::from_str(text).is_ok_and(|read| equal(&read, value))
}

/// Whether two values are the same, with numbers compared by size.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let there = |(key, value)| other.get(key).is_some_and(|found| equal(value, found));
            one.len() == other.len() && one.iter().all(there)
        }
        _ => one == other,
    }
}
