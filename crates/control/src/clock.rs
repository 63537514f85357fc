//! [`Time`], an instant since the controller started, and [`Duration`], a span between two, both in nanoseconds.
//!
//! A simulation counts picoseconds ([`weft_units::Time`]): 64 bits cover 213 days. A controller may run longer;
//! 64 bits of nanoseconds cover 584 years.

use std::ops::{Add, AddAssign};

/// An instant, in nanoseconds since the controller started.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time(u64);

/// A span of time, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Duration(u64);

impl Time {
    /// The controller's start.
    pub const ZERO: Self = Self(0);
    /// Later than every other instant: never.
    pub const MAX: Self = Self(u64::MAX);

    /// Nanoseconds since the start.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub const fn as_secs_f64(self) -> f64 {
        Duration(self.0).as_secs_f64()
    }

    /// The span since `earlier`, zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// Zero length.
    pub const ZERO: Self = Self(0);

    /// `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// `us` microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000)
    }

    /// `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }

    /// `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s * 1_000_000_000)
    }

    /// The span nearest to `s` seconds, to 15 digits of whole seconds and nanoseconds each; negative and non-finite
    /// values give zero.
    pub fn from_secs_f64(s: f64) -> Self {
        let whole = s.trunc();
        Self((whole as u64).saturating_mul(1_000_000_000).saturating_add(((s - whole) * 1e9).round() as u64))
    }

    /// Nanoseconds.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Seconds.
    pub const fn as_secs_f64(self) -> f64 {
        (self.0 / 1_000_000_000) as f64 + (self.0 % 1_000_000_000) as f64 * 1e-9
    }

    /// `factor` times the span, saturating.
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// A simulation's instant, rounded down to a nanosecond.
impl From<weft_units::Time> for Time {
    fn from(time: weft_units::Time) -> Self {
        Self(time.ps() / 1_000)
    }
}

/// An instant as simulated time; an instant out of range becomes never.
impl From<Time> for weft_units::Time {
    fn from(time: Time) -> Self {
        time.0.checked_mul(1_000).map_or(Self::MAX, Self::from_ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred years, leap days included.
    const CENTURY: u64 = 36_525 * 86_400;

    #[test]
    fn a_hundred_years_are_counted_to_the_microsecond() {
        let end = Time::ZERO + Duration::from_secs_f64(CENTURY as f64);
        assert_eq!(end.ns(), CENTURY * 1_000_000_000);
        for (after, ns) in [(0.000_001, 1_000), (0.3, 300_000_000)] {
            let later = Time::ZERO + Duration::from_secs_f64(CENTURY as f64 + after);
            let since = later.saturating_since(end).ns();
            assert!(since.abs_diff(ns) < 500, "{since}");
            assert!((later.as_secs_f64() - CENTURY as f64 - after).abs() < 1e-6);
        }
        assert!(end + Duration::from_secs(CENTURY) < Time::MAX);
    }

    #[test]
    fn the_clock_of_a_simulation_is_converted_both_ways() {
        let ps = weft_units::Time::from_ps;
        assert_eq!(Time::from(ps(1_999)), Time::ZERO + Duration::from_ns(1));
        assert_eq!(weft_units::Time::from(Time::ZERO + Duration::from_ns(7)), ps(7_000));
        assert_eq!(weft_units::Time::from(Time::MAX), weft_units::Time::MAX);
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(0.002), Duration::from_ms(2));
    }
}
