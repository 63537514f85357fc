//! [`SpanningTree`]: the tree that IEEE 802.1D converges to.
//!
//! The bridge priority of a switch is its id, so the switch with the lowest id is the root; the cost of a
//! port follows its rate (IEEE 802.1D-2004, table 17-3: 20 Tbps / rate). Only the final state is computed, at
//! the start and after each failure.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weft_units::{LinkId, NodeId, PortId, Rate};

use crate::Fabric;

/// The largest cost of a port (IEEE 802.1D-2004, 17.14).
const MAX_COST: u64 = 200_000_000;

/// The loop-free part of a fabric: one tree per connected set of switches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpanningTree {
    /// The root port of each switch.
    root_ports: Vec<Option<PortId>>,
    /// The root of each node's tree; a host is its own root.
    roots: Vec<NodeId>,
    /// The cost of each node's path to the root.
    costs: Vec<u64>,
    /// Start of each node's ports in `forwarding`; one more entry than nodes.
    first: Vec<u32>,
    forwarding: Vec<PortId>,
}

impl SpanningTree {
    /// Over the cables that are up when a run starts.
    pub fn compute(fabric: &Fabric) -> Self {
        Self::compute_where(fabric, |link| fabric.link(link).up)
    }

    /// Over the cables with both directions `up`.
    pub fn compute_where(fabric: &Fabric, up: impl Fn(LinkId) -> bool) -> Self {
        let up = |link: LinkId| up(link) && up(link.reverse());
        let is_switch = |node: NodeId| !fabric.node(node).is_host();
        let count = fabric.nodes().len();
        let mut roots: Vec<NodeId> = (0..count as u32).map(NodeId).collect();
        let mut costs = vec![u64::MAX; count];
        for root in fabric.switches() {
            if costs[root.index()] != u64::MAX {
                continue;
            }
            costs[root.index()] = 0;
            let mut heap = BinaryHeap::from([Reverse((0, root))]);
            while let Some(Reverse((cost, node))) = heap.pop() {
                if cost > costs[node.index()] {
                    continue;
                }
                roots[node.index()] = root;
                for &link in fabric.ports(node).iter().filter(|&&link| up(link)) {
                    let other = fabric.link(link).to;
                    // The path cost sums the costs of ports towards the root, so of the reverse links.
                    let through = cost + port_cost(fabric.link(link.reverse()).rate);
                    if is_switch(other) && through < costs[other.index()] {
                        costs[other.index()] = through;
                        heap.push(Reverse((through, other)));
                    }
                }
            }
        }
        let mut root_ports = vec![None; count];
        let mut in_tree = vec![false; fabric.cable_count()];
        for switch in fabric.switches().filter(|switch| roots[switch.index()] != *switch) {
            // Least cost, then lowest designated bridge, its lowest port, own lowest port
            // (IEEE 802.1D-2004, 17.6).
            let towards = fabric.ports(switch).iter().copied().filter(|&link| up(link));
            let offers = towards.map(|link| (link, fabric.link(link))).filter(|(_, l)| is_switch(l.to));
            let best = offers
                .min_by_key(|(_, l)| (costs[l.to.index()] + port_cost(l.rate), l.to, l.to_port, l.from_port));
            if let Some((link, root_port)) = best {
                root_ports[switch.index()] = Some(root_port.from_port);
                in_tree[link.index() / 2] = true;
            }
        }
        let (mut first, mut forwarding) = (Vec::with_capacity(count + 1), Vec::new());
        for node in (0..count as u32).map(NodeId) {
            first.push(forwarding.len() as u32);
            for &link in fabric.ports(node).iter().filter(|&&link| up(link)) {
                let l = fabric.link(link);
                if in_tree[link.index() / 2] || !is_switch(l.from) || !is_switch(l.to) {
                    forwarding.push(l.from_port);
                }
            }
        }
        first.push(forwarding.len() as u32);
        for host in fabric.hosts() {
            costs[host.index()] = 0;
        }
        Self { root_ports, roots, costs, first, forwarding }
    }

    /// The forwarding ports of `at`, sorted: those in the tree, and all working ones of or to hosts.
    #[inline]
    pub fn forwarding(&self, at: NodeId) -> &[PortId] {
        &self.forwarding[self.first[at.index()] as usize..self.first[at.index() + 1] as usize]
    }

    /// Whether a port of `at` forwards.
    pub fn forwards(&self, at: NodeId, port: PortId) -> bool {
        self.forwarding(at).binary_search(&port).is_ok()
    }

    /// The port of a switch towards the root; `None` at the root, and for hosts.
    pub fn root_port(&self, at: NodeId) -> Option<PortId> {
        self.root_ports[at.index()]
    }

    /// The root of a switch's tree; a host is its own root.
    pub fn root(&self, at: NodeId) -> NodeId {
        self.roots[at.index()]
    }

    /// The cost of the path from a switch to its root.
    pub fn cost(&self, at: NodeId) -> u64 {
        self.costs[at.index()]
    }
}

/// The cost of a port with this rate (IEEE 802.1D-2004, table 17-3).
fn port_cost(rate: Rate) -> u64 {
    (20_000_000_000_000 / rate.bps().max(1)).clamp(1, MAX_COST)
}

#[cfg(test)]
mod tests {
    use weft_units::Duration;

    use super::*;
    use crate::{FabricBuilder, LinkSpec, build};

    #[test]
    fn costs_are_those_of_the_standard() {
        for (rate, cost) in [
            (Rate::from_bps(100_000), 200_000_000),
            (Rate::from_bps(10_000_000), 2_000_000),
            (Rate::from_bps(100_000_000), 200_000),
            (Rate::from_gbps(1), 20_000),
            (Rate::from_gbps(10), 2_000),
            (Rate::from_gbps(10_000), 2),
        ] {
            assert_eq!(port_cost(rate), cost, "{rate}");
        }
    }

    #[test]
    fn two_fast_links_win_over_a_slow_one() {
        let link = |gbps| LinkSpec::new(Rate::from_gbps(gbps), Duration::ZERO);
        let mut builder = FabricBuilder::new("triangle");
        let switches: Vec<_> =
            (0..3).map(|i| builder.add_switch(format!("s{i}"), 1, None).unwrap()).collect();
        let host = builder.add_host("h0", 0, None).unwrap();
        builder.connect(switches[0], switches[2], &link(1)).unwrap();
        builder.connect(switches[0], switches[1], &link(10)).unwrap();
        builder.connect(switches[1], switches[2], &link(10)).unwrap();
        builder.connect(host, switches[2], &link(1)).unwrap();
        let tree = SpanningTree::compute(&builder.build().unwrap());
        assert_eq!(tree.root(switches[2]), switches[0]);
        assert_eq!(tree.cost(switches[2]), 4_000);
        assert_eq!(tree.root_port(switches[2]), Some(PortId(1)));
        assert_eq!(tree.root_port(switches[0]), None);
        assert_eq!(tree.forwarding(switches[0]), &[PortId(1)]);
        assert_eq!(tree.forwarding(switches[2]), &[PortId(1), PortId(2)], "the port of the host forwards");
        assert!(!tree.forwards(switches[2], PortId(0)));
    }

    #[test]
    fn of_parallel_cables_the_first_is_in_the_tree() {
        let mut builder = FabricBuilder::new("pair");
        let a = builder.add_switch("a", 1, None).unwrap();
        let b = builder.add_switch("b", 1, None).unwrap();
        let host = builder.add_host("h", 0, None).unwrap();
        for _ in 0..3 {
            builder.connect(a, b, &LinkSpec::default()).unwrap();
        }
        builder.connect(host, b, &LinkSpec::default()).unwrap();
        let fabric = builder.build().unwrap();
        assert_eq!(SpanningTree::compute(&fabric).forwarding(a), &[PortId(0)]);
        let without = SpanningTree::compute_where(&fabric, |link| link.index() / 2 != 0);
        assert_eq!(without.forwarding(a), &[PortId(1)]);
    }

    #[test]
    fn a_fat_tree_keeps_one_cable_less_than_it_has_switches() {
        let spec = LinkSpec::default();
        let fabric = build::fat_tree(4, &spec, &spec).unwrap();
        let tree = SpanningTree::compute(&fabric);
        let inner = fabric.switches().flat_map(|s| tree.forwarding(s).iter().map(move |&p| (s, p)));
        let inner =
            inner.filter(|&(s, p)| !fabric.node(fabric.link(fabric.link_at(s, p).unwrap()).to).is_host());
        assert_eq!(inner.count(), 2 * 19);
        assert_eq!(tree.root(fabric.find("c3").unwrap()), fabric.find("e0").unwrap());
    }
}
