//! Deadlocks of priority flow control: queues that wait for each other in a circle, each paused until packets leave that
//! the next one holds.

use std::collections::{BTreeMap, BTreeSet};

use weft_units::{LinkId, Time};

/// A queue: the link in front of which it is, and its number.
pub type Queue = (LinkId, u8);

/// What the paused queues of a fabric hold.
#[derive(Default, Debug)]
pub struct Standstill {
    /// Paused queues with packets, and the bytes that they hold of the queues from which those came.
    pub held: BTreeMap<Queue, BTreeMap<Queue, u64>>,
    /// Of each queue that the switch at its far end pauses, the bytes at which it would go on.
    pub levels: BTreeMap<Queue, u64>,
}

/// A deadlock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadlock {
    /// When it was found.
    pub at: Time,
    /// The queues, each of which waits for the next, and the last one for the first.
    pub queues: Vec<Queue>,
}

impl Standstill {
    /// The queues of a circle in which nothing can move any more; empty if there is none.
    pub fn circle(&self) -> Vec<Queue> {
        let mut stuck: BTreeSet<Queue> =
            self.held.keys().filter(|queue| self.levels.contains_key(queue)).copied().collect();
        // A queue goes on if what others hold of it can leave, however long that takes.
        loop {
            let held = |queue: &Queue| -> u64 {
                stuck.iter().filter_map(|holder| self.held[holder].get(queue)).sum()
            };
            let free: Vec<Queue> =
                stuck.iter().filter(|queue| held(queue) <= self.levels[queue]).copied().collect();
            if free.is_empty() {
                break;
            }
            stuck.retain(|queue| !free.contains(queue));
        }
        let Some(first) = stuck.first() else { return Vec::new() };
        let mut way = vec![*first];
        loop {
            let last = way[way.len() - 1];
            let next = stuck.iter().find(|holder| self.held[holder].contains_key(&last));
            let Some(next) = next.copied() else { return Vec::new() };
            if let Some(start) = way.iter().position(|queue| *queue == next) {
                return way.split_off(start);
            }
            way.push(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn queue(link: u32) -> Queue {
        (LinkId(link), 0)
    }

    /// Holder, origin, bytes; every origin goes on at 100 bytes.
    fn circle(held: &[(u32, u32, u64)], paused: &[u32]) -> Vec<Queue> {
        let mut standstill = Standstill::default();
        for &(holder, origin, bytes) in held {
            standstill.held.entry(queue(holder)).or_default().insert(queue(origin), bytes);
        }
        standstill.levels = paused.iter().map(|link| (queue(*link), 100)).collect();
        standstill.circle()
    }

    #[test]
    fn a_circle_is_a_deadlock_unless_one_of_its_queues_can_go_on() {
        let ring = [(2, 1, 500), (3, 2, 500), (1, 3, 500)];
        assert_eq!(circle(&ring, &[1, 2, 3]), [queue(1), queue(2), queue(3)]);
        assert!(circle(&ring, &[1, 2]).is_empty(), "3 goes on");
        assert!(circle(&[(2, 1, 500), (3, 2, 100), (1, 3, 500)], &[1, 2, 3]).is_empty(), "2 goes on");
        assert!(circle(&[(2, 1, 500), (3, 2, 500)], &[1, 2, 3]).is_empty(), "a chain");
        let tail = [(2, 1, 500), (3, 2, 500), (2, 3, 500)];
        assert_eq!(
            circle(&tail, &[1, 2, 3]),
            [queue(2), queue(3)],
            "1 waits for the circle, but is not in it"
        );
    }
}
