//! A controller is restarted or replaced: existing flows continue undisturbed.

use std::collections::BTreeSet;

use proptest::prelude::*;
use weft_control::Duration;
use weft_control::{
    Controller, CookieSlice, Match, PortNo, Rule, RuleAction, RuleChange, Settings, Show, Smoc, SwitchId,
    SwitchPort,
};
use weft_wire::Mac;
use weft_wire::mptcp::Version;

use crate::cases::{four, four_with};
use crate::failures::{four_opened, opened, ways};
use crate::net::{Net, Rng};
use crate::talk::{Connection, flow};

/// The paths of the four subflows of [`opened`].
const FOUR_WAYS: [&[u64]; 4] = [&[1, 2], &[1, 3, 2], &[1, 4, 2], &[1, 5, 2]];

/// Replaces the controller with a restarted one; the old one just stops.
fn start_again(net: &mut Net<Smoc>, epoch: u32) {
    start_again_with(net, Settings { epoch, hash_key: u64::from(epoch), ..Settings::default() });
}

/// The same with other settings.
pub fn start_again_with(net: &mut Net<Smoc>, settings: Settings) {
    for id in net.switches.keys().copied().collect::<Vec<_>>() {
        net.disconnect(id);
    }
    net.controller = Smoc::new(settings).unwrap();
}

/// Checks for some seconds that the four subflows stay on their paths.
fn keeps_ways(net: &mut Net<Smoc>, seconds: usize) {
    for _ in 0..seconds {
        net.run(Duration::from_secs(1));
        assert_eq!(ways(net), FOUR_WAYS);
    }
}

/// All switches connect in random order, while frames keep being forwarded.
fn connect_all(net: &mut Net<Smoc>, seed: u64) {
    let wires = net.wires();
    let mut order: Vec<SwitchId> = net.switches.keys().copied().collect();
    let mut rng = Rng(seed);
    let mut known: BTreeSet<SwitchId> = BTreeSet::new();
    while !order.is_empty() {
        let id = order.remove(rng.below(order.len() as u64) as usize);
        net.connect(id);
        assert_eq!(ways(net), FOUR_WAYS);
        known.insert(id);
        for &(a, b) in wires.iter().filter(|(a, b)| a.switch == id || b.switch == id) {
            if known.contains(&a.switch) && known.contains(&b.switch) {
                net.wire(a, b);
                assert_eq!(ways(net), FOUR_WAYS);
            }
        }
    }
}

#[test]
fn another_run_of_the_controller_interrupts_nothing_and_keeps_every_path() {
    let mut net = four_opened(&[1, 2, 1]);
    for seed in 1..6 {
        start_again(&mut net, seed);
        assert_eq!(ways(&mut net), FOUR_WAYS);
        connect_all(&mut net, seed.into());
        net.run(Duration::from_ms(300));
        assert_eq!(ways(&mut net), FOUR_WAYS);
        assert_eq!((net.counter("flows_resumed"), net.counter("connections_resumed")), (4, 1));
        keeps_ways(&mut net, 30);
        // No later segment reached the controller, and no earlier one did.
        assert_eq!(
            (net.counter("flows_new"), net.counter("flows_renewed"), net.counter("flows_now")),
            (0, 0, 4)
        );
        assert_eq!(net.counter("rules_repaired"), 0);
    }
}

#[test]
fn a_connection_that_was_taken_over_gives_a_further_subflow_and_a_cut_one_the_best_path() {
    let mut net = four(&[1, 2]);
    let connection = opened(&mut net);
    start_again(&mut net, 9);
    connect_all(&mut net, 3);
    net.run(Duration::from_secs(2));
    // The token is no longer known, but only one connection is possible.
    assert_eq!(net.join(&connection, flow(0, 1, 4004), 0), [1, 2]);
    assert_eq!(net.join(&connection, flow(1, 0, 4005), 1), [2, 3, 1]);
    let (at, _) = net.wires().into_iter().find(|(a, b)| (a.switch.0, b.switch.0) == (2, 4)).unwrap();
    net.cut(at, false);
    net.run(Duration::from_ms(60));
    assert_eq!(ways(&mut net), [vec![1, 2], vec![1, 3, 2], vec![1, 5, 2], vec![1, 5, 2]]);
}

#[test]
fn a_connection_that_was_taken_over_is_named_by_its_initial_subflow() {
    let mut net = four(&[1, 2]);
    let connection = Connection::new(flow(0, 1, 5000), Version::V1, 1);
    net.open(&connection);
    // Rules are taken over in the order of their matches: this one comes first.
    net.join(&connection, flow(0, 1, 4001), 0);
    start_again(&mut net, 9);
    net.connect_all(1..=5);
    net.wire_all(net.wires());
    net.run(Duration::from_secs(2));
    let shown = net.controller.show(net.now, Show::Connections, 9);
    let taken = &shown["connections"][0];
    assert!(taken["initiator"].as_str().is_some_and(|end| end.ends_with(":5000")), "{shown}");
    let kinds = [0, 1].map(|number| taken["subflows"][number]["kind"].as_str());
    assert_eq!(kinds, [Some("initial"), Some("join")], "{shown}");
}

#[test]
fn what_nobody_uses_any_more_is_removed_when_the_network_is_known() {
    let mut net = four_opened(&[1, 2]);
    start_again(&mut net, 9);
    // An unused path, a flow that leads nowhere, invalid cookies, and another controller's rule.
    let label = |bits: u64| Match {
        eth_dst: Some((Mac::from_bits(0x0657 << 32 | bits), Mac::from_bits(!0x7ff & ((1 << 48) - 1)))),
        ..Match::ALL
    };
    let rule = |cookie, priority, matches, port| Rule {
        cookie,
        priority,
        matches,
        actions: [RuleAction::Output(PortNo(port))].into_iter().collect(),
        idle_timeout_s: 0,
        notify_removed: false,
    };
    let strange = [
        rule(0x5745 << 48 | 10 << 44 | 0x1234, 50_000, label(0x1234 << 11), 1),
        rule(0x5745 << 48 | 7 << 44 | 0xfff_ffff_ffff, 123, Match::to(Mac([2; 6])), 99),
        rule(0x5745 << 48 | 15 << 44 | 0xfff_ffff_ffff, 30_000, Match::to(Mac([2; 6])), 99),
        rule(
            0x5745 << 48 | 14 << 44,
            30_000,
            Match { in_port: Some(PortNo(9)), ..Match::to(net.hosts[1].mac) },
            2,
        ),
        rule(0x1234, 7, Match::ALL, 3),
    ];
    for rule in &strange {
        net.add_rule(3, rule.clone());
    }
    connect_all(&mut net, 4);
    keeps_ways(&mut net, 15);
    let cookies = net.cookies();
    let left = strange.iter().filter(|rule| cookies.contains(&(SwitchId(3), rule.cookie)));
    assert_eq!(left.map(|rule| rule.cookie).collect::<Vec<_>>(), [0x1234]);
    assert!(net.counter("rules_stale") >= 4);
}

#[test]
fn rules_of_the_first_layout_of_cookies_are_replaced_without_an_interruption() {
    let mut net = four_opened(&[1, 2]);
    start_again(&mut net, 9);
    for switch in net.switches.values_mut() {
        for (number, (rule, _)) in (0..).zip(&mut switch.rules) {
            let kind = match rule.priority {
                30_000 => 4_u64 << 44 | (rule.cookie >> 20 & 1) << 24,
                50_000 => 3 << 44,
                _ => 0,
            };
            rule.cookie = 0x5745 << 48 | kind | number;
        }
    }
    connect_all(&mut net, 2);
    keeps_ways(&mut net, 15);
    let old = net.cookies().iter().filter(|(_, cookie)| cookie >> 44 & 15 < 8).count();
    assert_eq!((old, net.counter("flows_resumed")), (0, 4));
}

#[test]
fn a_switch_that_comes_late_keeps_what_goes_through_it() {
    let mut net = four_opened(&[1, 2]);
    let (late, early) =
        net.wires().into_iter().partition(|(a, b)| [a.switch, b.switch].contains(&SwitchId(4)));
    start_again(&mut net, 9);
    net.connect_all([1, 2, 3, 5]);
    net.wire_all(early);
    keeps_ways(&mut net, 40);
    net.connect(SwitchId(4));
    net.wire_all(late);
    keeps_ways(&mut net, 15);
    assert_eq!((net.counter("flows_resumed"), net.counter("flows_now")), (4, 4));
}

#[test]
fn rules_that_send_over_what_is_missing_are_replaced_after_that_is_there() {
    let mut net = four_opened(&[1, 2]);
    start_again(&mut net, 9);
    // Switch 4 has lost the label rules of one direction: that one leads nowhere, the other still works.
    net.switch(4).rules.retain(|(rule, _)| !is_back(rule));
    let before = net.log.len();
    net.connect_all(1..=5);
    net.wire_all(net.wires());
    net.run(Duration::from_secs(2));
    // The label rule is in switch 4 before switch 1 uses it.
    let added = |(switch, change): &(SwitchId, RuleChange)| match change {
        RuleChange::Add(rule) => Some((switch.0, rule.priority)),
        _ => None,
    };
    let adds: Vec<(u64, u16)> = net.changes(before).into_iter().filter_map(added).collect();
    let label = adds.iter().position(|add| *add == (4, 50_000)).expect("the label rule is installed again");
    assert!(adds[label..].contains(&(1, 30_000)), "{adds:?}");
    assert_eq!(ways(&mut net), FOUR_WAYS);
}

#[test]
fn rules_that_somebody_took_out_are_there_again_after_an_audit() {
    let mut net = four_with(Settings { epoch: 5, ..Settings::default() }, &[1, 2]);
    opened(&mut net);
    let before = net.cookies();
    let kinds = [8_u64, 9, 10];
    for id in 1..=5 {
        let switch = net.switch(id);
        switch.rules.retain(|(rule, _)| !kinds.contains(&(rule.cookie >> 44 & 15)));
        let kept: Vec<Rule> = switch.rules.iter().map(|(rule, _)| rule.clone()).collect();
        for kind in kinds {
            let slice = CookieSlice { value: 0x5745 << 48 | kind << 44, mask: 0xffff_f000_0000_0000 };
            let found: Vec<Rule> = kept.iter().filter(|rule| slice.has(rule.cookie)).cloned().collect();
            net.tell(|c, now, out| {
                weft_control::Controller::rules_read(c, now, SwitchId(id), slice, &found, out);
            });
        }
    }
    net.run(Duration::from_ms(60));
    assert_eq!(net.cookies(), before);
    assert!(net.counter("rules_repaired") > 50);
    assert_eq!(ways(&mut net), FOUR_WAYS);
}

#[test]
fn a_switch_that_connects_again_and_again_keeps_no_host_waiting() {
    let mut net = four_opened(&[1, 2]);
    start_again(&mut net, 9);
    // The ports to which rules of switch 3 send labels are host ports now.
    let wires = net.wires();
    net.connect(SwitchId(3));
    for _ in 0..75 {
        net.run(Duration::from_secs(1));
        net.disconnect(SwitchId(5));
        net.connect(SwitchId(5));
    }
    let ports = wires.iter().flat_map(|&(a, b)| [a, b]).filter(|at| at.switch == SwitchId(3));
    let guarded = |at: &SwitchPort| {
        let rules = &net.switches[&SwitchId(3)].rules;
        rules.iter().any(|(rule, _)| rule.priority == 55_000 && rule.matches.in_port == Some(at.port))
    };
    let ports: Vec<SwitchPort> = ports.collect();
    assert!(!ports.is_empty() && ports.iter().all(guarded), "ports wait for a switch that is gone");
}

#[test]
fn rules_are_replaced_although_what_they_send_over_was_confirmed_late() {
    let mut net = four_opened(&[1, 2]);
    start_again(&mut net, 9);
    net.switch(4).rules.retain(|(rule, _)| !is_back(rule));
    let found: BTreeSet<u64> = net.cookies().iter().map(|(_, cookie)| *cookie).filter(is_flow).collect();
    net.connect_all(1..=5);
    // It installs rules but does not confirm them.
    net.switch(4).is_mute = true;
    net.wire_all(net.wires());
    net.run(Duration::from_secs(6));
    net.switch(4).is_mute = false;
    for _ in 0..10 {
        net.run(Duration::from_secs(1));
        ways(&mut net);
    }
    let left = net.cookies().iter().filter(|(_, cookie)| found.contains(cookie)).count();
    assert_eq!(left, 0, "rules of the earlier run, whose removal would go unnoticed");
    assert_eq!(ways(&mut net), FOUR_WAYS);
}

#[test]
fn a_guard_whose_removal_was_lost_with_the_connection_is_removed_at_once() {
    let mut net = four_opened(&[1, 2]);
    let at = net.wires().into_iter().flat_map(|(a, b)| [a, b]).find(|at| at.switch == SwitchId(4)).unwrap();
    net.disconnect(SwitchId(4));
    let mut rules = net.switch(4).rules.iter().map(|(rule, _)| rule);
    let guard = rules.find(|rule| rule.priority == 45_000).unwrap().clone();
    let label = Mac::from_bits(0x0657 << 32);
    let labels = Match { eth_dst: Some((label, Mac::from_bits(0xffff << 32))), ..Match::ALL };
    let (cookie, matches) =
        (0x5745_8001_0000_0000 | u64::from(at.port.0), Match { in_port: Some(at.port), ..labels });
    net.add_rule(4, Rule { cookie, priority: 55_000, matches, ..guard });
    net.connect(SwitchId(4));
    net.run(Duration::from_ms(100));
    assert_eq!(ways(&mut net), FOUR_WAYS);
}

/// Whether a rule of switch 4 forwards a label to switch 1.
fn is_back(rule: &Rule) -> bool {
    let is_label = rule.priority == 50_000 && rule.cookie >> 44 & 15 == 10;
    is_label && rule.actions[0] == RuleAction::Output(PortNo(1))
}

/// Whether a cookie belongs to a flow's rule.
fn is_flow(cookie: &u64) -> bool {
    cookie >> 48 == 0x5745 && cookie >> 44 & 15 >= 13
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn whatever_rules_are_found_they_do_no_harm(
        rules in prop::collection::vec((any::<u64>(), 0..9_u8, any::<u64>(), any::<u16>(), 0..12_u32), 0..40),
    ) {
        let mut net = four_opened(&[1, 2]);
        start_again(&mut net, 9);
        let macs = [net.hosts[0].mac, net.hosts[1].mac];
        for (number, (bits, priority, mac, label, port)) in rules.into_iter().enumerate() {
            let priority = [50_000, 30_000, 25_000, 20_000, 10_000, 55_000, 45_000, 0, 9][usize::from(priority)];
            let label = Mac::from_bits(0x0657 << 32 | u64::from(label) << 6 | mac & 0x7ff);
            let to = if mac % 3 == 0 { label } else { macs[mac as usize % 2] };
            let actions = [RuleAction::SetDestination(label), RuleAction::Output(PortNo(port))];
            // Unused ports, so that no existing rule is replaced.
            let matches = Match { in_port: Some(PortNo(40 + number as u32)), ..Match::to(to) };
            let (idle_timeout_s, notify_removed) = (0, true);
            let cookie = 0x5745 << 48 | bits & ((1 << 48) - 1);
            let rule = Rule { cookie, priority, matches, actions: actions.into_iter().collect(), idle_timeout_s, notify_removed };
            net.add_rule(1 + number as u64 % 5, rule);
        }
        connect_all(&mut net, 4);
        keeps_ways(&mut net, 70);
        let strange = net.switches.values().flat_map(|switch| &switch.rules);
        prop_assert_eq!(strange.filter(|(rule, _)| rule.matches.in_port >= Some(PortNo(40))).count(), 0);
    }
}
