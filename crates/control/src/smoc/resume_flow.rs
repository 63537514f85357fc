//! Creating flows, connections and routes from rules found in switches.

use crate::clock::Time;
use weft_wire::EtherType;
use weft_wire::mptcp::Version;

use super::install::Draft;
use super::rules::claim_of;
use super::state::Smoc;
use super::tcp::MAX_SUBFLOWS;
use crate::command::Command;
use crate::connections::{INITIATOR, LISTENER};
use crate::cookie::{Cookie, FlowCookie, Part, flow_direction};
use crate::flows::{Key, State};
use crate::packet::End;
use crate::routes::From;
use crate::rule::{Match, Rule, RuleAction, RuleChange, priority};
use crate::slab::{Handle, NONE};
use crate::transactions::Resumed;

/// A found rule of a flow or a route, and where it leads.
#[derive(Debug)]
pub(super) struct Found<'a> {
    /// The switch it is in.
    pub switch: u32,
    pub rule: &'a Rule,
    /// The station it leads to.
    pub to: u32,
    /// The path it takes.
    pub path: u32,
}

impl Smoc {
    /// Takes over the flow of a rule. `None` if the rule is inconsistent.
    pub(super) fn resume_flow(
        &mut self,
        now: Time,
        found: &Found,
        out: &mut Vec<Command>,
    ) -> Option<Resumed> {
        let &Found { switch, rule, to, path } = found;
        let direction = flow_direction(rule.cookie)?;
        let Match { in_port, eth_src, ip_src, ip_dst, tcp_src, tcp_dst, .. } = rule.matches;
        let ends = [End { address: ip_src?, port: tcp_src? }, End { address: ip_dst?, port: tcp_dst? }];
        let from = self.station_at(now, switch, eth_src?, in_port?)?;
        let (mut stations, mut ends) = ([from, to], ends);
        if direction == 1 {
            stations.reverse();
            ends.reverse();
        }
        let key = Key::new(stations, ends);
        let (flow, direction) = match self.flows.find(&key) {
            Some(found) => (found.flow, direction ^ found.direction),
            None => (self.insert_found(now, key, rule)?, direction),
        };
        if self.flows.slab[flow].path == NONE {
            // With a second set, both directions now share the path of the rule that was read first.
            if !self.put_both_on(now, flow, path, out) {
                return None;
            }
            if self.flows.slab[flow].state.has(State::DORMANT) {
                self.dequeue(flow);
            }
        }
        self.flows.slab[flow].state.set(State::RULES[direction], true);
        Some(Resumed::Flow(self.flows.slab.handle(flow)))
    }

    /// Adds a flow with its role in a connection.
    fn insert_found(&mut self, now: Time, key: Key, rule: &Rule) -> Option<u32> {
        let port = self.net.stations.slab[key.stations[0]].port;
        let limits = &self.net.settings.limits;
        let (flows, per_port) = (limits.flows, limits.flows_per_port);
        if self.flows.slab.len() >= flows || self.net.port_use(port).flows as usize >= per_port {
            return None;
        }
        let flow = self.add_flow(now, key, port, 0);
        self.net.counters.flows_resumed += 1;
        // A flow whose handshake was still being watched has no verified role.
        let is_copied = rule.actions.iter().any(|step| matches!(step, RuleAction::Controller { .. }));
        if let Some(Cookie::Flow(FlowCookie { part, .. })) = Cookie::read(rule.cookie)
            && !is_copied
        {
            self.join_found(now, flow, part);
        }
        Some(flow)
    }

    /// Adds a flow with this role in its cookie to its connection. Only flows between the same two stations share a
    /// connection: others would have to be verified.
    fn join_found(&mut self, now: Time, flow: u32, part: Part) {
        let (number, by_listener) = match part {
            Part::Plain => return,
            Part::First(number) => (number, false),
            Part::Join(number, by_listener) => (number, by_listener),
        };
        let key = self.flows.slab[flow].key;
        let mut pair = key.stations;
        pair.sort_unstable();
        let known = self.resumption.connections.get(&(pair, number)).copied();
        let known = known.filter(|&connection| self.connections.slab.find(connection).is_some());
        let connection = known.map_or_else(
            || {
                let sides = if by_listener { [1, 0] } else { [INITIATOR, LISTENER] };
                let stations = sides.map(|side| self.net.stations.slab.handle(key.stations[side]));
                let addresses = sides.map(|side| key.address(side));
                let connection = self.connections.insert(now, Version::V1, stations, addresses);
                self.connections.slab[connection].established = true;
                self.net.counters.connections_resumed += 1;
                let handle = self.connections.slab.handle(connection);
                self.resumption.connections.insert((pair, number), handle);
                connection
            },
            |connection| connection.index,
        );
        if self.connections.slab[connection].confirmed >= MAX_SUBFLOWS {
            return;
        }
        let part = match part {
            Part::Join(..) => Part::Join(connection, by_listener),
            _ => Part::First(connection),
        };
        self.enter_connection(flow, connection, part);
        self.confirm(flow);
    }

    /// The only connection between two stations that was created from rules and has no known tokens, and the side of the
    /// second station.
    pub(super) fn found_between(&self, opener: Handle, other: Handle) -> Option<(u32, usize)> {
        let mut pair = [opener.index, other.index];
        pair.sort_unstable();
        let found = self.resumption.connections.range((pair, 0)..=(pair, u32::MAX));
        let mut found = found.filter_map(|(_, &handle)| {
            let connection = self.connections.slab.find(handle)?;
            let tokens = [INITIATOR, LISTENER].map(|side| connection.token(side));
            let side = connection.stations.iter().position(|&station| station == other)?;
            (tokens == [None; 2]).then_some((handle.index, side))
        });
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// Takes over the route of a rule. `None` if the rule is inconsistent.
    pub(super) fn resume_route(
        &mut self,
        now: Time,
        found: &Found,
        out: &mut Vec<Command>,
    ) -> Option<Resumed> {
        let &Found { switch, rule, to, path } = found;
        let from = match rule.priority {
            priority::STATION => From::Switch(switch),
            priority::CLAIM => {
                let (port, mac, address, kind) = claim_of(&rule.matches)?;
                let station = self.station_at(now, switch, mac, port).filter(|&station| station != to)?;
                // Do not evict another address: its routes would release paths that other rules are about to use.
                let is_nobodys = self.net.stations.with_address(address).is_none();
                if is_nobodys && self.net.stations.has_room_for_address(station) {
                    self.net.stations.add_address(station, address);
                }
                // Another found rule may have named another owner.
                let is_of = |address, station| self.net.stations.with_address(address) == Some(station);
                if !is_of(address, station) || kind.about().is_some_and(|about| !is_of(about, to)) {
                    return None;
                }
                From::Claim { station, address, kind }
            }
            _ => {
                let ports = &self.net.topology.switches[switch as usize].ports;
                let &port = ports.get(&rule.matches.in_port?)?;
                From::PortTcp { port, six: rule.matches.eth_type? == EtherType::IPV6.0 }
            }
        };
        if let Some(route) = self.routes.find(from, to) {
            return Some(Resumed::Route(self.routes.slab.handle(route)));
        }
        if self.routes.slab.len() >= self.net.settings.limits.flows {
            return None;
        }
        let route = self.enter_route(now, from, switch, to, path, out)?;
        self.routes.slab[route].installing = false;
        Some(Resumed::Route(self.routes.slab.handle(route)))
    }

    /// Adds the current rules of a flow, replacing the found ones.
    pub(super) fn draft_flow(&mut self, draft: &mut Draft, flow: Handle) {
        let Some(entry) = self.flows.slab.find(flow).filter(|entry| entry.path != NONE) else { return };
        let state = entry.state;
        for direction in [1, 0] {
            if state.has(State::RULES[direction]) {
                let (switch, rule) = self.flow_rule(flow.index, direction);
                self.draft_rule(draft, switch, RuleChange::Add(rule));
            }
        }
    }

    /// Adds the current rule of a route, replacing the found one.
    pub(super) fn draft_found_route(&mut self, draft: &mut Draft, route: Handle) {
        if self.routes.slab.find(route).is_some() {
            let (switch, rule) = self.route_rule(route.index);
            self.draft_rule(draft, switch, RuleChange::Add(rule));
        }
    }
}
