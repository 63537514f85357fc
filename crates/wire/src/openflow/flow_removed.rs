//! [`FlowRemoved`]: a rule was removed (section 7.4.2).

use super::header::Header;
use super::matching::Match;
use super::reader::Reader;
use crate::Error;
use crate::writer::Writer;

/// Why a rule was removed. Open vSwitch also uses reasons of later versions with 1.3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct RemovedReason(pub u8);

impl RemovedReason {
    /// Idle timeout.
    pub const IDLE_TIMEOUT: Self = Self(0);
    /// Hard timeout.
    pub const HARD_TIMEOUT: Self = Self(1);
    /// The controller deleted it.
    pub const DELETE: Self = Self(2);
    /// Evicted to make room (OpenFlow 1.4).
    pub const EVICTION: Self = Self(5);
}

/// A removed rule and its counters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlowRemoved {
    /// The controller's id of the rule.
    pub cookie: u64,
    /// Its priority.
    pub priority: u16,
    /// The reason.
    pub reason: RemovedReason,
    /// Its table.
    pub table: u8,
    /// Its age when removed: whole seconds.
    pub duration_s: u32,
    /// The remaining nanoseconds of its age.
    pub duration_ns: u32,
    /// Its idle timeout, in seconds.
    pub idle_timeout: u16,
    /// Its hard timeout, in seconds.
    pub hard_timeout: u16,
    /// Packets that it matched.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The packets that it matched.
    pub matching: Match,
}

impl FlowRemoved {
    /// Reads the cookie of such a message. Its match is not parsed: other controllers' rules may match anything.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn cookie_of(message: &[u8]) -> Result<u64, Error> {
        let mut reader = Reader::new(message);
        reader.skip(Header::LEN)?;
        reader.u64()
    }

    pub(crate) fn encoded_len(&self) -> usize {
        40 + self.matching.encoded_len()
    }

    pub(crate) fn read(reader: &mut Reader) -> Result<Self, Error> {
        let (cookie, priority) = (reader.u64()?, reader.u16()?);
        Ok(Self {
            cookie,
            priority,
            reason: RemovedReason(reader.u8()?),
            table: reader.u8()?,
            duration_s: reader.u32()?,
            duration_ns: reader.u32()?,
            idle_timeout: reader.u16()?,
            hard_timeout: reader.u16()?,
            packets: reader.u64()?,
            bytes: reader.u64()?,
            matching: Match::read(reader)?,
        })
    }

    pub(crate) fn put(&self, writer: &mut Writer) {
        writer.put(&self.cookie.to_be_bytes());
        writer.put(&self.priority.to_be_bytes());
        writer.put(&[self.reason.0, self.table]);
        writer.put(&self.duration_s.to_be_bytes());
        writer.put(&self.duration_ns.to_be_bytes());
        writer.put(&self.idle_timeout.to_be_bytes());
        writer.put(&self.hard_timeout.to_be_bytes());
        writer.put(&self.packets.to_be_bytes());
        writer.put(&self.bytes.to_be_bytes());
        self.matching.put(writer);
    }
}
