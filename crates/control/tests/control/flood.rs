//! Hosts that open connections faster than their switch installs rules: the rules they cause are limited by the
//! switch's confirmations, and other hosts at the switch do not wait behind them.

use std::net::Ipv4Addr;

use weft_control::Duration;
use weft_control::{Join, Limits, Mptcp, RuleChange, Settings, Smoc, SwitchId};
use weft_wire::mptcp::Version;

use crate::cases::four_with;
use crate::net::{Net, Rng};
use crate::talk::{Flow, SYN, flow};

/// Time per rule of the switches in these tests: 2000 rules per second.
const WORK: Duration = Duration::from_us(500);
/// Maximum unconfirmed rules of hosts per switch.
const UNANSWERED: usize = 400;

fn settings() -> Settings {
    let limits = Limits { unanswered_rules: UNANSWERED, ..Limits::default() };
    Settings { limits, ..Settings::default() }
}

/// The options of the SYNs of an attack.
fn kinds() -> [fn(&mut Rng) -> Option<Mptcp>; 3] {
    [
        |_| None,
        |_| Some(Mptcp::Capable { version: Version::V1, sender_key: None, receiver_key: None }),
        |rng| Some(Mptcp::Join(Join::Syn { token: rng.below(1 << 32) as u32, nonce: 1 })),
    ]
}

/// Host 2 sends 20 000 SYNs per second to the targets in turn, for `ms` milliseconds.
fn attack(
    net: &mut Net<Smoc>,
    rng: &mut Rng,
    option: fn(&mut Rng) -> Option<Mptcp>,
    targets: &[usize],
    ms: u64,
) {
    for round in 0..ms {
        for number in 0..20 {
            let target = targets[(round as usize * 20 + number) % targets.len()];
            let ports = [rng.below(60_000) as u16, rng.below(60_000) as u16];
            let packet = net.segment(Flow { hosts: [2, target], ports }, 0, SYN, option(rng));
            net.send(2, packet);
        }
        net.run(Duration::from_ms(1));
    }
}

#[test]
fn a_flood_causes_no_more_rules_than_the_switch_confirms_and_ends_in_one_rule() {
    for option in kinds() {
        let mut rng = Rng(5);
        // Hosts 0 and 2 at one switch, host 1 at another.
        let mut net = four_with(settings(), &[1, 2, 1]);
        net.work = WORK;
        let since = net.log.len();
        let mut most = 0;
        for _ in 0..100 {
            attack(&mut net, &mut rng, option, &[1], 10);
            most = most.max(net.counter("rules_unconfirmed_now"));
        }
        assert!(most <= 2 * UNANSWERED as u64 / 4 + 16, "{most} rules at two switches");
        let changes = net.changes(since);
        let changed = [1, 2].map(|switch| changes.iter().filter(|(at, _)| at.0 == switch).count());
        assert!(changed.iter().all(|&changed| changed < 300), "{changed:?} changes per second");
        assert_eq!(net.counter("routes_now"), 2, "one per direction");
        assert!(net.counter("flows_over_budget") > 0);
        net.run(Duration::from_secs(30));
        assert_eq!((net.counter("rules_unconfirmed_now"), net.held()), (0, 0));
    }
}

#[test]
fn others_at_the_switch_connect_in_time_while_a_host_floods_it() {
    for option in kinds() {
        let mut rng = Rng(6);
        // The attacker turns to a new target once the previous one causes no more rules.
        let hosts: Vec<u64> = [1, 2, 1].into_iter().chain([1, 2].into_iter().cycle().take(40)).collect();
        let mut net = four_with(settings(), &hosts);
        net.work = WORK;
        let targets: Vec<usize> = (0..hosts.len()).filter(|&host| host != 2).collect();
        let mut slowest = Duration::ZERO;
        for port in 0..20 {
            attack(&mut net, &mut rng, option, &targets, 50);
            let packet = net.segment(flow(0, 1, 4000 + port), 0, SYN, None);
            let (asked, frame) = (net.now, net.send(0, packet));
            while net.deliveries(frame).is_empty() {
                attack(&mut net, &mut rng, option, &targets, 1);
                assert!(net.now.saturating_since(asked) < Duration::from_secs(1), "port {port}");
            }
            slowest = slowest.max(net.now.saturating_since(asked));
        }
        assert!(slowest < Duration::from_ms(200), "{slowest:?}");
    }
}

#[test]
fn a_slow_switch_that_has_failed_transactions_still_counts_what_it_has_not_done() {
    let mut rng = Rng(7);
    let mut net = four_with(settings(), &[1, 2, 1]);
    for switch in [1, 2] {
        net.switch(switch).is_mute = true;
    }
    for _ in 0..60 {
        attack(&mut net, &mut rng, |_| None, &[0, 1], 2);
        net.run(Duration::from_ms(100));
    }
    assert!(net.counter("installs_overdue") > 0, "the deadline of 2 s has passed");
    let unconfirmed = net.counter("rules_unconfirmed_now");
    assert!(unconfirmed > 100, "{unconfirmed}: none is confirmed");
    assert!(unconfirmed <= 2 * (UNANSWERED as u64 / 2 + 16), "{unconfirmed}");
    // A reconnected switch starts without unconfirmed rules.
    for switch in [1, 2] {
        net.disconnect(SwitchId(switch));
    }
    assert_eq!(net.counter("rules_unconfirmed_now"), 0);
}

#[test]
fn one_host_holds_so_many_rules_at_a_switch_and_its_further_flows_go_by_one() {
    let limits = Limits { rules_per_port: 100, ..Limits::default() };
    let mut net = four_with(Settings { limits, ..Settings::default() }, &[1, 2, 1]);
    let held = |net: &Net<Smoc>, switch| {
        let rules = &net.switches[&SwitchId(switch)].rules;
        rules.iter().filter(|(rule, _)| rule.priority == weft_control::priority::FLOW).count()
    };
    for port in 0..150 {
        net.say(flow(2, 1, 1000 + port), 0, SYN, None);
    }
    assert_eq!((held(&net, 1), held(&net, 2)), (100, 100));
    assert!(net.counter("flows_over_rules") > 0);
    // Another host at the same switch is not affected.
    net.say(flow(0, 1, 4000), 0, SYN, None);
    assert_eq!(held(&net, 1), 101);
    // Between two hosts of one switch a flow has both its rules there.
    let limits = Limits { rules_per_port: 100, ..Limits::default() };
    let mut net = four_with(Settings { limits, ..Settings::default() }, &[1, 2, 1]);
    for port in 0..150 {
        net.say(flow(2, 0, 1000 + port), 0, SYN, None);
    }
    assert_eq!(held(&net, 1), 100);
    net.run(Duration::from_secs(30));
    net.say(flow(2, 0, 1000), 0, SYN, None);
    assert_eq!(held(&net, 1), 2, "expired rules make room");
}

#[test]
fn old_flows_make_room_at_a_bounded_rate() {
    let limits = Limits { unconfirmed_per_port: 50, evictions_per_port_s: 20, ..Limits::default() };
    let mut net = four_with(Settings { limits, ..Settings::default() }, &[1, 2, 1]);
    let since = net.log.len();
    for number in 0..1000_u32 {
        // Addresses without an owner: each is a new flow.
        let mut packet = net.segment(flow(2, 1, 1000), 0, SYN, None);
        if let weft_control::Content::Tcp(segment) = &mut packet.content {
            segment.source.address = Ipv4Addr::from(number).into();
        }
        net.send_up(2, packet);
        net.run(Duration::from_ms(1));
    }
    let is_removal = |(_, change): &&(SwitchId, RuleChange)| matches!(change, RuleChange::Remove { .. });
    let removals = net.changes(since).into_iter().filter(is_removal).count();
    assert!(removals <= 2 * (20 + 2), "{removals} per second");
    assert!(net.counter("flows_given_up") > 0);
}
