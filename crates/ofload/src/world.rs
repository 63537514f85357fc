//! [`World`]: switches, hosts and links. Frames are forwarded by the switches' installed rules, instantly: only the
//! controller takes time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;

use hashbrown::HashSet;
use weft_wire::openflow::{Action, Match, MessageType, PacketInReason, PortNumber, RemovedReason};
use weft_wire::{Arp, ArpOperation, EtherType, Ethernet};

use crate::agent::{Agent, Effect};
use crate::connection::SubflowId;
use crate::connections::Connections;
use crate::counts::Counts;
use crate::frame::{self, Station};
use crate::network::{Network, Peer};
use crate::table::{Expiry, RuleId};

/// The hop limit: frames beyond it are counted as looping.
const MOST_HOPS: u32 = 64;
/// Messages that a controller sends periodically even when idle.
const PERIODIC: [MessageType; 4] = [
    MessageType::ECHO_REQUEST,
    MessageType::ECHO_REPLY,
    MessageType::MULTIPART_REQUEST,
    MessageType::ROLE_REQUEST,
];

/// A timer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Timer {
    /// Opens a subflow.
    Join(SubflowId),
    /// Times out a connection that is not complete.
    GiveUp(u64),
    /// Checks a rule's timeout: its switch and ID.
    Rule(usize, RuleId),
}

/// A frame that arrives at a switch.
#[derive(Debug)]
struct Arrival {
    switch: usize,
    port: PortNumber,
    frame: Vec<u8>,
    hops: u32,
    path: u64,
}

/// The origin of a frame that actions apply to.
#[derive(Clone, Copy, Debug)]
struct Way {
    switch: usize,
    in_port: PortNumber,
    hops: u32,
    path: u64,
    /// A packet-in's reason and cookie.
    why: (PacketInReason, u64),
}

/// Delays outside the controller, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Delays {
    /// From the first subflow's handshake until the other subflows are opened.
    pub join: u64,
    /// Timeout for a connection to complete.
    pub give_up: u64,
}

/// The emulated network.
pub struct World {
    /// The topology.
    pub network: Network,
    /// The switches.
    pub agents: Vec<Agent>,
    /// The connections of the hosts.
    pub connections: Connections,
    /// Message and frame counters.
    pub counts: Counts,
    /// The time, in nanoseconds.
    pub now: u64,
    /// When the controller last sent something other than LLDP and periodic messages.
    pub busy: u64,
    /// Directed links that LLDP has crossed: the sending switch and port.
    crossed: HashSet<(usize, u32)>,
    /// Whether each host's ARP request has been answered correctly.
    pub resolved: Vec<bool>,
    delays: Delays,
    queue: VecDeque<Arrival>,
    timers: BinaryHeap<Reverse<(u64, Timer)>>,
    effects: Vec<Effect>,
}

impl World {
    /// Switches that have sent a Hello, and idle hosts.
    pub fn new(network: Network, connections: Connections, delays: Delays) -> Self {
        Self {
            agents: network.switches.iter().map(Agent::new).collect(),
            connections,
            counts: Counts::default(),
            now: 0,
            busy: 0,
            crossed: HashSet::new(),
            resolved: vec![false; network.hosts.len()],
            delays,
            queue: VecDeque::new(),
            timers: BinaryHeap::new(),
            effects: Vec::new(),
            network,
        }
    }

    /// Handles a message from the controller to a switch.
    pub fn message(&mut self, switch: usize, bytes: &[u8]) {
        let agent = &mut self.agents[switch];
        agent.message(self.now, bytes, &mut self.counts, &mut self.effects);
        let mut effects = std::mem::take(&mut self.effects);
        let is_lldp =
            matches!(&effects[..], [Effect::Send { frame, .. }] if ethertype(frame) == Some(EtherType::LLDP));
        if is_lldp {
            self.counts.packet_outs_of_lldp += 1;
        } else if !bytes.get(1).is_some_and(|kind| PERIODIC.contains(&MessageType(*kind))) {
            self.busy = self.now;
        }
        for effect in effects.drain(..) {
            match effect {
                Effect::Send { in_port, actions, frame } => {
                    let why = (PacketInReason::ACTION, u64::MAX);
                    self.act(Way { switch, in_port, hops: 0, path: 0, why }, &actions, frame);
                }
                Effect::Timeout { rule, at } => self.timers.push(Reverse((at, Timer::Rule(switch, rule)))),
            }
        }
        self.effects = effects;
        self.settle();
    }

    /// Opens a connection; `false` if its client has too few free ports.
    pub fn open(&mut self) -> bool {
        let Some((number, client, syn)) = self.connections.open(self.now) else { return false };
        self.timers.push(Reverse((self.now + self.delays.give_up, Timer::GiveUp(number))));
        self.send(client, syn);
        self.settle();
        true
    }

    /// Has a host announce its address (gratuitous ARP).
    pub fn announce(&mut self, host: usize) {
        let station = self.network.hosts[host].station();
        self.send(host, frame::arp(ArpOperation::Request, station, station));
        self.settle();
    }

    /// Has a host send an ARP request for another's address.
    pub fn resolve(&mut self, host: usize, other: usize) {
        let [station, target] = [host, other].map(|host| self.network.hosts[host].station());
        self.send(host, frame::arp(ArpOperation::Request, station, target));
        self.settle();
    }

    /// Runs due timers; returns the time of the next.
    pub fn on_time(&mut self) -> Option<u64> {
        while let Some(Reverse((at, timer))) = self.timers.peek().copied() {
            if at > self.now {
                return Some(at);
            }
            self.timers.pop();
            match timer {
                Timer::Join(id) => {
                    if let (Some(client), Some(syn)) =
                        (self.connections.client(id.connection), self.connections.syn(id))
                    {
                        self.send(client, syn);
                        self.settle();
                    }
                }
                Timer::GiveUp(connection) => self.connections.give_up(connection),
                Timer::Rule(switch, rule) => self.expire(switch, rule),
            }
        }
        None
    }

    /// The number of directed links that LLDP has crossed.
    pub fn directions_crossed(&self) -> usize {
        self.crossed.len()
    }

    fn expire(&mut self, switch: usize, rule: RuleId) {
        let (agent, connections) = (&mut self.agents[switch], &self.connections);
        match agent.table.expire(self.now, rule, |matching| connections.is_alive(matching)) {
            Expiry::Gone => {}
            Expiry::Later(at) => self.timers.push(Reverse((at, Timer::Rule(switch, rule)))),
            Expiry::Expired(rule) => {
                let idle = rule.idle_timeout > 0
                    && rule.used + u64::from(rule.idle_timeout) * 1_000_000_000 <= self.now;
                let reason = if idle { RemovedReason::IDLE_TIMEOUT } else { RemovedReason::HARD_TIMEOUT };
                agent.removed(self.now, &rule, reason, &mut self.counts);
            }
        }
    }

    /// Sends a frame from a host.
    fn send(&mut self, host: usize, frame: Vec<u8>) {
        let (switch, port) = self.network.hosts[host].at;
        self.queue.push_back(Arrival { switch, port: PortNumber(port), frame, hops: 0, path: 0 });
    }

    /// Forwards until no frame is in transit.
    fn settle(&mut self) {
        while let Some(arrival) = self.queue.pop_front() {
            self.arrive(arrival);
        }
    }

    fn arrive(&mut self, arrival: Arrival) {
        let Arrival { switch, port, frame, hops, path } = arrival;
        if hops >= MOST_HOPS {
            self.counts.looped += 1;
            return;
        }
        let fields = frame::fields(port, &frame);
        let Some(rule) = self.agents[switch].table.lookup(self.now, &fields, frame.len()) else {
            self.counts.missed += 1;
            return;
        };
        let is_miss = rule.priority == 0 && rule.matching == Match::default();
        let reason = if is_miss { PacketInReason::NO_MATCH } else { PacketInReason::ACTION };
        let (why, actions) = ((reason, rule.cookie), Rc::clone(&rule.actions));
        if actions.is_empty() {
            self.counts.dropped += 1;
        }
        // FNV-1a over the switches on the path.
        let path = (path ^ switch as u64 ^ 0xcbf2_9ce4_8422_2325).wrapping_mul(0x0100_0000_01b3);
        self.act(Way { switch, in_port: port, hops: hops + 1, path, why }, &actions, frame);
    }

    fn act(&mut self, way: Way, actions: &[Action], mut frame: Vec<u8>) {
        for (index, action) in actions.iter().enumerate() {
            match *action {
                Action::SetEthDst(address) => {
                    if let Some(destination) = frame.first_chunk_mut() {
                        *destination = address.0;
                    }
                }
                Action::Output { port: PortNumber::CONTROLLER, max_len } => self.ask(&way, &frame, max_len),
                Action::Output { port, .. } => {
                    let is_last = index + 1 == actions.len();
                    let copy = if is_last { std::mem::take(&mut frame) } else { frame.clone() };
                    self.output(&way, port, copy);
                }
            }
        }
    }

    fn output(&mut self, way: &Way, port: PortNumber, frame: Vec<u8>) {
        match port {
            PortNumber::TABLE => {
                let Way { switch, in_port, hops, path, .. } = *way;
                self.queue.push_back(Arrival { switch, port: in_port, frame, hops, path });
            }
            PortNumber::IN_PORT => self.emit(way, way.in_port.0, frame),
            PortNumber::ALL | PortNumber::FLOOD => {
                let ports = self.network.switches[way.switch].ports.len() as u32;
                for port in (1..=ports).filter(|port| *port != way.in_port.0) {
                    self.emit(way, port, frame.clone());
                }
            }
            // OpenFlow 1.3, section 7.2.1: only IN_PORT sends a packet back out of its ingress port.
            port if port == way.in_port => self.counts.misdirected += 1,
            PortNumber(port) => self.emit(way, port, frame),
        }
    }

    /// Sends a frame out of a port.
    fn emit(&mut self, way: &Way, port: u32, frame: Vec<u8>) {
        match self.network.peer(way.switch, port) {
            None => self.counts.misdirected += 1,
            Some(Peer::Host(host)) => self.deliver(host, &frame, way.path),
            Some(Peer::Switch { switch, port: other }) => {
                if ethertype(&frame) == Some(EtherType::LLDP) {
                    self.crossed.insert((way.switch, port));
                }
                let (hops, path) = (way.hops, way.path);
                self.queue.push_back(Arrival { switch, port: PortNumber(other), frame, hops, path });
            }
        }
    }

    /// Sends a packet-in.
    fn ask(&mut self, way: &Way, frame: &[u8], max_len: u16) {
        self.counts.packet_ins += 1;
        if ethertype(frame) == Some(EtherType::LLDP) {
            self.counts.packet_ins_of_lldp += 1;
        } else if self.connections.asked(self.now, &frame::fields(way.in_port, frame)) {
            self.counts.packet_ins_of_syns += 1;
        }
        let (reason, cookie) = way.why;
        let data = frame.get(..usize::from(max_len)).unwrap_or(frame);
        self.agents[way.switch].packet_in(reason, cookie, way.in_port, data, frame.len());
    }

    /// Delivers a frame to a host.
    fn deliver(&mut self, host: usize, frame: &[u8], path: u64) {
        match ethertype(frame) {
            Some(EtherType::ARP) => self.deliver_arp(host, frame),
            Some(EtherType::IPV4) => {
                let reaction = self.connections.receive(self.now, host, frame, path);
                let Some(reaction) = reaction else { return };
                self.send(host, reaction.answer);
                if let Some(connection) = reaction.joins {
                    for index in 1..self.connections.subflows() as u8 {
                        let timer = Timer::Join(SubflowId { connection, index });
                        self.timers.push(Reverse((self.now + self.delays.join, timer)));
                    }
                }
            }
            _ => {}
        }
    }

    fn deliver_arp(&mut self, host: usize, frame: &[u8]) {
        let Some(arp) = Ethernet::parse(frame).ok().and_then(|ethernet| Arp::parse(&ethernet).ok()) else {
            return;
        };
        let me = self.network.hosts[host].station();
        if arp.target_ip() != me.address {
            return;
        }
        let sender = Station { mac: arp.sender(), address: arp.sender_ip() };
        match arp.operation() {
            ArpOperation::Request if sender.address != me.address => {
                self.send(host, frame::arp(ArpOperation::Reply, me, sender));
            }
            ArpOperation::Request => {}
            ArpOperation::Reply => {
                let hosts = &self.network.hosts;
                let truth = hosts.iter().any(|of| (of.mac, of.address) == (sender.mac, sender.address));
                self.resolved[host] |= truth;
            }
        }
    }
}

fn ethertype(frame: &[u8]) -> Option<EtherType> {
    let [.., a, b] = *frame.first_chunk::<14>()?;
    Some(EtherType(u16::from_be_bytes([a, b])))
}
