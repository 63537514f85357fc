//! The event queue of a partition: which link's first packet or timer comes next.
//!
//! Packets in flight on a link are in order, so the queue holds one entry per link, not one per
//! packet. The entries are the leaves of a winner tree (Knuth, volume 3, 5.4.1): setting a leaf
//! replays the matches on its way to the root, a fixed number of comparisons without a branch to
//! mispredict. A key is one integer: the time, a rank, and the leaf's number. The rank of a link is a hash of
//! the time and of its port at its far end. It decides between simultaneous arrivals at a node, so no link has
//! an advantage, and the order depends neither on the order of scheduling nor on the numbers of leaves. Timers
//! wait in a binary heap, in order of (time, sequence), and are due before all links of the same time.
//!
//! Keys count time from an epoch. A leaf that is later than a key can represent is distant: its key is greater than all
//! others. When only distant leaves are left, the caller supplies their times again, and the epoch moves to the
//! earliest of them ([`EventQueue::renew`]), but not before that one is next: earlier ones may still come.

use std::hint::select_unpredictable;

use weft_units::Time;

use crate::timer_heap::{Order, TimerHeap};

/// The bits of a key that hold the rank. Two simultaneous links have the same rank once in 255 times.
const RANK_BITS: u32 = 8;

/// The next event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// A leaf's event: it stays due until the leaf is set again.
    Leaf(u32),
    /// A timer, taken out of the heap.
    Far(u32),
}

/// The queue.
pub struct EventQueue {
    /// Node `i` has the children `2 i` and `2 i + 1`; the leaves are the upper half.
    tree: Box<[u64]>,
    leaves: u32,
    /// Bits of a leaf's number.
    width: u32,
    /// Bits of a key below the time.
    shift: u32,
    /// The largest time after the epoch that a key can represent.
    most_ahead: u64,
    /// Keys count time from here.
    epoch: u64,
    /// No events are due from this time on.
    end: Time,
    /// The first key that is not before the end and the first timer, or that of a distant leaf.
    beyond: u64,
    far: TimerHeap,
}

impl EventQueue {
    /// An empty queue with `leaves` leaves; nothing is due until [`EventQueue::set_end`].
    pub fn new(leaves: usize) -> Self {
        let width = leaves.next_power_of_two().max(64).trailing_zeros();
        let places = 1 << width;
        let shift = width + RANK_BITS;
        Self {
            tree: vec![u64::MAX; 2 * places].into(),
            leaves: leaves as u32,
            width,
            shift,
            most_ahead: (u64::MAX >> shift) - 1,
            epoch: 0,
            end: Time::ZERO,
            beyond: 0,
            far: TimerHeap::default(),
        }
    }

    /// Sets the time from which no events are due.
    #[inline]
    pub fn set_end(&mut self, end: Time) {
        self.end = end;
        self.find_beyond();
    }

    #[inline]
    fn find_beyond(&mut self) {
        let limit = self.limit().ps();
        self.beyond = limit.saturating_sub(self.epoch).min(self.most_ahead) << self.shift;
    }

    /// The end, or the first timer if that is earlier.
    pub fn limit(&self) -> Time {
        self.end.min(self.far.first())
    }

    /// The key of leaf `id` for `time`, which is not [`Time::MAX`].
    #[inline(always)]
    fn key(&self, id: u32, port: u32, time: Time) -> u64 {
        // With a fixed order one link would win every tie for the last place in a queue, and on links of
        // one rate packets meet again and again.
        let ahead = time.ps().wrapping_sub(self.epoch);
        let ahead = select_unpredictable(ahead < self.most_ahead, ahead, self.most_ahead);
        ahead << self.shift | rank(port, time) << self.width | u64::from(id)
    }

    /// The leaf of a key.
    #[inline(always)]
    fn leaf_of(&self, key: u64) -> u32 {
        (key & ((1 << self.width) - 1)) as u32
    }

    /// The place of a leaf in the tree.
    #[inline(always)]
    fn place(&self, id: u32) -> usize {
        // The tree has `2 << width` nodes and `leaves <= 1 << width`: the place is in the tree.
        assert!(id < self.leaves, "no leaf {id}");
        self.tree.len() / 2 + id as usize
    }

    /// Sets when leaf `id`, of a link with this port at its far end, is due; [`Time::MAX`] for never.
    #[inline(always)]
    pub fn set(&mut self, id: u32, port: u32, time: Time) {
        debug_assert!(time.ps() >= self.epoch, "an event comes before the epoch");
        self.put(id, select_unpredictable(time == Time::MAX, u64::MAX, self.key(id, port, time)));
    }

    #[inline(always)]
    fn put(&mut self, id: u32, key: u64) {
        let leaf = self.place(id);
        // A constant number of rounds is unrolled; most fabrics have one of these widths.
        match self.width {
            7 => self.replay(leaf, key, 7),
            8 => self.replay(leaf, key, 8),
            10 => self.replay(leaf, key, 10),
            13 => self.replay(leaf, key, 13),
            rounds => self.replay(leaf, key, rounds),
        }
    }

    /// Plays `rounds` matches from leaf `start`, which becomes `key`, to the root.
    #[inline(always)]
    fn replay(&mut self, start: usize, key: u64, rounds: u32) {
        let tree = self.tree.as_mut_ptr();
        let mut winner = key;
        // SAFETY: the nodes are a leaf (see `place`), its ancestors and their siblings.
        unsafe {
            *tree.add(start) = key;
            for round in 0..rounds {
                let at = start >> round;
                let rival = *tree.add(at ^ 1);
                winner = select_unpredictable(rival < winner, rival, winner);
                *tree.add(at >> 1) = winner;
            }
        }
    }

    /// Sets when leaf `id` is due, like [`EventQueue::set`], and returns the leaves that are now first
    /// in their subtrees of 1/8, 1/32 and 1/128 of all leaves: they are due after about 8, 32 and 128
    /// events.
    #[inline(always)]
    pub fn set_and_look_ahead(&mut self, id: u32, port: u32, time: Time) -> [u32; 3] {
        self.set(id, port, time);
        [3, 5, 7].map(|depth| self.first_near(id, depth))
    }

    /// The leaf that is now first in the subtree that contains leaf `id` and has 1/2^`depth` of all leaves; any number if
    /// nothing in it is due.
    #[inline(always)]
    fn first_near(&self, id: u32, depth: u32) -> u32 {
        let leaf = self.place(id);
        // SAFETY: see `place`; the ancestors of a leaf are nodes.
        self.leaf_of(unsafe { *self.tree.get_unchecked(leaf >> (self.width.saturating_sub(depth))) })
    }

    /// Brings forward when leaf `id` is due, or sets it where it was not due.
    ///
    /// A leaf brought forward can only win more matches than before, so siblings need not be read. It
    /// is usually due after most other leaves, so the branch predictor expects the upper half skipped.
    #[inline(always)]
    pub fn bring_forward(&mut self, id: u32, port: u32, time: Time) {
        debug_assert!(time.ps() >= self.epoch, "an event comes before the epoch");
        let (leaf, key) = (self.place(id), self.key(id, port, time));
        let half = self.width / 2 + 1;
        self.enter(leaf, key, 0..half);
        // SAFETY: see `place`; the ancestors of a leaf are nodes.
        if key < unsafe { *self.tree.get_unchecked(leaf >> half) } {
            self.enter(leaf, key, half..self.width + 1);
        }
    }

    /// Enters `key` where it wins, from leaf `start` up, in these rounds.
    #[inline(always)]
    fn enter(&mut self, start: usize, key: u64, rounds: std::ops::Range<u32>) {
        for round in rounds {
            // SAFETY: see `place`; the ancestors of a leaf are nodes.
            let node = unsafe { self.tree.get_unchecked_mut(start >> round) };
            *node = select_unpredictable(key < *node, key, *node);
        }
    }

    /// Takes leaf `id` out of the queue.
    #[inline]
    pub fn clear(&mut self, id: u32) {
        self.put(id, u64::MAX);
    }

    /// Schedules an event outside the leaves at `time`; any number may be pending.
    pub fn schedule(&mut self, id: u32, time: Time, order: Order) {
        self.far.schedule(id, time, order);
        self.find_beyond();
    }

    /// Removes the events outside the leaves that `keep` refuses.
    pub fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        self.far.retain(keep);
        self.find_beyond();
    }

    /// Whether the first leaf is distant.
    pub fn is_distant(&self) -> bool {
        self.tree[1] != u64::MAX && self.tree[1] >> self.shift >= self.most_ahead
    }

    /// The time of the first event, whenever the end is, unless the first leaf is distant; [`Time::MAX`] if there is none.
    pub fn first(&self) -> Time {
        let ahead = self.tree[1] >> self.shift;
        let leaf = if ahead < self.most_ahead { Time::from_ps(self.epoch + ahead) } else { Time::MAX };
        leaf.min(self.far.first())
    }

    /// The first leaf and its time, if it is due before the end and all timers. The caller sets or clears it after
    /// serving it.
    #[inline(always)]
    pub fn first_leaf(&self) -> Option<(Time, Due)> {
        let key = self.tree[1];
        if key >= self.beyond {
            return None;
        }
        Some((Time::from_ps(self.epoch + (key >> self.shift)), Due::Leaf(self.leaf_of(key))))
    }

    /// Takes out the first timer, if it is due before the end.
    pub fn pop_timer(&mut self) -> Option<(Time, Due)> {
        let (time, id) = if self.far.first() < self.end { self.far.pop()? } else { return None };
        self.find_beyond();
        Some((time, Due::Far(id)))
    }

    /// Moves the epoch to `first`, the time of the earliest leaf, which is next; `due` returns the port of a leaf's link
    /// at its far end, and when the leaf is due.
    #[cold]
    pub fn renew(&mut self, first: Time, due: impl Fn(u32) -> (u32, Time)) {
        self.epoch = first.ps();
        self.find_beyond();
        for id in 0..self.leaves {
            let (port, time) = due(id);
            self.set(id, port, time);
        }
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        size_of_val(&*self.tree) + self.far.heap_bytes()
    }
}

/// The rank of a link among the links due at `time` at the same node, by its port there: a hash of both in
/// `RANK_BITS` bits, at least 1.
#[inline(always)]
pub(crate) fn rank(port: u32, time: Time) -> u64 {
    // Odd constants of the golden ratio and of square roots; the halves of the product are folded as in wyhash
    // (Wang Yi, 2019).
    let both =
        time.ps().wrapping_mul(0xbb67_ae85_84ca_a73b) ^ u64::from(port).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let product = u128::from(both) * 0x3c6e_f372_fe94_f82b;
    (((product >> 64) as u64 ^ product as u64) >> (64 - RANK_BITS)).max(1)
}

#[cfg(test)]
mod tests;
