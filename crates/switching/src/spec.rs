//! [`SchemeSpec`]: a scheme with parameters, as a scenario specifies it, and its possible errors.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use weft_units::{Bytes, Duration};

use crate::param::ParamValue;

/// A scheme with the parameters given in a scenario; others have their defaults.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SchemeSpec {
    /// The name in the registry.
    pub name: String,
    /// The parameters given.
    pub params: BTreeMap<String, ParamValue>,
}

impl SchemeSpec {
    /// The integer given for `param`.
    pub fn count(&self, param: &str) -> Option<u64> {
        match self.params.get(param) {
            Some(ParamValue::Count(count)) => Some(*count),
            _ => None,
        }
    }

    /// Whether the integer given for `param` is out of `range`.
    pub fn out_of_range(&self, param: &'static str, range: RangeInclusive<u64>) -> Option<Contradiction> {
        let count = self.count(param).filter(|count| !range.contains(count))?;
        Some(Contradiction {
            param,
            message: format!("`{param}` cannot be {count}"),
            expected: format!("expected {} to {}", range.start(), range.end()),
        })
    }

    /// The duration given for `param`.
    pub fn duration(&self, param: &str) -> Option<Duration> {
        match self.params.get(param) {
            Some(ParamValue::Duration(time)) => Some(*time),
            _ => None,
        }
    }

    /// The size given for `param`.
    pub fn bytes(&self, param: &str) -> Option<Bytes> {
        match self.params.get(param) {
            Some(ParamValue::Bytes(bytes)) => Some(*bytes),
            _ => None,
        }
    }

    /// The word given for `param`.
    pub fn word(&self, param: &str) -> Option<&str> {
        match self.params.get(param) {
            Some(ParamValue::Text(word)) => Some(word),
            _ => None,
        }
    }
}

/// Parameters that contradict each other or are out of range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contradiction {
    /// The parameter to change.
    pub param: &'static str,
    /// What is wrong.
    pub message: String,
    /// The expected value.
    pub expected: String,
}

impl Contradiction {
    /// That scheme `name` does not run on a fabric, for this reason.
    pub(crate) fn of_fabric(name: &'static str, reason: String, expected: &str) -> Self {
        let message = SchemeError::Fabric { name, reason }.to_string();
        Self { param: "name", message, expected: format!("expected {expected}") }
    }
}

/// Why a [`SchemeSpec`] is invalid.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SchemeError {
    /// The registry does not have the name.
    #[error("unknown scheme `{name}`; available: {}", known.join(", "))]
    UnknownScheme {
        /// The given name.
        name: String,
        /// The available names.
        known: Vec<&'static str>,
    },
    /// The scheme does not support this fabric.
    #[error("`{name}` does not run on this fabric: {reason}")]
    Fabric {
        /// The scheme.
        name: &'static str,
        /// Why.
        reason: String,
    },
}
