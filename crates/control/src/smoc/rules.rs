//! The rules that [`Smoc`] installs in switches.

use std::net::IpAddr;

use smallvec::smallvec;

use super::state::Smoc;
use crate::cookie::{Cookie, FlowCookie};
use crate::flows::State;
use crate::ids::{PortNo, SwitchId};
use crate::label::Label;
use crate::packet::End;
use crate::routes::{From, Kind};
use crate::rule::{
    ADVERTISEMENT, Actions, EXACT, Match, Rule, RuleAction, RuleChange, SOLICITATION, priority,
};
use weft_wire::{EtherType, Mac};

const TCP: u8 = 6;
const ICMPV6: u8 = 58;
/// Idle timeout of claim rules in seconds: hosts verify reachability every 15 to 45 seconds (RFC 4861, section 6.3.2), and
/// wait a few more.
const CLAIM_S: u16 = 120;

/// Rule changes, each with its switch.
pub(super) type Changes = Vec<(SwitchId, RuleChange)>;

/// TCP of one address family.
pub(super) fn tcp(six: bool) -> Match {
    Match {
        eth_type: Some(if six { EtherType::IPV6.0 } else { EtherType::IPV4.0 }),
        ip_proto: Some(TCP),
        ..Match::ALL
    }
}

/// Frames of one EtherType.
fn of_type(eth_type: EtherType) -> Match {
    Match { eth_type: Some(eth_type.0), ..Match::ALL }
}

/// A message of neighbour discovery.
fn neighbour(kind: u8) -> Match {
    Match { ip_proto: Some(ICMPV6), icmpv6_type: Some(kind), ..of_type(EtherType::IPV6) }
}

/// A station's claim to its own address, sent to another station, with its own MAC address in every field.
fn claim(port: PortNo, [from, to]: [Mac; 2], address: IpAddr, kind: Kind) -> Match {
    let (message, claimed) = match kind {
        Kind::Arp(_) => (of_type(EtherType::ARP), from),
        Kind::Solicitation(_) => (neighbour(SOLICITATION), from),
        Kind::Answer => (neighbour(ADVERTISEMENT), Mac::default()),
        Kind::Advertisement => (neighbour(ADVERTISEMENT), from),
    };
    Match {
        in_port: Some(port),
        eth_src: Some(from),
        eth_dst: Some((to, EXACT)),
        says: Some((address, claimed)),
        about: kind.about(),
        ..message
    }
}

/// The claim that a rule forwards: ingress port, MAC address, IP address and message; `None` for any other rule,
/// and for claims with an unspecified address.
pub(super) fn claim_of(found: &Match) -> Option<(PortNo, Mac, IpAddr, Kind)> {
    let (port, from, (to, _), (address, claimed)) =
        (found.in_port?, found.eth_src?, found.eth_dst?, found.says?);
    let kind = match (address, found.icmpv6_type, found.about) {
        (IpAddr::V4(_), None, Some(IpAddr::V4(about))) => Kind::Arp(about),
        (IpAddr::V6(_), Some(SOLICITATION), Some(IpAddr::V6(about))) => Kind::Solicitation(about),
        (IpAddr::V6(_), Some(ADVERTISEMENT), None) if claimed == Mac::default() => Kind::Answer,
        (IpAddr::V6(_), Some(ADVERTISEMENT), None) => Kind::Advertisement,
        _ => return None,
    };
    let has_all = !address.is_unspecified() && kind.about().is_none_or(|about| !about.is_unspecified());
    let is_claim = has_all && *found == claim(port, [from, to], address, kind);
    is_claim.then_some((port, from, address, kind))
}

/// The rules that every switch always has.
pub(super) fn base() -> Vec<Rule> {
    let link_local = (Mac([0x01, 0x80, 0xc2, 0, 0, 0]), Mac([0xff, 0xff, 0xff, 0xff, 0xff, 0xf0]));
    let up: Actions = smallvec![RuleAction::Controller { max_len: u16::MAX }];
    let rules = [
        (priority::MISS, Match::ALL, up.clone()),
        (priority::LLDP, of_type(EtherType::LLDP), up.clone()),
        (priority::NO_LABEL, Label::any(), Actions::new()),
        (priority::LINK_LOCAL, Match { eth_dst: Some(link_local), ..Match::ALL }, Actions::new()),
        (priority::ASK, tcp(false), up.clone()),
        (priority::ASK, tcp(true), up.clone()),
        (priority::ASK, of_type(EtherType::ARP), up.clone()),
        (priority::ASK, neighbour(SOLICITATION), up.clone()),
        (priority::ASK, neighbour(ADVERTISEMENT), up),
    ];
    let numbered = (0..).zip(rules);
    numbered
        .map(|(number, (priority, matches, actions))| {
            Rule::lasting(Cookie::Base(number), priority, matches, actions)
        })
        .collect()
}

/// Drops labels from a port that does not lead to a switch.
pub(super) fn guard(port: PortNo) -> Rule {
    let matches = Match { in_port: Some(port), ..Label::any() };
    Rule::lasting(Cookie::Guard(port.0), priority::GUARD, matches, Actions::new())
}

/// The rule that delivers to a station, given the numbers of its switch and itself in labels.
pub(super) fn delivery(end: u32, number: u32, actions: Actions) -> Rule {
    Rule::lasting(Cookie::Station(end, number), priority::LABEL, Label::at_end(end, number), actions)
}

impl Smoc {
    /// The rule that delivers to a station at its switch, for any path.
    pub(super) fn station_rule(&self, station: u32) -> Rule {
        let entry = &self.net.stations.slab[station];
        let port = self.net.topology.ports[entry.port as usize].number;
        let actions = smallvec![RuleAction::SetDestination(entry.mac), RuleAction::Output(port)];
        delivery(self.net.topology.switches[entry.switch as usize].label, entry.number, actions)
    }

    /// The rules of a path's transit switches, in both directions.
    pub(super) fn path_rules(&self, path: &crate::paths::Path) -> Vec<(u32, Rule)> {
        let mut rules = Vec::new();
        for (direction, label) in path.labels.into_iter().flatten().enumerate() {
            let cookie = Cookie::Label(label.bits());
            for (switch, cable) in path.steps(direction).skip(1) {
                let output = RuleAction::Output(self.net.topology.end_at(cable, switch));
                rules.push((
                    switch,
                    Rule::lasting(cookie, priority::LABEL, label.on_path(), smallvec![output]),
                ));
            }
        }
        rules
    }

    /// The removals of those rules. Link ends are not looked up: the links may be gone.
    pub(super) fn path_removals(&self, path: &crate::paths::Path) -> Changes {
        let mut changes = Changes::new();
        for label in path.labels.into_iter().flatten() {
            let cookie = Cookie::Label(label.bits()).bits();
            let inside = path.switches.len().saturating_sub(1).max(1);
            for &switch in path.switches.get(1..inside).unwrap_or_default() {
                self.net.change(
                    &mut changes,
                    switch,
                    RuleChange::Remove { cookie, matches: label.on_path() },
                );
            }
        }
        changes
    }

    /// The actions of a path's first switch on a frame to a station.
    fn departure(&self, path: u32, switch: u32, station: u32) -> Actions {
        let to = &self.net.stations.slab[station];
        let way = &self.paths.slab[path];
        let direction = way.direction_from(switch);
        match (way.labels, way.steps(direction).next()) {
            (Some(labels), Some((_, cable))) => smallvec![
                RuleAction::SetDestination(labels[direction].to(to.number)),
                RuleAction::Output(self.net.topology.end_at(cable, switch)),
            ],
            _ => smallvec![RuleAction::Output(self.net.topology.ports[to.port as usize].number)],
        }
    }

    /// The match of a flow's direction at its ingress switch.
    pub(super) fn flow_match(&self, flow: u32, direction: usize) -> Match {
        let key = &self.flows.slab[flow].key;
        let stations = key.stations.map(|station| &self.net.stations.slab[station]);
        let (from, to) = (stations[direction], stations[1 - direction]);
        let ends: [End; 2] = [key.end(direction), key.end(1 - direction)];
        Match {
            in_port: Some(self.net.topology.ports[from.port as usize].number),
            eth_src: Some(from.mac),
            eth_dst: Some((to.mac, EXACT)),
            ip_src: Some(ends[0].address),
            ip_dst: Some(ends[1].address),
            tcp_src: Some(ends[0].port),
            tcp_dst: Some(ends[1].port),
            ..tcp(ends[0].address.is_ipv6())
        }
    }

    /// The cookie of a flow's direction.
    pub(super) fn flow_cookie(&self, flow: u32, direction: usize) -> u64 {
        let part = self.flows.slab[flow].part;
        let generation = self.flows.slab.handle(flow).generation;
        Cookie::Flow(FlowCookie { index: flow, generation, direction, part }).bits()
    }

    /// The rule of a flow's direction, and its switch.
    pub(super) fn flow_rule(&self, flow: u32, direction: usize) -> (u32, Rule) {
        let entry = &self.flows.slab[flow];
        let from = &self.net.stations.slab[entry.key.stations[direction]];
        let mut actions =
            self.departure(entry.path_of(direction), from.switch, entry.key.stations[1 - direction]);
        if entry.state.has(State::COPIES[direction]) {
            actions.insert(0, RuleAction::Controller { max_len: self.net.settings.copy_bytes });
        }
        let rule = Rule {
            cookie: self.flow_cookie(flow, direction),
            priority: priority::FLOW,
            matches: self.flow_match(flow, direction),
            actions,
            idle_timeout_s: self.net.settings.idle_timeout_s,
            notify_removed: true,
        };
        (from.switch, rule)
    }

    /// The cookie of a route.
    pub(super) fn route_cookie(&self, route: u32) -> u64 {
        Cookie::Route(route, self.routes.slab.handle(route).generation).bits()
    }

    /// The match and priority of a route at its first switch.
    pub(super) fn route_match(&self, route: u32) -> (u16, Match) {
        let entry = &self.routes.slab[route];
        let to = Match::to(self.net.stations.slab[entry.to].mac);
        match entry.from {
            From::Switch(_) => (priority::STATION, to),
            From::PortTcp { port, six } => {
                let in_port = Some(self.net.topology.ports[port as usize].number);
                (priority::CROWD, Match { in_port, eth_dst: to.eth_dst, ..tcp(six) })
            }
            From::Claim { station, address, kind } => {
                let from = &self.net.stations.slab[station];
                let port = self.net.topology.ports[from.port as usize].number;
                let macs = [from.mac, self.net.stations.slab[entry.to].mac];
                (priority::CLAIM, claim(port, macs, address, kind))
            }
        }
    }

    /// The rule of a route, and its switch.
    pub(super) fn route_rule(&self, route: u32) -> (u32, Rule) {
        let entry = &self.routes.slab[route];
        let (priority, matches) = self.route_match(route);
        let idle_timeout_s = match entry.from {
            From::Claim { .. } => self.net.settings.idle_timeout_s.max(CLAIM_S),
            _ => self.net.settings.idle_timeout_s,
        };
        let rule = Rule {
            cookie: self.route_cookie(route),
            priority,
            matches,
            actions: self.departure(entry.path, entry.switch, entry.to),
            idle_timeout_s,
            notify_removed: true,
        };
        (entry.switch, rule)
    }
}
