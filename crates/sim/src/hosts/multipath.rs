//! [`Multipath`]: hosts with Multipath TCP.
//!
//! A packet names its subflow by the source's number. The destination adds the subflow when the first packet with
//! that name arrives, which is a SYN that joins.

use std::collections::BTreeSet;

use weft_switching::{Header, mix64};
use weft_traffic::{EPHEMERAL, Flow, Point};
use weft_transport::mptcp::{Addresses, Config, Connection, Options};
use weft_transport::{Mptcp, Segment};
use weft_units::{HostId, Time};

use super::alarms::Alarms;
use super::context::Ctx;
use super::ends::{Whose, tell_opened};
use super::following::Following;
use super::host_queue::HostQueue;
use super::messages::{Messages, NONE};
use super::nics::Nics;
use super::places::Place;
use super::protocol::{Hosts, STRAND_BITS};
use super::tcp::{initial_sequence, template};
use super::vacancies::Vacancies;
use super::world::{World, node_of};
use crate::delays::{Delays, Last};
use crate::journal::{FlowNumber, News, SideReport, Strand};
use crate::network::Network;
use crate::packet::{PacketId, Rider};
use crate::trace::Tracer;

/// One side of a subflow.
struct Subflow {
    /// The source's number of it.
    name: u8,
    /// The header of its packets.
    template: Header,
    /// The link on which it sends.
    nic: u32,
    /// The number of the line for that link.
    line: u32,
    /// The numbers of its addresses at this side and at the other, if hosts use several.
    addresses: Option<[u8; 2]>,
    following: Following,
    last: Last,
}

/// One side of a connection.
struct Side {
    flow: FlowNumber,
    /// 0: the source.
    side: usize,
    connection: Connection,
    /// By this side's number.
    subflows: Vec<Subflow>,
    alarms: Alarms,
    /// The lines in which it waits.
    lines: Vec<u32>,
    /// The bytes received, or at the source acknowledged, of which it tells; [`u64::MAX`]: of none.
    awaits: u64,
    is_over: bool,
    opened: Time,
    /// Of the packets that it received, over all subflows.
    delays: Delays,
}

/// The sides of a partition.
pub struct Multipath {
    config: Config,
    queue: HostQueue,
    sides: Vec<Option<Box<Side>>>,
    vacancies: Vacancies,
    messages: Messages,
    /// Addresses and ports in use by sources of this partition.
    taken: BTreeSet<(HostId, HostId, u16, u16)>,
    segment: Segment,
}

/// A pseudo-random number for a flow; `purpose` separates its uses.
fn drawn(flow: &Flow, purpose: u64) -> u64 {
    mix64(mix64(u64::from(flow.id.0)) ^ purpose.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

impl Multipath {
    /// No connections yet of hosts with interfaces of this queue that send `flows`.
    pub fn new(config: Config, queue: HostQueue, flows: &mut dyn Iterator<Item = &Flow>) -> Self {
        Self {
            config,
            queue,
            sides: Vec::new(),
            vacancies: Vacancies::default(),
            messages: Messages::default(),
            taken: flows.map(|flow| (flow.src, flow.dst, flow.sport, flow.dport)).collect(),
            segment: Segment::default(),
        }
    }

    fn is_fullmesh(&self) -> bool {
        self.config.plain().mptcp == Mptcp::Fullmesh
    }

    /// A source port for subflow `number` of `flow` that no other connection between the hosts uses, if any is free.
    fn port(&mut self, flow: &Flow, number: usize) -> Option<u16> {
        let count = u64::from(EPHEMERAL.end - EPHEMERAL.start);
        let first = mix64(u64::from(flow.id.0) << 8 | number as u64);
        let ports = (0..count).map(|step| EPHEMERAL.start + (first.wrapping_add(step) % count) as u16);
        let taken = &mut self.taken;
        ports.into_iter().find(|port| taken.insert((flow.src, flow.dst, *port, flow.dport)))
    }

    /// Adds one side of a flow; returns its place.
    fn add(
        &mut self,
        (flow, side): (FlowNumber, usize),
        connection: Connection,
        cx: &Ctx<'_, '_, impl Tracer>,
    ) -> u32 {
        let planned = &cx.world.flows[flow as usize];
        let addresses = self.is_fullmesh().then_some([0, 0]);
        let first = Subflow::new(0, (planned, side), addresses, &mut self.queue, cx.net, cx.nics);
        let side = Side {
            flow,
            side,
            connection,
            subflows: vec![first],
            alarms: Alarms::default(),
            lines: Vec::new(),
            awaits: match side == 1 || cx.world.waiting.awaits(flow, Point::Acknowledged) {
                true => planned.bytes,
                false => NONE,
            },
            is_over: false,
            opened: cx.net.now,
            delays: Delays::default(),
        };
        let (number, of) = (side.flow, side.side);
        let place = self.vacancies.take().unwrap_or_else(|| {
            self.sides.push(None);
            self.sides.len() as u32 - 1
        });
        self.sides[place as usize] = Some(Box::new(side));
        cx.world.places.set(number, of, Place::At(place));
        place
    }

    fn listen(&mut self, flow: FlowNumber, cx: &Ctx<'_, '_, impl Tracer>) -> u32 {
        let planned = &cx.world.flows[flow as usize];
        let server = Connection::listen(&self.config, drawn(planned, 2), initial_sequence(planned, 1));
        let place = self.add((flow, 1), server, cx);
        if cx.world.connections.last(flow).is_some() {
            let whose = Whose { flow, side: 1 };
            self.messages.expect(whose, cx.net.now, cx.world, |flow| flow.bytes);
            if let Some(side) = &mut self.sides[place as usize] {
                side.awaits = self.messages.awaited(whose);
            }
        }
        place
    }

    /// The source's side of a flow's connection.
    fn connect(&self, flow: &Flow, net: &Network<'_>) -> Connection {
        let links = |host| net.fabric.ports(net.fabric.host_node(host)).len().min(32) as u8;
        let addresses = Addresses { local: links(flow.src), remote: links(flow.dst) };
        Connection::connect(&self.config, net.now, drawn(flow, 1), initial_sequence(flow, 0), addresses)
    }

    /// Writes the messages whose turn it is to the connection that `number` shares, which the first message opens.
    #[cold]
    fn open_shared<T: Tracer>(&mut self, number: FlowNumber, cx: &mut Ctx<'_, '_, T>) {
        tell_opened(cx.net, cx.world, number);
        let last = cx.world.connections.owner(number);
        let whose = Whose { flow: last, side: 0 };
        for message in self.messages.write(number, cx.net.now, cx.world, |flow| flow.bytes) {
            let place = match cx.world.places.get(last, 0) {
                Place::At(place) => place,
                Place::New => {
                    let client = self.connect(&cx.world.flows[last as usize], cx.net);
                    self.add((last, 0), client, cx)
                }
                Place::Gone => return,
            };
            let Some(side) = &mut self.sides[place as usize] else { return };
            side.connection.write(cx.world.flows[message as usize].bytes);
            side.awaits = self.messages.awaited(whose);
            side.subflows.iter_mut().for_each(|subflow| subflow.following.next = true);
            if side.connection.is_aborted() {
                self.messages.abort(whose, cx.net, cx.world);
            } else {
                self.pump(place, cx);
            }
        }
    }

    /// One side of a message on a shared connection leaves.
    fn leave_shared(
        &mut self,
        flow: FlowNumber,
        last: FlowNumber,
        side: usize,
        world: &World<'_>,
    ) -> Option<(SideReport, Time)> {
        let this = match world.places.get(last, side) {
            Place::At(place) => self.sides[place as usize].as_deref_mut(),
            Place::New | Place::Gone => None,
        };
        let multipath = this.as_ref().map(|this| this.connection.stats());
        let counts = this.map(|this| (this.connection.totals(), &mut this.delays));
        let (report, opened) = self.messages.leave(flow, side, counts, world)?;
        Some((SideReport { multipath, ..report }, opened))
    }

    /// Sends the pending segments of one side; called after every event that may produce some.
    fn pump<T: Tracer>(&mut self, place: u32, cx: &mut Ctx<'_, '_, T>) {
        self.send(place, None, cx);
        if self.queue.has_waiting()
            && let Some(side) = &self.sides[place as usize]
        {
            let used: BTreeSet<u32> = side.subflows.iter().map(|subflow| subflow.line).collect();
            used.into_iter().for_each(|line| self.has_space(line, cx));
        }
    }

    /// Sends the pending segments of the side at `place`, or if it is its turn in a line, one of them on that link first.
    fn send<T: Tracer>(&mut self, place: u32, mut turn: Option<u32>, cx: &mut Ctx<'_, '_, T>) {
        let now = cx.net.now;
        while let Some(side) = &mut self.sides[place as usize] {
            let flow = &cx.world.flows[side.flow as usize];
            let node = node_of(cx.net, [flow.src, flow.dst][side.side]);
            let connection = &mut side.connection;
            let to = if side.side == 1 { connection.delivered() } else { connection.acked() };
            if to >= side.awaits {
                side.awaits = NONE;
                let whose = Whose { flow: side.flow, side: side.side };
                let counts = (connection.totals(), &mut side.delays);
                match (cx.world.connections.last(side.flow).is_some(), side.side) {
                    (true, 0) => self.messages.acknowledged(whose, to, counts, cx.net, cx.world),
                    (true, _) => {
                        self.messages.received(whose, to, counts, |flow| flow.bytes, cx.net, cx.world);
                        connection.read_all();
                    }
                    (false, 0) => cx.net.tell(node, News::Acknowledged(side.flow)),
                    (false, _) => {
                        connection.close();
                        cx.net.tell(node, News::Received(side.flow));
                    }
                }
                if cx.world.connections.last(side.flow).is_some() {
                    side.awaits = self.messages.awaited(whose);
                }
            }
            let mut options = Options::None;
            // The first SYN does not wait.
            let waits = self.queue.is_limited() && side.side == 0 && now > side.opened;
            let mut line = Line { place, subflows: &side.subflows, joined: &mut side.lines };
            let blocked = if waits { line.blocked(turn, &self.queue, cx.net) } else { 0 };
            connection.block(blocked);
            if u64::from(blocked) == (1 << side.subflows.len()) - 1 {
                line.join(blocked, &mut self.queue);
            } else if let Some(number) =
                connection.poll_transmit(&self.config, now, &mut self.segment, &mut options)
            {
                turn = None;
                let at = if number < side.subflows.len() { number } else { 0 };
                let subflow = &mut side.subflows[at];
                let owner = owner(side.flow, subflow.name, 1 - side.side);
                let taken = subflow.transmit(owner, &self.segment, options, cx.net, cx.tracer);
                if self.config.plain().small_queues && taken && self.segment.len > 0 {
                    connection.leaves_at(number, now, cx.net.departure(subflow.nic), self.segment.len);
                }
                continue;
            } else if connection.waiting() != 0 {
                if turn.take().is_some() {
                    // It had nothing for that link.
                    connection.block(line.blocked(None, &self.queue, cx.net));
                    if connection.may_send() {
                        continue;
                    }
                }
                line.join(connection.waiting(), &mut self.queue);
            }
            let random = drawn(flow, 3 + side.subflows.len() as u64);
            if side.side == 0
                && let Some(new) = connection.poll_open(&self.config, now, random)
            {
                let number = side.flow;
                // If all ports are taken, two subflows share one, and switches cannot distinguish them.
                let sport = self.port(flow, new.subflow).unwrap_or(flow.sport);
                let addresses = self.is_fullmesh().then_some([new.local, new.remote]);
                let flow = Flow { sport, ..*flow };
                let added =
                    Subflow::new(new.subflow as u8, (&flow, 0), addresses, &mut self.queue, cx.net, cx.nics);
                let Some(side) = &mut self.sides[place as usize] else { return };
                side.subflows.push(added);
                let tuple = [(flow.src, sport), (flow.dst, flow.dport)];
                let strand = Strand { flow: number, subflow: new.subflow as u8 };
                cx.net.tell(node, News::Opened(strand, tuple));
                continue;
            }
            // In line, it is called when it is its turn. A timeout that has passed acts when it sends.
            let timeout = if side.lines.is_empty() {
                connection.next_timeout()
            } else {
                connection.next_timeout_after(now)
            };
            side.alarms.arm(place, timeout, connection.held_until(), &mut cx.net.queue);
            if !side.is_over && (side.connection.is_closed() || side.connection.is_aborted()) {
                side.is_over = true;
                let aborted = side.connection.is_aborted();
                if aborted && cx.world.connections.last(side.flow).is_some() {
                    let whose = Whose { flow: side.flow, side: side.side };
                    return self.messages.abort(whose, cx.net, cx.world);
                }
                cx.net.tell(
                    node,
                    if aborted { News::Aborted(side.flow) } else { News::Closed(side.flow, side.side) },
                );
            }
            return;
        }
    }
}

/// The lines of a side's subflows.
struct Line<'a> {
    place: u32,
    subflows: &'a [Subflow],
    /// Those in which the side waits.
    joined: &'a mut Vec<u32>,
}

impl Line<'_> {
    /// The subflows that may not send, one bit each; in a `turn` in a line, all that use others.
    fn blocked(&self, turn: Option<u32>, queue: &HostQueue, net: &Network<'_>) -> u32 {
        let is_blocked = |line: u32| match turn {
            Some(turn) => line != turn,
            None => self.joined.contains(&line) || !queue.is_free(line, net),
        };
        let bits = self.subflows.iter().zip(0..);
        bits.map(|(subflow, bit)| u32::from(is_blocked(subflow.line)) << bit).sum()
    }

    /// Waits in the lines of these subflows.
    fn join(&mut self, subflows: u32, queue: &mut HostQueue) {
        for (subflow, bit) in self.subflows.iter().zip(0..) {
            if subflows >> bit & 1 == 1 && !self.joined.contains(&subflow.line) {
                self.joined.push(subflow.line);
                queue.enter(subflow.line, self.place);
            }
        }
    }
}

/// The owner of the packets for one side of a subflow.
fn owner(flow: FlowNumber, name: u8, side: usize) -> u32 {
    flow << STRAND_BITS | u32::from(name) << 1 | side as u32
}

impl Subflow {
    /// One side of a subflow of `flow`, whose source port is the subflow's.
    fn new(
        name: u8,
        (flow, side): (&Flow, usize),
        addresses: Option<[u8; 2]>,
        queue: &mut HostQueue,
        net: &Network<'_>,
        nics: &Nics,
    ) -> Self {
        let template = template(flow, side);
        let nic = nics.nic(net, flow, side, addresses.map(|both| both[side]));
        Self {
            name,
            template,
            nic,
            line: queue.line(nic, &template, net),
            addresses,
            following: Following::new(side == 0),
            last: Last::default(),
        }
    }

    /// Sends a segment; returns whether the interface accepted it.
    fn transmit<T: Tracer>(
        &mut self,
        owner: u32,
        segment: &Segment,
        options: Options,
        net: &mut Network<'_>,
        tracer: &mut T,
    ) -> bool {
        let address = self.addresses.map_or(0, |[_, remote]| remote);
        let (owner, way) = self.following.of(segment, owner);
        let rider = Rider { options, address, way };
        let packet = net.packets.packet_of(net.now, &self.template, owner, segment, rider);
        net.counters.packets_sent += 1;
        net.send(self.nic, packet, tracer)
    }
}

impl Hosts for Multipath {
    fn open<T: Tracer>(&mut self, number: FlowNumber, cx: &mut Ctx<'_, '_, T>) {
        if cx.world.connections.last(number).is_some() {
            return self.open_shared(number, cx);
        }
        let flow = &cx.world.flows[number as usize];
        let mut client = self.connect(flow, cx.net);
        client.write(flow.bytes);
        client.close();
        let place = self.add((number, 0), client, cx);
        tell_opened(cx.net, cx.world, number);
        self.pump(place, cx);
    }

    fn deliver<T: Tracer>(&mut self, packet: PacketId, cx: &mut Ctx<'_, '_, T>) {
        let (Some(strand), Some(end)) = (cx.net.strand(packet), cx.net.packets.get(packet).endpoint()) else {
            return;
        };
        let place = match cx.world.places.get(strand.flow, end as usize & 1) {
            Place::At(place) => place,
            Place::New if end & 1 == 1 => self.listen(strand.flow, cx),
            Place::New | Place::Gone => return cx.net.deliver(packet),
        };
        let Some(side) = &mut self.sides[place as usize] else { return cx.net.deliver(packet) };
        let flow = &cx.world.flows[strand.flow as usize];
        let named = side.subflows.iter().position(|subflow| subflow.name == strand.subflow);
        let number = named.unwrap_or_else(|| {
            let (address, header) = (cx.net.packets.address(packet), cx.net.packets.get(packet).header);
            let random = drawn(flow, 0x100 + u64::from(strand.subflow));
            let accepted = side.connection.accept(&self.config, address, random);
            let addresses = (self.config.plain().mptcp == Mptcp::Fullmesh).then_some([0, address]);
            let joined = Flow { sport: header.sport, ..*flow };
            let subflow =
                Subflow::new(strand.subflow, (&joined, 1), addresses, &mut self.queue, cx.net, cx.nics);
            match accepted {
                Some(number) if number < side.subflows.len() => side.subflows[number] = subflow,
                Some(_) => side.subflows.push(subflow),
                None => {}
            }
            accepted.unwrap_or(usize::MAX >> 1)
        });
        if let Some(subflow) = side.subflows.get_mut(number) {
            side.delays.count(cx.net.packets.age(packet, cx.net.now), &mut subflow.last);
        }
        let options = cx.net.packets.options(packet);
        cx.net.packets.read_segment(packet, &mut self.segment);
        if let Some(way) = cx.net.packets.way(packet) {
            let way = std::mem::take(way);
            cx.net.tell(node_of(cx.net, flow.dst), News::Arrived(strand, way));
        }
        cx.net.deliver(packet);
        side.connection.on_segment(&self.config, number, cx.net.now, &self.segment, &options);
        self.pump(place, cx);
    }

    /// Sides that wait in line send a packet each, as long as there is space.
    fn has_space<T: Tracer>(&mut self, line: u32, cx: &mut Ctx<'_, '_, T>) {
        while let Some(place) = self.queue.next(line, cx.net) {
            if let Some(side) = &mut self.sides[place as usize] {
                side.lines.retain(|joined| *joined != line);
                self.send(place, Some(line), cx);
            }
        }
        self.queue.call(line, cx.net);
    }

    fn timer<T: Tracer>(&mut self, place: u32, cx: &mut Ctx<'_, '_, T>) -> bool {
        let now = cx.net.now;
        let Some(side) = &mut self.sides[place as usize] else { return false };
        if !side.alarms.take_due(now) {
            return false;
        }
        if side.connection.next_timeout() <= now {
            side.connection.on_timeout(&self.config, now);
        }
        self.pump(place, cx);
        true
    }

    fn watch(&mut self, flow: FlowNumber, subflow: u8, world: &World<'_>) {
        if let Place::At(place) = world.places.get(world.connections.owner(flow), 0)
            && let Some(side) = &mut self.sides[place as usize]
            && let Some(subflow) = side.subflows.get_mut(usize::from(subflow))
        {
            subflow.following.next = true;
        }
    }

    fn leave(
        &mut self,
        flow: FlowNumber,
        side: usize,
        net: &mut Network<'_>,
        world: &World<'_>,
    ) -> Option<(SideReport, Time)> {
        let last = world.connections.last(flow);
        let shared = last.and_then(|last| self.leave_shared(flow, last, side, world));
        if last.is_some_and(|last| last != flow) {
            return shared;
        }
        let place = world.places.get(flow, side);
        world.places.set(flow, side, Place::Gone);
        let Place::At(place) = place else { return shared };
        let this = self.sides[place as usize].take()?;
        self.vacancies.leave(place, self.sides.len(), &mut net.queue);
        this.lines.iter().for_each(|line| self.queue.leave(*line, place));
        if side == 0 {
            for subflow in &this.subflows {
                let (planned, header) = (&world.flows[flow as usize], &subflow.template);
                self.taken.remove(&(planned.src, planned.dst, header.sport, header.dport));
            }
        }
        if last.is_some() {
            return shared;
        }
        let (tcp, multipath) = (this.connection.totals(), Some(this.connection.stats()));
        let delays = this.delays;
        Some((SideReport { side, tcp, multipath, delays, ..SideReport::default() }, this.opened))
    }

    fn delivered(&self, flow: FlowNumber, world: &World<'_>) -> Option<u64> {
        let Place::At(place) = world.places.get(world.connections.owner(flow), 1) else { return None };
        let delivered = self.sides[place as usize].as_ref()?.connection.delivered();
        match world.connections.last(flow) {
            None => Some(delivered),
            Some(_) => self.messages.progress(flow, delivered, world),
        }
    }

    fn repick(&mut self, cx: &mut Ctx<'_, '_, impl Tracer>) {
        for side in self.sides.iter_mut().flatten() {
            let flow = &cx.world.flows[side.flow as usize];
            for subflow in &mut side.subflows {
                let sport = if side.side == 0 { subflow.template.sport } else { subflow.template.dport };
                let flow = Flow { sport, ..*flow };
                let address = subflow.addresses.map(|both| both[side.side]);
                subflow.nic = cx.nics.nic(cx.net, &flow, side.side, address);
                subflow.line = self.queue.line(subflow.nic, &subflow.template, cx.net);
            }
        }
    }

    fn memory(&self) -> usize {
        let heap = |side: &Side| size_of::<Side>() + side.connection.heap_bytes();
        self.sides.iter().flatten().map(|side| heap(side)).sum()
    }
}
