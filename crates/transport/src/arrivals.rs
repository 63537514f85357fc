//! [`Arrivals`]: which packets of a flow have arrived.

use std::collections::VecDeque;

/// A set of packet numbers from 0, small while few are missing: a bit for each number from the first missing one to the
/// highest.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    /// All numbers below 64 times this are in the set.
    whole: u32,
    words: VecDeque<u64>,
}

impl Arrivals {
    /// Adds a number; returns whether it is new.
    pub fn insert(&mut self, number: u32) -> bool {
        let Some(word) = (number / 64).checked_sub(self.whole) else { return false };
        let (word, bit) = (word as usize, 1 << (number % 64));
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        while self.words.front() == Some(&u64::MAX) {
            self.words.pop_front();
            self.whole += 1;
        }
        is_new
    }

    /// Whether the set has a number.
    pub fn contains(&self, number: u32) -> bool {
        let Some(word) = (number / 64).checked_sub(self.whole) else { return true };
        self.words.get(word as usize).is_some_and(|word| word & 1 << (number % 64) != 0)
    }

    /// Adds all numbers below `number`.
    pub fn fill_to(&mut self, number: u32) {
        while self.whole < number / 64 {
            self.words.pop_front();
            self.whole += 1;
        }
        let rest = (1_u64 << (number % 64)) - 1;
        if number / 64 == self.whole && rest > 0 {
            match self.words.front_mut() {
                Some(word) => *word |= rest,
                None => self.words.push_back(rest),
            }
        }
        while self.words.front() == Some(&u64::MAX) {
            self.words.pop_front();
            self.whole += 1;
        }
    }

    /// The first missing number: the number of packets that arrived in order.
    pub fn first_missing(&self) -> u32 {
        self.whole * 64 + self.words.front().map_or(0, |word| word.trailing_ones())
    }

    /// Whether a number above the first missing one is there.
    pub fn has_gap(&self) -> bool {
        self.words.len() > 1 || self.words.front().is_some_and(|word| word & (word + 1) != 0)
    }

    /// Which of the 64 numbers up to `number` are in the set: bit i is for `number - i`.
    pub fn up_to(&self, number: u32) -> u64 {
        let word = |at: Option<u32>| match at.map(|at| at.checked_sub(self.whole)) {
            None => 0,
            Some(None) => u64::MAX,
            Some(Some(at)) => self.words.get(at as usize).copied().unwrap_or(0),
        };
        let (at, above) = (number / 64, 63 - number % 64);
        let upper = word(Some(at)) << above;
        // Two shifts, because one by 64 is not defined.
        let lower = word(at.checked_sub(1)) >> (63 - above) >> 1;
        (upper | lower).reverse_bits()
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_holds_what_a_set_would(steps in prop::collection::vec((any::<bool>(), 0_u32..300), 0..200)) {
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
                let last = (0..64_u32).filter(|back| number.checked_sub(*back).is_some_and(|at| set.contains(&at)));
                prop_assert_eq!(arrivals.up_to(number), last.fold(0, |bits, back| bits | 1 << back));
                prop_assert!((0..400).all(|number| arrivals.contains(number) == set.contains(&number)));
            }
        }
    }
}
