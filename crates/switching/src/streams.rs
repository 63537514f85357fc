//! Named random streams, all derived from a run's seed.
//!
//! Each consumer has its own stream (`("switch", 7)`, `("traffic", 0)`), so that a scheme that
//! draws more numbers does not affect the others: two schemes see the same traffic.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::hash::mix64;

/// The generator of a stream.
pub type Stream = Xoshiro256PlusPlus;

/// The stream `name`, `index` of the run with `seed`.
pub fn stream(seed: u64, name: &str, index: u64) -> Stream {
    let name = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| mix64(hash ^ u64::from(byte)));
    Stream::seed_from_u64(mix64(seed ^ mix64(name ^ mix64(index.wrapping_add(1)))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::RngCore;

    #[test]
    fn streams_differ_by_seed_name_and_index_and_repeat() {
        let first = |seed, name, index| stream(seed, name, index).next_u64();
        assert_eq!(first(1, "switch", 7), first(1, "switch", 7));
        assert_ne!(first(1, "switch", 7), first(2, "switch", 7));
        assert_ne!(first(1, "switch", 7), first(1, "switch", 8));
        assert_ne!(first(1, "switch", 7), first(1, "traffic", 7));
    }
}
