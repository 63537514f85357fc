//! Failures of links, ports, switches and transactions.

use weft_control::Duration;
use weft_control::{Command, Controller, Mptcp, RuleChange, Settings, Smoc, SwitchId, SwitchPort};
use weft_wire::mptcp::Version;

use crate::cases::{four, four_with};
use crate::net::Net;
use crate::talk::{ACK, Connection, SYN, flow};

/// A connection of four subflows.
pub fn opened(net: &mut Net<Smoc>) -> Connection {
    let connection = Connection::new(flow(0, 1, 4000), Version::V1, 1);
    net.open(&connection);
    for number in 1..=3 {
        net.join(&connection, flow(0, 1, 4000 + number), 0);
    }
    connection
}

/// A network with such a connection.
pub fn four_opened(hosts: &[u64]) -> Net<Smoc> {
    let mut net = four(hosts);
    opened(&mut net);
    net
}

/// The paths of the four subflows, each the same in both directions.
pub fn ways(net: &mut Net<Smoc>) -> Vec<Vec<u64>> {
    let mut way = |port| {
        let there = net.say(flow(0, 1, port), 0, ACK, Some(Mptcp::Other));
        let back = net.say(flow(0, 1, port), 1, ACK, Some(Mptcp::Other));
        let mut mirrored = net.way(back);
        mirrored.reverse();
        assert_eq!(net.way(there), mirrored);
        mirrored
    };
    (4000..4004).map(&mut way).collect()
}

/// A slow network, and a connection whose first packet-in has arrived, and the switches' answers have not.
fn installing() -> (Net<Smoc>, Connection) {
    let mut net = four(&[1, 2]);
    net.slowest = Duration::from_ms(20);
    let connection = Connection::new(flow(0, 1, 4000), Version::V1, 1);
    let syn = net.segment(connection.first, 0, SYN, Some(connection.capable(0)));
    net.send(0, syn);
    while net.counter("transactions_now") == 0 {
        net.run(Duration::from_ms(1));
    }
    (net, connection)
}

/// The port of one switch that leads to another.
fn port_to(net: &Net<Smoc>, from: u64, to: u64) -> SwitchPort {
    let wires = net.wires();
    let ends = wires.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
    let mut found = ends.filter(|(a, b)| (a.switch.0, b.switch.0) == (from, to));
    found.next().expect("a link").0
}

/// Cuts the link between two switches.
fn cut(net: &mut Net<Smoc>, from: u64, to: u64, silently: bool) {
    net.cut(port_to(net, from, to), silently);
}

#[test]
fn subflows_leave_a_cable_that_was_cut_for_the_paths_least_used() {
    for silently in [false, true] {
        let mut net = four_opened(&[1, 2]);
        assert_eq!(ways(&mut net), [vec![1, 2], vec![1, 3, 2], vec![1, 4, 2], vec![1, 5, 2]]);
        cut(&mut net, 4, 2, silently);
        net.run(Duration::from_ms(60));
        assert_eq!(ways(&mut net), [vec![1, 2], vec![1, 3, 2], vec![1, 2], vec![1, 5, 2]]);
        cut(&mut net, 1, 2, silently);
        net.run(Duration::from_ms(60));
        assert_eq!(ways(&mut net), [vec![1, 3, 2], vec![1, 3, 2], vec![1, 5, 2], vec![1, 5, 2]]);
        assert_eq!((net.counter("flows_moved"), net.counter("flows_cut")), (3, 0));
        assert_eq!(net.counter("connections_now"), 1);
        // No switch has rules of the cut paths any more.
        net.run(Duration::from_ms(60));
        let four = &net.switches[&SwitchId(4)].rules;
        assert!(four.iter().all(|(rule, _)| rule.idle_timeout_s == 0 && rule.priority != 50_000), "{four:?}");
    }
}

#[test]
fn subflows_that_had_to_share_a_path_are_spread_again_when_the_cable_is_back_and_nothing_is_lost() {
    for silently in [false, true] {
        let mut net = four_opened(&[1, 2]);
        let (at, other) = (port_to(&net, 4, 2), port_to(&net, 2, 4));
        net.cut(at, silently);
        net.run(Duration::from_ms(60));
        assert_eq!(ways(&mut net), [vec![1, 2], vec![1, 3, 2], vec![1, 2], vec![1, 5, 2]]);
        // Its rules expire from the cut path, whose labels are assigned to others.
        net.run(Duration::from_secs(3));
        // The link flaps: nothing is moved.
        for _ in 0..3 {
            net.mend(at, other);
            net.run(Duration::from_ms(300));
            net.cut(at, false);
            net.run(Duration::from_ms(300));
        }
        assert_eq!(net.counter("flows_spread"), 0);
        net.mend(at, other);
        // Segments in both directions during all this.
        let mut sent = Vec::new();
        for round in 0..400 {
            let flow = flow(0, 1, 4000 + round % 4);
            let packet = net.segment(flow, usize::from(round % 8 > 3), ACK, Some(Mptcp::Other));
            sent.push(net.send_and_run(flow.hosts[usize::from(round % 8 > 3)], packet, 5));
        }
        net.run(Duration::from_ms(60));
        for frame in sent {
            net.way(frame);
        }
        let mut found = ways(&mut net);
        found.sort();
        assert_eq!(found, [vec![1, 2], vec![1, 3, 2], vec![1, 4, 2], vec![1, 5, 2]]);
        assert_eq!((net.counter("flows_spread"), net.counter("flows_cut")), (1, 0));
    }
}

#[test]
fn without_any_path_the_next_packet_asks() {
    let mut net = four(&[1, 2]);
    let connection = opened(&mut net);
    for other in [2, 3, 4, 5] {
        cut(&mut net, 1, other, false);
    }
    net.run(Duration::from_ms(60));
    assert_eq!(net.counter("flows_cut"), 4);
    let lost = net.say(connection.first, 0, ACK, Some(Mptcp::Other));
    assert!(net.deliveries(lost).is_empty());
    assert_eq!((net.counter("frames_without_path"), net.held()), (1, 0));
    // A link comes back.
    let (a, b) = (SwitchPort::new(1, 3), SwitchPort::new(4, 1));
    net.mend(a, b);
    assert_eq!(ways(&mut net), vec![vec![1, 4, 2]; 4]);
    assert_eq!(net.counter("connections_now"), 1);
}

#[test]
fn a_port_that_vanishes_while_a_path_is_installed_costs_one_syn_at_most() {
    let (mut net, connection) = installing();
    cut(&mut net, 1, 2, false);
    net.run(Duration::from_ms(300));
    assert_eq!(net.say_on(connection.first, 0, SYN, Some(connection.capable(0))), [1, 3, 2]);
    assert_eq!((net.held(), net.counter("transactions_now")), (0, 0));
}

#[test]
fn a_switch_without_room_is_asked_again_by_the_next_packet() {
    let mut net = four(&[1, 2]);
    net.switch(2).is_full = true;
    let connection = Connection::new(flow(0, 1, 4000), Version::V1, 1);
    let lost = net.say(connection.first, 0, SYN, Some(connection.capable(0)));
    assert!(net.deliveries(lost).is_empty());
    assert_eq!((net.counter("installs_failed") > 0, net.held()), (true, 0));
    assert_eq!((net.counter("flows_now"), net.counter("connections_now")), (0, 0));
    let left = net.switches[&SwitchId(1)].rules.iter().filter(|(rule, _)| rule.idle_timeout_s > 0).count();
    assert_eq!(left, 0, "the other switches' rules are removed");
    let switches = net.controller.show(net.now, weft_control::Show::Switches, 10);
    assert_eq!(switches["last_failure"], "0000000000000002: table full");
    net.switch(2).is_full = false;
    assert_eq!(net.open(&connection)[0], [1, 2]);
    assert_eq!(net.join(&connection, flow(0, 1, 4001), 0), [1, 3, 2]);
}

#[test]
fn an_install_that_is_not_answered_has_failed_by_its_deadline() {
    let mut net = four(&[1, 2]);
    net.switch(2).is_mute = true;
    let connection = Connection::new(flow(0, 1, 4000), Version::V1, 1);
    let lost = net.say(connection.first, 0, SYN, Some(connection.capable(0)));
    assert_eq!((net.deliveries(lost).len(), net.counter("transactions_now") > 0), (0, true));
    net.run(Duration::from_secs(3));
    assert_eq!((net.counter("transactions_now"), net.held(), net.counter("flows_now")), (0, 0, 0));
    assert!(net.counter("installs_overdue") > 0);
}

#[test]
fn a_switch_that_is_gone_in_the_middle_takes_its_transactions_along() {
    let (mut net, connection) = installing();
    net.disconnect(SwitchId(2));
    net.run(Duration::from_ms(100));
    assert_eq!((net.counter("flows_now"), net.held()), (0, 0));
    net.connect(SwitchId(2));
    net.run(Duration::from_ms(100));
    assert_eq!(net.open(&connection)[0], [1, 2]);
}

#[test]
fn a_switch_that_is_not_connected_forwards_as_before_and_nothing_is_changed_because_of_it() {
    let mut net = four_opened(&[1, 2]);
    let before = (net.cookies(), net.log.len());
    for id in [2, 4] {
        net.disconnect(SwitchId(id));
        // LLDP does not pass a switch without a controller connection; that is not a failure of its links.
        for (a, b) in net.wires().into_iter().filter(|(a, b)| a.switch.0 == id || b.switch.0 == id) {
            net.tell(|c, now, out| c.link_changed(now, a, b, false, out));
            net.tell(|c, now, out| c.link_changed(now, b, a, false, out));
        }
        net.run(Duration::from_ms(60));
    }
    assert_eq!((net.cookies(), net.log.len()), before);
    assert_eq!(ways(&mut net), [vec![1, 2], vec![1, 3, 2], vec![1, 4, 2], vec![1, 5, 2]]);
    assert_eq!((net.counter("flows_now"), net.counter("flows_cut"), net.counter("flows_moved")), (4, 0, 0));
    net.connect_all([2, 4]);
    net.run(Duration::from_ms(60));
    assert_eq!((net.counter("rules_stale"), net.counter("rules_missing")), (0, 0));
    assert_eq!(net.cookies(), before.0);
    assert_eq!(ways(&mut net), [vec![1, 2], vec![1, 3, 2], vec![1, 4, 2], vec![1, 5, 2]]);
}

#[test]
fn a_port_that_goes_down_counts_even_where_the_other_end_is_not_connected() {
    let mut net = four_opened(&[1, 2]);
    net.disconnect(SwitchId(4));
    cut(&mut net, 1, 4, false);
    net.run(Duration::from_ms(60));
    assert_eq!(ways(&mut net), [vec![1, 2], vec![1, 3, 2], vec![1, 2], vec![1, 5, 2]]);
}

#[test]
fn new_paths_do_not_need_what_cannot_be_installed_and_may_use_what_is_there() {
    let mut net = four_with(Settings { proactive_paths: 1, ..Settings::default() }, &[1, 2]);
    // Switch 3 has no rules yet, so it is avoided while it is disconnected.
    net.disconnect(SwitchId(3));
    let connection = Connection::new(flow(0, 1, 4000), Version::V1, 1);
    assert_eq!(net.open(&connection)[0], [1, 2]);
    assert_eq!(net.join(&connection, flow(0, 1, 4001), 0), [1, 4, 2]);
    assert_eq!(net.join(&connection, flow(0, 1, 4002), 0), [1, 5, 2]);
    // The path through switch 4 is installed and also serves new flows.
    net.disconnect(SwitchId(4));
    let second = Connection::new(flow(0, 1, 4100), Version::V1, 2);
    assert_eq!(net.open(&second)[0], [1, 2]);
    assert_eq!(net.join(&second, flow(0, 1, 4101), 0), [1, 4, 2]);
    net.connect(SwitchId(3));
    assert_eq!(net.join(&second, flow(0, 1, 4102), 0), [1, 3, 2]);
}

#[test]
fn a_switch_that_has_forgotten_everything_gets_it_again() {
    for id in [1, 2, 3] {
        let mut net = four_opened(&[1, 2]);
        let before = net.cookies();
        net.restart(SwitchId(id), true, 0, &[]);
        net.run(Duration::from_ms(60));
        assert_eq!(net.cookies(), before);
        assert_eq!(ways(&mut net), [vec![1, 2], vec![1, 3, 2], vec![1, 4, 2], vec![1, 5, 2]]);
        assert!(net.counter("rules_missing") > 0);
    }
}

#[test]
fn switches_and_cables_may_come_in_any_order_and_twice() {
    let mut net: Net<Smoc> = Net::new(Smoc::new(Settings::default()).unwrap(), 5);
    net.tell(|c, now, out| c.link_changed(now, SwitchPort::new(8, 1), SwitchPort::new(9, 1), true, out));
    net.tell(|c, now, out| c.port_changed(now, SwitchPort::new(8, 1), true, out));
    net.tell(|c, now, out| c.switch_down(now, SwitchId(8), out));
    net.tell(|c, now, out| c.installed(now, 77, out));
    net.tell(|c, now, out| c.failed(now, 78, SwitchId(3), "what", out));
    net.tell(|c, now, out| c.rule_removed(now, SwitchId(3), u64::MAX, 1, 2, out));
    net.tell(|c, now, out| c.rule_removed(now, SwitchId(3), 0x5745 << 48 | 13 << 44, 1, 2, out));
    assert!(net.log.is_empty());
    net.build(5, &[(1, 2)], &[1, 2]);
    net.connect(SwitchId(1));
    net.connect(SwitchId(1));
    net.announce();
    let connection = Connection::new(flow(0, 1, 4000), Version::V1, 1);
    assert_eq!(net.open(&connection)[0], [1, 2]);
}

#[test]
fn a_path_that_nobody_uses_is_removed_after_a_while() {
    let mut net = four_with(Settings { remember_s: 5.0, ..Settings::default() }, &[1, 2]);
    opened(&mut net);
    assert!(net.counter("paths_now") >= 4);
    net.run(Duration::from_secs(80));
    assert_eq!((net.counter("paths_now"), net.counter("flows_now")), (0, 0));
    let labels = net.switches.values().flat_map(|switch| &switch.rules);
    let transit = labels.filter(|(rule, _)| rule.cookie >> 44 == 0x5745a).count();
    assert_eq!(transit, 0);
    let connection = Connection::new(flow(0, 1, 4100), Version::V1, 3);
    net.open(&connection);
    assert_eq!(net.join(&connection, flow(0, 1, 4101), 0), [1, 3, 2]);
}

#[test]
fn the_destinations_end_is_asked_first() {
    let mut net = four(&[1, 2]);
    let before = net.log.len();
    net.say(flow(0, 1, 4000), 0, SYN, None);
    let Some(Command::Install(first)) = net.log[before..].first() else { panic!("an install") };
    let order: Vec<u64> = first.rules.iter().map(|(switch, _)| switch.0).collect();
    assert_eq!((order[0], order[order.len() - 1]), (2, 1), "{order:?}");
    assert!(matches!(first.rules[0].1, RuleChange::Add(_)));
    assert_eq!(first.release.len(), 1);
}
