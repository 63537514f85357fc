//! An error at a line of the file.

use crate::trace::error::{Place, TraceError};

/// The error at `line`.
pub(super) fn at(line: u64, why: impl Into<String>) -> TraceError {
    TraceError { place: Place::Line(line), why: why.into() }
}
