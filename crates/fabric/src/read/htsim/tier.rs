//! [`Tier`]: the properties of a tier of switches in a file.

use weft_units::{Duration, Rate};

/// A tier of switches.
#[derive(Clone, Copy)]
pub(super) struct Tier {
    pub(super) rate: Rate,
    pub(super) down: u64,
    /// 0 in the top tier.
    pub(super) up: u64,
    pub(super) latency: Duration,
    pub(super) switch_latency: Duration,
    pub(super) queue_up: Option<u64>,
    pub(super) queue_down: Option<u64>,
    /// Parallel cables to each switch below.
    pub(super) bundle: u64,
}
