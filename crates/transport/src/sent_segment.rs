//! [`Entry`]: a segment that was sent, and its state.

use crate::tick::Tick;

/// The receiver reported it.
pub(crate) const SACKED: u8 = 1;
/// Considered lost.
pub(crate) const LOST: u8 = 2;
/// A retransmission is in flight.
pub(crate) const RETRANS: u8 = 4;
/// Was retransmitted at least once: its round-trip time is ambiguous (Karn).
pub(crate) const EVER: u8 = 8;

/// A segment, up to the start of the next; outside recovery, a run of segments sent at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) start: u32,
    pub(crate) sent: Tick,
    pub(crate) flags: u8,
}
