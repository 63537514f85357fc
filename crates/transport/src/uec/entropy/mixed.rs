//! [`Mixed`]: recycled values first, then the bitmap's.

use std::collections::VecDeque;

use super::bitmap::Bitmap;
use super::feedback::Feedback;

/// Values whose packets arrived without a mark, each for one more packet, and a [`Bitmap`] for all other packets.
///
/// There are never more such values than packets in flight.
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
        if feedback == Feedback::Good {
            self.good.push_back(value);
        }
        self.bitmap.learn(value, feedback);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_values_are_used_once_more_and_then_values_without_a_penalty() {
        let mut mixed = Mixed::new(4, 9);
        mixed.learn(3, Feedback::Good);
        mixed.learn(0, Feedback::TimedOut);
        mixed.learn(1, Feedback::Good);
        assert_eq!([mixed.choose(), mixed.choose()], [3, 1]);
        assert!((0..12).all(|_| mixed.choose() != 0));
    }
}
