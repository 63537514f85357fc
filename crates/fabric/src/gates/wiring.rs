//! Compares the wiring of a fabric with the intended fat-tree.

use weft_units::NodeId;

use super::FatTree;
use super::mistake::WiringMistake;
use crate::Fabric;

/// The differences between the switch cables of `fabric` and those of `tree`.
pub(super) fn mistakes(fabric: &Fabric, tree: &FatTree) -> Vec<WiringMistake> {
    let mut found = Vec::new();
    let mut is_edge = vec![false; fabric.nodes().len()];
    for &edge in tree.pods().iter().flat_map(|pod| &pod.edges) {
        is_edge[edge.index()] = true;
    }
    for pod in tree.pods() {
        for &edge in &pod.edges {
            upward(fabric, edge, &pod.aggregations, |_| false, &mut found);
        }
        for (&aggregation, cores) in pod.aggregations.iter().zip(tree.groups()) {
            // The cables of edges have been checked from below.
            upward(fabric, aggregation, cores, |peer| is_edge[peer.index()], &mut found);
        }
    }
    let mut is_core = vec![false; fabric.nodes().len()];
    tree.groups().iter().flatten().for_each(|core| is_core[core.index()] = true);
    for &core in tree.groups().iter().flatten() {
        for &link in fabric.ports(core) {
            let link = fabric.link(link);
            if is_core[link.to.index()] && core < link.to {
                found.push(WiringMistake::Extra {
                    switch: fabric.node(core).name.clone(),
                    port: link.from_port,
                    leads_to: fabric.node(link.to).name.clone(),
                });
            }
        }
    }
    found
}

/// Compares the cables of `switch`, except those to hosts and those to leave out, with one to each of `expected`.
fn upward(
    fabric: &Fabric,
    switch: NodeId,
    expected: &[NodeId],
    leave_out: impl Fn(NodeId) -> bool,
    found: &mut Vec<WiringMistake>,
) {
    let name = |node: NodeId| fabric.node(node).name.clone();
    let mut missing = expected.to_vec();
    let mut misled = Vec::new();
    for &link in fabric.ports(switch) {
        let link = fabric.link(link);
        if fabric.node(link.to).is_host() || leave_out(link.to) {
            continue;
        }
        match missing.iter().position(|&node| node == link.to) {
            Some(index) => {
                missing.remove(index);
            }
            None => misled.push((link.from_port, link.to)),
        }
    }
    let mut missing = missing.into_iter();
    for (port, to) in misled {
        let (switch, leads_to) = (name(switch), name(to));
        found.push(match missing.next() {
            Some(expected) => WiringMistake::Misled { switch, port, leads_to, expected: name(expected) },
            None => WiringMistake::Extra { switch, port, leads_to },
        });
    }
    found.extend(missing.map(|node| WiringMistake::Missing { switch: name(switch), expected: name(node) }));
}
