//! [`Pacer`]: the senders that share a link, in turn.
//!
//! A network card takes the next packet when its line is free, from the sender that has waited longest among those whose
//! rate lets them send. So nothing queues at the link but acknowledgements.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use weft_units::Time;

use crate::journal::FlowNumber;
use crate::line::line_port;
use crate::network::Network;
use crate::turns::Turn;

/// A source that waits for its turn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PacedSource {
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
    /// The rank of its turns among simultaneous events of the host.
    port: u32,
    ready: VecDeque<PacedSource>,
    waiting: BinaryHeap<Reverse<(Time, PacedSource)>>,
    /// Those whose class of packets flow control has paused.
    paused: Vec<PacedSource>,
}

impl Pacer {
    /// No sender yet; `number` is that of the link's turn.
    pub fn new(nic: u32, number: u32, net: &Network<'_>) -> Self {
        Self {
            nic,
            number,
            port: line_port(net.fabric, net.id(nic)),
            ready: VecDeque::new(),
            waiting: BinaryHeap::new(),
            paused: Vec::new(),
        }
    }

    /// A sender wants to send from `at` on.
    #[inline]
    pub fn add(&mut self, turn: PacedSource, at: Time, now: Time) {
        if at <= now {
            self.ready.push_back(turn);
        } else {
            self.waiting.push(Reverse((at, turn)));
        }
    }

    /// The sender whose turn it is.
    #[inline]
    pub fn take(&mut self, now: Time) -> Option<PacedSource> {
        while let Some(Reverse((at, turn))) = self.waiting.peek()
            && *at <= now
        {
            self.ready.push_back(*turn);
            self.waiting.pop();
        }
        self.ready.pop_front()
    }

    /// The sender whose turn it was must wait until flow control resumes its class of packets.
    pub fn pause(&mut self, turn: PacedSource) {
        self.paused.push(turn);
    }

    /// Flow control resumes some classes.
    pub fn resume(&mut self) {
        self.ready.extend(self.paused.drain(..));
    }

    /// The next turn if the line is free from `free` on, which is never if nothing waits.
    #[inline]
    fn next(&self, free: Time) -> Turn {
        let at = match (self.ready.is_empty(), self.waiting.peek()) {
            (false, _) => free,
            (true, Some(Reverse((at, _)))) => free.max(*at),
            (true, None) => return Turn::NEVER,
        };
        Turn { at, port: self.port }
    }

    /// Sets the next turn, at a time when the line is free, if that is earlier than the one set.
    #[inline]
    pub fn arm(&self, free: Time, net: &mut Network<'_>) {
        net.bring_turn_forward(self.number, self.nic, self.next(free));
    }

    /// The turn that was due is over: sets the next one.
    #[inline]
    pub fn arm_again(&self, free: Time, net: &mut Network<'_>) {
        net.set_turn(self.number, self.nic, self.next(free));
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        (self.ready.capacity() + self.paused.capacity()) * size_of::<PacedSource>()
            + self.waiting.capacity() * size_of::<(Time, PacedSource)>()
    }
}
