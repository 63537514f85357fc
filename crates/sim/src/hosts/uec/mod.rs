//! [`Uec`]: hosts with Ultra Ethernet transport.
//!
//! A packet is made when the host's link is free ([`Pacers`]), with the path that the latest answers recommend.

mod format;

use rand_core::RngCore;
use weft_switching::{Header, Kind, pick, stream};
use weft_traffic::Flow;
use weft_transport::uec::{Config, Receiver, Sender};
use weft_units::{HostId, Time};

use super::alarms::Alarms;
use super::context::Ctx;
use super::ends::{Ends, Whose, tell_done, tell_opened, tell_received, tell_way};
use super::following::Following;
use super::messages::{Messages, NONE};
use super::pacer::Wish;
use super::pacers::Pacers;
use super::places::Place;
use super::protocol::{Hosts, STRAND_BITS};
use super::tcp::template;
use super::world::World;
use crate::delays::{Delays, Last};
use crate::journal::{FlowNumber, SideReport, Strand};
use crate::network::Network;
use crate::packet::{PacketId, prefetch};
use crate::trace::Tracer;

/// One side of a flow.
#[expect(clippy::large_enum_variant, reason = "each packet reads it: no pointer to follow")]
enum Side {
    Source(Source),
    Destination(Destination),
}

/// The source.
struct Source {
    sender: Sender,
    template: Header,
    nic: u32,
    /// The number of its link's pacer.
    pacer: u32,
    is_waiting: bool,
    /// The packets that complete the flow or message once they have arrived; [`u64::MAX`] once that is told.
    awaits: u64,
    following: Following,
    alarms: Alarms,
}

impl Source {
    /// Has the end at `place` woken when a packet may be overdue. A pending event is never too late: packets sent since are
    /// due later, and when it comes it is set again.
    #[inline]
    fn watch(&mut self, place: u32, config: &Config, net: &mut Network<'_>) {
        if !self.alarms.has_timeout() {
            self.alarms.arm(place, self.sender.deadline(config), Time::MAX, &mut net.queue);
        }
    }
}

/// The destination.
struct Destination {
    receiver: Receiver,
    template: Header,
    nic: u32,
    /// The entropy value of its next answer.
    entropy: u16,
    /// The packets in order that complete the flow or message; [`u64::MAX`] once that is told.
    awaits: u64,
    delays: Delays,
    last: Last,
}

/// The sides of a partition.
pub struct Uec {
    config: Config,
    ends: Ends<Side>,
    pacers: Pacers,
    messages: Messages,
}

impl Uec {
    /// None yet.
    pub fn new(config: Config) -> Self {
        Self { config, ends: Ends::default(), pacers: Pacers::default(), messages: Messages::default() }
    }

    /// The source at `place` may have something to send, has finished, or has another deadline.
    fn pump<T: Tracer>(&mut self, place: u32, cx: &mut Ctx<'_, '_, T>) {
        let Some(end) = self.ends.at(place) else { return };
        let Side::Source(source) = &mut end.state else { return };
        let to = u64::from(source.sender.cumulative());
        if to >= source.awaits {
            if cx.world.connections.last(end.whose.flow).is_some() {
                let counts = (*source.sender.stats(), &mut Delays::default());
                self.messages.acknowledged(end.whose, to, counts, cx.net, cx.world);
                source.awaits = self.messages.awaited(end.whose);
            } else {
                source.awaits = NONE;
                tell_done(cx.net, cx.world, end.whose.flow);
            }
        }
        if !source.is_waiting && source.sender.can_send(&self.config) {
            source.is_waiting = true;
            let wish = Wish { flow: end.whose.flow, place };
            self.pacers.at(source.pacer).add(wish, cx.net.now, cx.net.now);
        }
        source.watch(place, &self.config, cx.net);
        let pacer = source.pacer;
        self.serve(pacer, cx.net, cx.tracer);
    }

    /// Sends a packet of each source that waits for a link, in turn, as long as the link is free.
    fn serve<T: Tracer>(&mut self, number: u32, net: &mut Network<'_>, tracer: &mut T) {
        let now = net.now;
        loop {
            let pacer = self.pacers.at(number);
            let free = net.departure(pacer.nic);
            if free > now {
                return pacer.arm(free, net);
            }
            let Some(wish) = pacer.take(now) else { return };
            let Some(end) = self.ends.at(wish.place).filter(|end| end.whose.flow == wish.flow) else {
                continue;
            };
            let Side::Source(source) = &mut end.state else { continue };
            if source.pacer != number {
                // Its host has chosen another link since.
                let other = source.pacer;
                self.pacers.at(other).add(wish, now, now);
                self.serve(other, net, tracer);
                continue;
            }
            if !net.can_send(source.nic, source.template.traffic_class) {
                self.pacers.at(number).pause(wish);
                continue;
            }
            source.is_waiting = false;
            let Some(data) = source.sender.send(&self.config, now) else { continue };
            let (header, content) = format::of_data(&source.template, &self.config, &data);
            let (owner, way) = source.following.of_data(wish.flow << STRAND_BITS | 1);
            let packet = net.packets.packet_with(now, &header, owner, content, way);
            net.counters.packets_sent += 1;
            net.send(source.nic, packet, tracer);
            if source.sender.can_send(&self.config) {
                source.is_waiting = true;
                self.pacers.at(number).add(wish, now, now);
            }
            source.watch(wish.place, &self.config, net);
        }
    }

    /// Adds the destination of a flow; returns its place.
    #[cold]
    fn listen(&mut self, number: FlowNumber, cx: &Ctx<'_, '_, impl Tracer>) -> u32 {
        let flow = &cx.world.flows[number as usize];
        let whose = Whose { flow: number, side: 1 };
        let template = Header { kind: Kind::Other, ..template(flow, 1) };
        let (receiver, awaits) = match cx.world.connections.last(number) {
            None => (Receiver::new(&self.config, flow.bytes), packets(flow, cx.world)),
            Some(last) => {
                let first = cx.world.connections.first(last);
                let mut receiver = Receiver::new(&self.config, cx.world.flows[first as usize].bytes);
                for message in cx.world.connections.messages(first).skip(1) {
                    receiver.append(&self.config, cx.world.flows[message as usize].bytes);
                }
                self.messages.expect(whose, cx.net.now, cx.world, |flow| packets(flow, cx.world));
                (receiver, self.messages.awaited(whose))
            }
        };
        let side = Side::Destination(Destination {
            receiver,
            entropy: pick(u64::from(template.flow_hash) << 32, self.config.entropies.into()) as u16,
            template,
            nic: cx.nics.nic(cx.net, flow, 1, None),
            awaits,
            delays: Delays::default(),
            last: Last::default(),
        });
        self.ends.add(whose, side, cx.net.now, cx.world)
    }

    /// Adds the source of a flow, or of the connection whose last message it is: its first message is `first`, complete with
    /// `awaits` packets. Returns its place.
    fn connect(
        &mut self,
        (number, first): (FlowNumber, FlowNumber),
        awaits: u64,
        cx: &Ctx<'_, '_, impl Tracer>,
    ) -> u32 {
        let flow = &cx.world.flows[number as usize];
        let bytes = cx.world.flows[first as usize].bytes;
        let nic = cx.nics.nic(cx.net, flow, 0, None);
        let random = stream(cx.world.seed, "uec", number.into()).next_u64();
        let side = Side::Source(Source {
            sender: Sender::new(&self.config, bytes, cx.net.rate(cx.net.id(nic)), random),
            template: Header { kind: Kind::Other, ..template(flow, 0) },
            nic,
            pacer: self.pacers.of(nic, cx.net),
            is_waiting: false,
            awaits,
            following: Following::new(true),
            alarms: Alarms::default(),
        });
        self.ends.add(Whose { flow: number, side: 0 }, side, cx.net.now, cx.world)
    }

    /// Writes the messages whose turn it is to the connection that `number` shares.
    #[cold]
    fn open_shared<T: Tracer>(&mut self, number: FlowNumber, cx: &mut Ctx<'_, '_, T>) {
        tell_opened(cx.net, cx.world, number);
        let whose = Whose { flow: cx.world.connections.owner(number), side: 0 };
        for message in self.messages.write(number, cx.net.now, cx.world, |flow| packets(flow, cx.world)) {
            let awaits = self.messages.awaited(whose);
            let place = match cx.world.places.get(whose.flow, 0) {
                Place::At(place) => place,
                Place::New => self.connect((whose.flow, message), awaits, cx),
                Place::Gone => return,
            };
            let Some(Side::Source(source)) = self.ends.at(place).map(|end| &mut end.state) else { return };
            if cx.world.connections.continues(message) {
                source.sender.append(&self.config, cx.world.flows[message as usize].bytes);
            }
            source.awaits = awaits;
            source.following.next = true;
            self.pump(place, cx);
        }
    }
}

/// The packets of a flow.
fn packets(flow: &Flow, world: &World<'_>) -> u64 {
    world.framing.numbered_packets(flow.bytes).0.into()
}

impl Hosts for Uec {
    fn open<T: Tracer>(&mut self, number: FlowNumber, cx: &mut Ctx<'_, '_, T>) {
        if cx.world.connections.last(number).is_some() {
            return self.open_shared(number, cx);
        }
        let awaits = packets(&cx.world.flows[number as usize], cx.world);
        let place = self.connect((number, number), awaits, cx);
        tell_opened(cx.net, cx.world, number);
        self.pump(place, cx);
    }

    fn deliver<T: Tracer>(&mut self, packet: PacketId, cx: &mut Ctx<'_, '_, T>) {
        let (Some(Strand { flow, .. }), Some(end)) =
            (cx.net.strand(packet), cx.net.packets.get(packet).endpoint())
        else {
            return;
        };
        let place = match cx.world.places.get(flow, end as usize & 1) {
            Place::At(place) => place,
            Place::New if end & 1 == 1 => self.listen(flow, cx),
            Place::New | Place::Gone => return cx.net.deliver(packet),
        };
        let content = cx.net.packets.content(packet);
        let header = cx.net.packets.get(packet).header;
        let (age, now) = (cx.net.packets.age(packet, cx.net.now), cx.net.now);
        tell_way(cx.net, cx.world, flow, packet);
        cx.net.deliver(packet);
        let Some(end) = self.ends.at(place) else { return };
        let whose = end.whose;
        match &mut end.state {
            Side::Source(source) => {
                source.sender.receive(&self.config, &format::answer(&content), now);
                self.pump(place, cx);
            }
            Side::Destination(this) => {
                let is_marked = header.traffic_class & Header::CE == Header::CE;
                let is_trimmed = header.is_trimmed();
                if !is_trimmed {
                    this.delays.count(age, &mut this.last);
                }
                let data = format::data(&header, &content);
                let answer = this.receiver.receive(&self.config, &data, is_marked, is_trimmed);
                if let Some(answer) = answer {
                    let (header, content) = format::of_answer(&this.template, this.entropy, &answer);
                    this.entropy = (this.entropy + 1) % self.config.entropies;
                    let owner = flow << STRAND_BITS;
                    let packet = cx.net.packets.packet_with(now, &header, owner, content, None);
                    cx.net.counters.packets_sent += 1;
                    cx.net.send(this.nic, packet, cx.tracer);
                }
                let to = u64::from(this.receiver.in_order());
                if to >= this.awaits {
                    if cx.world.connections.last(flow).is_some() {
                        let counts = (*this.receiver.stats(), &mut this.delays);
                        let size = |flow: &Flow| packets(flow, cx.world);
                        self.messages.received(whose, to, counts, size, cx.net, cx.world);
                        this.awaits = self.messages.awaited(whose);
                    } else {
                        this.awaits = NONE;
                        tell_received(cx.net, cx.world, flow);
                    }
                }
            }
        }
    }

    fn timer<T: Tracer>(&mut self, place: u32, cx: &mut Ctx<'_, '_, T>) -> bool {
        let now = cx.net.now;
        let Some(end) = self.ends.at(place) else { return false };
        let Side::Source(source) = &mut end.state else { return false };
        if !source.alarms.take_due(now) {
            return false;
        }
        source.sender.time_out(&self.config, now);
        self.pump(place, cx);
        true
    }

    fn paces(&self) -> bool {
        true
    }

    #[inline]
    fn foresee_turn(&self, number: u32, place: u32, is_near: bool) {
        if !is_near {
            self.pacers.prefetch(number);
            self.ends.prefetch(place);
        } else if let Some(Side::Source(source)) = self.ends.look_at(place) {
            prefetch(source.sender.tail());
        }
    }

    #[inline]
    fn foresee_packet(&self, packet: PacketId, net: &Network<'_>, world: &World<'_>) {
        if let (Some(Strand { flow, .. }), Some(end)) =
            (net.strand(packet), net.packets.get(packet).endpoint())
            && let Place::At(place) = world.places.get(flow, end as usize & 1)
        {
            self.ends.prefetch(place);
        }
    }

    #[inline]
    fn turn<T: Tracer>(&mut self, number: u32, cx: &mut Ctx<'_, '_, T>) {
        self.serve(number, cx.net, cx.tracer);
        let pacer = self.pacers.at(number);
        pacer.arm_again(cx.net.departure(pacer.nic), cx.net);
    }

    fn resumed<T: Tracer>(&mut self, _host: HostId, nic: u32, cx: &mut Ctx<'_, '_, T>) {
        if let Some(number) = self.pacers.get(nic) {
            self.pacers.at(number).resume();
            self.serve(number, cx.net, cx.tracer);
        }
    }

    fn watch(&mut self, flow: FlowNumber, _subflow: u8, world: &World<'_>) {
        let flow = world.connections.owner(flow);
        if let Some(end) = self.ends.of_mut(Whose { flow, side: 0 }, world)
            && let Side::Source(source) = &mut end.state
        {
            source.following.next = true;
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
        let shared = last.and_then(|last| {
            let end = self.ends.of_mut(Whose { flow: last, side }, world);
            let mut none = Delays::default();
            let counts = end.map(|end| match &mut end.state {
                Side::Source(source) => (*source.sender.stats(), &mut none),
                Side::Destination(this) => (*this.receiver.stats(), &mut this.delays),
            });
            self.messages.leave(flow, side, counts, world)
        });
        if last.is_some_and(|last| last != flow) {
            return shared;
        }
        let left = self.ends.leave(Whose { flow, side }, net, world, |side| match side {
            Side::Source(source) => (*source.sender.stats(), Delays::default()),
            Side::Destination(this) => (*this.receiver.stats(), this.delays),
        });
        if last.is_some() { shared } else { left }
    }

    fn delivered(&self, flow: FlowNumber, world: &World<'_>) -> Option<u64> {
        let whose = Whose { flow: world.connections.owner(flow), side: 1 };
        let Side::Destination(this) = &self.ends.of(whose, world)?.state else { return None };
        if world.connections.last(flow).is_none() {
            return Some(this.receiver.received());
        }
        let packets = self.messages.progress(flow, this.receiver.in_order().into(), world)?;
        Some((packets * u64::from(self.config.mtu)).min(world.flows[flow as usize].bytes))
    }

    fn repick(&mut self, cx: &mut Ctx<'_, '_, impl Tracer>) {
        for end in self.ends.all() {
            let flow = &cx.world.flows[end.whose.flow as usize];
            let nic = cx.nics.nic(cx.net, flow, end.whose.side, None);
            match &mut end.state {
                Side::Source(source) => (source.nic, source.pacer) = (nic, self.pacers.of(nic, cx.net)),
                Side::Destination(this) => this.nic = nic,
            }
        }
    }

    fn memory(&self) -> usize {
        self.pacers.memory()
            + self.ends.memory(|side| match side {
                Side::Source(source) => source.sender.memory(),
                Side::Destination(this) => this.receiver.memory(),
            })
    }
}
