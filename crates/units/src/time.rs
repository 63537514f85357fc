//! [`Time`], an instant of a run, and [`Duration`], a span between two: both in picoseconds.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

use crate::quantity::show;

const UNITS: &[(&str, u64)] = &[
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("µs", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
    ("min", 60_000_000_000_000),
    ("h", 3_600_000_000_000_000),
];

/// An instant, in picoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Time(u64);

/// A span of time, in picoseconds. Sums and products saturate at [`Duration::MAX`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Duration(u64);

impl Time {
    /// The start of a run.
    pub const ZERO: Self = Self(0);
    /// Later than everything.
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `ps` picoseconds after the start.
    #[inline]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Picoseconds since the start.
    #[inline]
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for display and plots.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-12
    }

    /// The span since `earlier`, or zero if `earlier` is later.
    #[inline]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// The resolution of time, and the shortest duration above zero.
    pub const PICOSECOND: Self = Self(1);
    /// Longer than any run.
    pub const MAX: Self = Self(u64::MAX);

    /// `ps` picoseconds.
    #[inline]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// `ns` nanoseconds.
    #[inline]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns.saturating_mul(1_000))
    }

    /// `us` microseconds.
    #[inline]
    pub const fn from_us(us: u64) -> Self {
        Self(us.saturating_mul(1_000_000))
    }

    /// `ms` milliseconds.
    #[inline]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000_000))
    }

    /// `s` seconds.
    #[inline]
    pub const fn from_secs(s: u64) -> Self {
        Self(s.saturating_mul(1_000_000_000_000))
    }

    /// The span nearest to `s` seconds; zero if negative or not finite.
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * 1e12).round() as u64)
    }

    /// Picoseconds.
    #[inline]
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Seconds, for display and plots.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-12
    }

    /// The difference, or zero if `other` is longer.
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    #[inline]
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Time {
    #[inline]
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub for Time {
    type Output = Duration;
    #[inline]
    fn sub(self, earlier: Self) -> Duration {
        debug_assert!(self >= earlier, "a span cannot be negative");
        Duration(self.0.wrapping_sub(earlier.0))
    }
}

impl Add for Duration {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        debug_assert!(self >= other, "a span cannot be negative");
        Self(self.0.wrapping_sub(other.0))
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    #[inline]
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    #[inline]
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl Sum for Duration {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0 s");
        }
        let units =
            [("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];
        show(f, self.0, &units)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Duration(self.0).fmt(f)
    }
}

crate::quantity::text_form!(Duration, UNITS, "a time such as \"25 us\" or \"1.5 s\"");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_span_convert_both_ways() {
        for (text, ps) in [
            ("25 us", 25_000_000),
            ("1.5s", 1_500_000_000_000),
            ("0 s", 0),
            ("0.25 ns", 250),
            ("2 min", 120_000_000_000_000),
        ] {
            assert_eq!(text.parse::<Duration>(), Ok(Duration(ps)), "{text}");
            let shown = Duration(ps).to_string();
            assert_eq!(shown.parse::<Duration>(), Ok(Duration(ps)), "{shown}");
        }
    }

    #[test]
    fn a_span_that_is_too_long_is_the_longest_there_is() {
        let hello: Duration = "2000 h".parse().unwrap();
        assert_eq!((hello * 3, hello + hello + hello), (Duration::MAX, Duration::MAX));
        assert_eq!(Time::from_ps(1) + hello * 3, Time::MAX);
        let parts = [Duration::from_ns, Duration::from_us, Duration::from_ms, Duration::from_secs];
        assert!(parts.iter().all(|of| of(u64::MAX) == Duration::MAX));
    }

    #[test]
    fn what_is_not_a_time_is_refused_with_the_units_that_are() {
        for text in ["", "us", "25", "25 parsecs", "-1 s", "1e30 h", "nan s", "1..2 s"] {
            let error = text.parse::<Duration>().unwrap_err();
            assert!(error.to_string().contains("time"), "{text}: {error}");
        }
    }
}
