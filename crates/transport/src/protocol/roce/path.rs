//! [`Path`] and [`Feedback`]: what a congestion control knows.

use std::ops::RangeInclusive;

use weft_units::{Duration, Rate};

use super::telemetry::Telemetry;

/// The range of rates in parameters.
pub(super) const RATES: RangeInclusive<Rate> = Rate::from_bps(1_000)..=Rate::from_gbps(100_000);

/// The path of a flow, as its sender knows it when it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Path {
    /// The rate of the sender's link.
    pub line: Rate,
    /// The time of a round trip without queues.
    pub round_trip: Duration,
    /// Switches on the way to the receiver.
    pub switches: u32,
}

/// What a sender learns from an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Feedback<'a> {
    /// The time from the departure of the packet that it answers until now.
    pub round_trip: Duration,
    /// Packets that it newly acknowledges in order.
    pub acknowledged: u32,
    /// The first packet that is not acknowledged.
    pub next: u32,
    /// The lowest number never sent.
    pub fresh: u32,
    /// Whether it notifies of congestion.
    pub is_cnp: bool,
    /// Whether it shows for the first time that packets are lost.
    pub shows_loss: bool,
    /// The ports on the way of the packet that it answers.
    pub telemetry: Option<&'a Telemetry>,
}

/// How long a packet occupies a line of this rate, in bits per second.
pub(super) fn gap(wire_bytes: u32, rate: f64) -> Duration {
    Duration::from_ps((f64::from(wire_bytes) * 8e12 / rate) as u64)
}
