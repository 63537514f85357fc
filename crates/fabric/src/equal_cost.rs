//! [`EqualCost`]: the next hops on the shortest paths, in a compact table for the engine.
//!
//! The next hops for a destination depend only on the switches that the destination is attached to: all hosts
//! of one leaf are one *class*. The table has one row per node and one entry per class; an entry is the
//! number of a port group. Few groups are distinct (a fat-tree has k + 1), so an entry is a byte; nodes with
//! equal rows (all cores, the aggregations of a pod, all hosts with one link) share one. The entries of a
//! fat-tree k = 16 with 1024 hosts and 320 switches take 19 kB, and everything that a lookup may touch 51 kB.
//! A lookup is two independent loads (row of the node, class of the host), one of the entry and one of the
//! group: 2 ns for random pairs, see `examples/speed.rs`.

use std::collections::BTreeMap;

use weft_units::{HostId, LinkId, NodeId, PortId};

use crate::{Fabric, Interfaces};

/// The entry of a node to which the hosts of a class are attached: the port depends on the host.
const LOCAL: u32 = 0;
/// The entry of a node without a path.
const NONE: u32 = 1;
/// The distance of unreachable nodes.
const FAR: u16 = u16::MAX;

/// A range of the port list.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: u32,
    count: u32,
}

/// A host or an address of an interface as a destination.
#[derive(Clone, Copy, Debug)]
struct Destination {
    node: NodeId,
    class: u32,
    /// The first of its entries in `attachments`.
    first: u32,
}

/// A node that a host is attached to, and the ports of that node towards it.
#[derive(Clone, Copy, Debug)]
struct Attachment {
    node: NodeId,
    ports: Group,
}

/// The entries, as narrow as the number of groups allows.
#[derive(Clone, Debug)]
enum Table {
    Narrow(Box<[u8]>),
    Wide(Box<[u32]>),
}

/// The ports on the paths with the fewest links, from every node to every host.
///
/// Hosts do not forward for others. Hosts of a scale-up domain reach each other through its switch, even if other paths are as
/// short, and through the network while a link into it is down. A cable is used only while both its directions work, as Ethernet takes a
/// link down when either end detects a fault (IEEE 802.3-2018, 46.3.4).
#[derive(Clone, Debug)]
pub struct EqualCost {
    /// The start of each node's row in the table.
    rows: Box<[u32]>,
    destinations: Box<[Destination]>,
    attachments: Box<[Attachment]>,
    table: Table,
    groups: Box<[Group]>,
    ports: Box<[PortId]>,
    /// Links from a host of one class to a host of another, row by row.
    distances: Box<[u16]>,
    classes: usize,
    domains: Domains,
}

/// The scale-up domains of a fabric; empty if there are none.
#[derive(Clone, Debug, Default)]
struct Domains {
    /// The membership of each host.
    members: Box<[Member]>,
    /// The host of each node; `u32::MAX` for a switch.
    host_of: Box<[u32]>,
}

/// The link of a host into its scale-up domain.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// The switch of the domain; [`OUTSIDE`] if the host is in none, or its link is down.
    switch: NodeId,
    /// The ports of the host and of the switch.
    up: Group,
    down: Group,
}

/// The domain of hosts outside of all domains.
const OUTSIDE: NodeId = NodeId(u32::MAX);

impl EqualCost {
    /// Over the cables that are up when a run starts.
    pub fn compute(fabric: &Fabric) -> Self {
        Self::compute_where(fabric, |link| fabric.link(link).up)
    }

    /// Over the cables with both directions `up`.
    pub fn compute_where(fabric: &Fabric, up: impl Fn(LinkId) -> bool) -> Self {
        Self::with_interfaces(fabric, None, up)
    }

    /// The same; with `interfaces`, also to their addresses.
    pub fn with_interfaces(
        fabric: &Fabric,
        interfaces: Option<&Interfaces>,
        up: impl Fn(LinkId) -> bool,
    ) -> Self {
        Computation::new(fabric, |link| up(link) && up(link.reverse())).run(interfaces)
    }

    /// The ports of `at` on the shortest paths to `to`, sorted; empty if there is no path and at the
    /// destination itself.
    #[inline]
    pub fn next_hops(&self, at: NodeId, to: HostId) -> &[PortId] {
        let destination = &self.destinations[to.index()];
        if at == destination.node {
            return &[];
        }
        if let Some(group) = self.domains.within(at, to) {
            return self.ports_of(group);
        }
        let slot = self.rows[at.index()] as usize + destination.class as usize;
        let entry = match &self.table {
            Table::Narrow(entries) => u32::from(entries[slot]),
            Table::Wide(entries) => entries[slot],
        };
        let group = if entry == LOCAL { self.last_hop(at, destination) } else { self.groups[entry as usize] };
        self.ports_of(group)
    }

    #[inline]
    fn ports_of(&self, group: Group) -> &[PortId] {
        &self.ports[group.first as usize..(group.first + group.count) as usize]
    }

    /// The ports of `at` towards a host attached to it.
    #[inline]
    fn last_hop(&self, at: NodeId, to: &Destination) -> Group {
        let own = &self.attachments[to.first as usize..];
        own.iter().find(|attachment| attachment.node == at).map_or(self.groups[NONE as usize], |a| a.ports)
    }

    /// Number of links on a shortest path between two hosts; `None` without a path, 0 from a host to itself.
    pub fn distance(&self, from: HostId, to: HostId) -> Option<u32> {
        if from == to {
            return Some(0);
        }
        if self.domain_of(from).is_some_and(|domain| Some(domain) == self.domain_of(to)) {
            return Some(2);
        }
        let (source, destination) = (self.destinations[from.index()], self.destinations[to.index()]);
        if self.hangs_on(to, source.node) {
            return Some(1);
        }
        let distance = self.distances[source.class as usize * self.classes + destination.class as usize];
        (distance != FAR).then_some(u32::from(distance))
    }

    /// Whether a cable connects `host` and `node`.
    fn hangs_on(&self, host: HostId, node: NodeId) -> bool {
        let first = self.destinations[host.index()].first as usize;
        let end =
            self.destinations.get(host.index() + 1).map_or(self.attachments.len(), |d| d.first as usize);
        self.attachments[first..end].iter().any(|attachment| attachment.node == node)
    }

    /// Number of classes of destinations: hosts of one class are attached to the same switches.
    pub fn class_count(&self) -> usize {
        self.classes
    }

    /// The class of a host, below [`Self::class_count`].
    #[inline]
    pub fn class_of(&self, host: HostId) -> u32 {
        self.destinations[host.index()].class
    }

    /// The scale-up switch of a host; `None` if it has none, or its link to it is down.
    pub fn domain_of(&self, host: HostId) -> Option<NodeId> {
        let member = self.domains.members.get(host.index())?;
        (member.switch != OUTSIDE).then_some(member.switch)
    }

    /// The bytes that a lookup may touch: the tables without the distances.
    pub fn table_bytes(&self) -> usize {
        let entries = match &self.table {
            Table::Narrow(entries) => size_of_val::<[u8]>(entries),
            Table::Wide(entries) => size_of_val::<[u32]>(entries),
        };
        entries
            + size_of_val::<[u32]>(&self.rows)
            + size_of_val::<[Destination]>(&self.destinations)
            + size_of_val::<[Attachment]>(&self.attachments)
            + size_of_val::<[Group]>(&self.groups)
            + size_of_val::<[PortId]>(&self.ports)
            + size_of_val::<[Member]>(&self.domains.members)
            + size_of_val::<[u32]>(&self.domains.host_of)
    }
}

impl Domains {
    /// The ports of `at` towards a host of its domain.
    #[inline]
    fn within(&self, at: NodeId, to: HostId) -> Option<Group> {
        let to = self.members.get(to.index())?;
        if to.switch == OUTSIDE {
            return None;
        }
        if at == to.switch {
            return Some(to.down);
        }
        let own = self.members.get(self.host_of[at.index()] as usize)?;
        (own.switch == to.switch).then_some(own.up)
    }
}

/// A port and the node behind it.
type Neighbour = (PortId, NodeId);

/// The tables under construction.
struct Computation<'a> {
    fabric: &'a Fabric,
    /// The neighbours over working cables of each node, in order of ports, without scale-up domains.
    neighbours: Vec<Vec<Neighbour>>,
    /// The working link of each host into its scale-up domain.
    domains: Vec<Option<LinkId>>,
    ports: Vec<PortId>,
    groups: Vec<Group>,
    known: BTreeMap<Box<[PortId]>, u32>,
}

impl<'a> Computation<'a> {
    fn new(fabric: &'a Fabric, up: impl Fn(LinkId) -> bool) -> Self {
        let is_outside = |node: NodeId| !fabric.node(node).is_scale_up();
        let of_node = |node: usize| {
            let links = fabric.ports(NodeId(node as u32)).iter().map(|&id| (id, fabric.link(id)));
            let links =
                links.filter(|(id, link)| up(*id) && [link.from, link.to].into_iter().all(is_outside));
            links.map(|(_, link)| (link.from_port, link.to)).collect()
        };
        let neighbours = (0..fabric.nodes().len()).map(of_node).collect();
        let hosts = (0..fabric.host_count() as u32).map(HostId);
        let domains = match fabric.has_scale_up() {
            true => hosts.map(|host| fabric.scale_up_link(host).filter(|link| up(*link))).collect(),
            false => Vec::new(),
        };
        let empty = Group { first: 0, count: 0 };
        Self {
            fabric,
            neighbours,
            domains,
            ports: Vec::new(),
            groups: vec![empty; 2],
            known: BTreeMap::new(),
        }
    }

    /// Appends ports to the list.
    fn span(&mut self, ports: &[PortId]) -> Group {
        let first = self.ports.len() as u32;
        self.ports.extend_from_slice(ports);
        Group { first, count: ports.len() as u32 }
    }

    /// The number of the group of these ports; `likely` is tried first.
    fn group(&mut self, ports: &[PortId], likely: u32) -> u32 {
        if ports.is_empty() {
            return NONE;
        }
        let Group { first, count } = self.groups[likely as usize];
        if self.ports[first as usize..(first + count) as usize] == *ports {
            return likely;
        }
        if let Some(&number) = self.known.get(ports) {
            return number;
        }
        let group = self.span(ports);
        self.groups.push(group);
        let number = self.groups.len() as u32 - 1;
        self.known.insert(ports.into(), number);
        number
    }

    /// The nodes that each host and each address is attached to with their ports towards it, and the resulting classes.
    fn destinations(
        &mut self,
        interfaces: Option<&Interfaces>,
    ) -> (Vec<Destination>, Vec<Attachment>, Vec<Vec<NodeId>>) {
        let (mut destinations, mut attachments) = (Vec::new(), Vec::new());
        let (mut classes, mut class_of) = (Vec::new(), BTreeMap::new());
        let mut number = |on: Vec<NodeId>| {
            *class_of.entry(on).or_insert_with_key(|on| {
                classes.push(on.clone());
                classes.len() as u32 - 1
            })
        };
        for &node in self.fabric.hosts() {
            let first = attachments.len() as u32;
            let mut on: Vec<NodeId> = self.neighbours[node.index()].iter().map(|&(_, other)| other).collect();
            on.sort_unstable();
            on.dedup();
            for &other in &on {
                let back = self.neighbours[other.index()].iter().filter(|&&(_, back)| back == node);
                let ports: Vec<PortId> = back.map(|&(port, _)| port).collect();
                attachments.push(Attachment { node: other, ports: self.span(&ports) });
            }
            destinations.push(Destination { node, class: number(on), first });
        }
        // An address is attached to one switch, by one port.
        for (host, link) in interfaces.into_iter().flat_map(Interfaces::all) {
            let (node, link) = (self.fabric.host_node(host), self.fabric.link(link));
            let first = attachments.len() as u32;
            let works = self.neighbours[node.index()].contains(&(link.from_port, link.to));
            if works {
                attachments.push(Attachment { node: link.to, ports: self.span(&[link.to_port]) });
            }
            let on = if works { vec![link.to] } else { Vec::new() };
            destinations.push(Destination { node, class: number(on), first });
        }
        (destinations, attachments, classes)
    }

    /// The scale-up domains.
    fn domains(&mut self) -> Domains {
        if self.domains.is_empty() {
            return Domains::default();
        }
        let none = Group { first: 0, count: 0 };
        let members = std::mem::take(&mut self.domains).into_iter().map(|link| match link {
            None => Member { switch: OUTSIDE, up: none, down: none },
            Some(link) => {
                let link = self.fabric.link(link);
                Member { switch: link.to, up: self.span(&[link.from_port]), down: self.span(&[link.to_port]) }
            }
        });
        let members = members.collect();
        let host_of = self.fabric.nodes().iter().map(|node| node.host.map_or(u32::MAX, |host| host.0));
        Domains { members, host_of: host_of.collect() }
    }

    fn run(mut self, interfaces: Option<&Interfaces>) -> EqualCost {
        let (destinations, attachments, classes) = self.destinations(interfaces);
        let domains = self.domains();
        let neighbours = std::mem::take(&mut self.neighbours);
        let (sources, source_of) = sources(self.fabric, &neighbours);
        let mut walk = Walk::new(self.fabric, &neighbours);
        let width = classes.len();
        let mut entries = vec![NONE; sources.len() * width];
        let mut likely = vec![NONE; sources.len()];
        let mut distances = vec![FAR; width * width];
        let mut hops = Vec::new();
        for (class, on) in classes.iter().enumerate() {
            walk.from(on);
            for (source, &node) in sources.iter().enumerate() {
                entries[source * width + class] = if on.binary_search(&node).is_ok() {
                    LOCAL
                } else {
                    walk.next_hops(node, &mut hops);
                    let number = self.group(&hops, likely[source]);
                    likely[source] = number;
                    number
                };
            }
            for (other, from) in classes.iter().enumerate() {
                distances[other * width + class] = walk.nearest(from).map_or(FAR, |nearest| nearest + 1);
            }
        }
        let (rows, entries) = share_rows(&entries, width, &source_of, sources.len());
        let table = if self.groups.len() <= 256 {
            Table::Narrow(entries.iter().map(|&entry| entry as u8).collect())
        } else {
            Table::Wide(entries.into())
        };
        EqualCost {
            rows: rows.into(),
            destinations: destinations.into(),
            attachments: attachments.into(),
            table,
            groups: self.groups.into(),
            ports: self.ports.into(),
            distances: distances.into(),
            classes: width,
            domains,
        }
    }
}

/// The nodes that need a row, and for each node its row: hosts with the same switches at the same ports share
/// one.
fn sources(fabric: &Fabric, neighbours: &[Vec<Neighbour>]) -> (Vec<NodeId>, Vec<usize>) {
    let mut sources = Vec::new();
    let mut add = |node| {
        sources.push(node);
        sources.len() - 1
    };
    let mut alike = BTreeMap::new();
    let is_host = |node: NodeId| fabric.node(node).is_host();
    let of_node = |(index, around): (usize, &Vec<Neighbour>)| {
        let node = NodeId(index as u32);
        // A host connected to another host is the last hop towards it, so it needs its own row.
        if is_host(node) && around.iter().all(|&(_, other)| !is_host(other)) {
            *alike.entry(around.clone()).or_insert_with(|| add(node))
        } else {
            add(node)
        }
    };
    let source_of = neighbours.iter().enumerate().map(of_node).collect();
    (sources, source_of)
}

/// Merges equal rows: returns the start of each node's row in the kept entries, and the entries.
fn share_rows(entries: &[u32], width: usize, source_of: &[usize], sources: usize) -> (Vec<u32>, Vec<u32>) {
    let (mut kept, mut known) = (Vec::new(), BTreeMap::new());
    let starts: Vec<u32> = (0..sources)
        .map(|source| {
            let row = &entries[source * width..(source + 1) * width];
            *known.entry(row).or_insert_with(|| {
                kept.extend_from_slice(row);
                (kept.len() - width) as u32
            })
        })
        .collect();
    (source_of.iter().map(|&source| starts[source]).collect(), kept)
}

/// A breadth-first walk from the switches of a class outwards, over switches only.
struct Walk {
    /// The switch neighbours of each node, host or switch.
    inner: Vec<Vec<Neighbour>>,
    is_switch: Vec<bool>,
    /// Links from a node to the hosts of the class; [`FAR`] for hosts.
    distance: Vec<u16>,
    queue: Vec<NodeId>,
}

impl Walk {
    fn new(fabric: &Fabric, neighbours: &[Vec<Neighbour>]) -> Self {
        let is_switch: Vec<bool> = fabric.nodes().iter().map(|node| !node.is_host()).collect();
        let of_node = |around: &Vec<Neighbour>| {
            around.iter().copied().filter(|(_, other)| is_switch[other.index()]).collect()
        };
        let inner = neighbours.iter().map(of_node).collect();
        Self { inner, is_switch, distance: vec![FAR; neighbours.len()], queue: Vec::new() }
    }

    /// Walks from the nodes `on`, which are at distance 1.
    fn from(&mut self, on: &[NodeId]) {
        self.distance.fill(FAR);
        self.queue.clear();
        self.queue.extend(on.iter().filter(|node| self.is_switch[node.index()]));
        for node in &self.queue {
            self.distance[node.index()] = 1;
        }
        let mut done = 0;
        while let Some(&node) = self.queue.get(done) {
            done += 1;
            let further = self.distance[node.index()].saturating_add(1).min(FAR - 1);
            for &(_, other) in &self.inner[node.index()] {
                if self.distance[other.index()] == FAR {
                    self.distance[other.index()] = further;
                    self.queue.push(other);
                }
            }
        }
    }

    /// The minimum distance among the switches of `nodes`.
    fn nearest(&self, nodes: &[NodeId]) -> Option<u16> {
        nodes.iter().map(|node| self.distance[node.index()]).filter(|&distance| distance != FAR).min()
    }

    /// The ports of `node` towards its nearest neighbours.
    fn next_hops(&self, node: NodeId, into: &mut Vec<PortId>) {
        into.clear();
        let mut least = FAR;
        for &(port, other) in &self.inner[node.index()] {
            let distance = self.distance[other.index()];
            if distance < least {
                least = distance;
                into.clear();
            }
            if distance == least && distance != FAR {
                into.push(port);
            }
        }
    }
}
