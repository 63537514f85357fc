//! [`Rate`] in bits per second, and [`TxClock`], its time per byte, for the hot path.

use std::fmt;

use crate::quantity::show;
use crate::{Bytes, Duration};

const UNITS: &[(&str, u64)] = &[
    ("bps", 1),
    ("bit/s", 1),
    ("kbps", 1_000),
    ("Kbps", 1_000),
    ("kbit/s", 1_000),
    ("Mbps", 1_000_000),
    ("Mbit/s", 1_000_000),
    ("Gbps", 1_000_000_000),
    ("Gbit/s", 1_000_000_000),
    ("Tbps", 1_000_000_000_000),
];

/// A data rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Rate(u64);

impl Rate {
    /// `bps` bits per second.
    #[inline]
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// `gbps` gigabits per second.
    #[inline]
    pub const fn from_gbps(gbps: u64) -> Self {
        Self(gbps * 1_000_000_000)
    }

    /// Bits per second.
    #[inline]
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// The transmission time of `bytes` at this rate, rounded down to a picosecond.
    /// A rate of zero gives [`Duration::MAX`].
    pub fn tx_time(self, bytes: Bytes) -> Duration {
        match (u128::from(bytes.0) * 8_000_000_000_000).checked_div(u128::from(self.0)) {
            Some(ps) => Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX)),
            None => Duration::MAX,
        }
    }
}

/// The transmission time of one byte on a link, in 1/1024 ps, so that sending a packet costs a
/// multiplication and no division. Exact for every rate whose byte time is a multiple of 1/1024 ps
/// (among them 1, 10, 25, 40, 100, 400 Gbps and all slower powers of ten).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TxClock(u64);

impl TxClock {
    /// The clock of a link of `rate`; at rate zero a byte takes forever.
    pub fn new(rate: Rate) -> Self {
        let per_byte = (8_000_000_000_000_u128 << 10).checked_div(u128::from(rate.0));
        Self(per_byte.and_then(|t| u64::try_from(t).ok()).unwrap_or(u64::MAX >> 20))
    }

    /// The transmission time of `bytes`, which must be below 1 MiB.
    #[inline]
    pub const fn tx_time(self, bytes: u32) -> Duration {
        Duration::from_ps((self.0.wrapping_mul(bytes as u64)) >> 10)
    }

    /// The transmission time of any number of bytes; at most [`Duration::MAX`].
    pub fn time_of(self, bytes: Bytes) -> Duration {
        let ps = (u128::from(self.0) * u128::from(bytes.0)) >> 10;
        u64::try_from(ps).map_or(Duration::MAX, Duration::from_ps)
    }

    /// Whether [`TxClock::bytes_in`] is more than `bytes` for this span; without a division.
    #[inline]
    pub fn sends_more_in(self, span: Duration, bytes: u64) -> bool {
        u128::from(span.ps()) << 10 > u128::from(self.0.max(1)) * u128::from(bytes)
    }

    /// How many bytes the link sends in `span`, rounded up.
    #[inline]
    pub fn bytes_in(self, span: Duration) -> Bytes {
        let (ps, byte) = (span.ps(), self.0.max(1));
        // A division of 64 bits is several times as fast; spans are hardly ever five hours.
        if ps >> 54 == 0 {
            return Bytes((ps << 10).div_ceil(byte));
        }
        Bytes((u128::from(ps) << 10).div_ceil(u128::from(byte)) as u64)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.0, &[("bps", 1), ("kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000)])
    }
}

crate::quantity::text_form!(Rate, UNITS, "a rate such as \"10 Gbps\" or \"100 Mbps\"");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_frame_takes_its_time() {
        for (rate, ps) in
            [("1 Gbps", 12_304_000), ("10 Gbps", 1_230_400), ("100 Gbps", 123_040), ("400 Gbps", 30_760)]
        {
            let rate: Rate = rate.parse().unwrap();
            assert_eq!(rate.tx_time(Bytes(1538)).ps(), ps);
            assert_eq!(TxClock::new(rate).tx_time(1538).ps(), ps);
        }
    }

    #[test]
    fn bytes_in_a_span_undo_the_time_of_bytes() {
        let clock = TxClock::new(Rate::from_gbps(10));
        assert_eq!(clock.bytes_in(clock.tx_time(9_000)), Bytes(9_000));
        let many = Bytes(1 << 40);
        assert_eq!(clock.bytes_in(clock.time_of(many)), many);
        // On both sides of 2^54 ps.
        for ps in [(1 << 54) - 800, 1 << 54, (1 << 54) + 1] {
            assert_eq!(clock.bytes_in(Duration::from_ps(ps)), Bytes(ps.div_ceil(800)));
        }
        assert_eq!(clock.time_of(Bytes(u64::MAX)), Duration::MAX);
    }

    #[test]
    fn a_dead_link_never_finishes_and_nothing_overflows() {
        assert_eq!(Rate::from_bps(0).tx_time(Bytes(1)), Duration::MAX);
        assert!(TxClock::new(Rate::from_bps(0)).tx_time(1 << 19).ps() > Duration::from_secs(3600).ps());
    }

    #[test]
    fn a_span_is_compared_with_bytes_as_if_it_were_converted() {
        for bps in [0, 1, 3_000_000_000, 100_000_000_000, 1_600_000_000_000] {
            let clock = TxClock::new(Rate(bps));
            for ps in [0, 1, 79, 80, 81, 2667, 1 << 40, 1 << 60] {
                let span = Duration::from_ps(ps);
                let exact = clock.bytes_in(span).0;
                for bytes in [0, exact.saturating_sub(1), exact, exact.saturating_add(1), u64::MAX] {
                    assert_eq!(
                        clock.sends_more_in(span, bytes),
                        exact > bytes,
                        "{bps} bps, {ps} ps, {bytes} B"
                    );
                }
            }
        }
    }
}
