//! The provisioner: its groups have exactly the working paths, whichever links fail.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use weft_control::tag_forward::{FlowChange, FlowTarget, GroupId, NoRule, Provisioner, Way};
use weft_fabric::gates::{GatePlan, Layer, Numbering, Steering};
use weft_fabric::{Fabric, LinkSpec, build};
use weft_units::{HostId, LinkId, NodeId};

fn address(host: HostId) -> IpAddr {
    Ipv4Addr::from_bits(0x0a00_0001 + host.0).into()
}

fn with_routers(k: u32) -> Fabric {
    let link = LinkSpec::default();
    build::fat_tree_with_routers(k, k / 2, &link, &link, &link).unwrap()
}

fn provisioner(fabric: &Fabric) -> Provisioner {
    let plan = GatePlan::of(fabric, &Numbering::default()).unwrap();
    Provisioner::new(fabric, plan, |host| vec![address(host)])
}

/// The groups and rules sent to switches.
#[derive(Clone, Default)]
struct Sent {
    groups: BTreeMap<(NodeId, GroupId), Vec<Way>>,
    rules: BTreeMap<(NodeId, HostId), (u32, FlowTarget)>,
}

impl Sent {
    fn of(provisioner: &Provisioner) -> Self {
        let mut sent = Self::default();
        for node in provisioner.sources() {
            provisioner.provision(node).into_iter().for_each(|change| sent.take(node, change));
        }
        sent
    }

    fn take(&mut self, node: NodeId, change: FlowChange) {
        match change {
            FlowChange::SetGroup { id, ways } => drop(self.groups.insert((node, id), ways.to_vec())),
            FlowChange::Add(rule) => {
                let IpAddr::V4(to) = rule.matches.destination().addr() else { panic!("{rule:?}") };
                assert_eq!(rule.matches.destination().prefix_len(), 32);
                let host = HostId(to.to_bits() - 0x0a00_0001);
                let before = self.rules.insert((node, host), (rule.action.down, rule.action.to));
                assert_eq!(before, None);
            }
            other => panic!("{other:?}"),
        }
    }

    /// The possible tags for frames from a switch to a host.
    fn steerings(&self, node: NodeId, host: HostId) -> BTreeSet<(u32, u32, u32)> {
        let Some((down, to)) = self.rules.get(&(node, host)) else { return BTreeSet::new() };
        let ways = match to {
            FlowTarget::Way(way) => vec![*way],
            FlowTarget::Group(id) => self.groups[&(node, *id)].clone(),
        };
        ways.into_iter().map(|way| (way.gate.0, way.up, *down)).collect()
    }
}

/// Whether all links of a route work, except those to servers.
fn works(fabric: &Fabric, plan: &GatePlan, at: NodeId, steering: Steering, down: &[LinkId]) -> bool {
    plan.route(at, steering).unwrap().iter().all(|hop| {
        let link = fabric.link_at(hop.switch, hop.port).unwrap();
        let to_server = fabric.node(fabric.link(link).to).is_host()
            && plan.switch(hop.switch).is_some_and(|gates| gates.layer == Layer::Edge);
        to_server || !down.contains(&link) && !down.contains(&link.reverse())
    })
}

/// Checks that each source has exactly the plan's working paths to each host.
fn has_all_ways(fabric: &Fabric, plan: &GatePlan, sent: &Sent, down: &[LinkId]) {
    let hosts = || (0..fabric.host_count() as u32).map(HostId);
    for source in hosts() {
        for destination in hosts() {
            let choices = 0..plan.choices(source, destination);
            let all = choices.filter_map(|choice| plan.steering(source, destination, choice));
            let alive = all.filter(|(at, steering)| works(fabric, plan, *at, *steering, down));
            let mut by_switch: BTreeMap<NodeId, BTreeSet<_>> = BTreeMap::new();
            for (at, steering) in alive {
                by_switch.entry(at).or_default().insert((steering.gate.0, steering.up, steering.down));
            }
            let mut nodes: Vec<NodeId> = plan.gates_of(source).map(|(node, _)| node).collect();
            nodes.dedup();
            if plan.choices(source, destination) == 0 {
                continue;
            }
            for node in nodes {
                let expected = by_switch.remove(&node).unwrap_or_default();
                assert_eq!(
                    sent.steerings(node, destination),
                    expected,
                    "{source} to {destination}, {down:?}"
                );
            }
        }
    }
}

#[test]
fn every_pair_has_every_way_of_the_plan_outside_hosts_too() {
    for k in [2, 4, 6] {
        let fabric = with_routers(k);
        let provisioner = provisioner(&fabric);
        has_all_ways(&fabric, provisioner.plan(), &Sent::of(&provisioner), &[]);
    }
}

#[test]
fn without_any_one_cable_the_ways_over_it_are_gone_and_come_back_and_rules_stay() {
    let fabric = with_routers(4);
    let mut provisioner = provisioner(&fabric);
    let plan = provisioner.plan().clone();
    let at_first = Sent::of(&provisioner);
    for cable in (0..fabric.cable_count() as u32).map(|cable| LinkId(2 * cable)) {
        let mut sent = at_first.clone();
        let changes = provisioner.link_changed(cable.reverse(), false);
        changes.into_iter().for_each(|(node, change)| sent.take(node, change));
        assert_eq!(sent.rules, at_first.rules);
        assert_eq!(provisioner.link_changed(cable, false), [], "one direction is enough");
        has_all_ways(&fabric, &plan, &sent, &[cable]);
        assert_eq!(provisioner.link_changed(cable, true), [], "both directions must work again");
        let changes = provisioner.link_changed(cable.reverse(), true);
        changes.into_iter().for_each(|(node, change)| sent.take(node, change));
        assert_eq!(sent.groups, at_first.groups);
    }
}

#[test]
fn only_the_sources_that_a_failure_concerns_are_updated() {
    let fabric = with_routers(4);
    let mut provisioner = provisioner(&fabric);
    // Edge 0 of pod 0 loses its first uplink: its paths to all others change, and theirs to it.
    let link = fabric.link_named("e0-a0").unwrap();
    let mut changes: BTreeMap<String, usize> = BTreeMap::new();
    for (node, _) in provisioner.link_changed(link, false) {
        *changes.entry(fabric.node(node).name.clone()).or_default() += 1;
    }
    // Seven edges, and the four routers at the cores of the first group.
    assert_eq!(changes["e0"], 7 + 4);
    assert!((1..8).all(|edge| changes[&format!("e{edge}")] == 1));
    assert_eq!((changes.get("c0"), changes.get("c1"), changes.get("c2")), (Some(&1), Some(&1), None));
}

#[test]
fn a_cable_that_is_down_at_the_start_is_no_way() {
    let mut builder = with_routers(4).edit();
    let link = with_routers(4).link_named("a0-c0").unwrap();
    builder.fail("a0", "c0").unwrap();
    let fabric = builder.build().unwrap();
    let provisioner = provisioner(&fabric);
    has_all_ways(&fabric, provisioner.plan(), &Sent::of(&provisioner), &[link]);
}

#[test]
fn the_rule_of_a_pair_does_what_the_rule_of_its_destination_does() {
    let fabric = with_routers(4);
    let provisioner = provisioner(&fabric);
    let (plan, sent) = (provisioner.plan().clone(), Sent::of(&provisioner));
    let hosts = || (0..fabric.host_count() as u32).map(HostId);
    for node in fabric.switches() {
        for (from, to) in hosts().flat_map(|from| hosts().map(move |to| (from, to))) {
            let pair = provisioner.pair(node, address(from), address(to));
            if !plan.gates_of(from).any(|(attached, _)| attached == node) {
                assert_eq!(pair, Err(NoRule::Elsewhere(address(from))));
            } else if plan.choices(from, to) == 0 {
                assert_eq!(pair, Err(NoRule::Unrelated { from: address(from), to: address(to) }));
            } else {
                let rule = pair.unwrap();
                assert_eq!((rule.action.down, rule.action.to), sent.rules[&(node, to)]);
                assert_eq!(rule.matches.to_string(), format!("{}/32 -> {}/32", address(from), address(to)));
            }
        }
    }
    let (edge, stranger) = (fabric.find("e0").unwrap(), "192.0.2.1".parse().unwrap());
    assert_eq!(provisioner.pair(edge, stranger, address(HostId(0))), Err(NoRule::Unknown(stranger)));
    assert_eq!(provisioner.pair(edge, address(HostId(0)), stranger), Err(NoRule::Unknown(stranger)));
}
