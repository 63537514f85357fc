//! Comparing a switch's rules with the expected ones: missing rules are installed, unexpected ones are handed to
//! [`super::resume`].

use crate::clock::Time;
use smallvec::SmallVec;

use super::install::Draft;
use super::rules::{Changes, base, guard};
use super::state::Smoc;
use super::table::Table;
use crate::command::{Command, at_once};
use crate::cookie::{CookieSlice, is_own};
use crate::flows::State;
use crate::ids::{PortNo, SwitchId};
use crate::rule::{Rule, RuleChange};
use crate::transactions::Purpose;

impl Smoc {
    /// A switch has connected: missing rules are installed. Unexpected ones stay until it is known whether they are
    /// used.
    pub(super) fn connect(
        &mut self,
        now: Time,
        id: SwitchId,
        ports: &[PortNo],
        rules: &[Rule],
        out: &mut Vec<Command>,
    ) {
        let Some((switch, mut change)) = self.net.topology.switch_up(now, id, ports) else {
            self.net.counters.switches_refused += 1;
            return;
        };
        let own = rules.iter().filter(|rule| is_own(rule.cookie));
        let mut found: Table = own.map(|rule| ((rule.priority, rule.matches), rule.clone())).collect();
        self.begin_resuming(now, switch, &found);
        // Its guards are among its expected rules.
        change.ports.retain(|&port| self.net.topology.ports[port as usize].switch != switch);
        self.changed(now, &change, out);
        let mut expected = base();
        expected.extend(self.guards(switch));
        let constant = expected.len();
        expected.extend(self.rules_at(switch));
        let mut draft = Draft::new(Purpose::Other);
        self.draft_lost(&mut draft, switch, &found);
        for (number, rule) in expected.into_iter().enumerate() {
            if found.remove(&(rule.priority, rule.matches)).as_ref() != Some(&rule) {
                self.net.counters.rules_missing += u64::from(number >= constant);
                self.draft_rule(&mut draft, switch, RuleChange::Add(rule));
            }
        }
        self.submit(now, draft, out);
        self.stop_stale_copies(switch, out);
        self.resume_with(now, switch, found, out);
    }

    /// Checks a connected switch's rules whose cookies are in `slice`: missing ones are installed again.
    pub(super) fn audit(
        &mut self,
        now: Time,
        id: SwitchId,
        slice: CookieSlice,
        rules: &[Rule],
        out: &mut Vec<Command>,
    ) -> usize {
        let Some(switch) = self.net.topology.switch(id).filter(|&switch| self.net.is_up(switch)) else {
            return 0;
        };
        let mut found: Table =
            rules.iter().map(|rule| ((rule.priority, rule.matches), rule.clone())).collect();
        let mut expected = base();
        expected.extend(self.guards(switch));
        expected.extend(self.lasting_at(switch));
        expected.retain(|rule| slice.has(rule.cookie));
        let mut changes = Changes::new();
        for rule in expected {
            if found.remove(&(rule.priority, rule.matches)).as_ref() != Some(&rule) {
                self.net.change(&mut changes, switch, RuleChange::Add(rule));
            }
        }
        let missing = changes.len();
        self.net.counters.rules_repaired += missing as u64;
        at_once(changes, out);
        found.retain(|_, rule| is_own(rule.cookie));
        if !found.is_empty() {
            self.resume_with(now, switch, found, out);
        }
        missing
    }

    /// The rules that drop labels from a switch's host ports.
    fn guards(&self, switch: u32) -> Vec<Rule> {
        let ports = self.net.topology.switches[switch as usize].ports.iter();
        let open = ports.filter(|&(_, &port)| {
            !self.net.topology.leads_to_switch(port) && !self.net.topology.is_kept(port)
        });
        open.map(|(&number, _)| guard(number)).collect()
    }

    /// The expected station and path rules of a switch.
    fn lasting_at(&self, switch: u32) -> Vec<Rule> {
        let mut rules = Vec::new();
        for port in self.net.topology.switches[switch as usize].ports.values() {
            let stations = self.net.stations.at_port(*port).iter();
            let asked = stations.filter(|&&station| self.net.stations.slab[station].asked);
            rules.extend(asked.map(|&station| self.station_rule(station)));
        }
        for (_, path) in self.paths.slab.iter() {
            if path.asked && path.switches.contains(&switch) {
                let here = self.path_rules(path).into_iter().filter(|(at, _)| *at == switch);
                rules.extend(here.map(|(_, rule)| rule));
            }
        }
        rules
    }

    /// The expected station, path, flow and route rules of a switch.
    pub(super) fn rules_at(&self, switch: u32) -> Vec<Rule> {
        let mut rules = self.lasting_at(switch);
        let here = |(at, rule): (u32, Rule)| (at == switch).then_some(rule);
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

    /// Adds the rules of paths and stations that a switch has partly lost: nothing is sent over them until they are
    /// confirmed again.
    fn draft_lost(&mut self, draft: &mut Draft, switch: u32, found: &Table) {
        let lost = |rule: &Rule| found.get(&(rule.priority, rule.matches)) != Some(rule);
        let paths =
            self.paths.slab.iter().filter(|(_, path)| path.installed && path.switches.contains(&switch));
        let paths: Vec<u32> = paths
            .filter(|(_, path)| self.path_rules(path).iter().any(|(at, rule)| *at == switch && lost(rule)))
            .map(|(path, _)| path)
            .collect();
        for path in paths {
            self.paths.slab[path].installed = false;
            self.draft_path(draft, path);
        }
        let stations = self.net.stations.slab.iter();
        let stations: Vec<u32> = stations
            .filter(|(_, entry)| entry.installed && entry.switch == switch)
            .map(|(station, _)| station)
            .filter(|&station| lost(&self.station_rule(station)))
            .collect();
        for station in stations {
            self.net.stations.slab[station].installed = false;
            self.draft_station(draft, station);
        }
    }

    /// Ends copies that continued because the switch was disconnected.
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
