//! [`Stream`]: one end of a connection that stays open, on which flows follow each other.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use weft_traffic::Flow;
use weft_transport::Stats;
use weft_units::{PortId, Time};

use super::flow_end::NONE;
use super::world::{World, node_of};
use crate::delays::Delays;
use crate::journal::{FlowNumber, SideReport};
use crate::network::Network;
use crate::timer::Timer;
use crate::timer_heap::Order;

/// The unit of the positions on a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Bytes.
    Byte,
    /// Numbered packets.
    Packet,
}

impl Unit {
    /// How many positions a message of a flow takes.
    fn of(self, flow: &Flow, bytes: u64, world: &World<'_>) -> u64 {
        match self {
            Self::Packet => world.framings.of_flow(flow).numbered_packets(bytes).0.into(),
            Self::Byte => bytes,
        }
    }

    /// How many positions a flow takes.
    pub fn of_flow(self, flow: &Flow, world: &World<'_>) -> u64 {
        let sizes = world.parts.sizes(flow.id.0, flow.bytes);
        sizes.map(|(bytes, count)| self.of(flow, bytes, world) * count).sum()
    }
}

/// A message on the stream.
pub struct Message {
    /// Its flow.
    pub flow: FlowNumber,
    /// When it was written or, at the destination, when the one before it was complete.
    pub opened: Time,
    /// Its first position.
    pub start: u64,
    /// The position after it.
    pub end: u64,
}

/// A message, or a part of it, that is to be written.
pub struct Piece {
    /// Its size.
    pub bytes: u64,
    /// Whether the message begins with it.
    pub is_first: bool,
}

/// A message that is being written.
#[derive(Clone, Copy)]
struct Writing {
    flow: FlowNumber,
    /// Its parts that are written, and that may be.
    written: u32,
    allowed: u32,
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

/// The counts of an end.
pub struct Counts<'a> {
    /// By the protocol.
    pub stats: Stats,
    /// Of the packets that it has received.
    pub delays: &'a mut Delays,
}

/// One end of a connection.
pub struct Stream {
    /// Written or expected, and not complete.
    pub pending: VecDeque<Message>,
    /// The next message to write or to expect.
    next: Option<FlowNumber>,
    /// Messages that were to be written before their turn.
    early: BTreeSet<FlowNumber>,
    /// The parts that may be written of messages before their turn, if that is not only the first one.
    allowed: BTreeMap<FlowNumber, u32>,
    writing: Option<Writing>,
    expected: Expected,
    /// The end of the last message that was written or expected.
    end: u64,
    /// The counts of the complete messages.
    counted: Stats,
    /// Reports of complete messages, and when each was opened.
    pub complete: HashMap<FlowNumber, (SideReport, Time)>,
}

impl Stream {
    /// An end of a connection whose first message is `first`.
    pub fn new(first: FlowNumber) -> Self {
        Self {
            pending: VecDeque::new(),
            next: Some(first),
            early: BTreeSet::new(),
            allowed: BTreeMap::new(),
            writing: None,
            expected: Expected::NOTHING,
            end: 0,
            counted: Stats::default(),
            complete: HashMap::new(),
        }
    }

    /// The source wants to send `flow`.
    pub fn want(&mut self, flow: FlowNumber) {
        self.early.insert(flow);
    }

    /// The source may send one part more of `flow`.
    #[inline]
    pub fn allow(&mut self, flow: FlowNumber) {
        match &mut self.writing {
            Some(writing) if writing.flow == flow => writing.allowed += 1,
            _ => *self.allowed.entry(flow).or_insert(1) += 1,
        }
    }

    /// Adds the pieces to write now, in order: none if a message before them has yet to be written.
    pub fn write(&mut self, pieces: &mut Vec<Piece>, unit: Unit, now: Time, world: &World<'_>) {
        loop {
            let Some(Writing { flow, written, allowed }) = self.writing else {
                let Some(flow) = self.next.filter(|next| self.early.remove(next)) else { return };
                let allowed = self.allowed.remove(&flow).unwrap_or(1);
                self.writing = Some(Writing { flow, written: 0, allowed });
                self.push(flow, unit, now, world);
                continue;
            };
            let Some(series) = world.parts.of(flow) else {
                self.writing = None;
                let bytes = world.flows[flow as usize].bytes;
                pieces.push(Piece { bytes, is_first: true });
                continue;
            };
            let until = allowed.min(series.count);
            let piece = |number| Piece { bytes: series.size(number), is_first: number == 0 };
            pieces.extend((written..until).map(piece));
            if until < series.count {
                self.writing = Some(Writing { flow, written: until, allowed });
                return;
            }
            self.writing = None;
        }
    }

    /// The destination waits for the next message, if there is one.
    pub fn expect(&mut self, unit: Unit, now: Time, world: &World<'_>) {
        let Some(next) = self.next else { return };
        let first = world.parts.of(next).map(|series| series.size(0));
        let end = first.map_or(NONE, |bytes| self.end + unit.of(&world.flows[next as usize], bytes, world));
        self.push(next, unit, now, world);
        self.expected = Expected { number: 0, end };
    }

    fn push(&mut self, flow: FlowNumber, unit: Unit, now: Time, world: &World<'_>) {
        let start = self.end;
        self.end += unit.of_flow(&world.flows[flow as usize], world);
        self.pending.push_back(Message { flow, opened: now, start, end: self.end });
        self.next = world.connections.after(flow);
    }

    /// The position at which the first pending message, or its next part, is complete.
    #[inline]
    pub fn awaited(&self) -> u64 {
        self.pending.front().map_or(NONE, |message| message.end.min(self.expected.end))
    }

    /// The destination has everything up to position `to`: lets the message that the first pending one feeds go on, for each
    /// part of that which is complete.
    pub fn feed(&mut self, to: u64, unit: Unit, net: &mut Network<'_>, world: &World<'_>) {
        if to < self.expected.end {
            return;
        }
        let Some(flow) = self.pending.front().map(|message| message.flow) else { return };
        let Some(series) = world.parts.of(flow) else { return };
        let nic = net.link_at(node_of(net, world.flows[series.feeds as usize].src), PortId(0));
        let Expected { number, end } = &mut self.expected;
        while *end <= to {
            world.arrivals.add(flow, *number, net.now);
            *number += 1;
            if *number == series.count {
                *end = NONE;
                break;
            }
            *end += unit.of(&world.flows[flow as usize], series.size(*number), world);
            net.schedule(nic, Timer::Part(series.feeds), net.now + series.compute, Order::Scheduled);
        }
    }

    /// Takes the first pending message if position `to` is not before its end.
    pub fn complete(&mut self, side: usize, to: u64, counts: &mut Counts<'_>) -> Option<FlowNumber> {
        self.pending.front().filter(|message| message.end <= to)?;
        let message = self.pending.pop_front()?;
        let report = self.report(side, counts);
        self.complete.insert(message.flow, (report, message.opened));
        Some(message.flow)
    }

    /// The counts since the last report.
    pub fn report(&mut self, side: usize, counts: &mut Counts<'_>) -> SideReport {
        let tcp = counts.stats.since(&self.counted);
        self.counted = counts.stats;
        SideReport { side, tcp, delays: std::mem::take(counts.delays), ..SideReport::default() }
    }
}
