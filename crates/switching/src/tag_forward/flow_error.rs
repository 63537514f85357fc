//! [`FlowError`]: why a flow table rejects a change.

use thiserror::Error;
use weft_wire::{Error, TagWidth};

use weft_control::tag_forward::{FlowMatch, FlowRule, GroupId};

/// Why a table rejects a change.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FlowError {
    /// The rule already exists.
    #[error("priority {}, {}: this rule already exists, with the same action", .0.priority, .0.matches)]
    Duplicate(FlowRule),
    /// Another rule of the same priority matches some of the same packets.
    #[error(
        "priority {}, {}: conflicts with {} of the same priority, and packets matching both could get either action: \
         change the priority of one, or replace the other", .rule.priority, .rule.matches, .other.matches
    )]
    Conflict {
        /// The given rule.
        rule: FlowRule,
        /// The existing rule.
        other: FlowRule,
    },
    /// The rule does not exist.
    #[error("priority {priority}, {matches}: there is no such rule")]
    Absent {
        /// Its priority.
        priority: u16,
        /// Its match.
        matches: FlowMatch,
    },
    /// The maximum number of rules is reached.
    #[error("the table is full ({0} rules)")]
    Full(usize),
    /// A lookup would have to check too many combinations.
    #[error(
        "the table is full ({0} combinations of priority and prefix lengths): reuse one that other rules have"
    )]
    Kinds(usize),
    /// A number does not fit its field of the tag.
    #[error("does not fit a {width} tag: {error}")]
    Tag {
        /// The switch's tag format.
        width: TagWidth,
        /// The error.
        error: Error,
    },
    /// A rule uses a group that does not exist.
    #[error("there is no group {0}: set the group before the rules that use it")]
    NoGroup(GroupId),
    /// Rules use the group.
    #[error("group {id} is used by {rules} rules: remove them first")]
    GroupInUse {
        /// The group.
        id: GroupId,
        /// How many rules.
        rules: u32,
    },
    /// The maximum number of groups is reached.
    #[error("the table is full ({0} groups)")]
    Groups(usize),
    /// Too many ways.
    #[error("group {id}: {ways} ways given, but a group has at most {most}")]
    Ways {
        /// The group.
        id: GroupId,
        /// The given number.
        ways: usize,
        /// The maximum.
        most: usize,
    },
}
