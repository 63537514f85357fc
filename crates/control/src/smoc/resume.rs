//! What another run of the controller has left in switches: flows, routes and stations are taken over from their rules,
//! over the paths that they have; nothing is broken before its replacement is there.
//!
//! A rule of a flow says where it leaves its first switch and by which label, the rules of the next switches where that
//! leads; its cookie says what the flow is in a connection. A rule is removed at once only where it leads nowhere,
//! and otherwise when all switches and cables are known and it is of no use.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use weft_units::Mac;

use crate::clock::{Duration, Time};

use super::Smoc;
use super::install::Draft;
use super::reconcile::Table;
use super::rules::{Changes, base, claim_of, guard, tcp};
use crate::command::Command;
use crate::cookie::flow_direction;
use crate::ids::PortNo;
use crate::label::Label;
use crate::network::at_once;
use crate::rule::{EXACT, Match, Rule, RuleAction, RuleChange, priority};
use crate::slab::{Handle, NONE};
use crate::transactions::{Purpose, Resumed};

/// After a switch has connected, until what is of no use is removed: others may still be on their way.
const COMPLETE: Duration = Duration::from_secs(10);
/// After that, until ports by which rules send labels may be hosts' ports, whatever is behind them.
const KEEP: Duration = Duration::from_secs(60);
/// Between two looks at what is left.
const LOOK: Duration = Duration::from_secs(1);

/// Rules that are left over in switches, and what is known of them.
#[derive(Clone, Debug)]
pub(super) struct Resumption {
    left: BTreeMap<u32, Table>,
    /// Labels that they use.
    pub reserved: FxHashSet<u32>,
    /// Connections that were made of rules: by their stations, and by what cookies called them.
    pub connections: FxHashMap<([u32; 2], u32), Handle>,
    /// When a switch has connected last.
    quiet_since: Time,
    due: Time,
}

impl Default for Resumption {
    fn default() -> Self {
        Self {
            left: BTreeMap::new(),
            reserved: FxHashSet::default(),
            connections: FxHashMap::default(),
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

/// Where a rule leads.
#[derive(Debug)]
enum Fate {
    /// That cannot be told yet.
    Unknown,
    /// Nowhere.
    Wrong,
    /// To a station.
    Leads(Way),
}

/// The way of what a rule sends.
#[derive(Clone, Debug)]
pub(super) struct Way {
    switches: Vec<u32>,
    cables: Vec<u32>,
    label: Option<Label>,
    /// The station at its end.
    pub station: u32,
}

impl Smoc {
    /// A switch has connected for the first time: it gets its number in labels, and ports by which its rules send
    /// labels are no hosts' ports until that is certain.
    pub(super) fn begin_resuming(&mut self, now: Time, switch: u32, found: &Table) {
        self.resumption.quiet_since = now;
        if self.net.topology.switches[switch as usize].label != NONE {
            return;
        }
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
        self.resume_stations(now);
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
        let is_done =
            self.resumption.left.values().all(Table::is_empty) && self.net.topology.kept().is_empty();
        self.resumption.due = if is_done { Time::MAX } else { now + LOOK };
    }

    /// Stations that rules deliver to.
    fn resume_stations(&mut self, now: Time) {
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
            let Some(station) = self.net.stations.adopt(now, mac, (switch, port), Some(number)) else {
                continue;
            };
            self.net.stations.slab[station].asked = true;
            let rule = self.resumption.left.get_mut(&switch).and_then(|table| table.remove(&key));
            self.net.stations.slab[station].installed = rule == Some(self.station_rule(station));
        }
        // Between stations of one switch there are no labels.
        for (switch, port, mac) in here {
            self.station_at(now, switch, mac, port);
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

    /// Paths and directions by their labels.
    fn labelled(&self) -> FxHashMap<u32, (u32, usize)> {
        let paths = self.paths.slab.iter();
        let labels = paths.flat_map(|(index, path)| {
            let labels = path.labels.into_iter().flatten().enumerate();
            labels.map(move |(direction, label)| (label.bits(), (index, direction)))
        });
        labels.collect()
    }

    /// Where a rule of a flow or a route leads.
    fn fate(&self, switch: u32, rule: &Rule, labelled: &FxHashMap<u32, (u32, usize)>) -> Fate {
        let is_known =
            matches!(rule.priority, priority::FLOW | priority::CROWD | priority::CLAIM | priority::STATION);
        let Some((mac, _)) = rule.matches.eth_dst.filter(|_| is_known) else { return Fate::Unknown };
        if !is_sound(rule) || self.is_refuted(switch, rule) {
            return Fate::Wrong;
        }
        let Some((label, mut port)) = departure(rule) else { return Fate::Wrong };
        let topology = &self.net.topology;
        let (mut switches, mut cables) = (vec![switch], Vec::new());
        let Some((label, number)) = label else {
            let station = self.net.stations.with_mac(mac);
            let here = station.filter(|&station| {
                let there = &self.net.stations.slab[station];
                topology.place(there.port).port == port && there.switch == switch
            });
            let leads = |station| {
                Fate::Leads(Way { switches: vec![switch], cables: Vec::new(), label: None, station })
            };
            return here.map_or(Fate::Wrong, leads);
        };
        loop {
            let at = switches[switches.len() - 1];
            let Some(&leaves) = topology.switches[at as usize].ports.get(&port) else { return Fate::Wrong };
            let entry = &topology.ports[leaves as usize];
            if !entry.up {
                return Fate::Wrong;
            }
            if entry.cable == NONE {
                let may_lead = topology.is_kept(leaves) || topology.leads_to_switch(leaves);
                return if may_lead { Fate::Unknown } else { Fate::Wrong };
            }
            let ends = topology.cable(entry.cable).ends.map(|end| topology.ports[end as usize].switch);
            let next = if ends[0] == at { ends[1] } else { ends[0] };
            if switches.contains(&next) {
                return Fate::Wrong;
            }
            switches.push(next);
            cables.push(entry.cable);
            if topology.switches[next as usize].label == label.end {
                let Some(station) = self.net.stations.with_mac(mac) else { return self.missing(next) };
                let there = &self.net.stations.slab[station];
                return if (there.switch, there.number) == (next, number) {
                    Fate::Leads(Way { switches, cables, label: Some(label), station })
                } else {
                    Fate::Wrong
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

    /// Whether a rule lets through a claim of somebody who is elsewhere, or that an address is his which is another's.
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

    /// What it means that a switch has no rule for what comes to it.
    fn missing(&self, switch: u32) -> Fate {
        if self.net.is_up(switch) { Fate::Wrong } else { Fate::Unknown }
    }

    /// Takes over flows and routes: paths and stations first, and when switches have confirmed those, the rules that
    /// send over them are replaced by the controller's own.
    fn take_over(&mut self, now: Time, ways: Vec<(u32, (u16, Match), Way)>, out: &mut Vec<Command>) {
        let mut wanted: BTreeMap<u32, [Option<Label>; 2]> = BTreeMap::new();
        let mut taken = Vec::new();
        for (switch, key, way) in ways {
            let path = self.paths.intern(&way.switches, &way.cables);
            let direction = self.paths.slab[path].direction_from(switch);
            let labels = wanted.entry(path).or_default();
            labels[direction] = labels[direction].or(way.label);
            taken.push((switch, key, way, path));
        }
        for (&path, &labels) in &wanted {
            let ends = self.ends(path);
            let was = self.paths.slab[path].labels.is_some();
            if !was && self.paths.label(now, path, ends, labels, &self.resumption.reserved) {
                self.find_installed(path);
            }
        }
        let mut draft = Draft::new(Purpose::Other);
        let mut resumed = Vec::new();
        for (switch, key, way, path) in taken {
            let Some(rule) = self.resumption.left.get_mut(&switch).and_then(|table| table.remove(&key))
            else {
                continue;
            };
            let done = match rule.priority {
                priority::FLOW => self.resume_flow(now, switch, &rule, way.station, path, out),
                _ => self.resume_route(now, switch, &rule, way.station, path, out),
            };
            let Some(done) = done else {
                self.resumption.left.entry(switch).or_default().insert(key, rule);
                continue;
            };
            if !way.cables.is_empty() {
                self.draft_station(&mut draft, way.station);
            }
            let path = match done {
                Resumed::Flow(flow) => self.flows.slab[flow.index].path,
                Resumed::Route(route) => self.routes.slab[route.index].path,
            };
            self.draft_path(&mut draft, path);
            if !resumed.contains(&done) {
                resumed.push(done);
            }
        }
        // Paths that nobody was put on after all.
        for &path in wanted.keys() {
            if self.paths.slab.get(path).is_some() {
                self.paths.unused(now, path);
            }
        }
        if draft.is_empty() {
            self.replace(now, &resumed, out);
        } else {
            self.submit(now, draft.before(resumed), out);
        }
    }

    /// Takes note of what is there of a path already.
    fn find_installed(&mut self, path: u32) {
        let rules = self.path_rules(&self.paths.slab[path]);
        let mut is_whole = true;
        for (switch, rule) in rules {
            let table = self.resumption.left.get_mut(&switch);
            let found = table.and_then(|table| table.remove(&(rule.priority, rule.matches)));
            is_whole &= found.as_ref() == Some(&rule);
        }
        let path = &mut self.paths.slab[path];
        (path.asked, path.installed) = (true, is_whole);
    }

    /// What rules that were taken over send over is confirmed: they are replaced.
    pub(super) fn replace(&mut self, now: Time, resumed: &[Resumed], out: &mut Vec<Command>) {
        let mut draft = Draft::new(Purpose::Other);
        for &one in resumed {
            match one {
                Resumed::Flow(handle) => self.draft_flow(&mut draft, handle),
                Resumed::Route(handle) => self.draft_found_route(&mut draft, handle),
            }
        }
        self.submit(now, draft, out);
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

/// Whether a rule of a flow or a route is for the frames that such rules are for, and no others.
fn is_sound(rule: &Rule) -> bool {
    let found = rule.matches;
    let Some((mac, _)) = found.eth_dst else { return false };
    let is_six = found.eth_type == Some(0x86dd);
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

/// The label that a rule gives to frames, with the station's number, and the port by which it sends them; `None` for
/// rules that do anything else.
fn departure(rule: &Rule) -> Option<(Option<(Label, u32)>, PortNo)> {
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
