//! [`TraceError`]: why a file is not a valid trace, and where; [`Read`]: what a file holds.

use std::fmt;

use thiserror::Error;
use weft_units::HostId;

/// Finds a host by its name; the error describes what is wrong with the name.
pub type FindHost<'a> = &'a dyn Fn(&str) -> Result<HostId, String>;

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

/// What a file holds.
#[derive(Clone, PartialEq, Debug)]
pub struct Read<T> {
    /// Its flows.
    pub flows: T,
    /// What else it says that Weft ignores, in words.
    pub ignored: Vec<String>,
}

/// Why a file is not a valid trace.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{place}{why}")]
pub struct TraceError {
    /// The location.
    pub place: Place,
    /// The error, with the offending text and what was expected.
    pub why: String,
}
