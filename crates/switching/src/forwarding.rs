//! [`Forwarding`]: the equal-cost next hops of a fabric, laid out for per-packet lookup.
//!
//! [`EqualCost`] returns a slice, which costs a packet several unpredictable branches: is the host local,
//! is there a choice? Here every lookup is one addition: a switch's row gives, for the class of the
//! destination, an offset into a pool of ports and a number of ports, from which a random draw is added.
//! For the switch's own hosts the offset is the start of a list by host, and the host's number is added
//! instead.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rustc_hash::FxBuildHasher;
use weft_fabric::{EqualCost, Fabric, Interfaces, Overhead, SpanningTree};
use weft_units::{HostId, LinkId, NodeId, PortId, Rate};

use crate::hash::pick;

/// Pool entry for an unreachable host.
const NOWHERE: PortId = PortId(u16::MAX);

/// An offset into the pool and the number of ports there, 0 for "one port per host".
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Choice {
    first: u32,
    count: u32,
}

/// A link as seen from one of its ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortLink {
    /// The node at the other end.
    pub to: NodeId,
    /// The rate at which this end sends.
    pub rate: Rate,
    /// Bytes that the link adds to a packet on the wire.
    pub overhead: Overhead,
    /// Whether both directions are up.
    pub up: bool,
    /// Whether the other end is a host.
    pub is_to_host: bool,
}

/// The next hops of a whole fabric, its spanning tree and the links that they result from, shared by its switches.
#[derive(Debug)]
pub struct Forwarding {
    routes: Arc<EqualCost>,
    tree: SpanningTree,
    /// Links by node and port.
    links: Vec<Box<[PortLink]>>,
    class_of: Box<[u32]>,
    /// One host of each class.
    members: Box<[HostId]>,
    pool: Box<[PortId]>,
    /// Choices by node; switches with the same choices share a row.
    rows: Vec<Arc<[Choice]>>,
    /// The interfaces whose addresses are destinations, too.
    interfaces: Option<Arc<Interfaces>>,
}

impl Forwarding {
    /// The next hops and the tree of `fabric` over the links whose directions are both `up`.
    pub fn new(fabric: &Fabric, up: impl Fn(LinkId) -> bool) -> Self {
        Self::with_rates(fabric, up, |link| fabric.link(link).rate)
    }

    /// The next hops and the tree over links whose rates may have changed.
    pub fn with_rates(fabric: &Fabric, up: impl Fn(LinkId) -> bool, rate: impl Fn(LinkId) -> Rate) -> Self {
        Self::with_interfaces(fabric, None, up, rate)
    }

    /// The same; with `interfaces`, also to their addresses, which count as hosts of the network.
    pub fn with_interfaces(
        fabric: &Fabric,
        interfaces: Option<Arc<Interfaces>>,
        up: impl Fn(LinkId) -> bool,
        rate: impl Fn(LinkId) -> Rate,
    ) -> Self {
        let routes = Arc::new(EqualCost::with_interfaces(fabric, interfaces.as_deref(), &up));
        let tree = SpanningTree::compute_where(fabric, &up);
        let works = |link: LinkId| up(link) && up(link.reverse());
        let port_link = |&id: &LinkId| {
            let link = fabric.link(id);
            let is_to_host = fabric.node(link.to).is_host();
            PortLink { to: link.to, rate: rate(id), overhead: link.overhead, up: works(id), is_to_host }
        };
        let nodes = (0..fabric.nodes().len() as u32).map(NodeId);
        let links = nodes.map(|node| fabric.ports(node).iter().map(port_link).collect()).collect();
        // The nodes to which each host is attached, once per link.
        let attached = fabric.hosts().iter().map(|&host| {
            let working = fabric.ports(host).iter().filter(|link| works(**link));
            let nodes = working.map(|&link| fabric.link(link).to);
            let mut nodes: Vec<NodeId> = nodes.filter(|node| !fabric.node(*node).is_scale_up()).collect();
            nodes.sort_unstable();
            nodes
        });
        let of_addresses = interfaces.iter().flat_map(|interfaces| interfaces.links());
        let of_addresses =
            of_addresses.map(|link| works(link).then(|| fabric.link(link).to).into_iter().collect());
        let attached: Vec<Vec<NodeId>> = attached.chain(of_addresses).collect();
        let hosts = attached.len();
        let bundled = |host: HostId| attached[host.index()].windows(2).any(|pair| pair[0] == pair[1]);
        // A host with several links to one node is a class of its own: its last hop is a choice.
        let mut member = vec![HostId(0); routes.class_count()];
        let class_of = (0..hosts as u32).map(HostId).map(|host| {
            let class = if bundled(host) { member.len() } else { routes.class_of(host) as usize };
            member.resize(member.len().max(class + 1), host);
            member[class] = host;
            class as u32
        });
        let class_of: Box<[u32]> = class_of.collect();
        let place_of =
            |node, host: HostId| attached[host.index()].binary_search(&node).ok().filter(|_| !bundled(host));
        let mut pool = vec![NOWHERE];
        let nowhere = Choice { first: 0, count: 1 };
        let mut groups: HashMap<Box<[PortId]>, Choice, FxBuildHasher> = HashMap::default();
        let mut known_rows: HashSet<Arc<[Choice]>, FxBuildHasher> = HashSet::default();
        // Hosts do not forward.
        let of_host: Arc<[Choice]> = vec![nowhere; member.len()].into();
        // The row of the switches of scale-up domains, each of which has frames for the hosts of its own domain only.
        let mut shared: Option<Arc<[Choice]>> = None;
        let mut of_domain = |pool: &mut Vec<PortId>| {
            let row = shared.get_or_insert_with(|| {
                let first = pool.len() as u32;
                pool.extend((0..fabric.host_count() as u32).map(HostId).map(|host| {
                    let link = fabric.scale_up_link(host).filter(|link| works(*link));
                    link.map_or(NOWHERE, |link| fabric.link(link).to_port)
                }));
                pool.resize(first as usize + hosts, NOWHERE);
                vec![Choice { first, count: 0 }; member.len()].into()
            });
            Arc::clone(row)
        };
        // One list by host for each index that a switch may have among a host's attachment nodes.
        let mut by_host: Vec<u32> = Vec::new();
        let mut rows = Vec::with_capacity(fabric.nodes().len());
        for node in (0..fabric.nodes().len() as u32).map(NodeId) {
            if fabric.node(node).is_host() {
                rows.push(Arc::clone(&of_host));
                continue;
            }
            if fabric.node(node).is_scale_up() {
                rows.push(of_domain(&mut pool));
                continue;
            }
            let row = member.iter().map(|&host| match (routes.next_hops(node, host), place_of(node, host)) {
                ([], _) => nowhere,
                (_, Some(place)) => {
                    while by_host.len() <= place {
                        by_host.push(pool.len() as u32);
                        pool.resize(pool.len() + hosts, NOWHERE);
                    }
                    Choice { first: by_host[place], count: 0 }
                }
                (ports, None) => groups.get(ports).copied().unwrap_or_else(|| {
                    let choice = Choice { first: pool.len() as u32, count: ports.len() as u32 };
                    pool.extend_from_slice(ports);
                    groups.insert(ports.into(), choice);
                    choice
                }),
            });
            let row: Arc<[Choice]> = row.collect();
            let known = known_rows.get(&row).cloned();
            rows.push(known.unwrap_or_else(|| {
                known_rows.insert(Arc::clone(&row));
                row
            }));
        }
        for host in (0..hosts as u32).map(HostId) {
            for (place, &node) in attached[host.index()].iter().enumerate().filter(|_| !bundled(host)) {
                if let (Some(port), Some(first)) = (routes.next_hops(node, host).first(), by_host.get(place))
                {
                    pool[*first as usize + host.index()] = *port;
                }
            }
        }
        let (members, pool) = (member.into(), pool.into());
        Self { routes, tree, links, class_of, members, pool, rows, interfaces }
    }

    /// The interfaces whose addresses are destinations, if hosts have several.
    pub const fn interfaces(&self) -> Option<&Arc<Interfaces>> {
        self.interfaces.as_ref()
    }

    /// The underlying paths.
    pub fn routes(&self) -> &EqualCost {
        &self.routes
    }

    /// The underlying paths, shared.
    pub const fn shared_routes(&self) -> &Arc<EqualCost> {
        &self.routes
    }

    /// The spanning tree of the same links.
    pub const fn tree(&self) -> &SpanningTree {
        &self.tree
    }

    /// The links at `node`, by port.
    pub fn links(&self, node: NodeId) -> &[PortLink] {
        &self.links[node.index()]
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.links.len()
    }

    /// The number of hosts and addresses of interfaces.
    pub fn host_count(&self) -> usize {
        self.class_of.len()
    }

    /// The class of a host: the hosts of one class have the same paths, except for the last link.
    pub fn class_of(&self, host: HostId) -> usize {
        self.class_of[host.index()] as usize
    }

    /// One host of each class.
    pub const fn members(&self) -> &[HostId] {
        &self.members
    }

    /// The next hops of the switch `node`.
    pub fn at(self: &Arc<Self>, node: NodeId) -> NextHops {
        NextHops { row: Arc::clone(&self.rows[node.index()]), shared: Arc::clone(self), node }
    }
}

/// The next hops of one switch.
#[derive(Clone, Debug)]
pub struct NextHops {
    row: Arc<[Choice]>,
    shared: Arc<Forwarding>,
    node: NodeId,
}

impl NextHops {
    /// Chooses a next hop to `host` by 64 uniform bits; `None` if there is none.
    #[inline(always)]
    pub fn choose(&self, host: HostId, random: u64) -> Option<PortId> {
        let class = *self.shared.class_of.get(host.index())?;
        let choice = self.row[class as usize];
        let drawn = pick(random, choice.count as usize);
        let offset = std::hint::select_unpredictable(choice.count == 0, host.index(), drawn);
        let port = self.shared.pool[choice.first as usize + offset];
        (port != NOWHERE).then_some(port)
    }

    /// All next hops to `host`, sorted; none if the fabric has no such host.
    #[inline]
    pub fn all(&self, host: HostId) -> &[PortId] {
        let Some(&class) = self.shared.class_of.get(host.index()) else { return &[] };
        let choice = self.row[class as usize];
        let is_local = choice.count == 0;
        let first = choice.first as usize + std::hint::select_unpredictable(is_local, host.index(), 0);
        match &self.shared.pool[first..][..choice.count.max(1) as usize] {
            [NOWHERE] => &[],
            ports => ports,
        }
    }

    /// The switch.
    pub const fn node(&self) -> NodeId {
        self.node
    }

    /// Updates the switch after a path change.
    pub fn renew(&mut self, shared: &Arc<Forwarding>) {
        *self = shared.at(self.node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_fabric::{FabricBuilder, LinkSpec, build};

    fn agrees_with_the_routes(fabric: &Fabric, up: impl Fn(LinkId) -> bool) {
        let interfaces = Some(Arc::new(Interfaces::of(fabric)));
        let rate = |link| fabric.link(link).rate;
        let forwarding = Arc::new(Forwarding::with_interfaces(fabric, interfaces, up, rate));
        for node in fabric.switches() {
            let hops = forwarding.at(node);
            for host in (0..forwarding.host_count() as u32).map(HostId) {
                let mut chosen: Vec<_> =
                    (0..64_u64).filter_map(|draw| hops.choose(host, draw << 58 | 1 << 32)).collect();
                chosen.sort_unstable();
                chosen.dedup();
                assert_eq!(chosen, hops.all(host), "at {node} to host {host}");
                let routed = forwarding.routes().next_hops(node, host);
                assert_eq!(chosen, routed, "at {node} to host {host}");
            }
        }
    }

    /// Three hosts on two switches: h0 on one, the others on both, h2 with two links to the first.
    fn two_homed() -> Fabric {
        let mut builder = FabricBuilder::new("two-homed");
        let link = LinkSpec::default();
        let hosts: Vec<_> = (0..3).map(|i| builder.add_host(format!("h{i}"), 0, None).unwrap()).collect();
        let switches: Vec<_> =
            (0..2).map(|i| builder.add_switch(format!("s{i}"), 1, None).unwrap()).collect();
        builder.connect(switches[0], switches[1], &link).unwrap();
        builder.connect(hosts[0], switches[0], &link).unwrap();
        for host in &hosts[1..] {
            builder.connect(*host, switches[1], &link).unwrap();
            builder.connect(*host, switches[0], &link).unwrap();
        }
        builder.connect(hosts[2], switches[0], &link).unwrap();
        builder.build().unwrap()
    }

    #[test]
    fn draws_reach_every_equal_cost_port_and_no_other() {
        let link = LinkSpec::default();
        agrees_with_the_routes(&build::fat_tree(4, &link, &link).unwrap(), |_| true);
        agrees_with_the_routes(&build::spine_leaf(3, 4, 2, &link, &link).unwrap(), |_| true);
        agrees_with_the_routes(&two_homed(), |_| true);
    }

    #[test]
    fn routes_to_an_address_end_at_its_interface_while_that_works() {
        let fabric = two_homed();
        let interfaces = Arc::new(Interfaces::of(&fabric));
        let host = HostId(2);
        assert_eq!([0, 1, 2].map(|host| interfaces.count(HostId(host))), [1, 2, 3]);
        for down in [None, Some(0), Some(1), Some(2)] {
            let lost = down.map(|number| interfaces.link(host, number));
            let up = |link| Some(link) != lost;
            let rate = |link| fabric.link(link).rate;
            let routes = Arc::new(Forwarding::with_interfaces(&fabric, Some(interfaces.clone()), up, rate));
            for number in 0..3 {
                let address = interfaces.address(host, number);
                assert_eq!(interfaces.host_of(address), Some(host));
                let link = fabric.link(interfaces.link(host, number));
                let last = routes.at(link.to);
                let expected = if down == Some(number) { vec![] } else { vec![link.to_port] };
                assert_eq!(last.all(address), expected, "{down:?} {number}");
                assert_eq!(last.choose(address, u64::MAX), expected.first().copied());
            }
        }
        assert_eq!(interfaces.host_of(HostId(9)), None);
    }

    #[test]
    fn links_have_rate_and_state_by_port() {
        let (thin, thick) =
            (LinkSpec::default(), LinkSpec { rate: Rate::from_gbps(40), ..LinkSpec::default() });
        let fabric = build::spine_leaf(2, 2, 1, &thin, &thick).unwrap();
        let down = fabric.link_named("l0-s1").unwrap();
        let forwarding = Forwarding::new(&fabric, |link| link != down);
        for node in (0..fabric.nodes().len() as u32).map(NodeId) {
            assert_eq!(forwarding.links(node).len(), fabric.ports(node).len());
            for (link, id) in forwarding.links(node).iter().zip(fabric.ports(node)) {
                let known = fabric.link(*id);
                let up = *id != down && *id != down.reverse();
                let is_to_host = fabric.node(known.to).is_host();
                let (to, rate, overhead) = (known.to, known.rate, known.overhead);
                let expected = PortLink { to, rate, overhead, up, is_to_host };
                assert_eq!(*link, expected, "{id:?}");
            }
        }
    }

    #[test]
    fn the_same_holds_while_any_one_cable_is_down() {
        let link = LinkSpec::default();
        for fabric in [build::fat_tree(4, &link, &link).unwrap(), two_homed()] {
            for down in (0..fabric.links().len() as u32).map(LinkId) {
                agrees_with_the_routes(&fabric, |link| link != down);
            }
        }
    }
}
