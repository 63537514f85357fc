//! [`Meter`], a rate limiter.

use crate::clock::{Duration, Time};

/// A rate limit with a burst: the generic cell rate algorithm (ITU-T I.371), whose only state is one
/// instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter {
    due: Time,
}

impl Meter {
    /// Whether an event conforms to `rate` per second with bursts of `burst`; if so, it is counted.
    pub fn take(&mut self, now: Time, rate: u32, burst: u32) -> bool {
        let each = Duration::from_ns(1_000_000_000 / u64::from(rate.max(1)));
        if self.due > now + each.saturating_mul(burst.saturating_sub(1).into()) {
            return false;
        }
        self.due = self.due.max(now) + each;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_and_then_the_rate() {
        let mut meter = Meter::default();
        let at = |ms: u64| Time::ZERO + Duration::from_ms(ms);
        let taken = |meter: &mut Meter, ms| (0..100).filter(|_| meter.take(at(ms), 100, 10)).count();
        assert_eq!(taken(&mut meter, 1000), 10);
        assert_eq!(taken(&mut meter, 1009), 0);
        assert_eq!(taken(&mut meter, 1050), 5);
        assert_eq!(taken(&mut meter, 9000), 10);
    }
}
