//! [`Reno`]: slow start and congestion avoidance of RFC 5681.

use super::controller::{Ack, Cause, Controller, state_in};
use super::settings::{Settings, WindowGrowth};
use super::window::Window;

/// Additive increase, and half the flight after a loss or mark.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Reno {
    pub(super) window: Window,
    /// Bytes acknowledged since the window last grew in congestion avoidance.
    counted: u32,
}

impl Controller for Reno {
    type Own = ();

    state_in!(window);

    #[inline]
    fn on_ack(&mut self, settings: &Settings<'_, ()>, ack: &Ack) {
        if ack.may_grow {
            match settings.growth {
                WindowGrowth::PerByte => self.per_byte(settings, ack.bytes),
                WindowGrowth::PerAck => per_ack(settings, &mut self.window, ack.bytes),
            }
        }
    }

    /// RFC 5681, (4).
    fn on_congestion_event(&mut self, settings: &Settings<'_, ()>, _cause: Cause, flight: u32) {
        self.window.reduce((flight / 2).max(2 * settings.segment));
    }
}

impl Reno {
    pub(super) fn new(_settings: &Settings<'_, ()>, window: Window) -> Self {
        Self { window, counted: 0 }
    }

    /// RFC 3465 without its per-ACK limit, as in Linux: bytes left at the threshold count for
    /// congestion avoidance, which adds a segment when a window has been acknowledged.
    #[inline]
    fn per_byte(&mut self, settings: &Settings<'_, ()>, bytes: u32) {
        let window = &mut self.window;
        let Some(bytes) = window.slow_start(settings, bytes) else { return };
        self.counted = self.counted.saturating_add(bytes);
        if self.counted >= window.cwnd {
            self.counted -= window.cwnd;
            self.counted = self.counted.min(window.cwnd);
            window.grow(settings.segment);
        }
    }
}

/// RFC 5681, (2) and (3), as in ns-3: an ACK for less than a segment does not count, an ACK for several counts as
/// one; the segment that crosses the threshold leaves the rest for congestion avoidance.
#[inline]
fn per_ack(settings: &Settings<'_, ()>, window: &mut Window, bytes: u32) {
    let mss = settings.segment;
    let Some(bytes) = window.slow_start(settings, bytes) else { return };
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
    use crate::config::Config;
    use weft_units::Time;

    fn ack(bytes: u32) -> Ack {
        Ack { now: Time::ZERO, bytes, una: 0, high: 0, srtt: 0, rtt: 0, may_grow: true }
    }

    #[test]
    fn growth_by_bytes_doubles_below_and_adds_a_segment_a_window_above_the_threshold() {
        let cfg = Config { mss: 1000, ..Config::profile("linux").unwrap() };
        let mut reno = Reno::new(&cfg.settings_with(&()), Window { cwnd: 10_000, ssthresh: 11_000 });
        reno.on_ack(&cfg.settings_with(&()), &ack(2000));
        assert_eq!(reno.window(), 11_000, "one to the threshold, one counted");
        reno.on_ack(&cfg.settings_with(&()), &ack(9_000));
        assert_eq!(reno.window(), 11_000);
        reno.on_ack(&cfg.settings_with(&()), &ack(1_000));
        assert_eq!(reno.window(), 12_000);
    }

    #[test]
    fn growth_by_acks_adds_one_segment_whatever_the_ack_covers() {
        let cfg = Config { mss: 1000, ..Config::profile("ns3-3.37").unwrap() };
        let mut reno = Reno::new(&cfg.settings_with(&()), Window { cwnd: 10_000, ssthresh: 11_000 });
        reno.on_ack(&cfg.settings_with(&()), &ack(2000));
        assert_eq!(reno.window(), 11_000 + 1_000_000 / 11_000, "crossing does both");
        let before = reno.window();
        reno.on_ack(&cfg.settings_with(&()), &ack(2000));
        assert_eq!(reno.window(), before + 1_000_000 / before);
        reno.on_ack(&cfg.settings_with(&()), &ack(0));
        assert_eq!(reno.window(), before + 1_000_000 / before, "less than a segment does not count yet");
    }
}
