//! [`Follower`]: the recorder of one flow's exploration, and the [`Scene`] that comes of it.
//!
//! It keeps the frames of one TCP connection, of the exploration of its path, and what the switches on
//! the way keep of it; frames of everybody else go by.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use weft_fabric::Fabric;
use weft_switching::{DropReason, Header, Kept, Kind, Mac};
use weft_traffic::Flow;
use weft_units::{LinkId, NodeId, Time, TxClock};

use crate::packet::PacketId;
use crate::record::{FlowRecord, Recorder, Sample};
use crate::resolver;
use crate::trace::TraceEvent;

/// Frames that a scene has at most.
pub const MOST_FRAMES: usize = 20_000;

/// A frame's way over one link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// The link.
    pub link: LinkId,
    /// What the frame was there.
    pub what: What,
    /// Length of its IP packet.
    pub ip_bytes: u16,
    /// When it was handed to the link's queue.
    pub sent: Time,
    /// When its first bit left the queue and when it reached the far end; `None` where it did not.
    pub crossed: Option<(Time, Time)>,
}

/// What a frame is, as far as a scene tells frames apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct What {
    /// What it carries.
    pub kind: Kind,
    /// The flags of TCP.
    pub flags: u8,
    /// Bytes of payload.
    pub payload: u16,
}

impl What {
    fn of(header: &Header) -> Self {
        Self { kind: header.kind, flags: header.tcp_flags, payload: header.payload }
    }

    /// Its name in a trace.
    pub const fn name(self) -> &'static str {
        match self.kind {
            Kind::Tcp if self.flags & Header::RST != 0 => "rst",
            Kind::Tcp if self.flags & Header::SYN != 0 => {
                if self.flags & Header::ACK != 0 {
                    "syn_ack"
                } else {
                    "syn"
                }
            }
            Kind::Tcp if self.payload > 0 => "data",
            Kind::Tcp if self.flags & Header::FIN != 0 => "fin",
            Kind::Tcp => "ack",
            Kind::Other => "other",
            Kind::ArpRequest => "arp_request",
            Kind::ArpReply => "arp_reply",
            Kind::Hello => "hello",
            Kind::PathRequest => "path_request",
            Kind::PathReply => "path_reply",
            Kind::PathFail => "path_fail",
            Kind::RecoveryRequest => "recovery_request",
            Kind::RecoveryReply => "recovery_reply",
        }
    }
}

/// How a frame ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It went no further, for this reason.
    Dropped(DropReason),
    /// It had reached the switch it was for.
    Consumed,
    /// A host took it in.
    Delivered,
}

/// One frame. A flooded one is as many as it has copies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Its number in the scene, in order of appearance.
    pub number: u32,
    /// The frame that a switch made it of.
    pub copy_of: Option<u32>,
    /// The links it was handed to, in order.
    pub hops: Vec<Hop>,
    /// When and how it ended; `None` where the run did before.
    pub end: Option<(Time, Fate)>,
}

impl Frame {
    /// Where it ended: at a node, or on a link (in its queue, or refused by it).
    pub fn last_place(&self, fabric: &Fabric) -> Option<Result<NodeId, LinkId>> {
        let last = self.hops.last()?;
        Some(if last.crossed.is_some() { Ok(fabric.link(last.link).to) } else { Err(last.link) })
    }

    /// Whether it has carried the flow's data from its source.
    pub fn is_data(&self) -> bool {
        self.hops.last().is_some_and(|hop| hop.what.kind == Kind::Tcp && hop.what.payload > 0)
    }
}

/// A change of what a switch keeps of the flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// When.
    pub at: Time,
    /// The switch.
    pub node: NodeId,
    /// What it keeps from then on.
    pub kept: Kept,
}

/// What a follower has seen from [`Scene::begin`] on.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// When it begins.
    pub begin: Time,
    /// When the data came through that it ends with.
    pub done: Option<Time>,
    /// Its frames by number, with segments of TCP that were on their way at its begin.
    pub frames: Vec<Frame>,
    /// What switches kept of the flow at its begin.
    pub kept: BTreeMap<NodeId, Kept>,
    /// How that changed, in order of time.
    pub changes: Vec<Change>,
    /// Links that failed (`false`) or healed, in order of time.
    pub links: Vec<(Time, LinkId, bool)>,
    /// The path that the last data took, from the source's link to the destination's.
    pub path: Vec<LinkId>,
    /// Whether there were more than [`MOST_FRAMES`]; those that ended last are left out.
    pub cut: bool,
}

/// When a scene begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begin {
    /// When a frame of this kind of the flow is first sent.
    With(Kind),
    /// At a time, before a link fails at the second.
    Before(Time, Time),
}

/// Follows one flow.
pub struct Follower<'a> {
    fabric: &'a Fabric,
    stop: &'a AtomicBool,
    flow: Flow,
    header: Header,
    begin: Begin,
    live: HashMap<PacketId, Frame>,
    /// Frames other than segments that were under way when the scene began, such as copies of an ARP Request, and copies of
    /// these: they are no part of it.
    earlier: HashSet<PacketId>,
    frames: u32,
    kept: BTreeMap<NodeId, Kept>,
    down: BTreeSet<LinkId>,
    begun: bool,
    scene: Scene,
    all_delivered: Option<Time>,
}

impl<'a> Follower<'a> {
    /// Follows `flow` from `begin` until its data comes through on the path that the switches keep;
    /// then it raises `stop`.
    pub fn new(fabric: &'a Fabric, flow: &Flow, begin: Begin, stop: &'a AtomicBool) -> Self {
        let header = Header {
            src: Mac::of_host(flow.src.0),
            dst: Mac::of_host(flow.dst.0),
            sport: flow.sport,
            dport: flow.dport,
            ..Header::default()
        };
        Self {
            fabric,
            stop,
            flow: *flow,
            header,
            begin,
            live: HashMap::new(),
            earlier: HashSet::new(),
            frames: 0,
            kept: BTreeMap::new(),
            down: BTreeSet::new(),
            begun: false,
            scene: Scene::default(),
            all_delivered: None,
        }
    }

    /// The scene, if it has begun.
    pub fn into_scene(mut self) -> Option<Scene> {
        std::mem::take(&mut self.live).into_values().for_each(|frame| self.keep(frame));
        self.scene.frames.sort_unstable_by_key(|frame| frame.number);
        self.scene.changes.sort_by_key(|change| change.at);
        self.begun.then_some(self.scene)
    }

    /// When the destination had all of the flow, if the flow ended before the scene did.
    pub const fn all_delivered(&self) -> Option<Time> {
        self.all_delivered
    }

    /// Whether the scene is over: data has come through, and every frame has ended.
    pub fn is_over(&self) -> bool {
        self.scene.done.is_some() && self.live.is_empty()
    }

    /// Whether a new frame is one to follow.
    fn concerns(&self, header: &Header) -> bool {
        let ends = (header.src, header.dst);
        let there = ends == (self.header.src, self.header.dst);
        let back = ends == (self.header.dst, self.header.src);
        let ports = (header.sport, header.dport);
        let of_flow = there && ports == (self.flow.sport, self.flow.dport)
            || back && ports == (self.flow.dport, self.flow.sport);
        match header.kind {
            Kind::Tcp => of_flow && self.scene.done.is_none(),
            Kind::ArpRequest => header.src == self.header.src && resolver::target(header) == self.flow.dst,
            Kind::ArpReply => back,
            Kind::Hello | Kind::Other => false,
            _ => of_flow || (there || back) && ports == (0, 0),
        }
    }

    fn begin_now(&mut self, time: Time) {
        if !self.begun {
            self.begun = true;
            self.scene.begin = time;
            self.scene.kept = self.kept.clone();
            let is_segment = |frame: &Frame| frame.hops.last().is_some_and(|hop| hop.what.kind == Kind::Tcp);
            self.earlier.extend(self.live.extract_if(|_, frame| !is_segment(frame)).map(|(id, _)| id));
        }
    }

    fn new_frame(&mut self, id: PacketId, copy_of: Option<u32>) {
        let frame = Frame { number: self.frames, copy_of, hops: Vec::new(), end: None };
        self.frames += 1;
        self.live.insert(id, frame);
    }

    /// Takes a frame into the scene, unless that has too many.
    fn keep(&mut self, frame: Frame) {
        if self.scene.frames.len() < MOST_FRAMES {
            self.scene.frames.push(frame);
        } else {
            self.scene.cut = true;
        }
    }

    fn sent(&mut self, time: Time, id: PacketId, link: LinkId, header: &Header) {
        if !self.live.contains_key(&id) {
            if self.earlier.contains(&id) || !self.concerns(header) {
                return;
            }
            if self.begin == Begin::With(header.kind) {
                self.begin_now(time);
            }
            self.new_frame(id, None);
        }
        if let Some(frame) = self.live.get_mut(&id) {
            let (what, ip_bytes) = (What::of(header), header.ip_bytes);
            frame.hops.push(Hop { link, what, ip_bytes, sent: time, crossed: None });
        }
    }

    fn arrived(&mut self, time: Time, id: PacketId) {
        let Some(hop) = self.live.get_mut(&id).and_then(|frame| frame.hops.last_mut()) else { return };
        let link = self.fabric.link(hop.link);
        let bytes = link.overhead.wire_bytes(u32::from(hop.ip_bytes));
        let wire = TxClock::new(link.rate).tx_time(bytes) + link.delay;
        let left = Time::from_ps(time.ps().saturating_sub(wire.ps()).max(hop.sent.ps()));
        hop.crossed = Some((left, time));
    }

    fn ended(&mut self, time: Time, id: PacketId, fate: Fate) {
        let Some(mut frame) = self.live.remove(&id) else {
            self.earlier.remove(&id);
            return;
        };
        frame.end = Some((time, fate));
        let route: Vec<LinkId> = frame.hops.iter().map(|hop| hop.link).collect();
        let through = fate == Fate::Delivered && frame.is_data() && self.may_end(time);
        if through && self.scene.done.is_none() && Some(&route) == self.path(&route).as_ref() {
            self.scene.path = route;
            self.scene.done = Some(time);
        }
        if self.begun {
            self.keep(frame);
        }
        if self.is_over() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Whether data that comes through at `time` may be the end of the scene.
    fn may_end(&self, time: Time) -> bool {
        self.begun
            && match self.begin {
                Begin::With(_) => true,
                Begin::Before(_, failure) => time > failure,
            }
    }

    /// The path that the switches keep confirmed, from the first link of `route`.
    fn path(&self, route: &[LinkId]) -> Option<Vec<LinkId>> {
        let mut path = vec![*route.first()?];
        let mut node = self.fabric.link(path[0]).to;
        while !self.fabric.node(node).is_host() {
            let entry = self.kept.get(&node)?.destination.filter(|entry| entry.confirmed)?;
            let link = self.fabric.link_at(node, entry.port).filter(|link| !self.down.contains(link))?;
            if path.len() > self.fabric.nodes().len() {
                return None;
            }
            path.push(link);
            node = self.fabric.link(link).to;
        }
        Some(path)
    }
}

impl Recorder for Follower<'_> {
    const TRACES: bool = true;

    fn flow(&mut self, record: &FlowRecord) {
        if record.flow.id == self.flow.id {
            self.all_delivered = record.end;
            if self.scene.done.is_none() {
                self.stop.store(true, Ordering::Relaxed);
            }
        }
    }

    fn sample(&mut self, _: &Sample) {}

    fn followed(&self) -> Option<Header> {
        Some(self.header)
    }

    fn trace(&mut self, time: Time, event: TraceEvent<'_>) {
        if self.is_over() {
            return;
        }
        if let Begin::Before(begin, _) = self.begin
            && time >= begin
        {
            self.begin_now(begin);
        }
        match event {
            TraceEvent::Sent { frame, link, header } => self.sent(time, frame, link, header),
            TraceEvent::Arrived { frame, .. } => self.arrived(time, frame),
            TraceEvent::Copied { frame, of } => {
                if let Some(number) = self.live.get(&of).map(|of| of.number) {
                    self.new_frame(frame, Some(number));
                } else if self.earlier.contains(&of) {
                    self.earlier.insert(frame);
                }
            }
            TraceEvent::Dropped { frame, reason } => self.ended(time, frame, Fate::Dropped(reason)),
            TraceEvent::Consumed { frame } => self.ended(time, frame, Fate::Consumed),
            TraceEvent::Delivered { frame } => self.ended(time, frame, Fate::Delivered),
            TraceEvent::LinkChanged { link, up } => {
                if up {
                    self.down.remove(&link)
                } else {
                    self.down.insert(link)
                };
                if self.begun {
                    self.scene.links.push((time, link, up));
                }
            }
            TraceEvent::Kept { node, kept } => {
                let before = self.kept.insert(node, kept).unwrap_or_default();
                if self.begun && before != kept {
                    self.scene.changes.push(Change { at: time, node, kept });
                }
            }
        }
    }
}
