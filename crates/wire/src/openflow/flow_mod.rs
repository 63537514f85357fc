//! [`FlowMod`]: the controller changes the rules of a table (section 7.3.4.1).

use super::action::{instructions_len, put_instructions, read_instructions};
use super::reader::Reader;
use super::{Action, List, Match, PortNumber, buffer};
use crate::Error;
use crate::writer::Writer;

/// The change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum FlowCommand {
    /// Adds a rule, replacing one with the same match and priority.
    Add = 0,
    /// Changes the actions of all rules within the match.
    Modify = 1,
    /// Changes the actions of the rule with this match and priority.
    ModifyStrict = 2,
    /// Deletes all rules within the match.
    Delete = 3,
    /// Deletes the rule with this match and priority.
    DeleteStrict = 4,
}

/// Flags of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(transparent)]
pub struct FlowFlags(pub u16);

impl FlowFlags {
    /// The controller is notified of its removal.
    pub const SEND_FLOW_REM: Self = Self(1);

    /// Whether all bits of `flags` are set.
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }
}

/// A change of rules.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowMod<'a> {
    /// The controller's id of the rule.
    pub cookie: u64,
    /// For changes and deletions: the bits of `cookie` that must match.
    pub cookie_mask: u64,
    /// The table; 255 for all, in deletions.
    pub table: u8,
    /// The change.
    pub command: FlowCommand,
    /// Idle timeout in seconds; 0 for none.
    pub idle_timeout: u16,
    /// Hard timeout in seconds; 0 for none.
    pub hard_timeout: u16,
    /// The matching rule with the highest priority applies.
    pub priority: u16,
    /// A buffered packet to process with the changed rules.
    pub buffer: Option<u32>,
    /// For deletions: only rules that output there, unless [`PortNumber::ANY`].
    pub out_port: PortNumber,
    /// Likewise for a group; 0xffff_ffff for any.
    pub out_group: u32,
    /// Its flags.
    pub flags: FlowFlags,
    /// The packets that it matches.
    pub matching: Match,
    /// Its actions; none to drop the packets.
    pub actions: List<'a, Action>,
}

impl<'a> FlowMod<'a> {
    /// No group, or any group.
    pub const ANY_GROUP: u32 = 0xffff_ffff;

    /// A change in table 0 of rules with this match, whatever their cookie and outputs; an added rule is permanent and
    /// has the lowest priority.
    pub const fn new(command: FlowCommand, matching: Match, actions: &'a [Action]) -> Self {
        Self {
            cookie: 0,
            cookie_mask: 0,
            table: 0,
            command,
            idle_timeout: 0,
            hard_timeout: 0,
            priority: 0,
            buffer: None,
            out_port: PortNumber::ANY,
            out_group: Self::ANY_GROUP,
            flags: FlowFlags(0),
            matching,
            actions: List::new(actions),
        }
    }

    pub(crate) fn encoded_len(&self) -> usize {
        40 + self.matching.encoded_len() + instructions_len(&self.actions)
    }

    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let (cookie, cookie_mask, table) = (reader.u64()?, reader.u64()?, reader.u8()?);
        let command = match reader.u8()? {
            0 => FlowCommand::Add,
            1 => FlowCommand::Modify,
            2 => FlowCommand::ModifyStrict,
            3 => FlowCommand::Delete,
            4 => FlowCommand::DeleteStrict,
            other => return Err(Error::Unsupported { field: "command of a flow-mod", value: other.into() }),
        };
        let (idle_timeout, hard_timeout, priority) = (reader.u16()?, reader.u16()?, reader.u16()?);
        let (buffer, out_port, out_group) = (buffer::read(reader)?, PortNumber(reader.u32()?), reader.u32()?);
        let flags = FlowFlags(reader.u16()?);
        reader.skip(2)?;
        let matching = Match::read(reader)?;
        let actions = read_instructions(reader)?;
        Ok(Self {
            cookie,
            cookie_mask,
            table,
            command,
            idle_timeout,
            hard_timeout,
            priority,
            buffer,
            out_port,
            out_group,
            flags,
            matching,
            actions,
        })
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        writer.put(&self.cookie.to_be_bytes());
        writer.put(&self.cookie_mask.to_be_bytes());
        writer.put(&[self.table, self.command as u8]);
        writer.put(&self.idle_timeout.to_be_bytes());
        writer.put(&self.hard_timeout.to_be_bytes());
        writer.put(&self.priority.to_be_bytes());
        buffer::write(self.buffer, writer);
        writer.put(&self.out_port.0.to_be_bytes());
        writer.put(&self.out_group.to_be_bytes());
        writer.put(&self.flags.0.to_be_bytes());
        writer.skip(2);
        self.matching.put(writer);
        put_instructions(writer, &self.actions);
    }
}
