//! [`SchemeSpec`]: a scheme with parameters, as a scenario specifies it, and its possible errors.

use std::fmt::Display;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use weft_units::{Given, Param};

/// A scheme with the parameters given in a scenario; others have their defaults.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SchemeSpec {
    /// The name in the registry.
    pub name: String,
    /// The parameters given.
    pub params: Given,
}

impl SchemeSpec {
    /// The value given for `param`, if it is of this type.
    pub fn get<T: Param>(&self, param: &str) -> Option<T> {
        T::of(self.params.get(param)?)
    }
}

/// Parameters that contradict each other or are out of range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contradiction {
    /// The parameter to change.
    pub param: &'static str,
    /// The problem.
    pub message: String,
    /// The expected value.
    pub expected: String,
}

impl Contradiction {
    /// An error: `param` cannot have `value`.
    pub fn of(param: &'static str, value: impl Display, expected: impl Into<String>) -> Self {
        Self { param, message: format!("`{param}` cannot be {value}"), expected: expected.into() }
    }

    /// An error: scheme `name` does not run on a fabric, with the reason.
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
    /// The congestion controller of the hosts is a module's, which alone can carry out the run.
    #[error("`{name}` is a plugin's congestion controller, which works with `weft run` only")]
    OfModule {
        /// Its name.
        name: &'static str,
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
