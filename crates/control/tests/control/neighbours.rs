//! Rules forward the address claims of stations that know each other, and no other claims.

use std::net::{Ipv4Addr, Ipv6Addr};

use weft_control::{
    Content, Controller, Duration, Limits, MadeFrame, Match, Neighbour, Packet, Rule, Settings, Show, Smoc,
    SwitchId, SwitchPort,
};
use weft_wire::Mac;

use crate::cases::{four, four_hosts, four_with};
use crate::net::{Net, arp, claim};
use crate::resume::start_again_with;
use crate::talk::{SYN, flow};

/// The priority of claim rules.
const CLAIM: u16 = 22_000;

/// The claim rules, with their switches.
pub fn claims(net: &Net<Smoc>) -> Vec<(u64, Rule)> {
    let rules = net.switches.iter().flat_map(|(id, switch)| {
        switch.rules.iter().filter(|(rule, _)| rule.priority == CLAIM).map(|(rule, _)| (id.0, rule.clone()))
    });
    rules.collect()
}

/// The MAC addresses of the known owners of an address.
pub fn owners(net: &Net<Smoc>, address: Ipv4Addr) -> Vec<String> {
    let shown = net.controller.show(net.now, Show::Stations, 10);
    let stations = shown["stations"].as_array().unwrap().iter();
    let of = stations.filter(|one| one["addresses"].to_string().contains(&format!("\"{address}\"")));
    of.map(|one| one["mac"].as_str().unwrap().to_owned()).collect()
}

/// A host broadcasts an ARP request for another one's address.
pub fn ask(net: &mut Net<Smoc>, from: usize, to: usize) {
    let (a, b) = (net.hosts[from], net.hosts[to]);
    net.send_and_run(from, arp(a.mac, Mac::BROADCAST, false, a.ip, b.ip), 60);
}

/// A host sends another one a unicast ARP request, and gets the reply; returns the paths of both.
pub fn probe(net: &mut Net<Smoc>, from: usize, to: usize) -> [Vec<u64>; 2] {
    let (a, b) = (net.hosts[from], net.hosts[to]);
    let question = net.send_and_run(from, arp(a.mac, b.mac, false, a.ip, b.ip), 60);
    let answer = net.send_and_run(to, arp(b.mac, a.mac, true, b.ip, a.ip), 60);
    [question, answer].map(|frame| net.way(frame))
}

/// Whether a host's packet is delivered.
pub fn arrives(net: &mut Net<Smoc>, from: usize, packet: Packet) -> bool {
    let frame = net.send_and_run(from, packet, 60);
    !net.deliveries(frame).is_empty()
}

/// Whether host 0's claim to its own address is delivered to host 1.
pub fn is_heard(net: &mut Net<Smoc>) -> bool {
    let (a, b) = (net.hosts[0], net.hosts[1]);
    arrives(net, 0, arp(a.mac, b.mac, true, a.ip, b.ip))
}

pub const SIX: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1), Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2)];

/// A neighbour discovery message to one host.
pub fn discovery(
    net: &Net<Smoc>,
    [from, to]: [usize; 2],
    (is_advertisement, source, target): (bool, Ipv6Addr, Ipv6Addr),
    link_layer: Option<Mac>,
) -> Packet {
    let content = Content::Neighbour(Neighbour { is_advertisement, source, target, link_layer });
    Packet { eth_src: net.hosts[from].mac, eth_dst: net.hosts[to].mac, content }
}

/// Hosts 0 and 1 announce their IPv6 addresses, and 0 solicits 1's.
pub fn know_six(net: &mut Net<Smoc>) {
    for (host, own) in SIX.into_iter().enumerate() {
        let mac = net.hosts[host].mac;
        let message = Neighbour { is_advertisement: true, source: own, target: own, link_layer: Some(mac) };
        let content = Content::Neighbour(message);
        net.send_and_run(host, Packet { eth_src: mac, eth_dst: Mac([0x33, 0x33, 0, 0, 0, 1]), content }, 60);
    }
    let packet = discovery(net, [0, 1], (false, SIX[0], SIX[1]), Some(net.hosts[0].mac));
    net.send_and_run(0, Packet { eth_dst: Mac([0x33, 0x33, 0xff, 0, 0, 2]), ..packet }, 60);
}

#[test]
fn hosts_that_have_asked_for_each_other_go_on_doing_so_without_a_controller() {
    let mut net = four(&[1, 2, 1]);
    ask(&mut net, 0, 1);
    ask(&mut net, 0, 2);
    let asked = net.counter("packet_ins");
    for lost in [None, Some(1), Some(2)] {
        if let Some(switch) = lost {
            net.disconnect(SwitchId(switch));
        }
        assert_eq!(probe(&mut net, 0, 1), [[1, 2], [2, 1]]);
        assert_eq!(probe(&mut net, 1, 0), [[2, 1], [1, 2]]);
        assert_eq!(probe(&mut net, 0, 2), [[1], [1]]);
    }
    assert_eq!((net.counter("packet_ins"), net.counter("neighbours_routed")), (asked, 4));
    let delivered = net.delivered.last().unwrap();
    assert_eq!(delivered.packet.eth_dst, net.hosts[delivered.host].mac, "as it was sent");
    // Longer than hosts wait before they ask again, regardless of other rules' timeouts.
    assert!(claims(&net).iter().all(|(_, rule)| rule.idle_timeout_s == 120 && rule.notify_removed));
    net.connect_all([1, 2]);
    net.run(Duration::from_secs(130));
    assert_eq!((net.counter("routes_now"), claims(&net).len(), net.counter("rules_stale")), (0, 0, 0));
}

#[test]
fn a_host_whose_switch_is_not_connected_is_answered_for_since_nobody_can_ask_it() {
    let mut net = four(&[1, 2]);
    ask(&mut net, 0, 1);
    net.disconnect(SwitchId(2));
    net.run(Duration::from_secs(100));
    let answered = net.counter("neighbours_answered");
    ask(&mut net, 0, 1);
    assert_eq!(net.counter("neighbours_answered"), answered + 1);
    net.connect(SwitchId(2));
    net.run(Duration::from_ms(60));
    ask(&mut net, 0, 1);
    assert_eq!(net.counter("neighbours_answered"), answered + 1, "the host itself is asked again");
}

#[test]
fn a_question_from_another_address_makes_the_rules_for_its_answer() {
    // Linux repeats requests like this: from its first address, or over IPv6 from its link-local one.
    let (mut net, [a, b]) = four_hosts([1, 2]);
    let second = Ipv4Addr::new(10, 0, 1, 1);
    net.send_and_run(0, claim(a.mac, second), 60);
    ask(&mut net, 0, 1);
    // The first goes through the controller, like every request with a new target.
    for expected in [2, 4] {
        let target = if expected == 2 { a.ip } else { second };
        assert!(arrives(&mut net, 1, arp(b.mac, a.mac, false, b.ip, target)));
        assert_eq!(net.counter("neighbours_routed"), expected);
    }
    net.disconnect(SwitchId(1));
    net.disconnect(SwitchId(2));
    for target in [a.ip, second] {
        assert!(arrives(&mut net, 1, arp(b.mac, a.mac, false, b.ip, target)));
        assert!(arrives(&mut net, 0, arp(a.mac, b.mac, true, target, b.ip)));
    }
}

#[test]
fn neighbour_discovery_goes_on_without_a_controller_too() {
    let mut net = four(&[1, 2]);
    know_six(&mut net);
    assert_eq!(net.counter("neighbours_routed"), 6, "a request and two forms of the reply per host");
    for id in 1..=5 {
        net.disconnect(SwitchId(id));
    }
    for [from, to] in [[0, 1], [1, 0]] {
        let (own, other, mac) = (SIX[from], SIX[to], net.hosts[from].mac);
        let question = discovery(&net, [from, to], (false, own, other), Some(mac));
        assert!(arrives(&mut net, from, question));
        // Some hosts answer unicast requests with their link-layer address, although they need not.
        for target in [None, Some(net.hosts[to].mac)] {
            let answer = discovery(&net, [to, from], (true, other, other), target);
            assert!(arrives(&mut net, to, answer));
        }
    }
}

#[test]
fn a_host_with_rules_for_its_own_address_is_not_heard_when_it_claims_anothers() {
    let mut net = four(&[1, 2, 3]);
    ask(&mut net, 0, 1);
    know_six(&mut net);
    let [a, b, c] = [0, 1, 2].map(|host: usize| net.hosts[host]);
    let before = claims(&net).len();
    let of_a = |sender_mac: Mac, sender: Ipv4Addr| {
        let packet = arp(a.mac, b.mac, true, sender, b.ip);
        let Content::Arp(message) = packet.content else { unreachable!("it is ARP") };
        Packet { content: Content::Arp(weft_control::Arp { sender_mac, ..message }), ..packet }
    };
    let six_of_c = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 3);
    net.tell(|core, now, out| core.host_known(now, c.at, c.mac, &[six_of_c.into()], out));
    let forged = [
        of_a(a.mac, c.ip),
        of_a(c.mac, a.ip),
        of_a(c.mac, c.ip),
        discovery(&net, [0, 1], (true, SIX[0], six_of_c), Some(a.mac)),
        discovery(&net, [0, 1], (true, SIX[0], six_of_c), None),
        discovery(&net, [0, 1], (true, SIX[0], SIX[0]), Some(c.mac)),
        discovery(&net, [0, 1], (false, six_of_c, SIX[1]), Some(a.mac)),
        discovery(&net, [0, 1], (false, SIX[0], SIX[1]), Some(c.mac)),
    ];
    for packet in forged {
        assert!(!arrives(&mut net, 0, packet), "{packet:?}");
    }
    // With another station's MAC address, or at another port, it is not delivered either.
    let stolen = Packet { eth_src: b.mac, ..arp(b.mac, a.mac, true, b.ip, a.ip) };
    assert!(!arrives(&mut net, 2, stolen));
    assert_eq!(claims(&net).len(), before, "and causes no rules");
    assert!(is_heard(&mut net), "its true claims are delivered");
}

#[test]
fn who_loses_an_address_is_not_heard_any_more_when_he_says_that_he_has_it() {
    let (mut net, [a, _, c]) = four_hosts([1, 2, 3]);
    ask(&mut net, 0, 1);
    assert!(is_heard(&mut net));
    // 2 claims it, and 0 does not defend it.
    net.hosts_answer = false;
    net.send_and_run(2, claim(c.mac, a.ip), 400);
    assert!(claims(&net).iter().all(|(_, rule)| rule.matches.eth_src != Some(a.mac)), "{:?}", claims(&net));
    assert!(!is_heard(&mut net));
    assert_eq!(net.counter("addresses_disputed"), 2);
}

#[test]
fn rules_of_an_address_that_was_pushed_out_or_of_a_station_that_moves_are_gone_at_once() {
    let (mut net, [a, ..]) = four_hosts([1, 2]);
    ask(&mut net, 0, 1);
    for last in 0..16 {
        net.send_and_run(0, claim(a.mac, [10, 0, 1, last].into()), 20);
    }
    assert_eq!(claims(&net).len(), 0, "nor are there rules for requests for it");

    let mut net = four(&[1, 2]);
    ask(&mut net, 0, 1);
    assert_eq!((claims(&net).len(), net.counter("routes_now")), (2, 2));
    let port = SwitchPort::new(3, 40);
    let old = net.hosts[0].at;
    net.set_port(port, true);
    net.run(Duration::from_secs(2));
    net.set_port(old, false);
    net.move_host(0, port);
    net.send_and_run(0, claim(a.mac, a.ip), 60);
    assert_eq!((net.counter("stations_moved"), claims(&net).len(), net.counter("routes_now")), (1, 0, 0));
    probe(&mut net, 0, 1);
    assert_eq!(probe(&mut net, 0, 1), [[3, 2], [2, 3]]);
}

#[test]
fn while_a_claim_is_looked_into_no_rules_are_made() {
    let (mut net, [a, _, c]) = four_hosts([1, 2, 3]);
    net.hosts_answer = false;
    net.send_and_run(2, claim(c.mac, a.ip), 60);
    ask(&mut net, 1, 0);
    assert_eq!(claims(&net).len(), 0);
    net.run(Duration::from_ms(400));
    ask(&mut net, 1, 0);
    let sources: Vec<_> = claims(&net).iter().map(|(switch, rule)| (*switch, rule.matches.eth_src)).collect();
    assert_eq!(sources, [(2, Some(net.hosts[1].mac)), (3, Some(c.mac))], "host 2 now owns that address");
}

#[test]
fn what_neighbours_say_leaves_a_cable_that_was_cut() {
    let mut net = four(&[1, 2]);
    ask(&mut net, 0, 1);
    let at = net.wires()[0].0;
    net.cut(at, false);
    net.run(Duration::from_ms(60));
    let asked = net.counter("packet_ins");
    assert_eq!(probe(&mut net, 0, 1), [[1, 3, 2], [2, 3, 1]]);
    assert_eq!(net.counter("packet_ins"), asked);
}

/// Replaces the controller with a restarted one that has these limits.
pub fn replace_controller(net: &mut Net<Smoc>, limits: Limits) {
    start_again_with(net, Settings { epoch: 7, hash_key: 7, limits, ..Settings::default() });
    net.connect_all(1..=5);
    net.wire_all(net.wires());
    net.run(Duration::from_secs(3));
}

#[test]
fn another_run_of_the_controller_takes_them_over_with_what_they_say() {
    let mut net = four(&[1, 2, 1, 3]);
    ask(&mut net, 0, 1);
    ask(&mut net, 0, 2);
    know_six(&mut net);
    let bare = |net: &Net<Smoc>| {
        let mut rules: Vec<_> = claims(net);
        rules.iter_mut().for_each(|(_, rule)| rule.cookie = 0);
        rules.sort_by_key(|(switch, rule)| format!("{switch} {:?}", rule.matches));
        rules
    };
    let (before, cookies) = (bare(&net), net.cookies());
    assert_eq!(before.len(), 10);
    replace_controller(&mut net, Limits::default());
    net.run(Duration::from_secs(15));
    assert_eq!((bare(&net), net.counter("rules_stale")), (before, 0));
    assert_eq!(net.counter("routes_now"), 10);
    assert!(claims(&net).iter().all(|(id, rule)| !cookies.contains(&(SwitchId(*id), rule.cookie))));
    let asked = net.counter("packet_ins");
    assert_eq!(probe(&mut net, 0, 1), [[1, 2], [2, 1]]);
    assert_eq!(net.counter("packet_ins"), asked);
    // It knows the owners of addresses: a claimant is not delivered, and a former owner loses its rules.
    let [a, b, d] = [0, 1, 3].map(|host: usize| net.hosts[host]);
    assert!(!arrives(&mut net, 3, arp(d.mac, b.mac, true, a.ip, b.ip)));
    net.hosts_answer = false;
    net.run(Duration::from_ms(400));
    net.send_and_run(3, claim(d.mac, a.ip), 400);
    assert!(!is_heard(&mut net));
}

#[test]
fn who_has_an_address_keeps_it_while_its_switch_is_not_connected_or_has_just_come_back() {
    for claims_mac in [false, true] {
        let (mut net, [a, _, c]) = four_hosts([1, 2, 3]);
        ask(&mut net, 0, 1);
        let from = if claims_mac { a.mac } else { c.mac };
        // An honest owner answers probes, but cannot be reached.
        net.disconnect(SwitchId(1));
        for _ in 0..5 {
            net.send_and_run(2, claim(from, a.ip), 400);
        }
        assert!(is_heard(&mut net), "claims the MAC address: {claims_mac}");
        net.connect(SwitchId(1));
        for _ in 0..20 {
            net.send_and_run(2, claim(from, a.ip), 100);
        }
        assert!(is_heard(&mut net), "claims the MAC address: {claims_mac}");
        assert!(!probe(&mut net, 1, 0)[1].is_empty(), "claims the MAC address: {claims_mac}");
    }
}

#[test]
fn a_switch_that_reconnects_with_a_claim_that_was_lost_meanwhile_gets_a_delete_for_it() {
    let mut net = four(&[1, 2, 3]);
    ask(&mut net, 0, 1);
    // It is off: its links are down.
    for (one, other) in net.wires() {
        if one.switch == SwitchId(1) || other.switch == SwitchId(1) {
            net.cut(one, false);
        }
    }
    net.disconnect(SwitchId(1));
    net.hosts_answer = false;
    let (a, c) = (net.hosts[0], net.hosts[2]);
    net.send_and_run(2, claim(c.mac, a.ip), 400);
    net.connect(SwitchId(1));
    net.run(Duration::from_ms(60));
    assert!(!is_heard(&mut net));
    assert!(claims(&net).iter().all(|(_, rule)| rule.matches.eth_src != Some(a.mac)));
}

#[test]
fn rules_that_let_through_more_than_one_claim_are_not_taken_over() {
    let mut net = four(&[1, 2]);
    ask(&mut net, 0, 1);
    let (_, sound) = claims(&net).into_iter().find(|(switch, _)| *switch == 1).unwrap();
    let wider = [
        Match { says: None, ..sound.matches },
        Match { about: None, ..sound.matches },
        Match { eth_src: None, ..sound.matches },
        Match { in_port: None, ..sound.matches },
        Match { eth_dst: None, ..sound.matches },
        Match { says: sound.matches.says.map(|(address, _)| (address, Mac([2; 6]))), ..sound.matches },
    ];
    wider.into_iter().for_each(|matches| net.add_rule(1, Rule { matches, ..sound.clone() }));
    replace_controller(&mut net, Limits::default());
    net.run(Duration::from_secs(15));
    let left: Vec<Match> = claims(&net).into_iter().map(|(_, rule)| rule.matches).collect();
    assert_eq!((left.len(), left.contains(&sound.matches)), (2, true), "{left:?}");
}

#[test]
fn who_asks_for_many_addresses_gets_so_many_rules_and_others_get_theirs() {
    let limits = Limits { rules_per_port: 40, stations: 1000, ..Limits::default() };
    let mut hosts = vec![1, 2];
    hosts.extend([2; 30]);
    let mut net = four_with(Settings { limits, ..Settings::default() }, &hosts);
    for other in 2..32 {
        ask(&mut net, 0, other);
    }
    assert_eq!((claims(&net).len(), net.counter("neighbours_routed")), (10, 10));
    assert_eq!(net.counter("neighbours_unrouted"), 25);
    // Its requests are still delivered, and so are the replies, which do not count against other ports.
    assert_eq!(probe(&mut net, 0, 31), [[2], [1]], "the controller relays them");
    assert_eq!(claims(&net).len(), 10);
    ask(&mut net, 1, 31);
    assert_eq!(claims(&net).len(), 12);
    net.run(Duration::from_secs(130));
    assert_eq!((claims(&net).len(), net.counter("routes_now")), (0, 0));
    ask(&mut net, 0, 20);
    assert_eq!(claims(&net).len(), 2, "there is room again");
}

#[test]
fn addresses_that_a_host_makes_up_fill_no_table() {
    let limits = Limits { rules_per_port: 400, ..Limits::default() };
    let mut net = four_with(Settings { limits, ..Settings::default() }, &[1, 2]);
    let (a, b) = (net.hosts[0], net.hosts[1]);
    for number in 0..3000_u32 {
        let own = Ipv4Addr::from(0x0a01_0000 + number % 700);
        let [.., high, low] = number.to_be_bytes();
        let mac = Mac([2, 0, 0, 9, high, low]);
        let from = if number % 2 == 0 { a.mac } else { mac };
        net.send_and_run(0, arp(from, Mac::BROADCAST, false, own, b.ip), 2);
    }
    let (most, now) = (claims(&net).len(), net.counter("routes_now"));
    assert!(most <= 100 && now <= 100, "{most} rules, {now} routes");
    let stations = net.counter("stations_now");
    assert!(stations <= 257, "{stations}");
    // Other hosts still find each other.
    assert_eq!(net.held(), 0);
    net.run(Duration::from_secs(130));
    assert_eq!((claims(&net).len(), net.counter("routes_now")), (0, 0));
    net.announce();
    ask(&mut net, 1, 0);
    assert_eq!(claims(&net).len(), 2);
    assert_eq!(probe(&mut net, 0, 1), [[1, 2], [2, 1]]);
}

#[test]
fn who_has_another_address_than_at_first_is_still_found_where_it_is() {
    let mut net = four(&[1, 2, 3]);
    ask(&mut net, 0, 1);
    net.hosts[0].ip = Ipv4Addr::new(10, 0, 9, 9);
    ask(&mut net, 0, 1);
    assert!(is_heard(&mut net));
    let mac = net.hosts[0].mac;
    net.send_and_run(2, arp(mac, Mac::BROADCAST, false, net.hosts[0].ip, net.hosts[1].ip), 400);
    assert_eq!(net.counter("claims_refuted"), 1);
    assert!(is_heard(&mut net));
}

#[test]
fn the_source_address_of_a_flow_is_nobodys_after_a_restart_either() {
    let (mut net, [_, _, victim]) = four_hosts([1, 2, 3]);
    net.announce();
    ask(&mut net, 2, 1);
    // A flow of host 0 with the address of host 2: addresses in TCP are not checked.
    let mut packet = net.segment(flow(0, 1, 4000), 0, SYN, None);
    if let Content::Tcp(segment) = &mut packet.content {
        segment.source.address = victim.ip.into();
    }
    net.send_and_run(0, packet, 100);
    replace_controller(&mut net, Limits::default());
    assert_eq!(owners(&net, victim.ip), [victim.mac.to_string()]);
}

#[test]
fn who_claims_an_address_before_the_switch_of_its_owner_has_connected_to_a_new_controller_does_not_keep_it() {
    let (mut net, [a, _, c]) = four_hosts([1, 2, 3]);
    ask(&mut net, 0, 1);
    start_again_with(&mut net, Settings { epoch: 7, hash_key: 7, ..Settings::default() });
    net.connect_all(2..=5);
    net.run(Duration::from_ms(1500));
    net.send_and_run(2, claim(c.mac, a.ip), 400);
    net.connect(SwitchId(1));
    net.wire_all(net.wires());
    net.run(Duration::from_secs(3));
    assert_eq!(owners(&net, a.ip), [a.mac.to_string()]);
    assert!(is_heard(&mut net));
}

#[test]
fn a_host_whose_first_probe_is_lost_is_asked_once_more_and_keeps_what_somebody_else_claims() {
    for claims_mac in [false, true] {
        let (mut net, [a, _, c]) = four_hosts([1, 2, 3]);
        ask(&mut net, 0, 1);
        let from = if claims_mac { a.mac } else { c.mac };
        let is_probe = |made: &&(usize, MadeFrame)| matches!(made, (0, MadeFrame::ArpProbe { .. }));
        let probes = |net: &Net<Smoc>| net.made.iter().filter(is_probe).count();
        let before = probes(&net);
        net.probes_to_lose = 1;
        net.send_and_run(2, claim(from, a.ip), 600);
        assert_eq!(probes(&net) - before, 2, "claims the MAC address: {claims_mac}");
        assert_eq!(net.counter("claims_refuted"), 1, "claims the MAC address: {claims_mac}");
        assert!(is_heard(&mut net), "claims the MAC address: {claims_mac}");
        // If the first probe is answered, there is no second one.
        net.send_and_run(2, claim(from, a.ip), 600);
        assert_eq!(probes(&net) - before, 3, "claims the MAC address: {claims_mac}");
    }
}
