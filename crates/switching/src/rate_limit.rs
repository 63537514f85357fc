//! [`RateLimit`]: a token bucket, stored as the time when it will be full again.

use weft_units::{Duration, Time};

/// Allows `rate` events per second on average, and up to `burst` at once.
#[derive(Clone, Debug)]
pub struct RateLimit {
    gap: Duration,
    slack: Duration,
    full_at: Time,
}

impl RateLimit {
    /// A full bucket of `burst` tokens that gains `rate` per second; a rate of zero allows only the burst.
    pub fn new(rate: u64, burst: u64) -> Self {
        let never = u64::MAX / 4 / burst.max(1);
        let gap = Duration::from_ps(1_000_000_000_000_u64.checked_div(rate).unwrap_or(never));
        let slack = Duration::from_ps(gap.ps().saturating_mul(burst.max(1)).min(u64::MAX / 2));
        Self { gap, slack, full_at: Time::ZERO }
    }

    /// Fills the bucket.
    pub fn refill(&mut self) {
        self.full_at = Time::ZERO;
    }

    /// Takes a token, if any is left.
    pub fn take(&mut self, now: Time) -> bool {
        let full_at = self.full_at.max(now) + self.gap;
        let allowed = full_at <= now + self.slack;
        if allowed {
            self.full_at = full_at;
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let mut limit = RateLimit::new(10, 3);
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let passed = |limit: &mut RateLimit, ms| (0..10).filter(|_| limit.take(at(ms))).count();
        assert_eq!(passed(&mut limit, 0), 3);
        assert_eq!(passed(&mut limit, 99), 0);
        assert_eq!(passed(&mut limit, 100), 1);
        assert_eq!(passed(&mut limit, 350), 2);
        assert_eq!(passed(&mut limit, 10_000), 3);
        limit.refill();
        assert_eq!(passed(&mut limit, 10_000), 3);
    }

    #[test]
    fn a_rate_of_zero_lets_the_whole_burst_through_and_then_nothing() {
        for burst in [1, 5, 1_000] {
            let mut limit = RateLimit::new(0, burst);
            let passed = (0..2_000).filter(|_| limit.take(Time::ZERO)).count() as u64;
            assert_eq!(passed, burst);
            assert!(!limit.take(Time::ZERO + Duration::from_secs(3_600)));
        }
    }
}
