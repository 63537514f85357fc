//! A fabric of switches without time and queues: a frame enters at a host and comes out at hosts.

use std::sync::Arc;

use weft_fabric::Fabric;
use weft_switching::{
    Action, Actions, Blueprint, Context, DropReason, Forwarding, Header, Mac, ParamValue, SchemeSpec,
    SchemeVisitor, Stream, Switch, TableEntries, flow_hash, stream, visit_scheme,
};
use weft_units::{HostId, LinkId, NodeId, PortId, Time};

/// The seed of every test unless stated otherwise.
pub const SEED: u64 = 1;

pub fn scheme(name: &str) -> SchemeSpec {
    SchemeSpec { name: name.to_owned(), params: Default::default() }
}

pub fn scheme_with(name: &str, key: &str, value: ParamValue) -> SchemeSpec {
    SchemeSpec { name: name.to_owned(), params: [(key.to_owned(), value)].into() }
}

/// The next hops of `fabric` without the links in `down`.
pub fn routes(fabric: &Fabric, down: &[LinkId]) -> Arc<Forwarding> {
    let up = |link: LinkId| fabric.link(link).up && !down.contains(&link);
    Arc::new(Forwarding::new(fabric, up))
}

/// A frame of a flow.
pub fn frame(src: u32, dst: u32, sport: u16, dport: u16) -> Header {
    let (from, to) = (HostId(src), HostId(dst));
    Header {
        src: Mac::of_host(from.0),
        dst: Mac::of_host(to.0),
        sport,
        dport,
        flow_hash: flow_hash(from, to, sport, dport),
        ip_bytes: 1_500,
        ..Header::default()
    }
}

/// The end of a frame or of one of its copies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// It reached a host over these links.
    Host(HostId, Vec<LinkId>),
    /// A switch dropped it.
    Dropped(NodeId, DropReason),
}

/// A frame that is forwarded more often is in a loop.
const MOST_HOPS: usize = 64;

/// Runs a test on a scheme's switches, hiding their type.
pub trait Network {
    /// Sends a frame from its source over its first link, and returns the end of every copy.
    fn send(&mut self, now: Time, header: &Header) -> Vec<End>;
    /// Passes a frame to one switch, and returns its actions.
    fn receive(&mut self, now: Time, at: NodeId, ingress: PortId, header: &Header) -> Vec<Action>;
    /// Notifies all switches of new paths.
    fn reroute(&mut self, routes: &Arc<Forwarding>);
    /// Sets the bytes that wait at these ports of a switch, and none at the others.
    fn set_queues(&mut self, at: NodeId, queues: Vec<(PortId, u64)>);
    /// The sizes of a switch's tables at time 0.
    fn entries(&mut self, at: NodeId) -> TableEntries;
}

/// Passes the switches of `scheme` on `fabric` to `test`.
pub fn network<T>(
    fabric: &Fabric,
    scheme: &SchemeSpec,
    seed: u64,
    test: impl FnOnce(&mut dyn Network) -> T,
) -> T {
    let built = visit_scheme(scheme, fabric, &routes(fabric, &[]), seed, Build { fabric, seed });
    test(&mut *built.expect("a known scheme"))
}

struct Build<'a> {
    fabric: &'a Fabric,
    seed: u64,
}

impl<'a> SchemeVisitor for Build<'a> {
    type Output = Box<dyn Network + 'a>;

    fn visit<B: Blueprint>(self, blueprint: B) -> Self::Output {
        let nodes = (0..self.fabric.nodes().len() as u32).map(NodeId);
        let switches = nodes.map(|node| {
            let is_switch = !self.fabric.node(node).is_host();
            let world = World::new(stream(self.seed, "switch", u64::from(node.0)));
            (is_switch.then(|| blueprint.switch(self.fabric, node)), world)
        });
        let switches = switches.collect();
        Box::new(Switches { fabric: self.fabric, switches })
    }
}

struct Switches<'a, S> {
    fabric: &'a Fabric,
    /// By node; `None` for hosts.
    switches: Vec<(Option<S>, World)>,
}

/// The time, the queues and the random draws of one switch.
pub struct World {
    pub now: Time,
    /// Bytes by port; 0 for ports beyond.
    pub queues: Vec<u64>,
    random: Stream,
}

impl World {
    pub const fn new(random: Stream) -> Self {
        Self { now: Time::ZERO, queues: Vec::new(), random }
    }
}

impl Context for World {
    fn now(&self) -> Time {
        self.now
    }

    fn queue_bytes(&self, port: PortId) -> u64 {
        self.queues.get(port.index()).copied().unwrap_or(0)
    }

    fn random(&mut self) -> &mut Stream {
        &mut self.random
    }
}

impl<S: Switch> Network for Switches<'_, S> {
    fn send(&mut self, now: Time, header: &Header) -> Vec<End> {
        let host = header.source().expect("a simulated host");
        let first = self.fabric.ports(self.fabric.host_node(host))[0];
        let (mut ends, mut under_way) = (Vec::new(), vec![(vec![first], *header)]);
        while let Some((path, header)) = under_way.pop() {
            assert!(path.len() <= MOST_HOPS, "a loop: {path:?}");
            let last = self.fabric.link(path[path.len() - 1]);
            if let Some(host) = self.fabric.node(last.to).host {
                ends.push(End::Host(host, path));
                continue;
            }
            for action in self.receive(now, last.to, last.to_port, &header) {
                match action {
                    Action::Send(port) | Action::Deliver(port) => {
                        let link = self.fabric.ports(last.to)[port.index()];
                        under_way.push(([&path[..], &[link]].concat(), header));
                    }
                    Action::SendWith(port, overlay) => {
                        let link = self.fabric.ports(last.to)[port.index()];
                        under_way.push(([&path[..], &[link]].concat(), Header { overlay, ..header }));
                    }
                    Action::Drop(reason) => ends.push(End::Dropped(last.to, reason)),
                    Action::Consume => panic!("a switch consumed a host's frame"),
                    Action::Hold(_) | Action::HoldAside(_) => panic!("no frame overtakes another here"),
                }
            }
        }
        ends
    }

    fn receive(&mut self, now: Time, at: NodeId, ingress: PortId, header: &Header) -> Vec<Action> {
        let mut actions = Actions::default();
        let (switch, world) = &mut self.switches[at.index()];
        let switch = switch.as_mut().expect("a switch");
        world.now = now;
        switch.receive(world, ingress, header, &mut actions);
        let all: Vec<Action> = actions.all().collect();
        assert!(!all.is_empty(), "a switch returned no action");
        all
    }

    fn reroute(&mut self, routes: &Arc<Forwarding>) {
        let switches = self.switches.iter_mut().filter_map(|(switch, _)| switch.as_mut());
        switches.for_each(|switch| switch.routes_changed(routes));
    }

    fn set_queues(&mut self, at: NodeId, queues: Vec<(PortId, u64)>) {
        let world = &mut self.switches[at.index()].1;
        world.queues = vec![0; self.fabric.ports(at).len()];
        queues.into_iter().for_each(|(port, bytes)| world.queues[port.index()] = bytes);
    }

    fn entries(&mut self, at: NodeId) -> TableEntries {
        self.switches[at.index()].0.as_mut().expect("a switch").table_entries(Time::ZERO)
    }
}

/// Asserts that `counts` are compatible with uniform draws: Pearson's statistic is below its 99.9 %
/// quantile (Wilson and Hilferty 1931).
pub fn is_even(what: &str, counts: &[u64]) {
    const Z: f64 = 3.0902;
    let freedom = counts.len() as f64 - 1.0;
    let step = 2.0 / (9.0 * freedom);
    let limit = freedom * (1.0 - step + Z * step.sqrt()).powi(3);
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let statistic: f64 = counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    println!("{what}: chi-square {statistic:.1}, 99.9 % quantile {limit:.1}, {counts:?}");
    assert!(statistic < limit, "{what}: chi-square {statistic:.1}, limit {limit:.1}, {counts:?}");
}
