//! [`Roce`]: hosts with RoCEv2 queue pairs.

use weft_switching::{Header, Kind};
use weft_traffic::Flow;
use weft_transport::roce::{
    Ack, AckKind, Config, CongestionControl, Data, Dcqcn, LossRecovery, Receiver, Sender,
};
use weft_units::{Bytes, HostId, Time};

use super::alarms::Alarms;
use super::context::Ctx;
use super::ends::{Ends, Whose, tell_done, tell_opened, tell_received, tell_way};
use super::following::Following;
use super::messages::{Messages, NONE};
use super::pacer::Wish;
use super::pacers::Pacers;
use super::places::Place;
use super::protocol::{Hosts, STRAND_BITS};
use super::round_trip::round_trip;
use super::tcp::template;
use super::world::World;
use crate::delays::{Delays, Last};
use crate::journal::{FlowNumber, SideReport, Strand};
use crate::network::Network;
use crate::packet::{Content, PacketId};
use crate::trace::Tracer;

/// Bytes of the IP packet of an acknowledgement: headers of IPv4 and UDP, base transport header, extended header,
/// invariant CRC.
const ACK_BYTES: u16 = 20 + 8 + 12 + 4 + 4;
/// DSCP and ECN of an acknowledgement: class selector 6.
const ACK_CLASS: u8 = 48 << 2;
/// In the first word of a packet's content: see [`Data`].
const ASKS: u32 = 1;
/// See there.
const REPEATED: u32 = 2;

/// One side of a flow.
enum Side {
    Sender(Box<Sending>),
    Receiver(Box<Receiving>),
}

/// The source.
struct Sending {
    sender: Sender,
    rate: Dcqcn,
    template: Header,
    nic: u32,
    /// The number of its link.
    link: u32,
    following: Following,
    alarms: Alarms,
    /// When its rate lets it send.
    next_at: Time,
    /// Whether it has a turn.
    has_turn: bool,
    /// The acknowledged packets that complete the flow or message; [`u64::MAX`] once it is told.
    awaits: u64,
}

/// The destination.
struct Receiving {
    receiver: Receiver,
    template: Header,
    nic: u32,
    /// The packets in order that complete the flow or message; [`u64::MAX`] once it is told.
    awaits: u64,
    delays: Delays,
    last: Last,
}

/// The sides of a partition.
pub struct Roce {
    config: Config,
    ends: Ends<Side>,
    links: Pacers,
    messages: Messages,
}

impl Roce {
    /// None yet.
    pub fn new(config: Config) -> Self {
        Self { config, ends: Ends::default(), links: Pacers::default(), messages: Messages::default() }
    }

    /// The most bytes that a flow may have in flight, if there is a limit.
    fn window(&self, flow: &Flow, nic: u32, cx: &Ctx<'_, '_, impl Tracer>) -> Option<u64> {
        match (self.config.window, self.config.loss_recovery) {
            (Bytes(0), LossRecovery::GoBackN) => None,
            (Bytes(0), LossRecovery::SelectiveRepeat) => {
                let time = round_trip(
                    cx.net,
                    cx.nics,
                    (flow, nic),
                    cx.world.framing.full_packet(),
                    ACK_BYTES.into(),
                );
                let bits =
                    u128::from(cx.net.rate(cx.net.id(nic)).bps()) * u128::from(time.ps()) / 1_000_000_000_000;
                Some((bits / 8) as u64)
            }
            (Bytes(most), _) => Some(most),
        }
    }

    /// Gives the source at `place` a turn if it has something to send, and sends what its link takes.
    fn wake<T: Tracer>(&mut self, place: u32, cx: &mut Ctx<'_, '_, T>) {
        let Some(end) = self.ends.at(place) else { return };
        let Side::Sender(this) = &mut end.state else { return };
        let link = this.link;
        if !this.has_turn && this.sender.peek().is_some() {
            this.has_turn = true;
            let turn = Wish { flow: end.whose.flow, place };
            self.links.at(link).add(turn, this.next_at, cx.net.now);
            self.serve(link, cx);
            return;
        }
        this.alarms.arm(place, this.sender.timeout_at(), Time::MAX, &mut cx.net.queue);
    }

    /// Sends the next packet of a link whose line is free.
    fn serve<T: Tracer>(&mut self, link: u32, cx: &mut Ctx<'_, '_, T>) {
        let nic = self.links.at(link).nic;
        loop {
            let free = cx.net.departure(nic).max(cx.net.now);
            let turns = self.links.at(link);
            if free > cx.net.now {
                return turns.arm(free, cx.net);
            }
            let Some(turn) = turns.take(cx.net.now) else { return turns.arm(free, cx.net) };
            let Some(end) = self.ends.at(turn.place).filter(|end| end.whose.flow == turn.flow) else {
                continue;
            };
            let Side::Sender(this) = &mut end.state else { continue };
            this.has_turn = false;
            if this.link != link {
                // Its host has chosen another link since.
                self.wake(turn.place, cx);
                continue;
            }
            if !cx.net.can_send(nic, this.template.traffic_class) {
                this.has_turn = true;
                self.links.at(link).pause(turn);
                continue;
            }
            this.send(&self.config, turn.flow, cx);
            this.alarms.arm(turn.place, this.sender.timeout_at(), Time::MAX, &mut cx.net.queue);
            if this.sender.peek().is_some() {
                this.has_turn = true;
                self.links.at(link).add(turn, this.next_at, cx.net.now);
            }
        }
    }

    /// An acknowledgement reaches the source at `place`.
    fn acknowledge<T: Tracer>(&mut self, place: u32, ack: Ack, cx: &mut Ctx<'_, '_, T>) {
        let Some(end) = self.ends.at(place) else { return };
        let (Side::Sender(this), whose) = (&mut end.state, end.whose) else { return };
        this.sender.acknowledge(&self.config, cx.net.now, ack);
        if ack.is_cnp {
            this.rate.notify(&self.config, cx.net.now);
        }
        let to = u64::from(this.sender.acknowledged());
        if to >= this.awaits {
            if cx.world.connections.last(whose.flow).is_some() {
                let counts = (*this.sender.stats(), &mut Delays::default());
                self.messages.acknowledged(whose, to, counts, cx.net, cx.world);
                this.awaits = self.messages.awaited(whose);
            } else {
                this.awaits = NONE;
                tell_done(cx.net, cx.world, whose.flow);
            }
        }
        self.wake(place, cx);
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
        let nic = cx.nics.nic(cx.net, flow, 0, None);
        let window = self.window(flow, nic, cx);
        let template = template(flow, 0);
        // ECT(0), if at all.
        let traffic_class = template.traffic_class | if self.config.is_ecn_capable() { 2 } else { 0 };
        let side = Side::Sender(Box::new(Sending {
            sender: Sender::new(&self.config, cx.world.flows[first as usize].bytes, window),
            rate: Dcqcn::new(cx.net.rate(cx.net.id(nic))),
            template: Header { kind: Kind::Other, traffic_class, ..template },
            nic,
            link: self.links.of(nic, cx.net),
            following: Following::new(true),
            alarms: Alarms::default(),
            next_at: cx.net.now,
            has_turn: false,
            awaits,
        }));
        self.ends.add(Whose { flow: number, side: 0 }, side, cx.net.now, cx.world)
    }

    /// Writes the messages whose turn it is to the queue pair that `number` shares.
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
            let Some(Side::Sender(this)) = self.ends.at(place).map(|end| &mut end.state) else { return };
            if cx.world.connections.continues(message) {
                this.sender.append(&self.config, cx.world.flows[message as usize].bytes);
            }
            this.awaits = awaits;
            this.following.next = true;
            self.wake(place, cx);
        }
    }

    /// Adds the destination of a flow; returns its place.
    fn listen(&mut self, whose: Whose, cx: &Ctx<'_, '_, impl Tracer>) -> u32 {
        let flow = &cx.world.flows[whose.flow as usize];
        let awaits = if cx.world.connections.last(whose.flow).is_some() {
            self.messages.expect(whose, cx.net.now, cx.world, |flow| packets(flow, cx.world));
            self.messages.awaited(whose)
        } else {
            packets(flow, cx.world)
        };
        let template =
            Header { kind: Kind::Other, traffic_class: ACK_CLASS, ip_bytes: ACK_BYTES, ..template(flow, 1) };
        let receiving = Receiving {
            receiver: Receiver::default(),
            template,
            nic: cx.nics.nic(cx.net, flow, 1, None),
            awaits,
            delays: Delays::default(),
            last: Last::default(),
        };
        self.ends.add(whose, Side::Receiver(Box::new(receiving)), cx.net.now, cx.world)
    }
}

/// The packets of a flow.
fn packets(flow: &Flow, world: &World<'_>) -> u64 {
    world.framing.numbered_packets(flow.bytes).0.into()
}

impl Sending {
    /// Sends the next packet, if there is one.
    fn send<T: Tracer>(&mut self, config: &Config, flow: FlowNumber, cx: &mut Ctx<'_, '_, T>) {
        let now = cx.net.now;
        let Some(data) = self.sender.take(config, now) else { return };
        let ip_bytes = cx.world.framing.headers as u16 + data.payload;
        let header = Header { payload: data.payload, ip_bytes, ..self.template };
        let (owner, way) = self.following.of_data(flow << STRAND_BITS | 1);
        let flags = if data.asks { ASKS } else { 0 } | if data.is_repeated { REPEATED } else { 0 };
        let content = Content { words: [data.psn, 0, 0, 0], note: flags };
        let packet = cx.net.packets.packet_with(now, &header, owner, content, way);
        let wire_bytes = cx.net.links.wire_bytes(self.nic, ip_bytes);
        self.next_at = now
            + match config.congestion_control {
                CongestionControl::Dcqcn => self.rate.gap(config, now, wire_bytes),
                CongestionControl::Off => cx.net.links.tx_time(self.nic, wire_bytes.into()),
            };
        self.rate.sent(config, now, wire_bytes);
        cx.net.counters.packets_sent += 1;
        cx.net.send(self.nic, packet, cx.tracer);
    }
}

impl Receiving {
    /// Sends an acknowledgement.
    fn answer<T: Tracer>(&self, flow: FlowNumber, ack: Ack, net: &mut Network<'_>, tracer: &mut T) {
        let (kind, arrived) = match ack.kind {
            AckKind::Plain => (0, 0),
            AckKind::Nack => (1, 0),
            AckKind::Selective(psn) => (2, psn),
        };
        let content = Content { words: [ack.next, kind, arrived, ack.is_cnp.into()], note: 0 };
        let owner = flow << STRAND_BITS;
        let packet = net.packets.packet_with(net.now, &self.template, owner, content, None);
        net.counters.packets_sent += 1;
        net.send(self.nic, packet, tracer);
    }
}

/// The acknowledgement that a packet carries.
fn ack_of(content: Content) -> Ack {
    let [next, kind, arrived, is_cnp] = content.words;
    let kind = match kind {
        0 => AckKind::Plain,
        1 => AckKind::Nack,
        _ => AckKind::Selective(arrived),
    };
    Ack { next, kind, is_cnp: is_cnp != 0 }
}

impl Hosts for Roce {
    fn open<T: Tracer>(&mut self, number: FlowNumber, cx: &mut Ctx<'_, '_, T>) {
        if cx.world.connections.last(number).is_some() {
            return self.open_shared(number, cx);
        }
        let awaits = packets(&cx.world.flows[number as usize], cx.world);
        let place = self.connect((number, number), awaits, cx);
        tell_opened(cx.net, cx.world, number);
        self.wake(place, cx);
    }

    fn deliver<T: Tracer>(&mut self, packet: PacketId, cx: &mut Ctx<'_, '_, T>) {
        let (Some(Strand { flow, .. }), Some(owner)) =
            (cx.net.strand(packet), cx.net.packets.get(packet).endpoint())
        else {
            return;
        };
        let whose = Whose { flow, side: owner as usize & 1 };
        let place = match cx.world.places.get(flow, whose.side) {
            Place::At(place) => place,
            Place::New if whose.side == 1 => self.listen(whose, cx),
            Place::New | Place::Gone => return cx.net.deliver(packet),
        };
        let (content, header) = (cx.net.packets.content(packet), cx.net.packets.get(packet).header);
        let age = cx.net.packets.age(packet, cx.net.now);
        tell_way(cx.net, cx.world, flow, packet);
        cx.net.deliver(packet);
        let Some(end) = self.ends.at(place) else { return };
        let Side::Receiver(this) = &mut end.state else {
            return self.acknowledge(place, ack_of(content), cx);
        };
        if header.is_trimmed() {
            // A switch has cut the data off: to these hosts, the packet is lost.
            return;
        }
        this.delays.count(age, &mut this.last);
        let (psn, flags) = (content.words[0], content.note);
        let (asks, is_repeated) = (flags & ASKS != 0, flags & REPEATED != 0);
        let data = Data { psn, payload: header.payload, asks, is_repeated };
        let is_marked = header.traffic_class & Header::CE == Header::CE;
        if let Some(ack) = this.receiver.receive(&self.config, cx.net.now, data, is_marked) {
            this.answer(flow, ack, cx.net, cx.tracer);
        }
        let to = u64::from(this.receiver.in_order());
        if to >= this.awaits {
            if cx.world.connections.last(flow).is_some() {
                let counts = (*this.receiver.stats(), &mut this.delays);
                self.messages.received(whose, to, counts, |flow| packets(flow, cx.world), cx.net, cx.world);
                this.awaits = self.messages.awaited(whose);
            } else {
                this.awaits = NONE;
                tell_received(cx.net, cx.world, flow);
            }
        }
    }

    fn timer<T: Tracer>(&mut self, place: u32, cx: &mut Ctx<'_, '_, T>) -> bool {
        let now = cx.net.now;
        let Some(end) = self.ends.at(place) else { return false };
        let Side::Sender(this) = &mut end.state else { return false };
        if !this.alarms.take_due(now) {
            return false;
        }
        this.sender.time_out(&self.config, now);
        self.wake(place, cx);
        true
    }

    fn paces(&self) -> bool {
        true
    }

    #[inline]
    fn turn<T: Tracer>(&mut self, link: u32, cx: &mut Ctx<'_, '_, T>) {
        self.serve(link, cx);
        let turns = self.links.at(link);
        turns.arm_again(cx.net.departure(turns.nic), cx.net);
    }

    fn resumed<T: Tracer>(&mut self, _host: HostId, nic: u32, cx: &mut Ctx<'_, '_, T>) {
        if let Some(link) = self.links.get(nic) {
            self.links.at(link).resume();
            self.serve(link, cx);
        }
    }

    fn watch(&mut self, flow: FlowNumber, _subflow: u8, world: &World<'_>) {
        let flow = world.connections.owner(flow);
        if let Some(end) = self.ends.of_mut(Whose { flow, side: 0 }, world)
            && let Side::Sender(this) = &mut end.state
        {
            this.following.next = true;
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
                Side::Sender(this) => (*this.sender.stats(), &mut none),
                Side::Receiver(this) => (*this.receiver.stats(), &mut this.delays),
            });
            self.messages.leave(flow, side, counts, world)
        });
        if last.is_some_and(|last| last != flow) {
            return shared;
        }
        let left = self.ends.leave(Whose { flow, side }, net, world, |side| match side {
            Side::Sender(this) => (*this.sender.stats(), Delays::default()),
            Side::Receiver(this) => (*this.receiver.stats(), this.delays),
        });
        if last.is_some() { shared } else { left }
    }

    fn delivered(&self, flow: FlowNumber, world: &World<'_>) -> Option<u64> {
        let whose = Whose { flow: world.connections.owner(flow), side: 1 };
        let Side::Receiver(this) = &self.ends.of(whose, world)?.state else { return None };
        let to = u64::from(this.receiver.in_order());
        let packets = match world.connections.last(flow) {
            None => to,
            Some(_) => self.messages.progress(flow, to, world)?,
        };
        let bytes = packets * u64::from(self.config.mtu);
        Some(bytes.min(world.flows[flow as usize].bytes))
    }

    fn repick(&mut self, cx: &mut Ctx<'_, '_, impl Tracer>) {
        for end in self.ends.all() {
            let nic = cx.nics.nic(cx.net, &cx.world.flows[end.whose.flow as usize], end.whose.side, None);
            match &mut end.state {
                Side::Sender(this) => (this.nic, this.link) = (nic, self.links.of(nic, cx.net)),
                Side::Receiver(this) => this.nic = nic,
            }
        }
    }

    fn memory(&self) -> usize {
        let ends = self.ends.memory(|side| match side {
            Side::Sender(this) => size_of::<Sending>() + this.sender.heap_bytes(),
            Side::Receiver(this) => size_of::<Receiving>() + this.receiver.heap_bytes(),
        });
        ends + self.links.memory()
    }
}
