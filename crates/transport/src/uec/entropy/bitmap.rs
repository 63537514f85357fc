//! [`Bitmap`]: a penalty for each entropy value.

use super::feedback::Feedback;
use super::oblivious::Oblivious;

/// The largest penalty, that of a timeout.
const MOST: u8 = 15;

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
        for _ in 0..self.cycle.count() {
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
