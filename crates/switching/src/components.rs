//! [`Components`]: the symmetric components of the next hops of every switch.
//!
//! Local queues show which of several paths is better only if the rest of the paths is symmetric: links of the same
//! rates that carry traffic of the same sources. Sets of such next hops are components; a flow keeps to one of them,
//! drawn with a probability in proportion to its capacity (Ghorbani et al., "DRILL: micro load balancing for
//! low-latency data center networks", SIGCOMM 2017, section 3.4).

use std::collections::BTreeMap;

use weft_units::{HostId, NodeId, PortId};

use crate::capacities::Capacities;
use crate::forwarding::{Forwarding, PortLink};
use crate::hash::mix64;
use crate::nearest_first::nearest_first;

/// The next hops of one component, and its capacity towards the destination in bits per second.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Component {
    /// Sorted.
    pub(crate) ports: Vec<PortId>,
    /// The sum over the ports.
    pub(crate) capacity: u64,
}

/// The components of all switches.
pub(crate) struct Components {
    capacities: Capacities,
    /// Labels for each class of hosts.
    labels: Vec<Labels>,
}

/// For each node, labels of the rest of the fabric on the way to the hosts of one class.
struct Labels {
    /// Labels of the sources whose packets reach the node, and of the links they arrive by.
    before: Vec<u64>,
    /// Labels of the remaining links of the paths from it.
    behind: Vec<u64>,
}

impl Components {
    /// Over the next hops of `routes`.
    pub(crate) fn new(routes: &Forwarding) -> Self {
        let labels = routes.members().iter().map(|host| Labels::new(routes, *host)).collect();
        Self { capacities: Capacities::new(routes), labels }
    }

    /// The components of `node` towards `host`, sorted by their first ports; empty without a path.
    pub(crate) fn of(&self, routes: &Forwarding, node: NodeId, host: HostId) -> Vec<Component> {
        let labels = &self.labels[routes.class_of(host)];
        let mut by_label: BTreeMap<u64, Component> = BTreeMap::new();
        for &port in routes.routes().next_hops(node, host) {
            let link = routes.links(node)[port.index()];
            let [before, behind] = [&labels.before, &labels.behind].map(|labels| labels[link.to.index()]);
            let label = joined(joined(link.rate.bps(), before), behind);
            let component =
                by_label.entry(label).or_insert_with(|| Component { ports: Vec::new(), capacity: 0 });
            component.ports.push(port);
            component.capacity += self.capacities.of_port(routes, node, port, host);
        }
        let mut all: Vec<Component> = by_label.into_values().collect();
        all.sort_unstable_by_key(|component| component.ports[0]);
        all
    }
}

impl Labels {
    fn new(routes: &Forwarding, host: HostId) -> Self {
        let order = nearest_first(routes, host);
        let mut behind = vec![all(&mut []); routes.node_count()];
        let mut into = vec![Vec::new(); routes.node_count()];
        for &node in &order {
            let ports = routes.routes().next_hops(node, host).iter();
            let links: Vec<PortLink> = ports.map(|port| routes.links(node)[port.index()]).collect();
            links.iter().for_each(|link| into[link.to.index()].push((node, link.rate.bps())));
            let mut each: Vec<u64> =
                links.iter().map(|link| joined(link.rate.bps(), behind[link.to.index()])).collect();
            behind[node.index()] = all(&mut each);
        }
        // Packets come to a node from nodes that are farther from the host.
        let mut before = vec![0; routes.node_count()];
        for &node in order.iter().rev() {
            let from = into[node.index()].iter();
            let mut each: Vec<u64> = from.map(|(from, rate)| joined(*rate, before[from.index()])).collect();
            before[node.index()] = match each.as_mut_slice() {
                // A source: itself.
                [] => joined(1, u64::from(node.0)),
                each => all(each),
            };
        }
        Self { before, behind }
    }
}

/// A label of several in any order.
fn all(each: &mut [u64]) -> u64 {
    each.sort_unstable();
    each.iter().fold(2, |label, one| joined(label, *one))
}

fn joined(a: u64, b: u64) -> u64 {
    mix64(mix64(a) ^ b)
}
