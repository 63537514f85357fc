//! Errors in the parameters of a protocol.

use thiserror::Error;
use weft_units::Parameters;

/// An invalid parameter value.
#[derive(Clone, PartialEq, Debug, Error)]
#[error("{name} = {found}: expected {expected}")]
pub struct ConfigError {
    /// The parameter.
    pub name: &'static str,
    /// Its value.
    pub found: String,
    /// The valid values.
    pub expected: String,
}

/// An error that names the first of `all` parameters that is out of its range.
pub(crate) fn check_ranges(all: &impl Parameters) -> Result<(), ConfigError> {
    for (param, value) in all.parameters() {
        if let Some(expected) = param.refusal(&value) {
            return Err(ConfigError { name: param.name, found: value.to_string(), expected });
        }
    }
    Ok(())
}

/// An error that names a parameter with its value, unless that is `good`.
pub(crate) fn check(
    good: bool,
    name: &'static str,
    found: &dyn std::fmt::Display,
    expected: &str,
) -> Result<(), ConfigError> {
    if good {
        Ok(())
    } else {
        Err(ConfigError { name, found: found.to_string(), expected: expected.to_owned() })
    }
}
