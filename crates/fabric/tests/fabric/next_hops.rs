//! Next hops and spanning tree against their definitions on graphs of any form.

use std::collections::VecDeque;

use crate::common::any_fabric;
use proptest::prelude::*;
use weft_fabric::{EqualCost, Fabric, LinkSpec, SpanningTree, build};
use weft_units::{HostId, LinkId, NodeId};

/// Links from every node to `to` over working cables and through switches only.
fn breadth_first(fabric: &Fabric, to: NodeId) -> Vec<Option<u32>> {
    let mut distance = vec![None; fabric.nodes().len()];
    distance[to.index()] = Some(0);
    let mut queue = VecDeque::from([to]);
    while let Some(node) = queue.pop_front() {
        if node != to && fabric.node(node).is_host() {
            continue;
        }
        for &link in fabric.ports(node) {
            let link = fabric.link(link);
            if link.up && distance[link.to.index()].is_none() {
                distance[link.to.index()] = distance[node.index()].map(|d: u32| d + 1);
                queue.push_back(link.to);
            }
        }
    }
    distance
}

fn holds_by_definition(fabric: &Fabric) {
    let paths = EqualCost::compute(fabric);
    for (host, &to) in fabric.hosts().iter().enumerate() {
        let host = HostId(host as u32);
        let distance = breadth_first(fabric, to);
        for (node, &here) in distance.iter().enumerate() {
            let at = NodeId(node as u32);
            let expected: Vec<_> = fabric
                .ports(at)
                .iter()
                .map(|&link| fabric.link(link))
                .filter(|link| {
                    let next = distance[link.to.index()];
                    let transit = link.to == to || !fabric.node(link.to).is_host();
                    link.up && transit && here.is_some() && next.map(|d| d + 1) == here
                })
                .map(|link| link.from_port)
                .collect();
            assert_eq!(
                paths.next_hops(at, host),
                expected,
                "{} to {}",
                fabric.node(at).name,
                fabric.host_name(host)
            );
            if let Some(from) = fabric.node(at).host {
                assert_eq!(paths.distance(from, host), here);
            }
        }
    }
}

proptest! {
    #[test]
    fn next_hops_are_the_neighbours_one_link_nearer(fabric in any_fabric()) {
        holds_by_definition(&fabric);
    }

    #[test]
    fn the_spanning_tree_spans_without_a_loop(fabric in any_fabric()) {
        let tree = SpanningTree::compute(&fabric);
        let is_switch = |node: NodeId| !fabric.node(node).is_host();
        let mut of = union_find(&fabric, |_| false);
        for switch in fabric.switches() {
            for &port in tree.forwarding(switch) {
                let link = fabric.link(fabric.link_at(switch, port).unwrap());
                prop_assert!(link.up);
                prop_assert!(!is_switch(link.to) || tree.forwards(link.to, link.to_port), "both ends forward");
                if is_switch(link.to) && link.from < link.to {
                    prop_assert!(find(&mut of, link.from.index()) != find(&mut of, link.to.index()), "a loop");
                    let (a, b) = (find(&mut of, link.from.index()), find(&mut of, link.to.index()));
                    of[a] = b;
                }
            }
        }
        let mut whole = union_find(&fabric, |link| fabric.link(link).up);
        for a in fabric.switches() {
            let least = fabric.switches().find(|b| find(&mut whole, b.index()) == find(&mut whole, a.index()));
            prop_assert_eq!(Some(tree.root(a)), least, "the root is the lowest id within reach");
            prop_assert_eq!(find(&mut of, a.index()), find(&mut of, tree.root(a).index()), "the tree spans");
        }
    }
}

/// The connected components of switches over the links for which `joined` holds.
fn union_find(fabric: &Fabric, joined: impl Fn(LinkId) -> bool) -> Vec<usize> {
    let mut of: Vec<usize> = (0..fabric.nodes().len()).collect();
    for (id, link) in (0..).map(LinkId).zip(fabric.links()) {
        let inner = !fabric.node(link.from).is_host() && !fabric.node(link.to).is_host();
        if inner && joined(id) {
            let (a, b) = (find(&mut of, link.from.index()), find(&mut of, link.to.index()));
            of[a] = b;
        }
    }
    of
}

fn find(of: &mut [usize], mut node: usize) -> usize {
    while of[node] != node {
        of[node] = of[of[node]];
        node = of[node];
    }
    node
}

#[test]
fn regular_fabrics_hold_by_definition_too() {
    let spec = LinkSpec::default();
    holds_by_definition(&build::fat_tree(4, &spec, &spec).unwrap());
    holds_by_definition(&build::fat_tree(6, &spec, &spec).unwrap());
    holds_by_definition(&build::spine_leaf(4, 5, 3, &spec, &spec).unwrap());
    holds_by_definition(&build::dumbbell(3, 4, &spec, &spec).unwrap());
    let mut broken = build::fat_tree(4, &spec, &spec).unwrap().edit();
    broken.fail("e0", "a1").unwrap();
    broken.fail("c3", "a5").unwrap();
    holds_by_definition(&broken.build().unwrap());
}

#[test]
fn a_failure_during_a_run_is_a_new_computation() {
    let spec = LinkSpec::default();
    let fabric = build::spine_leaf(2, 2, 1, &spec, &spec).unwrap();
    let dead = fabric.link_named("l0-s1").unwrap();
    let paths = EqualCost::compute_where(&fabric, |link| link != dead);
    let leaf = |name| fabric.find(name).unwrap();
    assert_eq!(paths.next_hops(leaf("l0"), HostId(1)).len(), 1);
    assert_eq!(paths.next_hops(leaf("l1"), HostId(0)).len(), 1, "a cable fails in both directions");
    let cut = EqualCost::compute_where(&fabric, |link| fabric.link(link).from != leaf("l0"));
    assert_eq!(cut.next_hops(fabric.host_node(HostId(1)), HostId(0)), &[]);
    assert_eq!(cut.distance(HostId(1), HostId(0)), None);
}

#[test]
fn the_table_of_a_large_fat_tree_fits_the_cache() {
    let spec = LinkSpec::default();
    let fabric = build::fat_tree(16, &spec, &spec).unwrap();
    let paths = EqualCost::compute(&fabric);
    assert_eq!(paths.class_count(), 128);
    assert!(paths.table_bytes() < 72 * 1024, "{} bytes", paths.table_bytes());
    assert_eq!(paths.distance(HostId(0), HostId(1023)), Some(6));
    assert_eq!(paths.distance(HostId(0), HostId(63)), Some(4));
    assert_eq!(paths.distance(HostId(0), HostId(7)), Some(2));
}

#[test]
fn a_fabric_is_shared_among_threads() {
    fn shared<T: Clone + Send + Sync>() {}
    shared::<Fabric>();
    shared::<EqualCost>();
}
