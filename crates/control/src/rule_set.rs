//! [`RuleSet`]: the rules of a table, indexed by match and priority.
//!
//! Rules of one priority that look at the same bits share one hash table (tuple space search, Srinivasan et al., SIGCOMM
//! 1999): a lookup probes each of these tables at most once, however many rules there are.

use std::fmt::Debug;
use std::hash::Hash;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// The bits of a packet that a rule looks at.
pub trait Shape: Copy + PartialEq {
    /// The packet type.
    type Packet;
    /// The value of those bits in a packet.
    type Key: Clone + Debug + Eq + Hash;

    /// The value of those bits in the packet; `None` if no rule of this shape can match it.
    fn key(&self, packet: &Self::Packet) -> Option<Self::Key>;
}

/// The rules of one priority that look at the same bits.
#[derive(Clone, Debug)]
pub struct Group<S: Shape> {
    /// The priority of the rules; the highest matching priority wins.
    pub priority: u16,
    /// The bits that they look at.
    pub shape: S,
    /// The slots of the rules, by the value of these bits.
    pub slots: HashMap<S::Key, u32, FxBuildHasher>,
}

/// Rules `R`, each in its own slot.
#[derive(Clone, Debug)]
pub struct RuleSet<S: Shape, R> {
    /// Groups by descending priority.
    groups: Vec<Group<S>>,
    slots: Vec<Option<R>>,
    free: Vec<u32>,
}

impl<S: Shape, R> Default for RuleSet<S, R> {
    fn default() -> Self {
        Self { groups: Vec::new(), slots: Vec::new(), free: Vec::new() }
    }
}

impl<S: Shape, R> RuleSet<S, R> {
    /// The number of rules.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The groups, by descending priority.
    pub fn groups(&self) -> &[Group<S>] {
        &self.groups
    }

    /// The group of a priority and shape, if there are such rules.
    pub fn group(&self, priority: u16, shape: S) -> Option<&Group<S>> {
        self.groups.iter().find(|group| group.priority == priority && group.shape == shape)
    }

    /// The slot of a rule.
    pub fn slot(&self, priority: u16, shape: S, key: &S::Key) -> Option<u32> {
        self.group(priority, shape)?.slots.get(key).copied()
    }

    /// The slot of the rule with the highest priority that matches a packet.
    #[inline]
    pub fn find(&self, packet: &S::Packet) -> Option<u32> {
        self.groups.iter().find_map(|group| group.slots.get(&group.shape.key(packet)?)).copied()
    }

    /// The rule in a slot.
    #[inline]
    pub fn get(&self, slot: u32) -> Option<&R> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// The rule in a slot.
    #[inline]
    pub fn get_mut(&mut self, slot: u32) -> Option<&mut R> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    /// The rules with their slots, by slot.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &R)> {
        (0..).zip(&self.slots).filter_map(|(slot, rule)| Some((slot, rule.as_ref()?)))
    }

    /// Adds a rule; returns its slot, and the rule with the same priority, shape and key that it replaced.
    pub fn insert(&mut self, priority: u16, shape: S, key: S::Key, rule: R) -> (u32, Option<R>) {
        let known = self.groups.iter().position(|group| group.priority == priority && group.shape == shape);
        let at = known.unwrap_or_else(|| {
            let at = self.groups.partition_point(|group| group.priority >= priority);
            self.groups.insert(at, Group { priority, shape, slots: HashMap::default() });
            at
        });
        let slot = *self.groups[at].slots.entry(key).or_insert_with(|| {
            self.free.pop().unwrap_or_else(|| {
                self.slots.push(None);
                self.slots.len() as u32 - 1
            })
        });
        (slot, self.slots[slot as usize].replace(rule))
    }

    /// Removes a rule.
    pub fn remove(&mut self, priority: u16, shape: S, key: &S::Key) -> Option<R> {
        let at = self.groups.iter().position(|group| group.priority == priority && group.shape == shape)?;
        let slot = self.groups[at].slots.remove(key)?;
        if self.groups[at].slots.is_empty() {
            self.groups.remove(at);
        }
        self.free.push(slot);
        self.slots[slot as usize].take()
    }
}
