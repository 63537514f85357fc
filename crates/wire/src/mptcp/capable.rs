//! MP_CAPABLE: the handshake of a connection (RFC 6824 and RFC 8684, section 3.1). Lengths of the option:
//!
//! | segment | version 0 | version 1 |
//! |---|---|---|
//! | SYN | 12: the client's key | 4: no key |
//! | SYN+ACK | 12: the listener's key | 12: the listener's key |
//! | third ACK | 20: both keys | 20: both keys |
//! | first data | | 22: both keys, length of the data; 24: and its checksum |

use super::length::length_error;
use super::{Key, Version};
use crate::writer::Writer;
use crate::{Error, TcpFlags};

/// The flags that an end sends when it opens a connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct CapableFlags(pub u8);

impl CapableFlags {
    /// A: checksums on data are required.
    pub const CHECKSUM: Self = Self(0x80);
    /// B: unknown extension; a receiver that sees it falls back to TCP.
    pub const EXTENSIBILITY: Self = Self(0x40);
    /// H: keys are hashed with SHA-1 in version 0, SHA-256 in version 1. Without H, or with a flag of a
    /// future algorithm, the ends fall back to TCP.
    pub const HMAC: Self = Self(0x01);

    /// Whether all bits of `flags` are set.
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }
}

/// The option's description of the segment's data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FirstData {
    /// Its length in bytes.
    pub length: u16,
    /// Its checksum, if the ends agreed on checksums.
    pub checksum: Option<u16>,
}

/// The keys in an option.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Keys {
    /// No key: the SYN of version 1.
    None,
    /// The sender's: SYN+ACK, and the SYN of version 0.
    Sender(Key),
    /// Both: the third ACK, and the first data in version 1.
    Both {
        /// The key of the segment's sender.
        sender: Key,
        /// The key of its receiver.
        receiver: Key,
        /// In version 1 with data, replaces [`Dss`](super::Dss).
        data: Option<FirstData>,
    },
}

/// MP_CAPABLE.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Capable {
    /// The sender's version; in a SYN its highest.
    pub version: Version,
    /// The sender's flags.
    pub flags: CapableFlags,
    /// The keys in the option.
    pub keys: Keys,
}

impl Capable {
    /// The key of the segment's sender, if present.
    pub const fn sender_key(&self) -> Option<Key> {
        match self.keys {
            Keys::None => None,
            Keys::Sender(sender) | Keys::Both { sender, .. } => Some(sender),
        }
    }

    /// The key of the segment's receiver, if present.
    pub const fn receiver_key(&self) -> Option<Key> {
        match self.keys {
            Keys::None | Keys::Sender(_) => None,
            Keys::Both { receiver, .. } => Some(receiver),
        }
    }

    pub(super) const fn belongs(&self, flags: TcpFlags) -> bool {
        let (syn, ack) = (flags.contains(TcpFlags::SYN), flags.contains(TcpFlags::ACK));
        match (self.version, self.keys) {
            (_, Keys::None) => syn && !ack,
            (Version::V0, Keys::Sender(_)) => syn,
            (Version::V1, Keys::Sender(_)) => syn && ack,
            (_, Keys::Both { .. }) => !syn && ack,
        }
    }

    pub(super) fn parse(data: &[u8]) -> Result<Self, Error> {
        let wrong = || length_error("MP_CAPABLE", data.len());
        let (&[first, flags], rest) = data.split_first_chunk().ok_or(wrong())?;
        let version = Version::from_number(first & 0x0f)?;
        let (keys, rest) = rest.as_chunks();
        let key = |bytes: &[u8; 8]| Key(u64::from_be_bytes(*bytes));
        let data = match (version, rest) {
            (_, []) => None,
            (Version::V1, &[a, b]) => Some(FirstData { length: u16::from_be_bytes([a, b]), checksum: None }),
            (Version::V1, &[a, b, c, d]) => Some(FirstData {
                length: u16::from_be_bytes([a, b]),
                checksum: Some(u16::from_be_bytes([c, d])),
            }),
            _ => return Err(wrong()),
        };
        let keys = match (version, keys, data) {
            (Version::V1, [], None) => Keys::None,
            (_, [sender], None) => Keys::Sender(key(sender)),
            (_, [sender, receiver], data) => {
                Keys::Both { sender: key(sender), receiver: key(receiver), data }
            }
            _ => return Err(wrong()),
        };
        Ok(Self { version, flags: CapableFlags(flags), keys })
    }

    pub(super) fn len(&self) -> usize {
        match self.keys {
            Keys::None => 4,
            Keys::Sender(_) => 12,
            Keys::Both { data: None, .. } => 20,
            Keys::Both { data: Some(FirstData { checksum: None, .. }), .. } => 22,
            Keys::Both { data: Some(FirstData { checksum: Some(_), .. }), .. } => 24,
        }
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.put(&[self.version as u8, self.flags.0]);
        for key in [self.sender_key(), self.receiver_key()].into_iter().flatten() {
            writer.put(&key.0.to_be_bytes());
        }
        if let Keys::Both { data: Some(FirstData { length, checksum }), .. } = self.keys {
            writer.put(&length.to_be_bytes());
            checksum.iter().for_each(|checksum| writer.put(&checksum.to_be_bytes()));
        }
    }
}
