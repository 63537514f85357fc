//! [`SyntaxError`]: why a text is not a rule or a group.

use ipnet::IpNet;
use thiserror::Error;

use crate::tag_forward::flow::MixedFamilies;

/// A syntax error in a rule or group.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SyntaxError {
    /// An unknown field or action.
    #[error("`{name}` is unknown{}: expected one of {known}", near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default())]
    Unknown {
        /// The name as written.
        name: String,
        /// The nearest known name.
        near: Option<&'static str>,
        /// All known names.
        known: String,
    },
    /// Given twice.
    #[error("`{0}` is given twice: give it once")]
    Twice(String),
    /// Missing.
    #[error("{0}")]
    Lacks(&'static str),
    /// An invalid value.
    #[error("`{name}` cannot be {value:?}: expected {expected}")]
    Value {
        /// The field or action.
        name: String,
        /// The value as written.
        value: String,
        /// A valid value.
        expected: &'static str,
    },
    /// Two addresses of different families.
    #[error("{0}")]
    Families(#[from] MixedFamilies),
    /// An IPv6 address in an IPv4 field, or vice versa.
    #[error("`{name}` takes {family} addresses, not {value}: use ip_src or ip_dst for either")]
    Family {
        /// The field.
        name: String,
        /// Its family.
        family: &'static str,
        /// The address.
        value: IpNet,
    },
    /// Something that must be left out.
    #[error("{0}")]
    Superfluous(&'static str),
}
