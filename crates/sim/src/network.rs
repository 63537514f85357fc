//! The state that forwarding a packet changes: links with their queues, the packets and the event
//! queue. Separate from switches and hosts, so that both can be borrowed at the same time.

use weft_fabric::Fabric;
use weft_switching::{DropReason, Header};
use weft_units::{Bytes, LinkId, NodeId, Time};

use crate::class_queue::ClassQueue;
use crate::event_queue::EventQueue;
use crate::link::{FarEnd, LinkCounters, Links, Offer};
use crate::packet::{PacketId, Slab};

/// Links, packets and events. Links are numbered by node and port: the links of a node are
/// consecutive, in order of its ports.
pub struct Network {
    /// The current time.
    pub now: Time,
    /// The pending events. Leaf `link` is the next arrival at the link's far end, leaf `links + link`
    /// the time at which the line of a port with several queues becomes free.
    pub queue: EventQueue,
    /// The links.
    pub links: Links,
    /// The packets on them.
    pub packets: Slab,
    /// By link; empty if no port has several queues.
    class_queues: Vec<Option<Box<ClassQueue>>>,
    /// First link of each node.
    pub first_link: Vec<u32>,
    /// This network's link number, by the fabric's link ID.
    numbers: Vec<u32>,
    /// The fabric's link ID, by this network's link number.
    ids: Vec<LinkId>,
    /// Whether the links are too many to stay in the L1 cache.
    prefetches: bool,
}

impl Network {
    /// The idle network of `fabric`, for a run until `limit`.
    pub fn new(fabric: &Fabric, limit: Time) -> Self {
        let nodes = (0..fabric.nodes().len() as u32).map(NodeId);
        let (mut first_link, mut far_ends) = (Vec::new(), Vec::new());
        let (mut count, mut switches) = (0, 0);
        for node in nodes.clone() {
            first_link.push(count);
            count += fabric.ports(node).len() as u32;
            far_ends.push(match fabric.node(node).host {
                Some(host) => FarEnd::host(host.0),
                None => {
                    switches += 1;
                    FarEnd::switch(switches - 1)
                }
            });
        }
        let (mut ids, mut class_queues) = (Vec::new(), Vec::new());
        let mut numbers = vec![0; fabric.links().len()];
        for &id in nodes.flat_map(|node| fabric.ports(node)) {
            let link = fabric.link(id);
            numbers[id.index()] = ids.len() as u32;
            ids.push((id, far_ends[link.to.index()]));
            class_queues.push(ClassQueue::new(&link.queue).map(Box::new));
        }
        if class_queues.iter().all(Option::is_none) {
            class_queues.clear();
        }
        let leaves = if class_queues.is_empty() { ids.len() } else { 2 * ids.len() };
        Self {
            now: Time::ZERO,
            queue: EventQueue::new(leaves, limit),
            links: Links::new(fabric, &ids),
            ids: ids.iter().map(|(id, _)| *id).collect(),
            packets: Slab::default(),
            class_queues,
            first_link,
            numbers,
            prefetches: ids.len() > 256,
        }
    }

    /// The fabric's ID of `link`.
    pub fn id(&self, link: u32) -> LinkId {
        self.ids[link as usize]
    }

    /// The counters of link `id`.
    pub fn counters(&self, id: LinkId) -> LinkCounters {
        self.links.counters(self.numbers[id.index()], self.now)
    }

    /// Whether link `id` is up.
    pub fn is_up(&self, id: LinkId) -> bool {
        self.links.is_up(self.numbers[id.index()])
    }

    /// Schedules the next arrival of a link whose first packet has arrived, and prefetches for later
    /// events: links about 64 events ahead, their first packets about 16 and 4 events ahead.
    #[inline(always)]
    pub fn advance(&mut self, link: u32, next: Time) {
        if !self.prefetches {
            return self.queue.set(link, next);
        }
        let [soon, later, last] = self.queue.set_and_foresee(link, next);
        let count = self.links.count();
        if last < count {
            self.links.prefetch(last);
        }
        for leaf in [later, soon] {
            if leaf < count {
                self.packets.prefetch(self.links.first(leaf));
            }
        }
    }

    /// Moves the event queue's epoch when it finds nothing due; returns whether anything is due.
    #[cold]
    pub fn renew(&mut self) -> bool {
        let (links, class_queues) = (&self.links, &self.class_queues);
        self.queue.renew(|leaf| match leaf.checked_sub(links.count()) {
            None => links.first_arrival(leaf),
            Some(line) => match &class_queues[line as usize] {
                Some(queues) if queues.line_busy => links.busy_until(line),
                _ => Time::MAX,
            },
        })
    }

    /// Enqueues `packet` on `link`.
    ///
    /// # Errors
    /// The reason for refusing it; the caller still owns the packet.
    #[inline(always)]
    pub fn transmit(&mut self, link: u32, packet: PacketId) -> Result<(), DropReason> {
        let header = &mut self.packets.get_mut(packet).header;
        match self.links.offer(link, self.now, packet, header.ip_bytes, || mark(header)) {
            Offer::First(arrival) => self.queue.bring_forward(link, arrival),
            Offer::Queued => {}
            Offer::Full => return Err(DropReason::QueueFull),
            Offer::Refused => return self.transmit_classed(link, packet),
        }
        Ok(())
    }

    /// The same for a port with several queues, where packets wait until the line is free.
    #[cold]
    fn transmit_classed(&mut self, link: u32, packet: PacketId) -> Result<(), DropReason> {
        if !self.links.is_up(link) {
            return Err(DropReason::LinkDown);
        }
        let queues = self.class_queues.get_mut(link as usize).and_then(Option::as_mut);
        let queues = queues.expect("only a port with several queues refuses packets while its link is up");
        let header = &mut self.packets.get_mut(packet).header;
        let wire_bytes = self.links.wire_bytes(link, header.ip_bytes);
        let class = queues.class_of(header);
        if queues.line_busy {
            self.links.note_waiting(link, self.now, Bytes(queues.waiting().0));
            match queues.push(class, packet, wire_bytes) {
                Ok(true) if mark(header) => self.links.count_mark(link),
                Ok(_) => {}
                Err(reason) => {
                    self.links.count_drop(link);
                    return Err(reason);
                }
            }
            return Ok(());
        }
        queues.line_busy = true;
        self.put_on_line(link, packet, wire_bytes);
        Ok(())
    }

    fn put_on_line(&mut self, link: u32, packet: PacketId, wire_bytes: u32) {
        let offer = self.links.push(link, self.now, packet, wire_bytes);
        let free = self.links.busy_until(link);
        if let Offer::First(arrival) = offer {
            self.queue.bring_forward(link, arrival);
        }
        self.queue.set(self.links.count() + link, free);
    }

    /// Sends the scheduler's next packet when the line of a port with several queues becomes free.
    pub fn line_free(&mut self, link: u32) {
        let queues = self.class_queues[link as usize]
            .as_mut()
            .expect("only ports with several queues have this event");
        match queues.pop() {
            Some((packet, wire_bytes)) => self.put_on_line(link, packet, wire_bytes),
            None => {
                queues.line_busy = false;
                self.queue.clear(self.links.count() + link);
            }
        }
    }

    /// When the last packet accepted by `link` will have left. An estimate for several queues, whose order is not
    /// known: as if they were one.
    pub fn departure(&self, link: u32) -> Time {
        let free = self.links.busy_until(link);
        self.waiting_beside(link).map_or(free, |(bytes, _)| free + self.links.tx_time(link, bytes))
    }

    /// Takes a link down or up; returns the packets lost on it.
    pub fn set_up(&mut self, id: LinkId, up: bool) -> Vec<PacketId> {
        let number = self.numbers[id.index()];
        if up {
            self.links.heal(number);
            return Vec::new();
        }
        self.queue.clear(number);
        let mut lost = self.links.fail(number, self.now);
        if let Some(Some(queues)) = self.class_queues.get_mut(number as usize) {
            self.queue.clear(self.links.count() + number);
            queues.line_busy = false;
            lost.extend(std::iter::from_fn(|| queues.pop()).map(|(packet, _)| packet));
        }
        lost
    }

    /// Bytes that have not left the port of `link` yet.
    pub fn backlog(&self, link: u32) -> Bytes {
        self.links.backlog(link, self.now) + Bytes(self.waiting_beside(link).map_or(0, |(bytes, _)| bytes))
    }

    /// Bytes and packets waiting at link `id`.
    pub fn waiting(&self, id: LinkId) -> (Bytes, u32) {
        let link = self.numbers[id.index()];
        let packets = self.waiting_beside(link).map(|(_, packets)| packets);
        (self.backlog(link), packets.unwrap_or_else(|| self.links.waiting(link, self.now)))
    }

    /// Bytes and packets in the queues of a port that has several.
    fn waiting_beside(&self, link: u32) -> Option<(u64, u32)> {
        self.class_queues.get(link as usize)?.as_ref().map(|queues| queues.waiting())
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.packets.memory() + self.queue.memory() + self.links.memory()
    }
}

/// Marks an ECN-capable packet (RFC 3168); returns whether it was marked.
fn mark(header: &mut Header) -> bool {
    let capable = header.is_ecn_capable();
    if capable {
        header.traffic_class |= Header::CE;
    }
    capable
}
