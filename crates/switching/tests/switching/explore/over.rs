//! TCP-Path and TFE over ECMP and over a spanning tree.

use std::collections::BTreeSet;
use std::sync::Arc;

use weft_fabric::{Fabric, LinkSpec, build};
use weft_switching::default_forwarding::DefaultForwarding;
use weft_switching::ecmp::{Ecmp, EcmpSwitch};
use weft_switching::exploration::Exploration;
use weft_switching::exploring::ways;
use weft_switching::spanning_tree::SpanningTreeScheme;
use weft_switching::tfe::{Classifier, TfeSwitch};
use weft_switching::{Blueprint, DropReason, Forwarding, Header, Kind};
use weft_units::{Duration, LinkId, NodeId};

use crate::common::{SEED, routes, scheme};
use crate::explore::net::{Net, datagram, segment};

/// Four spines, three leaves, two hosts per leaf.
fn fabric() -> Fabric {
    let link = LinkSpec::default();
    build::spine_leaf(4, 3, 2, &link, &link).unwrap()
}

/// TFE with the ports 3500 to 4500 over the default forwarding that `over` makes.
fn tfe(over: impl Fn(&Fabric, &Arc<Forwarding>, NodeId) -> DefaultForwarding, seed: u64) -> Net<TfeSwitch> {
    let (fabric, config) = (fabric(), Exploration::default());
    let (routes, ports) = (routes(&fabric, &[]), Classifier::Ports(3500, 4500));
    Net::new(fabric, seed, |fabric, node| {
        let switch = TfeSwitch::new(&config, ways(fabric, node), ports.clone(), u64::from(node.0));
        switch.over(over(fabric, &routes, node))
    })
}

fn ecmp_at(fabric: &Fabric, routes: &Arc<Forwarding>, node: NodeId) -> EcmpSwitch {
    Ecmp::new(Arc::clone(routes), SEED, &scheme("ecmp")).switch(fabric, node)
}

fn over_ecmp(fabric: &Fabric, routes: &Arc<Forwarding>, node: NodeId) -> DefaultForwarding {
    DefaultForwarding::Ecmp(ecmp_at(fabric, routes, node))
}

fn over_tree(fabric: &Fabric, routes: &Arc<Forwarding>, node: NodeId) -> DefaultForwarding {
    let tree = SpanningTreeScheme::new(Arc::clone(routes), Default::default());
    DefaultForwarding::SpanningTree(tree.switch(fabric, node))
}

/// The switches that a frame passed to its only receiver.
fn way<S: weft_switching::Switch>(net: &mut Net<S>, header: Header) -> Vec<NodeId> {
    let number = net.send(header);
    net.run(Duration::from_ms(5));
    match net.deliveries(number)[..] {
        [one] => one.visited.clone(),
        ref several => panic!("delivered {} times", several.len()),
    }
}

fn hashed(from: u32, to: u32, sport: u16, flags: u8) -> Header {
    Header { flow_hash: u32::from(sport).wrapping_mul(0x9e37_79b9), ..segment(from, to, sport, 80, flags, 7) }
}

#[test]
fn over_ecmp_small_flows_take_the_paths_of_ecmp_without_a_question() {
    let mut ours = tfe(over_ecmp, 1);
    let fabric = fabric();
    let routes = routes(&fabric, &[]);
    let mut plain = Net::new(fabric, 1, |fabric, node| ecmp_at(fabric, &routes, node));
    let mut spines = BTreeSet::new();
    for sport in 5000..5040 {
        let header = hashed(0, 2, sport, Header::SYN);
        let path = way(&mut ours, header);
        assert_eq!(path, way(&mut plain, header));
        spines.insert(path[1]);
    }
    assert_eq!(way(&mut ours, datagram(0, 2)), way(&mut plain, datagram(0, 2)));
    assert_eq!(spines.len(), 4);
    let entries = ours.entries();
    assert_eq!((entries.flows, entries.stations), (0, 0));
}

#[test]
fn over_ecmp_elephants_explore_without_a_question() {
    let mut net = tfe(over_ecmp, 1);
    let spines: BTreeSet<NodeId> =
        (3500..3540).map(|sport| net.open_both_ways(0, 2, sport, u32::from(sport))[1]).collect();
    assert_eq!(spines.len(), 4);
    // Two for each flow at each of three switches; copies of requests locked the others.
    assert!(net.entries().flows >= 40 * 6);
    let there = net.open_both_ways(0, 4, 4000, 1);
    assert_eq!(net.data(0, 4, 4000, 80), Some(there.clone()));
    assert_eq!(net.data(4, 0, 80, 4000), Some(there.into_iter().rev().collect()));
    assert_eq!((net.loops, net.circles), (0, 0));
    // Hosts of one switch need no exploration.
    assert_eq!(net.open(0, 1, 4001, 1)[0].len(), 1);
}

#[test]
fn over_a_tree_small_flows_share_one_spine_and_elephants_use_all() {
    let mut net = tfe(over_tree, 1);
    net.resolve(0, 2);
    let small: BTreeSet<NodeId> = (5000..5020).map(|sport| net.open_both_ways(0, 2, sport, 1)[1]).collect();
    assert_eq!((small.len(), net.entries().flows), (1, 0));
    // As after an ordinary ARP exchange: the request was heard everywhere, the reply on its way.
    assert_eq!(net.entries().stations, 7 + 3);
    let large: BTreeSet<NodeId> =
        (3500..3540).map(|sport| net.open_both_ways(0, 2, sport, u32::from(sport))[1]).collect();
    assert_eq!(large.len(), 4);
    assert_eq!((net.loops, net.circles), (0, 0));
}

#[test]
fn over_a_tree_a_destination_that_no_switch_knows_is_found_by_the_next_syn() {
    let mut net = tfe(over_tree, 1);
    let syn = segment(0, 2, 3500, 80, Header::SYN, 7);
    assert_eq!(net.arrivals(syn, 20), 0, "no edge knows the destination: the request dies");
    assert_eq!(net.arrivals(syn, 20), 1, "the tree floods it");
}

#[test]
fn elephants_leave_a_broken_link_at_once_and_small_flows_with_the_new_routes() {
    for (over, hit) in [(over_ecmp as fn(&_, &_, _) -> _, 2..20), (over_tree, 0..41)] {
        let mut net = tfe(over, 3);
        net.resolve(0, 2);
        let there = net.open_both_ways(0, 2, 3500, 7);
        let link = |net: &Net<TfeSwitch>, from: NodeId, to: NodeId| {
            *net.fabric.ports(from).iter().find(|link| net.fabric.link(**link).to == to).unwrap()
        };
        let broken = link(&net, there[0], there[1]);
        net.set_up(broken, false);
        net.run(Duration::from_ms(5));
        assert_eq!(net.made(Kind::RecoveryReply), 1);
        assert_ne!(net.both_ways(0, 2, 3500, 80)[1], there[1]);
        let lost = |net: &mut Net<TfeSwitch>| -> usize {
            (5000..5040).filter(|&sport| net.arrivals(hashed(0, 2, sport, Header::ACK), 5) == 0).count()
        };
        let before = lost(&mut net);
        let new = routes(&net.fabric, &[broken, broken.reverse()]);
        net.reroute(&new);
        assert!(hit.contains(&before), "{before} of 40 flows take the broken link");
        assert_eq!(lost(&mut net), 0);
    }
}

#[test]
fn a_frame_that_left_its_path_does_not_go_back_where_it_came_from() {
    let mut net = tfe(over_ecmp, 1);
    let there = net.open_both_ways(0, 2, 3500, 7);
    // A leaf that is on no path of the flow receives one of its frames from a spine.
    let other = net.fabric.switches().find(|&node| net.fabric.node(node).tier == 1 && !there.contains(&node));
    let other = other.unwrap();
    let ports = net.fabric.ports(there[1]).to_vec();
    let at = ports.iter().position(|&link: &LinkId| net.fabric.link(link).to == other).unwrap();
    let before = net.dropped(DropReason::SamePort);
    let mut came_back = 0;
    for sport in 3600..3640 {
        net.send_from(there[1], weft_units::PortId(at as u16), hashed(0, 2, sport, Header::ACK));
        net.run(Duration::from_ms(5));
        came_back = net.dropped(DropReason::SamePort) - before;
    }
    assert!((2..25).contains(&came_back), "{came_back} of 40 routes lead back");
    assert_eq!(net.circles, 0);
}
