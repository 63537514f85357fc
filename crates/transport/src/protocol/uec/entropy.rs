//! The choice of entropy values: which path each packet of a connection takes.
//!
//! Switches hash the entropy value together with the connection, so a value stands for one path, and several values may
//! share a path.

use std::collections::VecDeque;

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::SplitMix64;
use weft_units::{Duration, Time, words};

use super::span::SPAN;

/// The largest penalty of [`Bitmap`], that of a timeout.
const MOST: u8 = 15;
/// Values that [`Reps`] keeps.
const KEPT: usize = 8;
/// How long the kept values are used alone after a timeout.
const FREEZE: Duration = Duration::from_ms(10);
/// Packets with random values after that.
const EXPLORATIONS: u8 = 16;

words! {
    /// How a sender chooses entropy values.
    pub enum EntropyChoice {
        /// Every value once a round, in an order that is random in each round; the network's answers are ignored.
        Oblivious = "oblivious",
        /// Every value once a round, but values whose packets were marked, trimmed or lost are skipped for some rounds.
        Bitmap = "bitmap",
        /// Values whose packets arrived without a mark are used once more; otherwise random ones (REPS, Bonato et al. 2024).
        Reps = "reps",
        /// A value whose packet arrived without a mark if there is one, otherwise as `bitmap`.
        Mixed = "mixed",
    }
}

/// The network's answer about the path of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Feedback {
    /// The packet arrived without a congestion mark.
    Good,
    /// It arrived with a mark.
    Marked,
    /// A switch trimmed it.
    Trimmed,
    /// It was not acknowledged in time.
    TimedOut,
}

/// The entropy values of one connection. The state of the larger choices is on the heap, so that a sender is small.
#[derive(Clone, Debug)]
pub(crate) enum Entropies {
    Oblivious(Oblivious),
    Bitmap(Box<Bitmap>),
    Reps(Box<Reps>),
    Mixed(Box<Mixed>),
}

impl Entropies {
    /// The values `0..count`, chosen by `choice`; `random` seeds the choice.
    pub fn new(choice: EntropyChoice, count: u16, random: u64) -> Self {
        match choice {
            EntropyChoice::Oblivious => Self::Oblivious(Oblivious::new(count, random)),
            EntropyChoice::Bitmap => Self::Bitmap(Bitmap::new(count, random).into()),
            EntropyChoice::Reps => Self::Reps(Reps::new(count, random).into()),
            EntropyChoice::Mixed => Self::Mixed(Mixed::new(count, random).into()),
        }
    }

    /// The value for the next packet.
    pub fn choose(&mut self) -> u16 {
        match self {
            Self::Oblivious(oblivious) => oblivious.choose(),
            Self::Bitmap(bitmap) => bitmap.choose(),
            Self::Reps(reps) => reps.choose(),
            Self::Mixed(mixed) => mixed.choose(),
        }
    }

    /// Takes an answer about a packet with `value` into account.
    pub fn learn(&mut self, value: u16, feedback: Feedback, now: Time) {
        match self {
            Self::Oblivious(_) => {}
            Self::Bitmap(bitmap) => bitmap.learn(value, feedback),
            Self::Reps(reps) => reps.learn(value, feedback, now),
            Self::Mixed(mixed) => mixed.learn(value, feedback),
        }
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        match self {
            Self::Oblivious(oblivious) => oblivious.heap_bytes(),
            Self::Bitmap(bitmap) => size_of::<Bitmap>() + bitmap.heap_bytes(),
            Self::Reps(_) => size_of::<Reps>(),
            Self::Mixed(mixed) => size_of::<Mixed>() + mixed.heap_bytes(),
        }
    }
}

/// A cycle through all values, shuffled anew in each round, as csg-htsim does.
///
/// Hardware changes the order by XOR with a random number, which needs no memory and a power of two of values.
#[derive(Clone, Debug)]
pub(crate) struct Oblivious {
    /// The order of this round up to `at`, and the values that are left in it.
    values: Box<[u16]>,
    random: SplitMix64,
    at: u16,
}

impl Oblivious {
    pub fn new(count: u16, random: u64) -> Self {
        Self { values: (0..count).collect(), random: SplitMix64::seed_from_u64(random), at: 0 }
    }

    pub fn choose(&mut self) -> u16 {
        // One step of Fisher and Yates's shuffle.
        let (values, at) = (&mut *self.values, usize::from(self.at));
        let left = values.len() - at;
        let chosen = at + usize::from(below(&mut self.random, left as u16));
        values.swap(at, chosen);
        self.at = if left == 1 { 0 } else { self.at + 1 };
        values[at]
    }

    fn heap_bytes(&self) -> usize {
        size_of_val(&*self.values)
    }
}

/// A number in `0..n`.
fn below(random: &mut SplitMix64, n: u16) -> u16 {
    ((u64::from(random.next_u32()) * u64::from(n)) >> 32) as u16
}

/// A cycle through all values that skips those with a penalty. Each packet lowers the penalty of the first value that it skips
/// by one, as in uet-htsim.
#[derive(Clone, Debug)]
pub(crate) struct Bitmap {
    cycle: Oblivious,
    penalties: Box<[u8]>,
}

impl Bitmap {
    pub fn new(count: u16, random: u64) -> Self {
        Self { cycle: Oblivious::new(count, random), penalties: vec![0; usize::from(count)].into() }
    }

    pub fn choose(&mut self) -> u16 {
        let mut value = self.cycle.choose();
        let first = &mut self.penalties[usize::from(value)];
        if *first == 0 {
            return value;
        }
        *first -= 1;
        // After as many steps as there are values, even a bad one is used.
        for _ in 0..self.penalties.len() {
            value = self.cycle.choose();
            if self.penalties[usize::from(value)] == 0 {
                break;
            }
        }
        value
    }

    pub fn learn(&mut self, value: u16, feedback: Feedback) {
        // The penalties of uet-htsim.
        let more = match feedback {
            Feedback::Good => return,
            Feedback::Marked => 1,
            Feedback::Trimmed => 4,
            Feedback::TimedOut => MOST,
        };
        if let Some(penalty) = self.penalties.get_mut(usize::from(value)) {
            *penalty = (*penalty + more).min(MOST);
        }
    }

    fn heap_bytes(&self) -> usize {
        self.cycle.heap_bytes() + size_of_val(&*self.penalties)
    }
}

/// Values whose packets arrived without a mark, each for one more packet, and a [`Bitmap`] for all other packets.
///
/// There are at most as many such values as packets were in flight at once, and never more than [`SPAN`], even if answers are
/// repeated.
#[derive(Clone, Debug)]
pub(crate) struct Mixed {
    good: VecDeque<u16>,
    bitmap: Bitmap,
}

impl Mixed {
    pub fn new(count: u16, random: u64) -> Self {
        Self { good: VecDeque::new(), bitmap: Bitmap::new(count, random) }
    }

    pub fn choose(&mut self) -> u16 {
        self.good.pop_front().unwrap_or_else(|| self.bitmap.choose())
    }

    pub fn learn(&mut self, value: u16, feedback: Feedback) {
        if feedback == Feedback::Good && self.good.len() < SPAN as usize {
            self.good.push_back(value);
        }
        self.bitmap.learn(value, feedback);
    }

    fn heap_bytes(&self) -> usize {
        self.good.capacity() * size_of::<u16>() + self.bitmap.heap_bytes()
    }
}

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

    #[test]
    fn each_value_is_chosen_once_a_round_and_rounds_differ() {
        for count in [1, 2, 36, 64, 256] {
            let mut oblivious = Oblivious::new(count, 7);
            let mut round = || (0..count).map(|_| oblivious.choose()).collect::<Vec<_>>();
            let (first, second) = (round(), round());
            for mut order in [first.clone(), second.clone()] {
                order.sort_unstable();
                assert_eq!(order, (0..count).collect::<Vec<_>>());
            }
            assert!(count < 36 || first != second);
        }
    }

    #[test]
    fn the_order_depends_on_the_seed_alone() {
        let order = |seed| {
            let mut oblivious = Oblivious::new(64, seed);
            (0..64).map(|_| oblivious.choose()).collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }

    #[test]
    fn a_value_with_a_penalty_is_skipped_as_often_as_the_penalty_says() {
        use Feedback::{Good, Marked, TimedOut, Trimmed};
        let cases: [(&[Feedback], usize); 6] = [
            (&[Good], 0),
            (&[Marked], 1),
            (&[Trimmed], 4),
            (&[Marked, Trimmed, Good], 5),
            (&[TimedOut], 15),
            (&[TimedOut, TimedOut, Trimmed], 15),
        ];
        for (answers, skipped) in cases {
            let mut bitmap = Bitmap::new(16, 3);
            for answer in answers {
                bitmap.learn(5, *answer);
            }
            // 15 packets a round while the value is skipped, 16 in the round in which it returns.
            let until = (0..).position(|_| bitmap.choose() == 5).unwrap();
            let rounds = until.div_ceil(15).max(1) - 1;
            assert!((skipped.saturating_sub(1)..=skipped + 1).contains(&rounds), "{answers:?}: {rounds}");
        }
    }

    #[test]
    fn a_packet_lowers_the_penalty_of_the_first_value_that_it_skips_only() {
        let mut bitmap = Bitmap::new(8, 3);
        (0..7).for_each(|value| bitmap.learn(value, Feedback::Trimmed));
        let sum = |bitmap: &Bitmap| bitmap.penalties.iter().map(|penalty| u32::from(*penalty)).sum::<u32>();
        // Only value 7 is good. A packet that finds it at once lowers none, any other lowers one penalty by one.
        let mut good = 0;
        for _ in 0..20 {
            let before = sum(&bitmap);
            good += u32::from(bitmap.choose() == 7);
            assert!((before - 1..=before).contains(&sum(&bitmap)));
        }
        assert!(good > 10 && (8..=20).contains(&sum(&bitmap)), "{good} packets, {} left", sum(&bitmap));
    }

    #[test]
    fn values_are_found_even_if_all_are_bad_or_unknown() {
        let mut bitmap = Bitmap::new(4, 3);
        (0..4).for_each(|value| bitmap.learn(value, Feedback::TimedOut));
        bitmap.learn(400, Feedback::TimedOut);
        for _ in 0..200 {
            assert!(bitmap.choose() < 4);
        }
        assert!(bitmap.penalties.iter().all(|penalty| *penalty == 0));
    }

    #[test]
    fn good_values_are_used_once_more_and_then_values_without_a_penalty() {
        let mut mixed = Mixed::new(4, 9);
        mixed.learn(3, Feedback::Good);
        mixed.learn(0, Feedback::TimedOut);
        mixed.learn(1, Feedback::Good);
        assert_eq!([mixed.choose(), mixed.choose()], [3, 1]);
        assert!((0..12).all(|_| mixed.choose() != 0));
    }

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
        for feedback in [Feedback::Marked, Feedback::Trimmed, Feedback::TimedOut] {
            let mut reps = with([]);
            reps.learn(GOOD, feedback, Time::ZERO);
            assert!((0..50).all(|_| reps.choose() < 100), "{feedback:?}");
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
        reps.learn(GOOD + 7, Feedback::Good, end + Duration::PICOSECOND);
        assert!((0..16).all(|_| reps.choose() < 100));
        assert_eq!(reps.choose(), GOOD + 7);
    }
}
