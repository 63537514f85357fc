//! [`Outcome`]: the result of a run.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use weft_units::plural;

use crate::lateness::Lateness;

/// The result of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Outcome {
    /// Flows of this machine.
    pub flows: u64,
    /// Flows that completed.
    pub finished: u64,
    /// Flows that did not.
    pub failed: u64,
    /// Bytes that applications on this machine received.
    pub bytes: u64,
    /// The end of the run, in picoseconds since the common start.
    pub elapsed_ps: u64,
    /// The common start, in nanoseconds since 1970.
    pub start_at_ns: u64,
    /// Whether the user interrupted it.
    pub interrupted: bool,
    /// Connections to the listeners that belong to no flow.
    pub strangers: u64,
    /// The congestion controls read back from the senders' sockets.
    pub congestion: BTreeSet<String>,
    /// How late flows were started.
    pub lateness: Lateness,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { flows, finished, failed, bytes, elapsed_ps, lateness, .. } = self;
        write!(
            f,
            "{finished} of {} finished, {failed} failed, {} in {:.3} s; start lateness {:.0} us (median), {:.0} us (p99), {:.0} us (max)",
            plural(*flows, "flow"),
            plural(*bytes, "byte"),
            *elapsed_ps as f64 * 1e-12,
            lateness.p50_ps as f64 * 1e-6,
            lateness.p99_ps as f64 * 1e-6,
            lateness.max_ps as f64 * 1e-6,
        )
    }
}
