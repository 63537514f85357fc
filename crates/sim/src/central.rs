//! [`ControlPlane`]: the central controller of a run, and the messages in flight between it and the switches.
//!
//! A switch installs rules one at a time; a transaction is complete when all its switches have confirmed.
//! Frames held at the controller keep their slot in the packet store.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use weft_control::{
    Command, Content, Controller, End, FrameOut, FrameRef, MadeFrame, Packet, PortNo, RuleChange, SwitchId,
    SwitchPort, Tcp, Transaction,
};
use weft_fabric::Fabric;
use weft_switching::smoc::{address, port_id, port_no, switch_id};
use weft_switching::{Actions, Central, DropReason, Header, Kind, Switch, Timing};
use weft_units::{Duration, LinkId, PortId, Time};

use crate::engine::{CENTRAL, Engine};
use crate::multipath;
use crate::packet::PacketId;
use crate::record::{ControllerReport, Recorder};

/// A message in flight, or an event that is due.
enum Message {
    /// To the controller: a frame.
    Frame { at: SwitchPort, cookie: u64, packet: Packet, frame: FrameRef },
    /// To the controller: a rule reached its idle timeout.
    RuleRemoved { switch: SwitchId, cookie: u64, packets: u64, bytes: u64 },
    /// To the controller: a port went down or came up.
    Port { at: SwitchPort, up: bool },
    /// To the controller: there is a link from the one port to the other.
    Link { from: SwitchPort, to: SwitchPort },
    /// To the controller: a switch finished its part of a transaction.
    Confirmed { transaction: u64 },
    /// The controller's deadline is due.
    Deadline,
    /// A switch finishes one rule change.
    Rule { switch: usize, change: RuleChange },
    /// To a switch: a frame to send.
    Out { switch: usize, in_port: Option<PortNo>, ports: Vec<PortNo>, frame: FrameOut },
}

/// A frame reported to the controller.
struct Held {
    /// The packet, if it waits here; `None` for a report on a packet that was forwarded.
    packet: Option<PacketId>,
    /// Messages in flight that send it.
    pending: u32,
    /// The controller released its reference.
    forgotten: bool,
}

/// A transaction that is not confirmed yet.
struct Open {
    waits: usize,
    release: Vec<(SwitchPort, FrameRef)>,
    /// When the first of the frames was reported to the controller.
    since: Option<Time>,
}

/// The controller, and the messages in flight.
pub(crate) struct ControlPlane {
    controller: Box<dyn Controller>,
    timing: Timing,
    due: BTreeMap<(Time, u64), Message>,
    sequence: u64,
    /// Scheduled events.
    armed: BinaryHeap<Reverse<Time>>,
    /// The controller deadline that is scheduled.
    deadline: Time,
    held: BTreeMap<FrameRef, (Held, Time)>,
    next_frame: u64,
    open: BTreeMap<u64, Open>,
    /// Per switch: when it will have installed all rules sent to it.
    busy_until: Vec<Time>,
    setups: Vec<Duration>,
    packet_ins: u64,
    rules: u64,
}

impl ControlPlane {
    /// The control plane for `switches` switches, with nothing in flight.
    pub(crate) fn new(central: Central, switches: usize) -> Self {
        Self {
            controller: central.controller,
            timing: central.timing,
            due: BTreeMap::new(),
            sequence: 0,
            armed: BinaryHeap::new(),
            deadline: Time::MAX,
            held: BTreeMap::new(),
            next_frame: 0,
            open: BTreeMap::new(),
            busy_until: vec![Time::ZERO; switches],
            setups: Vec::new(),
            packet_ins: 0,
            rules: 0,
        }
    }

    fn push(&mut self, at: Time, message: Message) {
        self.sequence += 1;
        self.due.insert((at, self.sequence), message);
    }

    /// Sends a message to the controller.
    fn tell(&mut self, now: Time, message: Message) {
        self.push(now + self.timing.control_delay, message);
    }

    /// The controller's counters.
    pub(crate) fn report(&self) -> ControllerReport {
        ControllerReport {
            packet_ins: self.packet_ins,
            rules: self.rules,
            setups: self.setups.clone(),
            counters: self.controller.counters(),
        }
    }
}

impl<S: Switch> Engine<'_, S> {
    /// The engine's number of the switch with this controller ID.
    fn switch_number(&self, id: SwitchId) -> Option<usize> {
        self.switches.binary_search_by_key(&id, |switch| switch_id(switch.node)).ok()
    }

    /// At the start the controller knows the topology, and all rules not triggered by a flow are installed.
    pub(crate) fn start_central(&mut self) {
        let Some(mut plane) = self.central.take() else { return };
        let fabric = self.setup.fabric;
        let (now, mut commands) = (self.net.now, Vec::new());
        let is_up = |link: LinkId| fabric.link(link).up;
        for switch in &self.switches {
            let links = fabric.ports(switch.node).iter().enumerate().filter(|(_, link)| is_up(**link));
            let ports: Vec<PortNo> = links.map(|(port, _)| port_no(PortId(port as u16))).collect();
            plane.controller.switch_up(now.into(), switch_id(switch.node), &ports, &[], &mut commands);
        }
        for (from, to) in cables(fabric, is_up) {
            plane.controller.link_changed(now.into(), from, to, true, &mut commands);
        }
        for &host in fabric.hosts() {
            for &link in fabric.ports(host).iter().filter(|link| is_up(**link)) {
                let (to, port) = (fabric.link(link).to, fabric.link(link.reverse()).from_port);
                let at = SwitchPort { switch: switch_id(to), port: port_no(port) };
                if let Some(host) = fabric.node(host).host {
                    let mac = weft_switching::Mac::of_host(host.0);
                    plane.controller.host_known(now.into(), at, mac, &[address(host)], &mut commands);
                }
            }
        }
        while !commands.is_empty() {
            for command in std::mem::take(&mut commands) {
                if let Command::Install(Transaction { id, rules, .. }) = command {
                    plane.rules += rules.len() as u64;
                    for (switch, change) in rules {
                        if let Some(number) = self.switch_number(switch) {
                            self.switches[number].scheme.apply(now, &change);
                        }
                    }
                    if id != 0 {
                        plane.controller.installed(now.into(), id, &mut commands);
                    }
                }
            }
        }
        self.central = Some(plane);
        self.arm_central();
    }

    /// Schedules the earliest pending message.
    fn arm_central(&mut self) {
        let Some(plane) = &mut self.central else { return };
        let deadline = plane.controller.next_deadline().into();
        if deadline < plane.deadline {
            plane.deadline = deadline;
            plane.push(deadline, Message::Deadline);
        }
        let Some((&(first, _), _)) = plane.due.first_key_value() else { return };
        if plane.armed.peek().is_none_or(|Reverse(armed)| first < *armed) {
            plane.armed.push(Reverse(first));
            self.net.queue.schedule(CENTRAL, first);
        }
    }

    /// Processes the messages that are due.
    pub(crate) fn run_central<R: Recorder>(&mut self, recorder: &mut R) {
        let now = self.net.now;
        let Some(plane) = &mut self.central else { return };
        while plane.armed.peek().is_some_and(|Reverse(armed)| *armed <= now) {
            plane.armed.pop();
        }
        while let Some(plane) = &mut self.central {
            let Some(entry) = plane.due.first_entry().filter(|entry| entry.key().0 <= now) else { break };
            let message = entry.remove();
            self.receive_message(message, recorder);
        }
        self.arm_central();
    }

    fn receive_message<R: Recorder>(&mut self, message: Message, recorder: &mut R) {
        let now = self.net.now;
        let Some(plane) = &mut self.central else { return };
        let (controller, mut commands) = (&mut plane.controller, Vec::new());
        match message {
            Message::Frame { at, cookie, packet, frame } => {
                plane.packet_ins += 1;
                controller.packet_in(now.into(), at, cookie, &packet, frame, &mut commands);
            }
            Message::RuleRemoved { switch, cookie, packets, bytes } => {
                controller.rule_removed(now.into(), switch, cookie, packets, bytes, &mut commands);
            }
            Message::Port { at, up } => controller.port_changed(now.into(), at, up, &mut commands),
            Message::Link { from, to } => controller.link_changed(now.into(), from, to, true, &mut commands),
            Message::Deadline => {
                plane.deadline = Time::MAX;
                controller.on_deadline(now.into(), &mut commands);
            }
            Message::Confirmed { transaction } => self.confirm(transaction, &mut commands),
            Message::Rule { switch, change } => {
                self.switches[switch].scheme.apply(now, &change);
                self.arm(switch);
            }
            Message::Out { switch, in_port, ports, frame } => {
                self.send_out(switch, in_port, &ports, frame, recorder);
            }
        }
        for command in commands {
            self.obey(command, recorder);
        }
    }

    /// One more switch has finished its part of a transaction.
    fn confirm(&mut self, transaction: u64, commands: &mut Vec<Command>) {
        let now = self.net.now;
        let Some(plane) = &mut self.central else { return };
        let std::collections::btree_map::Entry::Occupied(mut entry) = plane.open.entry(transaction) else {
            return;
        };
        entry.get_mut().waits -= 1;
        if entry.get().waits > 0 {
            return;
        }
        let open = entry.remove();
        plane.setups.extend(open.since.map(|since| now.saturating_since(since)));
        for (at, frame) in open.release {
            self.send_later(at.switch, Some(at.port), vec![PortNo::TABLE], FrameOut::Held(frame), now);
        }
        if let Some(plane) = &mut self.central {
            plane.controller.installed(now.into(), transaction, commands);
        }
    }

    /// Executes a command of the controller.
    fn obey<R: Recorder>(&mut self, command: Command, recorder: &mut R) {
        let now = self.net.now;
        let Some(plane) = &mut self.central else { return };
        let sent = now + plane.timing.install_delay;
        match command {
            Command::Install(transaction) => self.install(transaction, sent),
            Command::PacketOut { switch, in_port, ports, frame } => {
                self.send_later(switch, in_port, ports, frame, sent);
            }
            Command::Forget(frame) => {
                let Some((held, _)) = plane.held.get_mut(&frame) else { return };
                held.forgotten = true;
                if held.pending == 0
                    && let Some((Held { packet: Some(packet), .. }, _)) = plane.held.remove(&frame)
                {
                    self.drop(packet, DropReason::NotReleased, recorder);
                }
            }
        }
    }

    /// Schedules the rules of a transaction, sent at `sent`, on their switches.
    fn install(&mut self, Transaction { id, rules, release }: Transaction, sent: Time) {
        let Some(plane) = &self.central else { return };
        let arrives = sent + plane.timing.control_delay;
        let mut touched = Vec::new();
        for (switch, change) in rules {
            let Some(switch) = self.switch_number(switch) else { continue };
            let Some(plane) = &mut self.central else { return };
            let done = plane.busy_until[switch].max(arrives) + plane.timing.rule_latency;
            plane.busy_until[switch] = done;
            plane.rules += 1;
            plane.push(done, Message::Rule { switch, change });
            if !touched.contains(&switch) {
                touched.push(switch);
            }
        }
        let Some(plane) = self.central.as_mut().filter(|_| id != 0) else { return };
        let times = touched.iter().map(|switch| plane.busy_until[*switch] + plane.timing.control_delay);
        let mut times: Vec<Time> = times.collect();
        if times.is_empty() {
            times.push(sent);
        }
        let since = release.iter().filter_map(|(_, frame)| Some(plane.held.get(frame)?.1)).min();
        plane.open.insert(id, Open { waits: times.len(), release, since });
        times.into_iter().for_each(|at| plane.push(at, Message::Confirmed { transaction: id }));
    }

    /// Makes a switch send a frame once the message arrives, after the rules sent to it earlier.
    fn send_later(
        &mut self,
        switch: SwitchId,
        in_port: Option<PortNo>,
        ports: Vec<PortNo>,
        frame: FrameOut,
        sent: Time,
    ) {
        let Some(switch) = self.switch_number(switch) else { return };
        let Some(plane) = &mut self.central else { return };
        if let FrameOut::Held(frame) = frame
            && let Some((held, _)) = plane.held.get_mut(&frame)
        {
            held.pending += 1;
        }
        let at = (sent + plane.timing.control_delay).max(plane.busy_until[switch]);
        plane.push(at, Message::Out { switch, in_port, ports, frame });
    }

    /// A switch sends a frame on behalf of the controller.
    fn send_out<R: Recorder>(
        &mut self,
        number: usize,
        in_port: Option<PortNo>,
        ports: &[PortNo],
        frame: FrameOut,
        recorder: &mut R,
    ) {
        let packet = match frame {
            FrameOut::Made(frame) => self.net.packets.packet_without_segment(&made(frame)),
            FrameOut::Held(frame) => match self.take_held(frame) {
                Some(packet) => packet,
                None => return,
            },
        };
        if let FrameOut::Made(_) = frame {
            self.counters.packets_of_switches += 1;
        }
        if ports == [PortNo::TABLE] {
            return self.switch_receives(number, in_port.map_or(PortId(u16::MAX), port_id), packet, recorder);
        }
        let mut actions = Actions::default();
        ports.iter().for_each(|port| actions.send(port_id(*port)));
        std::mem::swap(&mut self.actions, &mut actions);
        self.act(number, PortId(u16::MAX), packet, recorder);
    }

    /// The packet of a frame to send: the packet itself if this is the last use, otherwise a copy.
    fn take_held(&mut self, frame: FrameRef) -> Option<PacketId> {
        let plane = self.central.as_mut()?;
        let (held, _) = plane.held.get_mut(&frame)?;
        held.pending -= 1;
        let packet = held.packet;
        if held.forgotten && held.pending == 0 {
            plane.held.remove(&frame);
            return packet;
        }
        packet.map(|packet| self.copy(packet))
    }

    /// Reports `packet` to the controller, which holds it if `waits` is set.
    pub(crate) fn report_frame(&mut self, at: (usize, PortId), cookie: u64, packet: PacketId, waits: bool) {
        let (now, number, ingress) = (self.net.now, at.0, at.1);
        let at = SwitchPort { switch: switch_id(self.switches[number].node), port: port_no(ingress) };
        let shown = self.shown(packet);
        let Some(plane) = &mut self.central else { return };
        let frame = FrameRef(plane.next_frame);
        plane.next_frame += 1;
        let held = Held { packet: waits.then_some(packet), pending: 0, forgotten: false };
        plane.held.insert(frame, (held, now));
        plane.tell(now, Message::Frame { at, cookie, packet: shown, frame });
        self.arm_central();
    }

    /// Reports a rule's idle timeout to the controller.
    pub(crate) fn report_removed(&mut self, number: usize, cookie: u64, packets: u64, bytes: u64) {
        let (now, switch) = (self.net.now, switch_id(self.switches[number].node));
        if let Some(plane) = &mut self.central {
            plane.tell(now, Message::RuleRemoved { switch, cookie, packets, bytes });
        }
        self.arm_central();
    }

    /// Reports failed or restored links to the controller.
    pub(crate) fn tell_central(&mut self, links: &[LinkId], up: bool) {
        let (fabric, now) = (self.setup.fabric, self.net.now);
        let Some(plane) = &mut self.central else { return };
        let port = |link: LinkId| {
            let link = fabric.link(link);
            let is_switch = !fabric.node(link.from).is_host();
            is_switch.then(|| SwitchPort { switch: switch_id(link.from), port: port_no(link.from_port) })
        };
        for at in links.iter().filter_map(|link| port(*link)) {
            plane.tell(now, Message::Port { at, up });
        }
        for link in links.iter().filter(|_| up) {
            if let (Some(from), Some(to)) = (port(*link), port(link.reverse())) {
                plane.tell(now, Message::Link { from, to });
            }
        }
        self.arm_central();
    }

    /// The controller's view of a packet.
    fn shown(&self, id: PacketId) -> Packet {
        let header = &self.net.packets.get(id).header;
        let hosts = header.source().zip(header.destination());
        let content = match (header.kind, hosts) {
            (Kind::Tcp, Some((src, dst))) => Content::Tcp(Tcp {
                source: End { address: address(src), port: header.sport },
                destination: End { address: address(dst), port: header.dport },
                flags: header.tcp_flags & !0x20,
                sequence: self.net.packets.sequence(id),
                mptcp: multipath::seen(&self.net.packets.options(id)),
            }),
            _ => Content::Other,
        };
        Packet { eth_src: header.src, eth_dst: header.label(), content }
    }
}

/// Every link between switches, once per direction.
fn cables(fabric: &Fabric, is_up: impl Fn(LinkId) -> bool) -> impl Iterator<Item = (SwitchPort, SwitchPort)> {
    let ids = (0..fabric.links().len() as u32).map(LinkId).filter(move |link| is_up(*link));
    ids.filter_map(move |id| {
        let (link, back) = (fabric.link(id), fabric.link(id.reverse()));
        let switches = !fabric.node(link.from).is_host() && !fabric.node(link.to).is_host();
        let end = |node, port| SwitchPort { switch: switch_id(node), port: port_no(port) };
        switches.then(|| (end(link.from, link.from_port), end(link.to, back.from_port)))
    })
}

/// The header of a frame that the controller originates; simulated hosts ignore it.
fn made(frame: MadeFrame) -> Header {
    let dst = match frame {
        MadeFrame::ArpReply { target: (mac, _), .. } | MadeFrame::Advertisement { target: (mac, _), .. } => {
            mac
        }
        MadeFrame::ArpProbe { station, .. } | MadeFrame::SolicitationProbe { station, .. } => station,
    };
    Header { src: MadeFrame::CONTROLLER, dst, kind: Kind::Other, ip_bytes: 46, ..Header::default() }
}
