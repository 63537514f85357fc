//! [`FabricBuilder`]: builds a fabric node by node and cable by cable, and rejects errors immediately, so
//! that a reader can give their position in its file.

use std::collections::BTreeMap;

use weft_units::{HostId, LinkId, NodeId, PortId};

use crate::bounds::{MAX_CABLES, MAX_DELAY, MAX_NODES, MAX_RATE, MIN_RATE};
use crate::connectivity::disconnected_hosts;
use crate::fabric::{names, split_pair, unknown_node};
use crate::{Fabric, FabricError, Limit, Link, LinkSpec, MAX_QUEUES, Node, Overhead, PfcSpec, Role, Shape};

/// Maximum pairs of a switch and a switch with hosts, the size of a next-hop table.
const MAX_TABLE: u64 = 1 << 28;
/// Bytes of the shortest frame on the wire.
const MIN_FRAME: u64 = Overhead::MIN_FRAME as u64;

impl Fabric {
    /// A builder that starts from this fabric, to change it.
    pub fn edit(&self) -> FabricBuilder {
        FabricBuilder::from_fabric(self)
    }
}

/// Builds a [`Fabric`].
///
/// Ports are numbered on each node in the order in which its cables are connected.
#[derive(Clone, Debug)]
pub struct FabricBuilder {
    name: String,
    shape: Shape,
    nodes: Vec<Node>,
    links: Vec<Link>,
    hosts: Vec<NodeId>,
    /// Number of cables of each node so far.
    degrees: Vec<u32>,
    by_name: BTreeMap<String, NodeId>,
    notes: Vec<String>,
}

impl FabricBuilder {
    /// An empty fabric.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            shape: Shape::Custom,
            nodes: Vec::new(),
            links: Vec::new(),
            hosts: Vec::new(),
            degrees: Vec::new(),
            by_name: BTreeMap::new(),
            notes: Vec::new(),
        }
    }

    /// A builder with the content of `fabric`.
    pub(crate) fn from_fabric(fabric: &Fabric) -> Self {
        let names = fabric.by_name.iter().map(|&id| (fabric.node(id).name.clone(), id));
        Self {
            name: fabric.name.clone(),
            shape: fabric.shape,
            nodes: fabric.nodes.clone(),
            links: fabric.links.clone(),
            hosts: fabric.hosts.clone(),
            degrees: fabric.first_port.windows(2).map(|pair| pair[1] - pair[0]).collect(),
            by_name: names.collect(),
            notes: fabric.notes.clone(),
        }
    }

    /// Renames the fabric.
    pub fn rename(&mut self, name: impl Into<String>) {
        self.name = name.into();
    }

    /// Adds entries of [`Fabric::notes`].
    pub(crate) fn note(&mut self, notes: impl IntoIterator<Item = String>) {
        self.notes.extend(notes);
    }

    /// Adds a host.
    ///
    /// # Errors
    /// [`FabricError::BadName`], [`FabricError::DuplicateName`], [`FabricError::TooMany`].
    pub fn add_host(
        &mut self,
        name: impl Into<String>,
        tier: u8,
        pod: Option<u32>,
    ) -> Result<NodeId, FabricError> {
        self.add(name.into(), Role::Host, tier, pod)
    }

    /// Adds a switch; errors as for [`Self::add_host`].
    pub fn add_switch(
        &mut self,
        name: impl Into<String>,
        tier: u8,
        pod: Option<u32>,
    ) -> Result<NodeId, FabricError> {
        self.add(name.into(), Role::Switch, tier, pod)
    }

    fn add(&mut self, name: String, role: Role, tier: u8, pod: Option<u32>) -> Result<NodeId, FabricError> {
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            return Err(FabricError::BadName { name });
        }
        if self.by_name.contains_key(&name) {
            return Err(FabricError::DuplicateName { name });
        }
        check_size(self.nodes.len() as u64 + 1, self.links.len() as u64 / 2)?;
        let id = NodeId(self.nodes.len() as u32);
        let host = (role == Role::Host).then(|| {
            self.hosts.push(id);
            HostId(self.hosts.len() as u32 - 1)
        });
        self.by_name.insert(name.clone(), id);
        self.nodes.push(Node { name, role, tier, pod, host });
        self.degrees.push(0);
        self.shape = Shape::Custom;
        Ok(id)
    }

    /// The hosts so far.
    pub fn hosts(&self) -> &[NodeId] {
        &self.hosts
    }

    /// How the fabric was built, if it has not been changed since.
    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// Says that the fabric still has this shape, apart from scale-up domains.
    pub(crate) fn keep_shape(&mut self, shape: Shape) {
        self.shape = shape;
    }

    /// The nodes so far.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node with this name.
    pub fn node_named(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).copied()
    }

    /// The node with this name, or [`FabricError::UnknownNode`] with the nearest valid name.
    pub fn find(&self, name: &str) -> Result<NodeId, FabricError> {
        self.node_named(name).ok_or_else(|| unknown_node(name, &self.nodes))
    }

    /// The nodes of a text such as `e0-a1`; see [`Fabric::pair_named`].
    pub fn pair_named(&self, text: &str) -> Result<(NodeId, NodeId), FabricError> {
        split_pair(text, |name| self.node_named(name), |other| names(&self.nodes, &self.links, other))
    }

    /// Connects `a` and `b` by a symmetric cable. Two nodes may have several cables.
    ///
    /// # Errors
    /// [`FabricError::SelfLoop`], [`FabricError::Rate`], [`FabricError::Delay`],
    /// [`FabricError::Queue`], [`FabricError::Weight`], [`FabricError::TooManyQueues`],
    /// [`FabricError::Trim`], [`FabricError::LosslessQueue`], [`FabricError::Red`],
    /// [`FabricError::TooManyPorts`], [`FabricError::TooMany`].
    pub fn connect(&mut self, a: NodeId, b: NodeId, spec: &LinkSpec) -> Result<LinkId, FabricError> {
        self.connect_asymmetric(a, b, spec, spec)
    }

    /// Connects `a` and `b` by a cable with `forth` from `a` to `b` and `back` from `b` to `a`; returns the
    /// link from `a` to `b`. Errors as for [`Self::connect`].
    pub fn connect_asymmetric(
        &mut self,
        a: NodeId,
        b: NodeId,
        forth: &LinkSpec,
        back: &LinkSpec,
    ) -> Result<LinkId, FabricError> {
        if a == b {
            return Err(FabricError::SelfLoop { name: self.nodes[a.index()].name.clone() });
        }
        self.check_spec(a, b, forth)?;
        self.check_spec(b, a, back)?;
        check_size(self.nodes.len() as u64, self.links.len() as u64 / 2 + 1)?;
        let (a_port, b_port) = (self.next_port(a)?, self.next_port(b)?);
        self.degrees[a.index()] += 1;
        self.degrees[b.index()] += 1;
        let id = LinkId(self.links.len() as u32);
        for (from, to, from_port, to_port, spec) in
            [(a, b, a_port, b_port, forth), (b, a, b_port, a_port, back)]
        {
            let LinkSpec { rate, delay, queue, overhead } = spec.clone();
            self.links.push(Link { from, to, from_port, to_port, rate, delay, queue, overhead, up: true });
        }
        self.shape = Shape::Custom;
        Ok(id)
    }

    fn next_port(&self, node: NodeId) -> Result<PortId, FabricError> {
        let port = u16::try_from(self.degrees[node.index()]).map(PortId);
        port.map_err(|_| FabricError::TooManyPorts {
            node: self.nodes[node.index()].name.clone(),
            most: 1 << 16,
        })
    }

    fn check_spec(&self, from: NodeId, to: NodeId, spec: &LinkSpec) -> Result<(), FabricError> {
        let name = |id: NodeId| self.nodes[id.index()].name.clone();
        let (from, to) = (|| name(from), || name(to));
        if spec.rate < MIN_RATE || spec.rate > MAX_RATE {
            return Err(FabricError::Rate { from: from(), to: to(), rate: spec.rate });
        }
        if spec.delay > MAX_DELAY {
            return Err(FabricError::Delay { from: from(), to: to(), delay: spec.delay });
        }
        let is_too_small = |limit: &Limit| match *limit {
            Limit::Packets(packets) => packets == 0,
            Limit::Bytes(bytes) => bytes < MIN_FRAME,
            Limit::Unlimited => false,
        };
        let mut limits = [Some(spec.queue.limit), spec.queue.trim_queue].into_iter().flatten();
        if let Some(limit) = limits.find(is_too_small) {
            return Err(FabricError::Queue { from: from(), to: to(), limit });
        }
        let given = spec.queue.classes.len();
        if given > MAX_QUEUES {
            return Err(FabricError::TooManyQueues { from: from(), to: to(), given });
        }
        if let Some(class) = spec.queue.classes.iter().position(|class| class.weight == 0) {
            return Err(FabricError::Weight { from: from(), to: to(), class });
        }
        if spec.queue.trim && given < 2 {
            return Err(FabricError::Trim { from: from(), to: to() });
        }
        let queues = given.max(1);
        let beyond =
            |pfc: PfcSpec| (queues..MAX_QUEUES).find(|queue| pfc.queues.is_some() && pfc.has(*queue));
        if let Some(queue) = spec.queue.pfc.and_then(beyond) {
            return Err(FabricError::LosslessQueue {
                link: format!("`{}` -> `{}`", from(), to()),
                queue,
                queues,
            });
        }
        match spec.queue.red.and_then(|red| red.fault()) {
            Some(why) => Err(FabricError::Red { link: format!("`{}` -> `{}`", from(), to()), why }),
            None if spec.queue.red.is_some() && spec.queue.ecn_threshold.is_some() => {
                let why = "its `ecn_threshold` marks packets already: give one of them".to_owned();
                Err(FabricError::Red { link: format!("`{}` -> `{}`", from(), to()), why })
            }
            None => Ok(()),
        }
    }

    /// The links from `a` to `b`, at least one.
    fn links_between(&self, a: NodeId, b: NodeId) -> Result<Vec<LinkId>, FabricError> {
        let joins = |link: &Link| link.from == a && link.to == b;
        let found: Vec<LinkId> =
            (0..).map(LinkId).zip(&self.links).filter(|(_, l)| joins(l)).map(|(id, _)| id).collect();
        if found.is_empty() {
            let name = |id: NodeId| self.nodes[id.index()].name.clone();
            return Err(FabricError::NoCable { a: name(a), b: name(b) });
        }
        Ok(found)
    }

    /// Marks every cable between two nodes as failed, both directions.
    ///
    /// # Errors
    /// [`FabricError::UnknownNode`], [`FabricError::NoCable`].
    pub fn fail(&mut self, a: &str, b: &str) -> Result<(), FabricError> {
        let (a, b) = (self.find(a)?, self.find(b)?);
        for link in self.links_between(a, b)? {
            self.set_up(link, false);
        }
        Ok(())
    }

    /// Lets all cables between two nodes work again, both directions.
    ///
    /// # Errors
    /// Unknown node, or no cable between them.
    pub fn heal(&mut self, a: &str, b: &str) -> Result<(), FabricError> {
        let (a, b) = (self.find(a)?, self.find(b)?);
        for link in self.links_between(a, b)? {
            self.set_up(link, true);
        }
        Ok(())
    }

    /// Sets whether a cable works, both directions.
    pub(crate) fn set_up(&mut self, link: LinkId, up: bool) {
        self.links[link.index()].up = up;
        self.links[link.reverse().index()].up = up;
        self.shape = Shape::Custom;
    }

    /// The properties of the first cable between two nodes, in both directions.
    ///
    /// # Errors
    /// [`FabricError::NoCable`].
    pub fn specs_between(&self, a: NodeId, b: NodeId) -> Result<(LinkSpec, LinkSpec), FabricError> {
        let link = self.links_between(a, b)?[0];
        Ok((self.links[link.index()].spec(), self.links[link.reverse().index()].spec()))
    }

    /// Changes the properties of every cable between two nodes, in both directions.
    ///
    /// # Errors
    /// [`FabricError::NoCable`] and those of [`Self::connect`].
    pub fn respecify(
        &mut self,
        a: NodeId,
        b: NodeId,
        forth: &LinkSpec,
        back: &LinkSpec,
    ) -> Result<(), FabricError> {
        self.check_spec(a, b, forth)?;
        self.check_spec(b, a, back)?;
        for link in self.links_between(a, b)? {
            self.links[link.index()].respecify(forth);
            self.links[link.reverse().index()].respecify(back);
        }
        self.shape = Shape::Custom;
        Ok(())
    }

    /// The finished fabric.
    ///
    /// # Errors
    /// [`FabricError::NoHosts`], [`FabricError::Disconnected`], [`FabricError::TooMany`].
    pub fn build(self) -> Result<Fabric, FabricError> {
        if self.hosts.is_empty() {
            return Err(FabricError::NoHosts);
        }
        self.build_network()
    }

    /// Like `build`, but hosts are optional, for callers that need only switches and their cables.
    ///
    /// # Errors
    /// [`FabricError::Disconnected`], [`FabricError::TooMany`].
    pub fn build_network(self) -> Result<Fabric, FabricError> {
        check_scale_up(&self.nodes, &self.links)?;
        let Self { name, shape, nodes, links, hosts, degrees, by_name, notes } = self;
        if let Some((a, b)) = disconnected_hosts(&nodes, &links, &hosts, |link| link.up) {
            let by_failure = disconnected_hosts(&nodes, &links, &hosts, |_| true).is_none();
            let name = |id: NodeId| nodes[id.index()].name.clone();
            return Err(FabricError::Disconnected { a: name(a), b: name(b), by_failure });
        }
        let mut first_port = Vec::with_capacity(nodes.len() + 1);
        let mut total = 0;
        for degree in degrees {
            first_port.push(total);
            total += degree;
        }
        first_port.push(total);
        let mut ports = vec![LinkId::default(); links.len()];
        let mut edges = vec![false; nodes.len()];
        for (id, link) in (0..).map(LinkId).zip(&links) {
            ports[first_port[link.from.index()] as usize + link.from_port.index()] = id;
            edges[link.from.index()] |=
                nodes[link.to.index()].is_host() && !nodes[link.from.index()].is_scale_up();
        }
        let switches = (nodes.len() - hosts.len()) as u64;
        let with_hosts = edges.iter().filter(|&&edge| edge).count() as u64;
        if switches * with_hosts > MAX_TABLE {
            let what = "pair of a switch and a switch with hosts";
            return Err(FabricError::TooMany { what, most: MAX_TABLE, given: switches * with_hosts });
        }
        let by_name = by_name.into_values().collect();
        Ok(Fabric {
            name,
            shape,
            nodes,
            links,
            hosts,
            first_port,
            ports,
            by_name,
            buffer: None,
            host_queue: None,
            host_ports: Vec::new(),
            notes,
        })
    }

    /// The finished fabric of a known shape.
    pub(crate) fn build_as(mut self, shape: Shape) -> Result<Fabric, FabricError> {
        self.shape = shape;
        self.build()
    }
}

/// Rejects links of scale-up switches to other switches, and hosts with two links to such switches.
fn check_scale_up(nodes: &[Node], links: &[Link]) -> Result<(), FabricError> {
    let node = |id: NodeId| &nodes[id.index()];
    let mut joined: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    for link in links.iter().filter(|link| node(link.to).is_scale_up()) {
        let (host, switch) = (node(link.from), node(link.to));
        if !host.is_host() {
            return Err(FabricError::ScaleUpLink { switch: switch.name.clone(), other: host.name.clone() });
        }
        if let Some(first) = joined.insert(link.from, link.to) {
            let switches = format!("`{}` and `{}`", node(first).name, switch.name);
            return Err(FabricError::ScaleUpTwice { host: host.name.clone(), switches });
        }
    }
    Ok(())
}

/// Rejects sizes that are too large, before anything is built.
pub(crate) fn check_size(nodes: u64, cables: u64) -> Result<(), FabricError> {
    if nodes > MAX_NODES {
        return Err(FabricError::TooMany { what: "node", most: MAX_NODES, given: nodes });
    }
    if cables > MAX_CABLES {
        return Err(FabricError::TooMany { what: "link", most: MAX_CABLES, given: cables });
    }
    Ok(())
}
