//! [`SweepError`]: why a sweep did not start.

use std::path::PathBuf;

use thiserror::Error;

use crate::capture::CaptureError;
use crate::origin::Origin;
use crate::results::ResultError;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Why a sweep did not start.
#[derive(Debug, Error)]
pub enum SweepError {
    /// The directory holds results of another scenario.
    #[error(
        "{} already holds results of a different scenario (`{found}`). Changed: {changes}. Use another directory (-o DIR), or remove this one",
        path.display()
    )]
    OtherScenario {
        /// The directory.
        path: PathBuf,
        /// The name of the scenario whose results it holds.
        found: String,
        /// The keys that differ, with both values.
        changes: String,
    },
    /// The directory holds results of another version of Weft.
    #[error(
        "{} holds results of Weft {found}, but this is {VERSION}: choose another directory with -o, or remove it",
        path.display()
    )]
    OtherVersion {
        /// The directory.
        path: PathBuf,
        /// The version.
        found: String,
    },
    /// The directory holds emulated results and the sweep is simulated, or the other way round.
    #[error(
        "{} holds {} results, but this run is {}: choose another directory with -o",
        path.display(), found.name(), wanted.name()
    )]
    OtherOrigin {
        /// The directory.
        path: PathBuf,
        /// Origin of the results it holds.
        found: Origin,
        /// Origin of the new results.
        wanted: Origin,
    },
    /// A file that the scenario names has changed since the directory's results were written.
    #[error(
        "`{file}` has changed since the results in {} were written: choose another directory with -o, or remove it",
        path.display()
    )]
    Changed {
        /// The directory.
        path: PathBuf,
        /// The file.
        file: String,
    },
    /// A file that the scenario names cannot be read.
    #[error("cannot read `{file}`: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// The reason.
        why: String,
    },
    /// The directory is neither empty nor a Weft result.
    #[error("{} exists but holds no Weft results: choose another directory with -o", path.display())]
    NotOurs {
        /// The directory.
        path: PathBuf,
    },
    /// Another process, or another sweep of this one, is using the directory.
    #[error(
        "another weft run is writing to {}: wait for it to finish, or choose another directory with -o",
        path.display()
    )]
    Busy {
        /// The directory.
        path: PathBuf,
    },
    /// A capture is not possible.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A run cannot be planned.
    #[error("{0}")]
    Plan(String),
    /// A file system error.
    #[error(transparent)]
    Io(#[from] ResultError),
    /// The threads could not be started.
    #[error("cannot start {threads} threads: {why}")]
    Threads {
        /// The number of threads.
        threads: usize,
        /// The reason.
        why: String,
    },
}
