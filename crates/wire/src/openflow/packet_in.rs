//! [`PacketIn`]: a switch sends a packet to the controller (section 7.4.1).

use super::reader::Reader;
use super::{Match, PortNumber, buffer};
use crate::Error;
use crate::writer::Writer;

/// Why a packet is sent to the controller. Later versions have more reasons.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct PacketInReason(pub u8);

impl PacketInReason {
    /// No rule matched, except the table-miss rule.
    pub const NO_MATCH: Self = Self(0);
    /// An action of a rule.
    pub const ACTION: Self = Self(1);
}

/// A packet sent to the controller.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PacketIn<'a> {
    /// Its buffer id, if the switch buffers it.
    pub buffer: Option<u32>,
    /// Length of the packet; `data` may be shorter.
    pub total_len: u16,
    /// The reason.
    pub reason: PacketInReason,
    /// The table whose rule matched.
    pub table: u8,
    /// The cookie of that rule.
    pub cookie: u64,
    /// Its ingress port. Other fields are not parsed: they are in the packet.
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
        let (buffer, total_len) = (buffer::read(reader)?, reader.u16()?);
        let reason = PacketInReason(reader.u8()?);
        let (table, cookie) = (reader.u8()?, reader.u64()?);
        let in_port = Match::read_in_port(reader)?;
        reader.skip(2)?;
        Ok(Self { buffer, total_len, reason, table, cookie, in_port, data: reader.rest() })
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        buffer::write(self.buffer, writer);
        writer.put(&self.total_len.to_be_bytes());
        writer.put(&[self.reason.0, self.table]);
        writer.put(&self.cookie.to_be_bytes());
        self.matching().put(writer);
        writer.skip(2);
        writer.put(self.data);
    }
}
