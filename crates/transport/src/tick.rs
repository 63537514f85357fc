//! [`Tick`]: when a segment was sent.

use weft_units::Time;

use crate::seq::before;

/// A send time, in ticks of 2^17 ps (131 ns): comparable within half the number space, 281 s.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tick(u32);

impl Tick {
    const SHIFT: u32 = 17;
    /// Picoseconds.
    pub(crate) const LENGTH: u64 = 1 << Self::SHIFT;

    #[inline]
    pub(crate) const fn at(now: Time) -> Self {
        Self((now.ps() >> Self::SHIFT) as u32)
    }

    /// Picoseconds since `earlier`.
    #[inline]
    pub(crate) const fn since(self, earlier: Self) -> u64 {
        (self.0.wrapping_sub(earlier.0) as u64) << Self::SHIFT
    }

    #[inline]
    pub(crate) const fn after(self, other: Self) -> bool {
        before(other.0, self.0)
    }
}
