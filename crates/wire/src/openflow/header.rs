//! [`Header`]: the eight bytes at the start of every message.

use core::fmt;

use super::reader::Reader;
use crate::Error;
use crate::writer::Writer;

/// The supported version: OpenFlow 1.3.
pub const VERSION: u8 = 4;

/// Length of the part of a multipart message between header and body.
pub(super) const MULTIPART_LEN: usize = 8;

/// The type of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct MessageType(pub u8);

#[allow(missing_docs, reason = "the specification's names")]
impl MessageType {
    pub const HELLO: Self = Self(0);
    pub const ERROR: Self = Self(1);
    pub const ECHO_REQUEST: Self = Self(2);
    pub const ECHO_REPLY: Self = Self(3);
    pub const FEATURES_REQUEST: Self = Self(5);
    pub const FEATURES_REPLY: Self = Self(6);
    pub const GET_CONFIG_REQUEST: Self = Self(7);
    pub const GET_CONFIG_REPLY: Self = Self(8);
    pub const SET_CONFIG: Self = Self(9);
    pub const PACKET_IN: Self = Self(10);
    pub const FLOW_REMOVED: Self = Self(11);
    pub const PORT_STATUS: Self = Self(12);
    pub const PACKET_OUT: Self = Self(13);
    pub const FLOW_MOD: Self = Self(14);
    pub const MULTIPART_REQUEST: Self = Self(18);
    pub const MULTIPART_REPLY: Self = Self(19);
    pub const BARRIER_REQUEST: Self = Self(20);
    pub const BARRIER_REPLY: Self = Self(21);
    pub const ROLE_REQUEST: Self = Self(24);
    pub const ROLE_REPLY: Self = Self(25);
}

impl fmt::Display for MessageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The start of every message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Header {
    /// The message's version; in a Hello the sender's highest.
    pub version: u8,
    /// The type.
    pub message_type: MessageType,
    /// Length of the message, header included.
    pub length: u16,
    /// The transaction id: a reply has that of its request.
    pub xid: u32,
}

impl Header {
    /// Length of a header.
    pub const LEN: usize = 8;

    /// Reads the header at the start of `bytes`, of any version.
    ///
    /// # Errors
    /// [`Error::Short`], and [`Error::HeaderLength`] if the length is below that of a header.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        let [version, message_type, ..] = reader.array::<2>()?;
        let (length, xid) = (reader.u16()?, reader.u32()?);
        if usize::from(length) < Self::LEN {
            return Err(Error::HeaderLength { least: Self::LEN, given: length.into() });
        }
        Ok(Self { version, message_type: MessageType(message_type), length, xid })
    }

    /// Writes it.
    pub(crate) fn put(&self, writer: &mut Writer) {
        writer.put(&[self.version, self.message_type.0]);
        writer.put(&self.length.to_be_bytes());
        writer.put(&self.xid.to_be_bytes());
    }
}

/// The number of zeros that pad `len` bytes to a multiple of eight.
pub(super) const fn padding(len: usize) -> usize {
    len.wrapping_neg() % 8
}
