//! [`Ends`]: one side each of the flows of a partition.

use weft_traffic::{Flow, Point};
use weft_transport::Stats;
use weft_units::Time;

use super::places::Place;
use super::vacancies::Vacancies;
use super::world::{World, node_of};
use crate::delays::Delays;
use crate::journal::{FlowNumber, News, SideReport, Strand};
use crate::network::Network;
use crate::packet::{PacketId, prefetch_all};

/// A side of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Whose {
    /// The flow.
    pub flow: FlowNumber,
    /// 0: the source; 1: the destination.
    pub side: usize,
}

/// The sides that are there, by their places.
pub struct Ends<S> {
    ends: Vec<Option<Box<End<S>>>>,
    vacancies: Vacancies,
}

/// One of them.
pub struct End<S> {
    /// Whose it is.
    pub whose: Whose,
    /// When it was opened.
    pub opened: Time,
    /// The rest.
    pub state: S,
}

impl<S> Default for Ends<S> {
    fn default() -> Self {
        Self { ends: Vec::new(), vacancies: Vacancies::default() }
    }
}

impl<S> Ends<S> {
    /// Adds a side; returns its place.
    pub fn add(&mut self, whose: Whose, state: S, now: Time, world: &World<'_>) -> u32 {
        let place = self.vacancies.take().unwrap_or_else(|| {
            self.ends.push(None);
            self.ends.len() as u32 - 1
        });
        self.ends[place as usize] = Some(Box::new(End { whose, opened: now, state }));
        world.places.set(whose.flow, whose.side, Place::At(place));
        place
    }

    /// The side at `place`, if there is one.
    #[inline]
    pub fn at(&mut self, place: u32) -> Option<&mut End<S>> {
        self.ends.get_mut(place as usize)?.as_deref_mut()
    }

    /// The same, to read it.
    #[inline]
    pub fn look_at(&self, place: u32) -> Option<&S> {
        Some(&self.ends.get(place as usize)?.as_deref()?.state)
    }

    /// Prefetches the side at `place`.
    #[inline]
    pub fn prefetch(&self, place: u32) {
        if let Some(Some(end)) = self.ends.get(place as usize) {
            prefetch_all::<End<S>>(end);
        }
    }

    /// A side of a flow, if it is there.
    pub fn of(&self, whose: Whose, world: &World<'_>) -> Option<&End<S>> {
        match world.places.get(whose.flow, whose.side) {
            Place::At(place) => self.ends.get(place as usize)?.as_deref(),
            Place::New | Place::Gone => None,
        }
    }

    /// The same, mutable.
    pub fn of_mut(&mut self, whose: Whose, world: &World<'_>) -> Option<&mut End<S>> {
        match world.places.get(whose.flow, whose.side) {
            Place::At(place) => self.at(place),
            Place::New | Place::Gone => None,
        }
    }

    /// Removes a side, which never comes again; returns the time when it was opened, and its report with the counts
    /// that `told` takes from its state.
    pub fn leave(
        &mut self,
        whose: Whose,
        net: &mut Network<'_>,
        world: &World<'_>,
        told: impl FnOnce(S) -> (Stats, Delays),
    ) -> Option<(SideReport, Time)> {
        let place = world.places.get(whose.flow, whose.side);
        world.places.set(whose.flow, whose.side, Place::Gone);
        let Place::At(place) = place else { return None };
        let end = self.ends.get_mut(place as usize)?.take()?;
        self.vacancies.leave(place, self.ends.len(), &mut net.queue);
        let (tcp, delays) = told(end.state);
        Some((SideReport { side: whose.side, tcp, delays, ..SideReport::default() }, end.opened))
    }

    /// All sides that are there.
    pub fn all(&mut self) -> impl Iterator<Item = &mut End<S>> {
        self.ends.iter_mut().flatten().map(|end| &mut **end)
    }

    /// Bytes of memory held, with `heap` bytes of each side elsewhere.
    pub fn memory(&self, heap: impl Fn(&S) -> usize) -> usize {
        let all = self.ends.iter().flatten();
        let sides: usize = all.map(|end| size_of::<End<S>>() + heap(&end.state)).sum();
        sides + self.ends.capacity() * size_of::<Option<Box<End<S>>>>()
    }
}

/// Tells the engine news of a side, at its host.
pub fn tell(net: &mut Network<'_>, world: &World<'_>, whose: Whose, news: News) {
    let flow = &world.flows[whose.flow as usize];
    let node = node_of(net, [flow.src, flow.dst][whose.side]);
    net.tell(node, news);
}

/// Tells the engine that the source has opened a flow.
pub fn tell_opened(net: &mut Network<'_>, world: &World<'_>, flow: FlowNumber) {
    let Flow { src, sport, dst, dport, .. } = world.flows[flow as usize];
    let tuple = [(src, sport), (dst, dport)];
    tell(net, world, Whose { flow, side: 0 }, News::Opened(Strand { flow, subflow: 0 }, tuple));
}

/// Tells the engine the way of a packet that reaches the destination of a flow, if it is followed.
pub fn tell_way(net: &mut Network<'_>, world: &World<'_>, flow: FlowNumber, packet: PacketId) {
    if let Some(way) = net.packets.way(packet) {
        let way = std::mem::take(way);
        tell(net, world, Whose { flow, side: 1 }, News::Arrived(Strand { flow, subflow: 0 }, way));
    }
}

/// Tells the engine that the destination has all of a flow.
pub fn tell_received(net: &mut Network<'_>, world: &World<'_>, flow: FlowNumber) {
    let whose = Whose { flow, side: 1 };
    tell(net, world, whose, News::Received(flow));
    tell(net, world, whose, News::Closed(flow, 1));
}

/// Tells the engine that the source of a flow is done: all of its data is acknowledged or, without acknowledgements, sent.
pub fn tell_done(net: &mut Network<'_>, world: &World<'_>, flow: FlowNumber) {
    let whose = Whose { flow, side: 0 };
    if world.waiting.awaits(flow, Point::Acknowledged) {
        tell(net, world, whose, News::Acknowledged(flow));
    }
    tell(net, world, whose, News::Closed(flow, 0));
}
