//! [`Udp`]: hosts that send datagrams.
//!
//! Only the source knows when a flow has ended of which some datagrams are missing: the last one was sent, and the time in
//! which it might still arrive is over.

use rand_core::RngCore;
use weft_switching::{Header, Kind, Stream, stream};
use weft_transport::Stats;
use weft_transport::udp::{Config, Datagram, Sink, Source};
use weft_units::Time;

use super::alarms::Alarms;
use super::context::Ctx;
use super::ends::{Ends, Whose, tell, tell_done, tell_opened, tell_received, tell_way};
use super::following::Following;
use super::host_queue::HostQueue;
use super::places::Place;
use super::protocol::{Hosts, STRAND_BITS};
use super::tcp::template;
use super::world::World;
use crate::delays::{Delays, Last};
use crate::journal::{FlowNumber, News, SideReport, Strand};
use crate::network::Network;
use crate::packet::{Content, PacketId};
use crate::trace::Tracer;

/// One side of a flow.
enum Side {
    Source(Box<Sending>),
    Sink(Receiving),
}

/// The source.
struct Sending {
    source: Source,
    random: Stream,
    template: Header,
    nic: u32,
    /// The number of the line for that link.
    line: u32,
    following: Following,
    alarms: Alarms,
    /// Whether it waits in that line.
    in_line: bool,
    /// When the flow ends, if it has not by then; [`Time::MAX`] until all is sent.
    ends_at: Time,
    stats: Stats,
}

/// The destination.
#[derive(Default)]
struct Receiving {
    sink: Sink,
    has_all: bool,
    delays: Delays,
    last: Last,
}

/// The sides of a partition.
pub struct Udp {
    config: Config,
    queue: HostQueue,
    ends: Ends<Side>,
}

/// A number from 0 to below 1.
fn uniform(random: &mut Stream) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

impl Udp {
    /// None yet, at hosts with interfaces of this queue.
    pub fn new(config: Config, queue: HostQueue) -> Self {
        Self { config, queue, ends: Ends::default() }
    }

    /// Sends what is due.
    fn pump<T: Tracer>(&mut self, place: u32, cx: &mut Ctx<'_, '_, T>) {
        if let Some(line) = self.send(place, false, cx)
            && self.queue.has_waiting()
        {
            self.serve(line, cx);
        }
    }

    /// Lets the sources in this line send a datagram each, as long as there is space.
    fn serve<T: Tracer>(&mut self, line: u32, cx: &mut Ctx<'_, '_, T>) {
        while let Some(place) = self.queue.next(line, cx.net) {
            self.send(place, true, cx);
        }
        self.queue.call(line, cx.net);
    }

    /// Sends what is due at the source at `place`, or one datagram if it is its turn; returns the number of its line.
    fn send<T: Tracer>(&mut self, place: u32, is_its_turn: bool, cx: &mut Ctx<'_, '_, T>) -> Option<u32> {
        let now = cx.net.now;
        let end = self.ends.at(place)?;
        let (Side::Source(this), whose) = (&mut end.state, end.whose) else { return None };
        let mut has_turn = is_its_turn;
        this.in_line &= !is_its_turn;
        let owner = whose.flow << STRAND_BITS | 1;
        while this.source.next_at().is_some_and(|at| at <= now) {
            if self.queue.is_limited() && !has_turn && !this.in_line && !self.queue.is_free(this.line, cx.net)
            {
                this.in_line = true;
                self.queue.enter(this.line, place);
            }
            if this.in_line {
                return Some(this.line);
            }
            has_turn = false;
            let random = &mut this.random;
            let Datagram { number, payload } = this.source.take(&self.config, &mut || uniform(random));
            let ip_bytes = cx.world.framing.headers as u16 + payload;
            let header = Header { payload, ip_bytes, ..this.template };
            let (owner, way) = this.following.of_data(owner);
            let content = Content { words: [number, 0, 0, 0], note: 0 };
            let packet = cx.net.packets.packet_with(now, &header, owner, content, way);
            this.stats.data_segments_sent += 1;
            cx.net.counters.packets_sent += 1;
            cx.net.send(this.nic, packet, cx.tracer);
            if this.source.next_at().is_none() {
                this.ends_at = now + self.config.linger;
                tell_done(cx.net, cx.world, whose.flow);
            }
        }
        let next = this.source.next_at().unwrap_or(this.ends_at);
        this.alarms.arm(place, next, Time::MAX, &mut cx.net.queue);
        Some(this.line)
    }
}

impl Hosts for Udp {
    fn open<T: Tracer>(&mut self, number: FlowNumber, cx: &mut Ctx<'_, '_, T>) {
        let flow = &cx.world.flows[number as usize];
        let mut random = stream(cx.world.seed, "udp", number.into());
        let source = Source::new(&self.config, flow.bytes, cx.net.now, &mut || uniform(&mut random));
        let template = Header { kind: Kind::Other, ..template(flow, 0) };
        let nic = cx.nics.nic(cx.net, flow, 0, None);
        let side = Side::Source(Box::new(Sending {
            source,
            random,
            template,
            nic,
            line: self.queue.line(nic, &template, cx.net),
            following: Following::new(true),
            alarms: Alarms::default(),
            in_line: false,
            ends_at: Time::MAX,
            stats: Stats::default(),
        }));
        let place = self.ends.add(Whose { flow: number, side: 0 }, side, cx.net.now, cx.world);
        tell_opened(cx.net, cx.world, number);
        self.pump(place, cx);
    }

    fn deliver<T: Tracer>(&mut self, packet: PacketId, cx: &mut Ctx<'_, '_, T>) {
        let Some(Strand { flow, .. }) = cx.net.strand(packet) else { return };
        let place = match cx.world.places.get(flow, 1) {
            Place::At(place) => place,
            Place::New => {
                let side = Side::Sink(Receiving::default());
                self.ends.add(Whose { flow, side: 1 }, side, cx.net.now, cx.world)
            }
            Place::Gone => return cx.net.deliver(packet),
        };
        let Some(end) = self.ends.at(place) else { return cx.net.deliver(packet) };
        let Side::Sink(this) = &mut end.state else { return cx.net.deliver(packet) };
        let header = cx.net.packets.get(packet).header;
        let [number, ..] = cx.net.packets.content(packet).words;
        // A datagram whose payload a switch has cut off is a lost one to these hosts.
        if !header.is_trimmed() {
            this.delays.count(cx.net.packets.age(packet, cx.net.now), &mut this.last);
            let is_marked = header.traffic_class & Header::CE == Header::CE;
            this.sink.receive(Datagram { number, payload: header.payload }, is_marked);
        }
        tell_way(cx.net, cx.world, flow, packet);
        cx.net.deliver(packet);
        if !this.has_all && this.sink.delivered() >= cx.world.flows[flow as usize].bytes {
            this.has_all = true;
            tell_received(cx.net, cx.world, flow);
        }
    }

    fn has_space<T: Tracer>(&mut self, line: u32, cx: &mut Ctx<'_, '_, T>) {
        self.serve(line, cx);
    }

    fn timer<T: Tracer>(&mut self, place: u32, cx: &mut Ctx<'_, '_, T>) -> bool {
        let now = cx.net.now;
        let Some(end) = self.ends.at(place) else { return false };
        let (Side::Source(this), whose) = (&mut end.state, end.whose) else { return false };
        if !this.alarms.take_due(now) {
            return false;
        }
        if this.ends_at <= now {
            this.ends_at = Time::MAX;
            tell(cx.net, cx.world, whose, News::Aborted(whose.flow));
        }
        self.pump(place, cx);
        true
    }

    fn watch(&mut self, flow: FlowNumber, _subflow: u8, world: &World<'_>) {
        if let Some(end) = self.ends.of_mut(Whose { flow, side: 0 }, world)
            && let Side::Source(this) = &mut end.state
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
        self.ends.leave(Whose { flow, side }, net, world, |side| match side {
            Side::Source(this) => (this.stats, Delays::default()),
            Side::Sink(this) => (*this.sink.stats(), this.delays),
        })
    }

    fn delivered(&self, flow: FlowNumber, world: &World<'_>) -> Option<u64> {
        match &self.ends.of(Whose { flow, side: 1 }, world)?.state {
            Side::Sink(this) => Some(this.sink.delivered()),
            Side::Source(_) => None,
        }
    }

    fn repick(&mut self, cx: &mut Ctx<'_, '_, impl Tracer>) {
        for end in self.ends.all() {
            if let Side::Source(this) = &mut end.state {
                this.nic = cx.nics.nic(cx.net, &cx.world.flows[end.whose.flow as usize], 0, None);
                let line = self.queue.line(this.nic, &this.template, cx.net);
                if this.in_line
                    && let Place::At(place) = cx.world.places.get(end.whose.flow, 0)
                {
                    self.queue.change(place, this.line, line, cx.net);
                }
                this.line = line;
            }
        }
    }

    fn memory(&self) -> usize {
        self.ends.memory(|side| match side {
            Side::Source(_) => size_of::<Sending>(),
            Side::Sink(this) => this.sink.heap_bytes(),
        })
    }
}
