//! Tracing where rules found in switches lead.

use rustc_hash::FxHashMap;
use weft_wire::EtherType;

use super::rules::{claim_of, tcp};
use super::state::Smoc;
use crate::cookie::flow_direction;
use crate::ids::PortNo;
use crate::label::Label;
use crate::rule::{Match, Rule, RuleAction, priority};
use crate::slab::NONE;

/// The destination of a rule.
#[derive(Debug)]
pub(super) enum RuleTarget {
    /// The destination is not known yet.
    Unknown,
    /// The rule leads nowhere.
    Wrong,
    /// The rule leads to a station.
    Leads(RulePath),
}

/// The path of the frames that a rule forwards.
#[derive(Clone, Debug)]
pub(super) struct RulePath {
    pub switches: Vec<u32>,
    pub cables: Vec<u32>,
    pub label: Option<Label>,
    /// The station at its end.
    pub station: u32,
}

impl Smoc {
    /// Paths and directions by their labels.
    pub(super) fn labelled(&self) -> FxHashMap<u32, (u32, usize)> {
        let paths = self.paths.slab.iter();
        let labels = paths.flat_map(|(index, path)| {
            let labels = path.labels.into_iter().flatten().enumerate();
            labels.map(move |(direction, label)| (label.bits(), (index, direction)))
        });
        labels.collect()
    }

    /// Whether a rule drops labels from another switch: its removal was lost with a connection.
    fn is_stale_guard(&self, switch: u32, rule: &Rule) -> bool {
        let ports = &self.net.topology.switches[switch as usize].ports;
        let port = rule.matches.in_port.and_then(|port| ports.get(&port));
        rule.priority == priority::GUARD && port.is_some_and(|&port| self.net.topology.leads_to_switch(port))
    }

    /// Traces a rule of a flow or a route.
    pub(super) fn target_of(
        &self,
        switch: u32,
        rule: &Rule,
        labelled: &FxHashMap<u32, (u32, usize)>,
    ) -> RuleTarget {
        if self.is_stale_guard(switch, rule) {
            return RuleTarget::Wrong;
        }
        let is_known =
            matches!(rule.priority, priority::FLOW | priority::CROWD | priority::CLAIM | priority::STATION);
        let Some((mac, _)) = rule.matches.eth_dst.filter(|_| is_known) else { return RuleTarget::Unknown };
        if !is_sound(rule) || self.is_refuted(switch, rule) {
            return RuleTarget::Wrong;
        }
        let Some((label, mut port)) = departure(rule) else { return RuleTarget::Wrong };
        let topology = &self.net.topology;
        let (mut switches, mut cables) = (vec![switch], Vec::new());
        let Some((label, number)) = label else {
            let station = self.net.stations.with_mac(mac);
            let here = station.filter(|&station| {
                let there = &self.net.stations.slab[station];
                topology.place(there.port).port == port && there.switch == switch
            });
            let leads = |station| {
                RuleTarget::Leads(RulePath {
                    switches: vec![switch],
                    cables: Vec::new(),
                    label: None,
                    station,
                })
            };
            return here.map_or(RuleTarget::Wrong, leads);
        };
        loop {
            let at = switches[switches.len() - 1];
            let Some(&leaves) = topology.switches[at as usize].ports.get(&port) else {
                return RuleTarget::Wrong;
            };
            let entry = &topology.ports[leaves as usize];
            if !entry.up {
                return RuleTarget::Wrong;
            }
            if entry.cable == NONE {
                let may_lead = topology.is_kept(leaves) || topology.leads_to_switch(leaves);
                return if may_lead { RuleTarget::Unknown } else { RuleTarget::Wrong };
            }
            let ends = topology.cable(entry.cable).ends.map(|end| topology.ports[end as usize].switch);
            let next = if ends[0] == at { ends[1] } else { ends[0] };
            if switches.contains(&next) {
                return RuleTarget::Wrong;
            }
            switches.push(next);
            cables.push(entry.cable);
            if topology.switches[next as usize].label == label.end {
                let Some(station) = self.net.stations.with_mac(mac) else { return self.missing(next) };
                let there = &self.net.stations.slab[station];
                return if (there.switch, there.number) == (next, number) {
                    RuleTarget::Leads(RulePath { switches, cables, label: Some(label), station })
                } else {
                    RuleTarget::Wrong
                };
            }
            let left = self.resumption.left.get(&next);
            let left =
                left.and_then(|table| table.get(&(priority::LABEL, label.on_path()))).and_then(departure);
            let own = labelled.get(&label.bits()).and_then(|&(path, direction)| {
                let mut steps = self.paths.slab[path].steps(direction).skip(1);
                let (_, cable) = steps.find(|(switch, _)| *switch == next)?;
                Some(topology.end_at(cable, next))
            });
            match own.or(left.map(|(_, port)| port)) {
                Some(next) => port = next,
                None => return self.missing(next),
            }
        }
    }

    /// Whether a rule forwards a claim of a station that is elsewhere, or a claim to another station's address.
    fn is_refuted(&self, switch: u32, rule: &Rule) -> bool {
        let Some((port, mac, address, _)) = claim_of(&rule.matches) else { return false };
        let claimant = self.net.stations.with_mac(mac);
        let is_elsewhere = claimant.is_some_and(|station| {
            let entry = &self.net.stations.slab[station];
            entry.switch != switch || self.net.topology.place(entry.port).port != port
        });
        let owner = self.net.stations.with_address(address);
        is_elsewhere || owner.is_some() && owner != claimant
    }

    /// The verdict if a switch has no rule for frames sent to it.
    fn missing(&self, switch: u32) -> RuleTarget {
        if self.net.is_up(switch) { RuleTarget::Wrong } else { RuleTarget::Unknown }
    }
}

/// Whether a flow or route rule matches exactly the frames that such rules should.
pub(super) fn is_sound(rule: &Rule) -> bool {
    let found = rule.matches;
    let Some((mac, _)) = found.eth_dst else { return false };
    let is_six = found.eth_type == Some(EtherType::IPV6.0);
    match rule.priority {
        priority::STATION => found == Match::to(mac),
        priority::CROWD => {
            let sound = Match { in_port: found.in_port, eth_dst: Match::to(mac).eth_dst, ..tcp(is_six) };
            found == sound && found.in_port.is_some()
        }
        priority::CLAIM => claim_of(&found).is_some(),
        _ => {
            let Match { in_port, eth_src, ip_src, ip_dst, tcp_src, tcp_dst, .. } = found;
            let eth_dst = Match::to(mac).eth_dst;
            let sound = Match { in_port, eth_src, eth_dst, ip_src, ip_dst, tcp_src, tcp_dst, ..tcp(is_six) };
            let has_all = in_port.is_some() && eth_src.is_some() && tcp_src.is_some() && tcp_dst.is_some();
            let addresses = [ip_src, ip_dst].iter().all(|ip| ip.is_some_and(|ip| ip.is_ipv6() == is_six));
            found == sound && has_all && addresses && flow_direction(rule.cookie).is_some()
        }
    }
}

/// The label that a rule sets, with the station's number, and its output port; `None` for rules with other
/// actions.
pub(super) fn departure(rule: &Rule) -> Option<(Option<(Label, u32)>, PortNo)> {
    let steps = rule.actions.iter().filter(|step| !matches!(step, RuleAction::Controller { .. }));
    let mut steps = steps.copied();
    match (steps.next()?, steps.next(), steps.next()) {
        (RuleAction::Output(port), None, None) => Some((None, port)),
        (RuleAction::SetDestination(mac), Some(RuleAction::Output(port)), None) => {
            Label::of(mac).map(|label| (Some(label), port))
        }
        _ => None,
    }
}
