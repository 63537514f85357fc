//! [`Split`]: how a scheme divides traffic among paths, if routes and link rates alone decide; and the load of every link
//! that follows from it before a run.

use std::collections::VecDeque;

use weft_fabric::Fabric;
use weft_units::{HostId, NodeId, PortId};

use crate::capacities::Capacities;
use crate::forwarding::Forwarding;
use crate::nearest_first::nearest_first;

/// How traffic to a host is divided, whatever the state of queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Split {
    /// Evenly among next hops, by a hash of each flow: in expectation over many flows.
    Hashed,
    /// Evenly among next hops, packet by packet.
    Random,
    /// By a hash of each flow, in proportion to the capacities of next hops.
    ByCapacity,
    /// Evenly among the paths that a source knows.
    OverPaths,
    /// All to the neighbour with the lowest ID.
    Lowest,
    /// All along the spanning tree.
    Tree,
}

/// Traffic to one host: from each switch, in bits per second.
pub type Inflow = (HostId, Vec<(NodeId, f64)>);

impl Split {
    /// Whether hosts that choose the entropy of their packets can change the division.
    pub const fn follows_entropy(self) -> bool {
        matches!(self, Self::Hashed | Self::ByCapacity | Self::OverPaths)
    }

    /// The load of every link between switches in bits per second, by link.
    pub fn loads(
        self,
        fabric: &Fabric,
        routes: &Forwarding,
        inflows: impl IntoIterator<Item = Inflow>,
    ) -> Vec<f64> {
        let mut loads = vec![0.0; fabric.links().len()];
        let capacities = (self == Self::ByCapacity).then(|| Capacities::new(routes));
        for (host, sources) in inflows {
            let order = if self == Self::Tree { tree_order(fabric, routes, host) } else { None };
            let order = order.unwrap_or_else(|| nearest_first(routes, host));
            let mut carried = vec![0.0; routes.node_count()];
            for (node, bps) in sources {
                carried[node.index()] += bps;
            }
            let paths = if self == Self::OverPaths { paths_of(routes, &order, host) } else { Vec::new() };
            // A node's traffic is complete once all nodes farther away have passed theirs on.
            for node in order.into_iter().rev().filter(|node| !fabric.node(*node).is_host()) {
                let bps = carried[node.index()];
                if bps == 0.0 {
                    continue;
                }
                let weight = |port: PortId| match (self, &capacities) {
                    (Self::ByCapacity, Some(of)) => of.of_port(routes, node, port, host) as f64,
                    (Self::OverPaths, _) => paths[routes.links(node)[port.index()].to.index()],
                    _ => 1.0,
                };
                let ports = self.ports(fabric, routes, node, host);
                let weights: Vec<f64> = ports.iter().map(|port| weight(*port)).collect();
                let all: f64 = weights.iter().sum();
                for (port, weight) in ports.into_iter().zip(weights).filter(|_| all > 0.0) {
                    let (link, share) = (fabric.ports(node)[port.index()], bps * weight / all);
                    loads[link.index()] += share;
                    carried[fabric.link(link).to.index()] += share;
                }
            }
        }
        loads
    }

    /// The ports of `node` to switches that carry traffic to `host`.
    fn ports(self, fabric: &Fabric, routes: &Forwarding, node: NodeId, host: HostId) -> Vec<PortId> {
        let links = routes.links(node);
        let is_between = |port: &PortId| !links[port.index()].is_to_host;
        let next = || routes.routes().next_hops(node, host).iter().copied().filter(is_between);
        match self {
            Self::Lowest => next().min_by_key(|port| (links[port.index()].to, *port)).into_iter().collect(),
            Self::Tree => tree_port(fabric, routes, node, host).into_iter().collect(),
            _ => next().collect(),
        }
    }
}

/// The number of paths from every node to `host`; `order` has nearer nodes first.
fn paths_of(routes: &Forwarding, order: &[NodeId], host: HostId) -> Vec<f64> {
    let mut paths = vec![0.0; routes.node_count()];
    for node in order {
        let next = routes.routes().next_hops(*node, host).iter();
        let links = next.map(|port| routes.links(*node)[port.index()]);
        let through = links.map(|link| if link.is_to_host { 1.0 } else { paths[link.to.index()] });
        paths[node.index()] = through.sum();
    }
    paths
}

/// The switches of the tree to which `host` is attached, nearest first.
fn tree_order(fabric: &Fabric, routes: &Forwarding, host: HostId) -> Option<Vec<NodeId>> {
    let first = fabric.edge_switch(host)?;
    let (mut order, mut next) = (Vec::new(), VecDeque::from([(first, first)]));
    while let Some((node, before)) = next.pop_front() {
        order.push(node);
        let links = routes.tree().forwarding(node).iter().map(|port| routes.links(node)[port.index()]);
        next.extend(links.filter(|link| !link.is_to_host && link.to != before).map(|link| (link.to, node)));
    }
    Some(order)
}

/// The port of the tree from `node` towards `host`.
fn tree_port(fabric: &Fabric, routes: &Forwarding, node: NodeId, host: HostId) -> Option<PortId> {
    let last = fabric.edge_switch(host)?;
    let tree = routes.tree();
    // Up to the root from the host; if `node` is on that way, the last step back down, else its own way up.
    let up = |at: NodeId| Some(routes.links(at)[tree.root_port(at)?.index()].to);
    let way: Vec<NodeId> = std::iter::successors(Some(last), |at| up(*at)).collect();
    match way.iter().position(|at| *at == node) {
        Some(0) => None,
        Some(place) => {
            let below = way[place - 1];
            let link = fabric.ports(below)[tree.root_port(below)?.index()];
            Some(fabric.link(link.reverse()).from_port)
        }
        None => tree.root_port(node),
    }
}

#[cfg(test)]
mod tests {
    use weft_fabric::{FabricBuilder, LinkSpec, build};
    use weft_units::Rate;

    use super::*;

    fn of(split: Split, fabric: &Fabric, rate: impl Fn(weft_units::LinkId) -> Rate) -> impl Fn(&str) -> f64 {
        let routes = Forwarding::with_rates(fabric, |link| fabric.link(link).up, rate);
        let source = fabric.edge_switch(HostId(0)).unwrap();
        let far = HostId(fabric.host_count() as u32 - 1);
        let loads = split.loads(fabric, &routes, [(far, vec![(source, 8.0)])]);
        let named: Vec<(String, f64)> =
            (0..).map(weft_units::LinkId).zip(loads).map(|(id, bps)| (fabric.link_label(id), bps)).collect();
        move |name| named.iter().find(|(label, _)| label == name).unwrap().1
    }

    #[test]
    fn each_split_loads_the_links_that_its_scheme_uses() {
        let link = LinkSpec::default();
        let fabric = build::spine_leaf(4, 2, 1, &link, &link).unwrap();
        let slow = fabric.link_named("l0-s3").unwrap();
        let rate = |id| {
            let built = fabric.link(id).rate;
            if id == slow || id == slow.reverse() { Rate::from_bps(built.bps() / 4) } else { built }
        };
        for (split, uplinks) in [
            (Split::Hashed, [2.0; 4]),
            (Split::Random, [2.0; 4]),
            (Split::OverPaths, [2.0; 4]),
            (Split::Lowest, [8.0, 0.0, 0.0, 0.0]),
            (Split::Tree, [8.0, 0.0, 0.0, 0.0]),
            (Split::ByCapacity, [32.0 / 13.0, 32.0 / 13.0, 32.0 / 13.0, 8.0 / 13.0]),
        ] {
            let load = of(split, &fabric, rate);
            let found = [0, 1, 2, 3].map(|spine| load(&format!("l0->s{spine}")));
            let down: f64 = (0..4).map(|spine| load(&format!("s{spine}->l1"))).sum();
            assert!((down - 8.0).abs() < 1e-9, "{split:?}: {down}");
            let close = found.iter().zip(uplinks).all(|(a, b)| (a - b).abs() < 1e-9);
            assert!(close, "{split:?}: {found:?}");
            assert_eq!(load("l1->s0"), 0.0);
        }
    }

    /// Behind `a` are two paths, behind `b` one: hashes halve at the first switch, a source that counts paths does not.
    #[test]
    fn a_source_that_knows_paths_divides_by_path_not_by_hop() {
        let mut builder = FabricBuilder::new("uneven");
        let link = LinkSpec::default();
        let hosts = ["h0", "h1"].map(|name| builder.add_host(name, 0, None).unwrap());
        let switches =
            ["x", "a", "b", "c", "d", "e", "y"].map(|name| builder.add_switch(name, 1, None).unwrap());
        let [x, a, b, c, d, e, y] = switches;
        for (from, to) in
            [(hosts[0], x), (x, a), (x, b), (a, c), (a, d), (b, e), (c, y), (d, y), (e, y), (y, hosts[1])]
        {
            builder.connect(from, to, &link).unwrap();
        }
        let fabric = builder.build().unwrap();
        let rate = |id| fabric.link(id).rate;
        assert_eq!(of(Split::Hashed, &fabric, rate)("x->a"), 4.0);
        assert!((of(Split::OverPaths, &fabric, rate)("x->a") - 16.0 / 3.0).abs() < 1e-9);
        assert_eq!(of(Split::Hashed, &fabric, rate)("a->c"), 2.0);
    }
}
