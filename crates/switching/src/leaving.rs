//! [`Leaving`]: when the flows of a port whose link loses frames are moved to other paths.
//!
//! A link at the threshold, or flows without a better path, must not cause explorations all the time: the pauses double.
//!
//! Times are in nanoseconds of any clock that does not go back.

/// The first pause between two rounds, and the longest.
const FIRST: u64 = 5_000_000_000;
const LONGEST: u64 = 60_000_000_000;

/// The flows of one port that are moved in one round, at most.
pub const MOST: usize = 500;

/// The rounds of one port.
#[derive(Clone, Copy, Debug, Default)]
pub struct Leaving {
    next: u64,
    pause: u64,
}

impl Leaving {
    /// Whether flows should leave a port now, which loses frames. Asked at least once a second meanwhile.
    pub const fn is_due(&mut self, now: u64) -> bool {
        if now < self.next {
            return false;
        }
        // After a quiet time, it is another loss.
        let was_quiet = now >= self.next + LONGEST;
        let doubled = if 2 * self.pause < LONGEST { 2 * self.pause } else { LONGEST };
        self.pause = if was_quiet || self.pause == 0 { FIRST } else { doubled };
        self.next = now + self.pause;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn rounds(
        leaving: &mut Leaving,
        seconds: std::ops::Range<u64>,
        is_lossy: impl Fn(u64) -> bool,
    ) -> Vec<u64> {
        seconds.filter(|second| is_lossy(*second) && leaving.is_due(second * SECOND)).collect()
    }

    #[test]
    fn flows_leave_at_once_and_then_in_rounds_that_become_rare() {
        let mut leaving = Leaving::default();
        assert_eq!(rounds(&mut leaving, 100..300, |_| true), [100, 105, 115, 135, 175, 235, 295]);
        assert_eq!(rounds(&mut leaving, 500..510, |_| true), [500, 505], "a new loss");
    }

    #[test]
    fn a_link_that_is_lossy_every_other_second_causes_no_more_rounds() {
        let found = rounds(&mut Leaving::default(), 100..300, |second| second % 2 == 0);
        assert_eq!(found, [100, 106, 116, 136, 176, 236, 296]);
    }
}
