//! [`Parameters`]: what the parameters of all protocols have in common.

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// An invalid parameter value.
#[derive(Clone, PartialEq, Debug, Error)]
#[error("{name} = {found}: expected {expected}")]
pub struct ConfigError {
    /// The parameter.
    pub name: &'static str,
    /// Its value.
    pub found: String,
    /// The valid values.
    pub expected: &'static str,
}

/// The parameters of a protocol, by name: a flat structure of numbers, booleans, words and quantities.
pub trait Parameters: Serialize + DeserializeOwned {
    /// Checks what the types cannot: ranges, and that parameters are consistent.
    ///
    /// # Errors
    /// The first parameter that is out of range or contradicts another.
    fn validate(&self) -> Result<(), ConfigError>;
}

/// An error that names a parameter with its value, unless that is `good`.
pub(crate) fn check(
    good: bool,
    name: &'static str,
    found: &dyn std::fmt::Display,
    expected: &'static str,
) -> Result<(), ConfigError> {
    if good { Ok(()) } else { Err(ConfigError { name, found: found.to_string(), expected }) }
}
