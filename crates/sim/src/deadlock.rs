//! Deadlocks of priority flow control: queues that wait for each other in a circle, each paused until packets leave that
//! the next one holds.

use std::collections::BTreeMap;

use weft_units::{LinkId, Time};

/// A queue: the link in front of which it is, and its number.
pub type Queue = (LinkId, u8);

/// What the paused queues of a fabric hold.
#[derive(Default, Debug)]
pub struct Standstill {
    /// Those of the paused queues that have packets, and the bytes that they hold of the queues from which those came.
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
        let stuck = self.stuck();
        // The first of the stuck queues that hold packets of a queue.
        let mut next: BTreeMap<Queue, Queue> = BTreeMap::new();
        for holder in stuck.keys() {
            for queue in self.held[holder].keys() {
                next.entry(*queue).or_insert(*holder);
            }
        }
        let Some(mut last) = stuck.keys().next() else { return Vec::new() };
        let (mut way, mut places) = (Vec::new(), BTreeMap::new());
        loop {
            if let Some(start) = places.insert(*last, way.len()) {
                return way.split_off(start);
            }
            way.push(*last);
            let Some(holder) = next.get(last) else { return Vec::new() };
            last = holder;
        }
    }

    /// The queues that can never go on, with the bytes that they hold of each.
    fn stuck(&self) -> BTreeMap<Queue, u64> {
        let paused = || self.held.iter().filter(|(queue, _)| self.levels.contains_key(queue));
        let mut stuck: BTreeMap<Queue, u64> = paused().map(|(queue, _)| (*queue, 0)).collect();
        for (queue, bytes) in paused().flat_map(|(_, held)| held) {
            if let Some(total) = stuck.get_mut(queue) {
                *total += bytes;
            }
        }
        // A queue goes on if what others hold of it can leave, however long that takes. Then what it holds leaves as well.
        let goes_on = |queue: &Queue, held: u64| held <= self.levels[queue];
        let mut free: Vec<Queue> =
            stuck.iter().filter(|(queue, held)| goes_on(queue, **held)).map(|(queue, _)| *queue).collect();
        while let Some(holder) = free.pop() {
            stuck.remove(&holder);
            for (queue, bytes) in &self.held[&holder] {
                let Some(total) = stuck.get_mut(queue) else { continue };
                let was_free = goes_on(queue, *total);
                *total -= bytes;
                if !was_free && goes_on(queue, *total) {
                    free.push(*queue);
                }
            }
        }
        stuck
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

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

    /// The definition, written as it is said.
    fn circle_by_definition(standstill: &Standstill) -> Vec<Queue> {
        let Standstill { held, levels } = standstill;
        let mut stuck: BTreeSet<Queue> =
            held.keys().filter(|queue| levels.contains_key(queue)).copied().collect();
        loop {
            let of =
                |queue: &Queue| -> u64 { stuck.iter().filter_map(|holder| held[holder].get(queue)).sum() };
            let stay: BTreeSet<Queue> =
                stuck.iter().filter(|queue| of(queue) > levels[queue]).copied().collect();
            if stay.len() == stuck.len() {
                break;
            }
            stuck = stay;
        }
        let Some(first) = stuck.first() else { return Vec::new() };
        let mut way = vec![*first];
        loop {
            let next = stuck.iter().find(|holder| held[holder].contains_key(&way[way.len() - 1]));
            let next = *next.expect("packets of a stuck queue are in a stuck one");
            if let Some(start) = way.iter().position(|queue| *queue == next) {
                return way.split_off(start);
            }
            way.push(next);
        }
    }

    fn any_standstill() -> impl Strategy<Value = Standstill> {
        // So few queues that a quarter of the cases have a circle.
        let queue = || (0_u32..6, 0_u8..2).prop_map(|(link, number)| (LinkId(link), number));
        let held = prop::collection::btree_map(queue(), 1_u64..500, 1..7);
        let held = prop::collection::btree_map(queue(), held, 4..12);
        let levels = prop::collection::btree_map(queue(), 0_u64..300, 8..13);
        (held, levels).prop_map(|(mut held, levels)| {
            for (holder, held) in &mut held {
                // No packet comes over the link for which it waits.
                held.remove(holder);
            }
            Standstill { held, levels }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

        #[test]
        fn the_circle_is_that_of_the_definition(standstill in any_standstill()) {
            prop_assert_eq!(standstill.circle(), circle_by_definition(&standstill));
        }
    }

    #[test]
    fn a_chain_of_many_queues_that_go_on_one_after_the_other_takes_little_time() {
        // Each waits for the one before it: whoever looks at all of them for each that goes on takes minutes.
        let chain: Vec<_> = (1..20_000).map(|link| (link, link + 1, 500)).collect();
        let paused: Vec<u32> = (1..20_000).collect();
        let started = std::time::Instant::now();
        assert!(circle(&chain, &paused).is_empty());
        assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    }
}
