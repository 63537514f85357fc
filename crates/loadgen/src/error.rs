//! [`GeneratorError`]: why a run did not start or could not continue.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;
use weft_units::reason;

/// Why a run did not start or could not continue.
#[derive(Debug, Error)]
pub enum GeneratorError {
    /// A namespace that cannot be opened.
    #[error("cannot open the network namespace {}: {}", path.display(), reason(source))]
    Namespace {
        /// Its file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A host whose namespace cannot be entered.
    #[error("cannot enter the network namespace of `{host}` (needs CAP_SYS_ADMIN): {}", reason(source))]
    Enter {
        /// The host.
        host: String,
        /// The cause.
        source: io::Error,
    },
    /// A congestion control that is not available or not permitted.
    #[error(
        "`{host}` cannot use the congestion control `{name}`: {}; available: {available}; to load another, run `modprobe tcp_{name}`",
        reason(source)
    )]
    Congestion {
        /// The host.
        host: String,
        /// The name.
        name: String,
        /// The available ones.
        available: String,
        /// The cause.
        source: io::Error,
    },
    /// The start is in the past.
    #[error("`start_at_ns` is {:.3} s in the past; choose a later time, and start all machines before it", ago.as_secs_f64())]
    Over {
        /// How long ago it was.
        ago: Duration,
    },
    /// The records cannot be written.
    #[error("cannot write the records: {}", reason(.0))]
    Records(io::Error),
    /// A system call failed that the run depends on.
    #[error("{what}: {}", reason(source))]
    Kernel {
        /// The object of the failed call, such as `a listener`.
        what: &'static str,
        /// The cause.
        source: io::Error,
    },
}

/// The error of a system call.
pub(crate) fn kernel(what: &'static str) -> impl Fn(io::Error) -> GeneratorError {
    move |source| GeneratorError::Kernel { what, source }
}
