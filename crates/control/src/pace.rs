//! [`Pace`]: limits a switch's unconfirmed rules by how fast it confirmed others.

use crate::clock::{Duration, Time};

/// A limit that is halved on a slow answer, at most once per round of requests, and grows with every rule confirmed
/// in time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    limit: u32,
    most: u32,
    slow: Duration,
    /// When it was last halved.
    halved: Time,
}

/// The limit never falls below the maximum divided by this.
const LEAST: u32 = 16;

impl Pace {
    /// Creates a pace of at most `most` rules; answers that take longer than `slow` count as slow.
    pub const fn new(most: u32, slow: Duration) -> Self {
        Self { limit: most, most, slow, halved: Time::ZERO }
    }

    /// The limit now.
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// The switch confirmed a number of rules that were requested at `asked`.
    pub fn answered(&mut self, now: Time, asked: Time, rules: u32) {
        if now.saturating_since(asked) <= self.slow {
            self.limit = self.limit.saturating_add(rules).min(self.most);
        } else if asked >= self.halved {
            self.limit = (self.limit / 2).max(self.most / LEAST).max(1);
            self.halved = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_answers_halve_the_limit_once_a_round_and_quick_ones_raise_it() {
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let mut pace = Pace::new(1600, Duration::from_ms(100));
        for asked in 0..100 {
            pace.answered(at(300), at(asked), 1);
        }
        assert_eq!(pace.limit(), 800, "all were requested before the first answer");
        pace.answered(at(401), at(300), 1);
        assert_eq!(pace.limit(), 400);
        for round in 1..20 {
            pace.answered(at(1000 * round + 500), at(1000 * round), 1);
        }
        assert_eq!(pace.limit(), 100, "the floor is a sixteenth");
        pace.answered(at(60_000), at(59_990), 30);
        assert_eq!(pace.limit(), 130);
        pace.answered(at(60_000), at(59_990), 5000);
        assert_eq!(pace.limit(), 1600);
    }
}
