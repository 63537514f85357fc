//! [`PacingRate`]: the rate at which a sender spaces its segments.

use weft_units::Duration;

/// A rate as a ratio, so that no division rounds it: `bytes` of payload per `time`, both more than 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacingRate {
    /// Bytes of payload.
    pub bytes: u64,
    /// The time that they take.
    pub time: Duration,
}

impl PacingRate {
    /// The rate of Linux (`tcp_update_pacing_rate`): twice `window` bytes per round trip of `srtt` if `fast`, otherwise
    /// 1.2 times (`tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
    pub(crate) fn of_window(window: u32, fast: bool, srtt: Duration) -> Self {
        let window = u64::from(window.max(1));
        Self { bytes: if fast { window * 2 } else { window * 6 / 5 }, time: srtt }
    }

    /// The time that `bytes` of payload take, rounded up.
    pub fn time_of(self, bytes: u64) -> Duration {
        let product = u128::from(bytes) * u128::from(self.time.ps());
        let time = product.div_ceil(u128::from(self.bytes.max(1)));
        Duration::from_ps(time.min(u128::from(u64::MAX)) as u64)
    }

    /// Bytes of payload in `time`, rounded down.
    pub fn bytes_in(self, time: Duration) -> u64 {
        let product = u128::from(self.bytes) * u128::from(time.ps());
        (product / u128::from(self.time.ps().max(1))).min(u128::from(u64::MAX)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_converts_bytes_and_times() {
        let srtt = Duration::from_ms(10);
        let rate = |fast| PacingRate::of_window(10_000, fast, srtt);
        assert_eq!((rate(true).bytes, rate(false).bytes), (20_000, 12_000));
        assert_eq!(rate(true).time_of(1000), Duration::from_us(500));
        assert_eq!(rate(false).time_of(1), Duration::from_ps(833_334), "rounded up");
        assert_eq!(rate(false).bytes_in(Duration::from_ps(833_333)), 0, "rounded down");
        assert_eq!(rate(true).bytes_in(Duration::from_ms(1)), 2000);
    }
}
