//! [`SpanningTree`]: all traffic on one tree, as in a bridged network: the baseline for a multipath
//! controller.
//!
//! Frames to a known station are forwarded on the tree by its MAC address. Group frames and frames to unknown
//! stations are flooded along the tree by rules; only their ingress switch sends them to the controller.

mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use smallvec::{SmallVec, smallvec};
use weft_wire::{EtherType, Mac};

use crate::clock::Time;
use crate::command::{Command, FrameOut, MadeFrame, Transaction};
use crate::controller::{Controller, Show};
use crate::cookie::{Cookie, GENERATION_BITS, is_own};
use crate::ids::{FrameRef, PortNo, SwitchId, SwitchPort};
use crate::network::{Network, Sender, at_once, send_held};
use crate::offences::Offence;
use crate::packet::Packet;
use crate::rule::{Actions, Match, Rule, RuleAction, RuleChange, priority};
use crate::settings::{Settings, SettingsError};
use crate::slab::{Slab, grown};
use crate::topology::{Change, Role};
use crate::transactions::{Open, Transactions};
use tree::Tree;

/// A switch's rule for frames to a station.
#[derive(Clone, Copy, Debug)]
struct Entry {
    switch: u32,
    station: u32,
    mac: Mac,
    /// The output port.
    port: PortNo,
}

/// The controller that puts all traffic on one tree.
#[derive(Clone, Debug)]
pub struct SpanningTree {
    net: Network,
    tree: Tree,
    /// Of each switch, the rules that do not depend on stations.
    constant: Vec<BTreeMap<u64, Rule>>,
    entries: Slab<Entry>,
    by_ends: FxHashMap<(u32, u32), u32>,
    transactions: Transactions,
}

type Changes = Vec<(SwitchId, RuleChange)>;

/// Whether adding `new` to a switch replaces `old`.
fn replaces(new: &Rule, old: &Rule) -> bool {
    (new.priority, new.matches) == (old.priority, old.matches)
}

impl SpanningTree {
    /// A controller for a network that is still unknown.
    ///
    /// # Errors
    /// [`SettingsError`] if a value is out of range.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            tree: Tree::default(),
            constant: Vec::new(),
            entries: Slab::starting(settings.epoch),
            by_ends: FxHashMap::default(),
            transactions: Transactions::new(&settings),
            net: Network::new(settings),
        })
    }

    /// The rules of a switch that do not depend on stations: packet-ins and flooding.
    fn constant_rules(&self, switch: u32, now: Time) -> Vec<Rule> {
        let up: Actions = smallvec![RuleAction::Controller { max_len: u16::MAX }];
        let link_local = (Mac([0x01, 0x80, 0xc2, 0, 0, 0]), Mac([0xff, 0xff, 0xff, 0xff, 0xff, 0xf0]));
        let lldp = Match { eth_type: Some(EtherType::LLDP.0), ..Match::ALL };
        let to_neighbour = Match { eth_dst: Some(link_local), ..Match::ALL };
        let mut rules = vec![
            Rule::lasting(Cookie::Base(0), priority::MISS, Match::ALL, up.clone()),
            Rule::lasting(Cookie::Base(1), priority::LLDP, lldp, up),
            Rule::lasting(Cookie::Base(3), priority::LINK_LOCAL, to_neighbour, Actions::new()),
        ];
        for (&number, &port) in &self.net.topology.switches[switch as usize].ports {
            let from = Match { in_port: Some(number), ..Match::ALL };
            let cable = self.net.topology.ports[port as usize].cable;
            if self.tree.has(cable) {
                let ports = self.flood_ports(switch, Some(number), now);
                let actions = ports.into_iter().map(RuleAction::Output).collect();
                rules.push(Rule::lasting(Cookie::Flood(number.0), priority::FLOOD, from, actions));
            } else if self.net.topology.leads_to_switch(port) {
                rules.push(Rule::lasting(Cookie::Guard(number.0), priority::GUARD, from, Actions::new()));
            }
        }
        rules
    }

    /// The output ports at a switch for a flooded frame from port `from`.
    fn flood_ports(&self, switch: u32, from: Option<PortNo>, now: Time) -> Vec<PortNo> {
        let ports = self.net.topology.switches[switch as usize].ports.iter();
        let open = ports.filter(|&(&number, &port)| {
            let cable = self.net.topology.ports[port as usize].cable;
            let role = self.net.topology.role(port, now);
            // An unsettled port cannot make a loop: frames from its other end are not flooded.
            let hosts = matches!(role, Role::Host | Role::Settling);
            Some(number) != from && (self.tree.has(cable) || hosts)
        });
        open.map(|(&number, _)| number).collect()
    }

    /// The topology has changed: rebuilds the tree and flushes learned entries (IEEE 802.1D, 17.11).
    fn changed(&mut self, now: Time, change: &Change, out: &mut Vec<Command>) {
        self.net.count(change);
        let mut changes = Changes::new();
        if change.paths {
            let tree = Tree::of(&self.net.topology);
            if tree != self.tree {
                self.forget_entries(|_| true, &mut changes, out);
                self.tree = tree;
            }
        }
        for &port in &change.ports {
            // Stations learned there were behind another switch, or may appear elsewhere next.
            let leads_to_switch = self.net.topology.leads_to_switch(port);
            if leads_to_switch || !self.net.topology.ports[port as usize].up {
                for station in self.net.stations.at_port(port).to_vec() {
                    self.forget_entries(|entry| entry.station == station, &mut changes, out);
                    if leads_to_switch {
                        self.net.stations.remove(station);
                    }
                }
            }
        }
        for switch in 0..self.net.topology.switches.len() as u32 {
            if !self.net.is_up(switch) {
                continue;
            }
            let rules = self.constant_rules(switch, now);
            let has: BTreeMap<u64, Rule> = rules.into_iter().map(|rule| (rule.cookie, rule)).collect();
            let had = std::mem::replace(grown(&mut self.constant, switch), has.clone());
            let gone = |had: &&Rule| !has.get(&had.cookie).is_some_and(|has| replaces(has, had));
            for rule in had.values().filter(gone) {
                self.net.change(&mut changes, switch, rule.removal());
            }
            for (_, rule) in has.into_iter().filter(|(cookie, rule)| had.get(cookie) != Some(rule)) {
                self.net.change(&mut changes, switch, RuleChange::Add(rule));
            }
        }
        at_once(changes, out);
    }

    fn rule(&self, index: u32) -> Rule {
        let entry = &self.entries[index];
        Rule {
            cookie: Cookie::Tree(index, self.entries.handle(index).generation).bits(),
            priority: priority::STATION,
            matches: Match::to(entry.mac),
            actions: smallvec![RuleAction::Output(entry.port)],
            idle_timeout_s: self.net.settings.idle_timeout_s,
            notify_removed: true,
        }
    }

    /// Forgets rules of stations, and removes them from their switches.
    fn forget_entries(
        &mut self,
        which: impl Fn(&Entry) -> bool,
        changes: &mut Changes,
        out: &mut Vec<Command>,
    ) {
        let gone: Vec<u32> =
            self.entries.iter().filter(|(_, entry)| which(entry)).map(|(index, _)| index).collect();
        for index in gone {
            self.net.change(changes, self.entries[index].switch, self.rule(index).removal());
            self.drop_entry(index, out);
        }
    }

    fn drop_entry(&mut self, index: u32, out: &mut Vec<Command>) {
        for (_, frame) in self.transactions.leave_route(index) {
            self.net.drop_frame(frame, out);
        }
        let Entry { switch, station, .. } = self.entries[index];
        self.by_ends.remove(&(switch, station));
        self.entries.remove(index);
    }

    /// Sends a frame to a known station, and installs the rules in both directions.
    fn deliver(
        &mut self,
        now: Time,
        at: SwitchPort,
        stations: [u32; 2],
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        let [source, target] = stations.map(|station| {
            let entry = &self.net.stations.slab[station];
            (entry.switch, entry.port)
        });
        if let Some(&known) = self.by_ends.get(&(source.0, stations[1])) {
            let waits = self.transactions.of_route(known);
            if waits.is_some_and(|number| self.transactions.hold(number, at, frame)) {
                return;
            }
            return self.net.relay(now, source.1, stations[1], frame, out);
        }
        let Some(way) = self.tree.way(source.0, target.0) else {
            return self.net.drop_pathless(frame, out);
        };
        if !self.transactions.has_room() || self.entries.len() >= self.net.settings.limits.flows {
            return self.net.relay(now, source.1, stations[1], frame, out);
        }
        let number = |port: u32| self.net.topology.ports[port as usize].number;
        let mut steps = vec![(target.0, stations[1], number(target.1))];
        for &(switch, cable) in way.iter().rev() {
            steps.push((switch, stations[1], self.net.topology.end_at(cable, switch)));
        }
        let mut switch = source.0;
        steps.push((switch, stations[0], number(source.1)));
        for &(_, cable) in &way {
            let ends =
                self.net.topology.cable(cable).ends.map(|port| self.net.topology.ports[port as usize].switch);
            switch = if ends[0] == switch { ends[1] } else { ends[0] };
            steps.push((switch, stations[0], self.net.topology.end_at(cable, switch)));
        }
        let (mut rules, mut routes, mut switches) = (Changes::new(), SmallVec::new(), SmallVec::new());
        for (switch, station, port) in steps {
            if self.by_ends.contains_key(&(switch, station)) {
                continue;
            }
            let index = self.entries.insert(Entry {
                switch,
                station,
                mac: self.net.stations.slab[station].mac,
                port,
            });
            self.by_ends.insert((switch, station), index);
            self.net.change(&mut rules, switch, RuleChange::Add(self.rule(index)));
            routes.push(self.entries.handle(index));
            if !switches.contains(&switch) {
                switches.push(switch);
            }
        }
        let open = Open { routes, switches, frame: Some(frame), ..Open::default() };
        let id = self.transactions.open(now, open);
        out.push(Command::Install(Transaction { id, rules, release: vec![(at, frame)] }));
    }

    /// Floods a frame from its ingress switch.
    fn flood(&mut self, now: Time, port: u32, frame: FrameRef, out: &mut Vec<Command>) {
        if self.net.may_flood(now, port) {
            let at = self.net.topology.place(port);
            let switch = self.net.topology.ports[port as usize].switch;
            let ports = self.flood_ports(switch, Some(at.port), now);
            if !ports.is_empty() {
                let frame = FrameOut::Held(frame);
                out.push(Command::PacketOut { switch: at.switch, in_port: Some(at.port), ports, frame });
            }
        }
        out.push(Command::Forget(frame));
    }

    /// Forgets the rules of evicted stations.
    fn forget_gone(&mut self, out: &mut Vec<Command>) {
        let gone = std::mem::take(&mut self.net.stations.gone);
        let mut changes = Changes::new();
        for station in gone.iter().map(|gone| gone.handle.index) {
            self.forget_entries(|entry| entry.station == station, &mut changes, out);
        }
        at_once(changes, out);
    }

    fn move_station(&mut self, now: Time, station: u32, port: u32, out: &mut Vec<Command>) -> bool {
        let mut changes = Changes::new();
        self.forget_entries(|entry| entry.station == station, &mut changes, out);
        at_once(changes, out);
        let switch = self.net.topology.ports[port as usize].switch;
        let moved = self.net.stations.relocate(now, station, (switch, port));
        self.forget_gone(out);
        self.net.counters.stations_moved += u64::from(moved);
        moved
    }

    fn sender(&mut self, now: Time, mac: Mac, port: u32, out: &mut Vec<Command>) -> Option<u32> {
        let sender = self.net.hear(now, mac, port, out);
        self.forget_gone(out);
        match sender {
            Sender::Known(station) => Some(station),
            Sender::Moved(station) => self.move_station(now, station, port, out).then_some(station),
            Sender::Nobody => None,
        }
    }

    fn close(&mut self, number: u64, out: &mut Vec<Command>) -> Option<Open> {
        let open = self.transactions.close(number)?;
        out.extend(open.frame.map(Command::Forget));
        Some(open)
    }
}

impl Controller for SpanningTree {
    fn switch_up(
        &mut self,
        now: Time,
        switch: SwitchId,
        ports: &[PortNo],
        rules: &[Rule],
        out: &mut Vec<Command>,
    ) {
        let Some((index, change)) = self.net.topology.switch_up(now, switch, ports) else {
            self.net.counters.switches_refused += 1;
            return;
        };
        let (mut found, mut twice) = (BTreeMap::new(), BTreeSet::new());
        for rule in rules.iter().filter(|rule| is_own(rule.cookie)) {
            if found.insert(rule.cookie, rule.clone()).is_some() {
                twice.insert(rule.cookie);
            }
        }
        let entries = self.entries.iter().filter(|(_, entry)| entry.switch == index);
        let rules: Vec<Rule> = entries.map(|(entry, _)| self.rule(entry)).collect();
        let mut changes = Changes::new();
        for &cookie in &twice {
            // Rules with one cookie are removed together, and the right one is added again.
            found.remove(&cookie);
            self.net.change(&mut changes, index, RuleChange::Remove { cookie, matches: Match::ALL });
        }
        for rule in rules {
            // Station rules that it still has are kept, by cookie.
            if found.remove(&rule.cookie).is_none() {
                self.net.counters.rules_missing += 1;
                self.net.change(&mut changes, index, RuleChange::Add(rule));
            }
        }
        at_once(changes, out);
        // The others are compared with those that do not depend on stations.
        *grown(&mut self.constant, index) = found.clone();
        self.changed(now, &change, out);
        let constant = &self.constant[index as usize];
        found.retain(|cookie, old| !constant.get(cookie).is_some_and(|new| replaces(new, old)));
        self.net.counters.rules_stale += (found.len() + twice.len()) as u64;
    }

    fn rules_read(
        &mut self,
        _now: Time,
        switch: SwitchId,
        (value, mask): (u64, u64),
        rules: &[Rule],
        out: &mut Vec<Command>,
    ) -> usize {
        let Some(index) = self.net.topology.switch(switch).filter(|&index| self.net.is_up(index)) else {
            return 0;
        };
        let mut changes = Changes::new();
        for rule in self.constant[index as usize].values().filter(|rule| rule.cookie & mask == value) {
            if !rules.contains(rule) {
                changes.push((switch, RuleChange::Add(rule.clone())));
            }
        }
        let missing = changes.len();
        self.net.counters.rules_repaired += missing as u64;
        at_once(changes, out);
        missing
    }

    fn switch_down(&mut self, now: Time, switch: SwitchId, out: &mut Vec<Command>) {
        let Some(index) = self.net.topology.switch_down(switch) else { return };
        self.net.stations.forget_claims_at(index);
        for number in self.transactions.waiting_for(index) {
            self.failed(now, number, switch, "connection lost", out);
        }
    }

    fn leave_alone(&mut self, switch: SwitchId, is_left_alone: bool) {
        self.net.expected.leave_alone(switch, is_left_alone);
    }

    fn port_changed(&mut self, now: Time, at: SwitchPort, up: bool, out: &mut Vec<Command>) {
        let change = self.net.topology.port_changed(now, at, up);
        self.changed(now, &change, out);
    }

    fn link_changed(
        &mut self,
        now: Time,
        from: SwitchPort,
        to: SwitchPort,
        up: bool,
        out: &mut Vec<Command>,
    ) {
        let change = self.net.topology.link_changed(from, to, up);
        if !change.ports.is_empty() {
            self.changed(now, &change, out);
        }
    }

    fn host_known(
        &mut self,
        now: Time,
        at: SwitchPort,
        mac: Mac,
        _addresses: &[IpAddr],
        out: &mut Vec<Command>,
    ) {
        if let Some(port) = self.net.topology.port_at(at)
            && !self.net.topology.leads_to_switch(port)
        {
            self.sender(now, mac, port, out);
        }
    }

    fn packet_in(
        &mut self,
        now: Time,
        at: SwitchPort,
        _cookie: u64,
        packet: &Packet,
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        self.net.counters.packet_ins += 1;
        let port = self.net.ingress(now, at);
        let source = port.and_then(|port| self.sender(now, packet.eth_src, port, out));
        let (Some(port), Some(source)) = (port, source) else { return out.push(Command::Forget(frame)) };
        if !self.net.learn(now, source, packet, out) {
            return out.push(Command::Forget(frame));
        }
        if packet.eth_dst.is_link_local() || packet.eth_dst == MadeFrame::CONTROLLER {
            self.net.counters.frames_filtered += 1;
            return out.push(Command::Forget(frame));
        }
        // A station last seen at a port that is down may be anywhere.
        let target = self.net.stations.with_mac(packet.eth_dst);
        match target.filter(|&target| self.net.is_there(now, target)) {
            Some(target) if self.net.stations.slab[target].port == port => {
                self.net.counters.frames_filtered += 1;
                out.push(Command::Forget(frame));
            }
            Some(target) => self.deliver(now, at, [source, target], frame, out),
            None => self.flood(now, port, frame, out),
        }
    }

    fn installed(&mut self, _now: Time, transaction: u64, out: &mut Vec<Command>) {
        let Some(open) = self.close(transaction, out) else { return };
        self.net.counters.installs += 1;
        send_held(open.held, out);
    }

    fn failed(
        &mut self,
        _now: Time,
        transaction: u64,
        switch: SwitchId,
        reason: &str,
        out: &mut Vec<Command>,
    ) {
        let Some(open) = self.close(transaction, out) else { return };
        self.net.install_failed(switch, reason);
        let mut changes = Changes::new();
        for handle in &open.routes {
            if self.entries.find(*handle).is_some() {
                let switch = self.entries[handle.index].switch;
                self.net.change(&mut changes, switch, self.rule(handle.index).removal());
                self.drop_entry(handle.index, out);
            }
        }
        for (_, frame) in open.held {
            self.net.drop_frame(frame, out);
        }
        at_once(changes, out);
    }

    fn rule_removed(
        &mut self,
        _now: Time,
        _switch: SwitchId,
        cookie: u64,
        _packets: u64,
        _bytes: u64,
        out: &mut Vec<Command>,
    ) {
        if let Some(Cookie::Tree(index, generation)) = Cookie::read(cookie)
            && self.entries.has(index, generation, GENERATION_BITS)
            && self.transactions.of_route(index).is_none()
        {
            self.drop_entry(index, out);
        }
    }

    fn next_deadline(&self) -> Time {
        self.transactions.deadline().min(self.net.stations.deadline())
    }

    fn on_deadline(&mut self, now: Time, out: &mut Vec<Command>) {
        while let Some(number) = self.transactions.overdue(now) {
            self.net.counters.installs_overdue += 1;
            self.failed(now, number, SwitchId(0), "install timed out", out);
        }
        self.net.ask_again(now, out);
        while let Some((station, port)) = self.net.settle_claims(now, out) {
            self.move_station(now, station, port, out);
        }
    }

    fn offences(&mut self) -> Vec<Offence> {
        self.net.offences.take()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.net.counters();
        counters.extend([
            ("routes_now", self.entries.len() as u64),
            ("transactions_now", self.transactions.len() as u64),
            ("held_frames_now", self.transactions.held() as u64),
            ("memory_bytes_now", (self.net.bytes() + self.entries.bytes()) as u64),
        ]);
        counters
    }

    fn show(&self, now: Time, what: Show, limit: usize) -> Value {
        match what {
            Show::Connections => json!({ "connections": [], "total": 0, "flows": 0 }),
            Show::Paths => json!({ "paths": [], "total": 0 }),
            Show::Switches => self.net.show_switches(now, limit),
            Show::Stations => self.net.show_stations(now, limit),
        }
    }
}
