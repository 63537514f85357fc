//! [`Oblivious`]: every entropy value once a round.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::SplitMix64;

/// A cycle through all values, shuffled anew in each round, as csg-htsim does.
///
/// Hardware changes the order by XOR with a random number, which needs no memory and a power of two of values.
#[derive(Clone, Debug)]
pub(crate) struct Oblivious {
    /// The order of this round up to `at`, and the values that are left in it.
    values: Box<[u16]>,
    at: usize,
    random: SplitMix64,
}

impl Oblivious {
    pub fn new(count: u16, random: u64) -> Self {
        Self { values: (0..count).collect(), at: 0, random: SplitMix64::seed_from_u64(random) }
    }

    /// The number of values.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    pub fn choose(&mut self) -> u16 {
        // One step of Fisher and Yates's shuffle.
        let left = self.values.len() - self.at;
        let chosen = self.at + usize::from(below(&mut self.random, left as u16));
        self.values.swap(self.at, chosen);
        let value = self.values[self.at];
        self.at = if left == 1 { 0 } else { self.at + 1 };
        value
    }
}

/// A number in `0..n`.
pub(super) fn below(random: &mut SplitMix64, n: u16) -> u16 {
    ((u64::from(random.next_u32()) * u64::from(n)) >> 32) as u16
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
}
