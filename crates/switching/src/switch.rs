//! The interface of every scheme.

use std::sync::Arc;

use weft_control::{FlowCount, RuleChange};
use weft_units::{PortId, Time};

use crate::{Actions, Forwarding, Header, Stream};
use weft_wire::Mac;

/// State that a switch may query while it decides.
pub trait Context {
    /// The current time.
    fn now(&self) -> Time;

    /// Bytes queued at or leaving `port`.
    fn queue_bytes(&self, port: PortId) -> u64;

    /// The switch's own random stream.
    fn random(&mut self) -> &mut Stream;
}

/// A table entry of a switch: the port towards one end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeptPort {
    /// The port.
    pub port: PortId,
    /// Whether a reply confirmed it, or it is still locked to the first copy of a request.
    pub confirmed: bool,
}

/// The table entries of a flow at a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// Towards its source.
    pub source: Option<KeptPort>,
    /// Towards its destination.
    pub destination: Option<KeptPort>,
}

/// A switch of a scheme.
pub trait Switch: Send {
    /// Whether [`Switch::decide`] takes the place of [`Switch::receive`]: decisions depend on header and routes alone, so
    /// that an engine may ask before the frame arrives, and again if the routes change meanwhile.
    const DECIDES_AHEAD: bool = false;

    /// Decides on a frame that arrived on `ingress`. Every call yields at least one action.
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions);

    /// The port for a frame, if [`Switch::DECIDES_AHEAD`]; `None` if there is no route.
    #[inline(always)]
    fn decide(&self, _header: &Header) -> Option<PortId> {
        None
    }

    /// A port went down or came up; frames made or released by the switch go to `out`.
    fn port_changed<C: Context>(&mut self, _ctx: &mut C, _port: PortId, _up: bool, _out: &mut Actions) {}

    /// The time of the switch's next timer; [`Time::MAX`] for none. It is read after every call except
    /// [`Switch::receive`], after which it is read if the call held or released a frame.
    fn next_deadline(&self) -> Time {
        Time::MAX
    }

    /// A time that [`Switch::next_deadline`] once returned has come; frames made or released by the switch go to `out`.
    fn on_deadline<C: Context>(&mut self, _ctx: &mut C, _out: &mut Actions) {}

    /// The fabric's equal-cost paths and its tree were recomputed after a link change; `routes` also has the rates and
    /// states of all links.
    fn routes_changed(&mut self, _routes: &Arc<Forwarding>) {}

    /// Learns `station` at `port` as from earlier traffic ([`Blueprint::learnt`](crate::Blueprint)).
    fn learn_station(&mut self, _station: Mac, _port: PortId, _now: Time) {}

    /// The central controller changes the switch's rules.
    fn apply(&mut self, _now: Time, _change: &RuleChange) {}

    /// The central controller asks for the flows of the switch's hosts since it last asked, in a fixed order.
    fn flow_counts(&mut self) -> Vec<FlowCount> {
        Vec::new()
    }

    /// The table entries of the flow whose segments have this `header`; none if the switch does not
    /// explore paths.
    fn kept(&self, _header: &Header, _now: Time) -> Kept {
        Kept::default()
    }

    /// Entries in the switch's own forwarding tables at `now`, without the shared routes.
    fn table_entries(&mut self, _now: Time) -> TableEntries {
        TableEntries::default()
    }
}

/// Sizes of a switch's tables, without expired entries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TableEntries {
    /// Flow entries, two per flow if each direction has its own.
    pub flows: usize,
    /// Station entries.
    pub stations: usize,
    /// Entries of groups of next hops.
    pub groups: usize,
}

/// A context for tests with empty queues: the time and the random stream.
#[cfg(test)]
pub(crate) struct Idle(pub(crate) Time, pub(crate) Stream);

#[cfg(test)]
impl Context for Idle {
    fn now(&self) -> Time {
        self.0
    }

    fn queue_bytes(&self, _port: PortId) -> u64 {
        0
    }

    fn random(&mut self) -> &mut Stream {
        &mut self.1
    }
}
