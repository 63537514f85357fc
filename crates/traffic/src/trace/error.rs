//! [`TraceError`]: why a file is not a valid trace, and where.

use std::fmt;

use thiserror::Error;

/// The location of an error in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line of a text file, counted from 1.
    Line(u64),
    /// A row of a Parquet file, counted from 1.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => Ok(()),
            Self::Line(line) => write!(f, "line {line}: "),
            Self::Row(row) => write!(f, "row {row}: "),
        }
    }
}

/// Why a file is not a valid trace.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{place}{why}")]
pub struct TraceError {
    /// The location.
    pub place: Place,
    /// The error, with the offending text and the expected one.
    pub why: String,
}

impl TraceError {
    /// An error of the file as a whole.
    pub(super) fn file(why: impl Into<String>) -> Self {
        Self { place: Place::File, why: why.into() }
    }

    /// An error at `line`.
    pub(super) fn line(line: u64, why: impl Into<String>) -> Self {
        Self { place: Place::Line(line), why: why.into() }
    }
}
