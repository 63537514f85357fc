//! [`ControlPlane`]: the central controller of a run, and the messages in flight between it and the switches.
//!
//! A switch installs rules one at a time; a transaction is complete when all its switches have confirmed.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use weft_control::{
    Command, Controller, FlowCount, FrameOut, FrameRef, PortNo, SwitchId, SwitchPort, Transaction,
};
use weft_fabric::Fabric;
use weft_switching::smoc::{address, port_id, port_no, switch_id, switch_node};
use weft_switching::{Central, Mac, Timing};
use weft_units::{Duration, LinkId, NodeId, PortId, Time};

use crate::control_message::{Effect, Message, Outgoing, made};
use crate::journal::Reported;
use crate::packet::DetachedPacket;
use crate::record::{Busiest, ControllerReport};

/// A frame reported to the controller.
struct Held {
    /// The frame, if it waits here; `None` for a report on a frame that was forwarded.
    detached: Option<DetachedPacket>,
    /// When it was reported.
    since: Time,
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
pub struct ControlPlane {
    controller: Box<dyn Controller>,
    timing: Timing,
    due: BTreeMap<(Time, u64), Message>,
    sequence: u64,
    /// The controller deadline that is scheduled.
    deadline: Time,
    held: BTreeMap<FrameRef, Held>,
    next_frame: u64,
    open: BTreeMap<u64, Open>,
    /// Per switch: when it will have installed all rules sent to it.
    busy_until: BTreeMap<SwitchId, Time>,
    setups: Vec<Duration>,
    packet_ins: u64,
    rules: u64,
    /// Per switch: rules sent to it after the start.
    installed: BTreeMap<SwitchId, u64>,
}

impl ControlPlane {
    /// The control plane, with nothing in flight.
    pub fn new(central: Central, fabric: &Fabric) -> Self {
        Self {
            controller: central.controller,
            timing: central.timing,
            due: BTreeMap::new(),
            sequence: 0,
            deadline: Time::MAX,
            held: BTreeMap::new(),
            next_frame: 0,
            open: BTreeMap::new(),
            busy_until: fabric.switches().map(|node| (switch_id(node), Time::ZERO)).collect(),
            setups: Vec::new(),
            packet_ins: 0,
            rules: 0,
            installed: BTreeMap::new(),
        }
    }

    /// The time that a message takes.
    pub const fn delay(&self) -> Duration {
        self.timing.control_delay
    }

    /// The time of the earliest pending message.
    pub fn next(&self) -> Time {
        self.due.first_key_value().map_or(Time::MAX, |((time, _), _)| *time)
    }

    fn push(&mut self, at: Time, message: Message) {
        self.sequence += 1;
        self.due.insert((at, self.sequence), message);
    }

    /// Sends a message between the controller and a switch.
    fn tell(&mut self, now: Time, message: Message) {
        self.push(now + self.timing.control_delay, message);
    }

    /// The controller's counters.
    pub fn report(&self) -> ControllerReport {
        ControllerReport {
            packet_ins: self.packet_ins,
            rules: self.rules,
            busiest: self.busiest(),
            setups: self.setups.clone(),
            counters: self.controller.counters(),
        }
    }

    /// The first of the switches to which most rules were sent after the start.
    fn busiest(&self) -> Option<Busiest> {
        let most = self.installed.iter().reduce(|a, b| if b.1 > a.1 { b } else { a });
        most.map(|(switch, rules)| Busiest {
            switch: switch_node(*switch),
            rules: *rules,
            latency: self.timing.rule_latency,
        })
    }

    /// The frames that wait.
    pub fn waiting(&self) -> usize {
        self.held.values().filter(|held| held.detached.is_some()).count()
    }

    /// Starts the controller: it knows the topology, and all rules not triggered by a flow are installed.
    pub fn start(&mut self, fabric: &Fabric) -> Vec<Effect> {
        let (now, mut commands) = (Time::ZERO, Vec::new());
        let is_up = |link: LinkId| fabric.link(link).up;
        for node in fabric.switches() {
            let links = fabric.ports(node).iter().enumerate().filter(|(_, link)| is_up(**link));
            let ports: Vec<PortNo> = links.map(|(port, _)| port_no(PortId(port as u16))).collect();
            self.controller.switch_up(now.into(), switch_id(node), &ports, &[], &mut commands);
        }
        for (from, to) in cables(fabric, is_up) {
            self.controller.link_changed(now.into(), from, to, true, &mut commands);
        }
        for &host in fabric.hosts() {
            for &link in fabric.ports(host).iter().filter(|link| is_up(**link)) {
                let (to, port) = (fabric.link(link).to, fabric.link(link.reverse()).from_port);
                let at = SwitchPort { switch: switch_id(to), port: port_no(port) };
                if let Some(host) = fabric.node(host).host {
                    let mac = Mac::of_host(host.0);
                    self.controller.host_known(now.into(), at, mac, &[address(host)], &mut commands);
                }
            }
        }
        let mut effects = Vec::new();
        while !commands.is_empty() {
            for command in std::mem::take(&mut commands) {
                if let Command::Install(Transaction { id, rules, .. }) = command {
                    self.rules += rules.len() as u64;
                    effects.extend(rules.into_iter().map(|(switch, change)| Effect::Rule(switch, change)));
                    if id != 0 {
                        self.controller.installed(now.into(), id, &mut commands);
                    }
                }
            }
        }
        self.schedule_deadline();
        effects
    }

    fn schedule_deadline(&mut self) {
        let deadline = self.controller.next_deadline().into();
        if deadline < self.deadline {
            self.deadline = deadline;
            self.push(deadline, Message::Deadline);
        }
    }

    /// Processes the messages that are due.
    pub fn run(&mut self, now: Time) -> Vec<Effect> {
        let mut effects = Vec::new();
        while let Some(entry) = self.due.first_entry().filter(|entry| entry.key().0 <= now) {
            let message = entry.remove();
            self.receive(now, message, &mut effects);
            self.schedule_deadline();
        }
        effects
    }

    fn receive(&mut self, now: Time, message: Message, effects: &mut Vec<Effect>) {
        let (controller, mut commands) = (&mut self.controller, Vec::new());
        match message {
            Message::Frame { at, cookie, packet, frame } => {
                self.packet_ins += 1;
                controller.packet_in(now.into(), at, cookie, &packet, frame, &mut commands);
            }
            Message::RuleRemoved { switch, cookie, packets, bytes } => {
                controller.rule_removed(now.into(), switch, cookie, packets, bytes, &mut commands);
            }
            Message::Port { at, up } => controller.port_changed(now.into(), at, up, &mut commands),
            Message::Link { from, to } => controller.link_changed(now.into(), from, to, true, &mut commands),
            Message::Deadline => {
                self.deadline = Time::MAX;
                controller.on_deadline(now.into(), &mut commands);
                for switch in controller.counts_wanted() {
                    self.tell(now, Message::Count { switch });
                }
            }
            Message::Counted { switch, flows } => {
                controller.flows_counted(now.into(), switch, &flows, &mut commands);
            }
            Message::Count { switch } => effects.push(Effect::Count(switch)),
            Message::Confirmed { transaction } => self.confirm(now, transaction, &mut commands),
            Message::Rule { switch, change } => effects.push(Effect::Rule(switch, change)),
            Message::Out { switch, in_port, ports, frame } => {
                if let Some(frame) = self.outgoing(frame) {
                    effects.push(if ports == [PortNo::TABLE] {
                        Effect::Receive(switch, in_port.map(port_id), frame)
                    } else {
                        Effect::Send(switch, ports.iter().map(|port| port_id(*port)).collect(), frame)
                    });
                }
            }
        }
        for command in commands {
            self.obey(now, command, effects);
        }
    }

    /// One more switch has finished its part of a transaction.
    fn confirm(&mut self, now: Time, transaction: u64, commands: &mut Vec<Command>) {
        let Entry::Occupied(mut entry) = self.open.entry(transaction) else { return };
        entry.get_mut().waits -= 1;
        if entry.get().waits > 0 {
            return;
        }
        let open = entry.remove();
        self.setups.extend(open.since.map(|since| now.saturating_since(since)));
        for (at, frame) in open.release {
            self.send_later(at.switch, Some(at.port), vec![PortNo::TABLE], FrameOut::Held(frame), now);
        }
        self.controller.installed(now.into(), transaction, commands);
    }

    /// Executes a command of the controller.
    fn obey(&mut self, now: Time, command: Command, effects: &mut Vec<Effect>) {
        let sent = now + self.timing.install_delay;
        match command {
            Command::Install(transaction) => self.install(transaction, sent),
            Command::PacketOut { switch, in_port, ports, frame } => {
                self.send_later(switch, in_port, ports, frame, sent);
            }
            Command::Forget(frame) => {
                let Some(held) = self.held.get_mut(&frame) else { return };
                held.forgotten = true;
                if held.pending == 0
                    && let Some(Held { detached: Some(detached), .. }) = self.held.remove(&frame)
                {
                    effects.push(Effect::Drop(detached));
                }
            }
        }
    }

    /// Schedules the rules of a transaction, sent at `sent`, on their switches.
    fn install(&mut self, Transaction { id, rules, release }: Transaction, sent: Time) {
        let arrives = sent + self.timing.control_delay;
        let mut touched = Vec::new();
        for (switch, change) in rules {
            let Some(busy_until) = self.busy_until.get_mut(&switch) else { continue };
            let done = (*busy_until).max(arrives) + self.timing.rule_latency;
            *busy_until = done;
            self.rules += 1;
            *self.installed.entry(switch).or_default() += 1;
            self.push(done, Message::Rule { switch, change });
            if !touched.contains(&switch) {
                touched.push(switch);
            }
        }
        if id == 0 {
            return;
        }
        let times = touched.iter().map(|switch| self.busy_until[switch] + self.timing.control_delay);
        let mut times: Vec<Time> = times.collect();
        if times.is_empty() {
            times.push(sent);
        }
        let since = release.iter().filter_map(|(_, frame)| Some(self.held.get(frame)?.since)).min();
        self.open.insert(id, Open { waits: times.len(), release, since });
        times.into_iter().for_each(|at| self.push(at, Message::Confirmed { transaction: id }));
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
        let Some(&busy_until) = self.busy_until.get(&switch) else { return };
        if let FrameOut::Held(frame) = frame
            && let Some(held) = self.held.get_mut(&frame)
        {
            held.pending += 1;
        }
        let at = (sent + self.timing.control_delay).max(busy_until);
        self.push(at, Message::Out { switch, in_port, ports, frame });
    }

    /// The frame to send: the frame itself if this is the last use, otherwise a copy.
    fn outgoing(&mut self, frame: FrameOut) -> Option<Outgoing> {
        let frame = match frame {
            FrameOut::Made(frame) => return Some(Outgoing::Made(made(frame))),
            FrameOut::Held(frame) => frame,
        };
        let held = self.held.get_mut(&frame)?;
        held.pending -= 1;
        if held.forgotten && held.pending == 0 {
            return self.held.remove(&frame)?.detached.map(Outgoing::Held);
        }
        held.detached.clone().map(Outgoing::Copy)
    }

    /// A switch reports a frame, which the controller holds if it comes with it.
    pub fn reported(&mut self, now: Time, node: NodeId, reported: Reported) {
        let at = SwitchPort { switch: switch_id(node), port: port_no(reported.ingress) };
        let frame = FrameRef(self.next_frame);
        self.next_frame += 1;
        let held = Held { detached: reported.held, since: now, pending: 0, forgotten: false };
        self.held.insert(frame, held);
        self.tell(now, Message::Frame { at, cookie: reported.cookie, packet: reported.shown, frame });
    }

    /// A switch reports the flows of its hosts.
    pub fn counted(&mut self, now: Time, switch: SwitchId, flows: Vec<FlowCount>) {
        self.tell(now, Message::Counted { switch, flows });
    }

    /// A switch reports a rule's idle timeout.
    pub fn rule_removed(&mut self, now: Time, node: NodeId, cookie: u64, packets: u64, bytes: u64) {
        self.tell(now, Message::RuleRemoved { switch: switch_id(node), cookie, packets, bytes });
    }

    /// Switches report failed or restored links.
    pub fn links_changed(&mut self, now: Time, fabric: &Fabric, links: &[LinkId], up: bool) {
        let port = |link: LinkId| {
            let link = fabric.link(link);
            let is_switch = !fabric.node(link.from).is_host();
            is_switch.then(|| SwitchPort { switch: switch_id(link.from), port: port_no(link.from_port) })
        };
        for at in links.iter().filter_map(|link| port(*link)) {
            self.tell(now, Message::Port { at, up });
        }
        for link in links.iter().filter(|_| up) {
            if let (Some(from), Some(to)) = (port(*link), port(link.reverse())) {
                self.tell(now, Message::Link { from, to });
            }
        }
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
