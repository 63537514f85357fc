//! [`Reps`]: recycled entropies, packet spraying that uses good values again (Bonato et al. 2024).

use rand_core::SeedableRng;
use rand_xoshiro::SplitMix64;
use weft_units::{Duration, Time};

use super::feedback::Feedback;
use super::oblivious::below;

/// Values that are kept.
const KEPT: usize = 8;
/// How long the kept values are used alone after a timeout.
const FREEZE: Duration = Duration::from_ms(10);
/// Packets with random values after that.
const EXPLORATIONS: u8 = 16;

/// A buffer of the latest values whose packets arrived without a mark.
///
/// A value is used once more, the oldest first; without one, a random value is used. After a timeout, when some path
/// may have failed, only values in the buffer are used, used ones as well.
#[derive(Clone, Debug)]
pub(crate) struct Reps {
    count: u16,
    buffer: [u16; KEPT],
    /// Whether the value at each place has not been used again.
    is_fresh: [bool; KEPT],
    /// The place of the next value to keep.
    head: usize,
    /// Places with a value.
    filled: usize,
    /// The place of the next value while frozen.
    frozen_at: usize,
    /// The end of the freeze, if frozen.
    frozen_until: Option<Time>,
    explorations: u8,
    random: SplitMix64,
}

impl Reps {
    pub fn new(count: u16, random: u64) -> Self {
        Self {
            count,
            buffer: [0; KEPT],
            is_fresh: [false; KEPT],
            head: 0,
            filled: 0,
            frozen_at: 0,
            frozen_until: None,
            explorations: 0,
            random: SplitMix64::seed_from_u64(random),
        }
    }

    pub fn choose(&mut self) -> u16 {
        if self.explorations > 0 {
            self.explorations -= 1;
        } else if self.frozen_until.is_some() && self.filled > 0 {
            let place = self.frozen_at % self.filled;
            self.frozen_at = place + 1;
            self.is_fresh[place] = false;
            return self.buffer[place];
        } else if self.frozen_until.is_none() {
            // The oldest fresh value: the first one from the head on.
            let places = (self.head..KEPT).chain(0..self.head);
            if let Some(place) = places.into_iter().find(|place| self.is_fresh[*place]) {
                self.is_fresh[place] = false;
                return self.buffer[place];
            }
        }
        below(&mut self.random, self.count)
    }

    pub fn learn(&mut self, value: u16, feedback: Feedback, now: Time) {
        match self.frozen_until {
            None if feedback == Feedback::TimedOut && self.explorations == 0 => {
                self.frozen_until = Some(now + FREEZE);
            }
            Some(end) if now > end => {
                self.frozen_until = None;
                self.is_fresh = [false; KEPT];
                (self.head, self.filled, self.frozen_at) = (0, 0, 0);
                self.explorations = EXPLORATIONS;
            }
            _ => {}
        }
        if feedback == Feedback::Good {
            (self.buffer[self.head], self.is_fresh[self.head]) = (value, true);
            self.head = (self.head + 1) % KEPT;
            self.filled = (self.filled + 1).min(KEPT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that no random choice among 100 gives.
    const GOOD: u16 = 1000;

    fn with(good: impl IntoIterator<Item = u16>) -> Reps {
        let mut reps = Reps::new(100, 1);
        good.into_iter().for_each(|value| reps.learn(GOOD + value, Feedback::Good, Time::ZERO));
        reps
    }

    #[test]
    fn good_values_are_used_once_more_the_oldest_first_and_the_latest_eight_are_kept() {
        let cases: [(std::ops::Range<u16>, Vec<u16>); 4] =
            [(0..0, vec![]), (0..3, vec![0, 1, 2]), (0..8, (0..8).collect()), (0..11, (3..11).collect())];
        for (good, expected) in cases {
            let mut reps = with(good);
            let chosen: Vec<_> = (0..expected.len()).map(|_| reps.choose()).collect();
            assert_eq!(chosen, expected.iter().map(|value| GOOD + value).collect::<Vec<_>>());
            assert!(reps.choose() < 100, "a value is used again once only");
        }
    }

    #[test]
    fn only_packets_without_a_mark_recommend_their_value() {
        for feedback in [Feedback::Marked, Feedback::Trimmed] {
            let mut reps = with([]);
            reps.learn(GOOD, feedback, Time::ZERO);
            assert!(reps.choose() < 100);
        }
    }

    #[test]
    fn after_a_timeout_known_values_are_used_for_10_ms_and_then_16_random_ones() {
        let mut reps = with(0..3);
        reps.choose();
        reps.learn(0, Feedback::TimedOut, Time::ZERO);
        let frozen: Vec<_> = (0..5).map(|_| reps.choose() - GOOD).collect();
        assert_eq!(frozen, [0, 1, 2, 0, 1]);
        let end = Time::ZERO + FREEZE;
        reps.learn(GOOD + 5, Feedback::Good, end);
        assert_eq!((0..4).map(|_| reps.choose() - GOOD).collect::<Vec<_>>(), [2, 5, 0, 1]);
        reps.learn(GOOD + 7, Feedback::Good, end + Duration::from_ps(1));
        assert!((0..16).all(|_| reps.choose() < 100));
        assert_eq!(reps.choose(), GOOD + 7);
    }

    #[test]
    fn a_frozen_sender_without_values_explores() {
        let mut reps = with([]);
        reps.learn(0, Feedback::TimedOut, Time::ZERO);
        assert!((0..50).all(|_| reps.choose() < 100));
    }
}
