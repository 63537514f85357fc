//! [`LinkLoad`]: the utilisation of a link as HULA's switches estimate it (Katta et al., "HULA: scalable load balancing
//! using programmable data planes", SOSR 2016, section 4.2). The bytes are those on the wire, preamble and gap included: a
//! full link has utilisation 1 whatever the size of its packets.

use weft_fabric::Overhead;
use weft_units::{Duration, Rate, Time};

/// The estimator of one link: an exponential average over the bytes that leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkLoad {
    /// The paper's U, in bytes.
    bytes: f64,
    /// When it was updated.
    at: Time,
    /// 1 / tau, per picosecond.
    decay: f64,
    /// U at the link's rate.
    full: f64,
    overhead: Overhead,
}

impl LinkLoad {
    /// The estimator of a link of `rate` with this overhead and the time constant `tau`.
    pub(crate) fn new(rate: Rate, overhead: Overhead, tau: Duration) -> Self {
        let decay = 1.0 / tau.ps().max(1) as f64;
        let mut this = Self { bytes: 0.0, at: Time::ZERO, decay, full: 1.0, overhead };
        this.set_rate(rate);
        this
    }

    /// The rate of the link has changed.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        // bits/s * ps / 8e12 = bytes.
        self.full = (rate.bps() as f64 / self.decay / 8e12).max(1.0);
    }

    /// U * (1 - dt / tau), and 0 after tau.
    #[inline]
    fn decayed(&self, now: Time) -> f64 {
        // A signed integer is converted by one instruction.
        let passed = now.saturating_since(self.at).ps().min(i64::MAX as u64) as i64 as f64 * self.decay;
        self.bytes * (1.0 - passed).max(0.0)
    }

    /// An IP packet of this many bytes leaves: U = D + U * (1 - dt / tau).
    #[inline]
    pub(crate) fn add(&mut self, ip_bytes: u16, now: Time) {
        self.bytes = f64::from(self.overhead.wire_bytes(ip_bytes.into())) + self.decayed(now);
        self.at = now;
    }

    /// The utilisation in steps of 1/255.
    #[inline]
    pub(crate) fn level(&self, now: Time) -> u8 {
        // The conversion saturates.
        (self.decayed(now) / self.full * 255.0) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    #[test]
    fn packets_are_added_to_what_is_left_of_earlier_ones() {
        let mut load = LinkLoad::new(Rate::from_gbps(10), Overhead::None, Duration::from_us(400));
        load.add(1_000, at(0));
        load.add(1_000, at(100));
        assert!((load.decayed(at(100)) - 1_750.0).abs() < 1e-6);
        assert!((load.decayed(at(300)) - 875.0).abs() < 1e-6);
        assert_eq!((load.decayed(at(500)), load.level(at(500))), (0.0, 0));
    }

    #[test]
    fn a_link_at_its_rate_has_the_highest_level_and_one_at_half_of_it_the_middle() {
        use Overhead::{Ethernet, None};
        for (overhead, bytes, level) in [
            (None, 1_250, 254..=255),
            (None, 625, 126..=128),
            (Ethernet, 1_250 - 38, 254..=255),
            (Ethernet, 625 - 38, 126..=128),
        ] {
            let mut load = LinkLoad::new(Rate::from_gbps(10), overhead, Duration::from_us(400));
            for us in 0..4_000 {
                load.add(bytes, at(us));
            }
            assert!(level.contains(&load.level(at(3_999))), "{}", load.level(at(3_999)));
        }
    }
}
