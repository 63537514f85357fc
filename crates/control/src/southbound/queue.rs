//! [`Queue`]: changes of rules that wait until a switch has confirmed what it was sent before.
//!
//! What a switch has been sent and has not read stands in the way of whatever is sent next. So only so many
//! rules are on their way to it at a time, and what must not wait (LLDP frames, answers to echo requests,
//! frames that are released) waits behind those at most. Of what waits, changes that nobody waits for
//! (deletions above all) go first; but the changes of one rule stay in their order.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::clock::{Duration, Time};
use crate::pace::Pace;

/// Consecutive messages that are sent together.
#[derive(Debug)]
pub struct Batch {
    /// The messages.
    pub bytes: Vec<u8>,
    /// The cookies of the rules that they change.
    pub cookies: SmallVec<[u64; 4]>,
    /// The transaction id of the barrier request at their end, where frames wait for its answer.
    pub barrier: Option<u32>,
}

/// What waits for a switch.
#[derive(Debug)]
pub struct Queue {
    /// What nobody waits for.
    first: VecDeque<Batch>,
    /// What frames wait for, and changes of rules that stand in it.
    later: VecDeque<Batch>,
    /// The rules of `later`, by cookie.
    cookies: FxHashMap<u64, u32>,
    /// Barrier requests that were sent and not answered, each with how many rules had been sent by then, and when.
    barriers: VecDeque<(u32, u64, Time)>,
    /// Rules that were sent.
    sent: u64,
    /// Rules that are confirmed.
    confirmed: u64,
    pace: Pace,
}

/// Rules that are on their way to a switch at most, fewer to one that is slow; the last batch may be longer.
const WINDOW: u32 = 512;
/// So long what must not wait may have to wait.
const SLOW: Duration = Duration::from_ms(100);
/// Rules without a barrier request behind them at most: fewer than the smallest window.
const LOOSE: u64 = 16;

impl Default for Queue {
    fn default() -> Self {
        Self {
            first: VecDeque::new(),
            later: VecDeque::new(),
            cookies: FxHashMap::default(),
            barriers: VecDeque::new(),
            sent: 0,
            confirmed: 0,
            pace: Pace::new(WINDOW, SLOW),
        }
    }
}

impl Queue {
    /// Adds a batch.
    pub fn push(&mut self, batch: Batch) {
        let is_known = |cookie: &u64| self.cookies.contains_key(cookie);
        if batch.barrier.is_none() && !batch.cookies.iter().any(is_known) {
            self.first.push_back(batch);
            return;
        }
        for &cookie in &batch.cookies {
            *self.cookies.entry(cookie).or_default() += 1;
        }
        self.later.push_back(batch);
    }

    /// Gives the next batch, if it may be sent: then it is.
    pub fn pop(&mut self, now: Time) -> Option<Batch> {
        if self.sent - self.confirmed >= self.pace.limit().into() {
            return None;
        }
        let batch = self.first.pop_front().or_else(|| self.pop_later())?;
        self.sent += batch.cookies.len() as u64;
        self.barriers.extend(batch.barrier.map(|xid| (xid, self.sent, now)));
        Some(batch)
    }

    /// Whether so many rules were sent without a barrier request behind them that it is time for one.
    pub fn wants_barrier(&self) -> bool {
        let covered = self.barriers.back().map_or(self.confirmed, |&(_, sent, _)| sent);
        self.sent - covered >= LOOSE
    }

    /// A barrier request of this transaction id is sent behind what was sent so far.
    pub fn add_barrier(&mut self, now: Time, xid: u32) {
        self.barriers.push_back((xid, self.sent, now));
    }

    /// The switch answers a barrier request; `false` for an answer to none.
    pub fn answered(&mut self, now: Time, xid: u32) -> bool {
        let Some(place) = self.barriers.iter().position(|&(other, ..)| other == xid) else { return false };
        if let Some((_, sent, at)) = self.barriers.drain(..=place).next_back() {
            self.pace.answered(now, at, (sent - self.confirmed) as u32);
            self.confirmed = sent;
        }
        true
    }

    /// Rules that wait.
    pub fn len(&self) -> usize {
        self.first.iter().chain(&self.later).map(|batch| batch.cookies.len()).sum()
    }

    fn pop_later(&mut self) -> Option<Batch> {
        let batch = self.later.pop_front()?;
        for cookie in &batch.cookies {
            if let Some(count) = self.cookies.get_mut(cookie) {
                *count -= 1;
                if *count == 0 {
                    self.cookies.remove(cookie);
                }
            }
        }
        Some(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(name: u8, cookies: &[u64], barrier: Option<u32>) -> Batch {
        Batch { bytes: vec![name], cookies: cookies.iter().copied().collect(), barrier }
    }

    /// What may be sent now, by name.
    fn sent(queue: &mut Queue) -> Vec<u8> {
        std::iter::from_fn(|| queue.pop(Time::ZERO)).map(|batch| batch.bytes[0]).collect()
    }

    #[test]
    fn deletions_go_first_but_never_before_what_they_delete() {
        let mut queue = Queue::default();
        let full: Vec<u64> = (0..WINDOW.into()).collect();
        queue.push(batch(1, &full, Some(10)));
        assert_eq!(sent(&mut queue), [1]);
        queue.push(batch(2, &[1000, 1001], Some(11)));
        queue.push(batch(3, &[7], None));
        queue.push(batch(4, &[1001], None));
        queue.push(batch(5, &[1002], Some(12)));
        queue.push(batch(6, &[8], None));
        assert_eq!((sent(&mut queue), queue.len()), (vec![], 6), "the window is full");
        assert!(!queue.answered(Time::ZERO, 99));
        assert!(queue.answered(Time::ZERO, 10) && !queue.answered(Time::ZERO, 10));
        assert_eq!((sent(&mut queue), queue.len()), (vec![3, 6, 2, 4, 5], 0));
        assert!(queue.cookies.is_empty());
    }

    #[test]
    fn so_many_rules_are_on_their_way_and_an_answer_makes_room_for_more() {
        let mut queue = Queue::default();
        for number in 0..2000_u32 {
            queue.push(batch(1, &[number.into()], Some(number)));
        }
        assert_eq!(sent(&mut queue).len() as u32, WINDOW);
        assert!(queue.answered(Time::ZERO, 99), "an answer is one to all before it");
        assert_eq!(sent(&mut queue).len(), 100);
        assert!(queue.answered(Time::ZERO + Duration::from_ms(101), WINDOW - 1));
        assert_eq!(sent(&mut queue).len() as u32, WINDOW / 2 - 100, "a slow switch is sent less");
    }

    #[test]
    fn rules_that_nobody_waits_for_are_confirmed_too() {
        let mut queue = Queue::default();
        for number in 0..10_000_u64 {
            queue.push(batch(1, &[number], None));
        }
        let (mut count, mut barriers) = (0, 0);
        while let Some(batch) = queue.pop(Time::ZERO) {
            count += batch.cookies.len();
            if queue.wants_barrier() {
                queue.add_barrier(Time::ZERO, barriers);
                barriers += 1;
            }
        }
        assert_eq!((count as u32, barriers), (WINDOW, WINDOW / LOOSE as u32));
        assert!(queue.answered(Time::ZERO, barriers - 1));
        assert!(queue.pop(Time::ZERO).is_some());
    }
}
