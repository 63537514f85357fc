//! [`Rounds`]: the order in which the nodes of a partition handle the events of a window of time.
//!
//! No packet takes less than the delay of a link. So within a window of that length, the events of a node depend on no
//! other node's, and each node can handle all its events of the window in one round: its state stays in the cache, and the
//! packets of later arrivals are prefetched. Rounds change no result, only the order in which different nodes are simulated.
//!
//! A node has a round if an arrival, a timer, a deadline or a deferred choice of its ports may be due. So each of these is
//! noted when it comes about, between windows as well.

mod choice;
mod due;
mod layout;

use weft_units::Time;

use crate::event_queue::rank;
use crate::link::Links;
use crate::packet::PacketId;
use crate::timer_heap::{Order, TimerHeap};
pub use choice::{LONGEST, are_faster, are_possible, longest};
use due::Due;
pub use layout::Layout;

/// A key holds, from the top: 24 bits of time, for windows of up to [`LONGEST`], 8 of rank, 32 of place.
const RANK_SHIFT: u32 = 32;
const TIME_SHIFT: u32 = 40;
/// Packets are prefetched this many arrivals before they are handled.
const PREFETCHED: usize = 6;

/// A packet that reaches a node.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The packet.
    pub packet: PacketId,
    /// The link over which it comes.
    pub link: u32,
    /// The ingress port.
    pub port: u16,
}

/// The rounds of a partition's nodes, by their places in its [`Layout`]; by default there are none.
#[derive(Default)]
pub struct Rounds {
    /// The nodes.
    pub layout: Layout,
    is_on: bool,
    /// No event of the node is due before this time.
    not_before: Vec<Time>,
    /// The timers of each host.
    timers: Vec<TimerHeap>,
    /// When the next flow starts that has no timer yet.
    pub next_start: Option<Time>,
    /// The hosts and the switches with events in the window.
    due: [Due; 2],
    /// The node whose round it is; its own events are noted at the end.
    current: usize,
    /// The end of the last window: nothing arrives before it.
    end: Time,
    /// The arrivals of the current round, in the order in which they were taken from the links.
    arrivals: Vec<Arrival>,
    /// One key per arrival, in order: the time after `base`, the rank, and the place in `arrivals`.
    keys: Vec<u64>,
    base: u64,
}

impl Rounds {
    /// Rounds of these nodes.
    pub fn new(layout: Layout) -> Self {
        let nodes = layout.count();
        Self {
            is_on: true,
            not_before: vec![Time::MAX; nodes],
            timers: std::iter::repeat_with(TimerHeap::default).take(nodes - layout.switches()).collect(),
            current: usize::MAX,
            layout,
            ..Self::default()
        }
    }

    /// Whether nodes handle their events in rounds; otherwise they do so in order of time, by the event queue.
    #[inline(always)]
    pub const fn is_on(&self) -> bool {
        self.is_on
    }

    /// The hosts and the switches that may have an event before `end`, until [`Rounds::end_window`].
    pub fn take_due(&mut self, end: Time) -> [Due; 2] {
        let [hosts, switches] = std::mem::take(&mut self.due);
        let (of_switches, of_hosts) = self.not_before.split_at(self.layout.switches());
        let due = |(place, time): (u32, &Time)| (*time < end).then_some(place);
        let first = of_switches.len() as u32;
        [
            hosts.again((first..).zip(of_hosts).filter_map(due)),
            switches.again((0..).zip(of_switches).filter_map(due)),
        ]
    }

    /// The time before which no node has an event.
    pub fn first(&self) -> Time {
        self.not_before.iter().copied().chain(self.next_start).min().unwrap_or(Time::MAX)
    }

    /// Notes that a node has an event at `time`.
    #[inline(always)]
    pub fn note(&mut self, place: usize, time: Time) {
        let next = &mut self.not_before[place];
        *next = (*next).min(time);
    }

    /// Notes that a deadline, timer or choice of a node is due at `time`.
    #[inline(always)]
    pub fn note_own(&mut self, place: usize, time: Time) {
        if place != self.current {
            self.note(place, time);
        }
    }

    /// The place of the node that sends on a link, if it has rounds in this partition.
    #[inline(always)]
    pub fn sender(&self, link: u32) -> Option<usize> {
        if self.is_on { self.layout.sender(link) } else { None }
    }

    /// Notes that the node that sends on a link has something to do at `time`.
    #[inline(always)]
    pub fn note_sender(&mut self, link: u32, time: Time) {
        if let Some(place) = self.layout.sender(link) {
            self.note_own(place, time);
        }
    }

    /// Schedules a timer of the host at a place.
    #[inline]
    pub fn schedule(&mut self, place: usize, id: u32, time: Time, order: Order) {
        self.timers(place).schedule(id, time, order);
        self.note_own(place, time);
    }

    /// The timers of the host at a place.
    #[inline(always)]
    pub fn timers(&mut self, place: usize) -> &mut TimerHeap {
        &mut self.timers[place - self.layout.switches()]
    }

    /// Removes the timers that `keep` refuses.
    pub fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        self.timers.iter_mut().for_each(|timers| timers.retain(&keep));
    }

    /// A node's round is over; its next own event is due at `next`.
    #[inline(always)]
    pub fn finish(&mut self, next: Time) {
        let place = std::mem::replace(&mut self.current, usize::MAX);
        self.note(place, next);
    }

    /// The window up to `end` is over, and all nodes that were due have had their rounds.
    pub fn end_window(&mut self, end: Time, due: [Due; 2]) {
        (self.end, self.due) = (end, due);
    }

    /// Takes all arrivals at a node before `end`, which is at most [`LONGEST`] after the first of them, and puts them in
    /// order.
    #[inline]
    pub fn gather(&mut self, place: usize, end: Time, links: &mut Links) {
        self.base = end.ps().saturating_sub(LONGEST.ps());
        let (mut arrivals, mut keys) = (std::mem::take(&mut self.arrivals), std::mem::take(&mut self.keys));
        arrivals.clear();
        keys.clear();
        let mut next = Time::MAX;
        for &link in self.layout.incoming(place) {
            let after = links.take_before(link, end, |time, packet, port| {
                debug_assert!(time >= self.end, "a packet arrives in a window that is over");
                let after_base = time.ps().saturating_sub(self.base);
                let rank = rank(port.into(), time) << RANK_SHIFT;
                keys.push(after_base << TIME_SHIFT | rank | arrivals.len() as u64);
                arrivals.push(Arrival { packet, link, port });
            });
            next = next.min(after);
        }
        keys.sort_unstable();
        (self.arrivals, self.keys, self.not_before[place]) = (arrivals, keys, next);
        self.current = place;
    }

    /// The number of arrivals in the round.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.keys.len()
    }

    /// An arrival of the round and its time.
    #[inline(always)]
    pub fn get(&self, place: usize) -> (Time, Arrival) {
        let key = self.keys[place];
        (Time::from_ps(self.base + (key >> TIME_SHIFT)), self.arrivals[key as u32 as usize])
    }

    /// The packet to prefetch before an arrival is handled, if there is one.
    #[inline(always)]
    pub fn to_prefetch(&self, place: usize) -> Option<PacketId> {
        let key = self.keys.get(place + PREFETCHED)?;
        Some(self.arrivals[*key as u32 as usize].packet)
    }

    /// The packets of the first arrivals, to prefetch before the round.
    pub fn foremost(&self) -> impl Iterator<Item = PacketId> {
        self.keys.iter().take(PREFETCHED).map(|key| self.arrivals[*key as u32 as usize].packet)
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        let timers: usize =
            self.timers.iter().map(|timers| size_of::<TimerHeap>() + timers.heap_bytes()).sum();
        self.layout.memory()
            + timers
            + self.due.iter().map(Due::memory).sum::<usize>()
            + self.not_before.capacity() * size_of::<Time>()
            + self.arrivals.capacity() * size_of::<Arrival>()
            + self.keys.capacity() * size_of::<u64>()
    }
}
