//! Deadlocks of priority flow control: queues that wait for each other in a circle, each paused until packets leave that
//! the next one holds.

use std::collections::BTreeMap;

use weft_units::{LinkId, NodeId, Time};

use crate::shared_buffer::{Buffer, moving_xon};

/// A queue: the link in front of which it is, and its number.
pub type Queue = (LinkId, u8);

/// The packets held by the paused queues of a fabric, and the causes of the pauses.
#[derive(Default, Debug)]
pub struct PausedQueues {
    /// The packets of those paused queues that have any.
    pub held: BTreeMap<Queue, Held>,
    /// The queues that the switches at their far ends pause.
    pub pauses: BTreeMap<Queue, Pause>,
    /// The buffers of the switches whose queues share one.
    pub buffers: BTreeMap<NodeId, Buffer>,
}

/// The packets of a paused queue.
#[derive(Default, Debug)]
pub struct Held {
    /// Bytes by the queue from which the packets came.
    pub origins: BTreeMap<Queue, u64>,
    /// The switch whose shared buffer has some of them, and how many bytes.
    pub shared: Option<(NodeId, u64)>,
}

/// Why a queue is paused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pause {
    /// Its bytes in the switch.
    pub bytes: u64,
    /// When it resumes.
    pub xon: Xon,
    /// The pause frames sent to it.
    pub frames: u32,
}

/// The threshold (XON) at which a paused queue resumes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Xon {
    /// A fixed number.
    Fixed(u64),
    /// Depends on the free space in this switch's buffer.
    Moving(NodeId),
}

/// A deadlock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadlock {
    /// When it was found.
    pub at: Time,
    /// The queues, each of which waits for the next, and the last one for the first.
    pub queues: Vec<Queue>,
}

/// Queues that may be deadlocked, and the bytes that would then never leave.
struct Candidates<'a> {
    snapshot: &'a PausedQueues,
    /// The queues, with the bytes of each that the others hold.
    queues: BTreeMap<Queue, u64>,
    /// The bytes that they hold in the buffers of switches.
    shared: BTreeMap<NodeId, u64>,
}

impl PausedQueues {
    /// The queues of a circle in which nothing can move any more; empty if there is none.
    pub fn circle(&self) -> Vec<Queue> {
        let stuck = self.stuck();
        // The first of the stuck queues that hold packets of a queue.
        let mut next: BTreeMap<Queue, Queue> = BTreeMap::new();
        for holder in stuck.keys() {
            for queue in self.held[holder].origins.keys() {
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

    /// The queues that can never resume, with the bytes of each that others of them hold: the largest set in which every
    /// queue stays paused even when all other packets have left the switches.
    fn stuck(&self) -> BTreeMap<Queue, u64> {
        let mut stuck = Candidates::all_paused(self);
        let mut by_buffer: BTreeMap<NodeId, Vec<Queue>> = BTreeMap::new();
        for queue in stuck.queues.keys() {
            if let Xon::Moving(node) = self.pauses[queue].xon {
                by_buffer.entry(node).or_default().push(*queue);
            }
        }
        let mut free: Vec<Queue> =
            stuck.queues.keys().copied().filter(|queue| stuck.resumes(queue)).collect();
        while let Some(holder) = free.pop() {
            if stuck.queues.remove(&holder).is_none() {
                continue;
            }
            let Held { origins, shared } = &self.held[&holder];
            for (queue, bytes) in origins {
                if let Some(total) = stuck.queues.get_mut(queue) {
                    *total -= bytes;
                }
            }
            let beside = shared.and_then(|(node, bytes)| {
                *stuck.shared.get_mut(&node)? -= bytes;
                by_buffer.get(&node)
            });
            let concerned = origins.keys().chain(beside.into_iter().flatten());
            free.extend(concerned.copied().filter(|queue| stuck.resumes(queue)));
        }
        stuck.queues
    }
}

impl<'a> Candidates<'a> {
    /// All paused queues that hold packets.
    fn all_paused(snapshot: &'a PausedQueues) -> Self {
        let is_paused = |queue: &Queue| snapshot.pauses.contains_key(queue);
        let paused = || snapshot.held.iter().filter(|(queue, _)| is_paused(queue));
        let mut queues: BTreeMap<Queue, u64> = paused().map(|(queue, _)| (*queue, 0)).collect();
        let mut shared = BTreeMap::new();
        for (_, held) in paused() {
            for (queue, bytes) in &held.origins {
                if let Some(total) = queues.get_mut(queue) {
                    *total += bytes;
                }
            }
            if let Some((node, bytes)) = held.shared {
                *shared.entry(node).or_insert(0) += bytes;
            }
        }
        Self { snapshot, queues, shared }
    }

    /// Whether a queue of the set resumes if all packets leave that no queue of the set holds, however long that takes.
    /// The switch decides about a queue when one of the queue's own packets leaves.
    fn resumes(&self, queue: &Queue) -> bool {
        let Some(&rest) = self.queues.get(queue) else { return false };
        let Pause { bytes, xon, .. } = self.snapshot.pauses[queue];
        let xon = match xon {
            Xon::Fixed(xon) => xon,
            Xon::Moving(node) => {
                let rest = self.shared.get(&node).copied().unwrap_or(0);
                let buffer = self.snapshot.buffers.get(&node);
                moving_xon(buffer.map_or(0, |buffer| buffer.threshold_with(rest)))
            }
        };
        rest < bytes && rest <= xon
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

    /// From triples of holder, origin and bytes; the queues in `paused` resume at 100 bytes.
    fn snapshot(held: &[(u32, u32, u64)], paused: &[u32]) -> PausedQueues {
        let mut found = PausedQueues::default();
        for &(holder, origin, bytes) in held {
            *found.held.entry(queue(holder)).or_default().origins.entry(queue(origin)).or_default() += bytes;
        }
        let xon = Xon::Fixed(100);
        let pause = |link: &u32| (queue(*link), Pause { bytes: 10_000, xon, frames: 1 });
        found.pauses = paused.iter().map(pause).collect();
        found
    }

    fn circle(held: &[(u32, u32, u64)], paused: &[u32]) -> Vec<Queue> {
        snapshot(held, paused).circle()
    }

    #[test]
    fn a_circle_is_a_deadlock_unless_one_of_its_queues_can_go_on() {
        let ring = [(2, 1, 500), (3, 2, 500), (1, 3, 500)];
        assert_eq!(circle(&ring, &[1, 2, 3]), [queue(1), queue(2), queue(3)]);
        assert!(circle(&ring, &[1, 2]).is_empty(), "3 resumes");
        assert!(circle(&[(2, 1, 500), (3, 2, 100), (1, 3, 500)], &[1, 2, 3]).is_empty(), "2 resumes");
        assert!(circle(&[(2, 1, 500), (3, 2, 500)], &[1, 2, 3]).is_empty(), "a chain");
        let tail = [(2, 1, 500), (3, 2, 500), (2, 3, 500)];
        assert_eq!(
            circle(&tail, &[1, 2, 3]),
            [queue(2), queue(3)],
            "1 waits for the circle, but is not in it"
        );
    }

    #[test]
    fn a_queue_whose_packets_are_all_stuck_never_gets_the_frame_that_ends_its_pause() {
        let mut found = snapshot(&[(2, 1, 100), (1, 2, 500)], &[1, 2]);
        assert!(
            found.circle().is_empty(),
            "packets of 1 leave, then it resumes with 100 bytes in the switch"
        );
        found.pauses.get_mut(&queue(1)).unwrap().bytes = 100;
        assert_eq!(found.circle(), [queue(1), queue(2)]);
    }

    /// Two switches, each with a queue to the other, that hold `own` bytes of the other's queue and `others` of hosts.
    fn pair(own: u64, others: u64, alpha: f64) -> PausedQueues {
        let mut found = snapshot(&[(2, 1, own), (1, 2, own)], &[1, 2]);
        for (link, node) in [(1, NodeId(11)), (2, NodeId(12))] {
            let holder = queue(3 - link);
            found.held.get_mut(&holder).unwrap().shared = Some((node, own + others));
            let pause = Pause { bytes: 1_000_000, xon: Xon::Moving(node), frames: 1 };
            found.pauses.insert(queue(link), pause);
            found.buffers.insert(node, Buffer::of(100_000, alpha));
        }
        found
    }

    #[test]
    fn bytes_that_never_leave_a_shared_buffer_lower_the_threshold_of_all_its_queues() {
        let two = [queue(1), queue(2)];
        // The queue's own 20 kB leave 80 kB free, 60 kB of other stuck packets 20 kB less the two frames.
        assert!(pair(20_000, 0, 1.0).circle().is_empty());
        assert!(pair(20_000, 56_000, 1.0).circle().is_empty());
        assert_eq!(pair(20_000, 60_000, 1.0).circle(), two);
        // Alpha moves the border: 20 kB at half of the free part, and at an eighth.
        assert!(pair(20_000, 30_000, 0.5).circle().is_empty());
        assert_eq!(pair(20_000, 35_000, 0.5).circle(), two);
        assert_eq!(pair(20_000, 0, 0.125).circle(), two);
        assert_eq!(pair(40_000, 90_000, 8.0).circle(), two, "more than the buffer: the headroom is in use");
    }

    #[test]
    fn bytes_that_leave_free_the_buffer_for_the_others() {
        // A queue of each switch, with 60 kB of the buffer, resumes at once: then the circle does, too.
        let mut found = pair(20_000, 0, 1.0);
        for (holder, node) in [(5, NodeId(11)), (6, NodeId(12))] {
            let origins = [(queue(holder + 10), 60_000)].into_iter().collect();
            found.held.insert(queue(holder), Held { origins, shared: Some((node, 60_000)) });
            let xon = Xon::Fixed(0);
            found.pauses.insert(queue(holder), Pause { bytes: 10, xon, frames: 1 });
        }
        assert!(found.circle().is_empty());
    }

    /// The definition, written as it is said.
    fn circle_by_definition(snapshot: &PausedQueues) -> Vec<Queue> {
        let PausedQueues { held, pauses, buffers } = snapshot;
        let mut stuck: BTreeSet<Queue> =
            held.keys().filter(|queue| pauses.contains_key(queue)).copied().collect();
        loop {
            let of = |queue: &Queue| -> u64 {
                stuck.iter().filter_map(|holder| held[holder].origins.get(queue)).sum()
            };
            let filled = |node: NodeId| -> u64 {
                let shared = stuck.iter().filter_map(|holder| held[holder].shared);
                shared.filter(|(at, _)| *at == node).map(|(_, bytes)| bytes).sum()
            };
            let stays = |queue: &Queue| {
                let Pause { bytes, xon, .. } = pauses[queue];
                let xon = match xon {
                    Xon::Fixed(xon) => xon,
                    Xon::Moving(node) => moving_xon(buffers[&node].threshold_with(filled(node))),
                };
                of(queue) == bytes || of(queue) > xon
            };
            let stay: BTreeSet<Queue> = stuck.iter().filter(|queue| stays(queue)).copied().collect();
            if stay.len() == stuck.len() {
                break;
            }
            stuck = stay;
        }
        let Some(first) = stuck.first() else { return Vec::new() };
        let mut way = vec![*first];
        loop {
            let next = stuck.iter().find(|holder| held[holder].origins.contains_key(&way[way.len() - 1]));
            let next = *next.expect("packets of a stuck queue are in a stuck one");
            if let Some(start) = way.iter().position(|queue| *queue == next) {
                return way.split_off(start);
            }
            way.push(next);
        }
    }

    fn any_paused_queues() -> impl Strategy<Value = PausedQueues> {
        // So few queues that a quarter of the cases have a circle.
        let queue = || (0_u32..6, 0_u8..2).prop_map(|(link, number)| (LinkId(link), number));
        let origins = prop::collection::btree_map(queue(), 1_u64..500, 1..7);
        let shared = prop::option::of((0_u32..2, 0_u64..2_000));
        let held = prop::collection::btree_map(queue(), (origins, shared), 4..12);
        let pause = (0_u64..900, prop::option::of(0_u64..300), 0_u32..2);
        let pauses = prop::collection::btree_map(queue(), pause, 8..13);
        (held, pauses, 0_u64..12_000).prop_map(|(held, pauses, buffer)| {
            let held: BTreeMap<Queue, Held> = held
                .into_iter()
                .map(|(holder, (mut origins, shared))| {
                    // No packet comes over the link for which it waits.
                    origins.remove(&holder);
                    (holder, Held { origins, shared: shared.map(|(node, bytes)| (NodeId(node), bytes)) })
                })
                .collect();
            let pauses = pauses.into_iter().map(|(queue, (rest, fixed, node))| {
                let inside: u64 = held.values().filter_map(|held| held.origins.get(&queue)).sum();
                let bytes = (inside + rest.saturating_sub(300)).max(1);
                let xon = fixed.map_or(Xon::Moving(NodeId(node)), Xon::Fixed);
                (queue, Pause { bytes, xon, frames: 1 })
            });
            let pauses = pauses.collect();
            let buffers = (0..2).map(|node| (NodeId(node), Buffer::of(buffer, 0.5))).collect();
            PausedQueues { held, pauses, buffers }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

        #[test]
        fn the_circle_is_that_of_the_definition(snapshot in any_paused_queues()) {
            prop_assert_eq!(snapshot.circle(), circle_by_definition(&snapshot));
        }
    }

    #[test]
    fn a_chain_of_many_queues_that_go_on_one_after_the_other_takes_little_time() {
        // Each waits for the one before it: a search of all of them for each that resumes would take minutes.
        let chain: Vec<_> = (1..20_000).map(|link| (link, link + 1, 500)).collect();
        let paused: Vec<u32> = (1..20_000).collect();
        assert!(circle(&chain, &paused).is_empty());
    }
}
