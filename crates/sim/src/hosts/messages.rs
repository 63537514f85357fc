//! [`Messages`]: the flows that follow each other on connections that stay open.
//!
//! Such a connection is one stream of bytes, or of numbered packets: positions count bytes or packets from its start, as the
//! protocol does. Its packets name the last message ([`Connections::last`](weft_traffic::Connections::last)). A message in
//! [`Parts`](weft_traffic::Parts) is written part by part, and feeds another one as its parts arrive.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use weft_traffic::Flow;
use weft_units::Time;

use super::flow_end::{FlowEnd, NONE};
use super::places::Place;
use super::reports::{report, report_done, report_received};
use super::stream::{Counts, Piece, Stream, Unit};
use super::world::World;
use crate::journal::{FlowNumber, News, SideReport};
use crate::network::Network;

/// The ends of a partition. An end is that of the connection's last message.
pub struct Messages {
    streams: HashMap<FlowEnd, Stream, FxBuildHasher>,
    unit: Unit,
}

impl Messages {
    /// No connection yet, whose positions have this unit.
    pub fn new(unit: Unit) -> Self {
        Self { streams: HashMap::default(), unit }
    }

    /// How many positions a flow takes.
    pub fn size(&self, flow: &Flow, world: &World<'_>) -> u64 {
        self.unit.of_flow(flow, world)
    }

    /// The end of a connection, which is new unless it is known.
    fn of(&mut self, owner: FlowEnd, world: &World<'_>) -> &mut Stream {
        self.streams.entry(owner).or_insert_with(|| Stream::new(world.connections.first(owner.flow)))
    }

    /// The source of the connection of `flow`.
    fn source(&mut self, flow: FlowNumber, world: &World<'_>) -> &mut Stream {
        self.of(FlowEnd { flow: world.connections.owner(flow), side: 0 }, world)
    }

    /// A source wants to send `flow`, a message that shares a connection. Adds the pieces to write now, in order: none if a
    /// message before it has yet to be written.
    pub fn write(&mut self, flow: FlowNumber, pieces: &mut Vec<Piece>, now: Time, world: &World<'_>) {
        let unit = self.unit;
        let stream = self.source(flow, world);
        stream.want(flow);
        stream.write(pieces, unit, now, world);
    }

    /// A source may send one part more of `flow`. Adds the pieces to write now, in order.
    #[inline]
    pub fn allow(&mut self, flow: FlowNumber, pieces: &mut Vec<Piece>, now: Time, world: &World<'_>) {
        let unit = self.unit;
        let stream = self.source(flow, world);
        stream.allow(flow);
        stream.write(pieces, unit, now, world);
    }

    /// A destination waits for the next message, if there is one.
    pub fn expect(&mut self, owner: FlowEnd, now: Time, world: &World<'_>) {
        let unit = self.unit;
        self.of(owner, world).expect(unit, now, world);
    }

    /// The position at which the first pending message, or its next part, is complete.
    pub fn awaited(&self, owner: FlowEnd) -> u64 {
        self.streams.get(&owner).map_or(NONE, Stream::awaited)
    }

    /// An end has everything, or knows that the other has it, up to position `to`: reports which messages are received or
    /// done. A destination then waits for the next one. Returns the position that is awaited next.
    pub fn reach(
        &mut self,
        owner: FlowEnd,
        to: u64,
        counts: &mut Counts<'_>,
        net: &mut Network<'_>,
        world: &World<'_>,
    ) -> u64 {
        let Some(stream) = self.streams.get_mut(&owner) else { return NONE };
        loop {
            if owner.side == 1 {
                stream.feed(to, self.unit, net, world);
            }
            let Some(flow) = stream.complete(owner.side, to, counts) else { return stream.awaited() };
            if owner.side == 0 {
                report_done(net, world, flow);
            } else {
                report_received(net, world, flow);
                stream.expect(self.unit, net.now, world);
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
