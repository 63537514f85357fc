//! Ports with several queues: strict priority or deficit round robin
//! (Shreedhar and Varghese, SIGCOMM 1995).
//!
//! The next packet is known only when the line becomes free.

use std::collections::VecDeque;
use std::mem::offset_of;

use weft_fabric::{Overhead, QueueSpec, Scheduler};
use weft_units::{Bytes, Duration, Rate, TxClock};

use crate::charge::Charge;
use crate::packet::PacketId;
use crate::prefetch::prefetch;
use crate::room::Room;

/// Bytes that a queue of weight one may send per round: a full Ethernet frame on the wire.
const QUANTUM: u32 = Overhead::FULL_FRAME;

/// A packet that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The packet.
    pub packet: PacketId,
    /// Its length on the wire.
    pub wire_bytes: u32,
    /// The accounts in which it counts besides its place in the queue.
    pub charge: Charge,
}

/// One queue, in a cache line.
#[repr(C)]
struct Class {
    packets: VecDeque<Waiting>,
    bytes: u64,
    room: Room,
    quantum: u32,
    deficit: u32,
}

/// The classes within a port.
const INSIDE: usize = 2;
/// Packets in a cache line, and those that are prefetched.
const PER_LINE: usize = 4;
const PREFETCHED: usize = 12;

/// The queues of one port. One or two lie within it, more on the heap.
#[repr(C)]
pub struct ClassQueue {
    /// The bytes of all classes.
    bytes: u64,
    clock: TxClock,
    /// The sum of the transmission times of all waiting packets.
    time: Duration,
    scheduler: Scheduler,
    /// The class whose turn it is in a DRR round, and whether it has received its quantum.
    turn: u8,
    served: bool,
    /// The queues that are not empty, one bit each.
    ready: u8,
    /// The number of classes.
    count: u8,
    first: [Class; INSIDE],
    more: Vec<Class>,
}

impl ClassQueue {
    /// The bytes before the first class.
    pub const HEAD: usize = offset_of!(Self, first);

    /// The queues that `spec` describes, at least one, for a line of this rate. The most urgent one has the first of the
    /// `rooms`, the others the second.
    pub fn new(spec: &QueueSpec, rate: Rate, rooms: [Room; 2]) -> Self {
        let weight = |class: usize| spec.classes.get(class).map_or(1, |class| class.weight.max(1));
        let class = |number: usize| Class {
            packets: VecDeque::new(),
            bytes: 0,
            room: rooms[usize::from(number > 0)],
            quantum: QUANTUM.saturating_mul(weight(number)),
            deficit: 0,
        };
        let count = spec.classes.len().max(1);
        Self {
            bytes: 0,
            clock: TxClock::new(rate),
            time: Duration::ZERO,
            scheduler: spec.scheduler,
            turn: 0,
            served: false,
            ready: 0,
            count: count as u8,
            first: std::array::from_fn(class),
            more: (INSIDE..count).map(class).collect(),
        }
    }

    /// The rate of the line has changed.
    pub fn set_rate(&mut self, rate: Rate) {
        self.clock = TxClock::new(rate);
        let clock = self.clock;
        self.time = self.waiting().map(|waiting| clock.tx_time(waiting.wire_bytes)).sum();
    }

    /// The sum of the transmission times of all waiting packets.
    pub const fn time(&self) -> Duration {
        self.time
    }

    /// Whether no packet waits.
    pub const fn is_empty(&self) -> bool {
        self.ready == 0
    }

    /// The number of queues.
    pub fn count(&self) -> usize {
        self.count.into()
    }

    #[inline(always)]
    fn class(&self, class: usize) -> &Class {
        match self.first.get(class) {
            Some(class) => class,
            None => self.class_on_heap(class),
        }
    }

    #[inline(always)]
    fn class_mut(&mut self, class: usize) -> &mut Class {
        if class < INSIDE { &mut self.first[class] } else { self.class_on_heap_mut(class) }
    }

    // Out of line, so that a port with one or two classes never waits for the address of `more`.
    #[cold]
    #[inline(never)]
    fn class_on_heap(&self, class: usize) -> &Class {
        &self.more[class - INSIDE]
    }

    #[cold]
    #[inline(never)]
    fn class_on_heap_mut(&mut self, class: usize) -> &mut Class {
        &mut self.more[class - INSIDE]
    }

    /// All classes. Of a port with one class, the second one is never used.
    fn classes(&self) -> impl Iterator<Item = &Class> {
        self.first.iter().chain(&self.more)
    }

    /// All packets.
    fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.classes().flat_map(|class| &class.packets)
    }

    /// Bytes and packets that wait in a queue.
    #[inline(always)]
    pub fn of(&self, class: usize) -> (u64, u32) {
        let class = self.class(class);
        (class.bytes, class.packets.len() as u32)
    }

    /// Whether a queue has space for a packet.
    #[inline(always)]
    pub fn fits(&self, class: usize, wire_bytes: u32) -> bool {
        let Class { packets, bytes, room, .. } = self.class(class);
        bytes + u64::from(wire_bytes) <= room.bytes && (packets.len() as u32) < room.packets
    }

    /// Bytes that wait.
    pub const fn bytes(&self) -> Bytes {
        Bytes(self.bytes)
    }

    /// The number of packets that wait.
    pub fn packets(&self) -> u32 {
        self.classes().map(|class| class.packets.len() as u32).sum()
    }

    /// The packets of a queue, first to last.
    pub fn packets_of(&self, class: usize) -> impl Iterator<Item = &Waiting> {
        self.class(class).packets.iter()
    }

    /// Prefetches the first packets of each queue, and the places behind the last one.
    #[inline]
    pub fn prefetch(&self) {
        for class in 0..self.count() {
            let packets = &self.class(class).packets;
            let (front, back) = packets.as_slices();
            let end = if back.is_empty() { front } else { back }.as_ptr_range().end;
            for from in [front.as_ptr(), end] {
                (0..PREFETCHED).step_by(PER_LINE).for_each(|at| prefetch(from.wrapping_add(at)));
            }
        }
    }

    /// Appends a packet to a queue.
    #[inline]
    pub fn push(&mut self, class: usize, waiting: Waiting) {
        let queue = self.class_mut(class);
        queue.packets.push_back(waiting);
        queue.bytes += u64::from(waiting.wire_bytes);
        self.ready |= 1 << class;
        self.bytes += u64::from(waiting.wire_bytes);
        self.time += self.clock.tx_time(waiting.wire_bytes);
    }

    /// Removes the first packet of a queue.
    #[inline]
    pub fn take_first(&mut self, class: usize) -> Option<Waiting> {
        self.remove(class, |packets| {
            let waiting = packets.pop_front();
            if packets.is_empty() {
                // The next packet is in the first slot again, so that little of the memory is in use.
                packets.clear();
            }
            waiting
        })
    }

    /// Removes the packet of a queue that `take` takes.
    #[inline(always)]
    fn remove(
        &mut self,
        class: usize,
        take: impl FnOnce(&mut VecDeque<Waiting>) -> Option<Waiting>,
    ) -> Option<Waiting> {
        let queue = self.class_mut(class);
        let waiting = take(&mut queue.packets)?;
        queue.bytes -= u64::from(waiting.wire_bytes);
        self.ready &= !(u8::from(queue.packets.is_empty()) << class);
        self.bytes -= u64::from(waiting.wire_bytes);
        self.time = self.time.saturating_sub(self.clock.tx_time(waiting.wire_bytes));
        Some(waiting)
    }

    /// The last packet of a queue.
    pub fn last(&self, class: usize) -> Option<&Waiting> {
        self.class(class).packets.back()
    }

    /// Removes the last packet of a queue.
    pub fn take_last(&mut self, class: usize) -> Option<Waiting> {
        self.remove(class, VecDeque::pop_back)
    }

    /// The queue that sends next, unless it is one of the `paused` ones, one bit each.
    #[inline(always)]
    pub fn next(&mut self, paused: u8) -> Option<usize> {
        let ready = self.ready & !paused;
        (ready != 0).then(|| match self.scheduler {
            Scheduler::StrictPriority => ready.trailing_zeros() as usize,
            Scheduler::Drr => self.next_of_round(paused),
        })
    }

    /// The next queue of the rounds; one of those that are not paused has a packet.
    fn next_of_round(&mut self, paused: u8) -> usize {
        loop {
            let (turn, is_served) = (self.turn, self.served);
            let is_paused = paused >> turn & 1 == 1;
            let class = self.class_mut(turn.into());
            if let Some(&Waiting { wire_bytes, .. }) = class.packets.front().filter(|_| !is_paused) {
                if !is_served {
                    class.deficit = class.deficit.saturating_add(class.quantum);
                }
                if class.deficit >= wire_bytes {
                    class.deficit -= wire_bytes;
                    self.served = true;
                    return turn.into();
                }
            } else if !is_paused {
                class.deficit = 0;
            }
            self.turn = (turn + 1) % self.count;
            self.served = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_fabric::{ClassSpec, Limit, class_of};

    fn queues(scheduler: Scheduler, weights: &[u32]) -> ClassQueue {
        let classes = weights.iter().map(|&weight| ClassSpec { weight }).collect();
        let spec = QueueSpec { classes, scheduler, ..QueueSpec::fifo(Limit::Packets(100)) };
        ClassQueue::new(&spec, Rate::from_gbps(10), [Room::ANY; 2])
    }

    fn packet(packet: PacketId, wire_bytes: u32) -> Waiting {
        Waiting { packet, wire_bytes, charge: Charge::NOTHING }
    }

    fn pop(queues: &mut ClassQueue, paused: u8) -> Option<Waiting> {
        let class = queues.next(paused)?;
        queues.take_first(class)
    }

    #[test]
    fn strict_priority_serves_the_urgent_queue_first() {
        let mut queues = queues(Scheduler::StrictPriority, &[1, 1]);
        for (class, number) in [(1, 10), (0, 20), (1, 11)] {
            queues.push(class, packet(number, 1500));
        }
        let order: Vec<_> =
            std::iter::from_fn(|| pop(&mut queues, 0)).map(|waiting| waiting.packet).collect();
        assert_eq!(order, [20, 10, 11]);
    }

    #[test]
    fn drr_shares_bytes_by_weight_whatever_the_packet_sizes() {
        let mut queues = queues(Scheduler::Drr, &[3, 1]);
        for number in 0..100 {
            queues.push(0, packet(number, 300));
            queues.push(1, packet(number, 1500));
        }
        let mut bytes = [0_u32; 2];
        while queues.ready == 0b11 {
            let wire_bytes = pop(&mut queues, 0).unwrap().wire_bytes;
            bytes[usize::from(wire_bytes == 1500)] += wire_bytes;
        }
        let ratio = f64::from(bytes[0]) / f64::from(bytes[1]);
        assert!((2.4..3.6).contains(&ratio), "{bytes:?}");
    }

    #[test]
    fn paused_queues_wait_and_the_others_go_on() {
        for scheduler in [Scheduler::StrictPriority, Scheduler::Drr] {
            let mut queues = queues(scheduler, &[1, 1, 1]);
            for class in 0..3 {
                queues.push(class, packet(class as u32, 1500));
            }
            let order = [0b101, 0b111, 0b001, 0b001, 0].map(|paused| pop(&mut queues, paused));
            let order = order.map(|waiting| waiting.map(|waiting| waiting.packet));
            assert_eq!(order, [Some(1), None, Some(2), None, Some(0)], "{scheduler}");
        }
    }

    #[test]
    fn the_class_selector_chooses_the_queue() {
        let of = |selectors: &[u8], queues| -> Vec<usize> {
            selectors.iter().map(|selector| class_of(selector << 5, queues)).collect()
        };
        assert_eq!(of(&[7, 0], 8), [0, 7]);
        assert_eq!(of(&[7, 1, 0], 2), [0, 0, 1]);
        assert_eq!(of(&[7, 1, 0], 1), [0, 0, 0]);
    }
}
