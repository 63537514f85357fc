//! A fabric of exploring switches with delays, losses and failures, but without queues: every frame is followed
//! from its host to its ends.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use rand_core::RngCore;
use weft_fabric::Fabric;
use weft_switching::arp_path::ArpPathSwitch;
use weft_switching::exploration::Exploration;
use weft_switching::exploring::ways;
use weft_switching::tcp_path::TcpPathSwitch;
use weft_switching::tfe::{Classifier, TfeSwitch};
use weft_switching::{
    Action, Actions, DropReason, Forwarding, Header, Kind, Mac, Rewrite, Stream, Switch, TableEntries, pick,
    stream,
};
use weft_units::{Duration, HostId, LinkId, NodeId, PortId, Time};

use crate::common::World;

/// A frame in flight, with the switches that it visited.
#[derive(Clone, Debug)]
struct Frame {
    number: usize,
    header: Header,
    visited: Vec<NodeId>,
}

/// A frame that reached a host.
#[derive(Clone, Debug)]
pub struct Delivered {
    pub number: usize,
    pub host: HostId,
    pub header: Header,
    pub visited: Vec<NodeId>,
}

/// Number of frames created and ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    pub made: u64,
    pub delivered: u64,
    pub dropped: u64,
    pub consumed: u64,
    pub lost: u64,
}

/// The network.
pub struct Net<S> {
    pub fabric: Fabric,
    pub now: Time,
    switches: BTreeMap<NodeId, (S, World)>,
    delays: Vec<u64>,
    /// The hosts' addresses.
    addresses: Vec<Mac>,
    up: Vec<bool>,
    events: BinaryHeap<Reverse<(u64, u64, u32)>>,
    waiting: BTreeMap<u64, Frame>,
    sequence: u64,
    frames: usize,
    /// Losses per 1000 frames on a link.
    pub loss: u64,
    random: Stream,
    pub delivered: Vec<Delivered>,
    pub drops: BTreeMap<DropReason, u64>,
    /// Flooded frames that a switch forwarded a second time.
    pub loops: u64,
    /// The same for unicast frames.
    pub circles: u64,
    pub balance: Balance,
    /// Frames made by switches, by kind.
    pub control: BTreeMap<u8, u64>,
}

pub fn arp_path(fabric: Fabric, config: &Exploration, seed: u64) -> Net<ArpPathSwitch> {
    Net::new(fabric, seed, |fabric, node| ArpPathSwitch::new(config, ways(fabric, node), u64::from(node.0)))
}

pub fn tcp_path(fabric: Fabric, config: &Exploration, seed: u64) -> Net<TcpPathSwitch> {
    Net::new(fabric, seed, |fabric, node| TcpPathSwitch::new(config, ways(fabric, node), u64::from(node.0)))
}

pub fn tfe(fabric: Fabric, config: &Exploration, by: &Classifier, seed: u64) -> Net<TfeSwitch> {
    Net::new(fabric, seed, |fabric, node| {
        TfeSwitch::new(config, ways(fabric, node), by.clone(), u64::from(node.0))
    })
}

impl<S: Switch> Net<S> {
    pub fn new(fabric: Fabric, seed: u64, switch: impl Fn(&Fabric, NodeId) -> S) -> Self {
        let world = |node: NodeId| World::new(stream(seed, "switch", u64::from(node.0)));
        let switches = fabric.switches().map(|node| (node, (switch(&fabric, node), world(node))));
        let mut net = Self {
            switches: switches.collect(),
            delays: fabric.links().iter().map(|link| link.delay.ps()).collect(),
            addresses: (0..fabric.host_count() as u32).map(Mac::of_host).collect(),
            up: vec![true; fabric.links().len()],
            events: BinaryHeap::new(),
            waiting: BTreeMap::new(),
            sequence: 0,
            frames: 0,
            loss: 0,
            random: stream(seed, "cables", 0),
            delivered: Vec::new(),
            drops: BTreeMap::new(),
            loops: 0,
            circles: 0,
            balance: Balance::default(),
            control: BTreeMap::new(),
            now: Time::ZERO,
            fabric,
        };
        // The first Hello messages arrive.
        net.run(Duration::from_ms(100));
        net
    }

    /// A switch, and its world at the present time.
    fn switch(&mut self, node: NodeId) -> (&mut S, &mut World) {
        let (switch, world) = self.switches.get_mut(&node).expect("a switch");
        world.now = self.now;
        (switch, world)
    }

    /// A switch restarts: replaced by `fresh`, which has empty tables. Its neighbours are considered up, and it
    /// knows which ports are down.
    pub fn restart(&mut self, node: NodeId, fresh: S) {
        *self.switch(node).0 = fresh;
        for (number, link) in self.fabric.ports(node).to_vec().into_iter().enumerate() {
            let port = PortId(number as u16);
            if !self.up[link.index()] {
                self.on_switch(node, |switch, ctx, out| switch.port_changed(ctx, port, false, out));
            } else if !self.fabric.node(self.fabric.link(link).to).is_host() {
                let hello = Header { kind: Kind::Hello, dst: Mac::HELLO, ..Header::default() };
                let (switch, world) = self.switch(node);
                switch.receive(world, port, &hello, &mut Actions::default());
            }
        }
    }

    pub fn set_delay(&mut self, link: LinkId, delay: Duration) {
        self.delays[link.index()] = delay.ps();
    }

    /// Sends a frame out of a host; returns its number.
    pub fn send(&mut self, header: Header) -> usize {
        let place = self.addresses.iter().position(|address| *address == header.src);
        let node = self.fabric.host_node(HostId(place.expect("the source is a host") as u32));
        self.send_from(node, PortId(0), header)
    }

    /// Swaps the addresses of two hosts, as if each had moved to the other's port. The fabric's entries are now
    /// outdated.
    pub fn swap(&mut self, a: u32, b: u32) {
        self.addresses.swap(a as usize, b as usize);
    }

    /// Sends a frame out of any port of any node.
    pub fn send_from(&mut self, node: NodeId, port: PortId, header: Header) -> usize {
        let number = self.frames;
        self.frames += 1;
        self.balance.made += 1;
        self.put(node, port, Frame { number, header, visited: Vec::new() }, 0);
        number
    }

    fn put(&mut self, node: NodeId, port: PortId, frame: Frame, offset: u64) {
        let link = self.fabric.ports(node)[port.index()];
        let lost = self.loss > 0 && self.random.next_u64() % 1000 < self.loss;
        if lost || !self.up[link.index()] {
            self.balance.lost += 1;
            return;
        }
        self.sequence += 1;
        self.waiting.insert(self.sequence, frame);
        let at = self.now.ps() + self.delays[link.index()] + offset;
        self.events.push(Reverse((at, self.sequence, link.0)));
    }

    /// Advances time by `span`.
    pub fn run(&mut self, span: Duration) {
        let end = self.now + span;
        loop {
            let frame_at = self.events.peek().map_or(u64::MAX, |Reverse((at, ..))| *at);
            let due = self.switches.iter().map(|(node, (switch, _))| (switch.next_deadline(), *node)).min();
            let (timer_at, node) = due.expect("there are switches");
            let next = frame_at.min(timer_at.ps());
            if next > end.ps() {
                break;
            }
            self.now = self.now.max(Time::from_ps(next));
            if timer_at.ps() <= frame_at {
                self.on_switch(node, |switch, ctx, out| switch.on_deadline(ctx, out));
            } else if let Some(Reverse((_, sequence, link))) = self.events.pop() {
                let frame = self.waiting.remove(&sequence).expect("it is waiting");
                self.arrive(LinkId(link), frame);
            }
        }
        self.now = end;
    }

    /// Calls a switch without a frame, and sends the frames that it makes.
    fn on_switch(&mut self, node: NodeId, call: impl FnOnce(&mut S, &mut World, &mut Actions)) {
        let mut out = Actions::default();
        let (switch, world) = self.switch(node);
        call(switch, world, &mut out);
        assert_eq!(out.all().count(), 0, "there is no frame to act on");
        self.emit(node, &out);
    }

    fn emit(&mut self, node: NodeId, out: &Actions) {
        for (offset, &(port, header)) in out.emitted().iter().enumerate() {
            if header.kind != Kind::Hello {
                *self.control.entry(header.kind as u8).or_default() += 1;
            }
            self.balance.made += 1;
            let number = self.frames;
            self.frames += 1;
            self.put(node, port, Frame { number, header, visited: vec![node] }, offset as u64);
        }
    }

    fn arrive(&mut self, link: LinkId, mut frame: Frame) {
        let (node, port) = (self.fabric.link(link).to, self.fabric.link(link).to_port);
        if !self.up[link.index()] {
            self.balance.lost += 1;
            return;
        }
        if let Some(host) = self.fabric.node(node).host {
            let Frame { number, header, visited } = frame;
            let mine = header.dst.is_group() || header.dst == self.addresses[host.index()];
            if header.kind == Kind::Hello {
                self.balance.consumed += 1;
            } else if mine && !header.kind.is_control() {
                self.balance.delivered += 1;
                self.delivered.push(Delivered { number, host, header, visited });
            } else {
                self.drop(DropReason::NotForMe);
            }
            return;
        }
        let mut out = Actions::default();
        let (switch, world) = self.switch(node);
        switch.receive(world, port, &frame.header, &mut out);
        let actions: Vec<Action> = out.all().collect();
        assert!(!actions.is_empty(), "no action for {:?}", frame.header);
        let sends =
            actions.iter().filter(|action| matches!(action, Action::Send(_) | Action::Deliver(_))).count();
        if out.emits_ahead() {
            self.emit(node, &out);
        }
        if matches!(out.rewriting(), Rewrite::Mark | Rewrite::UnwrapAndMark) {
            // A flood starts here, wherever the frame was before.
            frame.visited.clear();
        }
        assert!(sends == 0 || sends == actions.len(), "both sent and dropped");
        if sends > 0 && frame.visited.contains(&node) {
            let flooded = matches!(frame.header.kind, Kind::PathRequest | Kind::RecoveryRequest)
                || frame.header.kind == Kind::PathFail && frame.header.sport == 0 && frame.header.dport == 0
                || frame.header.dst.is_group()
                || frame.header.src.is_group();
            if flooded {
                self.loops += 1;
            } else {
                self.circles += 1;
            }
        }
        self.balance.made += sends.saturating_sub(1) as u64;
        out.rewriting().apply(&mut frame.header);
        frame.visited.push(node);
        for (offset, action) in actions.into_iter().enumerate() {
            match action {
                Action::Send(egress) => self.put(node, egress, frame.clone(), offset as u64),
                Action::Deliver(egress) => {
                    let delivered = Frame { header: frame.header.as_sent(), ..frame.clone() };
                    self.put(node, egress, delivered, offset as u64);
                }
                Action::Drop(reason) => self.drop(reason),
                Action::Consume => self.balance.consumed += 1,
                Action::SendWith(..) | Action::Hold(_) | Action::HoldAside(_) => {
                    panic!("no exploring scheme does this")
                }
            }
        }
        if !out.emits_ahead() {
            self.emit(node, &out);
        }
    }

    fn drop(&mut self, reason: DropReason) {
        self.balance.dropped += 1;
        *self.drops.entry(reason).or_default() += 1;
    }

    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.drops.get(&reason).copied().unwrap_or(0)
    }

    /// Number of frames of a kind made by switches.
    pub fn made(&self, kind: Kind) -> u64 {
        self.control.get(&(kind as u8)).copied().unwrap_or(0)
    }

    /// Takes both directions of a link down or up, and notifies both ends.
    pub fn set_up(&mut self, link: LinkId, up: bool) {
        for link in [link, link.reverse()] {
            self.up[link.index()] = up;
        }
        for link in [link, link.reverse()] {
            let (node, port) = (self.fabric.link(link).from, self.fabric.link(link).from_port);
            if !self.fabric.node(node).is_host() {
                self.on_switch(node, |switch, ctx, out| switch.port_changed(ctx, port, up, out));
            }
        }
    }

    /// Notifies all switches of new routes.
    pub fn reroute(&mut self, routes: &Arc<Forwarding>) {
        self.switches.values_mut().for_each(|(switch, _)| switch.routes_changed(routes));
    }

    /// Entries for flows and stations on all switches, expired or not.
    pub fn entries(&mut self) -> TableEntries {
        // Nothing has expired at time zero: entries are counted, valid or not.
        let each = self.switches.values_mut().map(|(switch, _)| switch.table_entries(Time::ZERO));
        each.fold(TableEntries::default(), |sum, one| TableEntries {
            flows: sum.flows + one.flows,
            stations: sum.stations + one.stations,
            groups: sum.groups + one.groups,
        })
    }

    /// Frames in flight on links.
    pub fn in_flight(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// The deliveries of a frame.
    pub fn deliveries(&self, number: usize) -> Vec<&Delivered> {
        self.delivered.iter().filter(|delivered| delivered.number == number).collect()
    }

    /// Sends a frame; returns how many copies hosts receive within `ms` milliseconds.
    pub fn arrivals(&mut self, header: Header, ms: u64) -> usize {
        let number = self.send(header);
        self.run(Duration::from_ms(ms));
        self.deliveries(number).len()
    }

    /// The ports of a switch that lead to other switches.
    pub fn fabric_ports(&self, switch: NodeId) -> Vec<PortId> {
        let links = (0..).map(PortId).zip(self.fabric.ports(switch));
        let of_fabric = links.filter(|(_, link)| !self.fabric.node(self.fabric.link(**link).to).is_host());
        of_fabric.map(|(port, _)| port).collect()
    }

    /// A host resolves another, so that both are known in the fabric.
    pub fn resolve(&mut self, from: u32, to: u32) {
        self.send(request(from));
        self.run(Duration::from_ms(50));
        self.send(reply(to, from));
        self.run(Duration::from_ms(50));
    }

    /// Opens a connection: SYN and SYN+ACK; returns the switches that each passed.
    pub fn open(&mut self, from: u32, to: u32, sport: u16, isn: u32) -> [Vec<NodeId>; 2] {
        let syn = self.send(segment(from, to, sport, 80, Header::SYN, isn));
        self.run(Duration::from_ms(50));
        let syn_ack = self.send(segment(to, from, 80, sport, Header::SYN | Header::ACK, !isn));
        self.run(Duration::from_ms(50));
        [syn, syn_ack].map(|number| match self.deliveries(number)[..] {
            [one] => one.visited.clone(),
            ref several => panic!("delivered {} times", several.len()),
        })
    }

    /// The same for a connection whose SYN+ACK takes the path of its SYN, which it returns.
    pub fn open_both_ways(&mut self, from: u32, to: u32, sport: u16, isn: u32) -> Vec<NodeId> {
        let [there, back] = self.open(from, to, sport, isn);
        assert!(there.iter().rev().eq(&back), "{there:?} and {back:?}");
        there
    }

    /// Sends a data segment and returns the switches that it passed, if it arrived.
    pub fn data(&mut self, from: u32, to: u32, sport: u16, dport: u16) -> Option<Vec<NodeId>> {
        let number = self.send(segment(from, to, sport, dport, Header::ACK, 0));
        self.run(Duration::from_ms(50));
        let arrived = self.deliveries(number);
        assert!(arrived.len() <= 1, "a frame arrived {} times", arrived.len());
        arrived.first().map(|delivered| delivered.visited.clone())
    }

    /// Sends a data segment in each direction; both must arrive, over the path that it returns.
    pub fn both_ways(&mut self, from: u32, to: u32, sport: u16, dport: u16) -> Vec<NodeId> {
        let [there, back] = [(from, to, sport, dport), (to, from, dport, sport)]
            .map(|(from, to, sport, dport)| self.data(from, to, sport, dport).expect("it arrives"));
        assert!(there.iter().rev().eq(&back), "{there:?} and {back:?}");
        there
    }
}

pub fn request(from: u32) -> Header {
    Header { src: Mac::of_host(from), dst: Mac::BROADCAST, kind: Kind::ArpRequest, ..Header::default() }
}

pub fn broadcast(from: u32) -> Header {
    Header { kind: Kind::Other, ..request(from) }
}

/// A non-TCP frame from one host to another.
pub fn datagram(from: u32, to: u32) -> Header {
    Header { kind: Kind::Other, ..segment(from, to, 0, 0, 0, 0) }
}

pub fn reply(from: u32, to: u32) -> Header {
    let [src, dst] = [from, to].map(Mac::of_host);
    Header { src, dst, kind: Kind::ArpReply, ..Header::default() }
}

pub fn segment(from: u32, to: u32, sport: u16, dport: u16, flags: u8, isn: u32) -> Header {
    let [src, dst] = [from, to].map(Mac::of_host);
    let mut header = Header {
        src,
        dst,
        sport,
        dport,
        tcp_flags: flags,
        ip_bytes: 1500,
        payload: 1448,
        ..Header::default()
    };
    header.set_exploration_id(isn);
    header
}

/// Any number below `n`.
pub fn below(random: &mut Stream, n: usize) -> usize {
    pick(random.next_u64(), n)
}
