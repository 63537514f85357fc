//! Path diversity between hosts, and the diameter.

use std::collections::BTreeMap;

use weft_units::{HostId, NodeId};

use super::max_flow::{Network, UNLIMITED};
use crate::{EqualCost, Fabric};

/// The pairs of hosts at a distance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiversityRow {
    /// Links on the shortest path.
    pub hops: u32,
    /// Pairs examined.
    pub pairs: u64,
    /// Minimum and maximum number of shortest paths of a pair.
    pub equal_cost: (u64, u64),
    /// Minimum and maximum number of cable-disjoint paths of any length.
    pub disjoint: (u64, u64),
}

/// Path diversity between hosts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diversity {
    /// Rows by distance, the shortest first.
    pub rows: Vec<DiversityRow>,
    /// Pairs examined: few hosts represent all hosts on the same switches.
    pub examined: u64,
    /// All pairs.
    pub pairs: u64,
}

/// Path counts by distance, from at most `most` pairs: all if there are no more, else evenly spread pairs,
/// always the same.
pub fn diversity(fabric: &Fabric, paths: &EqualCost, most: u64) -> Diversity {
    let hosts = representatives(fabric, paths);
    let pairs = hosts.len() as u64 * (hosts.len() as u64 - 1) / 2;
    let step = pairs.div_ceil(most.max(1)).max(1);
    let mut rows = BTreeMap::new();
    let mut examined = 0;
    let each = hosts.iter().enumerate().flat_map(|(i, &a)| hosts[i + 1..].iter().map(move |&b| (a, b)));
    for (from, to) in each.step_by(usize::try_from(step).unwrap_or(usize::MAX)) {
        let Some(hops) = paths.distance(from, to) else { continue };
        let equal_cost = equal_cost_path_count(fabric, paths, from, to);
        let disjoint = disjoint_path_count(fabric, from, to);
        examined += 1;
        let row = rows.entry(hops).or_insert(DiversityRow {
            hops,
            pairs: 0,
            equal_cost: (equal_cost, equal_cost),
            disjoint: (disjoint, disjoint),
        });
        row.pairs += 1;
        row.equal_cost = (row.equal_cost.0.min(equal_cost), row.equal_cost.1.max(equal_cost));
        row.disjoint = (row.disjoint.0.min(disjoint), row.disjoint.1.max(disjoint));
    }
    Diversity { rows: rows.into_values().collect(), examined, pairs }
}

/// The links on the longest of the shortest paths between hosts.
pub fn diameter(fabric: &Fabric, paths: &EqualCost) -> u32 {
    let hosts = representatives(fabric, paths);
    let to_all = |&from: &HostId| hosts.iter().filter_map(|&to| paths.distance(from, to)).max();
    hosts.iter().filter_map(to_all).max().unwrap_or(0)
}

/// The hosts kept of a set on the same switches.
#[derive(Clone, Copy)]
struct Kept {
    /// The scale-up domain of the first, and how many of that domain.
    domain: Option<NodeId>,
    of_domain: u32,
    /// Whether one of another domain is kept.
    has_other: bool,
}

/// Of each set of hosts on the same switches, the first two of one scale-up domain, or of none, and the first from elsewhere:
/// so any two sets have a pair that is in different domains, if hosts of the sets are.
fn representatives(fabric: &Fabric, paths: &EqualCost) -> Vec<HostId> {
    let mut kept: Vec<Option<Kept>> = vec![None; paths.class_count()];
    let mut is_kept = |host: &HostId| {
        let domain = paths.domain_of(*host);
        let none = Kept { domain, of_domain: 0, has_other: false };
        let kept = kept[paths.class_of(*host) as usize].get_or_insert(none);
        if kept.domain == domain {
            kept.of_domain += 1;
            kept.of_domain <= 2
        } else {
            !std::mem::replace(&mut kept.has_other, true)
        }
    };
    (0..fabric.host_count() as u32).map(HostId).filter(|host| is_kept(host)).collect()
}

/// The number of shortest paths between two hosts, saturating; 0 if there is none.
pub fn equal_cost_path_count(fabric: &Fabric, paths: &EqualCost, from: HostId, to: HostId) -> u64 {
    let destination = fabric.host_node(to);
    // All nodes of a step have the same distance to the destination.
    let mut step = BTreeMap::from([(fabric.host_node(from), 1_u64)]);
    while !step.is_empty() && !step.contains_key(&destination) {
        let mut next = BTreeMap::new();
        for (&node, &ways) in &step {
            for port in paths.next_hops(node, to) {
                let entry = next.entry(fabric.link(fabric.ports(node)[port.index()]).to).or_insert(0_u64);
                *entry = entry.saturating_add(ways);
            }
        }
        step = next;
    }
    step.get(&destination).copied().unwrap_or(0)
}

/// The number of cable-disjoint paths between the switches of two hosts (the hosts' own cables do not limit
/// it, since most hosts have only one). A switch common to both counts one path for each pair of their cables
/// to it.
pub fn disjoint_path_count(fabric: &Fabric, from: HostId, to: HostId) -> u64 {
    let (source, sink) = (fabric.host_node(from), fabric.host_node(to));
    let cables = |host: NodeId| {
        let mut to_node = BTreeMap::new();
        for link in fabric.ports(host).iter().map(|&id| fabric.link(id)).filter(|link| link.up) {
            *to_node.entry(link.to).or_insert(0_u64) += 1;
        }
        to_node
    };
    let (ours, theirs) = (cables(source), cables(sink));
    let mut network = Network::new(fabric.nodes().len());
    for cable in fabric.links().chunks(2).filter(|cable| cable[0].up) {
        let (a, b) = (cable[0].from, cable[0].to);
        if !fabric.node(a).is_host() && !fabric.node(b).is_host() {
            network.join(a.index(), b.index(), 1, 1);
        }
    }
    for (&node, &count) in &ours {
        let common = node == sink || theirs.contains_key(&node);
        network.join(source.index(), node.index(), if common { count } else { UNLIMITED }, 0);
    }
    for (&node, &count) in theirs.iter().filter(|&(&node, _)| node != source) {
        network.join(node.index(), sink.index(), if ours.contains_key(&node) { count } else { UNLIMITED }, 0);
    }
    network.max_flow(source.index(), sink.index())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FabricBuilder, LinkSpec, build};

    /// Links, shortest paths and cable-disjoint paths.
    type Row = (u32, (u64, u64), (u64, u64));

    fn rows(fabric: &Fabric) -> Vec<Row> {
        let found = diversity(fabric, &EqualCost::compute(fabric), 100_000);
        found.rows.iter().map(|row| (row.hops, row.equal_cost, row.disjoint)).collect()
    }

    #[test]
    fn known_fabrics_have_their_known_paths() {
        let spec = LinkSpec::default();
        let counts =
            build::ThreeLayer { pods: 2, tors_per_pod: 2, planes: 4, spines_per_plane: 3, hosts_per_tor: 2 };
        for (fabric, expected) in [
            (
                build::fat_tree(4, &spec, &spec),
                vec![(2, (1, 1), (1, 1)), (4, (2, 2), (2, 2)), (6, (4, 4), (2, 2))],
            ),
            (
                build::fat_tree(8, &spec, &spec),
                vec![(2, (1, 1), (1, 1)), (4, (4, 4), (4, 4)), (6, (16, 16), (4, 4))],
            ),
            (build::spine_leaf(4, 4, 20, &spec, &spec), vec![(2, (1, 1), (1, 1)), (4, (4, 4), (4, 4))]),
            (
                build::three_layer(&counts, &spec, &spec, &spec),
                vec![(2, (1, 1), (1, 1)), (4, (4, 4), (4, 4)), (6, (12, 12), (4, 4))],
            ),
            (build::ring(4, 1, &spec, &spec), vec![(3, (1, 1), (2, 2)), (4, (2, 2), (2, 2))]),
            (build::mesh(4, 1, &spec, &spec), vec![(3, (1, 1), (3, 3))]),
        ] {
            let fabric = fabric.unwrap();
            assert_eq!(rows(&fabric), expected, "{}", fabric.name());
            let diameter = diameter(&fabric, &EqualCost::compute(&fabric));
            assert_eq!(Some(diameter), expected.last().map(|row| row.0));
        }
    }

    #[test]
    fn multihomed_hosts_have_a_path_for_each_cable() {
        let mut builder = FabricBuilder::new("two networks");
        let hosts = [0, 1].map(|i| builder.add_host(format!("h{i}"), 0, None).unwrap());
        let switches = [0, 1].map(|i| builder.add_switch(format!("s{i}"), 1, None).unwrap());
        for (host, switch) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            builder.connect(hosts[host], switches[switch], &LinkSpec::default()).unwrap();
        }
        builder.connect(hosts[0], hosts[1], &LinkSpec::default()).unwrap();
        let fabric = builder.build().unwrap();
        assert_eq!(disjoint_path_count(&fabric, HostId(0), HostId(1)), 3);
        assert_eq!(rows(&fabric), [(1, (1, 1), (3, 3))]);
    }

    #[test]
    fn pairs_within_and_between_scale_up_domains_are_examined() {
        let link = LinkSpec::default();
        let links = build::RailLinks { host: &link, uplink: &link, scale_up: &link };
        let cluster = |servers, gpus, rails, tors| {
            let counts =
                build::Rails { pods: 1, servers, gpus, rails, tors, planes: 1, spines: 2, domain: "server" };
            build::rails(&counts, links).unwrap()
        };
        for (gpus, rails) in [(8, 2), (8, 4), (8, 8), (72, 4)] {
            let fabric = cluster(2, gpus, rails, 1);
            let diameter = diameter(&fabric, &EqualCost::compute(&fabric));
            assert_eq!(diameter, 4, "{gpus} GPUs on {rails} rails");
            assert_eq!(rows(&fabric).last(), Some(&(4, (2, 2), (2, 2))), "{gpus} GPUs on {rails} rails");
        }
        // One path within a domain; one over each of both leaves between domains.
        let fabric = cluster(4, 8, 1, 2);
        assert_eq!(rows(&fabric), [(2, (1, 2), (2, 3))]);
    }

    #[test]
    fn a_large_fabric_is_sampled_evenly() {
        let spec = LinkSpec::default();
        let fabric = build::fat_tree(8, &spec, &spec).unwrap();
        let found = diversity(&fabric, &EqualCost::compute(&fabric), 100);
        assert_eq!(found.pairs, 64 * 63 / 2);
        assert!(found.examined <= 100 && found.examined > 90, "{}", found.examined);
        assert_eq!(found.rows.last().map(|row| row.equal_cost), Some((16, 16)));
    }
}
