//! [`RateEstimator`]: the utilisation of a link, by CONGA's discounting rate estimator.
//!
//! A register grows by the bytes of each packet and shrinks by the factor 1 - alpha each interval, so that at a constant
//! rate it approaches the bytes of the time interval / alpha: a low-pass filter with that time constant (Alizadeh et
//! al., "CONGA: distributed congestion-aware load balancing for datacenters", SIGCOMM 2014, section 3.2). The bytes are those
//! on the wire, preamble and gap included: a full link has utilisation 1 whatever the size of its packets.

use weft_fabric::Overhead;
use weft_units::{Duration, Rate, Time};

/// 1 / alpha: alpha is 0.2 in all public implementations.
pub(crate) const SHRINKS_BY_ONE_IN: u64 = 5;

/// The register of one link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateEstimator {
    /// In units of 1/256 of a byte, so that a small register shrinks, too.
    register: u64,
    /// When it last shrank, in intervals.
    intervals: u64,
    /// When it shrinks next, in picoseconds.
    next_ps: u64,
    interval_ps: u64,
    /// The register at the link's rate.
    full: u64,
    overhead: Overhead,
}

impl RateEstimator {
    /// The estimator of a link of `rate` with this overhead, which shrinks each `interval`.
    pub(crate) fn new(rate: Rate, overhead: Overhead, interval: Duration) -> Self {
        let interval_ps = interval.ps().max(1);
        let mut this = Self { register: 0, intervals: 0, next_ps: 0, interval_ps, full: 1, overhead };
        this.set_rate(rate);
        this
    }

    /// The rate of the link has changed.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        // bits/s * ps / 8e12 = bytes of an interval.
        let bytes = u128::from(rate.bps()) * u128::from(self.interval_ps) * u128::from(SHRINKS_BY_ONE_IN)
            / 8_000_000_000_000;
        self.full = bytes.saturating_mul(256).clamp(1, u64::MAX.into()) as u64;
    }

    #[inline]
    fn shrink(&mut self, now: Time) {
        // Mostly the interval is still the same.
        if now.ps() < self.next_ps {
            return;
        }
        let intervals = now.ps() / self.interval_ps;
        self.next_ps = (intervals + 1).saturating_mul(self.interval_ps);
        let mut left = intervals - self.intervals;
        while left > 0 && self.register > 0 {
            self.register -= self.register.div_ceil(SHRINKS_BY_ONE_IN);
            left -= 1;
        }
        self.intervals = intervals;
    }

    /// An IP packet of this many bytes leaves.
    #[inline]
    pub(crate) fn add(&mut self, ip_bytes: u16, now: Time) {
        self.shrink(now);
        let bytes = self.overhead.wire_bytes(ip_bytes.into());
        self.register = self.register.saturating_add(u64::from(bytes) << 8);
    }

    /// The utilisation in `levels` steps, from 0 to `levels` - 1.
    #[inline]
    pub(crate) fn level(&mut self, levels: u64, now: Time) -> u8 {
        self.shrink(now);
        let top = levels - 1;
        // A register so large that the product overflows is that of a busy link.
        self.register.checked_mul(levels).map_or(top, |product| (product / self.full).min(top)) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate::from_gbps(10);

    #[test]
    fn a_full_link_has_the_highest_level_whatever_the_size_of_its_packets() {
        for (ip_bytes, wire) in [(1_500_u16, 1_538_u64), (46, 84), (552, 590)] {
            let mut estimator = RateEstimator::new(RATE, Overhead::Ethernet, Duration::from_us(32));
            let tx = RATE.tx_time(weft_units::Bytes(wire));
            let mut now = Time::ZERO;
            while now < Time::ZERO + Duration::from_us(1_024) {
                estimator.add(ip_bytes, now);
                now += tx;
            }
            assert_eq!(estimator.level(64, Time::ZERO + Duration::from_us(1_023)), 63, "{ip_bytes}");
        }
    }

    /// After n intervals in which b bytes came at their start, the register holds b * sum of 0.8^i, i = 1..n.
    #[test]
    fn the_register_follows_the_closed_form() {
        let interval = Duration::from_us(32);
        let mut estimator = RateEstimator::new(RATE, Overhead::None, interval);
        let mut expected = 0.0;
        for step in 0..40_u64 {
            let now = Time::ZERO + Duration::from_us(32 * step);
            estimator.add(20_000, now);
            expected = (if step == 0 { 0.0 } else { expected * 0.8 }) + 20_000.0;
            let found = estimator.register as f64 / 256.0;
            assert!((found - expected).abs() < 1.0, "step {step}: {found}, expected {expected}");
        }
        // Half of 40 000 bytes an interval for five intervals, at the start of an interval.
        assert!((expected - 100_000.0).abs() < 30.0, "{expected}");
        assert_eq!(estimator.full >> 8, 200_000);
        assert_eq!(estimator.level(8, Time::ZERO + Duration::from_us(32 * 39)), 3);
    }

    #[test]
    fn an_idle_link_has_level_zero_after_a_while_and_a_full_one_the_highest() {
        let mut estimator = RateEstimator::new(RATE, Overhead::None, Duration::from_us(32));
        let full = |us: u64| Time::ZERO + Duration::from_us(us);
        for packet in 0..1_024 {
            // 1250 bytes a microsecond: 10 Gbps.
            estimator.add(1_250, full(packet));
        }
        assert_eq!(estimator.level(8, full(1_023)), 7, "at the end of an interval");
        let levels: Vec<u8> = (0..40).map(|step| estimator.level(8, full(1_024 + 32 * step))).collect();
        assert!(levels.is_sorted_by(|a, b| a >= b), "{levels:?}");
        assert_eq!(levels.last(), Some(&0));
        assert_eq!(estimator.level(8, full(1_000_000_000)), 0);
    }
}
