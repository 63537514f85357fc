//! [`HelloLoss`]: the share of a neighbour's Hello messages that are lost on a link, counted by their running numbers.
//!
//! A link that loses some frames keeps its carrier and enough Hello messages to stay a fabric port. Numbers, unlike times, have
//! no gaps while a sender's daemon hangs, so each gap is a loss.

use crate::header::Header;

/// The greatest gap between two numbers that counts as loss: greater ones mean that the sender has started to count again.
const GREATEST_GAP: u8 = 64;
/// A message that arrives behind fewer later ones than this is late rather than lost: a busy kernel may reorder messages that a
/// daemon sends from two processors.
const LATEST: u8 = 16;
/// The Hello messages without a number that a sender begins with.
const UNNUMBERED: u8 = 4;
/// The smallest number of Hello messages of which a share is known.
const LEAST: u32 = 32;
/// The smallest number of lost ones that make a link lossy: an interruption of a hold time of three intervals loses fewer.
const LEAST_LOST: u32 = 5;

/// What a Hello says about losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HelloCount {
    /// Its number; none in a sender's first ones.
    pub number: Option<u8>,
    /// Whether the sender misses many of the receiver's Hello messages.
    pub misses: bool,
}

impl HelloCount {
    /// Reads it from a Hello.
    pub const fn of(hello: &Header) -> Self {
        let [_, is_numbered, number, misses, ..] = hello.overlay;
        Self { number: if is_numbered == 0 { None } else { Some(number) }, misses: misses != 0 }
    }

    /// Writes it to a Hello.
    pub fn write(self, hello: &mut Header) {
        hello.overlay[1] = self.number.is_some().into();
        hello.overlay[2] = self.number.unwrap_or_default();
        hello.overlay[3] = self.misses.into();
    }
}

/// The running numbers of the Hello messages that a port sends.
#[derive(Clone, Copy, Debug, Default)]
pub struct HelloNumbers {
    /// Hello messages without a number so far.
    without: u8,
    next: u8,
}

impl HelloNumbers {
    /// The number of the next Hello; none for the first ones: a receiver that knows the sender from before its restart must
    /// not count from the old numbers to the new ones, even if it misses the first Hello.
    pub const fn get(&self) -> Option<u8> {
        if self.without < UNNUMBERED { None } else { Some(self.next) }
    }

    /// The next Hello has left. One that the sender's own queue refused leaves no gap: the link did not lose it.
    pub const fn advance(&mut self) {
        if self.without < UNNUMBERED {
            self.without += 1;
        } else {
            self.next = self.next.wrapping_add(1);
        }
    }
}

/// Which of the last 128 Hello messages of a neighbour were lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct HelloLoss {
    /// The number of the last one received.
    last: Option<u8>,
    /// Those without a number that were received since, at most one more than a restarted sender has.
    without: u8,
    /// A bit for each, the last one lowest: whether it was lost.
    lost: u128,
    /// How many there have been, at most 128.
    known: u32,
    /// Lost ones since the port was created, as soon as they can no longer be late.
    total: u64,
    lossy: bool,
}

impl HelloLoss {
    /// A Hello with this number arrived.
    pub const fn hear(&mut self, number: Option<u8>) {
        if let (Some(last), Some(number)) = (self.last, number) {
            if self.overtaken(number) {
                return;
            }
            let gap = number.wrapping_sub(last).wrapping_sub(1);
            if gap <= GREATEST_GAP {
                let mut left = gap;
                while left > 0 {
                    self.push(true);
                    left -= 1;
                }
                self.push(false);
            }
        }
        self.last = number;
        if number.is_some() {
            self.without = 0;
        } else if self.without < UNNUMBERED {
            self.without += 1;
        } else {
            // The sender does not number its Hello messages any more.
            self.forget();
        }
        let lost = self.lost.count_ones();
        self.lossy = if self.lossy {
            // A link at the threshold does not go back and forth.
            lost * 50 >= self.known
        } else {
            self.known >= LEAST && lost >= LEAST_LOST && lost * 20 >= self.known
        };
    }

    /// A Hello with this number arrived. Returns whether it is late, or the same again: then it no longer counts as lost.
    pub const fn overtaken(&mut self, number: u8) -> bool {
        let Some(last) = self.last else { return false };
        let behind = last.wrapping_sub(number);
        if behind < LATEST {
            self.lost &= !(1 << behind);
        }
        behind < LATEST
    }

    /// Adds the next Hello to the window.
    const fn push(&mut self, lost: bool) {
        self.lost = self.lost << 1 | lost as u128;
        self.total += (self.lost >> LATEST & 1) as u64;
        if self.known < u128::BITS {
            self.known += 1;
        }
    }

    /// A Hello with this number arrived after the port was closed: the gap was an interruption, which has been noticed.
    pub const fn resume(&mut self, number: Option<u8>) {
        self.last = number;
    }

    /// Another neighbour is behind the port, or none.
    pub const fn forget(&mut self) {
        *self = Self { last: None, without: UNNUMBERED, lost: 0, known: 0, total: self.total, lossy: false };
    }

    /// The share of the last 128 that were lost; `None` until 32 are known.
    pub fn share(&self) -> Option<f64> {
        (self.known >= LEAST).then(|| f64::from(self.lost.count_ones()) / f64::from(self.known))
    }

    /// Lost ones since the port was created.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Whether 5 % or more were lost, until fewer than 2 % are.
    pub const fn is_lossy(&self) -> bool {
        self.lossy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream;
    use rand_core::RngCore;

    /// What a receiver counts of `messages`, of which those are lost that `loses` says.
    fn heard(loss: &mut HelloLoss, messages: u32, mut loses: impl FnMut(u32) -> bool) {
        let mut numbers = HelloNumbers::default();
        for message in 0..messages {
            let number = numbers.get();
            numbers.advance();
            if !loses(message) {
                loss.hear(number);
            }
        }
    }

    #[test]
    fn the_share_is_that_of_the_link_and_of_the_last_messages() {
        for (every, share) in [(5, 0.2), (10, 0.1), (2, 0.5)] {
            let mut loss = HelloLoss::default();
            heard(&mut loss, 1000, |message| message % every == 1);
            assert!((loss.share().unwrap() - share).abs() < 0.01, "{every}: {loss:?}");
            assert!(loss.is_lossy());
        }
        let (mut loss, mut random) = (HelloLoss::default(), stream(1, "loss", 0));
        heard(&mut loss, 10_000, |_| random.next_u64() % 5 == 0);
        assert!((1800..2200).contains(&loss.total()), "{loss:?}");
        assert!((0.08..0.32).contains(&loss.share().unwrap()), "{loss:?}");
    }

    #[test]
    fn a_link_that_loses_nothing_has_no_loss_though_its_numbers_begin_again() {
        let mut loss = HelloLoss::default();
        for messages in [1, 2, 31, 256, 257, 1000] {
            heard(&mut loss, messages, |_| false);
            assert!(loss.share().is_none_or(|share| share == 0.0) && !loss.is_lossy(), "{loss:?}");
        }
        // The first ones, which have no number, were lost, too.
        for number in 0..=255_u8 {
            let mut loss = HelloLoss { last: Some(number), ..HelloLoss::default() };
            loss.hear(Some(0));
            assert!(loss.total() <= u64::from(GREATEST_GAP), "{number}");
        }
        assert_eq!(loss.total(), 0);
    }

    #[test]
    fn messages_that_are_late_or_come_twice_or_have_no_number_are_no_loss() {
        let mut loss = HelloLoss::default();
        for number in 0..100 {
            loss.hear(Some(number));
            loss.hear(Some(number));
        }
        assert_eq!((loss.total(), loss.share()), (0, Some(0.0)));
        let mut loss = HelloLoss::default();
        (0..200).for_each(|number| loss.hear(Some(number ^ 1)));
        assert_eq!((loss.total(), loss.share()), (0, Some(0.0)), "in another order");
        let late = (0..50).chain(51..=65).chain([50]).chain(66..200);
        let mut loss = HelloLoss::default();
        late.for_each(|number| loss.hear(Some(number)));
        assert_eq!((loss.total(), loss.share()), (0, Some(0.0)), "behind fifteen others");
        let mut loss = HelloLoss::default();
        (0..100).for_each(|_| loss.hear(None));
        assert_eq!((loss.total(), loss.share()), (0, None));
        heard(&mut loss, 200, |message| message % 5 == 1);
        assert!(loss.is_lossy());
        (0..UNNUMBERED).for_each(|_| loss.hear(None));
        assert!(loss.is_lossy(), "a restart");
        loss.hear(None);
        assert_eq!((loss.is_lossy(), loss.share()), (false, None), "an older version");
    }

    #[test]
    fn a_link_is_lossy_from_five_lost_of_a_hundred_until_it_loses_hardly_any() {
        let mut loss = HelloLoss::default();
        heard(&mut loss, 200, |_| false);
        heard(&mut loss, 100, |message| message % 40 == 1);
        assert!(!loss.is_lossy(), "2.5 %");
        heard(&mut loss, 300, |message| message % 15 == 1);
        assert!(loss.is_lossy(), "7 %");
        heard(&mut loss, 300, |message| message % 30 == 1);
        assert!(loss.is_lossy(), "still 3.3 %");
        heard(&mut loss, 130, |_| false);
        assert!(!loss.is_lossy() && loss.share() == Some(0.0));
        heard(&mut loss, 10, |message| (3..7).contains(&message));
        assert!(!loss.is_lossy(), "an interruption");
        let total = loss.total();
        loss.resume(Some(40));
        loss.hear(Some(41));
        assert_eq!(loss.total(), total, "an interruption that has been noticed");
        loss.forget();
        assert_eq!((loss.share(), loss.total()), (None, total));
    }
}
