//! [`Pace`]: when to open the next connection.

use rand_core::RngCore;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A second, in nanoseconds.
const SECOND: f64 = 1e9;

/// The offered load.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Offered {
    /// Closed loop: this many in progress at any time; when one completes, the next is opened.
    InProgress(u64),
    /// Open loop: this many per second, at random times (Poisson).
    PerSecond(f64),
}

/// Schedules connections.
#[derive(Debug)]
pub struct Pace {
    offered: Offered,
    next: u64,
    random: Xoshiro256PlusPlus,
    /// The maximum lateness of an opening, in nanoseconds; if large, the offered load was not reached.
    pub late: u64,
}

impl Pace {
    /// A pace that has not started.
    pub const fn new(offered: Offered, random: Xoshiro256PlusPlus) -> Self {
        Self { offered, next: u64::MAX, random, late: 0 }
    }

    /// Starts: the first connection is due `now`.
    pub const fn start(&mut self, now: u64) {
        (self.next, self.late) = (now, 0);
    }

    /// Whether to open another connection now, with `in_progress` others; if paced by rate, schedules the next.
    pub fn take_due(&mut self, now: u64, in_progress: u64) -> bool {
        match self.offered {
            Offered::InProgress(most) => in_progress < most,
            Offered::PerSecond(rate) if now >= self.next => {
                self.late = self.late.max(now - self.next);
                // In (0, 1], so that its logarithm is a number.
                let uniform = ((self.random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
                self.next += (-uniform.ln() * SECOND / rate) as u64;
                true
            }
            Offered::PerSecond(_) => false,
        }
    }

    /// When the next is due, if that depends on time only.
    pub const fn next(&self) -> Option<u64> {
        match self.offered {
            Offered::InProgress(_) => None,
            Offered::PerSecond(_) => Some(self.next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::SeedableRng;

    #[test]
    fn an_open_loop_offers_its_rate_whatever_is_in_progress() {
        let mut pace = Pace::new(Offered::PerSecond(1000.0), Xoshiro256PlusPlus::seed_from_u64(1));
        assert!(!pace.take_due(5, 0));
        pace.start(5);
        let opened = (0..10_000).filter(|ms| {
            let now = 5 + ms * 1_000_000;
            std::iter::repeat(()).take_while(|()| pace.take_due(now, u64::MAX)).count() > 0
        });
        // The share of milliseconds with at least one of 1000 arrivals per second: 1 - 1/e.
        let share = opened.count() as f64 / 10_000.0;
        assert!((0.61..0.655).contains(&share), "{share}");
        assert!(pace.late <= 1_000_000 && pace.next().is_some());
    }

    #[test]
    fn a_closed_loop_waits_for_those_in_progress() {
        let mut pace = Pace::new(Offered::InProgress(3), Xoshiro256PlusPlus::seed_from_u64(1));
        assert_eq!([0, 2, 3, 4].map(|in_progress| pace.take_due(9, in_progress)), [true, true, false, false]);
        assert_eq!(pace.next(), None);
    }
}
