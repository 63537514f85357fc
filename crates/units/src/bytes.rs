//! [`Bytes`], a size.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

use crate::quantity::show;

const UNITS: &[(&str, u64)] = &[
    ("B", 1),
    ("byte", 1),
    ("bytes", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// The difference, or zero if `other` is larger.
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Bytes {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    #[inline]
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.0, &[("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)])
    }
}

crate::quantity::text_form!(Bytes, UNITS, "a size such as \"1500 B\" or \"10 MB\"");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_size_convert_both_ways() {
        for (text, bytes) in [("1500 B", 1_500), ("1.5 MB", 1_500_000), ("4 MiB", 4 << 20), ("64KiB", 65_536)]
        {
            assert_eq!(text.parse::<Bytes>(), Ok(Bytes(bytes)), "{text}");
            assert_eq!(Bytes(bytes).to_string().parse::<Bytes>(), Ok(Bytes(bytes)));
        }
        assert!("10 mb".parse::<Bytes>().is_err(), "units are case-sensitive");
        assert!("10 Mbps".parse::<Bytes>().is_err(), "a rate is not a size");
    }
}
