//! Resuming hosts from rules of an earlier controller run, against claims that come before or after.

use std::net::Ipv4Addr;

use weft_control::{
    Content, Controller, Duration, Limits, Match, Packet, Rule, RuleAction, Settings, Show, Smoc, SwitchId,
    SwitchPort, Time,
};
use weft_wire::Mac;

use crate::cases::{four, four_hosts};
use crate::neighbours::{ask, claims, is_heard, owners, replace_controller};
use crate::net::{Net, arp, claim};
use crate::resume::start_again_with;
use crate::talk::{SYN, flow};

/// The switch (without leading zeros) and port where a station is known to be.
fn place(net: &Net<Smoc>, mac: Mac) -> (String, u64) {
    let shown = net.controller.show(net.now, Show::Stations, 10);
    let mut stations = shown["stations"].as_array().unwrap().iter();
    let found = stations.find(|one| one["mac"] == mac.to_string()).unwrap_or_else(|| panic!("{shown}"));
    let switch = found["switch"].as_str().unwrap().trim_start_matches('0');
    (switch.to_owned(), found["port"].as_u64().unwrap())
}

/// All switches but the first connect to a restarted controller, which waits long enough for their hosts to be seen;
/// returns the wires of the first.
fn connect_all_but_the_first(net: &mut Net<Smoc>) -> Vec<(SwitchPort, SwitchPort)> {
    let (late, early): (Vec<_>, Vec<_>) =
        net.wires().into_iter().partition(|(one, other)| [one.switch, other.switch].contains(&SwitchId(1)));
    start_again_with(net, Settings { epoch: 7, hash_key: 7, ..Settings::default() });
    net.connect_all(2..=5);
    net.wire_all(early);
    net.run(Duration::from_ms(1500));
    late
}

#[test]
fn rules_of_somebody_who_has_no_address_or_asks_for_none_are_not_taken_over() {
    let mut net = four(&[1, 2]);
    ask(&mut net, 0, 1);
    let (_, sound) = claims(&net).into_iter().find(|(switch, _)| *switch == 1).unwrap();
    let nobody = Ipv4Addr::UNSPECIFIED.into();
    for matches in [
        Match { says: sound.matches.says.map(|(_, mac)| (nobody, mac)), ..sound.matches },
        Match { about: Some(nobody), ..sound.matches },
    ] {
        net.add_rule(1, Rule { matches, ..sound.clone() });
    }
    replace_controller(&mut net, Limits::default());
    assert!(owners(&net, Ipv4Addr::UNSPECIFIED).is_empty());
    let left: Vec<Match> = claims(&net).into_iter().map(|(_, rule)| rule.matches).collect();
    assert_eq!((left.len(), left.contains(&sound.matches)), (2, true), "{left:?}");
}

#[test]
fn who_claims_a_mac_address_before_the_switch_of_its_owner_has_connected_to_a_new_controller_does_not_keep_it()
 {
    let (mut net, [a, ..]) = four_hosts([1, 2, 3]);
    ask(&mut net, 0, 1);
    let late = connect_all_but_the_first(&mut net);
    net.send_and_run(2, claim(a.mac, a.ip), 400);
    net.connect(SwitchId(1));
    net.wire_all(late);
    net.run(Duration::from_secs(3));
    // The thief answers probes.
    (net.hosts[2].ip, net.hosts[2].mac) = (a.ip, a.mac);
    for _ in 0..3 {
        net.send_and_run(0, claim(a.mac, a.ip), 500);
    }
    assert!(is_heard(&mut net));
    assert_eq!(place(&net, a.mac).1, u64::from(a.at.port.0));
}

#[test]
fn of_two_switches_whose_rules_name_different_owners_the_one_that_connects_first_is_believed() {
    for first in [1, 3] {
        let (mut net, [a, _, c]) = four_hosts([1, 2, 3]);
        ask(&mut net, 0, 1);
        ask(&mut net, 2, 1);
        // As if switch 3 had been disconnected since host 2 got the address.
        for (rule, _) in &mut net.switch(3).rules {
            if rule.matches.says == Some((c.ip.into(), c.mac)) {
                rule.matches.says = Some((a.ip.into(), c.mac));
            }
        }
        let wires = net.wires();
        start_again_with(&mut net, Settings { epoch: 7, hash_key: 7, ..Settings::default() });
        net.connect_all([first, 4 - first, 2, 4, 5]);
        net.wire_all(wires);
        net.run(Duration::from_ms(200));
        let owner = if first == 1 { a.mac } else { c.mac };
        assert_eq!(owners(&net, a.ip), [owner.to_string()]);
    }
}

#[test]
fn a_host_of_which_only_flows_are_known_after_a_restart_keeps_its_mac_address_for_a_minute_unheard() {
    let (mut net, [a, ..]) = four_hosts([1, 2, 3]);
    net.say(flow(0, 1, 4000), 0, SYN, None);
    replace_controller(&mut net, Limits::default());
    let stolen = arp(a.mac, Mac::BROADCAST, false, Ipv4Addr::new(10, 0, 0, 77), Ipv4Addr::new(10, 0, 0, 1));
    for _ in 0..50 {
        net.send(2, stolen);
        net.run(Duration::from_secs(1));
    }
    assert_eq!((net.counter("stations_moved"), net.counter("claims_disputed")), (0, 50));
    let named = net.controller.offences();
    let brief: Vec<_> = named.iter().map(|one| (one.at, one.kind.name(), one.mac)).collect();
    assert_eq!(brief, [(net.hosts[2].at, "moved-unasked", Some(a.mac))]);
    // It has not been seen for a minute.
    net.run(Duration::from_secs(10));
    net.send_and_run(2, stolen, 400);
    assert_eq!(net.counter("stations_moved"), 1);
}

#[test]
fn a_host_that_was_heard_after_a_restart_has_to_answer_again() {
    let (mut net, [a, ..]) = four_hosts([1, 2, 3]);
    net.say(flow(0, 1, 4000), 0, SYN, None);
    replace_controller(&mut net, Limits::default());
    net.send_and_run(0, Packet { eth_src: a.mac, eth_dst: Mac::BROADCAST, content: Content::Other }, 100);
    net.send_and_run(2, arp(a.mac, Mac::BROADCAST, false, a.ip, net.hosts[1].ip), 400);
    assert_eq!(net.counter("stations_moved"), 1);
}

/// A network in which the rules of switch 1 deliver to host 0, and so do those of switch 3, at the port of host 2.
fn with_rules_of_a_host_at_two_switches() -> Net<Smoc> {
    let mut net = four(&[1, 2, 3]);
    for to in [0, 2] {
        net.say(flow(1, to, 4000), 0, SYN, None);
    }
    let (a, c) = (net.hosts[0], net.hosts[2]);
    for (rule, _) in &mut net.switch(3).rules {
        if let [RuleAction::SetDestination(mac), RuleAction::Output(_)] = &mut rule.actions[..]
            && *mac == c.mac
        {
            *mac = a.mac;
        }
    }
    net
}

#[test]
fn a_host_that_has_left_rules_at_two_switches_is_believed_at_either() {
    // It was at switch 1 and is at switch 3, and switch 1 missed the move.
    let mut net = with_rules_of_a_host_at_two_switches();
    let a = net.hosts[0];
    replace_controller(&mut net, Limits::default());
    net.send_and_run(2, arp(a.mac, Mac::BROADCAST, false, a.ip, net.hosts[1].ip), 400);
    assert_eq!((net.counter("claims_disputed"), net.counter("stations_moved")), (1, 1));
}

#[test]
fn a_host_is_where_rules_say_though_it_was_claimed_where_old_rules_of_another_switch_had_it() {
    // Host 0 was once at switch 3, which missed its move to switch 1.
    let mut net = with_rules_of_a_host_at_two_switches();
    let (a, c) = (net.hosts[0], net.hosts[2]);
    let late = connect_all_but_the_first(&mut net);
    assert_eq!(place(&net, a.mac).0, "3");
    net.set_port(c.at, false);
    net.send_and_run(1, claim(a.mac, a.ip), 400);
    assert_eq!(place(&net, a.mac).0, "2");
    net.connect(SwitchId(1));
    net.wire_all(late);
    net.run(Duration::from_secs(3));
    assert_eq!(place(&net, a.mac).0, "1");
}

#[test]
fn addresses_known_from_rules_are_forgotten_when_the_network_is_known() {
    let mut net = four(&[1, 2, 3]);
    ask(&mut net, 0, 1);
    replace_controller(&mut net, Limits::default());
    assert!(net.controller.next_deadline() < Time::MAX);
    // Longer than unused rules and paths stay.
    net.run(Duration::from_secs(300));
    assert_eq!(net.controller.next_deadline(), Time::MAX);
}
