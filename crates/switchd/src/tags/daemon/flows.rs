//! [`Flows`]: the rules of the switch, as read and changed through the control socket.

use std::cmp::Reverse;
use std::sync::Arc;

use thiserror::Error;
use weft_switching::tag_forward::{
    Difference, Entry, FlowChange, FlowError, FlowTable, GroupId, WantedError, Way,
};

use crate::bodies::{self, CountedRule, Group, WantedFlows};
use crate::tags::{Rules, RulesRefused};

/// Why the rules are unchanged.
#[derive(Debug, Error)]
pub enum ChangeError {
    /// The table refuses one change, and thus all of them.
    #[error("change {at}: {error}")]
    Change {
        /// Its index.
        at: usize,
        /// Why.
        error: Box<FlowError>,
    },
    /// The table refuses one rule of a list, and thus the list.
    #[error("rule {at}: {error}")]
    Rule {
        /// Its index in the list.
        at: usize,
        /// Why.
        error: Box<FlowError>,
    },
    /// The table refuses another change needed for a list of rules.
    #[error("{0}")]
    Other(Box<FlowError>),
    /// The list is not valid for one priority.
    #[error(transparent)]
    Wanted(#[from] WantedError),
    /// The data plane refuses them.
    #[error("{0}")]
    Plane(RulesRefused),
}

/// The changes made to reach the requested rules.
pub struct Summary {
    /// Rules added.
    pub added: usize,
    /// Rules whose action changed.
    pub replaced: usize,
    /// Rules removed.
    pub removed: usize,
    /// Rules unchanged.
    pub kept: usize,
}

/// The rules of a switch.
pub struct Flows(Rules);

impl Flows {
    /// Creates the state from the rules in the maps.
    pub const fn new(rules: Rules) -> Self {
        Self(rules)
    }

    /// The rules, without counts.
    pub const fn table(&self) -> &FlowTable {
        self.0.table()
    }

    /// Applies changes in order, all or none.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn change(&mut self, changes: &[FlowChange]) -> Result<(), ChangeError> {
        self.0.apply(changes).map_err(|refused| match refused {
            RulesRefused::Change { at, error } => ChangeError::Change { at, error },
            other => ChangeError::Plane(other),
        })
    }

    /// Replaces the rules of a priority and all groups with these.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn make(&mut self, wanted: &WantedFlows) -> Result<Summary, ChangeError> {
        let groups: Vec<(GroupId, Arc<[Way]>)> =
            wanted.groups.iter().map(|group| (group.id, Arc::clone(&group.ways))).collect();
        let difference = self.table().difference(wanted.priority, &wanted.rules, &groups)?;
        let Difference { changes, added, replaced, removed, kept } = difference;
        self.change(&changes).map_err(|error| match error {
            ChangeError::Change { at, error } => {
                let rule = match changes.get(at) {
                    Some(FlowChange::Add(rule) | FlowChange::Replace(rule)) => Some(rule),
                    _ => None,
                };
                match rule.and_then(|rule| wanted.rules.iter().position(|other| other == rule)) {
                    Some(at) => ChangeError::Rule { at, error },
                    None => ChangeError::Other(error),
                }
            }
            other => other,
        })?;
        Ok(Summary { added, replaced, removed, kept })
    }

    /// The rules with their counts, at most `limit`, and all groups.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn show(&self, limit: usize) -> std::io::Result<bodies::Flows> {
        // A few counts are read one by one.
        let few = limit < self.table().len() / 8;
        let mut entries: Vec<Entry> =
            if few { self.table().entries().copied().collect() } else { self.0.entries()? };
        entries.sort_unstable_by_key(|entry| (Reverse(entry.rule.priority), entry.rule.matches));
        let total = entries.len();
        entries.truncate(limit);
        let counted = |entry: Entry| {
            let entry = match few {
                true => self.0.entry(entry.rule.priority, &entry.rule.matches).unwrap_or(entry),
                false => entry,
            };
            let (rule, packets, bytes) = (entry.rule, entry.packets, entry.bytes);
            CountedRule {
                priority: rule.priority,
                matches: rule.matches,
                action: rule.action,
                packets,
                bytes,
            }
        };
        let rules = entries.into_iter().map(counted).collect();
        let mut groups: Vec<Group> =
            self.table().groups().map(|(id, ways)| Group { id, ways: ways.into() }).collect();
        groups.sort_unstable_by_key(|group| group.id);
        Ok(bodies::Flows { total, rules, groups })
    }
}
