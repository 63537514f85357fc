//! MP_JOIN: the handshake of a subflow that joins a connection (RFC 6824 and RFC 8684, section 3.2), the
//! same in both versions except for the hash.

use super::length::length_error;
use super::proof::{self, Party};
use super::{Token, Version};
use crate::writer::Writer;
use crate::{Error, TcpFlags};

/// MP_JOIN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Join {
    /// MP_JOIN in a SYN.
    Syn {
        /// Whether the subflow is a backup: it carries data only if no other can.
        backup: bool,
        /// The sender's id of the SYN's source address.
        address_id: u8,
        /// The *receiver's* token of the connection to join.
        token: Token,
        /// The sender's random number.
        nonce: u32,
    },
    /// MP_JOIN in the SYN+ACK.
    SynAck {
        /// Whether the subflow is a backup: it carries data only if no other can.
        backup: bool,
        /// The sender's id of the SYN+ACK's source address.
        address_id: u8,
        /// The first 8 bytes of the sender's HMAC.
        hmac: [u8; 8],
        /// The sender's random number.
        nonce: u32,
    },
    /// MP_JOIN in the third ACK.
    Ack {
        /// The first 20 bytes of the sender's HMAC, which are all of SHA-1's.
        hmac: [u8; 20],
    },
}

impl Join {
    /// Whether the option's HMAC is that of `sender`, which sends it, for `receiver`
    /// ([`join_hmac`](super::join_hmac)). A SYN has none.
    pub fn verify(&self, version: Version, sender: Party, receiver: Party) -> bool {
        match self {
            Self::Syn { .. } => false,
            Self::SynAck { hmac, .. } => proof::verify_join(version, sender, receiver, hmac),
            Self::Ack { hmac } => proof::verify_join(version, sender, receiver, hmac),
        }
    }

    pub(super) const fn belongs(&self, flags: TcpFlags) -> bool {
        let (syn, ack) = (flags.contains(TcpFlags::SYN), flags.contains(TcpFlags::ACK));
        match self {
            Self::Syn { .. } => syn && !ack,
            Self::SynAck { .. } => syn && ack,
            Self::Ack { .. } => !syn && ack,
        }
    }

    pub(super) fn parse(data: &[u8]) -> Result<Self, Error> {
        match *data {
            [first, address_id, t0, t1, t2, t3, n0, n1, n2, n3] => Ok(Self::Syn {
                backup: first & 1 == 1,
                address_id,
                token: Token(u32::from_be_bytes([t0, t1, t2, t3])),
                nonce: u32::from_be_bytes([n0, n1, n2, n3]),
            }),
            [first, address_id, a, b, c, d, e, f, g, h, n0, n1, n2, n3] => Ok(Self::SynAck {
                backup: first & 1 == 1,
                address_id,
                hmac: [a, b, c, d, e, f, g, h],
                nonce: u32::from_be_bytes([n0, n1, n2, n3]),
            }),
            [_, _, ref hmac @ ..] => match hmac.try_into() {
                Ok(hmac) => Ok(Self::Ack { hmac }),
                Err(_) => Err(length_error("MP_JOIN", data.len())),
            },
            _ => Err(length_error("MP_JOIN", data.len())),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Syn { .. } => 12,
            Self::SynAck { .. } => 16,
            Self::Ack { .. } => 24,
        }
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        match *self {
            Self::Syn { backup, address_id, token, nonce } => {
                writer.put(&[0x10 | u8::from(backup), address_id]);
                writer.put(&token.0.to_be_bytes());
                writer.put(&nonce.to_be_bytes());
            }
            Self::SynAck { backup, address_id, hmac, nonce } => {
                writer.put(&[0x10 | u8::from(backup), address_id]);
                writer.put(&hmac);
                writer.put(&nonce.to_be_bytes());
            }
            Self::Ack { hmac } => {
                writer.put(&[0x10, 0]);
                writer.put(&hmac);
            }
        }
    }
}
