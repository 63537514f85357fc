//! [`Tcp`]: hosts with plain TCP.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use weft_switching::host::distinct_paths::PathFinder;
use weft_switching::host::path_selector::{Host, Opening, PathSelector};
use weft_switching::{Header, Kind, Mac, flow_hash, mix64};
use weft_traffic::{Flow, Point};
use weft_transport::{Config, Endpoint, Segment};
use weft_units::{HostId, NodeId, Time};

use super::alarms::Alarms;
use super::context::Ctx;
use super::ends::{Whose, tell_opened};
use super::following::Following;
use super::host_queue::HostQueue;
use super::messages::{Messages, NONE};
use super::nics::Nics;
use super::places::Place;
use super::protocol::Hosts;
use super::vacancies::Vacancies;
use super::world::{World, node_of};
use crate::delays::{Delays, Last};
use crate::huge;
use crate::journal::{FlowNumber, News, SideReport, Strand};
use crate::network::Network;
use crate::packet::{PacketId, Rider};
use crate::trace::Tracer;

/// One end of a connection.
struct Side<P> {
    /// The TCP state.
    endpoint: Endpoint,
    alarms: Alarms,
    /// The header of its packets.
    template: Header,
    /// Its choice of paths.
    path: P,
    /// The paths that it knows.
    paths: Arc<[u32]>,
    /// The place of the state that it shares.
    shared: u32,
    /// The link on which it sends.
    nic: u32,
    /// The number of the line for it.
    line: u32,
    /// Whether it waits in that line.
    in_line: bool,
    /// The owner of the packets that it receives: twice the flow's number, plus one at the destination.
    end: u32,
    following: Following,
    /// At the destination, the bytes that complete the flow or message; [`u64::MAX`] once they have arrived.
    awaits: u64,
    /// At the source, the acknowledged bytes of which it tells; [`u64::MAX`]: of none.
    awaits_acknowledged: u64,
    /// Whether it has told that it has closed or given up.
    is_over: bool,
    /// When it was opened.
    opened: Time,
    /// Of the packets that it received, and of the last one.
    delays: Delays,
    last: Last,
}

/// State that ends at a host share: the host, its first switch and the class of the destination.
type Sharing = (HostId, NodeId, usize);

/// Ends for which there is room at first.
const FIRST_SIDES: usize = 16;

/// The ends of a partition.
pub struct Tcp<'a, P: PathSelector> {
    config: &'a Config,
    queue: HostQueue,
    sides: Vec<Side<P>>,
    vacancies: Vacancies,
    messages: Messages,
    segment: Segment,
    scheme: &'a P::Scheme,
    finder: &'a dyn PathFinder,
    /// The paths that were found, by first switch and class of the destination.
    paths: HashMap<(NodeId, usize), Arc<[u32]>>,
    /// The state that ends at a host share; the first place is for those that share none.
    shared: Vec<P::Shared>,
    /// The place of that state.
    shared_by: HashMap<Sharing, u32>,
    /// Places of state that no end shares any more.
    unshared: Vec<u32>,
}

/// The flow and side of an end.
fn whose(end: u32) -> Whose {
    Whose { flow: end / 2, side: end as usize & 1 }
}

/// The header of the packets that one side (0: the source) of a flow sends.
pub(super) fn template(flow: &Flow, side: usize) -> Header {
    let ends = [(flow.src, flow.sport), (flow.dst, flow.dport)];
    let ((src, sport), (dst, dport)) = (ends[side], ends[1 - side]);
    Header {
        dst: Mac::of_host(dst.0),
        src: Mac::of_host(src.0),
        sport,
        dport,
        flow_hash: flow_hash(src, dst, sport, dport),
        kind: Kind::Tcp,
        traffic_class: flow.dscp << 2,
        ..Header::default()
    }
}

/// The host of an end, and the other one of its flow.
fn hosts_of(end: u32, flow: &Flow) -> (HostId, HostId) {
    if end & 1 == 0 { (flow.src, flow.dst) } else { (flow.dst, flow.src) }
}

/// The state that an end at `own` with `nic` shares.
fn sharing((own, other): (HostId, HostId), nic: u32, net: &Network<'_>, nics: &Nics) -> Sharing {
    (own, net.fabric.link(net.id(nic)).to, nics.routes().class_of(other))
}

/// The initial sequence number of one side of a flow.
pub(super) fn initial_sequence(flow: &Flow, side: usize) -> u32 {
    let isn = mix64(u64::from(flow.id.0)) as u32;
    if side == 0 { isn } else { isn.rotate_left(16) }
}

impl<'a, P: PathSelector> Tcp<'a, P> {
    /// None yet, with the parameters of `config` and interfaces of this queue; hosts choose paths by `scheme`, among those that `finder` finds.
    pub fn new(
        config: &'a Config,
        queue: HostQueue,
        scheme: &'a P::Scheme,
        finder: &'a dyn PathFinder,
    ) -> Self {
        Self {
            config,
            queue,
            sides: Vec::new(),
            vacancies: Vacancies::default(),
            messages: Messages::default(),
            segment: Segment::default(),
            scheme,
            finder,
            paths: HashMap::new(),
            shared: vec![P::Shared::default()],
            shared_by: HashMap::new(),
            unshared: Vec::new(),
        }
    }

    /// The paths from the switch at the other end of `nic` to `host`.
    fn paths_to(&mut self, host: HostId, nic: u32, net: &Network<'_>, nics: &Nics) -> Arc<[u32]> {
        if !P::needs_paths(self.scheme) {
            return Arc::new([]);
        }
        let (routes, from) = (nics.routes(), net.fabric.link(net.id(nic)).to);
        let found = || self.finder.paths(from, host, routes);
        Arc::clone(self.paths.entry((from, routes.class_of(host))).or_insert_with(found))
    }

    /// The place of the state that an end with `nic` shares with others.
    fn place_of_shared(&mut self, hosts: (HostId, HostId), nic: u32, net: &Network<'_>, nics: &Nics) -> u32 {
        if !P::shares(self.scheme) {
            return 0;
        }
        let (shared, unshared) = (&mut self.shared, &mut self.unshared);
        *self.shared_by.entry(sharing(hosts, nic, net, nics)).or_insert_with(|| {
            unshared.pop().unwrap_or_else(|| {
                shared.push(P::Shared::default());
                shared.len() as u32 - 1
            })
        })
    }

    /// Enters the end at `place` again among those that share its state, unless another one has entered that state or taken
    /// its place; returns whether it did.
    fn share_again(&mut self, place: usize, key: Sharing, taken: &mut [bool]) -> bool {
        let known = self.sides[place].shared;
        if taken[known as usize] {
            return false;
        }
        let Entry::Vacant(entry) = self.shared_by.entry(key) else { return false };
        entry.insert(known);
        taken[known as usize] = true;
        true
    }

    /// Adds the end `end`; returns its place.
    fn add(&mut self, end: u32, endpoint: Endpoint, nic: u32, cx: &Ctx<'_, '_, impl Tracer>) -> u32 {
        let flow = &cx.world.flows[end as usize / 2];
        let hosts = hosts_of(end, flow);
        let paths = self.paths_to(hosts.1, nic, cx.net, cx.nics);
        let opening = Opening {
            paths: Arc::clone(&paths),
            random: mix64(end.into()),
            rate: cx.net.fabric.link(cx.net.id(nic)).rate,
        };
        let template = template(flow, end as usize & 1);
        let side = Side {
            endpoint,
            alarms: Alarms::default(),
            template,
            path: P::open(self.scheme, opening),
            shared: self.place_of_shared(hosts, nic, cx.net, cx.nics),
            paths,
            nic,
            line: self.queue.line(nic, &template, cx.net),
            in_line: false,
            end,
            following: Following::new(end & 1 == 0),
            awaits: if end & 1 == 1 { flow.bytes } else { NONE },
            awaits_acknowledged: if end & 1 == 0 && cx.world.waiting.awaits(end / 2, Point::Acknowledged) {
                flow.bytes
            } else {
                NONE
            },
            is_over: false,
            opened: cx.net.now,
            delays: Delays::default(),
            last: Last::default(),
        };
        let place = match self.vacancies.take() {
            Some(place) => {
                self.sides[place as usize] = side;
                place
            }
            None => {
                if self.sides.len() == self.sides.capacity() {
                    huge::reserve(&mut self.sides, FIRST_SIDES);
                }
                self.sides.push(side);
                self.sides.len() as u32 - 1
            }
        };
        cx.world.places.set(end / 2, end as usize & 1, Place::At(place));
        place
    }

    /// The place of the end for which a packet is; `None` if there is none.
    #[inline]
    fn place_for(&mut self, end: u32, cx: &Ctx<'_, '_, impl Tracer>) -> Option<u32> {
        match cx.world.places.get(end / 2, end as usize & 1) {
            Place::At(place) => Some(place),
            Place::New if end & 1 == 1 => Some(self.listen(end, cx)),
            Place::New | Place::Gone => None,
        }
    }

    #[cold]
    fn listen(&mut self, end: u32, cx: &Ctx<'_, '_, impl Tracer>) -> u32 {
        let flow = &cx.world.flows[end as usize / 2];
        let endpoint = Endpoint::listen(self.config, initial_sequence(flow, 1));
        let nic = cx.nics.nic(cx.net, flow, 1, None);
        let place = self.add(end, endpoint, nic, cx);
        if cx.world.connections.last(end / 2).is_some() {
            let whose = whose(end);
            self.messages.expect(whose, cx.net.now, cx.world, |flow| flow.bytes);
            self.sides[place as usize].awaits = self.messages.awaited(whose);
        }
        place
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
                    let flow = &cx.world.flows[last as usize];
                    let client = Endpoint::connect(self.config, cx.net.now, initial_sequence(flow, 0));
                    let nic = cx.nics.nic(cx.net, flow, 0, None);
                    self.add(last * 2, client, nic, cx)
                }
                Place::Gone => return,
            };
            let side = &mut self.sides[place as usize];
            side.endpoint.write(cx.world.flows[message as usize].bytes);
            side.awaits_acknowledged = self.messages.awaited(whose);
            side.following.next = true;
            if side.endpoint.is_aborted() {
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
        let counts = match world.places.get(last, side) {
            Place::At(place) => {
                let this = &mut self.sides[place as usize];
                Some((this.endpoint.stats(), &mut this.delays))
            }
            Place::New | Place::Gone => None,
        };
        self.messages.leave(flow, side, counts, world)
    }

    /// Tells that a flow, or which messages on a shared connection, are received or, at the source, acknowledged.
    #[cold]
    fn reach(&mut self, place: u32, net: &mut Network<'_>, world: &World<'_>) {
        let side = &mut self.sides[place as usize];
        let number = side.end / 2;
        if world.connections.last(number).is_none() {
            let flow = &world.flows[number as usize];
            let (node, news) = if side.end & 1 == 1 {
                side.awaits = NONE;
                side.endpoint.close();
                (node_of(net, flow.dst), News::Received(number))
            } else {
                side.awaits_acknowledged = NONE;
                (node_of(net, flow.src), News::Acknowledged(number))
            };
            return net.tell(node, news);
        }
        let (whose, stats) = (whose(side.end), side.endpoint.stats());
        let counts = (stats, &mut side.delays);
        if whose.side == 1 {
            let to = side.endpoint.delivered();
            self.messages.received(whose, to, counts, |flow| flow.bytes, net, world);
            side.awaits = self.messages.awaited(whose);
            side.endpoint.read_all();
        } else {
            self.messages.acknowledged(whose, side.endpoint.acked(), counts, net, world);
            side.awaits_acknowledged = self.messages.awaited(whose);
        }
    }

    /// Sends an end's pending segments; called after every event that may produce some.
    #[inline]
    fn pump<T: Tracer>(&mut self, place: u32, cx: &mut Ctx<'_, '_, T>) {
        self.send(place, false, cx);
        if self.queue.has_waiting() {
            self.serve(self.sides[place as usize].line, cx);
        }
    }

    /// Lets the sources in this line send a packet each, as long as there is space.
    #[inline(never)]
    fn serve<T: Tracer>(&mut self, line: u32, cx: &mut Ctx<'_, '_, T>) {
        while let Some(place) = self.queue.next(line, cx.net) {
            self.sides[place as usize].in_line = false;
            self.send(place, true, cx);
        }
        self.queue.call(line, cx.net);
    }

    /// Sends the pending segments of the end at `place`, or one of them if it is its turn.
    #[inline(always)]
    fn send<T: Tracer>(&mut self, place: u32, is_its_turn: bool, cx: &mut Ctx<'_, '_, T>) {
        let now = cx.net.now;
        let small_queues = self.config.small_queues;
        let side = &mut self.sides[place as usize];
        // The first SYN does not wait.
        let waits = self.queue.is_limited() && side.end & 1 == 0 && now > side.opened;
        let mut has_turn = is_its_turn;
        if side.endpoint.delivered() >= side.awaits || side.endpoint.acked() >= side.awaits_acknowledged {
            self.reach(place, cx.net, cx.world);
        }
        let side = &mut self.sides[place as usize];
        let shared = &mut self.shared[side.shared as usize];
        let mut host = Host { scheme: self.scheme, shared, now };
        while side.path.own(&mut host, &mut side.template, &mut self.segment) {
            transmit(side, &self.segment, cx.net, cx.tracer);
        }
        loop {
            if waits {
                if !side.in_line && !has_turn && !self.queue.is_free(side.line, cx.net) {
                    side.in_line = true;
                    self.queue.enter(side.line, place);
                }
                if side.in_line {
                    break;
                }
                has_turn = false;
            }
            if !side.endpoint.poll_transmit(self.config, now, &mut self.segment) {
                break;
            }
            side.path.stamp(&mut host, &mut side.template, &self.segment);
            let taken = transmit(side, &self.segment, cx.net, cx.tracer);
            if small_queues && taken && self.segment.len > 0 {
                side.endpoint.leaves_at(now, cx.net.departure(side.nic), self.segment.len);
            }
        }
        // In line, it is called when it is its turn.
        let held = if small_queues && !side.in_line { side.endpoint.held_until() } else { Time::MAX };
        let timeout = side.endpoint.next_timeout().min(side.path.wakes_at());
        side.alarms.arm(place, timeout, held, &mut cx.net.queue);
        if !side.is_over && (side.endpoint.is_closed() || side.endpoint.is_aborted()) {
            side.is_over = true;
            let (number, at) = (side.end / 2, side.end as usize & 1);
            let flow = &cx.world.flows[number as usize];
            let aborted = side.endpoint.is_aborted();
            if aborted && cx.world.connections.last(number).is_some() {
                return self.messages.abort(Whose { flow: number, side: at }, cx.net, cx.world);
            }
            let news = if aborted { News::Aborted(number) } else { News::Closed(number, at) };
            cx.net.tell(node_of(cx.net, [flow.src, flow.dst][at]), news);
        }
    }
}

impl<P: PathSelector> Side<P> {
    /// Passes segments that the path selector kept back to TCP, if it releases them.
    #[inline(always)]
    fn take_released(&mut self, transport: &Config, now: Time, segment: &mut Segment) {
        while self.path.release(now, segment) {
            self.endpoint.on_segment(transport, now, segment);
        }
    }
}

/// Turns a segment into a packet and sends it from its host. Returns whether the interface accepted it.
#[inline(always)]
fn transmit<P, T: Tracer>(
    side: &mut Side<P>,
    segment: &Segment,
    net: &mut Network<'_>,
    tracer: &mut T,
) -> bool {
    let (owner, way) = side.following.of(segment, side.end ^ 1);
    let rider = Rider { way, ..Rider::default() };
    let packet = net.packets.packet_of(net.now, &side.template, owner, segment, rider);
    net.counters.packets_sent += 1;
    net.send(side.nic, packet, tracer)
}

impl<P: PathSelector> Hosts for Tcp<'_, P> {
    fn strand_bits(&self) -> u32 {
        1
    }

    fn open<T: Tracer>(&mut self, number: FlowNumber, cx: &mut Ctx<'_, '_, T>) {
        if cx.world.connections.last(number).is_some() {
            return self.open_shared(number, cx);
        }
        let flow = &cx.world.flows[number as usize];
        let mut client = Endpoint::connect(self.config, cx.net.now, initial_sequence(flow, 0));
        client.write(flow.bytes);
        client.close();
        let nic = cx.nics.nic(cx.net, flow, 0, None);
        let place = self.add(number * 2, client, nic, cx);
        tell_opened(cx.net, cx.world, number);
        self.pump(place, cx);
    }

    #[inline]
    fn deliver<T: Tracer>(&mut self, packet: PacketId, cx: &mut Ctx<'_, '_, T>) {
        let Some(end) = cx.net.packets.get(packet).endpoint() else { return };
        let Some(place) = self.place_for(end, cx) else {
            return cx.net.deliver(packet);
        };
        cx.net.packets.read_segment(packet, &mut self.segment);
        if cx.net.packets.get(packet).is_watched()
            && let Some(way) = cx.net.packets.way(packet)
        {
            let way = std::mem::take(way);
            let strand = Strand { flow: end / 2, subflow: 0 };
            cx.net.tell(node_of(cx.net, cx.world.flows[end as usize / 2].dst), News::Arrived(strand, way));
        }
        let side = &mut self.sides[place as usize];
        side.delays.count(cx.net.packets.age(packet, cx.net.now), &mut side.last);
        let shared = &mut self.shared[side.shared as usize];
        let mut host = Host { scheme: self.scheme, shared, now: cx.net.now };
        let is_kept = side.path.receive(&mut host, &cx.net.packets.get(packet).header, &self.segment);
        cx.net.deliver(packet);
        if !is_kept {
            side.endpoint.on_segment(self.config, cx.net.now, &self.segment);
        }
        side.take_released(self.config, cx.net.now, &mut self.segment);
        self.pump(place, cx);
    }

    fn has_space<T: Tracer>(&mut self, line: u32, cx: &mut Ctx<'_, '_, T>) {
        self.serve(line, cx);
    }

    fn timer<T: Tracer>(&mut self, place: u32, cx: &mut Ctx<'_, '_, T>) -> bool {
        let (side, now) = (&mut self.sides[place as usize], cx.net.now);
        if !side.alarms.take_due(now) {
            return false;
        }
        if side.endpoint.next_timeout() <= now {
            let before = side.endpoint.stats().timeouts;
            side.endpoint.on_timeout(self.config, now);
            if side.endpoint.stats().timeouts > before {
                let shared = &mut self.shared[side.shared as usize];
                side.path.timed_out(&mut Host { scheme: self.scheme, shared, now });
            }
        }
        side.take_released(self.config, now, &mut self.segment);
        self.pump(place, cx);
        true
    }

    fn watch(&mut self, flow: FlowNumber, _subflow: u8, world: &World<'_>) {
        if let Place::At(place) = world.places.get(world.connections.owner(flow), 0) {
            self.sides[place as usize].following.next = true;
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
        self.vacancies.leave(place, self.sides.len(), &mut net.queue);
        let this = &mut self.sides[place as usize];
        this.alarms = Alarms::default();
        if std::mem::take(&mut this.in_line) {
            self.queue.leave(this.line, place);
        }
        if last.is_some() {
            return shared;
        }
        let (tcp, delays) = (this.endpoint.stats(), this.delays);
        Some((SideReport { side, tcp, delays, ..SideReport::default() }, this.opened))
    }

    fn delivered(&self, flow: FlowNumber, world: &World<'_>) -> Option<u64> {
        let Place::At(place) = world.places.get(world.connections.owner(flow), 1) else { return None };
        let delivered = self.sides[place as usize].endpoint.delivered();
        match world.connections.last(flow) {
            None => Some(delivered),
            Some(_) => self.messages.progress(flow, delivered, world),
        }
    }

    fn repick(&mut self, cx: &mut Ctx<'_, '_, impl Tracer>) {
        self.paths.clear();
        // Classes of destinations may have new numbers: those of the ends that are there are entered again.
        self.shared_by.clear();
        let mut is_taken = vec![false; self.shared.len()];
        for place in 0..self.sides.len() {
            let end = self.sides[place].end;
            if cx.world.places.get(end / 2, end as usize & 1) != Place::At(place as u32) {
                continue;
            }
            let flow = &cx.world.flows[end as usize / 2];
            let hosts = hosts_of(end, flow);
            let nic = cx.nics.nic(cx.net, flow, end as usize & 1, None);
            let paths = self.paths_to(hosts.1, nic, cx.net, cx.nics);
            let is_new = self.sides[place].paths != paths;
            if P::shares(self.scheme)
                && self.share_again(place, sharing(hosts, nic, cx.net, cx.nics), &mut is_taken)
                && is_new
            {
                self.shared[self.sides[place].shared as usize] = P::Shared::default();
            }
            let shared = self.place_of_shared(hosts, nic, cx.net, cx.nics);
            let side = &mut self.sides[place];
            let line = self.queue.line(nic, &side.template, cx.net);
            if side.in_line {
                self.queue.change(place as u32, side.line, line, cx.net);
            }
            (side.nic, side.line, side.shared) = (nic, line, shared);
            if is_new {
                side.path.renew(Arc::clone(&paths));
                side.paths = paths;
            }
        }
        self.unshared.clear();
        for place in (1..is_taken.len()).filter(|place| !is_taken[*place]) {
            self.shared[place] = P::Shared::default();
            self.unshared.push(place as u32);
        }
    }

    fn memory(&self) -> usize {
        let paths = self.paths.values().map(|paths| size_of_val(&**paths)).sum::<usize>();
        let shared = self.shared.capacity() * size_of::<P::Shared>();
        self.sides.capacity() * size_of::<Side<P>>() + paths + shared
    }
}
