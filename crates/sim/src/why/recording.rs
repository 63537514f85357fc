//! [`Recording`]: the recorder of the packets of some flows.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};

use weft_scenario::Plan;
use weft_switching::{DropReason, Header, Kind, Mac};
use weft_transport::{Flags, Protocol};
use weft_units::{LinkId, Time};

use super::connection::{Connection, Fate, Hop, Journey, PacketType};
use super::path::PathTimes;
use crate::columns::FlowRecord;
use crate::hosts::{roce, uec};
use crate::journal::FlowNumber;
use crate::packet::PacketId;
use crate::record::Recorder;
use crate::sample::Sample;
use crate::trace::{Seen, TraceEvent, departure};

/// A packet on its way.
#[derive(Clone, Copy)]
struct Live {
    connection: FlowNumber,
    journey: usize,
    /// The link at whose queue its payload was cut off.
    trimmed_at: Option<LinkId>,
}

/// Records the packets of some flows until all have ended.
pub struct Recording<'a> {
    plan: &'a Plan,
    stop: &'a AtomicBool,
    /// The packets by connection: the flow, or the last of those that share one.
    pub connections: BTreeMap<FlowNumber, Connection>,
    /// The flows that have ended.
    pub records: BTreeMap<FlowNumber, FlowRecord>,
    /// The path that the flows are on, if packets are kept only while it follows them.
    pub path: Option<PathTimes<'a>>,
    asked: BTreeSet<FlowNumber>,
    live: HashMap<PacketId, Live>,
    /// Packets that the controller holds.
    parked: Vec<Live>,
    /// Since when sources wait, and when their rate lets them send; by flow and line.
    waiting: BTreeMap<(FlowNumber, u32), [Time; 2]>,
    /// Sources whose turn it is at this time, with what they waited for.
    turns: BTreeMap<FlowNumber, (Time, [Time; 2])>,
}

impl<'a> Recording<'a> {
    /// Records these flows of `plan`, then sets `stop`. With a path, packets are kept only while that follows them.
    pub fn new(
        plan: &'a Plan,
        flows: &[FlowNumber],
        path: Option<PathTimes<'a>>,
        stop: &'a AtomicBool,
    ) -> Self {
        let connection = |flow| {
            let connection = if path.is_none() { Connection::kept() } else { Connection::default() };
            (plan.traffic.connections.owner(flow), connection)
        };
        let others = path.iter().flat_map(PathTimes::flows);
        Self {
            plan,
            stop,
            connections: flows.iter().copied().chain(others).map(connection).collect(),
            records: BTreeMap::new(),
            path,
            asked: flows.iter().copied().collect(),
            live: HashMap::new(),
            parked: Vec::new(),
            waiting: BTreeMap::new(),
            turns: BTreeMap::new(),
        }
    }

    /// The packet's journey, if it is recorded.
    fn journey(&mut self, id: PacketId) -> Option<&mut Journey> {
        let live = self.live.get(&id)?;
        self.connections.get_mut(&live.connection)?.journey_mut(live.journey)
    }

    fn begin(&mut self, time: Time, id: PacketId, link: LinkId, seen: &Seen) {
        let Some(flow) = seen.flow else { return };
        let Some(connection) = self.connections.get_mut(&flow) else { return };
        let Some((segment, _)) = seen.segment else { return };
        let header = &seen.header;
        let source = Mac::of_host(self.plan.traffic.flows[flow as usize].src.0);
        let is_from_source = header.src.unmarked() == source;
        let is_tcp = header.kind == Kind::Tcp;
        let is_handshake = is_tcp && segment.flags.has(Flags::SYN);
        let is_needed = header.payload > 0 || is_from_source && is_handshake;
        let protocol = &self.plan.transport.protocol;
        let packet_type = match protocol {
            _ if is_handshake && segment.flags.has(Flags::ACK) => PacketType::SynAck,
            _ if is_handshake => PacketType::Syn,
            _ if header.payload > 0 => PacketType::Data,
            Protocol::Roce(_) if roce::is_nak(&segment) => PacketType::Nak,
            Protocol::Uec(_) if uec::is_nack(&segment) => PacketType::Nack,
            Protocol::Uec(_) if uec::is_credit(&segment, is_from_source) => PacketType::Credit,
            _ => PacketType::Ack,
        };
        let first = connection.position(seen.subflow, is_from_source, segment.seq);
        let length = if is_tcp && !is_handshake { i64::from(header.payload) } else { i64::from(is_needed) };
        // RoCE puts the next packet that it expects in the place of the sequence number.
        let next = if matches!(protocol, Protocol::Roce(_)) { segment.seq } else { segment.ack };
        let answers = !is_from_source && packet_type != PacketType::Credit;
        let acknowledges = answers.then(|| connection.position(seen.subflow, true, next));
        let positions = [first, first + length];
        let is_same = |live: &Live| {
            live.connection == flow
                && connection.journey(live.journey).is_some_and(|parked| {
                    (parked.is_from_source, parked.subflow, parked.positions)
                        == (is_from_source, seen.subflow, positions)
                })
        };
        if !self.plan.fabric.node(self.plan.fabric.link(link).from).is_host()
            && let Some(place) = self.parked.iter().position(is_same)
        {
            self.live.insert(id, self.parked.swap_remove(place));
            return;
        }
        let turn = self.turns.remove(&flow).filter(|(at, _)| is_from_source && *at == time);
        let journey = Journey {
            is_from_source,
            packet_type,
            is_needed,
            subflow: seen.subflow,
            positions,
            acknowledges,
            repeats: None,
            is_marked: false,
            waited: turn.map(|(_, waited)| waited),
            hops: Vec::new(),
            end: None,
        };
        if let Some(journey) = connection.add(journey) {
            self.live.insert(id, Live { connection: flow, journey, trimmed_at: None });
        }
    }

    fn sent(&mut self, time: Time, id: PacketId, link: LinkId, seen: &Seen) {
        if !self.live.contains_key(&id) {
            self.begin(time, id, link, seen);
        }
        if let Some(journey) = self.journey(id) {
            journey.hops.push(Hop { link, sent: time, crossed: None });
        }
    }

    fn arrived(&mut self, time: Time, id: PacketId, header: &Header) {
        let fabric = &self.plan.fabric;
        let Some(hop) = self.journey(id).and_then(|journey| journey.hops.last_mut()) else { return };
        let link = hop.link;
        hop.crossed = Some((departure(fabric.link(link), header.ip_bytes, hop.sent, time), time));
        if header.traffic_class & Header::CE == Header::CE
            && let Some(journey) = self.journey(id)
        {
            journey.is_marked = true;
        }
        if header.is_trimmed()
            && let Some(live) = self.live.get_mut(&id)
        {
            live.trimmed_at.get_or_insert(link);
        }
    }

    fn copied(&mut self, id: PacketId, of: PacketId) {
        let Some(live) = self.live.get(&of).copied() else { return };
        let Some(connection) = self.connections.get_mut(&live.connection) else { return };
        let Some(mut copy) = connection.journey(live.journey).cloned() else { return };
        copy.end = None;
        // A copy repeats nothing: its original is the same packet.
        let (is_needed, repeats) = (std::mem::take(&mut copy.is_needed), copy.repeats);
        if let Some(journey) = connection.add(copy)
            && let Some(copy) = connection.journey_mut(journey)
        {
            (copy.is_needed, copy.repeats) = (is_needed, repeats);
            self.live.insert(id, Live { journey, ..live });
        }
    }

    fn ended(&mut self, time: Time, id: PacketId, fate: Fate) {
        let trimmed_at = self.live.get(&id).and_then(|live| live.trimmed_at);
        let fate = match (fate, trimmed_at) {
            (Fate::Delivered, Some(link)) => Fate::Lost(DropReason::QueueFull, Some(link)),
            (Fate::Lost(DropReason::LateCopy | DropReason::NotForMe, _), _) => Fate::Spent,
            _ => fate,
        };
        if let Some(journey) = self.journey(id) {
            journey.end = Some((time, fate));
        }
        if let Some(live) = self.live.remove(&id)
            && let Some(connection) = self.connections.get_mut(&live.connection)
        {
            connection.forget();
        }
    }
}

impl Recorder for Recording<'_> {
    fn traces(&self) -> bool {
        true
    }

    fn flow(&mut self, record: &FlowRecord) {
        let number = record.flow.id.0;
        if self.asked.contains(&number) {
            if let (Some(path), Some(end)) = (&mut self.path, record.end) {
                path.finish(number, record.flow.start, end, &mut self.connections);
            }
            self.records.insert(number, record.clone());
            if self.records.len() == self.asked.len() {
                self.stop.store(true, Ordering::Relaxed);
            }
        }
    }

    fn sample(&mut self, _: &Sample) {}

    fn trace(&mut self, time: Time, event: TraceEvent) {
        match event {
            TraceEvent::Sent { frame, link, seen } => self.sent(time, frame, link, &seen),
            TraceEvent::Arrived { frame, seen, .. } => self.arrived(time, frame, &seen.header),
            TraceEvent::Copied { frame, of } => self.copied(frame, of),
            TraceEvent::Dropped { frame, reason, link, .. } => {
                self.ended(time, frame, Fate::Lost(reason, link));
            }
            TraceEvent::Parked { frame } => self.parked.extend(self.live.remove(&frame)),
            TraceEvent::Consumed { frame } => self.ended(time, frame, Fate::Spent),
            TraceEvent::Delivered { frame } => self.ended(time, frame, Fate::Delivered),
            TraceEvent::Waits { flow, line, from } => {
                if self.connections.contains_key(&flow) {
                    self.waiting.insert((flow, line), [time, from]);
                }
            }
            TraceEvent::Turn { flow, line } => {
                if let Some(waited) = self.waiting.remove(&(flow, line)) {
                    self.turns.insert(flow, (time, waited));
                }
            }
            TraceEvent::Started { flow } => {
                if let Some(path) = &mut self.path {
                    path.start(flow, time, &mut self.connections);
                }
            }
            TraceEvent::Part { flow, message } => {
                if let Some(path) = &mut self.path {
                    path.feed(message, time, &mut self.connections);
                }
                if let Some(connection) = self.connections.get_mut(&flow) {
                    connection.has_part(time);
                }
            }
            TraceEvent::Window { flow, bytes } => {
                if let Some(connection) = self.connections.get_mut(&flow) {
                    connection.has_window(time, bytes);
                }
            }
            TraceEvent::LinkChanged { .. } | TraceEvent::Kept { .. } => {}
        }
    }
}
