//! Taking over flows, routes and stations that an earlier controller run left in switches, on their existing paths;
//! nothing is removed before its replacement is installed.
//!
//! A flow's rule gives its output port and label at its first switch, and the label rules of the next switches give the
//! rest of the path; its cookie gives the flow's role in a connection. A rule is removed immediately only if it leads
//! nowhere, otherwise once all switches and links are known and it is not needed.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use weft_wire::Mac;

use crate::clock::{Duration, Time};

use super::rules::{Changes, base, claim_of, guard};
use super::state::Smoc;
use super::table::Table;
use super::target::{RuleTarget, departure, is_sound};
use crate::command::{Command, at_once};
use crate::ids::PortNo;
use crate::label::Label;
use crate::rule::{EXACT, Match, Rule, RuleAction, RuleChange, priority};
use crate::slab::NONE;

/// Time after a switch connected until unused rules are removed: other switches may still be connecting.
const COMPLETE: Duration = Duration::from_secs(10);
/// Time after which output ports of label rules may be host ports even if nothing is known behind them.
const KEEP: Duration = Duration::from_secs(60);
/// Interval between passes over the remaining rules.
pub(super) const LOOK: Duration = Duration::from_secs(1);

impl Smoc {
    /// A switch has connected for the first time: it gets its number in labels. Ports to which its rules send labels do not
    /// count as host ports until that is certain.
    pub(super) fn begin_resuming(&mut self, now: Time, switch: u32, found: &Table) {
        if self.net.topology.switches[switch as usize].label != NONE {
            return;
        }
        self.resumption.quiet_since = now;
        self.resumption.fresh.push(switch);
        let mut ends: BTreeMap<u32, usize> = BTreeMap::new();
        for (end, _) in found.keys().filter_map(|(_, matches)| Label::of_end(matches)) {
            *ends.entry(end).or_default() += 1;
        }
        let wanted = ends.into_iter().max_by_key(|&(_, count)| count).map(|(end, _)| end);
        self.net.topology.give_label(switch, wanted);
        for rule in found.values() {
            let is_inside = rule.priority == priority::LABEL && Label::of_path(&rule.matches).is_some();
            // A port that drops labels was a host port.
            if let Some((label, port)) = departure(rule)
                && (is_inside || label.is_some())
                && !found.contains_key(&(priority::GUARD, guard(port).matches))
                && let Some(&port) = self.net.topology.switches[switch as usize].ports.get(&port)
            {
                self.net.topology.keep(port);
            }
        }
    }

    /// Hands over the unexpected rules of a switch.
    pub(super) fn resume_with(&mut self, now: Time, switch: u32, rules: Table, out: &mut Vec<Command>) {
        self.resumption.left.entry(switch).or_default().extend(rules);
        self.resume(now, out);
    }

    /// Takes over as many rules as possible, and removes those that lead nowhere or are not needed.
    pub(super) fn resume(&mut self, now: Time, out: &mut Vec<Command>) {
        self.resume_stations(now, out);
        self.resume_addresses(now, out);
        let labelled = self.labelled();
        let (mut ways, mut wrong) = (Vec::new(), Vec::new());
        for (&switch, table) in &self.resumption.left {
            for (&key, rule) in table.iter().filter(|_| self.net.is_up(switch)) {
                match self.target_of(switch, rule, &labelled) {
                    RuleTarget::Unknown => {}
                    RuleTarget::Wrong => wrong.push((switch, key)),
                    RuleTarget::Leads(way) => ways.push((switch, key, way)),
                }
            }
        }
        // Tables are unordered; process rules in a fixed order.
        ways.sort_unstable_by_key(|(switch, (priority, _), way)| (*switch, *priority, way.station));
        self.take_over(now, ways, out);
        self.replace_again(now, out);
        let mut changes = Changes::new();
        for (switch, key) in wrong {
            self.remove_left(switch, key, &mut changes);
        }
        at_once(changes, out);
        self.sweep(now, out);
        let left = self.resumption.left.values().flat_map(Table::values);
        let labels = left.filter_map(|rule| {
            let sent = departure(rule).and_then(|(label, _)| label).map(|(label, _)| label);
            Label::of_path(&rule.matches).or(sent)
        });
        self.resumption.reserved = labels.map(Label::bits).collect();
        let is_done = self.resumption.left.values().all(Table::is_empty)
            && self.resumption.unreplaced.is_empty()
            && self.net.topology.kept().is_empty();
        self.resumption.due = if !is_done {
            now + LOOK
        } else if self.resumption.claimed.is_empty() {
            Time::MAX
        } else {
            self.resumption.quiet_since + COMPLETE
        };
    }

    /// Learns the owners of addresses from the claim rules of newly connected switches. The earlier controller run verified
    /// them; a station that claimed one since, while the owner could not be probed, has to claim it again.
    fn resume_addresses(&mut self, now: Time, out: &mut Vec<Command>) {
        let mut found = Vec::new();
        for switch in std::mem::take(&mut self.resumption.fresh) {
            let rules = self.resumption.left.get(&switch).into_iter().flat_map(Table::values);
            let claims = rules.filter(|rule| rule.priority == priority::CLAIM && is_sound(rule));
            let claims = claims.filter_map(|rule| claim_of(&rule.matches));
            found.extend(claims.map(|(port, mac, address, _)| (switch, port, mac, address)));
        }
        found.sort_unstable();
        for (switch, port, mac, address) in found {
            if self.resumption.claimed.contains(&address) {
                continue;
            }
            let Some(station) = self.station_at(now, switch, mac, port) else { continue };
            if self.net.stations.with_address(address) != Some(station) {
                self.net.stations.remove_address(address);
                self.net.stations.add_address(station, address);
            }
            self.resumption.claimed.insert(address);
        }
        self.forget_claims(now, out);
    }

    /// Takes over stations with delivery rules.
    fn resume_stations(&mut self, now: Time, out: &mut Vec<Command>) {
        let mut found = Vec::new();
        for (&switch, table) in &self.resumption.left {
            for (key, rule) in table {
                let Some((end, number)) = Label::of_end(&rule.matches) else { continue };
                let [RuleAction::SetDestination(mac), RuleAction::Output(port)] = rule.actions[..] else {
                    continue;
                };
                if rule.priority == priority::LABEL
                    && end == self.net.topology.switches[switch as usize].label
                {
                    found.push((switch, *key, mac, port, number));
                }
            }
        }
        found.sort_unstable_by_key(|&(switch, _, _, port, number)| (switch, port, number));
        let mut here = Vec::new();
        for (&switch, table) in &self.resumption.left {
            let of_station =
                |rule: &&Rule| matches!(rule.priority, priority::FLOW | priority::CLAIM | priority::STATION);
            for rule in table.values().filter(of_station) {
                if let (Some((mac, EXACT)), Some((None, port))) = (rule.matches.eth_dst, departure(rule)) {
                    here.push((switch, port, mac));
                }
            }
        }
        here.sort_unstable();
        here.dedup();
        for (switch, key, mac, port, number) in found {
            let Some(port) = self.host_port(switch, port) else { continue };
            self.recall(now, switch, port, mac, out);
            let Some(station) = self.net.stations.adopt(now, mac, switch, port, Some(number)) else {
                continue;
            };
            self.net.stations.slab[station].asked = true;
            let rule = self.resumption.left.get_mut(&switch).and_then(|table| table.remove(&key));
            self.net.stations.slab[station].installed = rule == Some(self.station_rule(station));
        }
        // Stations of one switch use no labels.
        for (switch, port, mac) in here {
            if let Some(port) = self.host_port(switch, port) {
                self.recall(now, switch, port, mac, out);
            }
            self.station_at(now, switch, mac, port);
        }
    }

    /// The rules of a newly connected switch deliver to a station at one of its ports. The earlier controller run verified
    /// that; a station that claimed the MAC address since, while it could not be probed, has to claim it again. If rules of
    /// two switches disagree, one of them missed a move.
    fn recall(&mut self, now: Time, switch: u32, port: u32, mac: Mac, out: &mut Vec<Command>) {
        if self.resumption.fresh.contains(&switch)
            && let Some(station) = self.net.stations.with_mac(mac)
            && self.net.stations.slab[station].port != port
            && !self.net.stations.doubt(station)
        {
            self.remove_station(now, station, out);
        }
    }

    /// The port with a number, if it is up and can be a host port.
    fn host_port(&self, switch: u32, number: PortNo) -> Option<u32> {
        let &port = self.net.topology.switches[switch as usize].ports.get(&number)?;
        let is_host = self.net.topology.ports[port as usize].up
            && !self.net.topology.leads_to_switch(port)
            && !self.net.topology.is_kept(port);
        is_host.then_some(port)
    }

    /// The station at a port of a switch, added if unknown.
    pub(super) fn station_at(&mut self, now: Time, switch: u32, mac: Mac, port: PortNo) -> Option<u32> {
        let port = self.host_port(switch, port)?;
        match self.net.stations.with_mac(mac) {
            Some(station) => (self.net.stations.slab[station].port == port).then_some(station),
            None => self.net.stations.adopt(now, mac, switch, port, None),
        }
    }

    /// Removes unneeded rules once all switches and links are known.
    fn sweep(&mut self, now: Time, out: &mut Vec<Command>) {
        let mut changes = Changes::new();
        let since = self.resumption.quiet_since;
        if since + KEEP <= now {
            for port in self.net.topology.kept() {
                self.net.topology.give_up(port);
                let entry = &self.net.topology.ports[port as usize];
                self.net.change(&mut changes, entry.switch, RuleChange::Add(guard(entry.number)));
            }
        }
        if since + COMPLETE <= now {
            self.resumption.claimed.clear();
        }
        if since + COMPLETE <= now && self.net.topology.kept().is_empty() {
            let switches = self.resumption.left.keys().copied();
            let switches: Vec<u32> = switches.filter(|&switch| self.net.is_up(switch)).collect();
            for switch in switches {
                let wanted = base().into_iter().chain(self.rules_at(switch));
                let wanted: FxHashSet<(u16, Match)> =
                    wanted.map(|rule| (rule.priority, rule.matches)).collect();
                let keys: Vec<(u16, Match)> = self.resumption.left[&switch].keys().copied().collect();
                for key in keys {
                    if !wanted.contains(&key) {
                        self.remove_left(switch, key, &mut changes);
                    }
                }
                self.resumption.left.remove(&switch);
            }
            let connections = &self.connections.slab;
            self.resumption.connections.retain(|_, connection| connections.find(*connection).is_some());
        }
        at_once(changes, out);
    }

    fn remove_left(&mut self, switch: u32, key: (u16, Match), changes: &mut Changes) {
        let table = self.resumption.left.get_mut(&switch);
        if let Some(rule) = table.and_then(|table| table.remove(&key)) {
            self.net.counters.rules_stale += 1;
            self.net.change(changes, switch, rule.removal());
        }
    }
}
