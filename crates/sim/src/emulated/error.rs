//! [`EmulatedError`].

use std::io;
use std::path::PathBuf;

use thiserror::Error;
use weft_scenario::Diagnostics;
use weft_units::reason;

use crate::results::ResultError;
use crate::sweep_error::SweepError;

/// Why the result of an emulated run could not be written.
#[derive(Debug, Error)]
pub enum EmulatedError {
    /// The result directory is unusable.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// The scenario has no such run, or it cannot be planned.
    #[error(transparent)]
    Plan(#[from] Diagnostics),
    /// The result already exists.
    #[error("{} already exists: remove it first", path.display())]
    Exists {
        /// The run's directory.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {}", path.display(), reason(source))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// A line of the records is invalid.
    #[error("{}, line {line}: {why}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The problem.
        why: String,
    },
    /// The observations do not belong to this run.
    #[error("{}: {why}", path.display())]
    Observed {
        /// The file.
        path: PathBuf,
        /// The problem and its position.
        why: String,
    },
    /// The result cannot be written.
    #[error(transparent)]
    Result(#[from] ResultError),
}
