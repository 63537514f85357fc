//! [`nearest_first`]: an order in which every node comes after all nodes on its shortest paths.

use weft_units::{HostId, NodeId};

use crate::forwarding::Forwarding;

/// The nodes with a path to `host`, by their distance from it; the host itself comes first.
pub(crate) fn nearest_first(routes: &Forwarding, host: HostId) -> Vec<NodeId> {
    let mut order = Vec::new();
    let mut before = vec![Vec::new(); routes.node_count()];
    for node in (0..routes.node_count() as u32).map(NodeId) {
        for port in routes.routes().next_hops(node, host) {
            let link = routes.links(node)[port.index()];
            before[link.to.index()].push(node);
            if link.is_to_host && order.is_empty() {
                order.push(link.to);
            }
        }
    }
    let mut is_known = vec![false; routes.node_count()];
    let mut place = 0;
    while let Some(node) = order.get(place).copied() {
        place += 1;
        for &other in &before[node.index()] {
            if !std::mem::replace(&mut is_known[other.index()], true) {
                order.push(other);
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use weft_fabric::{LinkSpec, build};

    use super::*;

    #[test]
    fn every_node_with_a_path_comes_once_and_after_its_next_hops() {
        let link = LinkSpec::default();
        for fabric in [build::fat_tree(4, &link, &link).unwrap(), build::ring(5, 2, &link, &link).unwrap()] {
            // Host 1 has no path.
            let cut = fabric.ports(fabric.hosts()[1])[0];
            let routes = Forwarding::new(&fabric, |link| link != cut);
            for host in (0..fabric.host_count() as u32).map(HostId) {
                let order = nearest_first(&routes, host);
                let place = |node: NodeId| order.iter().position(|other| *other == node);
                for node in (0..fabric.nodes().len() as u32).map(NodeId) {
                    let hops = routes.routes().next_hops(node, host);
                    let is_end = node == fabric.host_node(host) && host != HostId(1);
                    assert_eq!(place(node).is_some(), is_end || !hops.is_empty(), "{node} to {host:?}");
                    for port in hops {
                        let next = routes.links(node)[port.index()].to;
                        assert!(place(next) < place(node), "{node} over {next} to {host:?}");
                    }
                }
                let mut once = order.clone();
                once.sort_unstable();
                once.dedup();
                assert_eq!(once.len(), order.len());
            }
        }
    }
}
