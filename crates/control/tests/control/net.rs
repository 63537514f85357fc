//! A small network of OpenFlow switches: their tables apply the controller's commands with individual delays, and
//! frames are forwarded through them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::net::{IpAddr, Ipv4Addr};

use weft_control::{
    Arp, Command, Content, Controller, FrameOut, FrameRef, MadeFrame, Match, NO_COOKIE, Packet, PortNo, Rule,
    RuleAction, RuleChange, SwitchId, SwitchPort, Transaction,
};
use weft_control::{Duration, Time};
use weft_wire::Mac;

/// SplitMix64.
#[derive(Clone)]
pub struct Rng(pub u64);

impl Rng {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound.max(1)
    }
}

/// A frame in flight.
#[derive(Clone, Debug)]
pub struct Frame {
    pub id: u64,
    pub packet: Packet,
    /// The ports through which it left switches.
    pub way: Vec<SwitchPort>,
}

/// A frame delivered to a host.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub frame: u64,
    pub host: usize,
    pub packet: Packet,
    pub way: Vec<SwitchPort>,
}

#[derive(Clone, Copy, Debug)]
pub struct Host {
    pub at: SwitchPort,
    pub mac: Mac,
    pub ip: Ipv4Addr,
}

#[derive(Default)]
pub struct Switch {
    pub rules: Vec<(Rule, Time)>,
    pub ports: Vec<PortNo>,
    pub connected: bool,
    /// Refuses further rules.
    pub is_full: bool,
    /// Does not answer.
    pub is_mute: bool,
    /// When the last message to it and the last from it arrive: messages are not reordered.
    channel: [Time; 2],
}

enum Event {
    Apply { switch: SwitchId, transaction: u64, changes: Vec<RuleChange> },
    Answer { switch: SwitchId, transaction: u64, refused: bool },
    Send { switch: SwitchId, in_port: Option<PortNo>, ports: Vec<PortNo>, frame: Frame },
    Arrive { at: SwitchPort, frame: Frame },
    Up { at: SwitchPort, cookie: u64, frame: Frame },
    Removed { switch: SwitchId, cookie: u64 },
}

struct Pending {
    waiting: BTreeSet<SwitchId>,
    release: Vec<(SwitchPort, FrameRef)>,
}

pub struct Net<C> {
    pub controller: C,
    pub now: Time,
    pub switches: BTreeMap<SwitchId, Switch>,
    pub hosts: Vec<Host>,
    pub delivered: Vec<Delivery>,
    pub made: Vec<(usize, MadeFrame)>,
    /// Every command so far.
    pub log: Vec<Command>,
    /// Whether hosts answer probes.
    pub hosts_answer: bool,
    /// The number of next probes to drop before they reach their hosts.
    pub probes_to_lose: u32,
    /// Maximum delay of messages between controller and switches.
    pub slowest: Duration,
    /// Time a switch takes for each rule change.
    pub work: Duration,
    /// The links, by both ends.
    wires: BTreeMap<SwitchPort, SwitchPort>,
    attached: BTreeMap<SwitchPort, usize>,
    queue: BinaryHeap<Reverse<(Time, u64)>>,
    events: BTreeMap<u64, Event>,
    held: BTreeMap<FrameRef, (SwitchPort, Frame)>,
    pending: BTreeMap<u64, Pending>,
    next: u64,
    frames: u64,
    rng: Rng,
}

const HOP: Duration = Duration::from_us(10);
/// How often switches check for expired rules.
const LOOK: Duration = Duration::from_ms(500);

impl<C: Controller> Net<C> {
    pub fn new(controller: C, seed: u64) -> Self {
        Self {
            controller,
            now: Time::ZERO,
            switches: BTreeMap::new(),
            hosts: Vec::new(),
            delivered: Vec::new(),
            made: Vec::new(),
            log: Vec::new(),
            hosts_answer: true,
            probes_to_lose: 0,
            slowest: Duration::from_ms(5),
            work: Duration::ZERO,
            wires: BTreeMap::new(),
            attached: BTreeMap::new(),
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            held: BTreeMap::new(),
            pending: BTreeMap::new(),
            next: 0,
            frames: 0,
            rng: Rng(seed),
        }
    }

    /// Switches `1..=count` with links between pairs of them, ports numbered from 1, and hosts at switches on the
    /// following ports; all connected, all discovered, and settled.
    pub fn build(&mut self, count: u64, cables: &[(u64, u64)], hosts: &[u64]) {
        let mut used: BTreeMap<u64, u32> = BTreeMap::new();
        let mut port = |switch: u64| {
            let number = used.entry(switch).or_insert(0);
            *number += 1;
            SwitchPort::new(switch, *number)
        };
        let wires: Vec<_> = cables.iter().map(|&(a, b)| (port(a), port(b))).collect();
        let places: Vec<_> = hosts.iter().map(|&switch| port(switch)).collect();
        for id in 1..=count {
            let ports = (1..=used.get(&id).copied().unwrap_or(0)).map(PortNo).collect();
            self.switches.insert(SwitchId(id), Switch { ports, ..Switch::default() });
        }
        for (number, at) in (1..).zip(places) {
            self.attach(number, at);
        }
        self.connect_all(1..=count);
        self.wire_all(wires);
        self.run(Duration::from_secs(2));
    }

    /// Attaches host `number` at a port.
    pub fn attach(&mut self, number: u8, at: SwitchPort) -> usize {
        let host = Host { at, mac: Mac([2, 0, 0, 0, 0, number]), ip: Ipv4Addr::new(10, 0, 0, number) };
        self.attached.insert(at, self.hosts.len());
        self.hosts.push(host);
        self.hosts.len() - 1
    }

    /// Moves a host to another port.
    pub fn move_host(&mut self, host: usize, at: SwitchPort) {
        self.attached.remove(&self.hosts[host].at);
        self.hosts[host].at = at;
        self.attached.insert(at, host);
    }

    /// Every host announces itself.
    pub fn announce(&mut self) {
        for host in 0..self.hosts.len() {
            let Host { mac, ip, .. } = self.hosts[host];
            self.send_and_run(host, claim(mac, ip), 20);
        }
    }

    pub fn wire(&mut self, a: SwitchPort, b: SwitchPort) {
        for (from, to) in [(a, b), (b, a)] {
            self.wires.insert(from, to);
            self.tell(|controller, now, out| controller.link_changed(now, from, to, true, out));
        }
    }

    pub fn wire_all(&mut self, wires: Vec<(SwitchPort, SwitchPort)>) {
        wires.into_iter().for_each(|(a, b)| self.wire(a, b));
    }

    /// A port comes up or goes down, as its switch reports.
    pub fn set_port(&mut self, at: SwitchPort, up: bool) {
        self.tell(|controller, now, out| controller.port_changed(now, at, up, out));
    }

    /// A link whose ports have been down comes back.
    pub fn mend(&mut self, a: SwitchPort, b: SwitchPort) {
        [a, b].into_iter().for_each(|at| self.set_port(at, true));
        self.wire(a, b);
    }

    /// Cuts a link; both switches report their port down, or, if `silently`, only LLDP goes missing.
    pub fn cut(&mut self, a: SwitchPort, silently: bool) {
        let Some(b) = self.wires.remove(&a) else { return };
        self.wires.remove(&b);
        for (from, to) in [(a, b), (b, a)] {
            if silently {
                self.tell(|controller, now, out| controller.link_changed(now, from, to, false, out));
            } else {
                self.set_port(from, false);
            }
        }
    }

    pub fn connect(&mut self, id: SwitchId) {
        let now = self.now;
        let switch = self.switch(id.0);
        switch.connected = true;
        switch.channel = [now; 2];
        let (ports, rules) = (switch.ports.clone(), switch.rules.iter().map(|(rule, _)| rule.clone()));
        let rules: Vec<Rule> = rules.collect();
        self.tell(|controller, now, out| controller.switch_up(now, id, &ports, &rules, out));
    }

    pub fn connect_all(&mut self, ids: impl IntoIterator<Item = u64>) {
        ids.into_iter().for_each(|id| self.connect(SwitchId(id)));
    }

    /// A switch.
    pub fn switch(&mut self, id: u64) -> &mut Switch {
        self.switches.get_mut(&SwitchId(id)).unwrap()
    }

    /// A rule appears in a switch, unknown to the controller.
    pub fn add_rule(&mut self, id: u64, rule: Rule) {
        let now = self.now;
        self.switch(id).rules.push((rule, now));
    }

    /// A switch loses its connection, possibly also all rules, and gets it back some milliseconds later; then it
    /// reports that its ports in `cut` are down.
    pub fn restart(&mut self, id: SwitchId, forgets: bool, pause_ms: u64, cut: &[(SwitchPort, SwitchPort)]) {
        self.disconnect(id);
        self.run(Duration::from_ms(pause_ms));
        if forgets {
            self.switch(id.0).rules.clear();
        }
        self.connect(id);
        for at in cut.iter().flat_map(|&(a, b)| [a, b]).filter(|at| at.switch == id) {
            self.set_port(at, false);
        }
    }

    /// A switch loses its connection, and the messages in flight.
    pub fn disconnect(&mut self, id: SwitchId) {
        self.switch(id.0).connected = false;
        self.events.retain(|_, event| !event.is_control_of(id));
        let waiting = self.pending.iter().filter(|(_, pending)| pending.waiting.contains(&id));
        let failed: Vec<u64> = waiting.map(|(&number, _)| number).collect();
        for number in failed {
            self.pending.remove(&number);
        }
        self.tell(|controller, now, out| controller.switch_down(now, id, out));
    }

    pub fn wires(&self) -> Vec<(SwitchPort, SwitchPort)> {
        self.wires.iter().filter(|(a, b)| a < b).map(|(&a, &b)| (a, b)).collect()
    }

    /// A host sends a packet; returns its number.
    pub fn send(&mut self, host: usize, packet: Packet) -> u64 {
        self.inject(self.hosts[host].at, packet)
    }

    /// A host sends a packet, and some milliseconds pass; returns its number.
    pub fn send_and_run(&mut self, host: usize, packet: Packet, ms: u64) -> u64 {
        let frame = self.send(host, packet);
        self.run(Duration::from_ms(ms));
        frame
    }

    /// A host sends a packet, which its switch sends up without a rule lookup; returns its number.
    pub fn send_up(&mut self, host: usize, packet: Packet) -> u64 {
        self.frames += 1;
        let frame = Frame { id: self.frames, packet, way: Vec::new() };
        self.push(self.now + HOP, Event::Up { at: self.hosts[host].at, cookie: NO_COOKIE, frame });
        self.frames
    }

    /// A frame arrives at a port, from no host.
    pub fn inject(&mut self, at: SwitchPort, packet: Packet) -> u64 {
        self.frames += 1;
        let frame = Frame { id: self.frames, packet, way: Vec::new() };
        self.push(self.now + HOP, Event::Arrive { at, frame });
        self.frames
    }

    /// Lets time pass.
    pub fn run(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now + LOOK < end {
            self.run_to(self.now + LOOK);
        }
        self.run_to(end);
    }

    fn run_to(&mut self, end: Time) {
        loop {
            let next = self.queue.peek().map_or(Time::MAX, |Reverse((time, _))| *time);
            let deadline = self.controller.next_deadline().max(self.now);
            if next.min(deadline) > end {
                break;
            }
            if deadline < next {
                self.now = deadline;
                self.tell(|controller, now, out| controller.on_deadline(now, out));
                let again = self.controller.next_deadline();
                assert!(again > self.now, "the deadline {deadline:?} is never met");
                continue;
            }
            let Reverse((time, number)) = self.queue.pop().unwrap();
            self.now = self.now.max(time);
            if let Some(event) = self.events.remove(&number) {
                self.happen(event);
            }
        }
        self.now = end;
        self.expire();
    }

    /// The deliveries of a frame.
    pub fn deliveries(&self, frame: u64) -> Vec<&Delivery> {
        self.delivered.iter().filter(|delivery| delivery.frame == frame).collect()
    }

    /// The hosts that a frame reaches, in order.
    pub fn heard(&self, frame: u64) -> Vec<usize> {
        let mut hosts: Vec<usize> = self.deliveries(frame).iter().map(|delivery| delivery.host).collect();
        hosts.sort_unstable();
        hosts
    }

    /// The path of a frame's only delivery, as switches.
    pub fn way(&self, frame: u64) -> Vec<u64> {
        let deliveries = self.deliveries(frame);
        assert_eq!(deliveries.len(), 1, "{deliveries:?}");
        deliveries[0].way.iter().map(|at| at.switch.0).collect()
    }

    pub fn counter(&self, name: &str) -> u64 {
        let counters = self.controller.counters();
        counters.iter().find(|(other, _)| *other == name).unwrap_or_else(|| panic!("no counter {name}")).1
    }

    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// The rule changes sent since a position in the log.
    pub fn changes(&self, since: usize) -> Vec<&(SwitchId, RuleChange)> {
        let changes = self.log[since..].iter().flat_map(|command| match command {
            Command::Install(transaction) => &transaction.rules[..],
            _ => &[],
        });
        changes.collect()
    }

    /// The cookies of all rules, as `(switch, cookie)`.
    pub fn cookies(&self) -> BTreeSet<(SwitchId, u64)> {
        let rules = self
            .switches
            .iter()
            .flat_map(|(&id, switch)| switch.rules.iter().map(move |(rule, _)| (id, rule.cookie)));
        rules.collect()
    }

    pub fn tell(&mut self, what: impl FnOnce(&mut C, Time, &mut Vec<Command>)) {
        let mut out = Vec::new();
        what(&mut self.controller, self.now, &mut out);
        for command in out {
            self.log.push(command.clone());
            self.command(command);
        }
    }

    fn push(&mut self, at: Time, event: Event) {
        self.next += 1;
        self.queue.push(Reverse((at, self.next)));
        self.events.insert(self.next, event);
    }

    /// The arrival time of a message sent now to (0) or from (1) a switch.
    fn arrival(&mut self, id: SwitchId, direction: usize) -> Time {
        let delay = Duration::from_ns(1 + self.rng.below(self.slowest.ns()));
        let channel = &mut self.switches.get_mut(&id).unwrap().channel[direction];
        *channel = (self.now + delay).max(*channel);
        *channel
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Install(Transaction { id, rules, release }) => {
                assert!(id != 0 || release.is_empty(), "frames that are never released");
                let mut by_switch: BTreeMap<SwitchId, Vec<RuleChange>> = BTreeMap::new();
                for (switch, change) in rules {
                    assert!(self.switches[&switch].connected, "a rule for {switch}, which is not connected");
                    by_switch.entry(switch).or_default().push(change);
                }
                let waiting: BTreeSet<SwitchId> = by_switch.keys().copied().collect();
                if id != 0 {
                    assert!(!waiting.is_empty(), "a transaction without rules");
                    self.pending.insert(id, Pending { waiting, release });
                }
                for (switch, changes) in by_switch {
                    let at = self.arrival(switch, 0) + self.work.saturating_mul(changes.len() as u64);
                    self.switches.get_mut(&switch).unwrap().channel[0] = at;
                    self.push(at, Event::Apply { switch, transaction: id, changes });
                }
            }
            Command::PacketOut { switch, in_port, ports, frame } => {
                let frame = match frame {
                    FrameOut::Held(frame) => self.held[&frame].1.clone(),
                    FrameOut::Made(made) => {
                        let host = ports
                            .iter()
                            .find_map(|&port| self.attached.get(&SwitchPort { switch, port }).copied());
                        if let Some(host) = host {
                            self.made.push((host, made));
                            self.answer(host, made);
                        }
                        return;
                    }
                };
                let at = self.arrival(switch, 0);
                self.push(at, Event::Send { switch, in_port, ports, frame });
            }
            Command::Forget(frame) => {
                assert!(
                    self.held.remove(&frame).is_some(),
                    "{frame:?} is forgotten twice, or was never passed to the controller"
                );
            }
        }
    }

    fn answer(&mut self, host: usize, made: MadeFrame) {
        let Host { mac, ip, .. } = self.hosts[host];
        if let MadeFrame::ArpProbe { target, .. } = made
            && target == ip
            && self.hosts_answer
        {
            if self.probes_to_lose > 0 {
                self.probes_to_lose -= 1;
                return;
            }
            self.send(host, arp(mac, MadeFrame::CONTROLLER, true, ip, Ipv4Addr::UNSPECIFIED));
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Apply { switch, transaction, changes } => {
                let now = self.now;
                let entry = self.switches.get_mut(&switch).unwrap();
                let adds = changes.iter().any(|change| matches!(change, RuleChange::Add(_)));
                let refused = entry.is_full && adds;
                for change in changes {
                    entry.apply(now, change);
                }
                if transaction != 0 && !entry.is_mute {
                    let at = self.arrival(switch, 1);
                    self.push(at, Event::Answer { switch, transaction, refused });
                }
            }
            Event::Answer { switch, transaction, refused } => {
                self.tell(|controller, now, _| controller.settled(now, switch, transaction));
                let Some(pending) = self.pending.get_mut(&transaction) else { return };
                pending.waiting.remove(&switch);
                if refused {
                    self.pending.remove(&transaction);
                    self.tell(|c, now, out| c.failed(now, transaction, switch, "table full", out));
                } else if pending.waiting.is_empty() {
                    let release = self.pending.remove(&transaction).unwrap().release;
                    for (at, frame) in release {
                        let Some((_, frame)) = self.held.get(&frame).cloned() else { continue };
                        let ports = vec![PortNo::TABLE];
                        let time = self.arrival(at.switch, 0);
                        let (switch, in_port) = (at.switch, Some(at.port));
                        self.push(time, Event::Send { switch, in_port, ports, frame });
                    }
                    self.tell(|c, now, out| c.installed(now, transaction, out));
                }
            }
            Event::Send { switch, in_port, ports, frame } => {
                for port in ports {
                    if port == PortNo::TABLE {
                        let at = SwitchPort { switch, port: in_port.unwrap() };
                        self.forward(at, frame.clone());
                    } else {
                        self.leave(SwitchPort { switch, port }, frame.clone());
                    }
                }
            }
            Event::Arrive { at, frame } => self.forward(at, frame),
            Event::Up { at, cookie, frame } => {
                self.frames += 1;
                let number = FrameRef(self.frames);
                let packet = frame.packet;
                self.held.insert(number, (at, frame));
                self.tell(|c, now, out| c.packet_in(now, at, cookie, &packet, number, out));
            }
            Event::Removed { switch, cookie } => {
                self.tell(|c, now, out| c.rule_removed(now, switch, cookie, 0, 0, out));
            }
        }
    }

    /// Forwards a frame at a switch.
    fn forward(&mut self, at: SwitchPort, mut frame: Frame) {
        assert!(frame.way.len() < 50, "a loop: {:?}", frame.way);
        let now = self.now;
        let Some(switch) = self.switches.get_mut(&at.switch) else { return };
        let Some((rule, used)) = switch.lookup(at.port, &frame.packet) else { return };
        *used = now;
        let rule = rule.clone();
        for action in &rule.actions {
            match *action {
                RuleAction::SetDestination(mac) => frame.packet.eth_dst = mac,
                RuleAction::Output(port) if port == at.port => {}
                RuleAction::Output(port) => self.leave(SwitchPort { switch: at.switch, port }, frame.clone()),
                RuleAction::Controller { .. } => {
                    if self.switches[&at.switch].connected {
                        let cookie = if rule.priority == 0 { NO_COOKIE } else { rule.cookie };
                        let time = self.arrival(at.switch, 1);
                        self.push(time, Event::Up { at, cookie, frame: frame.clone() });
                    }
                }
            }
        }
    }

    fn leave(&mut self, at: SwitchPort, mut frame: Frame) {
        frame.way.push(at);
        if let Some(&to) = self.wires.get(&at) {
            self.push(self.now + HOP, Event::Arrive { at: to, frame });
        } else if let Some(&host) = self.attached.get(&at) {
            let Frame { id, packet, way } = frame;
            self.delivered.push(Delivery { frame: id, host, packet, way });
        }
    }

    /// Removes expired rules.
    fn expire(&mut self) {
        let now = self.now;
        let mut removed = Vec::new();
        for (&id, switch) in &mut self.switches {
            switch.rules.retain(|(rule, used)| {
                let timeout = Duration::from_secs(rule.idle_timeout_s.into());
                let idle = rule.idle_timeout_s > 0 && *used + timeout <= now;
                if idle && rule.notify_removed && switch.connected {
                    removed.push((id, rule.cookie));
                }
                !idle
            });
        }
        for (switch, cookie) in removed {
            let at = self.arrival(switch, 1);
            self.push(at, Event::Removed { switch, cookie });
        }
    }
}

impl Event {
    fn is_control_of(&self, id: SwitchId) -> bool {
        match self {
            Self::Apply { switch, .. }
            | Self::Answer { switch, .. }
            | Self::Send { switch, .. }
            | Self::Removed { switch, .. } => *switch == id,
            Self::Up { at, .. } => at.switch == id,
            Self::Arrive { .. } => false,
        }
    }
}

impl Switch {
    fn apply(&mut self, now: Time, change: RuleChange) {
        match change {
            RuleChange::Add(rule) => {
                if self.is_full {
                    return;
                }
                self.rules
                    .retain(|(other, _)| (other.priority, other.matches) != (rule.priority, rule.matches));
                self.rules.push((rule, now));
            }
            RuleChange::Modify(rule) => {
                let same = |other: &Rule| {
                    (other.cookie, other.priority, other.matches)
                        == (rule.cookie, rule.priority, rule.matches)
                };
                if let Some((found, _)) = self.rules.iter_mut().find(|(other, _)| same(other)) {
                    found.actions = rule.actions;
                }
            }
            RuleChange::Remove { cookie, matches } => self.rules.retain(|(rule, _)| {
                rule.cookie != cookie || (matches != Match::ALL && rule.matches != matches)
            }),
            RuleChange::Flow(change) => panic!("an OpenFlow switch received {change:?}"),
        }
    }

    fn lookup(&mut self, port: PortNo, packet: &Packet) -> Option<(&Rule, &mut Time)> {
        let fits = self.rules.iter_mut().filter(|(rule, _)| matches(&rule.matches, port, packet));
        fits.max_by_key(|(rule, _)| rule.priority).map(|(rule, used)| (&*rule, used))
    }
}

/// Whether a frame matches a rule.
pub fn matches(rule: &Match, port: PortNo, packet: &Packet) -> bool {
    fn set<T: PartialEq>(field: Option<T>, value: Option<T>) -> bool {
        field.is_none() || field == value
    }
    let (mut eth_type, mut protocol, mut icmp) = (0, None, None);
    let (mut says, mut about) = (None, None);
    let (mut addresses, mut ports) = ([None, None], [None, None]);
    match packet.content {
        Content::Tcp(segment) => {
            eth_type = if segment.source.address.is_ipv6() { 0x86dd } else { 0x0800 };
            protocol = Some(6);
            addresses = [Some(segment.source.address), Some(segment.destination.address)];
            ports = [Some(segment.source.port), Some(segment.destination.port)];
        }
        Content::Ip { protocol: number } => (eth_type, protocol) = (0x0800, Some(number)),
        Content::Arp(message) => {
            eth_type = 0x0806;
            says = Some((IpAddr::V4(message.sender), message.sender_mac));
            about = Some(IpAddr::V4(message.target));
        }
        Content::Neighbour(message) => {
            eth_type = 0x86dd;
            protocol = Some(58);
            let (kind, of) =
                if message.is_advertisement { (136, message.target) } else { (135, message.source) };
            icmp = Some(kind);
            about = Some(IpAddr::V6(message.target)).filter(|_| !message.is_advertisement);
            says = Some((IpAddr::V6(of), message.link_layer.unwrap_or_default()));
        }
        Content::Other => {}
    }
    set(rule.in_port, Some(port))
        && set(rule.eth_src, Some(packet.eth_src))
        && rule.eth_dst.is_none_or(|(value, mask)| packet.eth_dst.bits() & mask.bits() == value.bits())
        && set(rule.eth_type, Some(eth_type))
        && set(rule.ip_proto, protocol)
        && set(rule.icmpv6_type, icmp)
        && set(rule.says, says)
        && set(rule.about, about)
        && set(rule.ip_src, addresses[0])
        && set(rule.ip_dst, addresses[1])
        && set(rule.tcp_src, ports[0])
        && set(rule.tcp_dst, ports[1])
}

pub fn arp(from: Mac, to: Mac, is_reply: bool, sender: Ipv4Addr, target: Ipv4Addr) -> Packet {
    let content = Content::Arp(Arp { is_reply, sender_mac: from, sender, target });
    Packet { eth_src: from, eth_dst: to, content }
}

/// A broadcast ARP request from a host that claims an address.
pub fn claim(mac: Mac, address: Ipv4Addr) -> Packet {
    arp(mac, Mac::BROADCAST, false, address, address)
}

pub fn address(host: &Host) -> IpAddr {
    IpAddr::V4(host.ip)
}
