//! [`Reno`]: slow start and congestion avoidance of RFC 5681.

use super::controller::state_in;
use super::{Ack, Cause, Controller, Window};
use crate::config::{Config, WindowGrowth};

/// Additive increase, and half the flight after a loss or mark.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Reno {
    pub(super) window: Window,
    /// Bytes acknowledged since the window last grew in congestion avoidance.
    counted: u32,
}

impl Controller for Reno {
    state_in!(window);

    #[inline]
    fn on_ack(&mut self, cfg: &Config, ack: &Ack) {
        if ack.may_grow {
            match cfg.window_growth {
                WindowGrowth::PerByte => self.per_byte(cfg, ack.bytes),
                WindowGrowth::PerAck => per_ack(cfg, &mut self.window, ack.bytes),
            }
        }
    }

    /// RFC 5681, (4).
    fn on_congestion_event(&mut self, cfg: &Config, _cause: Cause, flight: u32) {
        self.window.reduce((flight / 2).max(2 * cfg.segment()));
    }
}

impl Reno {
    pub(super) fn new(_cfg: &Config, window: Window) -> Self {
        Self { window, counted: 0 }
    }

    /// RFC 3465 without its per-ACK limit, as in Linux: bytes left at the threshold count for
    /// congestion avoidance, which adds a segment when a window has been acknowledged.
    #[inline]
    fn per_byte(&mut self, cfg: &Config, bytes: u32) {
        let window = &mut self.window;
        let Some(bytes) = window.slow_start(cfg, bytes) else { return };
        self.counted = self.counted.saturating_add(bytes);
        if self.counted >= window.cwnd {
            self.counted -= window.cwnd;
            self.counted = self.counted.min(window.cwnd);
            window.grow(cfg.segment());
        }
    }
}

/// RFC 5681, (2) and (3), as in ns-3: an ACK for less than a segment does not count, an ACK for several counts as
/// one; the segment that crosses the threshold leaves the rest for congestion avoidance.
#[inline]
fn per_ack(cfg: &Config, window: &mut Window, bytes: u32) {
    let mss = cfg.segment();
    let Some(bytes) = window.slow_start(cfg, bytes) else { return };
    if !window.in_slow_start() && bytes >= mss {
        window.grow(square_over(mss, window.cwnd));
    }
}

/// MSS²/cwnd, at least a byte.
#[inline]
fn square_over(mss: u32, cwnd: u32) -> u32 {
    match mss.checked_mul(mss) {
        Some(square) => (square / cwnd.max(1)).max(1),
        None => (u64::from(mss) * u64::from(mss) / u64::from(cwnd.max(1))).max(1) as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_units::Time;

    fn ack(bytes: u32) -> Ack {
        Ack { now: Time::ZERO, bytes, una: 0, high: 0, srtt: 0, rtt: 0, may_grow: true }
    }

    #[test]
    fn growth_by_bytes_doubles_below_and_adds_a_segment_a_window_above_the_threshold() {
        let cfg = Config { mss: 1000, ..Config::profile("linux").unwrap() };
        let mut reno = Reno::new(&cfg, Window { cwnd: 10_000, ssthresh: 11_000 });
        reno.on_ack(&cfg, &ack(2000));
        assert_eq!(reno.window(), 11_000, "one to the threshold, one counted");
        reno.on_ack(&cfg, &ack(9_000));
        assert_eq!(reno.window(), 11_000);
        reno.on_ack(&cfg, &ack(1_000));
        assert_eq!(reno.window(), 12_000);
    }

    #[test]
    fn growth_by_acks_adds_one_segment_whatever_the_ack_covers() {
        let cfg = Config { mss: 1000, ..Config::profile("ns3-3.37").unwrap() };
        let mut reno = Reno::new(&cfg, Window { cwnd: 10_000, ssthresh: 11_000 });
        reno.on_ack(&cfg, &ack(2000));
        assert_eq!(reno.window(), 11_000 + 1_000_000 / 11_000, "crossing does both");
        let before = reno.window();
        reno.on_ack(&cfg, &ack(2000));
        assert_eq!(reno.window(), before + 1_000_000 / before);
        reno.on_ack(&cfg, &ack(0));
        assert_eq!(reno.window(), before + 1_000_000 / before, "less than a segment does not count yet");
    }
}
