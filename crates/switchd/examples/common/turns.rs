//! Several senders in turn. Turns are short, so that other load on the machine slows all of them alike.

use std::time::{Duration, Instant};

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Lets each of `count` senders take turns, round after round, until each has run for `length`; returns the total
/// time of each one's turns.
///
/// # Errors
/// Those of a turn.
pub fn take_turns<E>(
    count: usize,
    length: Duration,
    mut turn: impl FnMut(usize) -> Result<(), E>,
) -> Result<Vec<Duration>, E> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut order: Vec<usize> = (0..count).collect();
    let mut took = vec![Duration::ZERO; count];
    while took.iter().any(|took| *took < length) {
        // In a new random order: the previous sender affects the caches.
        for last in (1..order.len()).rev() {
            order.swap(last, random.next_u32() as usize % (last + 1));
        }
        for &at in &order {
            let started = Instant::now();
            turn(at)?;
            took[at] += started.elapsed();
        }
    }
    Ok(took)
}
