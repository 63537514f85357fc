//! [`Entries`]: the rules for frames to stations.

use rustc_hash::FxHashMap;
use smallvec::smallvec;
use weft_wire::Mac;

use crate::cookie::Cookie;
use crate::ids::PortNo;
use crate::rule::{Match, Rule, RuleAction, priority};
use crate::settings::Settings;
use crate::slab::Slab;

/// A switch's rule for frames to a station.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub switch: u32,
    pub station: u32,
    pub mac: Mac,
    /// The output port.
    pub port: PortNo,
}

/// All entries.
#[derive(Clone, Debug)]
pub(super) struct Entries {
    pub slab: Slab<Entry>,
    by_ends: FxHashMap<(u32, u32), u32>,
    idle_timeout_s: u16,
}

impl Entries {
    /// Creates an empty table.
    pub fn new(settings: &Settings) -> Self {
        Self {
            slab: Slab::starting(settings.epoch),
            by_ends: FxHashMap::default(),
            idle_timeout_s: settings.idle_timeout_s,
        }
    }

    /// The entry of a switch for a station.
    pub fn at(&self, switch: u32, station: u32) -> Option<u32> {
        self.by_ends.get(&(switch, station)).copied()
    }

    /// The entries with this property.
    pub fn all(&self, which: impl Fn(&Entry) -> bool) -> Vec<u32> {
        self.slab.iter().filter(|(_, entry)| which(entry)).map(|(index, _)| index).collect()
    }

    /// Adds an entry.
    pub fn insert(&mut self, entry: Entry) -> u32 {
        let index = self.slab.insert(entry);
        self.by_ends.insert((entry.switch, entry.station), index);
        index
    }

    /// Forgets an entry.
    pub fn remove(&mut self, index: u32) {
        let Entry { switch, station, .. } = self.slab[index];
        self.by_ends.remove(&(switch, station));
        self.slab.remove(index);
    }

    /// The rule itself.
    pub fn rule(&self, index: u32) -> Rule {
        let entry = &self.slab[index];
        Rule {
            cookie: Cookie::Tree(index, self.slab.handle(index).generation).bits(),
            priority: priority::STATION,
            matches: Match::to(entry.mac),
            actions: smallvec![RuleAction::Output(entry.port)],
            idle_timeout_s: self.idle_timeout_s,
            notify_removed: true,
        }
    }
}
