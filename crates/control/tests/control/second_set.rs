//! Settings that follow the paper's Algorithm 2 literally: a second path set for the reverse direction, and paths taken
//! in turn.

use weft_control::{Controller, Duration, Mptcp, Pick, Reverse, Settings, Show, Smoc, SwitchPort};
use weft_wire::mptcp::Version;

use crate::cases::four_with;
use crate::failures::opened;
use crate::net::Net;
use crate::talk::{ACK, Connection, Flow, SYN_ACK, flow};

/// Two paths of equal length, which ties order differently from each end: 1-3-6-2 and 1-4-5-2.
const CROSSED: [(u64, u64); 6] = [(1, 3), (3, 6), (6, 2), (1, 4), (4, 5), (5, 2)];

fn crossed(settings: Settings) -> Net<Smoc> {
    let mut net = Net::new(Smoc::new(settings).unwrap(), 1);
    net.build(6, &CROSSED, &[1, 2]);
    net.announce();
    net
}

fn with(reverse: Reverse, pick: Pick) -> Settings {
    Settings { reverse, pick, ..Settings::default() }
}

fn connection(port: u16) -> Connection {
    Connection::new(flow(0, 1, port), Version::V1, port.into())
}

/// The switches that a segment passes in each direction of a flow.
fn ways(net: &mut Net<Smoc>, flow: Flow) -> [Vec<u64>; 2] {
    [0, 1].map(|direction| {
        let segment = net.say(flow, direction, ACK, Some(Mptcp::Other));
        net.way(segment)
    })
}

#[test]
fn with_two_sets_each_direction_takes_a_path_of_its_senders_set() {
    let mut net = crossed(with(Reverse::Own, Pick::LeastUsed));
    let known = connection(4000);
    net.open(&known);
    let (upper, lower) = (vec![1, 3, 6, 2], vec![1, 4, 5, 2]);
    let back = |way: &[u64]| way.iter().rev().copied().collect::<Vec<u64>>();
    assert_eq!(ways(&mut net, known.first), [upper.clone(), back(&lower)]);
    assert_eq!(net.join_ways(&known, flow(0, 1, 4001), 0)[0], lower);
    assert_eq!(ways(&mut net, flow(0, 1, 4001)), [lower.clone(), back(&upper)]);
    // A subflow that the listener opens takes a path of the listener's set, and its answers one of the initiator's.
    assert_eq!(net.join_ways(&known, flow(1, 0, 6001), 1)[0], back(&lower));
    assert_eq!(ways(&mut net, flow(1, 0, 6001)), [back(&lower), upper.clone()]);
    // Plain TCP takes one path.
    let plain = flow(0, 1, 7000);
    assert_eq!(ways(&mut net, plain), [upper.clone(), back(&upper)]);
    let first = first_subflow(&net);
    assert_eq!(first["switches"].as_array().unwrap().len(), 4);
    assert_ne!(first["switches"], first["switches_back"]);
}

#[test]
fn by_default_both_directions_take_one_path() {
    let mut net = crossed(Settings::default());
    let known = connection(4000);
    net.open(&known);
    assert_eq!(ways(&mut net, known.first), [vec![1, 3, 6, 2], vec![2, 6, 3, 1]]);
    assert!(first_subflow(&net).get("switches_back").is_none());
}

#[test]
fn paths_in_turn_are_taken_whether_or_not_they_are_free() {
    let mut net = four_with(with(Reverse::Same, Pick::Next), &[1, 2]);
    let known = connection(4000);
    assert_eq!(net.open(&known)[0], [1, 2]);
    let way = |net: &mut Net<Smoc>, port| net.join(&known, flow(0, 1, port), 0);
    let first: Vec<_> = (4001..4004).map(|port| way(&mut net, port)).collect();
    assert_eq!(first, [vec![1, 3, 2], vec![1, 4, 2], vec![1, 5, 2]]);
    assert_eq!(way(&mut net, 4004), [1, 2]);
    assert_eq!(way(&mut net, 4005), [1, 3, 2]);
    // Another connection has a cycle of its own.
    let other = connection(5000);
    assert_eq!(net.open(&other)[0], [1, 2]);
    assert_eq!(net.join(&other, flow(0, 1, 5001), 0), [1, 3, 2]);
}

#[test]
fn the_cycles_of_both_sets_advance_together() {
    let mut net = crossed(with(Reverse::Own, Pick::Next));
    let known = connection(4000);
    net.open(&known);
    let there: Vec<_> = (4001..4004).map(|port| net.join_ways(&known, flow(0, 1, port), 0)[0][1]).collect();
    assert_eq!(there, [4, 3, 4]);
    let back: Vec<_> = (4000..4004).map(|port| ways(&mut net, flow(0, 1, port))[1][1]).collect();
    assert_eq!(back, [5, 6, 5, 6]);
}

#[test]
fn a_cut_link_moves_the_direction_that_used_it() {
    for pick in [Pick::LeastUsed, Pick::Next] {
        let mut net = crossed(with(Reverse::Own, pick));
        let known = connection(4000);
        net.open(&known);
        let port = link(&net, 4, 5);
        net.cut(port, false);
        net.run(Duration::from_ms(60));
        assert_eq!(ways(&mut net, known.first), [vec![1, 3, 6, 2], vec![2, 6, 3, 1]]);
        assert_eq!(net.counter("flows_moved"), 1);
        let port = link(&net, 3, 6);
        net.cut(port, false);
        net.run(Duration::from_ms(60));
        assert_eq!((net.counter("flows_cut"), net.counter("paths_now")), (1, 0));
    }
}

#[test]
fn rules_expire_and_nothing_is_left() {
    let mut net = four_with(with(Reverse::Own, Pick::Next), &[1, 2]);
    opened(&mut net);
    assert_eq!(net.say_on(flow(0, 1, 4000), 1, SYN_ACK, None), [2, 1]);
    net.run(Duration::from_secs(135));
    assert_eq!((net.counter("flows_now"), net.counter("paths_now"), net.held()), (0, 0, 0));
}

/// The first subflow of the first connection, as it is shown.
fn first_subflow(net: &Net<Smoc>) -> serde_json::Value {
    let shown = net.controller.show(net.now, Show::Connections, 100);
    shown["connections"][0]["subflows"][0].clone()
}

/// The port of one switch that leads to another.
fn link(net: &Net<Smoc>, from: u64, to: u64) -> SwitchPort {
    let mut ends = net.wires().into_iter().flat_map(|(a, b)| [(a, b), (b, a)]);
    ends.find(|(a, b)| (a.switch.0, b.switch.0) == (from, to)).expect("a link").0
}
