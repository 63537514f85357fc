//! [`FlowMod`]: the controller changes the rules of a table (section 7.3.4.1).

use super::action::{instructions_len, put_instructions, read_instructions};
use super::reader::Reader;
use super::{Action, List, Match, NO_BUFFER, PortNumber, buffer};
use crate::Error;
use crate::writer::Writer;

/// What becomes of rules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum FlowCommand {
    /// There is a new one, instead of one with the same match and priority.
    Add = 0,
    /// All whose packets the match has too get other actions.
    Modify = 1,
    /// The one with this match and priority gets other actions.
    ModifyStrict = 2,
    /// All whose packets the match has too go.
    Delete = 3,
    /// The one with this match and priority goes.
    DeleteStrict = 4,
}

/// How a rule is kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(transparent)]
pub struct FlowFlags(pub u16);

impl FlowFlags {
    /// The controller is told when it is gone.
    pub const SEND_FLOW_REM: Self = Self(1);

    /// Whether all bits of `flags` are set.
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }
}

/// A change of rules.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowMod<'a> {
    /// What the controller knows the rule by.
    pub cookie: u64,
    /// Of rules that are changed or go: the bits of their cookies that must be those of `cookie`.
    pub cookie_mask: u64,
    /// The table; 255 for all, where rules go.
    pub table: u8,
    /// What becomes of them.
    pub command: FlowCommand,
    /// The seconds after its last packet that the rule goes; 0 for never.
    pub idle_timeout: u16,
    /// The seconds after which it goes in any case; 0 for never.
    pub hard_timeout: u16,
    /// Of several rules that match a packet the highest counts.
    pub priority: u16,
    /// A packet that the switch holds and that goes by the rules as they then are.
    pub buffer: Option<u32>,
    /// Of rules that go: they must output there, unless it is [`PortNumber::ANY`].
    pub out_port: PortNumber,
    /// Likewise, a group; 0xffff_ffff for any.
    pub out_group: u32,
    /// How it is kept.
    pub flags: FlowFlags,
    /// Its packets.
    pub matching: Match,
    /// What is done with them at once; nothing, to drop them.
    pub actions: List<'a, Action>,
}

impl<'a> FlowMod<'a> {
    /// No group, or whatever group.
    pub const ANY_GROUP: u32 = 0xffff_ffff;
    /// All tables, where rules go.
    pub const ALL_TABLES: u8 = 0xff;

    /// A change in table 0 of rules with this match, whatever their cookie and outputs; a rule that it makes stays for good and
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
        let (buffer, out_port, out_group) = (buffer(reader.u32()?), PortNumber(reader.u32()?), reader.u32()?);
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
        writer.put(&self.buffer.unwrap_or(NO_BUFFER).to_be_bytes());
        writer.put(&self.out_port.0.to_be_bytes());
        writer.put(&self.out_group.to_be_bytes());
        writer.put(&self.flags.0.to_be_bytes());
        writer.skip(2);
        self.matching.put(writer);
        put_instructions(writer, &self.actions);
    }
}
