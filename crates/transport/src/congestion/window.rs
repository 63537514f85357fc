//! [`Window`]: the congestion window and the slow-start threshold. Each controller owns one; other modules only read it.

use super::settings::{Settings, WindowGrowth};
use crate::segment::LARGEST_WINDOW;

/// The state of every controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Bytes that may be in flight.
    pub cwnd: u32,
    /// Slow start below, congestion avoidance from here.
    pub ssthresh: u32,
}

impl Window {
    /// Bytes that may be in flight.
    #[inline]
    pub(crate) fn cwnd(&self) -> u32 {
        self.cwnd
    }

    /// The slow-start threshold, bytes.
    #[inline]
    pub(crate) fn ssthresh(&self) -> u32 {
        self.ssthresh
    }

    /// Whether the window is below the threshold.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Whether `flight` bytes used it. RFC 9438, section 5.8: a window that does not limit the sender carries no
    /// information about the network.
    #[inline]
    pub(crate) fn was_used(&self, segment: u32, flight: u32) -> bool {
        if self.in_slow_start() {
            self.cwnd < flight.saturating_mul(2)
        } else {
            flight.saturating_add(segment) > self.cwnd
        }
    }

    /// Grows in slow start for `bytes` acknowledged. Returns the bytes left for congestion avoidance, `None` if slow
    /// start used them all.
    #[inline]
    pub fn slow_start<P>(&mut self, settings: &Settings<'_, P>, bytes: u32) -> Option<u32> {
        if !self.in_slow_start() {
            return Some(bytes);
        }
        let mss = settings.segment;
        let used = match settings.growth {
            WindowGrowth::PerByte => bytes.min(self.ssthresh - self.cwnd),
            WindowGrowth::PerAck if bytes >= mss => mss,
            WindowGrowth::PerAck => 0,
        };
        self.grow(used);
        (used < bytes).then(|| bytes - used)
    }

    /// Grows by `bytes`.
    #[inline]
    pub fn grow(&mut self, bytes: u32) {
        self.cwnd = self.cwnd.saturating_add(bytes).min(LARGEST_WINDOW);
    }

    /// Reduces both to `threshold` bytes.
    pub fn reduce(&mut self, threshold: u32) {
        *self = Self { cwnd: threshold, ssthresh: threshold };
    }

    /// Undoes a reduction of the window `prior`.
    pub fn restore(&mut self, prior: Self) {
        self.cwnd = self.cwnd.max(prior.cwnd);
        self.ssthresh = self.ssthresh.max(prior.ssthresh);
    }
}
