//! [`Capacities`]: how much every switch can send to every host over equal-cost paths.
//!
//! The capacity of a port towards a host is the rate of its link, or the capacity of the switch behind it if that is
//! less; that of a switch is the sum over its next hops (Zhou et al., "WCMP: weighted cost multipathing for improved
//! fairness in data centers", EuroSys 2014, section 4).

use weft_units::{HostId, NodeId, PortId};

use crate::forwarding::Forwarding;

/// The capacities of all switches towards each class of hosts, in bits per second.
pub(crate) struct Capacities {
    /// By class, then by node; no limit at the switches to which the hosts are attached.
    of_nodes: Vec<Vec<u64>>,
}

impl Capacities {
    /// Over the next hops of `routes`.
    pub(crate) fn new(routes: &Forwarding) -> Self {
        let of_class = |host: HostId| {
            let mut known = vec![None; routes.node_count()];
            let nodes = (0..routes.node_count() as u32).map(NodeId);
            nodes.map(|node| of_node(routes, host, node, &mut known)).collect()
        };
        Self { of_nodes: routes.members().iter().map(|host| of_class(*host)).collect() }
    }

    /// The capacity of a port of `node` towards `host`, which is behind it.
    pub(crate) fn of_port(&self, routes: &Forwarding, node: NodeId, port: PortId, host: HostId) -> u64 {
        let link = routes.links(node)[port.index()];
        let behind = self.of_nodes[routes.class_of(host)][link.to.index()];
        // Behind a port to a host there is no other link.
        if link.is_to_host { link.rate.bps() } else { link.rate.bps().min(behind) }
    }
}

/// The capacity of a switch: the sum over its next hops, which are nearer to the host.
fn of_node(routes: &Forwarding, host: HostId, node: NodeId, known: &mut Vec<Option<u64>>) -> u64 {
    if let Some(known) = known[node.index()] {
        return known;
    }
    let of_port = |port: &PortId, known: &mut _| {
        let link = routes.links(node)[port.index()];
        link.rate.bps().min(of_node(routes, host, link.to, known))
    };
    let ports = routes.routes().next_hops(node, host);
    // The link to the host limits it whatever the path.
    let is_last = ports.iter().any(|port| routes.links(node)[port.index()].is_to_host);
    if is_last {
        known[node.index()] = Some(u64::MAX);
        return u64::MAX;
    }
    let sum = ports.iter().fold(0, |sum: u64, port| sum.saturating_add(of_port(port, known)));
    known[node.index()] = Some(sum);
    sum
}
