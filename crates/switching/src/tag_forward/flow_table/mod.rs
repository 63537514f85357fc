//! [`FlowTable`]: the rules of a switch at the source of flows, and the groups of ways that they use.
//!
//! No two rules of one priority match the same packet, so the result of a lookup does not depend on the order of
//! insertion.

use std::net::IpAddr;
use std::sync::Arc;

use hashbrown::HashMap;
use ipnet::IpNet;
use rustc_hash::FxBuildHasher;
use weft_control::{RuleSet, Shape};
use weft_wire::{Tag, TagWidth};

use weft_control::tag_forward::{
    Addresses, FlowAction, FlowChange, FlowMatch, FlowRule, FlowTarget, GroupId, Way,
};

use super::flow_error::FlowError;

/// Capacity of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Rules.
    pub rules: usize,
    /// Distinct triples of priority and two prefix lengths: a lookup checks each at most once.
    pub kinds: usize,
    /// Groups.
    pub groups: usize,
    /// Ways per group.
    pub ways: usize,
}

/// As many rules as the kernel's Open vSwitch holds, and groups for fat-trees up to k = 64 with a router at each core.
impl Default for Limits {
    fn default() -> Self {
        Self { rules: 200_000, kinds: 64, groups: 4096, ways: 1024 }
    }
}

/// A rule and its counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The rule.
    pub rule: FlowRule,
    /// Packets that matched it.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
}

/// Source and destination, masked.
type Key = (u128, u128);

/// The fields matched by the rules of one address family and pair of prefix lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Bits {
    is_v6: bool,
    /// Masks of source and destination.
    masks: Key,
}

impl Shape for Bits {
    /// Whether it is IPv6, its source and its destination.
    type Packet = (bool, Key);
    type Key = Key;

    #[inline]
    fn key(&self, (is_v6, (source, destination)): &(bool, Key)) -> Option<Key> {
        (self.is_v6 == *is_v6).then_some((source & self.masks.0, destination & self.masks.1))
    }
}

/// The ways of a group.
#[derive(Clone, Debug)]
struct Group {
    ways: Arc<[Way]>,
    /// Number of rules that use it.
    rules: u32,
}

/// The flow table of one switch.
#[derive(Clone, Debug)]
pub struct FlowTable {
    limits: Limits,
    width: TagWidth,
    rules: RuleSet<Bits, Entry>,
    groups: HashMap<GroupId, Group, FxBuildHasher>,
}

/// An address as a number, and whether it is IPv6.
fn number(address: IpAddr) -> (u128, bool) {
    match address {
        IpAddr::V4(address) => (address.to_bits().into(), false),
        IpAddr::V6(address) => (address.to_bits(), true),
    }
}

/// The mask of a network.
fn mask(network: IpNet) -> u128 {
    number(network.netmask()).0
}

/// The lookup key of a match: its masks and their values.
fn key(matches: &FlowMatch) -> (Bits, Key) {
    let (source, is_v6) = number(matches.source().network());
    let destination = number(matches.destination().network()).0;
    let masks = (mask(matches.source()), mask(matches.destination()));
    (Bits { is_v6, masks }, (source, destination))
}

impl FlowTable {
    /// An empty table for tags of `width`.
    pub fn new(limits: Limits, width: TagWidth) -> Self {
        Self { limits, width, rules: RuleSet::default(), groups: HashMap::default() }
    }

    /// The number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rules, in no particular order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.rules.iter().map(|(_, entry)| entry)
    }

    /// The rule with this match and priority.
    pub fn get(&self, priority: u16, matches: &FlowMatch) -> Option<&Entry> {
        let (bits, key) = key(matches);
        self.rules.get(self.rules.slot(priority, bits, &key)?)
    }

    /// The groups and their ways, in no particular order.
    pub fn groups(&self) -> impl Iterator<Item = (GroupId, &[Way])> {
        self.groups.iter().map(|(id, group)| (*id, &*group.ways))
    }

    /// A group.
    pub fn group(&self, id: GroupId) -> Option<&Arc<[Way]>> {
        self.groups.get(&id).map(|group| &group.ways)
    }

    /// The ways of a group; empty if it does not exist.
    pub fn ways(&self, id: GroupId) -> &[Way] {
        self.group(id).map_or(&[], |ways| ways)
    }

    /// Applies a change, or leaves the table unchanged.
    ///
    /// # Errors
    /// [`FlowError`].
    pub fn apply(&mut self, change: &FlowChange) -> Result<(), FlowError> {
        match change {
            FlowChange::Add(rule) => self.add(*rule),
            FlowChange::Replace(rule) => self.replace(*rule),
            FlowChange::Remove { priority, matches } => self.remove(*priority, matches).map(drop),
            FlowChange::SetGroup { id, ways } => self.set_group(*id, ways),
            FlowChange::RemoveGroup(id) => self.remove_group(*id),
        }
    }

    /// Adds a rule.
    ///
    /// # Errors
    /// [`FlowError`].
    pub fn add(&mut self, rule: FlowRule) -> Result<(), FlowError> {
        self.check(&rule.action)?;
        if let Some(other) = self.overlapping(&rule) {
            let is_same = other == rule;
            return Err(if is_same {
                FlowError::Duplicate(rule)
            } else {
                FlowError::Conflict { rule, other }
            });
        }
        if self.len() >= self.limits.rules {
            return Err(FlowError::Full(self.limits.rules));
        }
        let (bits, key) = key(&rule.matches);
        if self.rules.group(rule.priority, bits).is_none() && self.rules.groups().len() >= self.limits.kinds {
            return Err(FlowError::Kinds(self.limits.kinds));
        }
        self.rules.insert(rule.priority, bits, key, Entry { rule, packets: 0, bytes: 0 });
        self.name(rule.action.to, 1);
        Ok(())
    }

    /// Replaces the action of the rule with this match and priority; its counters are kept.
    ///
    /// # Errors
    /// [`FlowError::Absent`], [`FlowError::NoGroup`], [`FlowError::Tag`].
    pub fn replace(&mut self, rule: FlowRule) -> Result<(), FlowError> {
        self.check(&rule.action)?;
        let (bits, key) = key(&rule.matches);
        let slot = self.rules.slot(rule.priority, bits, &key);
        let entry = slot.and_then(|slot| self.rules.get_mut(slot));
        let absent = FlowError::Absent { priority: rule.priority, matches: rule.matches };
        let before = std::mem::replace(&mut entry.ok_or(absent)?.rule.action, rule.action);
        self.name(before.to, -1);
        self.name(rule.action.to, 1);
        Ok(())
    }

    /// Removes a rule.
    ///
    /// # Errors
    /// [`FlowError::Absent`].
    pub fn remove(&mut self, priority: u16, matches: &FlowMatch) -> Result<Entry, FlowError> {
        let (bits, key) = key(matches);
        let entry = self.rules.remove(priority, bits, &key);
        let entry = entry.ok_or(FlowError::Absent { priority, matches: *matches })?;
        self.name(entry.rule.action.to, -1);
        Ok(entry)
    }

    /// Sets the ways of a group.
    ///
    /// # Errors
    /// [`FlowError::Ways`], [`FlowError::Groups`], [`FlowError::Tag`].
    pub fn set_group(&mut self, id: GroupId, ways: &Arc<[Way]>) -> Result<(), FlowError> {
        let most = self.limits.ways;
        if ways.len() > most {
            return Err(FlowError::Ways { id, ways: ways.len(), most });
        }
        ways.iter().filter(|way| way.up > 0).try_for_each(|way| self.check_numbers(0, way.up, 0))?;
        if let Some(group) = self.groups.get_mut(&id) {
            group.ways = Arc::clone(ways);
        } else if self.groups.len() >= self.limits.groups {
            return Err(FlowError::Groups(self.limits.groups));
        } else {
            self.groups.insert(id, Group { ways: Arc::clone(ways), rules: 0 });
        }
        Ok(())
    }

    /// Removes a group.
    ///
    /// # Errors
    /// [`FlowError::NoGroup`], [`FlowError::GroupInUse`].
    pub fn remove_group(&mut self, id: GroupId) -> Result<(), FlowError> {
        match self.groups.get(&id) {
            None => Err(FlowError::NoGroup(id)),
            Some(Group { rules: 0, .. }) => {
                self.groups.remove(&id);
                Ok(())
            }
            Some(Group { rules, .. }) => Err(FlowError::GroupInUse { id, rules: *rules }),
        }
    }

    /// The action for a packet of `bytes`, or `None` if no rule matches; counts the packet.
    #[inline]
    pub fn find(&mut self, addresses: &Addresses, bytes: u16) -> Option<FlowAction> {
        let slot = self.slot_of(addresses)?;
        let entry = self.rules.get_mut(slot)?;
        entry.packets += 1;
        entry.bytes += u64::from(bytes);
        Some(entry.rule.action)
    }

    /// The rule for a packet, without counting it.
    pub fn rule_for(&self, addresses: &Addresses) -> Option<FlowRule> {
        self.rules.get(self.slot_of(addresses)?).map(|entry| entry.rule)
    }

    #[inline]
    fn slot_of(&self, addresses: &Addresses) -> Option<u32> {
        let (source, is_v6) = number(addresses.source);
        let (destination, other) = number(addresses.destination);
        if is_v6 != other {
            return None;
        }
        self.rules.find(&(is_v6, (source, destination)))
    }

    /// A rule of the same priority that matches some of the same packets: one lookup for rules whose prefixes are no
    /// longer, a scan of the others.
    fn overlapping(&self, rule: &FlowRule) -> Option<FlowRule> {
        let (bits, key) = key(&rule.matches);
        let rule_at = |slot: u32| self.rules.get(slot).map(|entry| entry.rule);
        let groups = self.rules.groups().iter();
        let mut same =
            groups.filter(|group| group.priority == rule.priority && group.shape.is_v6 == bits.is_v6);
        same.find_map(|group| {
            let (masks, other_masks) = (bits.masks, group.shape.masks);
            let common = (other_masks.0 & masks.0, other_masks.1 & masks.1);
            if common == other_masks {
                return rule_at(*group.slots.get(&(key.0 & common.0, key.1 & common.1))?);
            }
            let meets = |other: &Key| (other.0 ^ key.0) & common.0 == 0 && (other.1 ^ key.1) & common.1 == 0;
            let met = group.slots.iter().find(|(other, _)| meets(other));
            met.and_then(|(_, slot)| rule_at(*slot))
        })
    }

    /// Whether an action is possible.
    fn check(&self, action: &FlowAction) -> Result<(), FlowError> {
        match action.to {
            FlowTarget::Way(way) => self.check_numbers(action.queue, way.up, action.down),
            FlowTarget::Group(id) if !self.groups.contains_key(&id) => Err(FlowError::NoGroup(id)),
            // Without DOWN, the ways must have UP.
            FlowTarget::Group(_) => self.check_numbers(action.queue, 1, action.down),
        }
    }

    fn check_numbers(&self, queue: u8, up: u32, down: u32) -> Result<(), FlowError> {
        let bytes = Tag { queue, up, down }.to_bytes(self.width);
        bytes.map(drop).map_err(|error| FlowError::Tag { width: self.width, error })
    }

    /// Adjusts the number of rules that use the group of `to`.
    fn name(&mut self, to: FlowTarget, by: i32) {
        if let FlowTarget::Group(id) = to
            && let Some(group) = self.groups.get_mut(&id)
        {
            group.rules = group.rules.saturating_add_signed(by);
        }
    }
}

#[cfg(test)]
mod tests;
