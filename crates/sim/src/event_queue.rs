//! The global event queue: which link's head packet, timer or control event comes next.
//!
//! Packets in flight on a link are in order, so the queue holds one entry a link, not one a
//! packet. The entries are the leaves of a winner tree (Knuth, volume 3, 5.4.1): setting a leaf
//! replays the matches on its way to the root, a fixed number of comparisons that a processor
//! does without a branch to mispredict. A key is one integer, time above and the leaf's number
//! below, so events come in order of (time, leaf) whatever the order of scheduling. Timers and
//! other events that may be many wait in a binary heap, in order of (time, sequence), whose first
//! is a leaf of the tree like any link.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weft_units::Time;

const NEVER: u64 = u64::MAX;

/// What is due next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// A leaf's event: it stays due until the leaf is set anew.
    Leaf(u32),
    /// An event of the heap, taken out of it.
    Far(u32),
}

/// The queue.
pub struct EventQueue {
    /// Node `i` has the children `2 i` and `2 i + 1`; the leaves are the upper half.
    tree: Box<[u64]>,
    leaves: u32,
    /// Bits of a key below the time.
    shift: u32,
    /// Keys count time from here, so that any run's end fits above the leaf's number.
    epoch: u64,
    /// The time of what was due last; nothing is due before it.
    now: u64,
    far: BinaryHeap<Reverse<(u64, u32, u32)>>,
    sequence: u32,
}

impl EventQueue {
    /// An empty queue of `leaves` leaves.
    pub fn new(leaves: usize) -> Self {
        let width = (leaves + 1).next_power_of_two().max(64);
        Self {
            tree: vec![NEVER; 2 * width].into(),
            leaves: leaves as u32,
            shift: width.trailing_zeros(),
            epoch: 0,
            now: 0,
            far: BinaryHeap::new(),
            sequence: 0,
        }
    }

    /// Sets when leaf `id` is due; [`Time::MAX`] for never.
    #[inline(always)]
    pub fn set(&mut self, id: u32, time: Time) {
        let ahead = time.ps().wrapping_sub(self.epoch);
        let key =
            std::hint::select_unpredictable(time == Time::MAX, NEVER, ahead << self.shift | u64::from(id));
        if ahead >> (63 - self.shift) != 0 && time != Time::MAX {
            return self.set_distant(id, time);
        }
        self.replay(id, key);
    }

    /// Sets when leaf `id` is due, like [`EventQueue::set`], and tells which leaves have just become
    /// the first of a fourth, a sixteenth and a sixty-fourth of all: they are due after about as
    /// many events.
    #[inline(always)]
    pub fn set_and_foresee(&mut self, id: u32, time: Time) -> [u32; 3] {
        self.set(id, time);
        let leaf = self.leaf(id);
        [2, 4, 6].map(|depth| {
            // SAFETY: see `leaf`; the ancestors of a leaf are nodes.
            let key = unsafe { *self.tree.get_unchecked(leaf >> (self.shift - depth)) };
            (key & ((1 << self.shift) - 1)) as u32
        })
    }

    /// The place of a leaf in the tree.
    #[inline(always)]
    fn leaf(&self, id: u32) -> usize {
        // The tree has `2 << shift` nodes and `leaves < 1 << shift`: the place is in the tree.
        assert!(id <= self.leaves, "there is no leaf {id}");
        (1 << self.shift) + id as usize
    }

    /// Plays the matches from leaf `id` to the root.
    #[inline(always)]
    fn replay(&mut self, id: u32, key: u64) {
        let leaf = self.leaf(id);
        // A known number of rounds is unrolled; most fabrics have one of these.
        match self.shift {
            7 => self.replay_rounds(leaf, key, 7),
            8 => self.replay_rounds(leaf, key, 8),
            10 => self.replay_rounds(leaf, key, 10),
            13 => self.replay_rounds(leaf, key, 13),
            rounds => self.replay_rounds(leaf, key, rounds),
        }
    }

    /// Plays `rounds` matches from leaf `start`, which becomes `key`.
    #[inline(always)]
    fn replay_rounds(&mut self, start: usize, key: u64, rounds: u32) {
        let tree = self.tree.as_mut_ptr();
        let mut winner = key;
        // SAFETY: the nodes are a leaf (see `leaf`), its ancestors and their siblings.
        unsafe {
            *tree.add(start) = key;
            for round in 0..rounds {
                let at = start >> round;
                let rival = *tree.add(at ^ 1);
                winner = std::hint::select_unpredictable(rival < winner, rival, winner);
                *tree.add(at >> 1) = winner;
            }
        }
    }

    /// Sets a leaf whose time does not fit a key before the epoch has moved on.
    #[cold]
    fn set_distant(&mut self, id: u32, time: Time) {
        self.move_epoch();
        // What is further ahead than a key can say (months) is never due.
        let ahead = time.ps() - self.epoch;
        let fits = ahead >> (63 - self.shift) == 0;
        self.replay(id, if fits { ahead << self.shift | u64::from(id) } else { NEVER });
    }

    /// Counts time from now on.
    fn move_epoch(&mut self) {
        let moved = (self.now - self.epoch) << self.shift;
        self.epoch = self.now;
        for key in self.tree.iter_mut().filter(|key| **key != NEVER) {
            *key -= moved;
        }
    }

    /// Takes leaf `id` out of the queue.
    #[inline]
    pub fn clear(&mut self, id: u32) {
        self.replay(id, NEVER);
    }

    /// Schedules an event that is not a leaf's, at `time`; any number may be waiting.
    pub fn schedule(&mut self, id: u32, time: Time) {
        self.far.push(Reverse((time.ps(), self.sequence, id)));
        self.sequence = self.sequence.wrapping_add(1);
        self.set_first_far();
    }

    fn set_first_far(&mut self) {
        let first = self.far.peek().map_or(Time::MAX, |Reverse((time, ..))| Time::from_ps(*time));
        self.set(self.leaves, first);
    }

    /// What is due next, and when. The caller sets or clears a leaf that it has served.
    #[inline(always)]
    pub fn first_due(&mut self) -> Option<(Time, Due)> {
        let key = self.tree[1];
        if key == NEVER {
            return None;
        }
        let id = (key & ((1 << self.shift) - 1)) as u32;
        self.now = self.epoch + (key >> self.shift);
        let time = Time::from_ps(self.now);
        if id == self.leaves { self.next_far(time) } else { Some((time, Due::Leaf(id))) }
    }

    #[cold]
    fn next_far(&mut self, time: Time) -> Option<(Time, Due)> {
        let Reverse((_, _, id)) = self.far.pop()?;
        self.set_first_far();
        Some((time, Due::Far(id)))
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        size_of_val(&*self.tree) + self.far.capacity() * size_of::<Reverse<(u64, u32, u32)>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drain(queue: &mut EventQueue) -> Vec<(u64, Due)> {
        std::iter::from_fn(|| {
            let (time, due) = queue.first_due()?;
            if let Due::Leaf(id) = due {
                queue.clear(id);
            }
            Some((time.ps(), due))
        })
        .collect()
    }

    proptest! {
        #[test]
        fn leaves_come_in_order_of_time_then_number(
            times in prop::collection::vec(0_u64..3_000, 1..200),
        ) {
            let mut queue = EventQueue::new(times.len());
            for (id, time) in times.iter().enumerate() {
                queue.set(id as u32, Time::from_ps(*time));
            }
            let mut expected: Vec<_> =
                times.iter().enumerate().map(|(id, time)| (*time, Due::Leaf(id as u32))).collect();
            // A stable sort: equal times stay in order of leaves.
            expected.sort_by_key(|(time, _)| *time);
            prop_assert_eq!(drain(&mut queue), expected);
        }

        #[test]
        fn distant_events_come_in_order_of_time_then_of_scheduling(
            times in prop::collection::vec(0_u64..1_000, 1..200),
        ) {
            let mut queue = EventQueue::new(3);
            for (id, time) in times.iter().enumerate() {
                queue.schedule(id as u32, Time::from_ps(*time));
            }
            let mut expected: Vec<_> =
                times.iter().enumerate().map(|(id, time)| (*time, Due::Far(id as u32))).collect();
            expected.sort_by_key(|(time, _)| *time);
            prop_assert_eq!(drain(&mut queue), expected);
        }

        #[test]
        fn a_run_of_any_length_keeps_its_order(
            steps in prop::collection::vec((0_u32..8, 0_u64..40_000_000_000_000_000, any::<bool>()), 1..200),
        ) {
            let mut queue = EventQueue::new(8);
            let mut model = [None::<u64>; 8];
            let mut now = 0;
            for (id, delay, pop) in steps {
                queue.set(id, Time::from_ps(now + delay));
                model[id as usize] = Some(now + delay);
                if pop {
                    let first = (0..8).filter_map(|id| Some((model[id]?, id as u32))).min();
                    let (time, due) = queue.first_due().unwrap();
                    let Due::Leaf(id) = due else { panic!("no far event was scheduled") };
                    prop_assert_eq!(Some((time.ps(), id)), first);
                    queue.clear(id);
                    model[id as usize] = None;
                    now = time.ps();
                }
            }
        }
    }
}
