//! [`Queue`]: rule changes that wait until a switch has confirmed earlier ones.
//!
//! Bytes that a switch has been sent but has not read delay everything sent after them. So only a window of rules is
//! in flight to it at a time, and urgent messages (LLDP frames, echo replies, released frames) wait behind those at
//! most. Among the waiting changes, those that nothing waits for (mainly deletions) go first; but the changes of one
//! rule stay in order.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::clock::{Duration, Time};
use crate::pace::Pace;

/// Consecutive messages sent together.
#[derive(Debug)]
pub struct Batch {
    /// The messages.
    pub bytes: Vec<u8>,
    /// The cookies of the changed rules.
    pub cookies: SmallVec<[u64; 4]>,
    /// The transaction id of the barrier request at the end, if frames wait for its answer.
    pub barrier: Option<u32>,
}

/// Batches waiting for a switch.
#[derive(Debug)]
pub struct Queue {
    /// Batches that nothing waits for.
    first: VecDeque<Batch>,
    /// Batches that frames wait for, and later changes of their rules.
    later: VecDeque<Batch>,
    /// The rules of `later`, by cookie.
    cookies: FxHashMap<u64, u32>,
    /// Unanswered barrier requests: id, number of rules sent before it, time sent.
    barriers: VecDeque<(u32, u64, Time)>,
    /// Rules sent so far.
    sent: u64,
    /// Rules confirmed so far.
    confirmed: u64,
    pace: Pace,
}

/// Maximum rules in flight to a switch, fewer to a slow one; the last batch may exceed it.
const WINDOW: u32 = 512;
/// Acceptable delay of urgent messages.
const SLOW: Duration = Duration::from_ms(100);
/// Maximum rules without a barrier request after them: fewer than the smallest window.
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

    /// Takes the next batch if the window allows sending it.
    pub fn pop(&mut self, now: Time) -> Option<Batch> {
        if self.sent - self.confirmed >= self.pace.limit().into() {
            return None;
        }
        let batch = self.first.pop_front().or_else(|| self.pop_later())?;
        self.sent += batch.cookies.len() as u64;
        self.barriers.extend(batch.barrier.map(|xid| (xid, self.sent, now)));
        Some(batch)
    }

    /// Whether enough rules were sent without a barrier request to need one.
    pub fn wants_barrier(&self) -> bool {
        let covered = self.barriers.back().map_or(self.confirmed, |&(_, sent, _)| sent);
        self.sent - covered >= LOOSE
    }

    /// Records a barrier request with this transaction id after everything sent so far.
    pub fn add_barrier(&mut self, now: Time, xid: u32) {
        self.barriers.push_back((xid, self.sent, now));
    }

    /// Handles a barrier reply; `false` if it matches no request.
    pub fn answered(&mut self, now: Time, xid: u32) -> bool {
        let Some(place) = self.barriers.iter().position(|&(other, ..)| other == xid) else { return false };
        if let Some((_, sent, at)) = self.barriers.drain(..=place).next_back() {
            self.pace.answered(now, at, (sent - self.confirmed) as u32);
            self.confirmed = sent;
        }
        true
    }

    /// Rules waiting.
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

    /// Takes all batches that may be sent now; returns their names.
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
        assert!(queue.answered(Time::ZERO, 99), "a reply also covers all earlier requests");
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
