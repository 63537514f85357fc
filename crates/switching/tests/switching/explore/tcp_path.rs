//! TCP-Path: the race, the reply, data, retransmission, and the end of a connection.

use weft_switching::exploration::{Exploration, Scope};
use weft_switching::{DropReason, Header, Kind};
use weft_units::{Duration, LinkId, NodeId};

use crate::explore::arp_path::{papers, small};
use crate::explore::net::{Net, segment, tcp_path};
use weft_switching::tcp_path::TcpPathSwitch;

/// Hosts 0 and 2 know each other; the links of all spines but one are slow.
fn fast_over(spine: usize, config: &Exploration) -> (Net<TcpPathSwitch>, NodeId) {
    let mut net = tcp_path(small(), config, 1);
    net.resolve(0, 2);
    let spines: Vec<NodeId> = net.fabric.switches().filter(|&node| net.fabric.node(node).tier > 1).collect();
    slow_but(&mut net, spines[spine]);
    (net, spines[spine])
}

fn slow_but(net: &mut Net<TcpPathSwitch>, fast: NodeId) {
    for id in (0..net.fabric.links().len() as u32).map(LinkId) {
        let spec = net.fabric.link(id);
        let ends = [spec.from, spec.to];
        if ends.iter().all(|&node| !net.fabric.node(node).is_host()) {
            let slow = !ends.contains(&fast);
            net.set_delay(id, Duration::from_us(if slow { 500 } else { 1 }));
        }
    }
}

#[test]
fn both_directions_take_the_path_that_was_fastest_when_the_flow_opened() {
    for spine in 0..2 {
        let (mut net, fast) = fast_over(spine, &Exploration::default());
        let there = net.open_both_ways(0, 2, 1000, 7);
        assert_eq!(there[1], fast);
        assert_eq!(net.data(0, 2, 1000, 80), Some(there.clone()));
        assert_eq!(net.loops, 0);
        // A new flow takes another path once it is faster; the first flow stays.
        let other =
            net.fabric.switches().find(|&node| net.fabric.node(node).tier > 1 && node != fast).unwrap();
        slow_but(&mut net, other);
        assert_eq!(net.open(0, 2, 1001, 8)[0][1], other);
        assert_eq!(net.data(0, 2, 1000, 80).unwrap()[1], fast);
    }
}

#[test]
fn what_the_hosts_receive_is_what_was_sent() {
    let (mut net, _) = fast_over(0, &Exploration::default());
    net.open(0, 2, 1000, 7);
    let syn = net.delivered.iter().find(|delivered| delivered.header.tcp_flags == Header::SYN).unwrap();
    let sent = segment(0, 2, 1000, 80, Header::SYN, 7);
    // The overlay is not on the wire then.
    assert_eq!(Header { overlay: sent.overlay, ..syn.header }, sent);
}

#[test]
fn an_idle_fabric_spreads_flows_over_its_paths() {
    let mut net = tcp_path(small(), &Exploration::default(), 1);
    net.resolve(0, 2);
    let mut over = std::collections::BTreeMap::<NodeId, u32>::new();
    for flow in 0..60 {
        *over.entry(net.open(0, 2, 1000 + flow, u32::from(flow))[0][1]).or_default() += 1;
    }
    assert_eq!(over.len(), 2);
    assert!(over.values().all(|&flows| flows >= 18), "{over:?}");
}

#[test]
fn a_syn_sent_again_goes_by_the_default_forwarding_and_then_explores_again() {
    let (mut net, _) = fast_over(0, &Exploration::default());
    let explored = |net: &Net<TcpPathSwitch>| net.dropped(DropReason::LateCopy);
    let mut late = vec![explored(&net)];
    for _ in 0..3 {
        assert_eq!(net.arrivals(segment(0, 2, 1000, 80, Header::SYN, 7), 20), 1);
        late.push(explored(&net));
    }
    let explorations: Vec<bool> = late.windows(2).map(|pair| pair[1] > pair[0]).collect();
    assert_eq!(explorations, [true, false, true]);
    assert_eq!(net.loops, 0);
}

#[test]
fn a_host_that_was_silent_for_minutes_is_found_at_once() {
    let mut net = tcp_path(small(), &Exploration::default(), 1);
    net.resolve(0, 2);
    net.run(Duration::from_secs(120));
    assert_eq!(
        net.arrivals(segment(0, 2, 1000, 80, Header::SYN, 7), 20),
        1,
        "its own switch knows it as long as others may address it"
    );
}

#[test]
fn by_the_papers_rule_a_destination_that_no_switch_knows_is_found_once_it_is_asked_for() {
    let mut net = tcp_path(small(), &papers(), 1);
    net.resolve(0, 2);
    // Everything except the source's edge forgets the destination.
    net.run(Duration::from_secs(301));
    net.send(segment(0, 0, 1, 1, Header::ACK, 0));
    net.run(Duration::from_ms(1));
    assert_eq!(net.arrivals(segment(0, 2, 1000, 80, Header::SYN, 7), 20), 0, "the request dies");
    // By now the ARP entries have expired: the source sends a request.
    net.resolve(0, 2);
    assert_eq!(net.arrivals(segment(0, 2, 1000, 80, Header::SYN, 7), 20), 1);
}

#[test]
fn a_port_used_again_is_a_new_connection_with_a_path_of_its_own() {
    let (mut net, fast) = fast_over(0, &Exploration::default());
    assert_eq!(net.open(0, 2, 1000, 7)[0][1], fast);
    let other = net.fabric.switches().find(|&node| net.fabric.node(node).tier > 1 && node != fast).unwrap();
    slow_but(&mut net, other);
    let there = net.open_both_ways(0, 2, 1000, 8);
    assert_eq!(there[1], other);
    assert_eq!(net.data(0, 2, 1000, 80), Some(there));
    assert_eq!(net.loops, 0);
}

#[test]
fn both_ends_opening_at_once_get_one_path() {
    for seed in 1..40 {
        let mut net = tcp_path(small(), &Exploration::default(), seed);
        net.resolve(0, 2);
        net.send(segment(0, 2, 1000, 2000, Header::SYN, 7));
        net.run(Duration::from_ps(seed * 300));
        net.send(segment(2, 0, 2000, 1000, Header::SYN, 8));
        net.run(Duration::from_ms(20));
        net.send(segment(0, 2, 1000, 2000, Header::SYN | Header::ACK, 7));
        net.run(Duration::from_ps(seed * 300));
        net.send(segment(2, 0, 2000, 1000, Header::SYN | Header::ACK, 8));
        net.run(Duration::from_ms(20));
        let there = net.data(0, 2, 1000, 2000).expect("it arrives");
        let mut back = net.data(2, 0, 2000, 1000).expect("it arrives");
        back.reverse();
        assert_eq!(there, back, "seed {seed}");
        assert_eq!(net.loops, 0);
    }
}

#[test]
fn hosts_of_one_switch_need_no_exploration() {
    let mut net = tcp_path(small(), &Exploration::default(), 1);
    net.resolve(0, 1);
    let [there, back] = net.open(0, 1, 1000, 7);
    assert_eq!((there.len(), back.len()), (1, 1));
    assert_eq!(net.entries().flows, 0);
}

#[test]
fn entries_last_ten_seconds_without_use_and_one_after_the_end() {
    // Tables are swept with every Hello, every five seconds.
    for (flags, there_at, gone_at) in
        [(Header::ACK, 9_900, 15_100), (Header::ACK | Header::FIN, 900, 6_100), (Header::RST, 900, 6_100)]
    {
        let (mut net, _) = fast_over(0, &Exploration::default());
        net.open(0, 2, 1000, 7);
        net.send(segment(2, 0, 80, 1000, Header::ACK, 0));
        net.send(segment(0, 2, 1000, 80, flags, 0));
        net.run(Duration::from_ms(there_at));
        assert!(net.entries().flows >= 6, "two per switch on the path after {there_at} ms");
        net.run(Duration::from_ms(gone_at - there_at));
        assert_eq!(net.entries().flows, 0, "after {gone_at} ms");
    }
}

#[test]
fn with_valley_free_exploration_copies_do_not_climb_again() {
    let mut copies = [Scope::Full, Scope::ValleyFree].map(|scope| {
        let config = Exploration { scope, ..Exploration::default() };
        let link = weft_fabric::LinkSpec::default();
        let mut net = tcp_path(weft_fabric::build::spine_leaf(3, 4, 1, &link, &link).unwrap(), &config, 1);
        net.resolve(0, 1);
        let made = net.balance.made;
        net.open(0, 1, 1000, 7);
        net.balance.made - made
    });
    copies.sort_unstable();
    assert!(copies[0] < copies[1], "{copies:?}");
}

#[test]
fn control_frames_of_hosts_change_nothing() {
    let (mut net, _) = fast_over(0, &Exploration::default());
    let [there, _] = net.open(0, 2, 1000, 7);
    for kind in [Kind::PathFail, Kind::PathReply, Kind::PathRequest, Kind::RecoveryRequest] {
        net.send(Header { kind, ..segment(0, 2, 1000, 80, 0, 9) });
        net.send(Header { kind, ..segment(2, 0, 80, 1000, 0, 9) });
    }
    assert_eq!(net.data(0, 2, 1000, 80), Some(there));
    assert_eq!(net.dropped(DropReason::Untrusted), 8);
}
