//! The state that forwarding a packet changes: links with their queues, the packets, the event queue and the
//! journal of one partition. Separate from switches and hosts, so that both can be borrowed at the same time.

use std::collections::BTreeMap;

use weft_fabric::Fabric;
use weft_scenario::LinkChange;
use weft_switching::{DropReason, Header, Kind};
use weft_traffic::Point;
use weft_transport::Segment;
use weft_units::{Bytes, Duration, LinkId, NodeId, PortId, Rate, Time};

use crate::deadlock::PausedQueues;
use crate::division::Division;
use crate::event_queue::{Due, EventQueue};
use crate::gray::Gray;
use crate::journal::{FlowNumber, Journal, Loss, News, SubflowId};
use crate::line::{FarEnd, Line, LinkCounters, Offer, Span};
use crate::link::Links;
use crate::packet::{Bound, DetachedPacket, PacketId, Slab, Way};
use crate::ports::Ports;
use crate::record::{Counters, FloodCounters};
use crate::served_port::{PortCounters, Service};
use crate::trace::{Seen, Trace, TraceEvent};
use crate::turns::Turns;
use crate::waiting::point_of;

/// A number of a link that is not in the partition.
const ELSEWHERE: u32 = u32::MAX;

/// A packet on its way to another partition.
pub struct Crossing {
    link: LinkId,
    arrival: Time,
    detached: DetachedPacket,
}

/// Properties of the hosts' protocol that the engine needs.
#[derive(Clone, Copy, Debug)]
pub struct HostKind {
    /// Bits of a packet's owner below the flow's number.
    pub subflow_bits: u32,
    /// Whether hosts send a packet when it is its turn on their link, rather than as soon as they have it.
    pub paces: bool,
    /// Whether it helps to prefetch what their next events need.
    pub prefetches: bool,
}

/// Links, packets and events. Links are numbered by node and port: the links of a node are
/// consecutive, in order of its ports.
pub struct Network<'a> {
    /// The fabric.
    pub fabric: &'a Fabric,
    /// The current time.
    pub now: Time,
    /// The pending events. Leaf `link` is the next arrival at the link's far end. Then, if there are ports that are not
    /// lazy, leaf `links + link` is the time at which the port's line becomes free. [`Turns`] has the last leaves.
    pub queue: EventQueue,
    /// The turns of hosts that pace.
    pub turns: Turns,
    /// The links: those that leave the partition's nodes, and those that enter it from others.
    pub links: Links,
    /// The packets on them.
    pub packets: Slab,
    /// Sums.
    pub counters: Counters,
    /// Events that other partitions and the engine need.
    pub journal: Journal,
    /// The points that flows have reached, until the partition releases the waiting flows.
    pub reached: Vec<(FlowNumber, Point)>,
    /// Packets for each partition.
    pub leaving: Vec<Vec<Crossing>>,
    /// The earliest arrival of these.
    pub first_leaving: Time,
    /// Bits of a packet's owner below the flow's number; see [`HostKind`].
    subflow_bits: u32,
    /// Flooded frames, by link.
    floods: Vec<FloodCounters>,
    /// Ports that choose among waiting packets.
    pub ports: Ports,
    /// Whether there are lazy ports, which are served when their links have become empty.
    pub has_lazy: bool,
    /// Whether there are other served ports: the queue has leaves for lines.
    has_timed: bool,
    /// The links that lose packets.
    grays: BTreeMap<u32, Gray>,
    /// The rates of links that have changed, by this network's link number.
    rates: BTreeMap<u32, Rate>,
    /// First link of each node of the partition.
    first_link: Vec<u32>,
    /// This network's link number, by the fabric's link ID.
    numbers: Vec<u32>,
    /// The fabric's link ID, by this network's link number.
    ids: Vec<LinkId>,
    /// The partition of each far end, by this network's link number.
    to_part: Vec<u16>,
    /// Whether the links are too many to stay in the L1 cache.
    pub prefetches: bool,
    /// The events of frames, if the run is traced.
    pub trace: Option<Box<Trace>>,
}

impl<'a> Network<'a> {
    /// The idle network of partition `part`, in a run with this seed; with turns for the links of its hosts if they pace. A
    /// full packet of the hosts has `full_packet` bytes.
    pub fn new(
        fabric: &'a Fabric,
        seed: u64,
        division: &Division,
        part: usize,
        kind: HostKind,
        full_packet: u32,
    ) -> Self {
        let nodes = (0..fabric.nodes().len() as u32).map(NodeId);
        let mut far_ends = Vec::new();
        let mut switches = 0;
        for node in nodes.clone() {
            far_ends.push(match fabric.node(node).host {
                Some(host) => FarEnd::host(host.0),
                None => {
                    switches += u32::from(division.part_of(node) == part);
                    FarEnd::switch(u32::wrapping_sub(switches, 1))
                }
            });
        }
        let (mut lines, mut first_link, mut turns) = (Vec::new(), Vec::new(), 0);
        let mut numbers = vec![ELSEWHERE; fabric.links().len()];
        let mut to_part = Vec::new();
        for node in nodes {
            let is_own = division.part_of(node) == part;
            first_link.push(if is_own { lines.len() as u32 } else { ELSEWHERE });
            if kind.paces && is_own && fabric.node(node).is_host() {
                turns += fabric.ports(node).len();
            }
            for &id in fabric.ports(node) {
                let link = fabric.link(id);
                let to = division.part_of(link.to);
                let span = match (is_own, to == part) {
                    (true, true) => Span::Within,
                    (true, false) => Span::Leaves,
                    (false, true) => Span::Enters,
                    (false, false) => continue,
                };
                numbers[id.index()] = lines.len() as u32;
                lines.push(Line { id, far_end: far_ends[link.to.index()], span });
                to_part.push(to as u16);
            }
        }
        let ids: Vec<LinkId> = lines.iter().map(|line| line.id).collect();
        let ports = Ports::new(fabric, (seed, full_packet), &ids, |node| division.part_of(node) == part);
        let has_timed = ports.has_timed();
        let leaves = if has_timed { 2 * lines.len() } else { lines.len() };
        let mut links = Links::new(fabric, &lines);
        for link in (0..links.count()).filter(|link| ports.get(*link).is_some()) {
            links.set_aside(link, true);
        }
        Self {
            fabric,
            now: Time::ZERO,
            queue: EventQueue::new(leaves + turns),
            turns: Turns::new(leaves as u32, turns as u32),
            links,
            ids,
            packets: Slab::default(),
            counters: Counters::default(),
            journal: Journal::default(),
            reached: Vec::new(),
            leaving: std::iter::repeat_with(Vec::new).take(division.parts()).collect(),
            first_leaving: Time::MAX,
            subflow_bits: kind.subflow_bits,
            floods: vec![FloodCounters::default(); lines.len()],
            has_lazy: ports.has_lazy(),
            has_timed,
            ports,
            grays: BTreeMap::new(),
            rates: BTreeMap::new(),
            first_link,
            numbers,
            to_part,
            prefetches: lines.len() > 256,
            trace: None,
        }
    }

    /// The fabric's ID of `link`.
    pub fn id(&self, link: u32) -> LinkId {
        self.ids[link as usize]
    }

    /// The number of link `id`, if one of its ends is in this partition.
    pub fn number(&self, id: LinkId) -> Option<u32> {
        Some(self.numbers[id.index()]).filter(|number| *number != ELSEWHERE)
    }

    /// The number of the link at `port` of `node`, which is in this partition.
    pub fn link_at(&self, node: NodeId, port: PortId) -> u32 {
        self.first_link[node.index()] + u32::from(port.0)
    }

    /// The counters of link `id`.
    pub fn counters_of(&self, id: LinkId) -> LinkCounters {
        self.links.counters(self.numbers[id.index()], self.now)
    }

    /// The flooded frames on link `id`.
    pub fn floods_of(&self, id: LinkId) -> FloodCounters {
        self.floods[self.numbers[id.index()] as usize]
    }

    /// Whether link `id` is up.
    pub fn is_up(&self, id: LinkId) -> bool {
        self.links.is_up(self.numbers[id.index()])
    }

    /// The connection to which a packet belongs, if any.
    pub fn subflow_of(&self, packet: PacketId) -> Option<SubflowId> {
        let owner = self.packets.get(packet).endpoint()?;
        Some(SubflowId::of_owner(owner, self.subflow_bits))
    }

    /// Adds an event to the trace, if there is one.
    #[inline(always)]
    pub fn trace(&mut self, event: impl FnOnce(&Self) -> TraceEvent) {
        if self.trace.is_some() {
            self.add_to_trace(event);
        }
    }

    #[cold]
    #[inline(never)]
    fn add_to_trace(&mut self, event: impl FnOnce(&Self) -> TraceEvent) {
        let event = event(self);
        if let Some(trace) = &mut self.trace {
            trace.events.push((self.now, event));
        }
    }

    /// A packet, for the trace.
    pub fn seen(&self, packet: PacketId) -> Seen {
        let flow = self.subflow_of(packet).map(|owner| owner.flow);
        let segment = flow.map(|_| {
            let mut segment = Segment::default();
            self.packets.read_segment(packet, &mut segment);
            (segment, self.packets.options(packet))
        });
        Seen { header: self.packets.get(packet).header, flow, segment }
    }

    /// Adds news of `node` to the journal.
    pub fn report(&mut self, node: NodeId, news: News) {
        self.reached.extend(point_of(&news));
        self.journal.add(self.now, node, news);
    }

    /// Schedules the next arrival of a link whose first packet has arrived, and prefetches for later
    /// events: links about 128 events ahead, their rings 32, and what the first packet needs about 8 events ahead.
    #[inline(always)]
    pub fn advance(&mut self, link: u32, far_port: u16, next: Time, decides_ahead: bool) {
        if !self.prefetches {
            return self.queue.set(link, far_port.into(), next);
        }
        let [soon, later, last] = self.queue.set_and_look_ahead(link, far_port.into(), next);
        // Where nothing is due, any link will do: a branch would be mispredicted.
        let any = self.links.count() - 1;
        self.links.prefetch(last.min(any));
        self.links.prefetch_ring(later.min(any));
        let Bound { packet, egress } = self.links.first(soon.min(any));
        self.packets.prefetch(packet);
        if decides_ahead {
            self.links.prefetch(egress.min(any));
        }
    }

    /// The time of the first event; [`Time::MAX`] if there is none.
    pub fn first_event(&self) -> Time {
        let first = self.queue.first();
        if self.queue.is_distant() { first.min(self.first_distant()) } else { first }
    }

    /// The next event before the end.
    #[inline(always)]
    pub fn next_event(&mut self) -> Option<(Time, Due)> {
        self.queue.first_leaf().or_else(|| self.next_other())
    }

    /// The next timer, or a distant link's event.
    #[inline(never)]
    fn next_other(&mut self) -> Option<(Time, Due)> {
        if self.queue.is_distant() {
            let first = self.first_distant();
            if first < self.queue.limit() {
                let (links, ports, turns) = (&self.links, &self.ports, &self.turns);
                let (ids, fabric) = (&self.ids, self.fabric);
                self.queue.renew(first, |leaf| match turns.of_leaf(leaf) {
                    Some(turn) => turns.get(turn).map_or((0, Time::MAX), |turn| (turn.port, turn.at)),
                    None => leaf_due(leaf, links, ports, (ids, fabric)),
                });
                return self.queue.first_leaf();
            }
        }
        self.queue.pop_timer()
    }

    /// The time of the first leaf.
    #[cold]
    fn first_distant(&self) -> Time {
        let leaves = 0..self.links.count() * if self.has_timed { 2 } else { 1 };
        let due = |leaf| leaf_due(leaf, &self.links, &self.ports, (&self.ids, self.fabric)).1;
        leaves.map(due).min().unwrap_or(Time::MAX).min(self.turns.first())
    }

    /// Takes in a packet from another partition.
    pub fn enter(&mut self, crossing: Crossing) {
        let link = self.numbers[crossing.link.index()];
        let packet = self.packets.put(crossing.detached);
        self.ports.record_link(link, packet);
        if let Some(arrival) = self.links.enter(link, crossing.arrival, packet) {
            self.queue.bring_forward(link, self.links.far_port(link), arrival);
        }
    }

    /// Enqueues a packet on `link`, or drops it. Returns whether it was accepted.
    #[inline(always)]
    pub fn send(&mut self, link: u32, packet: PacketId) -> bool {
        self.send_on(link, Bound::undecided(packet))
    }

    /// Enqueues a packet for which the next switch may have decided already.
    #[inline(always)]
    pub fn send_on(&mut self, link: u32, bound: Bound) -> bool {
        let packet = bound.packet;
        self.trace(|net| {
            let header = net.packets.get(packet).header;
            TraceEvent::Sent { frame: packet, link: net.id(link), header }
        });
        let header = &mut self.packets.get_mut(packet).header;
        match self.links.offer(link, self.now, bound, header.ip_bytes, || mark(header)) {
            Offer::First(arrival, port) => {
                self.queue.bring_forward(link, port.into(), arrival);
                true
            }
            Offer::Queued => true,
            Offer::Leaves(arrival) => {
                self.leave(link, arrival, packet);
                true
            }
            Offer::Full => self.refuse(link, packet, DropReason::QueueFull),
            Offer::Refused => self.send_aside(link, bound),
        }
    }

    /// Hands a packet to the partition at the far end of `link`.
    pub fn leave(&mut self, link: u32, arrival: Time, packet: PacketId) {
        let (to, id) = (self.to_part[link as usize], self.ids[link as usize]);
        let detached = self.packets.take(packet);
        self.leaving[usize::from(to)].push(Crossing { link: id, arrival, detached });
        self.first_leaving = self.first_leaving.min(arrival);
    }

    #[cold]
    fn refuse(&mut self, link: u32, packet: PacketId, reason: DropReason) -> bool {
        self.lose(self.id(link), packet, reason);
        false
    }

    /// [`Network::send`] for a link that is down or loses packets, and for a port with several queues.
    #[cold]
    #[inline(never)]
    fn send_aside(&mut self, link: u32, bound: Bound) -> bool {
        let packet = bound.packet;
        if !self.links.is_up(link) {
            return self.refuse(link, packet, DropReason::LinkDown);
        }
        let header = &self.packets.get(packet).header;
        if let Some(gray) = self.grays.get_mut(&link)
            && let Some(reason) = gray.draw_loss(header)
        {
            let event = gray.event_of(reason);
            self.drop_because(Err(self.id(link)), packet, (reason, Some(event)));
            return false;
        }
        if self.ports.get(link).is_none() {
            let header = &mut self.packets.get_mut(packet).header;
            match self.links.offer_checked(link, self.now, bound, header.ip_bytes, || mark(header)) {
                Offer::First(arrival, port) => self.queue.bring_forward(link, port.into(), arrival),
                Offer::Leaves(arrival) => self.leave(link, arrival, packet),
                Offer::Full => return self.refuse(link, packet, DropReason::QueueFull),
                Offer::Queued | Offer::Refused => {}
            }
            return true;
        }
        match self.send_served(link, packet) {
            None => true,
            Some(lost) => {
                let is_it = lost == packet;
                self.refuse(link, lost, DropReason::QueueFull);
                !is_it
            }
        }
    }

    /// When the last packet accepted by `link` will have left, if flow control does not pause it.
    pub fn departure(&self, link: u32) -> Time {
        let waiting = self.ports.get(link).map_or(Duration::ZERO, |port| port.queues.time());
        self.links.busy_until(link) + waiting
    }

    /// A watched packet has crossed `link`, to a host if it `ends`.
    #[cold]
    pub fn observe(&mut self, link: u32, packet: PacketId) {
        let (at, id) = (link as usize, self.id(link));
        let header = &self.packets.get(packet).header;
        let bytes = u64::from(self.links.wire_bytes(link, header.ip_bytes));
        let floods = &mut self.floods[at];
        if explores(header) {
            floods.explorations += 1;
            floods.exploration_bytes += bytes;
        } else if header.dst.is_group() && header.kind != Kind::Hello {
            floods.broadcasts += 1;
            floods.broadcast_bytes += bytes;
        } else if let Some(way) = self.packets.way(packet).filter(|way| way.links.len() < Way::MAX) {
            way.links.push(id);
        }
    }

    /// Drops a packet at `node`.
    #[cold]
    pub fn drop(&mut self, node: NodeId, packet: PacketId, reason: DropReason) {
        self.drop_because(Ok(node), packet, (reason, None));
    }

    /// Drops a packet that link `id` refused or lost.
    #[cold]
    pub fn lose(&mut self, id: LinkId, packet: PacketId, reason: DropReason) {
        self.drop_because(Err(id), packet, (reason, None));
    }

    /// Drops a packet at a node or at a link; if the link lost it silently, because of the event with this number.
    fn drop_because(
        &mut self,
        place: Result<NodeId, LinkId>,
        packet: PacketId,
        (reason, gray_event): (DropReason, Option<u32>),
    ) {
        self.trace(|net| {
            let seen = net.seen(packet);
            TraceEvent::Dropped { frame: packet, reason, link: place.err(), seen }
        });
        let node = place.unwrap_or_else(|id| self.fabric.link(id).from);
        self.counters.count_drop(reason);
        if let Some(owner) = self.subflow_of(packet)
            && !matches!(reason, DropReason::NotForMe | DropReason::LateCopy)
        {
            let header = &self.packets.get(packet).header;
            // Only the headers of a trimmed packet are left.
            let has_data = header.payload > 0 || header.is_trimmed() && header.kind == Kind::Other;
            let is_control = header.kind.is_control();
            let followed = self.packets.way(packet).is_some();
            let loss = Loss { reason, has_data, followed, is_control, gray_event };
            self.report(node, News::Dropped(owner, loss));
        }
        self.packets.remove(packet);
    }

    /// Removes a packet that has reached its destination.
    pub fn deliver(&mut self, packet: PacketId) {
        self.counters.packets_delivered += 1;
        self.packets.remove(packet);
    }

    /// Copies a packet, for a flood.
    pub fn copy(&mut self, packet: PacketId) -> PacketId {
        self.counters.packets_copied += 1;
        let copy = self.packets.duplicate(packet);
        self.ports.record_made(copy, Some(packet));
        copy
    }

    /// Takes a link down or up, if one of its ends is here; returns the packets lost on it.
    pub fn set_up(&mut self, id: LinkId, up: bool) -> Vec<PacketId> {
        let number = self.numbers[id.index()];
        if number == ELSEWHERE {
            return Vec::new();
        }
        if up {
            self.links.heal(number);
            self.resume_flow_control(number);
            return Vec::new();
        }
        // What becomes free now is not sent any more, in any partition.
        self.serve_before(number, self.now);
        self.queue.clear(number);
        let mut lost = self.links.fail(number, self.now);
        if self.ports.get(number).is_some_and(|port| port.service != Service::Lazy) {
            self.queue.clear(self.links.count() + number);
        }
        lost.extend(self.clear_port(number));
        lost
    }

    /// Changes the losses of link `id`, whose sending end is here, in the run with `seed`; `event` is the number of the event
    /// (from 1).
    pub fn set_losses(&mut self, id: LinkId, change: &LinkChange, seed: u64, event: u32) {
        let link = self.numbers[id.index()];
        let gray = self.grays.entry(link).or_insert_with(|| Gray::new(seed, id));
        gray.change(self.now, change, event);
        let is_gray = !gray.is_healthy();
        if !is_gray {
            self.grays.remove(&link);
        }
        self.links.set_aside(link, is_gray || self.ports.get(link).is_some());
    }

    /// Changes the rate of link `id`, if one of its ends is here.
    pub fn set_rate(&mut self, id: LinkId, new: Rate) {
        let link = self.numbers[id.index()];
        if link == ELSEWHERE {
            return;
        }
        // What becomes free now is sent at the new rate.
        self.serve_before(link, self.now);
        let old = self.rate(id);
        self.rates.insert(link, new);
        if let Some(port) = self.ports.get_mut(link) {
            port.queues.set_rate(new);
        }
        self.links.set_rate(link, self.now, (old, new));
        let due = self.links.first_arrival(link);
        if due < Time::MAX {
            self.queue.set(link, self.links.far_port(link), due);
        }
        if self.ports.get(link).is_some_and(|port| port.line_busy) {
            self.set_line(link, self.links.busy_until(link));
        }
        self.time_line(link);
    }

    /// The rate of link `id`, one of whose ends is here.
    pub fn rate(&self, id: LinkId) -> Rate {
        let changed = self.rates.get(&self.numbers[id.index()]);
        changed.copied().unwrap_or_else(|| self.fabric.link(id).rate)
    }

    /// Bytes that have not left the port of `link` yet.
    pub fn backlog(&self, link: u32) -> Bytes {
        match self.ports.get(link) {
            None => self.links.backlog(link, self.now),
            Some(port) if port.service == Service::Coupled => {
                self.links.backlog(link, self.now) + Bytes(port.queues.waiting().0)
            }
            // Whichever of them have been served.
            Some(port) => self.links.backlog_with(link, self.now, port.queues.time()),
        }
    }

    /// Bytes of a traffic class that have not left the port of `link` yet, and those of the packet that is leaving.
    pub fn backlog_of(&self, link: u32, class: usize) -> u64 {
        self.links.backlog(link, self.now).0 + self.ports.get(link).map_or(0, |port| port.queues.of(class).0)
    }

    /// The traffic class of packets with this header at the port of `link`.
    pub fn class_at(&self, link: u32, header: &Header) -> usize {
        self.ports.get(link).map_or(0, |port| port.class_of(header))
    }

    /// Bytes and packets waiting at link `id`.
    pub fn waiting(&self, id: LinkId) -> (Bytes, u32) {
        let link = self.numbers[id.index()];
        let packets = self.waiting_beside(link).map(|(_, packets)| packets);
        (self.backlog(link), packets.unwrap_or_else(|| self.links.waiting(link, self.now)))
    }

    /// Bytes and packets in the queues of a port that has several.
    fn waiting_beside(&self, link: u32) -> Option<(u64, u32)> {
        self.ports.get(link).map(|port| port.queues.waiting())
    }

    /// The link of the same cable in the other direction, both of whose ends are of one switch or host of the partition.
    pub fn back(&self, link: u32) -> u32 {
        self.numbers[self.id(link).reverse().index()]
    }

    /// The counters of the port of link `id`, if it may cut packets or be paused.
    pub fn port_counters(&self, id: LinkId) -> Option<PortCounters> {
        let trims = self.fabric.link(id).queue.trim;
        self.ports.counters(self.numbers[id.index()], trims, self.now)
    }

    /// Adds the queues that the switches of the partition pause, and the buffers of these switches.
    pub fn add_paused(&self, found: &mut PausedQueues) {
        self.ports.add_paused(self.fabric, &self.ids, found);
    }

    /// Adds what the queues of the partition hold whose last pause frame has come. Those that pause them have been found.
    pub fn add_held(&self, found: &mut PausedQueues) {
        self.ports.add_held(self.fabric, &self.ids, found);
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        let events = self.queue.memory() + self.turns.memory();
        self.packets.memory() + events + self.links.memory() + self.ports.memory()
    }
}

/// The port of a leaf's link at its far end, and when the leaf is due.
fn leaf_due(leaf: u32, links: &Links, ports: &Ports, (ids, fabric): (&[LinkId], &Fabric)) -> (u32, Time) {
    let Some(line) = leaf.checked_sub(links.count()) else {
        return (links.far_port(leaf), links.first_arrival(leaf));
    };
    let is_due = ports.get(line).is_some_and(|port| match port.service {
        Service::Lazy => false,
        Service::Timed => !port.queues.is_empty(),
        Service::Coupled => port.line_busy,
    });
    let free = if is_due { links.busy_until(line) } else { Time::MAX };
    (line_port(fabric, ids[line as usize]), free)
}

/// The place of a port's line among the simultaneous events of its node.
pub fn line_port(fabric: &Fabric, id: LinkId) -> u32 {
    1 << 16 | u32::from(fabric.link(id).from_port.0)
}

/// Marks an ECN-capable packet (RFC 3168); returns whether it was marked.
pub fn mark(header: &mut Header) -> bool {
    let capable = header.is_ecn_capable();
    if capable {
        header.traffic_class |= Header::CE;
    }
    capable
}

/// Whether switches flood the frame to find or measure paths.
const fn explores(header: &Header) -> bool {
    match header.kind {
        Kind::PathRequest | Kind::RecoveryRequest | Kind::Probe => true,
        // A Path Fail about a flow follows the flow's path.
        Kind::PathFail => !header.is_about_flow(),
        _ => false,
    }
}
