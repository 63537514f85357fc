//! The rules of a switch that do not depend on stations.

use smallvec::smallvec;
use weft_wire::{EtherType, Mac};

use super::tree::Tree;
use crate::clock::Time;
use crate::cookie::Cookie;
use crate::ids::PortNo;
use crate::network::Network;
use crate::role::Role;
use crate::rule::{Actions, Match, Rule, RuleAction, priority};

/// The rules of a switch: packet-ins and flooding.
pub(super) fn rules(net: &Network, tree: &Tree, switch: u32, now: Time) -> Vec<Rule> {
    let up: Actions = smallvec![RuleAction::Controller { max_len: u16::MAX }];
    let link_local = (Mac([0x01, 0x80, 0xc2, 0, 0, 0]), Mac([0xff, 0xff, 0xff, 0xff, 0xff, 0xf0]));
    let lldp = Match { eth_type: Some(EtherType::LLDP.0), ..Match::ALL };
    let to_neighbour = Match { eth_dst: Some(link_local), ..Match::ALL };
    let mut rules = vec![
        Rule::lasting(Cookie::Base(0), priority::MISS, Match::ALL, up.clone()),
        Rule::lasting(Cookie::Base(1), priority::LLDP, lldp, up),
        Rule::lasting(Cookie::Base(3), priority::LINK_LOCAL, to_neighbour, Actions::new()),
    ];
    for (&number, &port) in &net.topology.switches[switch as usize].ports {
        let from = Match { in_port: Some(number), ..Match::ALL };
        let cable = net.topology.ports[port as usize].cable;
        if tree.has(cable) {
            let ports = flood_ports(net, tree, switch, Some(number), now);
            let actions = ports.into_iter().map(RuleAction::Output).collect();
            rules.push(Rule::lasting(Cookie::Flood(number.0), priority::FLOOD, from, actions));
        } else if net.topology.leads_to_switch(port) {
            rules.push(Rule::lasting(Cookie::Guard(number.0), priority::GUARD, from, Actions::new()));
        }
    }
    rules
}

/// The output ports at a switch for a flooded frame from port `from`.
pub(super) fn flood_ports(
    net: &Network,
    tree: &Tree,
    switch: u32,
    from: Option<PortNo>,
    now: Time,
) -> Vec<PortNo> {
    let ports = net.topology.switches[switch as usize].ports.iter();
    let open = ports.filter(|&(&number, &port)| {
        let cable = net.topology.ports[port as usize].cable;
        let role = net.topology.role(port, now);
        // An unsettled port cannot make a loop: frames from its other end are not flooded.
        let hosts = matches!(role, Role::Host | Role::Settling);
        Some(number) != from && (tree.has(cable) || hosts)
    });
    open.map(|(&number, _)| number).collect()
}
