//! [`ParamInfo`]: a parameter of a scheme as its file declares it, and [`ParamValue`], the value in a scenario.

use serde::{Deserialize, Serialize};
use weft_units::{Bytes, Duration};

/// The type of a parameter's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParamKind {
    /// One of several words.
    Choice(&'static [&'static str]),
    /// A duration with its unit.
    Duration,
    /// A size with its unit.
    Bytes,
    /// A positive integer.
    Count,
}

/// One parameter of a scheme.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ParamInfo {
    /// The key in the scenario's `[scheme]`.
    pub name: &'static str,
    /// Its type.
    pub kind: ParamKind,
    /// The default, as text.
    pub default: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// Other values in public code, with their sources; empty if none is known.
    pub elsewhere: &'static str,
}

impl ParamInfo {
    /// A duration.
    pub const fn duration(name: &'static str, default: &'static str, doc: &'static str) -> Self {
        Self { name, kind: ParamKind::Duration, default, doc, elsewhere: "" }
    }

    /// A size.
    pub const fn bytes(name: &'static str, default: &'static str, doc: &'static str) -> Self {
        Self { name, kind: ParamKind::Bytes, default, doc, elsewhere: "" }
    }

    /// A positive integer.
    pub const fn count(name: &'static str, default: &'static str, doc: &'static str) -> Self {
        Self { name, kind: ParamKind::Count, default, doc, elsewhere: "" }
    }

    /// The same parameter with the values of public code.
    pub const fn elsewhere(self, elsewhere: &'static str) -> Self {
        Self { elsewhere, ..self }
    }

    /// One of these words.
    pub const fn choice(
        name: &'static str,
        words: &'static [&'static str],
        default: &'static str,
        doc: &'static str,
    ) -> Self {
        Self { name, kind: ParamKind::Choice(words), default, doc, elsewhere: "" }
    }
}

/// Two lists of parameters, one after the other; `N` is the length of both together.
pub(crate) const fn joined<const N: usize>(first: &[ParamInfo], then: &[ParamInfo]) -> [ParamInfo; N] {
    let mut all = [first[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < first.len() { first[at] } else { then[at - first.len()] };
        at += 1;
    }
    all
}

/// A parameter's value, checked against its [`ParamKind`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ParamValue {
    /// An integer.
    Count(u64),
    /// A duration.
    Duration(Duration),
    /// A size.
    Bytes(Bytes),
    /// One of several words.
    Text(String),
}
