//! [`Offer`]: the load that a group offers in expectation.

use weft_units::Time;

use crate::demand::Demand;

/// The offered load of one group.
#[derive(Clone, PartialEq, Debug)]
pub struct Offer {
    /// Payload bits per second over all flows.
    pub bps: f64,
    /// When the first flow may start, and when the last one is expected to.
    pub span: (Time, Time),
    /// The distribution over hosts and racks.
    pub demand: Demand,
}
