//! [`FlowStats`]: a rule of a switch and its counters (section 7.3.5.2).
//! [`FlowCounts`]: the number of rules and their total counters (section 7.3.5.3).

use super::action::Action;
use super::action::{instructions_len, put_instructions, read_instructions};
use super::flow_mod::FlowFlags;
use super::header::Header;
use super::header::MULTIPART_LEN;
use super::list::{Codec, List};
use super::matching::Match;
use super::port::PortNumber;
use super::reader::Reader;
use crate::Error;
use crate::writer::Writer;

/// The requested rules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlowStatsRequest {
    /// The table; 0xff for all.
    pub table: u8,
    /// Only rules that output there, unless [`PortNumber::ANY`].
    pub out_port: PortNumber,
    /// Likewise for a group; [`FlowMod::ANY_GROUP`](super::FlowMod::ANY_GROUP) for any.
    pub out_group: u32,
    /// The required cookie,
    pub cookie: u64,
    /// in these bits.
    pub cookie_mask: u64,
    /// Only rules within this match.
    pub matching: Match,
}

impl FlowStatsRequest {
    pub(crate) fn encoded_len(&self) -> usize {
        32 + self.matching.encoded_len()
    }

    pub(crate) fn read(reader: &mut Reader) -> Result<Self, Error> {
        let table = reader.u8()?;
        reader.skip(3)?;
        let (out_port, out_group) = (PortNumber(reader.u32()?), reader.u32()?);
        reader.skip(4)?;
        let (cookie, cookie_mask) = (reader.u64()?, reader.u64()?);
        Ok(Self { table, out_port, out_group, cookie, cookie_mask, matching: Match::read(reader)? })
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        writer.put(&[self.table]);
        writer.skip(3);
        writer.put(&self.out_port.0.to_be_bytes());
        writer.put(&self.out_group.to_be_bytes());
        writer.skip(4);
        writer.put(&self.cookie.to_be_bytes());
        writer.put(&self.cookie_mask.to_be_bytes());
        self.matching.put(writer);
    }
}

/// A rule.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowStats<'a> {
    /// Its table.
    pub table: u8,
    /// Its age: whole seconds.
    pub duration_s: u32,
    /// The remaining nanoseconds of its age.
    pub duration_ns: u32,
    /// Its priority.
    pub priority: u16,
    /// Its idle timeout, in seconds.
    pub idle_timeout: u16,
    /// Its hard timeout, in seconds.
    pub hard_timeout: u16,
    /// Its flags.
    pub flags: FlowFlags,
    /// The controller's id of the rule.
    pub cookie: u64,
    /// Packets that it matched.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The packets that it matches.
    pub matching: Match,
    /// Its actions.
    pub actions: List<'a, Action>,
}

impl<'a> Codec<'a> for FlowStats<'a> {
    fn encoded_len(&self) -> usize {
        48 + self.matching.encoded_len() + instructions_len(&self.actions)
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let len = usize::from(reader.u16()?);
        let mut entry =
            reader.part(len.checked_sub(2).ok_or(Error::HeaderLength { least: 48, given: len })?)?;
        let table = entry.u8()?;
        entry.skip(1)?;
        let (duration_s, duration_ns) = (entry.u32()?, entry.u32()?);
        let (priority, idle_timeout, hard_timeout) = (entry.u16()?, entry.u16()?, entry.u16()?);
        let flags = FlowFlags(entry.u16()?);
        entry.skip(4)?;
        let (cookie, packets, bytes) = (entry.u64()?, entry.u64()?, entry.u64()?);
        let matching = Match::read(&mut entry)?;
        let actions = read_instructions(&mut entry)?;
        Ok(Self {
            table,
            duration_s,
            duration_ns,
            priority,
            idle_timeout,
            hard_timeout,
            flags,
            cookie,
            packets,
            bytes,
            matching,
            actions,
        })
    }

    fn put(&self, writer: &mut Writer) {
        // Longer ones do not fit a message, whose length is checked.
        writer.put(&(self.encoded_len() as u16).to_be_bytes());
        writer.put(&[self.table, 0]);
        writer.put(&self.duration_s.to_be_bytes());
        writer.put(&self.duration_ns.to_be_bytes());
        writer.put(&self.priority.to_be_bytes());
        writer.put(&self.idle_timeout.to_be_bytes());
        writer.put(&self.hard_timeout.to_be_bytes());
        writer.put(&self.flags.0.to_be_bytes());
        writer.skip(4);
        writer.put(&self.cookie.to_be_bytes());
        writer.put(&self.packets.to_be_bytes());
        writer.put(&self.bytes.to_be_bytes());
        self.matching.put(writer);
        put_instructions(writer, &self.actions);
    }
}

/// Calls `with` with the cookie and bytes of each rule in a multipart reply. Match and actions are not parsed: other
/// controllers' rules may have any.
///
/// # Errors
/// [`Error::Short`], [`Error::HeaderLength`]; `with` has been called for the preceding rules.
pub fn flow_entries<'a>(message: &'a [u8], mut with: impl FnMut(u64, &'a [u8])) -> Result<(), Error> {
    let mut rest = Reader::new(message);
    rest.skip(Header::LEN + MULTIPART_LEN)?;
    while !rest.is_empty() {
        let mut length = rest;
        let given = usize::from(length.u16()?);
        let bytes = rest.bytes(given)?;
        let mut entry = Reader::new(bytes);
        let cookie = entry.skip(24).and_then(|()| entry.u64());
        with(cookie.map_err(|_| Error::HeaderLength { least: 48, given })?, bytes);
    }
    Ok(())
}

/// The number of requested rules, and their total counters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlowCounts {
    /// Packets that they matched.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Number of rules.
    pub flows: u32,
}

impl FlowCounts {
    pub(crate) const fn encoded_len(&self) -> usize {
        24
    }

    pub(crate) fn read(reader: &mut Reader) -> Result<Self, Error> {
        let counts = Self { packets: reader.u64()?, bytes: reader.u64()?, flows: reader.u32()? };
        reader.skip(4)?;
        Ok(counts)
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        writer.put(&self.packets.to_be_bytes());
        writer.put(&self.bytes.to_be_bytes());
        writer.put(&self.flows.to_be_bytes());
        writer.skip(4);
    }
}
