//! [`Difference`]: the fewest changes that turn a [`FlowTable`] into the wanted one.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use thiserror::Error;
use weft_control::tag_forward::{FlowAction, FlowChange, FlowMatch, FlowRule, FlowTarget, GroupId, Way};

use super::flow_table::FlowTable;

/// Why a list of rules is invalid for a priority.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum WantedError {
    /// A rule has another priority.
    #[error("rule {at}: priority {}, but this list is for priority {priority}", .rule.priority)]
    Priority {
        /// The rule's index, from 0.
        at: usize,
        /// The rule.
        rule: FlowRule,
        /// The list's priority.
        priority: u16,
    },
    /// Two rules have the same match.
    #[error("rule {at}: {} is already in the list, as rule {first}", .rule.matches)]
    Twice {
        /// The rule's index, from 0.
        at: usize,
        /// The rule.
        rule: FlowRule,
        /// The index of the earlier one.
        first: usize,
    },
    /// A group is listed twice.
    #[error("group {0} is in the list twice")]
    Group(GroupId),
}

/// The changes from a priority's rules to others.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Difference {
    /// The changes, in an order that the table accepts.
    pub changes: Vec<FlowChange>,
    /// Rules added.
    pub added: usize,
    /// Rules with a new action.
    pub replaced: usize,
    /// Rules removed.
    pub removed: usize,
    /// Unchanged rules.
    pub kept: usize,
}

/// The group that a rule uses.
fn group_of(rule: &FlowRule) -> Option<GroupId> {
    match rule.action.to {
        FlowTarget::Group(id) => Some(id),
        FlowTarget::Way(_) => None,
    }
}

impl FlowTable {
    /// The fewest changes after which `priority` has exactly these rules, and the table these groups and those used
    /// by other rules. Rules of other priorities stay.
    ///
    /// # Errors
    /// [`WantedError`].
    pub fn difference(
        &self,
        priority: u16,
        rules: &[FlowRule],
        groups: &[(GroupId, Arc<[Way]>)],
    ) -> Result<Difference, WantedError> {
        let mut wanted: HashMap<FlowMatch, (usize, FlowAction), FxBuildHasher> = HashMap::default();
        for (at, rule) in rules.iter().enumerate() {
            if rule.priority != priority {
                return Err(WantedError::Priority { at, rule: *rule, priority });
            }
            if let Some((first, _)) = wanted.insert(rule.matches, (at, rule.action)) {
                return Err(WantedError::Twice { at, rule: *rule, first });
            }
        }
        let mut groups_wanted: HashMap<GroupId, &Arc<[Way]>, FxBuildHasher> = HashMap::default();
        for (id, ways) in groups {
            if groups_wanted.insert(*id, ways).is_some() {
                return Err(WantedError::Group(*id));
            }
        }
        let mut difference = Difference::default();
        let changed = groups.iter().filter(|(id, ways)| self.group(*id) != Some(ways));
        let mut changes: Vec<FlowChange> =
            changed.map(|(id, ways)| FlowChange::SetGroup { id: *id, ways: Arc::clone(ways) }).collect();
        let mut replaced = Vec::new();
        for entry in self.entries().filter(|entry| entry.rule.priority == priority) {
            let FlowRule { matches, action, .. } = entry.rule;
            match wanted.remove(&matches) {
                None => {
                    difference.removed += 1;
                    changes.push(FlowChange::Remove { priority, matches });
                }
                Some((_, same)) if same == action => difference.kept += 1,
                Some((_, action)) => {
                    replaced.push(FlowChange::Replace(FlowRule { priority, matches, action }))
                }
            }
        }
        difference.replaced = replaced.len();
        changes.append(&mut replaced);
        // The remaining ones, in the given order.
        let new = rules.iter().filter(|rule| wanted.contains_key(&rule.matches));
        difference.added = wanted.len();
        changes.extend(new.map(|rule| FlowChange::Add(*rule)));
        let others = self.entries().map(|entry| &entry.rule).filter(|rule| rule.priority != priority);
        let named: HashSet<GroupId, FxBuildHasher> = others.chain(rules).filter_map(group_of).collect();
        let stays = |id: &GroupId| groups_wanted.contains_key(id) || named.contains(id);
        let gone = self.groups().map(|(id, _)| id).filter(|id| !stays(id));
        changes.extend(gone.map(FlowChange::RemoveGroup));
        difference.changes = changes;
        Ok(difference)
    }
}

#[cfg(test)]
mod tests {
    use weft_fabric::gates::{Gate, TagWidth};

    use super::super::Limits;
    use super::*;

    fn rule(priority: u16, destination: u8, down: u32, group: Option<u32>) -> FlowRule {
        let to = match group {
            Some(id) => FlowTarget::Group(GroupId(id)),
            None => FlowTarget::Way(Way { gate: Gate(2), up: 0 }),
        };
        let matches = FlowMatch::to(std::net::Ipv4Addr::new(10, 0, 0, destination).into());
        FlowRule { priority, matches, action: FlowAction { queue: 0, down, to } }
    }

    fn group(id: u32, gates: &[u32]) -> (GroupId, Arc<[Way]>) {
        (GroupId(id), gates.iter().map(|gate| Way { gate: Gate(*gate), up: 48 }).collect())
    }

    fn set((id, ways): (GroupId, Arc<[Way]>)) -> FlowChange {
        FlowChange::SetGroup { id, ways }
    }

    fn apply(table: &mut FlowTable, changes: &[FlowChange]) {
        changes.iter().for_each(|change| table.apply(change).unwrap());
    }

    fn filled() -> FlowTable {
        let mut table = FlowTable::new(Limits::default(), TagWidth::Narrow);
        let changes = [
            set(group(1, &[2, 4])),
            set(group(2, &[2])),
            FlowChange::Add(rule(1000, 1, 2, Some(1))),
            FlowChange::Add(rule(1000, 2, 2, None)),
            FlowChange::Add(rule(5, 2, 2, Some(2))),
        ];
        apply(&mut table, &changes);
        table
    }

    #[test]
    fn a_difference_has_the_fewest_changes_and_none_the_second_time() {
        let mut table = filled();
        let rules = [rule(1000, 1, 2, Some(1)), rule(1000, 2, 6, Some(4)), rule(1000, 3, 2, Some(4))];
        let groups = [group(1, &[2, 4]), group(2, &[4]), group(4, &[2])];
        let difference = table.difference(1000, &rules, &groups).unwrap();
        let Difference { added, replaced, removed, kept, .. } = difference;
        assert_eq!((added, replaced, removed, kept), (1, 1, 0, 1));
        assert_eq!(difference.changes.len(), 4, "two groups, a replaced rule and an added one");
        apply(&mut table, &difference.changes);
        let again = table.difference(1000, &rules, &groups).unwrap();
        assert_eq!(again, Difference { kept: 3, ..Difference::default() });
        let none = table.difference(1000, &[], &groups[1..2]).unwrap();
        assert_eq!((none.removed, none.changes.len()), (3, 5), "three rules and their two groups");
        apply(&mut table, &none.changes);
        let left: Vec<FlowRule> = table.entries().map(|entry| entry.rule).collect();
        assert_eq!(left, [rule(5, 2, 2, Some(2))], "another priority's rules stay");
    }

    #[test]
    fn groups_that_rules_of_other_priorities_name_stay() {
        let mut table = filled();
        let none = table.difference(1000, &[], &[]).unwrap();
        apply(&mut table, &none.changes);
        let left: Vec<GroupId> = table.groups().map(|(id, _)| id).collect();
        assert_eq!(left, [GroupId(2)], "group 1 is removed with the rule that used it");
        let other = table.difference(1000, &[], &[group(2, &[4])]).unwrap();
        assert_eq!(other.changes, [set(group(2, &[4]))], "a listed group is set");
        let rules = [rule(1000, 3, 2, Some(2))];
        let named = table.difference(1000, &rules, &[]).unwrap();
        apply(&mut table, &named.changes);
        apply(&mut table, &[FlowChange::Remove { priority: 5, matches: rule(5, 2, 2, None).matches }]);
        let again = table.difference(1000, &rules, &[]).unwrap();
        assert_eq!(again, Difference { kept: 1, ..Difference::default() }, "a listed rule uses it");
    }

    #[test]
    fn a_list_that_no_priority_can_have_is_refused_with_the_rule() {
        let table = filled();
        for (rules, groups, message) in [
            (vec![rule(7, 1, 2, None)], vec![], "rule 0: priority 7, but this list is for priority 1000"),
            (
                vec![rule(1000, 1, 2, None), rule(1000, 1, 4, None)],
                vec![],
                "rule 1: 0.0.0.0/0 -> 10.0.0.1/32 is already in the list, as rule 0",
            ),
            (vec![], vec![group(1, &[]), group(1, &[2])], "group 1 is in the list twice"),
        ] {
            assert_eq!(table.difference(1000, &rules, &groups).unwrap_err().to_string(), message);
        }
    }
}
