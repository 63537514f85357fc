//! [`Rules`]: the flow table of a switch, both in the daemon and in the maps of the programs.

use std::collections::{HashMap, HashSet};
use std::io;

use aya::Pod;
use aya::maps::{Array, Map, MapData};
use thiserror::Error;
use weft_fabric::gates::Gate;
use weft_switching::tag_forward::{
    Entry, FlowAction, FlowChange, FlowError, FlowMatch, FlowRule, FlowTable, FlowTarget, GroupId, Limits,
    Way,
};
use weft_wire::TagWidth;

use super::Turns;
use super::kinds::{Key, KindKey, KindList};
use super::layout::{Group, GroupWay, KeyV4, KeyV6, Kinds, MAX_WAYS, Rule};
use crate::error::PlaneError;
use crate::pins::Pins;
use crate::walk::Walk;

/// Attempts to insert a rule: the kernel frees removed entries with a small delay.
const TRIES: u32 = 1000;

/// Why rules were not changed.
#[derive(Debug, Error)]
pub enum RulesRefused {
    /// The table refuses one change, and thus all of them.
    #[error("change {}: {error}", at + 1)]
    Change {
        /// Its index.
        at: usize,
        /// Why.
        error: Box<FlowError>,
    },
    /// The kernel refused them.
    #[error(transparent)]
    Plane(#[from] PlaneError),
}

/// The rules and groups that a batch of changes touches.
#[derive(Default)]
struct Batch {
    /// Rules: whether each existed before, and whether its counters restart.
    rules: HashMap<(u16, FlowMatch), Touched>,
    groups: Vec<GroupId>,
    /// The changes that undo the batch, to be applied in reverse order.
    undo: Vec<FlowChange>,
}

#[derive(Clone, Copy)]
struct Touched {
    was_there: bool,
    anew: bool,
}

impl Batch {
    /// Records the entries that a change is about to touch, and how to undo it.
    fn note(&mut self, table: &FlowTable, change: &FlowChange) {
        let known = |priority: u16, matches: &FlowMatch| table.get(priority, matches).map(|entry| entry.rule);
        let mut touch = |priority: u16, matches: FlowMatch, anew: bool| {
            let was_there = table.get(priority, &matches).is_some();
            let touched = self.rules.entry((priority, matches)).or_insert(Touched { was_there, anew });
            touched.anew |= anew;
        };
        let undo = match change {
            FlowChange::Add(FlowRule { priority, matches, .. }) => {
                touch(*priority, *matches, true);
                Some(FlowChange::Remove { priority: *priority, matches: *matches })
            }
            FlowChange::Replace(FlowRule { priority, matches, .. }) => {
                touch(*priority, *matches, false);
                known(*priority, matches).map(FlowChange::Replace)
            }
            FlowChange::Remove { priority, matches } => {
                touch(*priority, *matches, true);
                known(*priority, matches).map(FlowChange::Add)
            }
            FlowChange::SetGroup { id, .. } => {
                self.groups.push(*id);
                let before =
                    table.group(*id).map(|ways| FlowChange::SetGroup { id: *id, ways: ways.clone() });
                Some(before.unwrap_or(FlowChange::RemoveGroup(*id)))
            }
            FlowChange::RemoveGroup(id) => {
                self.groups.push(*id);
                table.group(*id).map(|ways| FlowChange::SetGroup { id: *id, ways: ways.clone() })
            }
        };
        self.undo.extend(undo);
    }
}

/// The rules and groups of a switch.
pub struct Rules {
    /// Checks for duplicates, conflicts and limits. Its counters are unused: the program counts.
    table: FlowTable,
    kinds: KindList,
    turns: Turns,
    current: Map,
    places: Map,
    v4: Walk<KeyV4, Rule>,
    v6: Walk<KeyV6, Rule>,
    groups: Walk<u32, Group>,
}

impl Rules {
    /// Opens and reads the pinned maps. Rules and groups that are not valid for tags of `width` are removed.
    ///
    /// # Errors
    /// [`PlaneError`].
    pub fn open(width: TagWidth, pins: &Pins) -> Result<Self, PlaneError> {
        let open = |name: &str| -> Result<Map, PlaneError> {
            Ok(Map::from_map_data(MapData::from_pin(pins.map(name))?)?)
        };
        let mut rules = Self {
            table: FlowTable::new(Limits::default(), width),
            kinds: KindList::default(),
            turns: Turns::KINDS,
            current: open("current")?,
            places: open("kinds")?,
            v4: Walk::open(&pins.map("flows_v4"))?,
            v6: Walk::open(&pins.map("flows_v6"))?,
            groups: Walk::open(&pins.map("groups"))?,
        };
        rules.adopt()?;
        Ok(rules)
    }

    /// The rules without counters, which are 0 in it.
    pub const fn table(&self) -> &FlowTable {
        &self.table
    }

    /// Applies changes in order, all or none.
    ///
    /// # Errors
    /// [`RulesRefused`]; then nothing is changed.
    pub fn apply(&mut self, changes: &[FlowChange]) -> Result<(), RulesRefused> {
        let mut batch = Batch::default();
        for (at, change) in changes.iter().enumerate() {
            batch.note(&self.table, change);
            if let Err(error) = self.table.apply(change) {
                // The failed change has no effect to undo.
                batch.undo.truncate(at);
                self.take_back(&mut batch);
                return Err(RulesRefused::Change { at, error: Box::new(error) });
            }
        }
        let Err(error) = self.write(&batch) else { return Ok(()) };
        self.take_back(&mut batch);
        if let Err(error) = self.restore(&batch) {
            tracing::error!(%error, "restoring the rules of the data plane failed");
        }
        Err(error.into())
    }

    fn take_back(&mut self, batch: &mut Batch) {
        for change in batch.undo.drain(..).rev() {
            if let Err(error) = self.table.apply(&change) {
                tracing::error!(%error, "undoing a change of rules failed");
            }
        }
    }

    /// Copies everything that the batch touches from the table to the maps. At any time, the group of every rule that a
    /// frame can find exists.
    fn write(&mut self, batch: &Batch) -> Result<(), PlaneError> {
        self.put_groups(batch)?;
        let (mut gone, mut other) = (Vec::new(), false);
        for ((priority, matches), touched) in &batch.rules {
            let kind = KindKey::of(*priority, matches);
            match (self.table.get(*priority, matches).map(|entry| entry.rule), touched.was_there) {
                (Some(rule), was_there) => {
                    if !was_there {
                        other |= self.kinds.add(kind);
                    }
                    if let Some(key) = self.kinds.key(*priority, matches) {
                        self.put(&key, &rule, touched.anew)?;
                    }
                }
                (None, true) => {
                    gone.extend(self.kinds.key(*priority, matches));
                    other |= self.kinds.remove(kind);
                }
                (None, false) => {}
            }
        }
        if other {
            self.turns.set(&mut self.current, &mut self.places, self.kinds.table())?;
        }
        self.forget(&gone)?;
        self.forget_groups(batch)
    }

    /// Removes a batch of which the kernel refused a part.
    fn restore(&mut self, batch: &Batch) -> Result<(), PlaneError> {
        let keys = |kinds: &KindList| -> Vec<Key> {
            batch.rules.keys().filter_map(|(priority, matches)| kinds.key(*priority, matches)).collect()
        };
        let before = keys(&self.kinds);
        self.recount();
        self.put_groups(batch)?;
        let mut kept = HashSet::new();
        for key in keys(&self.kinds) {
            let known = self.kinds.matches(&key);
            let known = known.and_then(|(priority, matches)| self.table.get(priority, &matches));
            if let Some(entry) = known {
                self.put(&key, &entry.rule, false)?;
                kept.insert(key);
            }
        }
        self.turns.set(&mut self.current, &mut self.places, self.kinds.table())?;
        self.forget(&before.into_iter().filter(|key| !kept.contains(key)).collect::<Vec<_>>())?;
        self.forget_groups(batch)
    }

    fn put_groups(&self, batch: &Batch) -> io::Result<()> {
        let mut known = batch.groups.iter().filter_map(|id| Some((id.0, self.table.group(*id)?)));
        known.try_for_each(|(id, ways)| insert(&self.groups, &id, &group(ways)))
    }

    fn forget_groups(&self, batch: &Batch) -> Result<(), PlaneError> {
        let gone = batch.groups.iter().filter(|id| self.table.group(**id).is_none());
        self.groups.remove(&gone.map(|id| id.0).collect::<Vec<_>>())?;
        Ok(())
    }

    /// Recounts the rules of all kinds; returns whether kinds without rules were removed.
    fn recount(&mut self) -> bool {
        self.kinds.clear();
        for Entry { rule, .. } in self.table.entries() {
            self.kinds.add(KindKey::of(rule.priority, &rule.matches));
        }
        self.kinds.prune()
    }

    /// Adds a rule or changes its action; unless `anew`, its counters continue, except for frames at this very moment.
    fn put(&self, key: &Key, rule: &FlowRule, anew: bool) -> io::Result<()> {
        let known = if anew { None } else { self.value(key) };
        let (packets, bytes) = known.map_or((0, 0), |rule| (rule.packets, rule.bytes));
        let value = value(&rule.action, packets, bytes);
        match key {
            Key::V4(key) => insert(&self.v4, key, &value),
            Key::V6(key) => insert(&self.v6, key, &value),
        }
    }

    fn value(&self, key: &Key) -> Option<Rule> {
        match key {
            Key::V4(key) => self.v4.get(key),
            Key::V6(key) => self.v6.get(key),
        }
    }

    fn forget(&self, keys: &[Key]) -> io::Result<()> {
        let v4: Vec<KeyV4> =
            keys.iter().filter_map(|key| if let Key::V4(key) = key { Some(*key) } else { None }).collect();
        let v6: Vec<KeyV6> =
            keys.iter().filter_map(|key| if let Key::V6(key) = key { Some(*key) } else { None }).collect();
        self.v4.remove(&v4)?;
        self.v6.remove(&v6)?;
        Ok(())
    }

    /// The rule with this match and priority, and its counters.
    pub fn entry(&self, priority: u16, matches: &FlowMatch) -> Option<Entry> {
        let rule = self.table.get(priority, matches)?.rule;
        let found = self.value(&self.kinds.key(priority, matches)?)?;
        Some(Entry { rule, packets: found.packets, bytes: found.bytes })
    }

    /// All rules with their counters, in no particular order.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::with_capacity(self.table.len());
        self.each(|key, value| {
            let known = self.kinds.matches(&key);
            let known = known.and_then(|(priority, matches)| self.table.get(priority, &matches));
            entries.extend(known.map(|entry| Entry { packets: value.packets, bytes: value.bytes, ..*entry }));
        })?;
        Ok(entries)
    }

    /// Passes all entries in the maps of rules to `see`.
    fn each(&self, mut see: impl FnMut(Key, &Rule)) -> io::Result<()> {
        self.v4.each(|keys, values| {
            keys.iter().zip(values).for_each(|(key, value)| see(Key::V4(*key), value));
        })?;
        self.v6.each(|keys, values| {
            keys.iter().zip(values).for_each(|(key, value)| see(Key::V6(*key), value));
        })
    }

    fn read_kinds(&self) -> Result<KindList, PlaneError> {
        let current = self.turns.current(&Array::try_from(&self.current)?)?;
        Ok(KindList::read(&Array::<_, Kinds>::try_from(&self.places)?.get(&current, 0)?))
    }

    /// Takes over the rules of an earlier daemon.
    fn adopt(&mut self) -> Result<(), PlaneError> {
        self.kinds = self.read_kinds()?;
        let (mut groups, mut strange_groups) = (Vec::new(), Vec::new());
        self.groups.each(|ids, values| groups.extend(ids.iter().copied().zip(values.iter().copied())))?;
        for (id, group) in groups {
            let ways = group.ways.iter().take(group.count as usize);
            let ways = ways.map(|way| Way { gate: Gate(way.gate), up: way.up }).collect();
            if self.table.apply(&FlowChange::SetGroup { id: GroupId(id), ways }).is_err() {
                strange_groups.push(id);
            }
        }
        let mut found = Vec::new();
        self.each(|key, value| found.push((key, *value)))?;
        let mut strange = Vec::new();
        for (key, value) in found {
            let known = self.kinds.matches(&key);
            let rule =
                known.map(|(priority, matches)| FlowRule { priority, matches, action: action(&value) });
            if rule.is_none_or(|rule| self.table.add(rule).is_err()) {
                strange.push(key);
            }
        }
        if !strange.is_empty() || !strange_groups.is_empty() {
            tracing::warn!(
                rules = strange.len(),
                groups = strange_groups.len(),
                "removing rules of the previous daemon that are not valid for this one"
            );
        }
        if self.recount() {
            self.turns.set(&mut self.current, &mut self.places, self.kinds.table())?;
        }
        self.forget(&strange)?;
        self.groups.remove(&strange_groups)?;
        Ok(())
    }
}

/// Inserts an entry as soon as there is room.
fn insert<K: Pod, V: Pod>(map: &Walk<K, V>, key: &K, value: &V) -> io::Result<()> {
    let mut tries = 0;
    loop {
        match map.insert(key, value) {
            Err(error) if error.raw_os_error() == Some(libc::ENOMEM) && tries < TRIES => {
                tries += 1;
                std::thread::yield_now();
            }
            inserted => return inserted,
        }
    }
}

fn group(ways: &[Way]) -> Group {
    let mut group = Group { count: 0, reserved: 0, ways: [GroupWay::default(); MAX_WAYS] };
    // A flow table has no larger groups.
    for (place, way) in group.ways.iter_mut().zip(ways) {
        *place = GroupWay { gate: way.gate.0, up: way.up };
        group.count += 1;
    }
    group
}

fn value(action: &FlowAction, packets: u64, bytes: u64) -> Rule {
    let FlowAction { queue, down, to } = *action;
    let (to, up, to_group) = match to {
        FlowTarget::Way(way) => (way.gate.0, way.up, 0),
        FlowTarget::Group(id) => (id.0, 0, 1),
    };
    Rule { packets, bytes, down, to, up, queue, to_group, reserved: 0 }
}

fn action(rule: &Rule) -> FlowAction {
    let to = match rule.to_group {
        0 => FlowTarget::Way(Way { gate: Gate(rule.to), up: rule.up }),
        _ => FlowTarget::Group(GroupId(rule.to)),
    };
    FlowAction { queue: rule.queue, down: rule.down, to }
}
