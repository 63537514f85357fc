//! Hedera's parameters.

use weft_units::{Duration, params, words};

use crate::timing::Timing;

/// Shorter intervals measure single packets.
pub(super) const LEAST_INTERVAL: Duration = Duration::from_us(100);

words! {
    /// How large flows are placed.
    pub(super) enum Placement {
        /// Global First Fit.
        FirstFit = "first-fit",
        Annealing = "annealing",
    }
}

params! {
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Config {
        /// interval at which the controller polls switches and places flows
        interval: Duration = Duration::from_secs(5), in LEAST_INTERVAL..=Duration::MAX;
        /// percent of its host's link rate from which a flow is large
        elephant: u64 = 10, in 1..=100;
        /// Global First Fit, or simulated annealing of the paths to each host
        placement: Placement = Placement::FirstFit;
        /// flows that a switch counts, and rules for flows, each
        flow_table: usize = 65_536, in 1..=1 << 24;
        ..timing: Timing;
    }
}
