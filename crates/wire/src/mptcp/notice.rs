//! Notifications about a subflow or the connection: MP_PRIO (RFC 6824 and RFC 8684, section 3.3.8),
//! MP_FASTCLOSE (section 3.5), MP_TCPRST (RFC 8684, section 3.6) and MP_FAIL (RFC 6824, section 3.6; RFC
//! 8684, section 3.7).

use super::Key;
use super::length::length_error;
use crate::Error;
use crate::writer::Writer;

/// MP_PRIO: makes the subflow a backup, or a regular one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Priority {
    /// Whether it becomes a backup.
    pub backup: bool,
    /// The id of the address whose subflows are changed, if not this one's. Only in version 0.
    pub address_id: Option<u8>,
}

impl Priority {
    pub(super) fn parse(data: &[u8]) -> Result<Self, Error> {
        let backup = |first: u8| first & 1 == 1;
        match *data {
            [first] => Ok(Self { backup: backup(first), address_id: None }),
            [first, address_id] => Ok(Self { backup: backup(first), address_id: Some(address_id) }),
            _ => Err(length_error("MP_PRIO", data.len())),
        }
    }

    pub(super) fn len(&self) -> usize {
        3 + self.address_id.map_or(0, |_| 1)
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.put(&[0x50 | u8::from(self.backup)]);
        self.address_id.iter().for_each(|id| writer.put(&[*id]));
    }
}

/// MP_FAIL: a checksum was wrong; the subflow's data is unreliable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fail {
    /// Data sequence number of the mapping with the wrong checksum.
    pub data_sequence: u64,
}

impl Fail {
    pub(super) fn parse(data: &[u8]) -> Result<Self, Error> {
        number("MP_FAIL", data).map(|data_sequence| Self { data_sequence })
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.put(&[0x60, 0]);
        writer.put(&self.data_sequence.to_be_bytes());
    }
}

/// MP_FASTCLOSE: closes the connection and all its subflows at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FastClose {
    /// The key of the receiver, which proves that the sender is the other end.
    pub receiver_key: Key,
}

impl FastClose {
    pub(super) fn parse(data: &[u8]) -> Result<Self, Error> {
        number("MP_FASTCLOSE", data).map(|key| Self { receiver_key: Key(key) })
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.put(&[0x70, 0]);
        writer.put(&self.receiver_key.0.to_be_bytes());
    }
}

/// MP_TCPRST: the reason of a subflow's reset. Only in version 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Reset {
    /// T: whether a new subflow between these addresses may succeed later.
    pub transient: bool,
    /// 0 unspecified, 1 Multipath TCP error, 2 no resources, 3 prohibited, 4 too much outstanding data, 5 bad
    /// performance, 6 middlebox interference (RFC 8684, section 3.6).
    pub reason: u8,
}

impl Reset {
    pub(super) fn parse(data: &[u8]) -> Result<Self, Error> {
        match *data {
            [first, reason] => Ok(Self { transient: first & 1 == 1, reason }),
            _ => Err(length_error("MP_TCPRST", data.len())),
        }
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.put(&[0x80 | u8::from(self.transient), self.reason]);
    }
}

/// The 64 bits after subtype and reserved bits.
fn number(option: &'static str, data: &[u8]) -> Result<u64, Error> {
    match data.split_first_chunk::<2>() {
        Some((_, number)) => {
            number.try_into().map(u64::from_be_bytes).map_err(|_| length_error(option, data.len()))
        }
        None => Err(length_error(option, data.len())),
    }
}
