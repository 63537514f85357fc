//! The door of every scheme.

use std::sync::Arc;

use weft_control::RuleChange;
use weft_units::{PortId, Time};

use crate::{Actions, Forwarding, Header, Stream};

/// What a switch may ask of the world while it decides.
pub trait Context {
    /// The time now.
    fn now(&self) -> Time;

    /// Bytes that wait at or are leaving `port`.
    fn queue_bytes(&self, port: PortId) -> u64;

    /// The switch's own random stream.
    fn random(&mut self) -> &mut Stream;
}

/// An entry of a switch's own table: the port towards one end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeptPort {
    /// The port.
    pub port: PortId,
    /// Whether a reply has confirmed it, or it is locked yet to the first copy of a request.
    pub confirmed: bool,
}

/// What a switch's own tables keep of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// Towards its source.
    pub source: Option<KeptPort>,
    /// Towards its destination.
    pub destination: Option<KeptPort>,
}

/// One switch of a scheme.
pub trait Switch {
    /// Decides what becomes of a frame that came in on `ingress`. Every call asks for at least one
    /// action.
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions);

    /// A port went down or came up; `out` takes frames of the switch's own.
    fn port_changed<C: Context>(&mut self, _ctx: &mut C, _port: PortId, _up: bool, _out: &mut Actions) {}

    /// When the switch has something to do by itself; [`Time::MAX`] for never.
    fn next_deadline(&self) -> Time {
        Time::MAX
    }

    /// [`Switch::next_deadline`] has come; `out` takes frames of the switch's own.
    fn on_deadline<C: Context>(&mut self, _ctx: &mut C, _out: &mut Actions) {}

    /// The fabric's equal-cost paths and its tree were computed anew after links changed.
    fn routes_changed(&mut self, _routes: &Arc<Forwarding>) {}

    /// The central controller changes the switch's rules.
    fn apply(&mut self, _now: Time, _change: &RuleChange) {}

    /// What the switch keeps of the flow whose segments have this `header`; nothing where it explores no
    /// paths.
    fn kept(&self, _header: &Header, _now: Time) -> Kept {
        Kept::default()
    }

    /// Entries that the switch's tables hold for forwarding at `now`, beyond the routes all share.
    fn table_entries(&mut self, _now: Time) -> TableEntries {
        TableEntries::default()
    }
}

/// Sizes of a switch's tables, entries that have expired not counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TableEntries {
    /// Entries for flows, two a flow where each direction has its own.
    pub flows: usize,
    /// Entries for stations.
    pub stations: usize,
}
