//! [`Settings`]: the parameters that a congestion controller reads.

use weft_units::{Given, words};

words! {
    /// How the window grows with an ACK for several segments.
    pub enum WindowGrowth {
        /// Reno: one segment in slow start and MSS²/cwnd bytes afterwards, however much the ACK covers (RFC 5681
        /// as in ns-3): with delayed ACKs half the growth. CUBIC: by the bytes acknowledged, past the threshold.
        PerAck = "per-ack",
        /// By the bytes acknowledged (RFC 3465; Linux), in slow start up to the threshold.
        PerByte = "per-byte",
    }
}

/// The parameters `own` of one controller, by default those of a custom one, and those of TCP that every controller
/// reads.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a, P = Given> {
    /// The controller's own parameters.
    pub own: &'a P,
    /// Bytes of a full segment.
    pub segment: u32,
    /// How the window grows with an ACK for several segments.
    pub growth: WindowGrowth,
    /// Data segments are spaced at the pacing rate.
    pub paced: bool,
    /// The controller follows ns-3.37 where that differs from Linux (`loss_recovery = "ns3-3.37"`).
    pub as_ns3: bool,
}

impl<P> Settings<'_, P> {
    /// The same settings for a controller with other parameters.
    #[inline]
    pub(super) fn with<'b, Q>(&self, own: &'b Q) -> Settings<'b, Q> {
        let &Self { segment, growth, paced, as_ns3, .. } = self;
        Settings { own, segment, growth, paced, as_ns3 }
    }
}
