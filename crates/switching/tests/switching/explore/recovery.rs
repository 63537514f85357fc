//! Failures: Path Fail, repeated exploration, data at a dead port, and refresh of old paths.

use weft_fabric::{LinkSpec, build};
use weft_switching::exploration::{Exploration, OnMiss, WhileBroken};
use weft_switching::hello_loss::HelloCount;
use weft_switching::tcp_path::TcpPathSwitch;
use weft_switching::{DropReason, Header, Kind, Mac, Reception};
use weft_units::{Duration, LinkId, NodeId};

use crate::explore::net::{Net, segment, tcp_path};

/// Three spines, three leaves, one host per leaf; hosts 0 and 1 have a connection.
fn connected(config: &Exploration, seed: u64) -> (Net<TcpPathSwitch>, Vec<NodeId>) {
    opened(config, seed, 7)
}

/// The same with a given SYN sequence number.
fn opened(config: &Exploration, seed: u64, isn: u32) -> (Net<TcpPathSwitch>, Vec<NodeId>) {
    let link = LinkSpec::default();
    let mut net = tcp_path(build::spine_leaf(3, 3, 1, &link, &link).unwrap(), config, seed);
    net.resolve(0, 1);
    let [there, _] = net.open(0, 1, 1000, isn);
    (net, there)
}

fn link(net: &Net<TcpPathSwitch>, from: NodeId, to: NodeId) -> LinkId {
    *net.fabric.ports(from).iter().find(|link| net.fabric.link(**link).to == to).expect("a link")
}

fn both_ways(net: &mut Net<TcpPathSwitch>) -> Vec<NodeId> {
    net.both_ways(0, 1, 1000, 80)
}

fn slow_down(net: &mut Net<TcpPathSwitch>, node: NodeId, delay: Duration) {
    for cable in net.fabric.ports(node).to_vec() {
        net.set_delay(cable, delay);
        net.set_delay(cable.reverse(), delay);
    }
}

#[test]
fn a_flow_moves_to_another_path_whichever_cable_of_its_path_breaks() {
    for seed in 1..10 {
        for hop in 0..2 {
            let (mut net, there) = connected(&Exploration::default(), seed);
            let broken = link(&net, there[hop], there[hop + 1]);
            net.set_up(broken, false);
            net.run(Duration::from_ms(5));
            assert_eq!((net.made(Kind::RecoveryRequest) > 0, net.made(Kind::RecoveryReply)), (true, 1));
            let now = both_ways(&mut net);
            assert_ne!(now[1], there[1]);
            assert_eq!(net.loops, 0);
        }
    }
}

#[test]
fn a_node_that_fails_takes_its_flows_elsewhere() {
    let (mut net, there) = connected(&Exploration::default(), 1);
    for cable in net.fabric.ports(there[1]).to_vec() {
        net.set_up(cable, false);
    }
    net.run(Duration::from_ms(5));
    assert_ne!(both_ways(&mut net)[1], there[1]);
}

#[test]
fn a_silent_neighbour_is_as_good_as_a_dead_port() {
    let config =
        Exploration { hello: Duration::from_ms(10), hold: Duration::from_ms(30), ..Exploration::default() };
    let (mut net, there) = connected(&config, 1);
    let spine = there[1];
    // Every frame from and to the spine is lost, though its links stay up.
    slow_down(&mut net, spine, Duration::from_secs(1_000));
    net.run(Duration::from_ms(100));
    assert!(net.made(Kind::RecoveryRequest) > 0);
    assert_ne!(both_ways(&mut net)[1], spine);
}

fn with_short_hellos() -> Exploration {
    Exploration { hello: Duration::from_ms(10), hold: Duration::from_ms(30), ..Exploration::default() }
}

/// A switch says that it misses the Hello messages of another one, until its next one.
fn misses(net: &mut Net<TcpPathSwitch>, switch: NodeId, other: NodeId) {
    net.run(Duration::from_ms(5));
    let cable = link(net, switch, other);
    let mut hello = Header { kind: Kind::Hello, dst: Mac::HELLO, ..Header::default() };
    Reception::Heard.write(&mut hello);
    HelloCount { number: None, misses: true }.write(&mut hello);
    net.send_from(switch, net.fabric.link(cable).from_port, hello);
    net.run(Duration::from_ms(15));
}

/// The spine of a connection's path misses the Hello messages of one of the connection's leaves.
fn loses_from(leaf: usize, seed: u64) -> (Net<TcpPathSwitch>, Vec<NodeId>) {
    let (mut net, there) = connected(&with_short_hellos(), seed);
    misses(&mut net, there[1], there[leaf]);
    (net, there)
}

#[test]
fn a_flow_leaves_a_link_that_loses_frames_on_its_way_up_between_switches() {
    let (link, mut moved) = (LinkSpec::default(), 0);
    for seed in 1..10 {
        let mut net = tcp_path(build::fat_tree(4, &link, &link).unwrap(), &with_short_hellos(), seed);
        net.resolve(0, 15);
        let [there, _] = net.open(0, 15, 1000, 7);
        let [_, pod, core, other_pod, _] = there[..] else { panic!("{there:?}") };
        // Not the end of its way down: the core has no other port to that pod.
        misses(&mut net, other_pod, core);
        assert_eq!(net.made(Kind::PathFail), 0);
        assert_eq!(net.both_ways(0, 15, 1000, 80), there);
        misses(&mut net, core, pod);
        let made = [Kind::PathFail, Kind::RecoveryReply].map(|kind| net.made(kind));
        assert_eq!(made, [2, 1], "both ends are told, and one of them finds a path");
        // The core's next Hello says that the link is healthy: it may be taken again.
        moved += u32::from(net.both_ways(0, 15, 1000, 80)[1..3] != [pod, core]);
        assert_eq!((net.loops, net.dropped(DropReason::LinkDown)), (0, 0));
    }
    assert!(moved > 4, "{moved} of 9");
}

#[test]
fn a_flow_leaves_a_link_that_loses_frames_though_it_still_works() {
    for seed in 1..10 {
        let (mut net, there) = loses_from(0, seed);
        assert_eq!([Kind::RecoveryRequest, Kind::PathFail].map(|kind| net.made(kind) > 0), [true, false]);
        assert_ne!(both_ways(&mut net)[1], there[1], "{seed}");
        let (mut net, _) = loses_from(2, seed);
        assert_eq!([Kind::RecoveryRequest, Kind::PathFail].map(|kind| net.made(kind) > 0), [true, true]);
        both_ways(&mut net);
        assert_eq!((net.loops, net.dropped(DropReason::LinkDown)), (0, 0));
    }
}

#[test]
fn a_flow_without_another_path_stops_and_nothing_loops() {
    let (mut net, there) = connected(&Exploration::default(), 1);
    let host_cable = net.fabric.ports(net.fabric.host_node(weft_units::HostId(1)))[0];
    net.set_up(host_cable, false);
    net.run(Duration::from_ms(5));
    assert_eq!(net.data(0, 1, 1000, 80), None);
    assert_eq!(net.loops, 0);
    net.set_up(host_cable, true);
    assert!(net.data(0, 1, 1000, 80).is_some(), "the host's port is unknown, and it is silent");
    net.resolve(1, 0);
    assert_eq!(net.data(0, 1, 1000, 80).map(|path| path.len()), Some(there.len()));
}

#[test]
fn data_without_an_entry_finds_a_path_where_it_may() {
    let config = Exploration { on_miss: OnMiss::Recover, ..Exploration::default() };
    let (mut net, _) = connected(&config, 1);
    net.run(Duration::from_secs(8));
    net.resolve(0, 1);
    net.run(Duration::from_secs(8));
    assert_eq!(net.entries().flows, 0, "the flow is forgotten, the stations are not");
    assert!(net.data(0, 1, 1000, 80).is_some(), "by default forwarding in the meantime");
    assert_eq!(net.made(Kind::RecoveryReply), 1);
    both_ways(&mut net);
    assert!(net.entries().flows > 0);
}

#[test]
fn a_frame_that_meets_a_dead_port_does_not_wait_for_the_sweep() {
    for (while_broken, lost) in [(WhileBroken::Drop, true), (WhileBroken::Detour, false)] {
        let sweep = Duration::from_secs(60);
        let config = Exploration { while_broken, sweep, ..Exploration::default() };
        let (mut net, there) = connected(&config, 1);
        let broken = link(&net, there[0], there[1]);
        net.set_up(broken, false);
        assert_eq!(net.made(Kind::RecoveryRequest), 0);
        let arrived = net.data(0, 1, 1000, 80).is_some();
        assert!(!(arrived && lost));
        assert_eq!(net.made(Kind::RecoveryReply), 1);
        assert_ne!(both_ways(&mut net)[1], there[1], "{while_broken:?}");
    }
}

#[test]
fn an_old_path_is_left_for_a_better_one() {
    let config = Exploration { refresh_after: Duration::from_secs(2), ..Exploration::default() };
    let (mut net, there) = connected(&config, 1);
    assert_eq!(both_ways(&mut net), there);
    slow_down(&mut net, there[1], Duration::from_ms(1));
    assert_eq!(both_ways(&mut net), there, "not old yet");
    net.run(Duration::from_secs(2));
    net.data(0, 1, 1000, 80);
    assert_ne!(both_ways(&mut net)[1], there[1]);
    assert_eq!(net.dropped(DropReason::NoRoute), 0);
    assert_eq!(net.loops, 0);
}

#[test]
fn a_flow_in_full_swing_moves_to_another_path_before_a_second_has_passed() {
    for seed in 1..20 {
        for hop in 0..2 {
            // 0 is a valid sequence number.
            let (mut net, there) = opened(&Exploration::default(), seed, 0);
            let broken = link(&net, there[hop], there[hop + 1]);
            for number in 0..400 {
                if number == 200 {
                    net.set_up(broken, false);
                }
                net.send(segment(0, 1, 1000, 80, Header::ACK, 0));
                net.run(Duration::from_ns(100));
                net.send(segment(1, 0, 80, 1000, Header::ACK, 0));
                net.run(Duration::from_ns(100));
            }
            net.run(Duration::from_ms(5));
            let now = both_ways(&mut net);
            assert_ne!(now[1], there[1], "seed {seed}, hop {hop}");
            assert_eq!(net.dropped(DropReason::RateLimited), 0);
        }
    }
}

/// A Path Fail about the flow from host 1 to host 0, from the spine of its path to the leaf of host 0.
fn fail(net: &mut Net<TcpPathSwitch>, there: &[NodeId], id: u32) {
    let cable = link(net, there[1], there[0]);
    let port = net.fabric.link(cable).from_port;
    let header = Header { kind: Kind::PathFail, ..segment(1, 0, 80, 1000, 0, id) };
    net.send_from(there[1], port, header);
    net.run(Duration::from_ms(5));
}

#[test]
fn a_path_fail_about_an_exploration_that_is_over_leaves_the_new_path_alone() {
    // The connection was opened with sequence number 7.
    for (id, after, erased) in [
        (7, Duration::from_ms(1), true),
        (8, Duration::from_secs(2), false),
        (0, Duration::from_ms(800), false),
        (0, Duration::from_ms(1_000), true),
    ] {
        let (mut net, there) = connected(&Exploration::default(), 1);
        // Opening it took 100 ms.
        net.run(after);
        let before = net.made(Kind::RecoveryRequest);
        fail(&mut net, &there, id);
        assert_eq!(net.made(Kind::RecoveryRequest) > before, erased, "id {id} after {after}");
        assert_eq!(net.dropped(DropReason::Stale), u64::from(!erased));
        both_ways(&mut net);
    }
}
