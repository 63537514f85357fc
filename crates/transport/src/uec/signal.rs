//! [`Signal`]: what an answer says about congestion.

use weft_units::Duration;

/// What an answer says about congestion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    /// Bytes that are known to have arrived since the last answer.
    pub bytes: u64,
    /// Whether the packet was marked.
    pub is_marked: bool,
    /// The round-trip time of the packet, if this transmission of it is known.
    pub rtt: Option<Duration>,
    /// Bytes in flight.
    pub in_flight: u64,
}
