//! The paths of a flow between its two edge switches.

use std::collections::{BTreeMap, BTreeSet};

use weft_fabric::{EqualCost, Fabric};
use weft_units::{HostId, LinkId, NodeId};

/// The most paths of a flow among which one is chosen: those of a fat-tree of k = 64.
const MOST_PATHS: usize = 1_024;

/// The links between switches on the shortest paths of a flow, in the order of ports: paths over one port of the first
/// switch follow each other.
pub(super) fn paths(
    fabric: &Fabric,
    routes: &EqualCost,
    [source, destination]: [HostId; 2],
) -> Vec<Vec<LinkId>> {
    let Some(&first) = fabric.ports(fabric.host_node(source)).first() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut open = vec![(fabric.link(first).to, Vec::new())];
    while let Some((node, path)) = open.pop() {
        for port in routes.next_hops(node, destination).iter().rev() {
            let link = fabric.ports(node)[port.index()];
            let to = fabric.link(link).to;
            if !fabric.node(to).is_host() {
                open.push((to, [&path[..], &[link]].concat()));
            } else if !path.is_empty() && found.last() != Some(&path) {
                found.push(path.clone());
            }
        }
        if found.len() == MOST_PATHS {
            break;
        }
    }
    found
}

/// The parts of a fabric that share core switches: in a fat-tree, its pods.
pub(super) struct Pods {
    /// The hosts of each edge switch of each pod; a switch without a pod is one of its own.
    pub(super) hosts: Vec<Vec<Vec<usize>>>,
    /// The paths from a pod to another: in a fat-tree, one for each core switch. At least 1.
    pub(super) cores: usize,
    /// The links of an edge switch to aggregation switches, which lead to equally many cores each. At least 1.
    pub(super) aggregations: usize,
}

impl Pods {
    /// Those of `fabric`, of which one path between the first host and the farthest from it counts as typical.
    pub(super) fn of(fabric: &Fabric, routes: &EqualCost) -> Self {
        let mut pods: BTreeMap<Result<u32, NodeId>, BTreeMap<NodeId, Vec<usize>>> = BTreeMap::new();
        let hosts = || (0..fabric.host_count() as u32).map(HostId);
        for host in hosts() {
            if let Some(edge) = fabric.edge_switch(host) {
                let pod = pods.entry(fabric.node(edge).pod.ok_or(edge)).or_default();
                pod.entry(edge).or_default().push(host.index());
            }
        }
        let farthest = hosts().max_by_key(|host| routes.distance(HostId(0), *host));
        let between = farthest.map_or(Vec::new(), |host| paths(fabric, routes, [HostId(0), host]));
        let first: BTreeSet<&LinkId> = between.iter().filter_map(|path| path.first()).collect();
        Self {
            hosts: pods.into_values().map(|edges| edges.into_values().collect()).collect(),
            cores: between.len().max(1),
            aggregations: first.len().max(1),
        }
    }
}
