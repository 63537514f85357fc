//! The state that forwarding a packet changes: links with their queues, the packets, the event queue and the
//! journal of one partition. Separate from switches and hosts, so that both can be borrowed at the same time.

mod changes;
mod events;
mod independent;
mod occupancy;
mod removal;
mod sending;
mod serving;
mod telemetry;

use std::collections::BTreeMap;
use std::sync::Arc;

use weft_fabric::{Fabric, Interfaces};
use weft_switching::{Header, Mac};
use weft_traffic::Point;
use weft_transport::Segment;
use weft_units::{HostId, LinkId, NodeId, PortId, Rate, Time};

use crate::division::Division;
use crate::event_queue::EventQueue;
use crate::gray::Gray;
use crate::journal::{FlowNumber, Journal, News, SubflowId};
use crate::line::{FarEnd, Line, Span};
use crate::link::Links;
use crate::packet::slab::Slab;
use crate::packet::{DetachedPacket, PacketId};
use crate::ports::Ports;
use crate::record::{Counters, FloodCounters};
use crate::rounds::{Layout, Rounds};
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
    /// Whether packets ask switches for the state of their ports.
    pub asks_telemetry: bool,
}

/// Links, packets and events. Links are numbered by node and port: the links of a node are
/// consecutive, in order of its ports.
pub struct Network<'a> {
    /// The fabric.
    pub fabric: &'a Fabric,
    /// The current time.
    pub now: Time,
    /// The pending events, if nodes do not handle them in rounds. Leaf `link` is the next arrival at the link's far end.
    /// Then, if there are ports that are not lazy, leaf `links + link` is the time at which the port's line becomes free.
    /// [`Turns`] has the last leaves.
    pub queue: EventQueue,
    /// The turns of hosts that pace.
    pub turns: Turns,
    /// The nodes with pending events, if they handle them in rounds.
    pub rounds: Rounds,
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
    /// Whether packets ask switches for the state of their ports; see [`HostKind`].
    asks_telemetry: bool,
    /// Flooded frames, by link.
    floods: Vec<FloodCounters>,
    /// Ports that choose among waiting packets.
    pub ports: Ports,
    /// Whether there are lazy ports that are served when their links have become empty: in rounds they are served at the
    /// end of each window.
    has_lazy: bool,
    /// Whether there are other served ports: the queue has leaves for lines.
    pub has_timed: bool,
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
    prefetches: bool,
    /// The events of frames, if the run is traced.
    pub trace: Option<Box<Trace>>,
    /// The interfaces of hosts that have addresses of their own.
    pub interfaces: Option<Arc<Interfaces>>,
}

impl<'a> Network<'a> {
    /// The idle network of partition `part`, in a run with this seed; with turns for the links of its hosts if they pace. A
    /// full packet of the hosts has `full_packet` bytes. Nodes handle their events in rounds if the network
    /// `has_rounds`.
    pub fn new(
        fabric: &'a Fabric,
        seed: u64,
        division: &Division,
        part: usize,
        kind: HostKind,
        full_packet: u32,
        has_rounds: bool,
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
        let (mut lines, mut first_link, mut hosts) = (Vec::new(), Vec::new(), Vec::new());
        let mut numbers = vec![ELSEWHERE; fabric.links().len()];
        let mut to_part = Vec::new();
        for node in nodes {
            let is_own = division.part_of(node) == part;
            first_link.push(if is_own { lines.len() as u32 } else { ELSEWHERE });
            if let (true, Some(host)) = (is_own, fabric.node(node).host) {
                let first = lines.len() as u32;
                hosts.push((host.0, first..first + fabric.ports(node).len() as u32));
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
        let rounds = if has_rounds {
            let outgoing = fabric.switches().filter(|node| division.part_of(*node) == part).map(|node| {
                let first = first_link[node.index()];
                first..first + fabric.ports(node).len() as u32
            });
            Rounds::new(Layout::new(&outgoing.collect::<Vec<_>>(), &hosts, &lines))
        } else {
            Rounds::default()
        };
        let ids: Vec<LinkId> = lines.iter().map(|line| line.id).collect();
        let ports = Ports::new(fabric, seed, full_packet, &ids, has_rounds, kind.asks_telemetry, |node| {
            division.part_of(node) == part
        });
        let has_timed = ports.has_timed();
        let leaves = match (has_rounds, has_timed) {
            (true, _) => 0,
            (false, true) => 2 * lines.len(),
            (false, false) => lines.len(),
        };
        let turns =
            if kind.paces { hosts.into_iter().flat_map(|(_, links)| links).collect() } else { Vec::new() };
        let turns = Turns::new(leaves as u32, turns);
        let mut links = Links::new(fabric, &lines);
        for link in (0..links.count()).filter(|link| ports.get(*link).is_some()) {
            links.set_aside(link, true);
        }
        Self {
            fabric,
            now: Time::ZERO,
            queue: EventQueue::new(if has_rounds { 0 } else { leaves + turns.count() }),
            turns,
            links,
            ids,
            packets: Slab::default(),
            counters: Counters::default(),
            journal: Journal::default(),
            reached: Vec::new(),
            leaving: std::iter::repeat_with(Vec::new).take(division.parts()).collect(),
            first_leaving: Time::MAX,
            subflow_bits: kind.subflow_bits,
            asks_telemetry: kind.asks_telemetry,
            floods: vec![FloodCounters::default(); lines.len()],
            rounds,
            has_lazy: !has_rounds && ports.has_lazy(),
            has_timed,
            ports,
            grays: BTreeMap::new(),
            rates: BTreeMap::new(),
            first_link,
            numbers,
            to_part,
            prefetches: lines.len() > 256,
            trace: None,
            interfaces: None,
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

    /// A packet, for the trace, with the addresses of hosts.
    pub fn seen(&self, packet: PacketId) -> Seen {
        let owner = self.subflow_of(packet);
        let segment = owner.map(|_| {
            let mut segment = Segment::default();
            self.packets.read_segment(packet, &mut segment);
            (segment, self.packets.options(packet))
        });
        let (flow, subflow) = (owner.map(|owner| owner.flow), owner.map_or(0, |owner| owner.subflow));
        let mut header = self.packets.get(packet).header;
        if self.interfaces.is_some() {
            (header.src, header.dst) = (self.station(header.src), self.station(header.dst));
        }
        Seen { header, flow, subflow, segment }
    }

    /// The address of the host to which that of an interface belongs; any other address as it is.
    fn station(&self, address: Mac) -> Mac {
        let owner = |number| self.interfaces.as_ref()?.host_of(HostId(number));
        address.host().and_then(owner).map_or(address, |host| Mac::of_host(host.0))
    }

    /// Whether an interface of `host` has this address.
    #[cold]
    pub fn is_of(&self, address: Mac, host: HostId) -> bool {
        self.interfaces.is_some() && self.station(address) == Mac::of_host(host.0)
    }

    /// Adds news of `node` to the journal.
    pub fn report(&mut self, node: NodeId, news: News) {
        self.reached.extend(point_of(&news));
        self.journal.add(self.now, node, news);
    }

    /// Hands a packet to the partition at the far end of `link`.
    pub fn leave(&mut self, link: u32, arrival: Time, packet: PacketId) {
        let (to, id) = (self.to_part[link as usize], self.ids[link as usize]);
        let detached = self.packets.take(packet);
        self.leaving[usize::from(to)].push(Crossing { link: id, arrival, detached });
        self.first_leaving = self.first_leaving.min(arrival);
    }

    /// The rate of link `id`, one of whose ends is here.
    pub fn rate(&self, id: LinkId) -> Rate {
        let changed = self.rates.get(&self.numbers[id.index()]);
        changed.copied().unwrap_or_else(|| self.fabric.link(id).rate)
    }

    /// The link of the same cable in the other direction, both of whose ends are of one switch or host of the partition.
    pub fn back(&self, link: u32) -> u32 {
        self.numbers[self.id(link).reverse().index()]
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        let events = self.queue.memory() + self.turns.memory() + self.rounds.memory();
        self.packets.memory() + events + self.links.memory() + self.ports.accounts.memory()
    }
}

/// Marks an ECN-capable packet (RFC 3168); returns whether it was marked.
pub fn mark(header: &mut Header) -> bool {
    let capable = header.is_ecn_capable();
    if capable {
        header.traffic_class |= Header::CE;
    }
    capable
}
