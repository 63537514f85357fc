//! Measurements beyond the endpoints' counters: the paths of flows, exploration times, floods on
//! links, and the cost of an event until the fabric has recovered.
//!
//! Only watched packets (see [`crate::packet::WATCHED`]) and dropped packets are observed.

use weft_switching::{DropReason, Header, Kind, Rewrite};
use weft_units::{Duration, LinkId, Time};

use crate::host::{Connection, Connections};
use crate::packet::PacketId;
use crate::record::{EventReport, FloodCounters};

/// The maximum number of links recorded per path.
const MAX_PATH: usize = 64;

/// Observations of one connection.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The links crossed by the last followed data segment that arrived.
    pub path: Vec<LinkId>,
    /// The links crossed so far by the followed segment in flight, and its packet.
    way: Vec<LinkId>,
    packet: Option<PacketId>,
    /// Whether to follow the next data segment.
    pub watch: bool,
    /// How often a followed segment took a different path from the one followed before it.
    pub moves: u32,
    /// When its first exploration started.
    explored_from: Option<Time>,
    /// How long it took until the reply reached the source's edge switch.
    pub exploration: Option<Duration>,
    /// The event (from 1) that broke its path; 0 once switches have given it another.
    broken_by: u32,
    /// The same; 0 once its data arrives again.
    interrupted_by: u32,
    /// The last event (from 1) that cost it a frame.
    hit_by: u32,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            path: Vec::new(),
            way: Vec::new(),
            packet: None,
            watch: true,
            moves: 0,
            explored_from: None,
            exploration: None,
            broken_by: 0,
            interrupted_by: 0,
            hit_by: 0,
        }
    }
}

impl Seen {
    /// Follows a data segment, sent as `packet`.
    pub fn follow(&mut self, packet: PacketId) {
        self.way.clear();
        self.packet = Some(packet);
        self.watch = false;
    }

    /// The followed segment has reached the other host.
    fn arrive(&mut self) {
        self.moves += u32::from(!self.path.is_empty() && self.path != self.way);
        std::mem::swap(&mut self.path, &mut self.way);
        self.packet = None;
    }
}

/// Observations of the network as a whole.
#[derive(Default)]
pub struct Observer {
    /// By the fabric's link ID.
    pub floods: Vec<FloodCounters>,
    /// One per event so far.
    pub events: Vec<EventReport>,
}

impl Observer {
    /// An observer of `links` links, with nothing observed yet.
    pub fn new(links: usize) -> Self {
        Self { floods: vec![FloodCounters::default(); links], events: Vec::new() }
    }

    /// A watched packet has crossed `link` at `now`; with `ends`, to a host.
    pub fn crossed(
        &mut self,
        now: Time,
        (link, ends): (LinkId, bool),
        wire_bytes: u32,
        (packet, header): (PacketId, &Header),
        of: Option<&mut Connection>,
    ) {
        let (floods, bytes) = (&mut self.floods[link.index()], u64::from(wire_bytes));
        if explores(header) {
            floods.explorations += 1;
            floods.exploration_bytes += bytes;
        } else if header.dst.is_group() && header.kind != Kind::Hello {
            floods.broadcasts += 1;
            floods.broadcast_bytes += bytes;
        } else if let Some(seen) = of.map(|of| &mut of.seen).filter(|seen| seen.packet == Some(packet)) {
            if seen.way.len() < MAX_PATH {
                seen.way.push(link);
            }
            if ends {
                seen.arrive();
                let by = std::mem::take(&mut seen.interrupted_by);
                if let Some(event) = by.checked_sub(1).and_then(|at| self.events.get_mut(at as usize)) {
                    event.resumed.add(now.saturating_since(event.at));
                }
            }
        }
    }

    /// An event takes down the links in `failed` (possibly none).
    pub fn event(&mut self, at: Time, failed: &[LinkId], connections: &mut Connections) {
        self.events.push(EventReport::new(at));
        let (number, event) = (self.events.len() as u32, self.events.last_mut());
        let Some(event) = event.filter(|_| !failed.is_empty()) else { return };
        for connection in connections.shared.iter_mut().filter(|connection| connection.live) {
            if connection.seen.path.iter().any(|link| failed.contains(link)) {
                connection.seen.broken_by = number;
                connection.seen.interrupted_by = number;
                connection.seen.watch = true;
                event.paths_broken += 1;
            }
        }
    }

    /// A frame of `of` is dropped at `now`.
    pub fn dropped(
        &mut self,
        now: Time,
        packet: PacketId,
        header: &Header,
        reason: DropReason,
        of: &mut Connection,
    ) {
        // The followed segment was lost, or its path may be gone: follow another.
        of.seen.watch |= of.seen.packet == Some(packet) || header.payload > 0 && is_loss(reason);
        let number = self.events.len() as u32;
        if let Some(event) = self.events.last_mut().filter(|_| !header.kind.is_control() && is_loss(reason)) {
            event.frames_lost += 1;
            event.last_loss = Some(now);
            if of.seen.hit_by != number {
                of.seen.hit_by = number;
                event.flows_hit += 1;
            }
        }
    }

    /// A switch rewrites a frame of a connection.
    pub fn rewritten(now: Time, kind: Kind, rewrite: Rewrite, seen: &mut Seen) {
        match rewrite {
            Rewrite::Wrap(Kind::PathRequest, _) => {
                seen.explored_from.get_or_insert(now);
            }
            Rewrite::Unwrap if kind == Kind::PathReply && seen.exploration.is_none() => {
                seen.exploration = seen.explored_from.map(|from| now.saturating_since(from));
            }
            // A flooded frame takes every path; a later segment shows the flow's path.
            Rewrite::Mark | Rewrite::UnwrapAndMark => {
                seen.watch |= seen.packet.take().is_some();
            }
            _ => {}
        }
    }

    /// A switch explores for an active flow.
    pub fn asked(now: Time, request: &Header, connections: &mut Connections) {
        let (Some(src), Some(dst)) = (request.source(), request.destination()) else { return };
        if let Some(number) = connections.find((src, request.sport), (dst, request.dport)) {
            connections.shared[number].seen.explored_from.get_or_insert(now);
        }
    }

    /// A Path Recovery Reply has reached the edge switch that sent the request: its flow has a path.
    pub fn answered(&mut self, now: Time, reply: &Header, connections: &mut Connections) {
        let (Some(src), Some(dst)) = (reply.destination(), reply.source()) else { return };
        let Some(number) = connections.find((src, reply.dport), (dst, reply.sport)) else { return };
        let seen = &mut connections.shared[number].seen;
        seen.watch = true;
        if seen.exploration.is_none() {
            seen.exploration = seen.explored_from.map(|from| now.saturating_since(from));
        }
        let broken_by = std::mem::take(&mut seen.broken_by);
        if let Some(event) = broken_by.checked_sub(1).and_then(|at| self.events.get_mut(at as usize)) {
            event.recovered.add(now.saturating_since(event.at));
        }
    }
}

/// Whether switches flood the frame to find a path.
const fn explores(header: &Header) -> bool {
    match header.kind {
        Kind::PathRequest | Kind::RecoveryRequest => true,
        // A Path Fail about a flow follows the flow's path.
        Kind::PathFail => !header.is_about_flow(),
        _ => false,
    }
}

/// Whether a drop for `reason` loses a frame for want of a path, with no other copy of it.
const fn is_loss(reason: DropReason) -> bool {
    !matches!(
        reason,
        DropReason::QueueFull | DropReason::LateCopy | DropReason::NotForMe | DropReason::Untrusted
    )
}
