//! [`Capacities`]: how much every switch can send to every host over equal-cost paths.
//!
//! The capacity of a port towards a host is the rate of its link, or the capacity of the switch behind it if that is
//! less; that of a switch is the sum over its next hops (Zhou et al., "WCMP: weighted cost multipathing for improved
//! fairness in data centers", EuroSys 2014, section 4).

use weft_units::{HostId, NodeId, PortId};

use crate::forwarding::{Forwarding, PortLink};
use crate::nearest_first::nearest_first;

/// The capacities of all switches towards each class of hosts, in bits per second.
pub(crate) struct Capacities {
    /// Capacities by class, then by node; unlimited at the switches to which the hosts are attached.
    of_nodes: Vec<Vec<u64>>,
}

impl Capacities {
    /// Over the next hops of `routes`.
    pub(crate) fn new(routes: &Forwarding) -> Self {
        Self { of_nodes: routes.members().iter().map(|host| of_class(routes, *host)).collect() }
    }

    /// The capacity of a port of `node` towards `host`, which is behind it.
    pub(crate) fn of_port(&self, routes: &Forwarding, node: NodeId, port: PortId, host: HostId) -> u64 {
        let link = routes.links(node)[port.index()];
        let behind = self.of_nodes[routes.class_of(host)][link.to.index()];
        // Behind a port to a host there is no other link.
        if link.is_to_host { link.rate.bps() } else { link.rate.bps().min(behind) }
    }
}

/// The capacities of all nodes towards `host`; 0 without a path.
fn of_class(routes: &Forwarding, host: HostId) -> Vec<u64> {
    let mut capacities = vec![0; routes.node_count()];
    // A switch's next hops are nearer to the host.
    for node in nearest_first(routes, host) {
        let links = routes.routes().next_hops(node, host).iter().map(|port| routes.links(node)[port.index()]);
        let over = |sum: u64, link: PortLink| match link.is_to_host {
            // The link to the host limits it whatever the path.
            true => u64::MAX,
            false => sum.saturating_add(link.rate.bps().min(capacities[link.to.index()])),
        };
        capacities[node.index()] = links.fold(0, over);
    }
    capacities
}

#[cfg(test)]
mod tests {
    use weft_fabric::{FabricBuilder, LinkSpec};
    use weft_units::Rate;

    use super::*;
    use crate::components::Components;

    /// A path of 30 000 switches, the longest that the tables allow is twice as long.
    #[test]
    fn the_longest_path_does_not_exhaust_the_stack() {
        let mut builder = FabricBuilder::new("path");
        let link = LinkSpec::default();
        let [h0, h1] = ["h0", "h1"].map(|name| builder.add_host(name, 0, None).unwrap());
        let switches: Vec<NodeId> =
            (0..30_000).map(|i| builder.add_switch(format!("s{i}"), 1, None).unwrap()).collect();
        builder.connect(h0, switches[0], &link).unwrap();
        for (place, pair) in switches.windows(2).enumerate() {
            let rate = Rate::from_gbps(if place == 20_000 { 1 } else { 10 });
            builder.connect(pair[0], pair[1], &link.clone().with_rate(rate)).unwrap();
        }
        builder.connect(switches[29_999], h1, &link).unwrap();
        let routes = Forwarding::new(&builder.build().unwrap(), |_| true);
        let towards = |place: usize| {
            let [port] = *routes.routes().next_hops(switches[place], HostId(1)) else { panic!("one path") };
            Capacities::new(&routes).of_port(&routes, switches[place], port, HostId(1))
        };
        assert_eq!([towards(0), towards(20_001)], [1_000_000_000, 10_000_000_000]);
        assert_eq!(Components::new(&routes).of(&routes, switches[0], HostId(1))[0].capacity, 1_000_000_000);
    }
}
