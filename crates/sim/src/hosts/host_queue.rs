//! [`HostQueue`]: sources of a host wait in line for its interface instead of losing packets there.
//!
//! While the interface is full, sources that have something to send wait, and take turns of one packet when it has sent half
//! of its queue: as byte queue limits and the fair queues of Linux do (`fq`, `fq_codel`). Acknowledgements of destinations do
//! not wait. Without a limit nothing here costs anything.

use std::collections::{HashMap, VecDeque};

use weft_fabric::{Fabric, Limit, Overhead};
use weft_transport::Framing;
use weft_units::Time;

use crate::event_queue::Order;
use crate::network::Network;
use crate::timer::Timer;

/// The queues of the interfaces of a partition's hosts.
pub struct HostQueue {
    /// Bytes on the wire that an interface may hold, if they are limited. A packet counts as a full one.
    limit: Option<u64>,
    /// Bytes of a full packet on an Ethernet link.
    packet: u64,
    /// By link, where a source has waited.
    lines: HashMap<u32, Line>,
    /// Sources in all lines: while there are none, no line is looked up.
    waiting: usize,
}

/// The sources that wait for an interface.
#[derive(Default)]
struct Line {
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
        Self { limit, packet, lines: HashMap::new(), waiting: 0 }
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

    /// Whether the interface on link `nic` has space for a full packet.
    fn has_space(&self, nic: u32, net: &Network<'_>) -> bool {
        self.limit.is_none_or(|limit| net.backlog(nic).0 + self.packet <= limit)
    }

    /// Whether a source that is not in line may send: there is space, and nobody waits for it.
    pub fn is_free(&self, nic: u32, net: &Network<'_>) -> bool {
        let has_line = || self.lines.get(&nic).is_some_and(|line| !line.places.is_empty());
        !(self.has_waiting() && has_line()) && self.has_space(nic, net)
    }

    /// The source at `place` waits for link `nic`.
    pub fn enter(&mut self, nic: u32, place: u32) {
        self.lines.entry(nic).or_default().places.push_back(place);
        self.waiting += 1;
    }

    /// The source at `place` is gone.
    pub fn leave(&mut self, place: u32) {
        self.lines.values_mut().for_each(|line| line.places.retain(|waiting| *waiting != place));
        self.waiting = self.lines.values().map(|line| line.places.len()).sum();
    }

    /// The source whose turn it is, if there is space.
    pub fn next(&mut self, nic: u32, net: &Network<'_>) -> Option<u32> {
        if !self.has_space(nic, net) {
            return None;
        }
        let place = self.lines.get_mut(&nic)?.places.pop_front()?;
        self.waiting -= 1;
        Some(place)
    }

    /// Calls those in line when half of the queue is free, if they are not called already.
    pub fn call(&mut self, nic: u32, net: &mut Network<'_>) {
        let (Some(limit), Some(line)) = (self.limit, self.lines.get_mut(&nic)) else { return };
        if line.places.is_empty() || line.called_at.is_some_and(|at| at > net.now) {
            return;
        }
        let excess = net.backlog(nic).0.saturating_sub(limit / 2).max(1);
        let at = net.now + net.links.tx_time(nic, excess);
        line.called_at = Some(at);
        net.queue.schedule(Timer::Space(nic).into(), at, Order::Scheduled);
    }
}
