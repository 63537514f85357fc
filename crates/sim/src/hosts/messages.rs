//! [`Messages`]: the flows that follow each other on connections that stay open.
//!
//! Such a connection is one stream of bytes, or of numbered packets: positions count bytes or packets from its start, as the
//! protocol does. Its packets name the last message ([`Connections::last`](weft_traffic::Connections::last)). A message in
//! [`Parts`](weft_traffic::Parts) is written part by part, and feeds another one as its parts arrive.

use std::collections::{BTreeSet, HashMap, VecDeque};

use weft_traffic::Flow;
use weft_transport::Stats;
use weft_units::{PortId, Time};

use super::flow_end::{FlowEnd, NONE};
use super::places::Place;
use super::reports::{report, report_done, report_received};
use super::world::{World, node_of};
use crate::delays::Delays;
use crate::journal::{FlowNumber, News, SideReport};
use crate::network::Network;
use crate::timer::Timer;
use crate::timer_heap::Order;

/// A message on the stream.
struct Message {
    flow: FlowNumber,
    /// When it was written or, at the destination, when the one before it was complete.
    opened: Time,
    start: u64,
    end: u64,
}

/// A message, or a part of it, that is to be written.
pub struct Piece {
    /// Its size.
    pub bytes: u64,
    /// Whether the message begins with it.
    pub is_first: bool,
}

/// The first pending message of a destination, if it is in parts.
#[derive(Clone, Copy)]
struct Expected {
    /// The part that is incomplete, by its number.
    number: u32,
    /// The position after it; [`NONE`] if there is none.
    end: u64,
}

impl Expected {
    const NOTHING: Self = Self { number: 0, end: NONE };
}

/// One end of a connection.
struct Stream {
    /// Written or expected, and not complete.
    pending: VecDeque<Message>,
    /// The next message to write or to expect.
    next: Option<FlowNumber>,
    /// Messages that were to be written before their turn.
    early: BTreeSet<FlowNumber>,
    /// The message that is being written, and the number of its parts that are.
    writing: Option<(FlowNumber, u32)>,
    /// See there.
    expected: Expected,
    /// The end of the last message that was written or expected.
    end: u64,
    /// The counts of the complete messages.
    counted: Stats,
    /// Reports of complete messages, and when each was opened.
    complete: HashMap<FlowNumber, (SideReport, Time)>,
}

/// The ends of a partition. An end is that of the connection's last message.
pub struct Messages {
    streams: HashMap<FlowEnd, Stream>,
    /// How many parts of a message may be written, if that is not only the first one.
    allowed: HashMap<FlowNumber, u32>,
    /// Whether positions are packets rather than bytes.
    counts_packets: bool,
}

/// The counts of an end.
pub struct Counts<'a> {
    /// By the protocol.
    pub stats: Stats,
    /// Of the packets that it has received.
    pub delays: &'a mut Delays,
}

impl Messages {
    /// No connection yet, whose positions are packets or bytes.
    pub fn new(counts_packets: bool) -> Self {
        Self { streams: HashMap::new(), allowed: HashMap::new(), counts_packets }
    }

    /// How many positions a flow takes.
    pub fn size(&self, flow: &Flow, world: &World<'_>) -> u64 {
        let sizes = world.parts.sizes(flow.id.0, flow.bytes);
        sizes.map(|(bytes, count)| self.positions(flow, bytes, world) * count).sum()
    }

    /// How many positions a message of a flow takes.
    fn positions(&self, flow: &Flow, bytes: u64, world: &World<'_>) -> u64 {
        match self.counts_packets {
            true => world.framings.of_flow(flow).numbered_packets(bytes).0.into(),
            false => bytes,
        }
    }

    /// The end of a connection, which is new unless it is known.
    fn of(&mut self, owner: FlowEnd, world: &World<'_>) -> &mut Stream {
        self.streams.entry(owner).or_insert_with(|| Stream {
            pending: VecDeque::new(),
            next: Some(world.connections.first(owner.flow)),
            early: BTreeSet::new(),
            writing: None,
            expected: Expected::NOTHING,
            end: 0,
            counted: Stats::default(),
            complete: HashMap::new(),
        })
    }

    /// A source wants to send `flow`, a message that shares a connection. Returns the pieces to write now, in order: none if a
    /// message before it has yet to be written.
    pub fn write(&mut self, flow: FlowNumber, now: Time, world: &World<'_>) -> Vec<Piece> {
        let owner = FlowEnd { flow: world.connections.owner(flow), side: 0 };
        self.of(owner, world).early.insert(flow);
        self.pieces(owner, now, world)
    }

    /// A source may send one part more of `flow`. Returns the pieces to write now, in order.
    pub fn allow(&mut self, flow: FlowNumber, now: Time, world: &World<'_>) -> Vec<Piece> {
        *self.allowed.entry(flow).or_insert(1) += 1;
        self.pieces(FlowEnd { flow: world.connections.owner(flow), side: 0 }, now, world)
    }

    fn pieces(&mut self, owner: FlowEnd, now: Time, world: &World<'_>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        loop {
            let stream = self.of(owner, world);
            let Some((flow, written)) = stream.writing else {
                let Some(next) = stream.take_next() else { return pieces };
                stream.writing = Some((next, 0));
                self.push(owner, next, now, world);
                continue;
            };
            let Some(series) = world.parts.of(flow) else {
                stream.writing = None;
                let bytes = world.flows[flow as usize].bytes;
                pieces.push(Piece { bytes, is_first: true });
                continue;
            };
            let allowed = self.allowed.get(&flow).map_or(1, |allowed| series.count.min(*allowed));
            let piece = |number| Piece { bytes: series.size(number), is_first: number == 0 };
            pieces.extend((written..allowed).map(piece));
            let is_written = allowed == series.count;
            self.of(owner, world).writing = (!is_written).then_some((flow, allowed));
            if !is_written {
                return pieces;
            }
            self.allowed.remove(&flow);
        }
    }

    /// A destination waits for the next message, if there is one.
    pub fn expect(&mut self, owner: FlowEnd, now: Time, world: &World<'_>) {
        if let Some(next) = self.of(owner, world).next {
            let start = self.of(owner, world).end;
            let end = world
                .parts
                .of(next)
                .map(|series| start + self.positions(&world.flows[next as usize], series.size(0), world));
            self.push(owner, next, now, world);
            self.of(owner, world).expected = Expected { number: 0, end: end.unwrap_or(NONE) };
        }
    }

    fn push(&mut self, owner: FlowEnd, flow: FlowNumber, now: Time, world: &World<'_>) {
        let size = self.size(&world.flows[flow as usize], world);
        let stream = self.of(owner, world);
        let start = stream.end;
        stream.end += size;
        stream.pending.push_back(Message { flow, opened: now, start, end: stream.end });
        stream.next = world.connections.after(flow);
    }

    /// The position at which the first pending message, or its next part, is complete.
    pub fn awaited(&self, owner: FlowEnd) -> u64 {
        let Some(stream) = self.streams.get(&owner) else { return NONE };
        stream.pending.front().map_or(NONE, |message| message.end.min(stream.expected.end))
    }

    /// A destination has everything up to position `to`: lets the message that the first pending one feeds go on, for each part
    /// of that which is complete.
    fn feed(&mut self, owner: FlowEnd, to: u64, net: &mut Network<'_>, world: &World<'_>) {
        let Some(stream) = self.streams.get(&owner) else { return };
        let Some(flow) = stream.pending.front().map(|message| message.flow) else { return };
        let Some(series) = world.parts.of(flow) else { return };
        let Expected { mut number, mut end } = stream.expected;
        while end <= to {
            number += 1;
            if number == series.count {
                end = NONE;
                break;
            }
            end += self.positions(&world.flows[flow as usize], series.size(number), world);
            let nic = net.link_at(node_of(net, world.flows[series.feeds as usize].src), PortId(0));
            net.schedule(nic, Timer::Part(series.feeds), net.now + series.compute, Order::Scheduled);
        }
        self.of(owner, world).expected = Expected { number, end };
    }

    /// An end has everything, or knows that the other has it, up to position `to`: reports which messages are received or
    /// done. A destination then waits for the next one.
    pub fn reach(
        &mut self,
        owner: FlowEnd,
        to: u64,
        counts: &mut Counts<'_>,
        net: &mut Network<'_>,
        world: &World<'_>,
    ) {
        loop {
            if owner.side == 1 && !world.parts.is_empty() {
                self.feed(owner, to, net, world);
            }
            let stream = self.streams.get_mut(&owner);
            let Some(flow) = stream.and_then(|stream| stream.complete(owner, to, counts)) else { return };
            if owner.side == 0 {
                report_done(net, world, flow);
            } else {
                report_received(net, world, flow);
                self.expect(owner, net.now, world);
            }
        }
    }

    /// An end has given up: so do all messages that are not complete.
    pub fn abort(&mut self, owner: FlowEnd, net: &mut Network<'_>, world: &World<'_>) {
        let Some(stream) = self.streams.get_mut(&owner) else { return };
        for message in &stream.pending {
            report(net, world, FlowEnd { flow: message.flow, side: owner.side }, News::Aborted(message.flow));
        }
    }

    /// One side of a message leaves: its report, and when it was opened. `counts` are the connection's, if that is
    /// there; a message that is not complete has the counts since the last one that is.
    pub fn leave(
        &mut self,
        flow: FlowNumber,
        side: usize,
        counts: Option<Counts<'_>>,
        world: &World<'_>,
    ) -> Option<(SideReport, Time)> {
        let last = world.connections.owner(flow);
        let owner = FlowEnd { flow: last, side };
        if flow != last {
            world.places.set(flow, side, Place::Gone);
        }
        let stream = self.streams.get_mut(&owner)?;
        let report = stream.complete.remove(&flow).or_else(|| {
            let at = stream.pending.iter().position(|message| message.flow == flow)?;
            let message = stream.pending.remove(at)?;
            let report = match counts {
                Some(mut counts) if at == 0 => stream.report(side, &mut counts),
                _ => SideReport { side, ..SideReport::default() },
            };
            Some((report, message.opened))
        });
        if flow == last {
            self.streams.remove(&owner);
        }
        report
    }

    /// How far a destination that has everything up to position `to` is within message `flow`.
    pub fn progress(&self, flow: FlowNumber, to: u64, world: &World<'_>) -> Option<u64> {
        let stream = self.streams.get(&FlowEnd { flow: world.connections.owner(flow), side: 1 })?;
        let message = stream.pending.iter().find(|message| message.flow == flow)?;
        Some(to.min(message.end).saturating_sub(message.start))
    }
}

impl Stream {
    /// The next message, if its source wants to send it.
    fn take_next(&mut self) -> Option<FlowNumber> {
        self.next.filter(|next| self.early.remove(next))
    }

    /// Takes the first pending message if position `to` is not before its end.
    fn complete(&mut self, owner: FlowEnd, to: u64, counts: &mut Counts<'_>) -> Option<FlowNumber> {
        self.pending.front().filter(|message| message.end <= to)?;
        let message = self.pending.pop_front()?;
        let report = self.report(owner.side, counts);
        self.complete.insert(message.flow, (report, message.opened));
        Some(message.flow)
    }

    /// The counts since the last report.
    fn report(&mut self, side: usize, counts: &mut Counts<'_>) -> SideReport {
        let tcp = counts.stats.since(&self.counted);
        self.counted = counts.stats;
        SideReport { side, tcp, delays: std::mem::take(counts.delays), ..SideReport::default() }
    }
}
