//! [`PacketIn`]: a switch asks what to do with a packet (section 7.4.1).

use super::reader::Reader;
use super::{Match, NO_BUFFER, PortNumber, buffer};
use crate::Error;
use crate::writer::Writer;

/// Why a packet is sent up. Later versions have more reasons.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct PacketInReason(pub u8);

impl PacketInReason {
    /// No rule matched, or only that for misses.
    pub const NO_MATCH: Self = Self(0);
    /// A rule says so.
    pub const ACTION: Self = Self(1);
    /// It has been forwarded for too long.
    pub const INVALID_TTL: Self = Self(2);
}

/// A packet on its way up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PacketIn<'a> {
    /// By what id the switch holds it, if it does.
    pub buffer: Option<u32>,
    /// The bytes that the packet has; `data` may have fewer.
    pub total_len: u16,
    /// Why it is sent.
    pub reason: PacketInReason,
    /// The table whose rule matched.
    pub table: u8,
    /// The cookie of that rule.
    pub cookie: u64,
    /// The port by which it came. The other fields that a switch may add are not read: they are in the packet.
    pub in_port: PortNumber,
    /// The packet's first bytes.
    pub data: &'a [u8],
}

impl<'a> PacketIn<'a> {
    fn matching(&self) -> Match {
        Match { in_port: Some(self.in_port), ..Match::default() }
    }

    pub(crate) fn encoded_len(&self) -> usize {
        16 + self.matching().encoded_len() + 2 + self.data.len()
    }

    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let (buffer, total_len) = (buffer(reader.u32()?), reader.u16()?);
        let reason = PacketInReason(reader.u8()?);
        let (table, cookie) = (reader.u8()?, reader.u64()?);
        let in_port = Match::read_in_port(reader)?;
        reader.skip(2)?;
        Ok(Self { buffer, total_len, reason, table, cookie, in_port, data: reader.rest() })
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        writer.put(&self.buffer.unwrap_or(NO_BUFFER).to_be_bytes());
        writer.put(&self.total_len.to_be_bytes());
        writer.put(&[self.reason.0, self.table]);
        writer.put(&self.cookie.to_be_bytes());
        self.matching().put(writer);
        writer.skip(2);
        writer.put(self.data);
    }
}
