//! [`Messages`]: the flows that follow each other on connections that stay open.
//!
//! Such a connection is one stream of bytes, or of numbered packets: positions count bytes or packets from its start, as the
//! protocol does. Its packets name the last message ([`Connections::last`](weft_traffic::Connections::last)).

use std::collections::{BTreeSet, HashMap, VecDeque};

use weft_traffic::Flow;
use weft_transport::Stats;
use weft_units::Time;

use super::ends::{Whose, tell, tell_done, tell_received};
use super::places::Place;
use super::world::World;
use crate::delays::Delays;
use crate::journal::{FlowNumber, News, SideReport};
use crate::network::Network;

/// A message on the stream.
struct Message {
    flow: FlowNumber,
    /// When it was written or, at the destination, when the one before it was complete.
    opened: Time,
    start: u64,
    end: u64,
}

/// One end of a connection.
struct Stream {
    /// Written or expected, and not complete.
    pending: VecDeque<Message>,
    /// The next message to write or to expect.
    next: Option<FlowNumber>,
    /// Messages that were to be written before their turn.
    early: BTreeSet<FlowNumber>,
    /// The end of the last message that was written or expected.
    end: u64,
    /// The counts of the complete messages.
    counted: Stats,
    /// Reports of complete messages, and when each was opened.
    complete: HashMap<FlowNumber, (SideReport, Time)>,
}

/// The ends of a partition. An end is that of the connection's last message.
#[derive(Default)]
pub struct Messages(HashMap<Whose, Stream>);

/// The end at which a message is complete; [`u64::MAX`]: no message is pending.
pub const NONE: u64 = u64::MAX;

impl Messages {
    /// The end of a connection, which is new unless it is known.
    fn of(&mut self, whose: Whose, world: &World<'_>) -> &mut Stream {
        self.0.entry(whose).or_insert_with(|| Stream {
            pending: VecDeque::new(),
            next: Some(world.connections.first(whose.flow)),
            early: BTreeSet::new(),
            end: 0,
            counted: Stats::default(),
            complete: HashMap::new(),
        })
    }

    /// A source wants to send `flow`, a message that shares a connection. Returns the messages to write now, in order: none
    /// if one before it has yet to start.
    pub fn write(
        &mut self,
        flow: FlowNumber,
        now: Time,
        world: &World<'_>,
        size: impl Fn(&Flow) -> u64,
    ) -> Vec<FlowNumber> {
        let whose = Whose { flow: world.connections.owner(flow), side: 0 };
        let stream = self.of(whose, world);
        stream.early.insert(flow);
        let mut written = Vec::new();
        while let Some(next) = stream.next.filter(|next| stream.early.remove(next)) {
            stream.push(next, now, world, &size);
            written.push(next);
        }
        written
    }

    /// A destination waits for the next message, if there is one.
    pub fn expect(&mut self, whose: Whose, now: Time, world: &World<'_>, size: impl Fn(&Flow) -> u64) {
        let stream = self.of(whose, world);
        if let Some(next) = stream.next {
            stream.push(next, now, world, size);
        }
    }

    /// The position at which the first pending message is complete.
    pub fn awaited(&self, whose: Whose) -> u64 {
        self.0.get(&whose).and_then(|stream| stream.pending.front()).map_or(NONE, |message| message.end)
    }

    /// The source has acknowledgements up to position `to`: tells which messages are done.
    pub fn acknowledged(
        &mut self,
        whose: Whose,
        to: u64,
        (stats, delays): (Stats, &mut Delays),
        net: &mut Network<'_>,
        world: &World<'_>,
    ) {
        let Some(stream) = self.0.get_mut(&whose) else { return };
        while let Some(flow) = stream.complete(whose, to, stats, delays) {
            tell_done(net, world, flow);
        }
    }

    /// The destination has everything up to position `to`: tells which messages are received, and waits for the next one.
    pub fn received(
        &mut self,
        whose: Whose,
        to: u64,
        (stats, delays): (Stats, &mut Delays),
        size: impl Fn(&Flow) -> u64,
        net: &mut Network<'_>,
        world: &World<'_>,
    ) {
        let Some(stream) = self.0.get_mut(&whose) else { return };
        while let Some(flow) = stream.complete(whose, to, stats, delays) {
            tell_received(net, world, flow);
            if let Some(next) = stream.next {
                stream.push(next, net.now, world, &size);
            }
        }
    }

    /// An end has given up: so do all messages that are not complete.
    pub fn abort(&mut self, whose: Whose, net: &mut Network<'_>, world: &World<'_>) {
        let Some(stream) = self.0.get_mut(&whose) else { return };
        for message in &stream.pending {
            tell(net, world, Whose { flow: message.flow, side: whose.side }, News::Aborted(message.flow));
        }
    }

    /// One side of a message leaves: its report, and when it was opened. `stats` and `delays` are the connection's, if that
    /// is there; a message that is not complete has the counts since the last one that is.
    pub fn leave(
        &mut self,
        flow: FlowNumber,
        side: usize,
        connection: Option<(Stats, &mut Delays)>,
        world: &World<'_>,
    ) -> Option<(SideReport, Time)> {
        let last = world.connections.owner(flow);
        let whose = Whose { flow: last, side };
        if flow != last {
            world.places.set(flow, side, Place::Gone);
        }
        let stream = self.0.get_mut(&whose)?;
        let report = stream.complete.remove(&flow).or_else(|| {
            let at = stream.pending.iter().position(|message| message.flow == flow)?;
            let message = stream.pending.remove(at)?;
            let report = match connection {
                Some((stats, delays)) if at == 0 => stream.report(side, stats, delays),
                _ => SideReport { side, ..SideReport::default() },
            };
            Some((report, message.opened))
        });
        if flow == last {
            self.0.remove(&whose);
        }
        report
    }

    /// How far a destination that has everything up to position `to` is within message `flow`.
    pub fn progress(&self, flow: FlowNumber, to: u64, world: &World<'_>) -> Option<u64> {
        let stream = self.0.get(&Whose { flow: world.connections.owner(flow), side: 1 })?;
        let message = stream.pending.iter().find(|message| message.flow == flow)?;
        Some(to.min(message.end).saturating_sub(message.start))
    }
}

impl Stream {
    fn push(&mut self, flow: FlowNumber, now: Time, world: &World<'_>, size: impl Fn(&Flow) -> u64) {
        let start = self.end;
        self.end += size(&world.flows[flow as usize]);
        self.pending.push_back(Message { flow, opened: now, start, end: self.end });
        self.next = world.connections.after(flow);
    }

    /// Takes the first pending message if position `to` is not before its end.
    fn complete(&mut self, whose: Whose, to: u64, stats: Stats, delays: &mut Delays) -> Option<FlowNumber> {
        self.pending.front().filter(|message| message.end <= to)?;
        let message = self.pending.pop_front()?;
        let report = self.report(whose.side, stats, delays);
        self.complete.insert(message.flow, (report, message.opened));
        Some(message.flow)
    }

    /// The counts since the last report.
    fn report(&mut self, side: usize, stats: Stats, delays: &mut Delays) -> SideReport {
        let tcp = stats.since(&self.counted);
        self.counted = stats;
        SideReport { side, tcp, delays: std::mem::take(delays), ..SideReport::default() }
    }
}
