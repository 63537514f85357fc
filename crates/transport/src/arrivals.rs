//! [`Arrivals`]: which packets of a flow have arrived.

use std::cmp::Ordering;
use std::collections::VecDeque;

/// The number of words within the set itself: at least the 64 packets after the first missing one.
const NEAR: usize = 2;

/// A set of packet numbers from 0, small while few are missing: a bit for each number from the first missing one to the
/// highest.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    /// All numbers below 64 times this are in the set.
    whole: u32,
    /// The next numbers, of which the first 64 are never all in the set.
    near: [u64; NEAR],
    /// The numbers after these.
    far: Option<Box<Far>>,
}

/// Words of which the last one is not 0.
#[derive(Clone, Debug, Default)]
struct Far(VecDeque<u64>);

impl Arrivals {
    /// Adds a number; returns whether it is new.
    pub fn insert(&mut self, number: u32) -> bool {
        let Some(at) = (number / 64).checked_sub(self.whole) else { return false };
        let bit = 1 << (number % 64);
        let word = match self.near.get_mut(at as usize) {
            Some(word) => word,
            None => self.far_word(at as usize - NEAR),
        };
        let is_new = *word & bit == 0;
        *word |= bit;
        self.advance();
        is_new
    }

    #[cold]
    fn far_word(&mut self, at: usize) -> &mut u64 {
        let Far(words) = &mut **self.far.get_or_insert_default();
        if words.len() <= at {
            words.resize(at + 1, 0);
        }
        &mut words[at]
    }

    /// Leaves out words whose numbers are all in the set.
    fn advance(&mut self) {
        while self.near[0] == u64::MAX {
            self.leave_out();
        }
    }

    /// Leaves out the first word, all of whose numbers are in the set from now on.
    fn leave_out(&mut self) {
        let next = self.far.as_mut().and_then(|far| far.0.pop_front());
        self.near = [self.near[1], next.unwrap_or(0)];
        self.whole += 1;
    }

    /// The word at a place after `whole`.
    fn word(&self, at: u32) -> u64 {
        let far = |at: usize| self.far.as_ref().and_then(|far| far.0.get(at)).copied().unwrap_or(0);
        self.near.get(at as usize).copied().unwrap_or_else(|| far(at as usize - NEAR))
    }

    /// Whether the set has a number.
    pub fn contains(&self, number: u32) -> bool {
        let Some(at) = (number / 64).checked_sub(self.whole) else { return true };
        self.word(at) & 1 << (number % 64) != 0
    }

    /// Adds all numbers below `number`.
    pub fn fill_to(&mut self, number: u32) {
        while self.whole < number / 64 {
            self.leave_out();
        }
        if number / 64 == self.whole {
            self.near[0] |= (1 << (number % 64)) - 1;
        }
        self.advance();
    }

    /// The first missing number: the number of packets that arrived in order.
    pub fn first_missing(&self) -> u32 {
        self.whole * 64 + self.near[0].trailing_ones()
    }

    /// How many numbers are in the set from `number` on, which is not below the first missing one.
    pub fn count_from(&self, number: u32) -> u32 {
        let far = self.far.iter().flat_map(|far| &far.0);
        let words = (self.whole..).zip(self.near.iter().chain(far));
        let bits = words.map(|(at, word)| match at.cmp(&(number / 64)) {
            Ordering::Less => 0,
            Ordering::Equal => (word >> (number % 64)).count_ones(),
            Ordering::Greater => word.count_ones(),
        });
        bits.sum()
    }

    /// Whether a number above the first missing one is there.
    pub fn has_gap(&self) -> bool {
        let [first, second] = self.near;
        first & (first + 1) != 0 || second != 0 || self.far.as_ref().is_some_and(|far| !far.0.is_empty())
    }

    /// Which of the 64 numbers up to `number` are in the set: bit i is for `number - i`.
    pub fn up_to(&self, number: u32) -> u64 {
        let word = |at: Option<u32>| match at.map(|at| at.checked_sub(self.whole)) {
            None => 0,
            Some(None) => u64::MAX,
            Some(Some(at)) => self.word(at),
        };
        let (at, above) = (number / 64, 63 - number % 64);
        let upper = word(Some(at)) << above;
        // Two shifts, because one by 64 is not defined.
        let lower = word(at.checked_sub(1)) >> (63 - above) >> 1;
        (upper | lower).reverse_bits()
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.far.as_ref().map_or(0, |far| size_of::<Far>() + far.0.capacity() * size_of::<u64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_holds_what_a_set_would(steps in prop::collection::vec((any::<bool>(), 0_u32..400), 0..200)) {
            let (mut arrivals, mut set) = (Arrivals::default(), BTreeSet::new());
            for (fills, number) in steps {
                if fills && number % 8 == 0 {
                    arrivals.fill_to(number / 4);
                    set.extend(0..number / 4);
                } else {
                    prop_assert_eq!(arrivals.insert(number), set.insert(number));
                }
                let missing = (0..).find(|number| !set.contains(number)).unwrap();
                prop_assert_eq!(arrivals.first_missing(), missing);
                prop_assert_eq!(arrivals.has_gap(), set.last().is_some_and(|last| *last > missing));
                let from = number.max(missing);
                prop_assert_eq!(arrivals.count_from(from) as usize, set.range(from..).count());
                let last = (0..64_u32).filter(|back| number.checked_sub(*back).is_some_and(|at| set.contains(&at)));
                prop_assert_eq!(arrivals.up_to(number), last.fold(0, |bits, back| bits | 1 << back));
                prop_assert!((0..500).all(|number| arrivals.contains(number) == set.contains(&number)));
            }
        }
    }
}
