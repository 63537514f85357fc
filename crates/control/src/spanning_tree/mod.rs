//! [`SpanningTree`]: all traffic on one tree, as in a bridged network: the baseline for a multipath
//! controller.
//!
//! Frames to a known station are forwarded on the tree by its MAC address. Group frames and frames to unknown
//! stations are flooded along the tree by rules; only their ingress switch sends them to the controller.

mod constant;
mod entries;
mod events;
mod tree;

use std::collections::BTreeMap;

use smallvec::SmallVec;
use weft_wire::Mac;

use crate::clock::Time;
use crate::command::{Command, FrameOut, Transaction, at_once};
use crate::ids::{FrameRef, SwitchId, SwitchPort};
use crate::learning::Sender;
use crate::network::Network;
use crate::rule::{Rule, RuleChange};
use crate::settings::{Settings, SettingsError};
use crate::slab::grown;
use crate::topology::Change;
use crate::transactions::{Open, Transactions};
use entries::{Entries, Entry};
use tree::Tree;

/// The controller that puts all traffic on one tree.
#[derive(Clone, Debug)]
pub struct SpanningTree {
    net: Network,
    tree: Tree,
    /// For each switch, the rules that do not depend on stations.
    constant: Vec<BTreeMap<u64, Rule>>,
    entries: Entries,
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
            entries: Entries::new(&settings),
            transactions: Transactions::new(&settings),
            net: Network::new(settings),
        })
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
            let rules = constant::rules(&self.net, &self.tree, switch, now);
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

    /// Forgets rules of stations, and removes them from their switches.
    fn forget_entries(
        &mut self,
        which: impl Fn(&Entry) -> bool,
        changes: &mut Changes,
        out: &mut Vec<Command>,
    ) {
        for index in self.entries.all(which) {
            self.net.change(changes, self.entries.slab[index].switch, self.entries.rule(index).removal());
            self.drop_entry(index, out);
        }
    }

    fn drop_entry(&mut self, index: u32, out: &mut Vec<Command>) {
        for (_, frame) in self.transactions.leave_route(index) {
            self.net.drop_frame(frame, out);
        }
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
        if let Some(known) = self.entries.at(source.0, stations[1]) {
            let waits = self.transactions.of_route(known);
            if waits.is_some_and(|number| self.transactions.hold(number, at, frame)) {
                return;
            }
            return self.net.relay(now, source.1, stations[1], frame, out);
        }
        let Some(way) = self.tree.way(source.0, target.0) else {
            return self.net.drop_pathless(frame, out);
        };
        if !self.transactions.has_room() || self.entries.slab.len() >= self.net.settings.limits.flows {
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
            if self.entries.at(switch, station).is_some() {
                continue;
            }
            let index = self.entries.insert(Entry {
                switch,
                station,
                mac: self.net.stations.slab[station].mac,
                port,
            });
            self.net.change(&mut rules, switch, RuleChange::Add(self.entries.rule(index)));
            routes.push(self.entries.slab.handle(index));
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
        if self.net.admit_flood(now, port) {
            let at = self.net.topology.place(port);
            let switch = self.net.topology.ports[port as usize].switch;
            let ports = constant::flood_ports(&self.net, &self.tree, switch, Some(at.port), now);
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
        let moved = self.net.stations.relocate(now, station, switch, port);
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
