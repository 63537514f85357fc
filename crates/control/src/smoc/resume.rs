//! What another run of the controller has left in switches: flows, routes and stations are taken over from their rules,
//! over the paths that they have; nothing is broken before its replacement is there.
//!
//! A rule of a flow says where it leaves its first switch and by which label, the rules of the next switches where that
//! leads; its cookie says what the flow is in a connection. A rule is removed at once only where it leads nowhere,
//! and otherwise when all switches and cables are known and it is of no use.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use rustc_hash::FxHashSet;
use weft_wire::Mac;

use crate::clock::{Duration, Time};

use super::Smoc;
use super::fate::{Fate, departure, is_sound};
use super::reconcile::Table;
use super::rules::{Changes, base, claim_of, guard};
use crate::command::Command;
use crate::ids::PortNo;
use crate::label::Label;
use crate::network::at_once;
use crate::rule::{EXACT, Match, Rule, RuleAction, RuleChange, priority};
use crate::slab::{Handle, NONE};
use crate::transactions::Resumed;

/// After a switch has connected, until what is of no use is removed: others may still be on their way.
const COMPLETE: Duration = Duration::from_secs(10);
/// After that, until ports by which rules send labels may be hosts' ports, whatever is behind them.
const KEEP: Duration = Duration::from_secs(60);
/// Between two looks at what is left.
pub(super) const LOOK: Duration = Duration::from_secs(1);

/// Rules that are left over in switches, and what is known of them.
#[derive(Clone, Debug)]
pub(super) struct Resumption {
    pub left: BTreeMap<u32, Table>,
    /// Labels that they use.
    pub reserved: FxHashSet<u32>,
    /// Connections that were made of rules: by their stations, and by what cookies called them.
    pub connections: BTreeMap<([u32; 2], u32), Handle>,
    /// What was taken over and has its old rules still: those that it sends over were not confirmed in time.
    pub unreplaced: Vec<Resumed>,
    /// Switches that have connected for the first time, and whose claim rules have not been read yet.
    fresh: Vec<u32>,
    /// Addresses whose owners are known by rules.
    told: BTreeSet<IpAddr>,
    /// When a switch has connected last that had not before.
    quiet_since: Time,
    pub due: Time,
}

impl Default for Resumption {
    fn default() -> Self {
        Self {
            left: BTreeMap::new(),
            reserved: FxHashSet::default(),
            connections: BTreeMap::new(),
            unreplaced: Vec::new(),
            fresh: Vec::new(),
            told: BTreeSet::new(),
            quiet_since: Time::ZERO,
            due: Time::MAX,
        }
    }
}

impl Resumption {
    /// When there is something to be looked at again.
    pub fn deadline(&self) -> Time {
        self.due
    }

    /// Cables are known that were not.
    pub fn look_again(&mut self, now: Time) {
        if self.due != Time::MAX {
            self.due = now;
        }
    }
}

impl Smoc {
    /// A switch has connected for the first time: it gets its number in labels, and ports by which its rules send
    /// labels are no hosts' ports until that is certain.
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
            // Where labels are kept out, there was a host.
            if let Some((label, port)) = departure(rule)
                && (is_inside || label.is_some())
                && !found.contains_key(&(priority::GUARD, guard(port).matches))
                && let Some(&port) = self.net.topology.switches[switch as usize].ports.get(&port)
            {
                self.net.topology.keep(port);
            }
        }
    }

    /// These rules are left over in a switch.
    pub(super) fn resume_with(&mut self, now: Time, switch: u32, rules: Table, out: &mut Vec<Command>) {
        self.resumption.left.entry(switch).or_default().extend(rules);
        self.resume(now, out);
    }

    /// Takes over what can be, and removes what leads nowhere or is of no use.
    pub(super) fn resume(&mut self, now: Time, out: &mut Vec<Command>) {
        self.resume_stations(now, out);
        self.resume_addresses(now, out);
        let labelled = self.labelled();
        let (mut ways, mut wrong) = (Vec::new(), Vec::new());
        for (&switch, table) in &self.resumption.left {
            for (&key, rule) in table.iter().filter(|_| self.net.is_up(switch)) {
                match self.fate(switch, rule, &labelled) {
                    Fate::Unknown => {}
                    Fate::Wrong => wrong.push((switch, key)),
                    Fate::Leads(way) => ways.push((switch, key, way)),
                }
            }
        }
        // Tables are in no order; what is taken over is.
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
        } else if self.resumption.told.is_empty() {
            Time::MAX
        } else {
            self.resumption.quiet_since + COMPLETE
        };
    }

    /// Learns whose addresses are from the claim rules of switches that have connected for the first time. The controller
    /// before has made sure of them; who has claimed one since, while its owner could not be asked, has to claim it again.
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
            if self.resumption.told.contains(&address) {
                continue;
            }
            let Some(station) = self.station_at(now, switch, mac, port) else { continue };
            if self.net.stations.with_address(address) != Some(station) {
                self.net.stations.remove_address(address);
                self.net.stations.add_address(station, address);
            }
            self.resumption.told.insert(address);
        }
        self.forget_claims(now, out);
    }

    /// Stations that rules deliver to.
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
            self.recall(now, switch, (port, mac), out);
            let Some(station) = self.net.stations.adopt(now, mac, (switch, port), Some(number)) else {
                continue;
            };
            self.net.stations.slab[station].asked = true;
            let rule = self.resumption.left.get_mut(&switch).and_then(|table| table.remove(&key));
            self.net.stations.slab[station].installed = rule == Some(self.station_rule(station));
        }
        // Between stations of one switch there are no labels.
        for (switch, port, mac) in here {
            if let Some(port) = self.host_port(switch, port) {
                self.recall(now, switch, (port, mac), out);
            }
            self.station_at(now, switch, mac, port);
        }
    }

    /// The rules of a switch that has connected for the first time deliver to a station at one of its ports. The controller
    /// before has made sure of that; who has claimed its MAC address since, while it could not be asked, has to claim it
    /// again. Where rules of two switches disagree, one has not been told that the station has moved.
    fn recall(&mut self, now: Time, switch: u32, (port, mac): (u32, Mac), out: &mut Vec<Command>) {
        if self.resumption.fresh.contains(&switch)
            && let Some(station) = self.net.stations.with_mac(mac)
            && self.net.stations.slab[station].port != port
            && !self.net.stations.doubt(station)
        {
            self.remove_station(now, station, out);
        }
    }

    /// The port of a number, if it is up and a host may be there.
    fn host_port(&self, switch: u32, number: PortNo) -> Option<u32> {
        let &port = self.net.topology.switches[switch as usize].ports.get(&number)?;
        let is_host = self.net.topology.ports[port as usize].up
            && !self.net.topology.leads_to_switch(port)
            && !self.net.topology.is_kept(port);
        is_host.then_some(port)
    }

    /// The station at a port of a switch, entered if it is not known.
    pub(super) fn station_at(&mut self, now: Time, switch: u32, mac: Mac, port: PortNo) -> Option<u32> {
        let port = self.host_port(switch, port)?;
        match self.net.stations.with_mac(mac) {
            Some(station) => (self.net.stations.slab[station].port == port).then_some(station),
            None => self.net.stations.adopt(now, mac, (switch, port), None),
        }
    }

    /// Removes what is of no use when all switches and cables are known.
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
            self.resumption.told.clear();
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
            let change = RuleChange::Remove { cookie: rule.cookie, matches: rule.matches };
            self.net.change(changes, switch, change);
        }
    }
}
