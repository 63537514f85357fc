//! [`FlowRate`]: the rate at which a flow sends.

use weft_units::{Duration, Time};

/// A rate is that of the last whole window.
const WINDOW: Duration = Duration::from_us(500);

/// Counts the bytes of one flow in windows of 500 us.
#[derive(Default)]
pub(crate) struct FlowRate {
    /// The start of the window.
    since: Time,
    /// Bytes sent in it.
    bytes: u64,
    /// Bytes sent in the window before, as if that had lasted 500 us.
    before: u64,
}

impl FlowRate {
    /// Bits per second: of the window before, or of a longer time if nothing was sent since.
    pub(crate) fn bps(&self, now: Time) -> f64 {
        let lasted = now.saturating_since(self.since);
        let bytes_per_second = match lasted >= WINDOW {
            true => self.bytes as f64 / lasted.as_secs_f64(),
            false => self.before as f64 / WINDOW.as_secs_f64(),
        };
        bytes_per_second * 8.0
    }

    /// `bytes` are sent.
    pub(crate) fn sends(&mut self, bytes: u64, now: Time) {
        let lasted = now.saturating_since(self.since);
        if lasted >= WINDOW {
            let before = (self.bytes as f64 * WINDOW.as_secs_f64() / lasted.as_secs_f64()) as u64;
            *self = Self { since: now, bytes, before };
        } else {
            self.bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_window_before_and_falls_in_a_pause() {
        let at = |us| Time::ZERO + Duration::from_us(us);
        let mut rate = FlowRate::default();
        // 1 000 bytes in 10 us are 800 Mbps.
        for us in (1_000..2_000).step_by(10) {
            rate.sends(1_000, at(us));
        }
        assert!((rate.bps(at(1_999)) - 8e8).abs() < 1e7, "{}", rate.bps(at(1_999)));
        assert!((rate.bps(at(2_500)) - 4e8).abs() < 1e7, "{}", rate.bps(at(2_500)));
        rate.sends(1_000, at(11_500));
        assert!(rate.bps(at(11_501)) < 8e7, "{}", rate.bps(at(11_501)));
    }
}
