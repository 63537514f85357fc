//! The main loop: packets arrive at switches and hosts, timers fire, flows start.
//!
//! Compiled once per scheme ([`Engine`] is generic over the switch), so that switch processing is
//! inlined. The hot path is [`Engine::arrive`]: one event per packet and hop.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use weft_fabric::Fabric;
use weft_switching::{
    Action, Actions, Blueprint, Context, DropReason, Forwarding, Stream, Switch, pick, stream,
};
use weft_traffic::Flow;
use weft_transport::mptcp::Options;
use weft_transport::{Config, Segment};
use weft_units::{Duration, FlowId, HostId, LinkId, NodeId, PortId, Time};

use crate::central::ControlPlane;
use crate::event_queue::Due;
use crate::fault::{Fault, FaultKind};
use crate::host::{Connections, EndpointId};
use crate::ideal::Ideal;
use crate::multipath::Multipath;
use crate::network::Network;
use crate::observe::Observer;
use crate::packet::PacketId;
use crate::probe::Probe;
use crate::record::{Counters, FlowRecord, LinkReport, Recorder, RunReport};
use crate::resolver::Resolver;
use crate::trace::TraceEvent;
use crate::transmit::transmit;
use crate::window::Window;

/// The inputs of one run.
pub struct Setup<'a> {
    /// The network.
    pub fabric: &'a Fabric,
    /// The flows, in order of start time.
    pub flows: &'a [Flow],
    /// The number of traffic classes.
    pub classes: usize,
    /// The hosts' transport protocol.
    pub transport: &'a Config,
    /// The seed of the run.
    pub seed: u64,
    /// The latest time at which the run ends.
    pub limit: Time,
    /// The measurement window, over which link utilisation is averaged.
    pub window: (Time, Time),
    /// The probe's metrics and sampling interval.
    pub probe: Probe,
    /// Failures and restorations of links and nodes, in order of time.
    pub faults: &'a [Fault],
}

/// Progress of a run, and the flag to stop it.
#[derive(Default)]
pub struct Progress {
    /// Simulated time reached, in picoseconds.
    pub time_ps: AtomicU64,
    /// Packet-hops done.
    pub packet_hops: AtomicU64,
    /// Flows finished.
    pub flows: AtomicU64,
    /// Set to make the run stop soon.
    pub stop: AtomicBool,
}

pub(crate) const TIMER: u32 = 1 << 31;
/// Combined with a switch number: its deadline.
pub(crate) const SWITCH: u32 = 1 << 30;
/// Combined with a flow number: its source repeats its ARP Request.
pub(crate) const ASK: u32 = 1 << 29;
const FLOW_START: u32 = TIMER - 1;
const SAMPLE: u32 = TIMER - 2;
const FAULT: u32 = TIMER - 3;
/// A message or deadline of the central controller is due.
pub(crate) const CENTRAL: u32 = TIMER - 4;
/// The measurement window starts or ends.
const WINDOW: u32 = TIMER - 5;

/// Events between two updates of [`Progress`].
const PROGRESS_EVERY: u32 = 1 << 16;

/// A switch with its state in the engine.
pub(crate) struct SwitchNode<S> {
    pub(crate) scheme: S,
    pub(crate) random: Stream,
    pub(crate) first_link: u32,
    pub(crate) node: NodeId,
    /// The deadline that is scheduled.
    pub(crate) armed: Time,
}

pub(crate) struct SwitchContext<'a> {
    pub(crate) now: Time,
    pub(crate) net: &'a Network,
    pub(crate) first_link: u32,
    pub(crate) random: &'a mut Stream,
}

impl Context for SwitchContext<'_> {
    #[inline]
    fn now(&self) -> Time {
        self.now
    }

    #[inline]
    fn queue_bytes(&self, port: PortId) -> u64 {
        self.net.backlog(self.first_link + u32::from(port.0)).0
    }

    #[inline]
    fn random(&mut self) -> &mut Stream {
        self.random
    }
}

/// A run of one scheme.
pub struct Engine<'a, S> {
    pub(crate) setup: Setup<'a>,
    pub(crate) routes: Arc<Forwarding>,
    pub(crate) net: Network,
    pub(crate) switches: Vec<SwitchNode<S>>,
    pub(crate) connections: Connections,
    /// Address resolution, if the scheme uses it.
    pub(crate) resolver: Option<Resolver>,
    /// The central controller, if the scheme has one.
    pub(crate) central: Option<ControlPlane>,
    /// Multipath TCP connections, if the hosts use Multipath TCP.
    pub(crate) multipath: Option<Multipath>,
    next_flow: usize,
    next_fault: usize,
    pub(crate) finished: u64,
    pub(crate) finished_bytes: Vec<u64>,
    ideal: Ideal,
    /// Ideal completion times and hop counts of active flows, computed when each flow starts.
    pub(crate) ideals: HashMap<FlowId, (Duration, u32)>,
    window: Window,
    pub(crate) counters: Counters,
    pub(crate) observer: Observer,
    pub(crate) actions: Actions,
    pub(crate) segment: Segment,
}

impl<'a, S: Switch> Engine<'a, S> {
    /// The engine at time zero.
    ///
    /// # Panics
    /// If the flows are not in order of start time, the faults are not in order of time, or a flow's class is
    /// not below [`Setup::classes`].
    pub fn new<B: Blueprint<Switch = S>>(setup: Setup<'a>, routes: Arc<Forwarding>, blueprint: &B) -> Self {
        let fabric = setup.fabric;
        assert!(setup.flows.is_sorted_by_key(|flow| flow.start), "flows must be in order of start time");
        assert!(setup.faults.is_sorted_by_key(|fault| fault.at), "faults must be in order of time");
        let classed = |flow: &Flow| usize::from(flow.class) < setup.classes;
        assert!(setup.flows.iter().all(classed), "every flow's class must be below {}", setup.classes);
        let net = Network::new(fabric, setup.limit);
        let switches = fabric.switches().map(|node| SwitchNode {
            scheme: blueprint.switch(fabric, node),
            random: stream(setup.seed, "switch", u64::from(node.0)),
            first_link: net.first_link[node.index()],
            node,
            armed: Time::MAX,
        });
        let switches: Vec<_> = switches.collect();
        Self {
            central: blueprint.central().map(|central| ControlPlane::new(central, switches.len())),
            switches,
            net,
            routes,
            connections: Connections::default(),
            multipath: Multipath::new(setup.transport, setup.flows),
            resolver: blueprint.arp_cache().map(Resolver::new),
            next_flow: 0,
            next_fault: 0,
            finished: 0,
            finished_bytes: vec![0; setup.classes],
            ideal: Ideal::new(fabric),
            ideals: HashMap::new(),
            window: Window::new(setup.window),
            counters: Counters::default(),
            observer: Observer::new(fabric.links().len()),
            actions: Actions::default(),
            segment: Segment::default(),
            setup,
        }
    }

    /// Runs until every flow has finished and its connection is closed, or to the limit.
    pub fn run<R: Recorder>(&mut self, progress: &Progress, recorder: &mut R) -> RunReport {
        self.schedule_next_flow();
        self.schedule_next_fault();
        self.schedule_window();
        self.start_central();
        self.start_switches();
        if let Some(first) = self.setup.probe.start() {
            self.net.queue.schedule(SAMPLE, first);
        }
        let links = self.net.links.count();
        let mut until_progress = PROGRESS_EVERY;
        let mut stopped = false;
        while self.has_work() {
            let Some((time, due)) = self.net.queue.first_due() else {
                if self.net.renew() {
                    continue;
                }
                break;
            };
            self.net.now = time;
            match due {
                Due::Leaf(link) if link < links => self.arrive(link, recorder),
                Due::Leaf(line) => self.net.line_free(line - links),
                Due::Far(id) if id & TIMER != 0 => self.timer(id & !TIMER, time, recorder),
                Due::Far(id) => self.control(id, time, recorder),
            }
            until_progress -= 1;
            if until_progress == 0 {
                until_progress = PROGRESS_EVERY;
                self.counters.events += u64::from(PROGRESS_EVERY);
                self.report_progress(progress);
                if progress.stop.load(Ordering::Relaxed) {
                    stopped = true;
                    break;
                }
            }
        }
        self.counters.events += u64::from(PROGRESS_EVERY - until_progress);
        self.report_progress(progress);
        self.finish(recorder, stopped)
    }

    /// Whether any event that affects the result is left.
    #[inline]
    fn has_work(&self) -> bool {
        self.connections.live() > 0
            || self.next_flow < self.setup.flows.len()
            || self.resolver.as_ref().is_some_and(|resolver| !resolver.is_idle())
    }

    /// A packet reaches the far end of `link`.
    #[inline]
    fn arrive<R: Recorder>(&mut self, link: u32, recorder: &mut R) {
        let net = &mut self.net;
        let (packet, next, far_end, far_port) = net.links.arrive(link);
        net.advance(link, next);
        self.counters.packet_hops += 1;
        if R::TRACES {
            recorder.trace(net.now, TraceEvent::Arrived { frame: packet, link: net.id(link) });
        }
        if net.packets.get(packet).is_watched() {
            let ends = far_end.split().is_err();
            Self::observe(&mut self.observer, net, &mut self.connections, (link, ends), packet);
        }
        let number = match far_end.split() {
            Ok(number) => number,
            Err(host) => return self.deliver(host, packet, recorder),
        };
        self.switch_receives(number as usize, PortId(far_port), packet, recorder);
    }

    /// Switch `number` processes a packet received on `ingress`.
    #[inline(always)]
    pub(crate) fn switch_receives<R: Recorder>(
        &mut self,
        number: usize,
        ingress: PortId,
        packet: PacketId,
        recorder: &mut R,
    ) {
        let (net, switch) = (&mut self.net, &mut self.switches[number]);
        let first = switch.first_link;
        let mut context = SwitchContext { now: net.now, net, first_link: first, random: &mut switch.random };
        let header = &net.packets.get(packet).header;
        switch.scheme.receive(&mut context, ingress, header, &mut self.actions);
        if R::TRACES {
            self.trace_kept(number, recorder);
        }
        match self.actions.take_only() {
            Some(Action::Send(port)) => self.send(first + u32::from(port.0), packet, recorder),
            Some(Action::Drop(reason)) => self.drop(packet, reason, recorder),
            _ => self.act(number, ingress, packet, recorder),
        }
    }

    /// Enqueues a packet on `link`, or drops it.
    #[inline(always)]
    pub(crate) fn send<R: Recorder>(&mut self, link: u32, packet: PacketId, recorder: &mut R) {
        if R::TRACES {
            let (link, header) = (self.net.id(link), &self.net.packets.get(packet).header);
            recorder.trace(self.net.now, TraceEvent::Sent { frame: packet, link, header });
        }
        if let Err(reason) = self.net.transmit(link, packet) {
            self.drop(packet, reason, recorder);
        }
    }

    /// A watched packet reaches the far end of `link`.
    #[cold]
    fn observe(
        observer: &mut Observer,
        net: &Network,
        connections: &mut Connections,
        (link, ends): (u32, bool),
        packet: PacketId,
    ) {
        let watched = net.packets.get(packet);
        let header = &watched.header;
        let wire_bytes = net.links.wire_bytes(link, header.ip_bytes);
        let connection = watched.endpoint().map(|id| &mut connections.shared[id as usize / 2]);
        observer.crossed(net.now, (net.id(link), ends), wire_bytes, (packet, header), connection);
    }

    /// A packet reaches a host.
    #[inline]
    fn deliver<R: Recorder>(&mut self, host: u32, packet: PacketId, recorder: &mut R) {
        let to = self.net.packets.get(packet);
        let Some(id) = to.endpoint() else {
            return self.deliver_alone(HostId(host), packet, recorder);
        };
        if to.header.dst.host().is_none_or(|dst| dst != host) {
            return self.drop(packet, DropReason::NotForMe, recorder);
        }
        if R::TRACES {
            recorder.trace(self.net.now, TraceEvent::Delivered { frame: packet });
        }
        if self.multipath.is_some() {
            return self.deliver_multipath(id, packet, recorder);
        }
        self.net.packets.read_segment(packet, &mut self.segment);
        self.net.packets.remove(packet);
        self.counters.packets_delivered += 1;
        self.connections.shared[id as usize / 2].in_flight -= 1;
        let side = &mut self.connections.sides[id as usize];
        side.endpoint.on_segment(self.setup.transport, self.net.now, &self.segment);
        self.pump(id, recorder);
    }

    /// Sends an endpoint's pending segments; called after every event that may produce some.
    #[inline]
    fn pump<R: Recorder>(&mut self, id: EndpointId, recorder: &mut R) {
        let now = self.net.now;
        let small_queues = self.setup.transport.small_queues;
        let number = id as usize / 2;
        let side = &mut self.connections.sides[id as usize];
        let shared = &mut self.connections.shared[number];
        if id & 1 == 1 && shared.end.is_none() && side.endpoint.delivered() >= shared.flow.bytes {
            shared.end = Some(now);
            side.endpoint.close();
            self.finished += 1;
            self.finished_bytes[usize::from(shared.flow.class)] += shared.flow.bytes;
        }
        while side.endpoint.poll_transmit(self.setup.transport, now, &mut self.segment) {
            let sent = (&self.segment, Options::None);
            let taken = transmit(&mut self.net, &mut self.counters, (side, shared), id, sent, recorder);
            if small_queues && taken && self.segment.len > 0 {
                side.endpoint.leaves_at(now, self.net.departure(side.nic), self.segment.len);
            }
        }
        if small_queues && side.endpoint.held_until() < side.wake {
            side.wake = side.endpoint.held_until();
            self.net.queue.schedule(TIMER | id, side.wake);
        }
        let deadline = side.endpoint.next_timeout();
        if deadline < side.armed {
            side.armed = deadline;
            self.net.queue.schedule(TIMER | id, deadline);
        }
        if shared.in_flight == 0 {
            self.release(number as u32, recorder);
        }
    }

    /// Handles a timer event of an endpoint; the deadline may have moved since it was scheduled.
    fn timer<R: Recorder>(&mut self, id: EndpointId, time: Time, recorder: &mut R) {
        let side = &mut self.connections.sides[id as usize];
        if !(side.armed == time || side.wake == time) || !self.connections.shared[id as usize / 2].live {
            return;
        }
        for at in [&mut side.armed, &mut side.wake] {
            if *at == time {
                *at = Time::MAX;
            }
        }
        if self.multipath.is_some() {
            return self.multipath_timer(id, recorder);
        }
        if side.endpoint.next_timeout() <= time {
            side.endpoint.on_timeout(self.setup.transport, time);
        }
        self.pump(id, recorder);
    }

    /// Drops a packet.
    #[cold]
    pub(crate) fn drop<R: Recorder>(&mut self, packet: PacketId, reason: DropReason, recorder: &mut R) {
        if R::TRACES {
            recorder.trace(self.net.now, TraceEvent::Dropped { frame: packet, reason });
        }
        self.counters.count_drop(reason);
        let dropped = self.net.packets.get(packet);
        if let Some(id) = dropped.endpoint() {
            let connection = &mut self.connections.shared[id as usize / 2];
            self.observer.dropped(self.net.now, packet, &dropped.header, reason, connection);
        }
        self.end(packet, !matches!(reason, DropReason::NotForMe | DropReason::LateCopy), recorder);
    }

    /// Removes a packet from the network; `lost` if that is a loss for its flow.
    pub(crate) fn end<R: Recorder>(&mut self, packet: PacketId, lost: bool, recorder: &mut R) {
        let ended = self.net.packets.get(packet);
        let (endpoint, carries_data) = (ended.endpoint(), ended.header.payload > 0);
        self.net.packets.remove(packet);
        let Some(endpoint) = endpoint else { return };
        let number = endpoint as usize / 2;
        let shared = &mut self.connections.shared[number];
        shared.in_flight -= 1;
        shared.drops += u32::from(carries_data && lost);
        if shared.in_flight == 0 {
            self.release(number as u32, recorder);
        }
    }

    /// Frees a connection's slot once its packets are gone and both sides have closed, or one has
    /// aborted.
    fn release<R: Recorder>(&mut self, number: u32, recorder: &mut R) {
        if self.multipath.is_some() {
            return self.release_multipath(number, recorder);
        }
        let at = number as usize;
        let shared = &self.connections.shared[at];
        let [client, server] = [0, 1].map(|side| &self.connections.sides[at * 2 + side].endpoint);
        let over = client.is_closed() && server.is_closed() || client.is_aborted() || server.is_aborted();
        if shared.live && shared.in_flight == 0 && over {
            self.record(number, recorder);
            self.connections.close(number);
        }
    }

    fn record<R: Recorder>(&mut self, number: u32, recorder: &mut R) {
        if self.multipath.is_some() {
            return self.record_multipath(number, recorder);
        }
        let at = number as usize;
        let shared = &self.connections.shared[at];
        let (ideal, hops) = self.ideals.remove(&shared.flow.id).unwrap_or_default();
        let sender = self.connections.sides[at * 2].endpoint.stats();
        let receiver = self.connections.sides[at * 2 + 1].endpoint.stats();
        recorder.flow(&FlowRecord {
            flow: shared.flow,
            end: shared.end,
            ideal,
            hops,
            subflows: 1,
            packets_sent: u64::from(sender.data_segments_sent),
            retransmissions: u64::from(sender.retransmissions),
            timeouts: u64::from(sender.timeouts),
            out_of_order: u64::from(receiver.out_of_order),
            first_transmissions_received: u64::from(receiver.first_transmissions_received),
            ecn_marks: u64::from(receiver.ecn_marks),
            drops: u64::from(shared.drops),
            resolution: shared.opened.saturating_since(shared.flow.start),
            exploration: shared.seen.exploration,
            moves: shared.seen.moves,
            path: shared.seen.path.clone(),
        });
    }

    fn schedule_next_flow(&mut self) {
        if let Some(flow) = self.setup.flows.get(self.next_flow) {
            self.net.queue.schedule(FLOW_START, flow.start);
        }
    }

    fn schedule_next_fault(&mut self) {
        if let Some(fault) = self.setup.faults.get(self.next_fault) {
            self.net.queue.schedule(FAULT, fault.at);
        }
    }

    fn schedule_window(&mut self) {
        if let Some(time) = self.window.next() {
            self.net.queue.schedule(WINDOW, time);
        }
    }

    fn control<R: Recorder>(&mut self, id: u32, time: Time, recorder: &mut R) {
        match id {
            FLOW_START => self.start_flow(recorder),
            SAMPLE => self.sample(recorder),
            FAULT => self.faults_due(recorder),
            WINDOW => self.pass_window(),
            CENTRAL => self.run_central(recorder),
            id if id & SWITCH != 0 => self.wake_switch((id & !SWITCH) as usize, time, recorder),
            id => self.ask(id & !ASK, recorder),
        }
    }

    fn start_flow<R: Recorder>(&mut self, recorder: &mut R) {
        // Faults at the moment of the start take effect before it.
        self.faults_due(recorder);
        let number = self.next_flow;
        let flow = &self.setup.flows[number];
        self.next_flow += 1;
        self.schedule_next_flow();
        let ideal = self.ideal.fct(self.setup.fabric, self.routes.routes(), self.setup.transport, flow);
        self.ideals.insert(flow.id, ideal);
        let question = (flow.src, flow.dst);
        match &self.resolver {
            Some(resolver) if !resolver.knows(question, self.net.now) => {
                self.resolve(number as u32, recorder)
            }
            _ => self.open(number as u32, recorder),
        }
    }

    /// Opens the connection of flow `number`.
    pub(crate) fn open<R: Recorder>(&mut self, number: u32, recorder: &mut R) {
        let flow = self.setup.flows[number as usize];
        if self.multipath.is_some() {
            return self.open_multipath(&flow, recorder);
        }
        let nics = self.nics(&flow);
        let id = self.connections.open(self.setup.transport, self.net.now, &flow, nics);
        self.pump(id, recorder);
    }

    /// The links on which the two hosts of a flow send: each host picks one of its links on a shortest
    /// path by the flow's hash, as in link aggregation (IEEE 802.1AX, 6.2.4).
    pub(crate) fn nics(&self, flow: &Flow) -> [u32; 2] {
        let hash = weft_switching::flow_hash(flow.src, flow.dst, flow.sport, flow.dport);
        [(flow.src, flow.dst), (flow.dst, flow.src)].map(|(from, to)| {
            let node = self.setup.fabric.host_node(from);
            let ports = self.routes.routes().next_hops(node, to);
            let drawn = ports.get(pick(weft_switching::mix64(u64::from(hash)), ports.len()));
            self.net.first_link[node.index()] + drawn.map_or(0, |port| u32::from(port.0))
        })
    }

    fn sample<R: Recorder>(&mut self, recorder: &mut R) {
        let mut class_bytes = self.finished_bytes.clone();
        let mut active = 0;
        for (number, shared) in self.connections.shared.iter().enumerate().filter(|(_, shared)| shared.live) {
            if shared.end.is_some() {
                continue;
            }
            let delivered = match &self.multipath {
                Some(multipath) => multipath.delivered(number as u32),
                None => Some(self.connections.sides[number * 2 + 1].endpoint.delivered()),
            };
            active += u64::from(delivered.is_some());
            class_bytes[usize::from(shared.flow.class)] += delivered.unwrap_or(0);
        }
        let (probe, fabric) = (&mut self.setup.probe, self.setup.fabric);
        let next = probe.sample(fabric, &self.net, &class_bytes, active, recorder);
        if probe.samples_switches() {
            for switch in &mut self.switches {
                let entries = switch.scheme.table_entries(self.net.now);
                probe.sample_switch(self.net.now, switch.node, entries, recorder);
            }
        }
        if self.has_work() {
            self.net.queue.schedule(SAMPLE, next);
        }
    }

    /// Handles an end of the measurement window.
    fn pass_window(&mut self) {
        self.window.read(self.setup.fabric, &self.net);
        self.schedule_window();
    }

    /// Applies the faults that are due and not yet applied.
    fn faults_due<R: Recorder>(&mut self, recorder: &mut R) {
        while self.setup.faults.get(self.next_fault).is_some_and(|fault| fault.at <= self.net.now) {
            self.fault(recorder);
        }
    }

    /// Applies a failure or restoration of links; routes change at once (control-plane delay is not modelled).
    fn fault<R: Recorder>(&mut self, recorder: &mut R) {
        let fault = &self.setup.faults[self.next_fault];
        let (links, up) = (fault.links.clone(), fault.kind == FaultKind::Heal);
        self.next_fault += 1;
        self.schedule_next_fault();
        let fabric = self.setup.fabric;
        self.observer.event(self.net.now, if up { &[] } else { &links }, &mut self.connections);
        for &id in &links {
            let (from, port) = (fabric.link(id).from, fabric.link(id).from_port);
            if R::TRACES {
                recorder.trace(self.net.now, TraceEvent::LinkChanged { link: id, up });
            }
            for packet in self.net.set_up(id, up) {
                self.drop(packet, DropReason::LinkDown, recorder);
            }
            if let Ok(number) = self.switches.binary_search_by_key(&from, |switch| switch.node) {
                self.tell_switch(number, recorder, |scheme, ctx, out| {
                    scheme.port_changed(ctx, port, up, out);
                });
            }
        }
        self.tell_central(&links, up);
        self.routes = Arc::new(Forwarding::new(fabric, |link| self.net.is_up(link)));
        for switch in &mut self.switches {
            switch.scheme.routes_changed(&self.routes);
        }
        for number in 0..self.connections.shared.len() {
            let nics = self.nics_of(number);
            let sides = &mut self.connections.sides[number * 2..];
            sides.iter_mut().zip(nics).for_each(|(side, nic)| side.nic = nic);
        }
    }

    fn report_progress(&self, progress: &Progress) {
        progress.time_ps.store(self.net.now.ps(), Ordering::Relaxed);
        progress.packet_hops.store(self.counters.packet_hops, Ordering::Relaxed);
        progress.flows.store(self.finished, Ordering::Relaxed);
    }

    /// Records the remaining flows and builds the report.
    fn finish<R: Recorder>(&mut self, recorder: &mut R, stopped: bool) -> RunReport {
        for number in self.resolver.as_mut().map_or_else(Vec::new, Resolver::abandon) {
            let flow = &self.setup.flows[number as usize];
            if self.add_bundle(flow).is_none() {
                self.connections.open(self.setup.transport, self.net.now, flow, [0; 2]);
            }
        }
        for number in 0..self.connections.shared.len() {
            if self.connections.shared[number].live && self.stands_for_connection(number as u32) {
                self.record(number as u32, recorder);
            }
        }
        while self.window.next().is_some() {
            self.window.read(self.setup.fabric, &self.net);
        }
        self.counters.packets_in_flight = self.net.packets.live() as u64;
        let links = (0..self.setup.fabric.links().len() as u32).map(LinkId);
        let multipath = self.multipath.as_ref().map_or(0, Multipath::memory);
        RunReport {
            stopped,
            end: self.net.now,
            window: self.setup.window,
            counters: self.counters.clone(),
            flows_started: self.next_flow as u64,
            flows_finished: self.finished,
            links: links.map(|id| self.link_report(id)).collect(),
            events: self.observer.events.clone(),
            controller: self.central.as_ref().map(ControlPlane::report),
            multipath: self.multipath.as_ref().map(Multipath::report),
            state_bytes: (self.net.memory() + self.connections.memory() + multipath) as u64,
        }
    }

    fn link_report(&self, id: LinkId) -> LinkReport {
        LinkReport {
            id,
            counters: self.net.counters(id),
            window_bytes: self.window.bytes(id),
            floods: self.observer.floods[id.index()],
            up: self.net.is_up(id),
        }
    }
}
