//! [`Follower`]: the recorder of one flow's exploration, and the resulting [`Scene`].
//!
//! It records the frames of one TCP connection and of its path exploration, and the switches' table
//! entries for it; it ignores all other frames.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use weft_fabric::Fabric;
use weft_switching::{DropReason, Header, Kept, Kind, Mac};
use weft_traffic::Flow;
use weft_units::{LinkId, NodeId, Time};

use crate::columns::FlowRecord;
use crate::packet::PacketId;
use crate::record::Recorder;
use crate::resolver;
use crate::sample::Sample;
use crate::trace::{TraceEvent, departure};

/// The maximum number of frames in a scene.
pub const MOST_FRAMES: usize = 20_000;

/// A frame's passage over one link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// The link.
    pub link: LinkId,
    /// The frame as sent on this link.
    pub what: FrameType,
    /// Length of its IP packet.
    pub ip_bytes: u16,
    /// When it was handed to the link's queue.
    pub sent: Time,
    /// When its first bit left the queue and when it reached the far end; `None` if it did not.
    pub crossed: Option<(Time, Time)>,
}

/// A frame's type, as far as a scene distinguishes frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameType {
    /// The kind of frame.
    pub kind: Kind,
    /// TCP flags.
    pub flags: u8,
    /// Bytes of payload.
    pub payload: u16,
}

impl FrameType {
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
            Kind::Probe => "probe",
        }
    }
}

/// How a frame ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The frame was dropped, for this reason.
    Dropped(DropReason),
    /// The frame reached the switch it was addressed to.
    Consumed,
    /// A host received it.
    Delivered,
}

/// One frame. Every copy of a flooded frame is a frame of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Its number in the scene, in order of appearance.
    pub number: u32,
    /// The frame that a switch copied it from.
    pub copy_of: Option<u32>,
    /// The links it was handed to, in order.
    pub hops: Vec<Hop>,
    /// When and how it ended; `None` if the run ended first.
    pub end: Option<(Time, Fate)>,
}

impl Frame {
    /// The place where the frame ended: a node, or a link (in its queue, or refused by it).
    pub fn last_place(&self, fabric: &Fabric) -> Option<Result<NodeId, LinkId>> {
        let last = self.hops.last()?;
        Some(if last.crossed.is_some() { Ok(fabric.link(last.link).to) } else { Err(last.link) })
    }

    /// Whether it carries the flow's data.
    pub fn is_data(&self) -> bool {
        self.hops.last().is_some_and(|hop| hop.what.kind == Kind::Tcp && hop.what.payload > 0)
    }
}

/// A change of a switch's table entries for the flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// When.
    pub at: Time,
    /// The switch.
    pub node: NodeId,
    /// The new entries.
    pub kept: Kept,
}

/// A follower's record from [`Scene::begin`] on.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// When it starts.
    pub begin: Time,
    /// When the data that ends it arrived.
    pub done: Option<Time>,
    /// Its frames by number, including TCP segments in flight at its start.
    pub frames: Vec<Frame>,
    /// The switches' entries for the flow at its start.
    pub kept: BTreeMap<NodeId, Kept>,
    /// Changes of the entries, in order of time.
    pub changes: Vec<Change>,
    /// Links that failed (`false`) or came up again, in order of time.
    pub links: Vec<(Time, LinkId, bool)>,
    /// The path of the last data, from the source's link to the destination's.
    pub path: Vec<LinkId>,
    /// Whether there were more than [`MOST_FRAMES`]; the frames that ended last are left out.
    pub cut: bool,
}

/// When a scene starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SceneStart {
    /// When the flow first sends a frame of this kind.
    With(Kind),
    /// At the first time; a link fails at the second.
    Before(Time, Time),
}

/// Follows one flow.
pub struct Follower<'a> {
    fabric: &'a Fabric,
    stop: &'a AtomicBool,
    flow: Flow,
    header: Header,
    begin: SceneStart,
    live: HashMap<PacketId, Frame>,
    /// Non-TCP frames in flight when the scene started (such as copies of an ARP Request) and their
    /// copies; they are not part of it.
    earlier: HashSet<PacketId>,
    frames: u32,
    kept: BTreeMap<NodeId, Kept>,
    down: BTreeSet<LinkId>,
    begun: bool,
    scene: Scene,
    all_delivered: Option<Time>,
}

impl<'a> Follower<'a> {
    /// Follows `flow` from `begin` until its data arrives over the path in the switches' entries, then
    /// sets `stop`.
    pub fn new(fabric: &'a Fabric, flow: &Flow, begin: SceneStart, stop: &'a AtomicBool) -> Self {
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

    /// The scene, if it has started.
    pub fn into_scene(mut self) -> Option<Scene> {
        std::mem::take(&mut self.live).into_values().for_each(|frame| self.keep(frame));
        self.scene.frames.sort_unstable_by_key(|frame| frame.number);
        self.scene.changes.sort_by_key(|change| change.at);
        self.begun.then_some(self.scene)
    }

    /// When the destination had received the whole flow, if that was before the scene ended.
    pub const fn all_delivered(&self) -> Option<Time> {
        self.all_delivered
    }

    /// Whether the scene is over: data has arrived, and every frame has ended.
    pub fn is_over(&self) -> bool {
        self.scene.done.is_some() && self.live.is_empty()
    }

    /// Whether to follow a new frame.
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
            Kind::Hello | Kind::Other | Kind::Probe => false,
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

    /// Adds a frame to the scene, unless it is full.
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
            if self.begin == SceneStart::With(header.kind) {
                self.begin_now(time);
            }
            self.new_frame(id, None);
        }
        if let Some(frame) = self.live.get_mut(&id) {
            let (what, ip_bytes) = (FrameType::of(header), header.ip_bytes);
            frame.hops.push(Hop { link, what, ip_bytes, sent: time, crossed: None });
        }
    }

    fn arrived(&mut self, time: Time, id: PacketId) {
        let Some(hop) = self.live.get_mut(&id).and_then(|frame| frame.hops.last_mut()) else { return };
        let left = departure(self.fabric.link(hop.link), hop.ip_bytes, hop.sent, time);
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

    /// Whether data that arrives at `time` can end the scene.
    fn may_end(&self, time: Time) -> bool {
        self.begun
            && match self.begin {
                SceneStart::With(_) => true,
                SceneStart::Before(_, failure) => time > failure,
            }
    }

    /// The path of the switches' confirmed entries, from the first link of `route`.
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
    fn traces(&self) -> bool {
        true
    }

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

    fn trace(&mut self, time: Time, event: TraceEvent) {
        if self.is_over() {
            return;
        }
        if let SceneStart::Before(begin, _) = self.begin
            && time >= begin
        {
            self.begin_now(begin);
        }
        match event {
            TraceEvent::Sent { frame, link, seen } => self.sent(time, frame, link, &seen.header),
            TraceEvent::Arrived { frame, .. } => self.arrived(time, frame),
            TraceEvent::Copied { frame, of } => {
                if let Some(number) = self.live.get(&of).map(|of| of.number) {
                    self.new_frame(frame, Some(number));
                } else if self.earlier.contains(&of) {
                    self.earlier.insert(frame);
                }
            }
            TraceEvent::Dropped { frame, reason, .. } => self.ended(time, frame, Fate::Dropped(reason)),
            TraceEvent::Consumed { frame } => self.ended(time, frame, Fate::Consumed),
            TraceEvent::Delivered { frame } => self.ended(time, frame, Fate::Delivered),
            TraceEvent::Parked { .. }
            | TraceEvent::Waits { .. }
            | TraceEvent::Turn { .. }
            | TraceEvent::Part { .. }
            | TraceEvent::Started { .. }
            | TraceEvent::Window { .. } => {}
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
