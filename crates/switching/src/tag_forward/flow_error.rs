//! [`FlowError`]: why a flow table does not take a change.

use thiserror::Error;
use weft_wire::{Error, TagWidth};

use super::{FlowMatch, FlowRule, GroupId};

/// Why a table does not take a change.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FlowError {
    /// The rule is there already.
    #[error("priority {}, {}: there already, with the same action", .0.priority, .0.matches)]
    Duplicate(FlowRule),
    /// Another rule of the same priority is for some of the same packets.
    #[error(
        "priority {}, {}: conflicts with {} of the same priority, and packets that both are for would go by chance: \
         give one of them another priority, or replace the other", .rule.priority, .rule.matches, .other.matches
    )]
    Conflict {
        /// The rule.
        rule: FlowRule,
        /// What is there.
        other: FlowRule,
    },
    /// No such rule.
    #[error("priority {priority}, {matches}: there is no such rule")]
    Absent {
        /// Its priority.
        priority: u16,
        /// Its match.
        matches: FlowMatch,
    },
    /// All places are taken.
    #[error("the table has {0} rules, and holds no more")]
    Full(usize),
    /// A lookup would have to look at too much.
    #[error(
        "the table has rules of {0} different priorities and prefix lengths, and holds no more: use those that \
         others have"
    )]
    Kinds(usize),
    /// The tag has no bits for a number.
    #[error("a {width} tag cannot say this: {error}")]
    Tag {
        /// The tags of the switch.
        width: TagWidth,
        /// What is wrong.
        error: Error,
    },
    /// A rule names a group that is not there.
    #[error("there is no group {0}: set it before the rules that name it")]
    NoGroup(GroupId),
    /// Rules name the group.
    #[error("group {id} is named by {rules} rules: take those out first")]
    GroupInUse {
        /// The group.
        id: GroupId,
        /// How many.
        rules: u32,
    },
    /// All places for groups are taken.
    #[error("the table has {0} groups, and holds no more")]
    Groups(usize),
    /// Too many ways.
    #[error("group {id} would have {ways} ways, and a group has at most {most}")]
    Ways {
        /// The group.
        id: GroupId,
        /// How many were given.
        ways: usize,
        /// How many there may be.
        most: usize,
    },
}
