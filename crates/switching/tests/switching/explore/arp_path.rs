//! ARP-Path: locking, learning, late copies, other broadcasts, repair.

use weft_fabric::{Fabric, LinkSpec, build};
use weft_switching::exploration::{Announce, Exploration, OnUnknown};
use weft_switching::{DropReason, Header, Kind, Mac};
use weft_units::{Duration, HostId, PortId};

use crate::explore::net::{arp_path, broadcast, datagram, reply, request, segment};

/// The rule of the paper: undeliverable frames are dropped, and silent stations are not announced.
pub fn papers() -> Exploration {
    let (learnt, attached) = (Duration::from_secs(10), Duration::from_secs(300));
    Exploration {
        on_unknown: OnUnknown::Repair,
        announce: Announce::Off,
        learnt,
        attached,
        ..Exploration::default()
    }
}

/// Two spines, two leaves, two hosts per leaf.
pub fn small() -> Fabric {
    let link = LinkSpec::default();
    build::spine_leaf(2, 2, 2, &link, &link).expect("a good fabric")
}

#[test]
fn a_request_reaches_every_other_host_once() {
    let mut net = arp_path(small(), &Exploration::default(), 1);
    let number = net.send(request(0));
    net.run(Duration::from_ms(10));
    let mut hosts: Vec<_> = net.deliveries(number).iter().map(|delivered| delivered.host.0).collect();
    hosts.sort_unstable();
    assert_eq!(hosts, [1, 2, 3]);
    assert!(net.dropped(DropReason::LateCopy) > 0, "the second spine's copy is late");
    assert_eq!(net.loops, 0);
}

#[test]
fn the_reply_and_data_take_the_path_that_won() {
    let mut net = arp_path(small(), &Exploration::default(), 1);
    net.send(request(0));
    net.run(Duration::from_ms(10));
    let there = net.delivered.iter().find(|delivered| delivered.host == HostId(2)).unwrap().visited.clone();
    let number = net.send(reply(2, 0));
    net.run(Duration::from_ms(10));
    assert!(there.iter().rev().eq(&net.deliveries(number)[0].visited));
    assert_eq!(net.both_ways(0, 2, 1, 2), there);
}

#[test]
fn a_late_copy_is_late_even_after_the_reply() {
    let mut net = arp_path(small(), &Exploration::default(), 1);
    // The path over the second spine is slow: its copy arrives after the reply has passed.
    let leaf = net.fabric.switches().find(|&node| net.fabric.node(node).tier == 1).unwrap();
    let slow = *net.fabric_ports(leaf).last().unwrap();
    net.set_delay(net.fabric.link_at(leaf, slow).unwrap(), Duration::from_ms(80));
    net.resolve(0, 2);
    net.run(Duration::from_ms(200));
    assert_eq!(net.loops, 0);
    assert!(net.data(2, 0, 1, 1).is_some());
}

#[test]
fn an_address_that_a_host_has_claimed_is_the_owners_again_with_a_frame_of_the_owner() {
    let mut net = arp_path(small(), &papers(), 1);
    net.resolve(0, 2);
    // Host 1, on the switch of host 0, uses the address of host 2, which is elsewhere.
    let other = net.fabric.host_node(HostId(1));
    net.send_from(other, PortId(0), datagram(2, 0));
    net.run(Duration::from_ms(1));
    assert!(net.data(0, 2, 1, 1).is_none(), "host 1 receives frames for host 2");
    assert_eq!(net.dropped(DropReason::NoRoute), 0);
    assert!(net.data(2, 0, 1, 1).is_some());
    assert!(net.data(0, 2, 1, 1).is_none());
    assert_eq!(net.dropped(DropReason::NoRoute), 1, "the address is not here: a repair starts");
    net.run(Duration::from_ms(1_100));
    assert_eq!(net.data(0, 2, 1, 1).unwrap().len(), 3, "found at its real port");
}

#[test]
fn what_is_for_the_other_end_of_the_cable_goes_no_further() {
    let mut net = arp_path(small(), &Exploration::default(), 1);
    let lacp = Header { kind: Kind::Other, dst: Mac([0x01, 0x80, 0xc2, 0, 0, 2]), ..request(0) };
    assert_eq!(net.arrivals(lacp, 10), 0);
    assert_eq!(net.dropped(DropReason::LateCopy), 0, "it reached no second switch");
}

#[test]
fn other_broadcasts_follow_the_same_rule_apart_from_requests() {
    let mut net = arp_path(small(), &papers(), 1);
    assert_eq!(net.arrivals(broadcast(0), 10), 3);
    // Only the sender's own edge learns the sender.
    assert_eq!(net.entries().stations, 1);
}

#[test]
fn by_the_papers_rule_a_frame_to_a_station_whose_entry_has_gone_is_lost_and_repairs_the_path() {
    let mut net = arp_path(small(), &papers(), 1);
    net.resolve(0, 2);
    // Both edges still know their hosts, but the fabric between has forgotten them.
    for _ in 0..4 {
        net.run(Duration::from_secs(4));
        net.send(segment(0, 0, 1, 1, Header::ACK, 0));
        net.send(segment(2, 2, 1, 1, Header::ACK, 0));
    }
    net.run(Duration::from_ms(10));
    assert_eq!(net.data(0, 2, 1, 1), None, "no path for the first frame");
    assert!(net.made(Kind::PathRequest) > 0 && net.made(Kind::PathReply) == 1);
    assert!(net.data(0, 2, 1, 1).is_some(), "the next one has a path");
    assert!(net.data(2, 0, 1, 1).is_some());
}

#[test]
fn by_the_papers_rule_misses_start_no_repair_while_one_runs() {
    let mut net = arp_path(small(), &papers(), 1);
    net.resolve(0, 1);
    for _ in 0..5 {
        net.send(segment(0, 3, 1, 1, Header::ACK, 0));
    }
    net.run(Duration::from_ms(10));
    assert_eq!(net.dropped(DropReason::NoRoute), 1);
    assert_eq!(net.dropped(DropReason::Repairing), 4);
}

#[test]
fn a_host_that_moves_is_found_where_it_sends_from() {
    let mut net = arp_path(small(), &Exploration::default(), 1);
    net.resolve(0, 2);
    net.run(Duration::from_secs(4));
    // Host 2's address now sends from host 1's port.
    let node = net.fabric.host_node(HostId(1));
    net.send_from(node, PortId(0), request(2));
    net.run(Duration::from_ms(10));
    assert_eq!(net.arrivals(segment(0, 2, 1, 1, Header::ACK, 0), 10), 0, "nothing at host 2's old port");
    assert_eq!(net.dropped(DropReason::NotForMe), 1, "but at host 1's port");
}

#[test]
fn what_only_switches_may_send_is_refused_from_a_host() {
    let mut net = arp_path(small(), &Exploration::default(), 1);
    net.resolve(0, 2);
    let before = net.balance;
    for kind in
        [Kind::PathRequest, Kind::PathReply, Kind::PathFail, Kind::RecoveryRequest, Kind::RecoveryReply]
    {
        for ports in [0, 7] {
            net.send(Header { kind, ..segment(0, 2, ports, ports, 0, 1) });
        }
    }
    net.run(Duration::from_ms(10));
    assert_eq!(net.dropped(DropReason::Untrusted), 10);
    assert_eq!(net.balance.delivered, before.delivered);
}

#[test]
fn two_switches_that_point_at_each_other_find_the_station_anew() {
    let link = LinkSpec::default();
    let line = build::spine_leaf(1, 2, 1, &link, &link).expect("a good fabric");
    let mut net = arp_path(line, &papers(), 1);
    net.resolve(0, 1);
    assert!(net.data(0, 1, 1, 1).is_some());
    // As after a crossing flood and reply of one station: the spine's entry for the station points back to
    // where its frames come from.
    let leaf = net.fabric.find("l0").unwrap();
    net.send_from(leaf, net.fabric_ports(leaf)[0], request(1));
    net.loss = 1000;
    net.run(Duration::from_ms(10));
    net.loss = 0;
    assert!(net.data(0, 1, 1, 1).is_none(), "the frame that reveals it is lost");
    net.run(Duration::from_ms(1_100));
    assert!(net.data(0, 1, 1, 1).is_some(), "the repair found the path");
    assert_eq!(net.dropped(DropReason::SamePort), 0);
}

#[test]
fn frames_about_flows_are_stale_where_there_are_none() {
    let mut net = arp_path(small(), &Exploration::default(), 1);
    net.resolve(0, 2);
    let leaf = net.fabric.switches().find(|&node| net.fabric.node(node).tier == 1).unwrap();
    let before = net.dropped(DropReason::Stale);
    for kind in [Kind::PathRequest, Kind::PathReply, Kind::PathFail, Kind::RecoveryRequest] {
        let header = Header { kind, ..segment(0, 2, 7, 80, 0, 1) };
        net.send_from(leaf, net.fabric_ports(leaf)[0], header);
    }
    net.run(Duration::from_ms(10));
    assert_eq!(net.dropped(DropReason::Stale) - before, 4);
}
