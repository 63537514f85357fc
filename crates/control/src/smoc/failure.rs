//! Switches, ports and cables that come and go: what goes over them is moved, what they have forgotten is put
//! in again.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use super::Smoc;
use super::install::Draft;
use super::rules::{Changes, base, guard};
use crate::clock::Time;
use crate::command::Command;
use crate::cookie::Cookie;
use crate::flows::{State, by};
use crate::ids::{PortNo, SwitchId};
use crate::network::at_once;
use crate::routes;
use crate::rule::{Match, Rule, RuleChange};
use crate::topology::Change;
use crate::transactions::Purpose;

impl Smoc {
    /// A switch has connected: it is made to have the rules that it should have.
    pub(super) fn connect(
        &mut self,
        now: Time,
        id: SwitchId,
        ports: &[PortNo],
        cookies: &[u64],
        out: &mut Vec<Command>,
    ) {
        let Some((switch, mut change)) = self.net.topology.switch_up(now, id, ports) else {
            self.net.counters.switches_refused += 1;
            return;
        };
        // Its guards are among the rules that it should have.
        change.ports.retain(|&port| self.net.topology.ports[port as usize].switch != switch);
        self.changed(now, &change, out);
        let mut expected = base();
        expected.extend(self.guards(switch));
        let constant = expected.len();
        expected.extend(self.rules_at(switch));
        let found: BTreeSet<u64> =
            cookies.iter().copied().filter(|&cookie| Cookie::is_ours(cookie)).collect();
        let wanted: BTreeSet<u64> = expected.iter().map(|rule| rule.cookie).collect();
        let mut draft = Draft::new(Purpose::Other);
        for (number, rule) in expected.into_iter().enumerate() {
            if !found.contains(&rule.cookie) {
                self.net.counters.rules_missing += u64::from(number >= constant);
                self.draft_rule(&mut draft, switch, RuleChange::Add(rule));
            }
        }
        for &cookie in found.difference(&wanted) {
            self.net.counters.rules_stale += 1;
            let change = RuleChange::Remove { cookie, matches: Match::ALL };
            self.draft_rule(&mut draft, switch, change);
        }
        self.submit(now, draft, out);
        self.stop_stale_copies(switch, out);
    }

    /// The connection to a switch is gone. It may forward as before, so what ends there stays as it is, and what
    /// goes through it is moved only where there is another path.
    pub(super) fn disconnect(&mut self, now: Time, id: SwitchId, out: &mut Vec<Command>) {
        let Some(switch) = self.net.topology.switch_down(id) else { return };
        self.budget.forget(switch);
        for number in self.transactions.waiting_for(switch) {
            self.refused(now, number, id, "the connection is gone", out);
        }
        self.sets.clear(&mut self.paths);
        let touched = |path: &crate::paths::Path| path.switches.contains(&switch);
        let affected: Vec<u32> =
            self.paths.slab.iter().filter(|(_, path)| touched(path)).map(|(index, _)| index).collect();
        for index in affected {
            if self.paths.slab.get(index).is_none() {
                continue;
            }
            // What it still has will be known when it is back.
            let path = &mut self.paths.slab[index];
            path.installed = false;
            let last = path.switches.len() - 1;
            if path.switches[0] != switch && path.switches[last] != switch {
                self.move_away(now, index, false, out);
            }
        }
        let ports: Vec<u32> = self.net.topology.switches[switch as usize].ports.values().copied().collect();
        for port in ports {
            for station in self.net.stations.at_port(port).to_vec() {
                self.net.stations.slab[station].installed = false;
            }
        }
    }

    /// Ports, cables or both have changed.
    pub(super) fn changed(&mut self, now: Time, change: &Change, out: &mut Vec<Command>) {
        self.net.count(change);
        if change.paths {
            self.sets.clear(&mut self.paths);
        }
        for &cable in &change.cut {
            self.cut(now, cable, out);
        }
        if change.made > 0 {
            self.spread_later(now);
        }
        let mut changes = Changes::new();
        let mut ports = change.ports.clone();
        ports.sort_unstable();
        ports.dedup();
        for port in ports {
            let entry = &self.net.topology.ports[port as usize];
            let (switch, rule) = (entry.switch, guard(entry.number));
            if self.net.topology.leads_to_switch(port) {
                let RuleChange::Remove { cookie, matches } = super::rules::removal(&rule) else { continue };
                self.net.change(&mut changes, switch, RuleChange::Remove { cookie, matches });
                // What was heard there came through another switch.
                for station in self.net.stations.at_port(port).to_vec() {
                    self.detach_station(now, station, out);
                    self.net.stations.remove(station);
                }
            } else {
                self.net.change(&mut changes, switch, RuleChange::Add(rule));
            }
        }
        at_once(changes, out);
    }

    /// A cable is no more: whatever goes over it is moved, or removed so that its next packet asks.
    fn cut(&mut self, now: Time, cable: u32, out: &mut Vec<Command>) {
        let over = |path: &crate::paths::Path| path.cables.contains(&cable);
        let affected: Vec<u32> =
            self.paths.slab.iter().filter(|(_, path)| over(path)).map(|(index, _)| index).collect();
        for path in affected {
            self.move_away(now, path, true, out);
            // Who used it is gone; its labels go without waiting.
            if self.paths.slab.get(path).is_some_and(|path| path.labels.is_some()) {
                let was = self.paths.unlabel(path);
                at_once(self.path_removals(&was), out);
            }
        }
    }

    /// Gives everything on a path another one. What finds none is removed where `broken`, and left alone
    /// otherwise.
    fn move_away(&mut self, now: Time, path: u32, broken: bool, out: &mut Vec<Command>) {
        let Some(entry) = self.paths.slab.get(path) else { return };
        let flows: Vec<u32> = entry.flows.iter(by::PATH, &self.flows.slab).collect();
        for flow in flows {
            let moved = self.choose(flow).is_some_and(|other| {
                debug_assert_ne!(other, path, "a path over what is gone");
                self.move_flow(now, flow, other, out)
            });
            if !moved && broken {
                self.net.counters.flows_cut += 1;
                let mut changes = Changes::new();
                self.put_to_sleep(now, flow, &mut changes, out);
                at_once(changes, out);
            }
        }
        let Some(entry) = self.paths.slab.get(path) else { return };
        let routes: Vec<u32> = entry.routes.iter(routes::by::PATH, &self.routes.slab).collect();
        for route in routes {
            let moved = self.move_route(now, route, out);
            if !moved && broken {
                let mut changes = Changes::new();
                self.drop_route(now, route, &mut changes, out);
                at_once(changes, out);
            }
        }
    }

    /// Puts a route on the path that is the shortest now. `false` where there is none.
    fn move_route(&mut self, now: Time, route: u32, out: &mut Vec<Command>) -> bool {
        let (from, to, before) = {
            let entry = &self.routes.slab[route];
            (entry.switch, entry.to, entry.path)
        };
        let there = self.net.stations.slab[to].switch;
        // As when it was made: the path is that of the two in the order of the first frame, either will do.
        let Some(path) = self.set(from, there).first().copied() else { return false };
        if !self.label(now, path, out) {
            return false;
        }
        self.paths.slab[before].routes.remove(routes::by::PATH, &mut self.routes.slab, route);
        self.paths.unused(now, before);
        if self.put_route_on(now, route, path, out) {
            let held = self.transactions.leave_route(route);
            let mut draft = Draft::new(Purpose::Other).holding(held);
            self.draft_route(&mut draft, route);
            self.submit(now, draft, out);
        }
        true
    }

    /// The rules that keep labels out of a switch.
    fn guards(&self, switch: u32) -> Vec<Rule> {
        let ports = self.net.topology.switches[switch as usize].ports.iter();
        let open = ports.filter(|&(_, &port)| !self.net.topology.leads_to_switch(port));
        open.map(|(&number, _)| guard(number)).collect()
    }

    /// The rules of stations, paths, flows and routes that a switch should have.
    fn rules_at(&self, switch: u32) -> Vec<Rule> {
        let mut rules = Vec::new();
        let here = |(at, rule): (u32, Rule)| (at == switch).then_some(rule);
        for (station, entry) in self.net.stations.slab.iter() {
            if entry.switch == switch && entry.asked {
                rules.push(self.station_rule(station));
            }
        }
        for (_, path) in self.paths.slab.iter() {
            if path.asked && path.switches.contains(&switch) {
                rules.extend(self.path_rules(path).into_iter().filter_map(here));
            }
        }
        for (flow, entry) in self.flows.slab.iter() {
            for direction in [0, 1] {
                let station = entry.key.stations[direction];
                if entry.state.has(State::RULES[direction])
                    && self.net.stations.slab[station].switch == switch
                {
                    rules.extend(here(self.flow_rule(flow, direction)));
                }
            }
        }
        let starts = self.routes.slab.iter().filter(|(_, route)| route.switch == switch);
        rules.extend(starts.filter_map(|(route, _)| here(self.route_rule(route))));
        rules
    }

    /// Ends copies that went on because the switch was not connected.
    fn stop_stale_copies(&mut self, switch: u32, out: &mut Vec<Command>) {
        let mut stale: SmallVec<[(u32, usize); 8]> = SmallVec::new();
        for (flow, entry) in self.flows.slab.iter() {
            for direction in [0, 1] {
                let station = entry.key.stations[direction];
                let copies = entry.state.has(State::COPIES[direction]) && !entry.state.has(State::HANDSHAKE);
                if copies && self.net.stations.slab[station].switch == switch {
                    stale.push((flow, direction));
                }
            }
        }
        for (flow, direction) in stale {
            self.stop_copying(flow, direction, out);
        }
    }
}
