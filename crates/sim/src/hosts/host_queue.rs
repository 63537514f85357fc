//! [`HostQueue`]: sources of a host wait in line for its interface instead of losing packets there.
//!
//! While the interface is full, sources that have something to send wait, and take turns of one packet when it has sent half
//! of its queue: as byte queue limits and the fair queues of Linux do (`fq`, `fq_codel`). Acknowledgements of destinations do
//! not wait. Without a limit nothing here costs anything.

use std::collections::{HashMap, VecDeque};

use weft_fabric::{Fabric, Limit, Overhead};
use weft_switching::Header;
use weft_transport::Framing;
use weft_units::Time;

use crate::network::Network;
use crate::timer::Timer;
use crate::timer_heap::Order;

/// The queues of the interfaces of a partition's hosts.
pub struct HostQueue {
    /// Bytes on the wire that an interface may hold of a traffic class, if they are limited. A packet counts as a full one.
    limit: Option<u64>,
    /// Bytes of a full packet on an Ethernet link.
    packet: u64,
    /// The lines by link and traffic class.
    numbers: HashMap<(u32, usize), u32>,
    lines: Vec<Line>,
    /// Lines that sources entered since sources were called last.
    entered: Vec<u32>,
    /// Sources in all lines.
    waiting: usize,
}

/// The sources that wait for an interface to take packets of a traffic class.
struct Line {
    nic: u32,
    class: usize,
    places: VecDeque<u32>,
    /// When they are called next, if they are.
    called_at: Option<Time>,
}

impl HostQueue {
    /// The queues of the hosts of `fabric`, for packets of this framing.
    pub fn new(fabric: &Fabric, framing: &Framing) -> Self {
        let packet = u64::from(Overhead::Ethernet.wire_bytes(framing.full_packet()));
        let limit = match fabric.host_queue() {
            Some(Limit::Packets(packets)) => Some(u64::from(packets) * packet),
            Some(Limit::Bytes(bytes)) => Some(bytes.max(packet)),
            Some(Limit::Unlimited) | None => None,
        };
        Self { limit, packet, numbers: HashMap::new(), lines: Vec::new(), entered: Vec::new(), waiting: 0 }
    }

    /// Whether sources may have to wait.
    #[inline(always)]
    pub fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// Whether a source waits for an interface.
    #[inline(always)]
    pub fn has_waiting(&self) -> bool {
        self.waiting > 0
    }

    /// The number of the line for packets with this header on link `nic`; 0 without a limit.
    pub fn line(&mut self, nic: u32, header: &Header, net: &Network<'_>) -> u32 {
        if self.limit.is_none() {
            return 0;
        }
        let class = net.class_at(nic, header);
        let next = self.lines.len() as u32;
        let number = *self.numbers.entry((nic, class)).or_insert(next);
        if number == next {
            self.lines.push(Line { nic, class, places: VecDeque::new(), called_at: None });
        }
        number
    }

    /// Whether there is space for a full packet.
    fn has_space(&self, line: &Line, net: &Network<'_>) -> bool {
        self.limit.is_none_or(|limit| net.backlog_of(line.nic, line.class) + self.packet <= limit)
    }

    /// Whether a source that is not in this line may send: there is space, and nobody waits for it.
    pub fn is_free(&self, line: u32, net: &Network<'_>) -> bool {
        let line = &self.lines[line as usize];
        line.places.is_empty() && self.has_space(line, net)
    }

    /// The source at `place` waits in this line. Whoever sends calls [`Self::call`] afterwards.
    pub fn enter(&mut self, line: u32, place: u32) {
        self.lines[line as usize].places.push_back(place);
        self.entered.push(line);
        self.waiting += 1;
    }

    /// The source at `place` is gone from this line.
    pub fn leave(&mut self, line: u32, place: u32) {
        let places = &mut self.lines[line as usize].places;
        let before = places.len();
        places.retain(|waiting| *waiting != place);
        self.waiting -= before - places.len();
    }

    /// The source at `place` waits in the line `to` in place of `from`, and its sources are called.
    pub fn change(&mut self, place: u32, from: u32, to: u32, net: &mut Network<'_>) {
        self.leave(from, place);
        self.enter(to, place);
        self.call(to, net);
    }

    /// The source whose turn it is, if there is space.
    pub fn next(&mut self, line: u32, net: &Network<'_>) -> Option<u32> {
        if !self.has_space(&self.lines[line as usize], net) {
            return None;
        }
        let place = self.lines[line as usize].places.pop_front()?;
        self.waiting -= 1;
        Some(place)
    }

    /// Calls the sources of this line, and of the lines entered since the last call, when half of their queue is free and
    /// a packet fits, if they are not called already.
    pub fn call(&mut self, line: u32, net: &mut Network<'_>) {
        self.call_one(line, net);
        while let Some(line) = self.entered.pop() {
            self.call_one(line, net);
        }
    }

    fn call_one(&mut self, number: u32, net: &mut Network<'_>) {
        let (Some(limit), Some(line)) = (self.limit, self.lines.get_mut(number as usize)) else { return };
        if line.places.is_empty() || line.called_at.is_some_and(|at| at > net.now) {
            return;
        }
        let left = (limit / 2).min(limit - self.packet);
        let excess = net.backlog_of(line.nic, line.class).saturating_sub(left).max(1);
        let at = net.now + net.links.tx_time(line.nic, excess);
        line.called_at = Some(at);
        net.schedule(line.nic, Timer::Space(number), at, Order::Scheduled);
    }
}
