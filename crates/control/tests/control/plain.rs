//! Everything but TCP: address requests, stations, group frames; with SMOC and the spanning tree.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use weft_control::Duration;
use weft_control::{
    ArpMode, Content, Controller, MadeFrame, Match, Neighbour, Packet, Rule, Settings, Show, Smoc,
    SpanningTree, SwitchId, priority,
};
use weft_wire::Mac;

use crate::cases::{FOUR, four, four_hosts, four_with};
use crate::net::{Net, arp};
use crate::talk::{ACK, SYN, SYN_ACK, flow};

const UDP: Content = Content::Ip { protocol: 17 };

fn unicast<C: Controller>(net: &Net<C>, from: usize, to: usize, content: Content) -> Packet {
    Packet { eth_src: net.hosts[from].mac, eth_dst: net.hosts[to].mac, content }
}

#[test]
fn everything_that_is_not_tcp_goes_the_shortest_path_and_asks_once() {
    let mut net = four(&[1, 2, 1]);
    for content in [UDP, Content::Ip { protocol: 1 }, Content::Other] {
        let asked = net.counter("packet_ins");
        for (from, to, way) in [(0, 1, vec![1, 2]), (1, 0, vec![2, 1]), (0, 2, vec![1]), (2, 0, vec![1])] {
            for _ in 0..2 {
                let packet = unicast(&net, from, to, content);
                let frame = net.send_and_run(from, packet, 60);
                assert_eq!(net.way(frame), way);
                let delivered = net.deliveries(frame)[0];
                assert_eq!((delivered.host, delivered.packet), (to, packet), "as it was sent");
            }
        }
        assert!(net.counter("packet_ins") <= asked + 2);
    }
    // A TCP fragment matches no station's rule, but is still delivered.
    let packet = unicast(&net, 0, 1, Content::Ip { protocol: 6 });
    let frame = net.send_and_run(0, packet, 60);
    assert_eq!(net.deliveries(frame).len(), 1);
    assert_eq!(net.held(), 0);
    net.run(Duration::from_secs(60));
    assert_eq!((net.counter("routes_now"), net.counter("paths_now")), (0, 0));
}

#[test]
fn plain_tcp_goes_the_shortest_path_there_and_back() {
    let mut net = four(&[1, 2, 1]);
    for (from, to, way) in [(0, 1, vec![1, 2]), (0, 2, vec![1])] {
        for (direction, flags) in [(0, SYN), (1, SYN_ACK), (0, ACK), (1, ACK)] {
            let mut found = net.say_on(flow(from, to, 4000), direction, flags, None);
            if direction == 1 {
                found.reverse();
            }
            assert_eq!(found, way);
        }
    }
    assert_eq!((net.counter("flows_plain"), net.counter("packet_ins_copied")), (2, 0));
}

#[test]
fn a_known_address_is_answered_for_or_asked_for_at_one_port() {
    let (mut net, [a, b, _]) = four_hosts([1, 2, 3]);
    let start = net.delivered.len();
    net.send_and_run(0, arp(a.mac, Mac::BROADCAST, false, a.ip, b.ip), 60);
    let reply = MadeFrame::ArpReply { sender: (b.mac, b.ip), target: (a.mac, a.ip) };
    assert_eq!((net.made.clone(), net.delivered.len()), (vec![(0, reply)], start));
    // A unicast request is answered by the host, and so is one for a host not seen for long.
    let unicast = net.send(0, arp(a.mac, b.mac, false, a.ip, b.ip));
    net.run(Duration::from_secs(100));
    let stale = net.send_and_run(0, arp(a.mac, Mac::BROADCAST, false, a.ip, b.ip), 60);
    for frame in [unicast, stale] {
        assert_eq!(net.heard(frame), [1]);
    }
    let answer = net.send_and_run(1, arp(b.mac, a.mac, true, b.ip, a.ip), 60);
    assert_eq!(net.deliveries(answer)[0].host, 0);
    // Only the broadcasts reached the controller: the two know each other.
    assert_eq!((net.counter("neighbours_answered"), net.counter("neighbours_passed")), (1, 1));

    let mut net = four_with(Settings { arp: ArpMode::Pass, ..Settings::default() }, &[1, 2, 3]);
    let frame = net.send_and_run(0, arp(a.mac, Mac::BROADCAST, false, a.ip, b.ip), 60);
    assert_eq!((net.deliveries(frame).len(), net.deliveries(frame)[0].host), (1, 1));
}

#[test]
fn what_is_for_all_reaches_every_host_once_and_no_cable_between_switches() {
    let mut net = four(&[1, 2, 3, 1]);
    let asks = arp(net.hosts[0].mac, Mac::BROADCAST, false, net.hosts[0].ip, Ipv4Addr::new(10, 0, 0, 99));
    let group = Packet { eth_dst: Mac([1, 0, 0x5e, 0, 0, 0xfb]), content: UDP, ..asks };
    let unknown = Packet { eth_dst: Mac([2, 9, 9, 9, 9, 9]), content: UDP, ..asks };
    for packet in [asks, group, unknown] {
        let frame = net.send_and_run(0, packet, 60);
        assert_eq!(net.heard(frame), [1, 2, 3]);
        assert!(net.deliveries(frame).iter().all(|delivery| delivery.way.len() == 1));
    }
    let local = Packet { eth_dst: Mac::HELLO, content: Content::Other, ..asks };
    let frame = net.send_and_run(0, local, 60);
    assert!(net.deliveries(frame).is_empty());
}

#[test]
fn neighbour_discovery_is_answered_like_arp() {
    let mut net = four(&[1, 2, 3]);
    let [a, b] = [0, 1].map(|host: usize| net.hosts[host].mac);
    let ip = |last: u16| Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, last);
    let message = |is_advertisement, source, target, mac| {
        Content::Neighbour(Neighbour { is_advertisement, source, target, link_layer: Some(mac) })
    };
    let group = Mac([0x33, 0x33, 0xff, 0, 0, 2]);
    // Duplicate address detection of both, flooded: no host has these addresses.
    for (host, mac, own) in [(0, a, ip(1)), (1, b, ip(2))] {
        let probe = Neighbour { is_advertisement: false, source: ip(0), target: own, link_layer: None };
        let probe = Neighbour { source: Ipv6Addr::UNSPECIFIED, ..probe };
        let content = Content::Neighbour(probe);
        let frame = net.send_and_run(host, Packet { eth_src: mac, eth_dst: group, content }, 20);
        assert_eq!(net.deliveries(frame).len(), 2);
        let content = message(true, own, own, mac);
        net.send_and_run(host, Packet { eth_src: mac, eth_dst: Mac([0x33, 0x33, 0, 0, 0, 1]), content }, 20);
    }
    let content = message(false, ip(1), ip(2), a);
    let frame = net.send_and_run(0, Packet { eth_src: a, eth_dst: group, content }, 60);
    let answer = MadeFrame::Advertisement { sender: (b, ip(2)), target: (a, ip(1)) };
    assert_eq!((net.made.clone(), net.deliveries(frame).len()), (vec![(0, answer)], 0));
    // A host about to take an address is answered by its owner.
    let probe =
        Neighbour { is_advertisement: false, source: Ipv6Addr::UNSPECIFIED, target: ip(2), link_layer: None };
    let taker = net.hosts[2].mac;
    let content = Content::Neighbour(probe);
    let frame = net.send_and_run(2, Packet { eth_src: taker, eth_dst: group, content }, 60);
    assert_eq!(net.deliveries(frame)[0].host, 1);
    let stations = net.controller.show(net.now, Show::Stations, 10);
    assert_eq!(stations["stations"][1]["addresses"], serde_json::json!(["10.0.0.2", "fd00::2"]));
}

#[test]
fn a_port_that_leads_to_a_switch_teaches_nothing_and_a_new_port_not_at_once() {
    let mut net = four(&[1, 2]);
    let inner = net.wires()[0].0;
    let stranger =
        Packet { eth_src: Mac([2, 7, 7, 7, 7, 7]), eth_dst: Mac::BROADCAST, content: Content::Other };
    net.inject(inner, stranger);
    net.run(Duration::from_ms(60));
    assert_eq!((net.counter("stations_now"), net.counter("packet_ins_from_switches")), (2, 1));
    // A link whose other end is no longer seen may still carry flooded frames.
    net.cut(inner, true);
    net.inject(inner, stranger);
    let fresh = weft_control::SwitchPort::new(1, 40);
    net.set_port(fresh, true);
    net.inject(fresh, stranger);
    net.run(Duration::from_ms(60));
    assert_eq!((net.counter("stations_now"), net.counter("packet_ins_unsettled")), (2, 2));
    net.run(Duration::from_secs(1));
    net.inject(fresh, stranger);
    net.run(Duration::from_ms(60));
    assert_eq!(net.counter("stations_now"), 3);
    let shown = net.controller.show(net.now, Show::Switches, 10);
    let roles: Vec<&str> = shown["switches"][0]["ports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["quarantine", "switch", "switch", "switch", "host", "host"]);
}

#[test]
fn a_host_that_is_known_from_elsewhere_needs_not_be_heard() {
    let mut net: Net<Smoc> = Net::new(Smoc::new(Settings::default()).unwrap(), 1);
    net.build(5, &FOUR, &[1, 2]);
    for host in net.hosts.clone() {
        let addresses = [IpAddr::V4(host.ip)];
        net.tell(|c, now, out| c.host_known(now, host.at, host.mac, &addresses, out));
    }
    assert_eq!(net.say_on(flow(0, 1, 4000), 0, SYN, None), [1, 2]);
}

pub fn tree(cables: &[(u64, u64)], hosts: &[u64]) -> Net<SpanningTree> {
    let mut net = Net::new(SpanningTree::new(Settings::default()).unwrap(), 1);
    let switches = cables.iter().map(|&(a, b)| a.max(b)).max().unwrap_or(1);
    net.build(switches, cables, hosts);
    net.announce();
    net
}

#[test]
fn on_the_tree_every_flow_takes_the_same_way() {
    let mut net = tree(&FOUR, &[1, 2, 3]);
    for port in 4000..4004 {
        for (direction, flags) in [(0, SYN), (1, SYN_ACK), (0, ACK)] {
            let expected = if direction == 0 { [1, 2] } else { [2, 1] };
            assert_eq!(net.say_on(flow(0, 1, port), direction, flags, None), expected);
        }
    }
    // 3 is a child of 1: frames from 2 to 3 pass the root.
    assert_eq!(net.say_on(flow(1, 2, 4000), 0, SYN, None), [2, 1, 3]);
    let asked = net.counter("packet_ins");
    net.say(flow(1, 2, 4001), 0, SYN, None);
    assert_eq!((net.counter("packet_ins"), net.held()), (asked, 0));
}

#[test]
fn on_the_tree_a_flood_reaches_every_host_once() {
    let mut net = tree(&[(1, 2), (2, 3), (3, 1), (3, 4), (4, 1), (2, 4)], &[1, 2, 3, 4, 4]);
    for host in 0..5 {
        let packet = Packet { eth_src: net.hosts[host].mac, eth_dst: Mac::BROADCAST, content: UDP };
        let frame = net.send_and_run(host, packet, 60);
        assert_eq!(net.heard(frame), (0..5).filter(|&other| other != host).collect::<Vec<_>>());
    }
}

#[test]
fn on_the_tree_a_cut_cable_is_replaced_and_all_is_learnt_anew() {
    let mut net = tree(&FOUR, &[1, 2]);
    net.say(flow(0, 1, 4000), 0, SYN, None);
    let cable = net.wires()[0].0;
    net.cut(cable, false);
    net.run(Duration::from_ms(60));
    assert_eq!(net.say_on(flow(0, 1, 4000), 0, SYN, None), [1, 3, 2]);
    // A disconnected switch still forwards.
    net.disconnect(SwitchId(3));
    net.run(Duration::from_ms(60));
    assert_eq!(net.say_on(flow(0, 1, 4000), 0, ACK, None), [1, 3, 2]);
    net.connect(SwitchId(3));
    net.run(Duration::from_ms(60));
    assert_eq!(net.say_on(flow(0, 1, 4000), 1, ACK, None), [2, 3, 1]);
    net.run(Duration::from_secs(15));
    assert_eq!((net.counter("routes_now"), net.held()), (0, 0));
}

#[test]
fn on_the_tree_a_switch_that_reconnects_gets_only_the_rules_it_lacks() {
    let mut net = tree(&FOUR, &[1, 2]);
    net.say(flow(0, 1, 4000), 0, SYN, None);
    let rules = |net: &Net<SpanningTree>| {
        let rules = net.switches[&SwitchId(2)].rules.iter().map(|(rule, _)| (rule.cookie, rule.clone()));
        rules.collect::<BTreeMap<u64, Rule>>()
    };
    let (before, since) = (rules(&net), net.log.len());
    net.restart(SwitchId(2), false, 30, &[]);
    net.run(Duration::from_ms(60));
    assert_eq!((net.changes(since), net.counter("rules_stale"), rules(&net)), (vec![], 0, before.clone()));
    // One rule does something else, one matches something else, one is gone, and nobody needs another one.
    let guard = before.values().find(|rule| rule.priority == priority::GUARD).unwrap();
    net.disconnect(SwitchId(2));
    net.switch(2).rules.retain(|(rule, _)| rule.priority != priority::LLDP && rule.cookie != guard.cookie);
    for (rule, _) in net.switch(2).rules.iter_mut().filter(|(rule, _)| rule.priority == priority::MISS) {
        rule.actions.clear();
    }
    let matches = Match { eth_type: Some(0x0800), ..guard.matches };
    net.add_rule(2, Rule { matches, ..guard.clone() });
    net.add_rule(2, Rule { cookie: guard.cookie + 99, matches: Match::to(Mac([2; 6])), ..guard.clone() });
    net.connect(SwitchId(2));
    net.run(Duration::from_ms(60));
    assert_eq!((rules(&net), net.switches[&SwitchId(2)].rules.len()), (before.clone(), before.len()));
    assert_eq!(net.counter("rules_stale"), 2);
    // A rule has the cookie of the guard, and is found before or after it.
    for place in [0, before.len()] {
        net.disconnect(SwitchId(2));
        let (now, other) = (net.now, Rule { matches, ..guard.clone() });
        net.switch(2).rules.insert(place, (other, now));
        net.connect(SwitchId(2));
        net.run(Duration::from_ms(60));
        assert_eq!((rules(&net), net.switches[&SwitchId(2)].rules.len()), (before.clone(), before.len()));
    }
    assert_eq!(net.counter("rules_stale"), 4);
}

#[test]
fn on_the_tree_a_host_may_move_when_it_is_gone_from_where_it_was() {
    let mut net = tree(&FOUR, &[1, 2, 1]);
    net.say(flow(0, 1, 4000), 0, SYN, None);
    let nobody = Ipv4Addr::new(10, 0, 0, 99);
    net.send_and_run(2, arp(net.hosts[0].mac, Mac::BROADCAST, false, net.hosts[0].ip, nobody), 400);
    assert_eq!((net.counter("stations_moved"), net.counter("claims_refuted")), (0, 1));
    let (old, new) = (net.hosts[0].at, net.hosts[2].at);
    net.set_port(old, false);
    net.move_host(0, new);
    // Until it is seen again, frames to it are flooded.
    net.run(Duration::from_ms(20));
    let frame = net.say(flow(0, 1, 4002), 1, SYN_ACK, None);
    assert_eq!((net.way(frame), net.counter("stations_now")), (vec![2, 1], 3));
    net.announce();
    let frame = net.say(flow(0, 1, 4002), 1, SYN_ACK, None);
    assert_eq!((net.way(frame), net.counter("stations_now")), (vec![2, 1], 3));
}
