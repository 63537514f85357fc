//! [`Pacer`]: the senders that share a link, in turn.
//!
//! A network card takes the next packet when its line is free, from the sender that has waited longest among those whose
//! rate lets them send. So nothing queues at the link but acknowledgements.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use weft_units::Time;

use crate::event_queue::{EventQueue, Order};
use crate::journal::FlowNumber;
use crate::timer::Timer;

/// The flag of a link's timers among those of the ends.
const LINK: u32 = 1 << 28;

/// A sender's wish to send.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Wish {
    /// The flow, which decides between simultaneous turns: places depend on the partition.
    pub flow: FlowNumber,
    /// The sender's place.
    pub place: u32,
}

/// The senders of one link.
pub struct Pacer {
    /// The link.
    pub nic: u32,
    number: u32,
    ready: VecDeque<Wish>,
    waiting: BinaryHeap<Reverse<(Time, Wish)>>,
    /// Those whose class of packets flow control has paused.
    paused: Vec<Wish>,
    /// When the timer is due; [`Time::MAX`]: there is none.
    armed: Time,
}

impl Pacer {
    /// No sender yet; `number` is that of the link among those of the partition's hosts.
    pub fn new(nic: u32, number: u32) -> Self {
        Self {
            nic,
            number,
            ready: VecDeque::new(),
            waiting: BinaryHeap::new(),
            paused: Vec::new(),
            armed: Time::MAX,
        }
    }

    /// The number of the link whose timer has this place, if it is one.
    #[inline]
    pub const fn of_timer(place: u32) -> Option<u32> {
        if place & LINK != 0 { Some(place & !LINK) } else { None }
    }

    /// A sender wants to send from `at` on.
    #[inline]
    pub fn add(&mut self, turn: Wish, at: Time, now: Time) {
        if at <= now {
            self.ready.push_back(turn);
        } else {
            self.waiting.push(Reverse((at, turn)));
        }
    }

    /// The sender whose turn it is.
    #[inline]
    pub fn take(&mut self, now: Time) -> Option<Wish> {
        while let Some(Reverse((at, turn))) = self.waiting.peek()
            && *at <= now
        {
            self.ready.push_back(*turn);
            self.waiting.pop();
        }
        self.ready.pop_front()
    }

    /// The sender whose turn it was must wait until flow control lets its class of packets go on.
    pub fn pause(&mut self, turn: Wish) {
        self.paused.push(turn);
    }

    /// Flow control lets some classes go on.
    pub fn resume(&mut self) {
        self.ready.extend(self.paused.drain(..));
    }

    /// Sets the timer for the next turn, at a time when the line is free.
    #[inline]
    pub fn arm(&mut self, free: Time, queue: &mut EventQueue) {
        let next = match (self.ready.is_empty(), self.waiting.peek()) {
            (false, _) => free,
            (true, Some(Reverse((at, _)))) => free.max(*at),
            (true, None) => return,
        };
        if next < self.armed {
            self.armed = next;
            queue.schedule(Timer::End(LINK | self.number).into(), next, Order::Scheduled);
        }
    }

    /// Whether the timer is due now; then it is no longer set.
    pub fn take_due(&mut self, now: Time) -> bool {
        let is_due = self.armed == now;
        if is_due {
            self.armed = Time::MAX;
        }
        is_due
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        (self.ready.capacity() + self.paused.capacity()) * size_of::<Wish>()
            + self.waiting.capacity() * size_of::<(Time, Wish)>()
    }
}
