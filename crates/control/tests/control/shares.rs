//! The limit of claim rules per port, which another port cannot exhaust.

use std::net::{Ipv4Addr, Ipv6Addr};

use weft_control::{
    Controller, Duration, Limits, Match, OffenceKind, Packet, Rule, RuleAction, Settings, Smoc,
};
use weft_wire::Mac;

use crate::cases::{four, four_hosts, four_with};
use crate::neighbours::{SIX, ask, claims, discovery, know_six, probe, replace_controller};
use crate::net::{Net, arp, claim};
use crate::talk::{SYN, flow};

/// A new IP address, and the MAC address with which host 1 claims it.
fn made_up(number: u8) -> (Mac, Ipv4Addr) {
    (Mac([2, 0, 0, 9, 0, number]), Ipv4Addr::new(10, 1, 0, number))
}

/// Host 1 claims `count` addresses and makes host 0 request each of them, as with an echo request from it.
fn make_ask(net: &mut Net<Smoc>, count: u8) {
    for (mac, own) in (0..count).map(made_up) {
        net.send_and_run(1, claim(mac, own), 20);
        let asker = net.hosts[0];
        net.send_and_run(0, arp(asker.mac, Mac::BROADCAST, false, asker.ip, own), 20);
    }
}

/// The number of claim rules between two hosts.
fn between(net: &Net<Smoc>, one: usize, other: usize) -> usize {
    let macs = [one, other].map(|host| net.hosts[host].mac);
    let is_between = |rule: &Rule| {
        let ends = [rule.matches.eth_src, rule.matches.eth_dst.map(|(mac, _)| mac)];
        ends == macs.map(Some) || ends == [Some(macs[1]), Some(macs[0])]
    };
    claims(net).iter().filter(|(_, rule)| is_between(rule)).count()
}

#[test]
fn a_host_that_another_port_makes_ask_for_many_addresses_still_gets_rules_for_the_others_for_which_it_asks() {
    let limits = Limits { rules_per_port: 160, ..Limits::default() };
    let mut net = four_with(Settings { limits, ..Settings::default() }, &[1, 2, 3, 4]);
    make_ask(&mut net, 40);
    let used = claims(&net).len();
    assert_eq!(used, 10, "a quarter of a port's limit of 40");
    ask(&mut net, 0, 2);
    assert_eq!(between(&net, 0, 2), 2);
    // The port that caused it does not lose its share with others either.
    ask(&mut net, 1, 3);
    ask(&mut net, 3, 0);
    assert_eq!([(1, 3), (0, 3)].map(|(one, other)| between(&net, one, other)), [2, 2]);
    assert_eq!(claims(&net).len(), used + 6);
}

#[test]
fn a_host_of_which_another_port_asks_from_many_addresses_still_gets_rules_with_others() {
    let limits = Limits { rules_per_port: 160, ..Limits::default() };
    let mut net = four_with(Settings { limits, ..Settings::default() }, &[1, 2, 3]);
    let asked = net.hosts[0];
    for (mac, own) in (0..40).map(made_up) {
        net.send_and_run(1, arp(mac, Mac::BROADCAST, false, own, asked.ip), 40);
    }
    assert_eq!(claims(&net).len(), 10);
    ask(&mut net, 2, 0);
    assert_eq!(between(&net, 0, 2), 2);
}

#[test]
fn a_host_that_is_made_to_ask_keeps_its_share_of_unconfirmed_rules_and_is_not_named_for_it() {
    let limits = Limits { unanswered_rules: 160, ..Limits::default() };
    let mut net = four_with(Settings { limits, ..Settings::default() }, &[1, 2, 3]);
    net.controller.offences();
    net.switch(1).is_mute = true;
    make_ask(&mut net, 40);
    net.say(flow(0, 2, 4000), 0, SYN, None);
    assert_eq!(net.counter("flows_over_budget"), 0);
    assert!(net.counter("neighbours_unrouted") > 0);
    let named: Vec<_> = net.controller.offences().into_iter().map(|one| (one.at, one.kind)).collect();
    assert!(!named.contains(&(net.hosts[0].at, OffenceKind::Rules)), "{named:?}");
}

#[test]
fn the_limits_hold_after_a_restart_too_and_rules_that_idle_out_make_room() {
    let limits = Limits { rules_per_port: 40, ..Limits::default() };
    let settings = Settings { limits: limits.clone(), ..Settings::default() };
    let mut net = four_with(settings, &[1, 2, 2, 2, 2, 2, 2, 3]);
    (1..=6).for_each(|other| ask(&mut net, 0, other));
    assert_eq!(claims(&net).len(), 10);
    replace_controller(&mut net, limits);
    net.run(Duration::from_secs(15));
    assert_eq!((claims(&net).len(), net.counter("routes_now")), (10, 10));
    net.announce();
    ask(&mut net, 0, 7);
    assert_eq!((claims(&net).len(), net.counter("neighbours_unrouted")), (10, 1));
    assert_eq!(probe(&mut net, 0, 7), [[3], [1]], "the controller relays it");
    net.run(Duration::from_secs(130));
    ask(&mut net, 0, 7);
    assert_eq!(claims(&net).len(), 2);
}

#[test]
fn a_question_that_names_an_address_of_somebody_else_than_the_host_that_gets_it_makes_no_rules() {
    let mut net = four(&[1, 2, 3]);
    know_six(&mut net);
    let before = claims(&net).len();
    let [a, b, c] = [0, 1, 2].map(|host: usize| net.hosts[host]);
    for target in [c.ip, Ipv4Addr::new(10, 7, 7, 7)] {
        let question = arp(a.mac, b.mac, false, a.ip, target);
        net.send_and_run(0, question, 60);
    }
    let nobody = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 9);
    for target in [SIX[0], nobody] {
        let question: Packet = discovery(&net, [0, 2], (false, SIX[0], target), Some(a.mac));
        net.send_and_run(0, question, 60);
    }
    assert_eq!(claims(&net).len(), before);
    assert_eq!(net.counter("neighbours_passed"), 4, "the requests are still delivered");
}

#[test]
fn rules_of_more_addresses_than_a_host_may_have_are_taken_over_in_any_order() {
    // All hosts are at one switch, so that all routes share one path.
    let (mut net, [_, _, _, asker]) = four_hosts([1, 1, 1, 1]);
    ask(&mut net, 3, 0);
    ask(&mut net, 3, 1);
    let of_asker = |(_, rule): &(u64, Rule)| rule.matches.eth_src == Some(asker.mac);
    let (_, sound) = claims(&net).into_iter().find(of_asker).unwrap();
    let owners = [net.hosts[0], net.hosts[1]];
    let is_sound =
        |rule: &Rule| (rule.priority, rule.matches.eth_src) == (sound.priority, sound.matches.eth_src);
    net.switch(1).rules.retain(|(rule, _)| !is_sound(rule));
    // The second address belongs to the first host and is taken over first; the first address then takes its place.
    for number in 1..=17_u8 {
        let to = &owners[usize::from(number != 2)];
        let matches = Match {
            eth_dst: Some((to.mac, Mac([0xff; 6]))),
            says: Some((Ipv4Addr::new(10, 1, 0, number).into(), asker.mac)),
            about: Some(to.ip.into()),
            ..sound.matches
        };
        let cookie = sound.cookie + u64::from(number);
        let output = RuleAction::Output(to.at.port);
        let actions = [output].into_iter().collect();
        net.add_rule(1, Rule { cookie, matches, actions, ..sound.clone() });
    }
    replace_controller(&mut net, Limits::default());
    net.run(Duration::from_secs(15));
    let left: Vec<_> =
        claims(&net).into_iter().filter(of_asker).filter_map(|(_, rule)| rule.matches.says).collect();
    assert_eq!(left.len(), 16, "the address limit of a host: {left:?}");
    assert_eq!(net.counter("routes_now"), 16);
}
