//! The error for an option of invalid length.

use crate::Error;

/// Bytes of an option's kind and length.
const START: usize = 2;

/// The error for an option of invalid length; `behind` excludes kind and length.
pub(super) const fn length_error(option: &'static str, behind: usize) -> Error {
    Error::OptionLength { option, given: START + behind }
}
