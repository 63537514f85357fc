//! A host keeps its address while it may still be up, whatever other hosts claim.

use std::net::Ipv4Addr;

use weft_control::{Content, Controller, Duration, Limits, MadeFrame, Packet, Settings, Smoc, SwitchId};
use weft_wire::Mac;

use crate::cases::{FOUR, four_hosts, four_with};
use crate::failures::four_opened;
use crate::neighbours::owners;
use crate::net::{Net, arp, claim};
use crate::plain::tree;
use crate::talk::{ACK, SYN, flow};

/// Host 2 sends a claim; runs until its owner has been probed, and before the answer.
fn asked_by<C: Controller>(net: &mut Net<C>, packet: Packet) {
    let before = net.made.len();
    net.send(2, packet);
    for _ in 0..100_000 {
        if net.made.len() > before {
            return;
        }
        net.run(Duration::from_us(5));
    }
    panic!("no host is probed");
}

#[test]
fn who_uses_the_mac_address_of_the_controller_silences_no_answers_to_its_questions() {
    for claims_mac in [true, false] {
        let (mut net, [a, _, c]) = four_hosts([1, 2, 3]);
        let nobody = Ipv4Addr::UNSPECIFIED;
        net.send_and_run(2, arp(MadeFrame::CONTROLLER, Mac::BROADCAST, false, nobody, a.ip), 60);
        net.send_and_run(2, claim(if claims_mac { a.mac } else { c.mac }, a.ip), 400);
        assert_eq!(owners(&net, a.ip), [a.mac.to_string()]);
        assert_eq!(net.counter("claims_refuted"), 1, "claims the MAC address: {claims_mac}");
    }
}

#[test]
fn on_a_spanning_tree_nobody_uses_the_mac_address_of_the_controller_either() {
    let mut net = tree(&FOUR, &[1, 2, 3]);
    let (a, c) = (net.hosts[0], net.hosts[2]);
    let packet = Packet { eth_src: MadeFrame::CONTROLLER, eth_dst: a.mac, content: Content::Other };
    net.send_and_run(2, packet, 60);
    net.send_and_run(2, claim(a.mac, c.ip), 400);
    assert_eq!((net.counter("stations_moved"), net.counter("claims_refuted")), (0, 1));
}

#[test]
fn hosts_at_switches_that_have_lost_their_connections_together_keep_their_addresses() {
    let mut net = Net::new(Smoc::new(Settings::default()).unwrap(), 1);
    // 1 - 3 - 2: switches 1 and 3 lose their connections.
    net.build(3, &[(1, 3), (3, 2)], &[1, 2]);
    net.announce();
    let (a, b) = (net.hosts[0], net.hosts[1]);
    net.disconnect(SwitchId(3));
    net.disconnect(SwitchId(1));
    net.send_and_run(1, claim(b.mac, a.ip), 400);
    assert_eq!(owners(&net, a.ip), [a.mac.to_string()]);
    // The link that leads to both goes down: they are off, or unreachable.
    let (at, _) = net.wires().into_iter().find(|(one, _)| one.switch == SwitchId(2)).unwrap();
    net.cut(at, false);
    net.send_and_run(1, claim(b.mac, a.ip), 400);
    assert_eq!(owners(&net, a.ip), [b.mac.to_string()]);
}

#[test]
fn a_claim_ends_when_the_connection_to_the_switch_of_its_owner_is_lost() {
    let (mut net, [a, _, c]) = four_hosts([1, 2, 3]);
    asked_by(&mut net, claim(c.mac, a.ip));
    net.disconnect(SwitchId(1));
    // Until after the second probe.
    net.run(Duration::from_ms(200));
    net.connect(SwitchId(1));
    net.run(Duration::from_ms(400));
    assert_eq!(owners(&net, a.ip), [a.mac.to_string()]);

    let mut net = tree(&FOUR, &[1, 2, 3]);
    asked_by(&mut net, claim(a.mac, c.ip));
    net.disconnect(SwitchId(1));
    // Until after the second probe.
    net.run(Duration::from_ms(200));
    net.connect(SwitchId(1));
    net.run(Duration::from_ms(400));
    assert_eq!(net.counter("stations_moved"), 0);
}

#[test]
fn who_was_given_an_address_is_asked_before_somebody_else_gets_it() {
    let (mut net, [a, b, c]) = four_hosts([1, 2, 3]);
    // It moves from 0 to 1, like a new lease, and 2 claims it before that claim has succeeded.
    net.hosts[0].ip = Ipv4Addr::new(10, 0, 9, 9);
    net.hosts[1].ip = a.ip;
    net.send_and_run(1, claim(b.mac, a.ip), 100);
    net.send(2, claim(c.mac, a.ip));
    for _ in 0..2 {
        net.run(Duration::from_ms(300));
        assert_eq!(owners(&net, a.ip), [b.mac.to_string()]);
    }
}

#[test]
fn an_address_in_use_is_not_pushed_out_by_others_of_the_same_host() {
    let (mut net, [a, _, c]) = four_hosts([1, 2, 3]);
    for last in 0..20 {
        net.send_and_run(0, claim(a.mac, a.ip), 15);
        net.send_and_run(0, claim(a.mac, [10, 0, 1, last].into()), 15);
        net.send_and_run(2, claim(c.mac, a.ip), 20);
    }
    net.run(Duration::from_ms(400));
    assert_eq!(owners(&net, a.ip), [a.mac.to_string()]);
}

#[test]
fn who_claims_the_address_of_a_host_that_cannot_be_asked_is_named() {
    let (mut net, [a, _, c]) = four_hosts([1, 2, 3]);
    net.disconnect(SwitchId(1));
    net.send_and_run(2, claim(c.mac, a.ip), 400);
    let named = net.controller.offences();
    let brief: Vec<_> = named.iter().map(|one| (one.at, one.kind.name(), one.mac, one.address)).collect();
    assert_eq!(brief, [(c.at, "taken-unasked", Some(c.mac), Some(a.ip.into()))]);
}

#[test]
fn a_host_whose_cable_is_out_for_a_moment_keeps_its_address_and_loses_it_when_it_stays_out() {
    for is_short in [true, false] {
        let (mut net, [a, _, c]) = four_hosts([1, 2, 3]);
        net.set_port(a.at, false);
        net.run(Duration::from_ms(50));
        net.send_and_run(2, claim(c.mac, a.ip), if is_short { 50 } else { 1400 });
        net.set_port(a.at, true);
        // The new owner answers probes.
        net.hosts[2].ip = a.ip;
        for _ in 0..10 {
            net.send_and_run(0, claim(a.mac, a.ip), 500);
        }
        let owner = if is_short { a.mac } else { c.mac };
        assert_eq!(owners(&net, a.ip), [owner.to_string()]);
    }
}

#[test]
fn where_ports_do_not_settle_a_host_whose_port_comes_up_too_late_for_the_question_is_asked_then() {
    let mut net = four_with(Settings { settle_s: 0.0, ..Settings::default() }, &[1, 2, 3]);
    let (a, c) = (net.hosts[0], net.hosts[2]);
    net.set_port(a.at, false);
    net.send(2, claim(c.mac, a.ip));
    // After the second probe, and before the claim is due.
    net.run(Duration::from_ms(200));
    net.set_port(a.at, true);
    net.run(Duration::from_secs(1));
    assert_eq!(owners(&net, a.ip), [a.mac.to_string()]);
}

#[test]
fn on_a_spanning_tree_a_host_whose_cable_is_out_for_a_moment_keeps_its_address_too() {
    for (out_ms, is_taken) in [(50, false), (1400, true)] {
        let mut net = tree(&FOUR, &[1, 2, 3]);
        let (a, c) = (net.hosts[0], net.hosts[2]);
        net.set_port(a.at, false);
        net.run(Duration::from_ms(50));
        net.send_and_run(2, claim(c.mac, a.ip), out_ms);
        net.set_port(a.at, true);
        net.run(Duration::from_ms(1500));
        let announced = net.made.iter().any(|(_, frame)| matches!(frame, MadeFrame::ArpReply { .. }));
        assert_eq!(announced, is_taken);
        // Frames from a host without the address are dropped.
        let frame = net.send_and_run(0, claim(a.mac, a.ip), 60);
        assert_eq!(net.deliveries(frame).is_empty(), is_taken);
    }
}

#[test]
fn who_has_an_address_keeps_it_in_the_first_second_after_its_port_has_come_up() {
    for is_claimed_first in [false, true] {
        let (mut net, [a, _, c]) = four_hosts([1, 2, 3]);
        if is_claimed_first {
            asked_by(&mut net, claim(c.mac, a.ip));
        }
        for up in [false, true] {
            net.set_port(a.at, up);
        }
        net.send_and_run(2, claim(c.mac, a.ip), 400);
        assert_eq!(owners(&net, a.ip), [a.mac.to_string()], "claimed first: {is_claimed_first}");
    }
}

#[test]
fn a_host_that_turns_out_to_be_a_switch_takes_its_flows_with_it() {
    let mut net = four_opened(&[1, 2, 3]);
    let (a, c) = (net.hosts[0].at, net.hosts[2].at);
    for (from, to) in [(a, c), (c, a)] {
        net.tell(|core, now, out| core.link_changed(now, from, to, true, out));
    }
    net.run(Duration::from_secs(200));
    assert_eq!((net.counter("flows_now"), net.counter("connections_now")), (0, 0));
}

#[test]
fn a_host_that_finds_no_room_at_another_port_is_reached_where_it_was() {
    let limits = Limits { stations_per_port: 1, ..Limits::default() };
    let mut net = four_with(Settings { limits, ..Settings::default() }, &[1, 2, 3]);
    for to in [0, 2] {
        net.say(flow(1, to, 4000), 0, SYN, None);
    }
    net.hosts_answer = false;
    let a = net.hosts[0];
    net.send_and_run(2, claim(a.mac, a.ip), 400);
    assert_eq!((net.counter("stations_moved"), net.counter("stations_refused")), (0, 1));
    let frame = net.say(flow(1, 0, 4001), 0, SYN, None);
    let hosts: Vec<_> = net.deliveries(frame).iter().map(|one| one.host).collect();
    assert_eq!(hosts, [0]);
    assert_eq!(net.say_on(flow(1, 0, 4001), 0, ACK, None), [2, 1]);
}

#[test]
fn who_claims_the_mac_address_of_a_host_with_many_addresses_makes_it_answer_by_four_of_them() {
    let (mut net, [a, ..]) = four_hosts([1, 2, 3]);
    for last in 0..15 {
        net.send_and_run(0, claim(a.mac, [10, 0, 1, last].into()), 20);
    }
    // The address in use was claimed last.
    net.send_and_run(0, claim(a.mac, a.ip), 20);
    let before = net.made.len();
    net.send_and_run(2, claim(a.mac, a.ip), 400);
    assert_eq!((net.made.len() - before, net.counter("claims_refuted")), (4, 1));
}

#[test]
fn a_new_owner_is_announced_as_far_as_his_port_may_flood() {
    for is_flooding in [false, true] {
        let limits = Limits { floods_per_port_s: 1, ..Limits::default() };
        let mut net = four_with(Settings { limits, ..Settings::default() }, &[1, 2, 3]);
        net.run(Duration::from_secs(2));
        net.hosts_answer = false;
        let (a, c) = (net.hosts[0], net.hosts[2]);
        if is_flooding {
            net.send(2, Packet { eth_src: c.mac, eth_dst: Mac::BROADCAST, content: Content::Other });
        }
        net.send_and_run(2, claim(c.mac, a.ip), 400);
        assert_eq!(owners(&net, a.ip), [c.mac.to_string()]);
        let announced = net.made.iter().any(|(_, frame)| matches!(frame, MadeFrame::ArpReply { .. }));
        assert_eq!((announced, net.counter("floods_limited")), (!is_flooding, u64::from(is_flooding)));
    }
}

#[test]
fn who_claims_a_mac_address_and_is_gone_when_the_claim_would_hold_does_not_get_it() {
    let (mut net, [a, _, c]) = four_hosts([1, 2, 3]);
    net.hosts_answer = false;
    net.send_and_run(2, claim(a.mac, a.ip), 100);
    net.set_port(c.at, false);
    net.run(Duration::from_ms(400));
    assert_eq!((net.counter("claims_disputed"), net.counter("stations_moved")), (1, 0));
}
