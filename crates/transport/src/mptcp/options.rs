//! [`Options`]: the Multipath TCP option of a [`Segment`].
//!
//! One option per segment, as in Linux. A data sequence mapping always covers exactly the payload of its segment, so it
//! needs neither a subflow sequence number nor a length.

use super::Config;
use crate::segment::Segment;

/// The MPTCP option of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Options {
    /// The segment is plain TCP, a reset, or belongs to a connection that has fallen back to TCP.
    #[default]
    None,
    /// MP_CAPABLE: the sender supports Multipath TCP (RFC 8684, section 3.1).
    Capable(Capable),
    /// MP_JOIN: the subflow joins a connection (RFC 8684, section 3.2).
    Join(Join),
    /// DSS: data sequence mapping and data ACK (RFC 8684, section 3.3).
    Dss(Dss),
}

/// The contents of MP_CAPABLE. On a segment with payload it also maps its first byte to the first byte of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capable {
    /// 0 or 1.
    pub version: u8,
    /// The sender's key: in all but version 1's SYN.
    pub sender_key: Option<u64>,
    /// The key of the other side: in the third ACK, and in version 1 on the first data.
    pub receiver_key: Option<u64>,
}

/// The contents of MP_JOIN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Join {
    /// On a SYN.
    Syn {
        /// The receiver's token, which identifies the connection.
        token: u32,
        /// The sender's random number.
        nonce: u32,
        /// The number of the sender's address.
        address: u8,
    },
    /// On a SYN+ACK.
    SynAck {
        /// The first 64 bits of the sender's HMAC.
        hmac: u64,
        /// The sender's random number.
        nonce: u32,
        /// The number of the sender's address.
        address: u8,
    },
    /// On the third ACK.
    Ack {
        /// The sender's HMAC, 160 bits.
        hmac: [u8; 20],
    },
}

/// The contents of DSS.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Dss {
    /// The data sequence number expected next from the other side.
    pub data_ack: u64,
    /// The data sequence number of the segment's first byte; without payload, that of the DATA_FIN.
    pub dsn: Option<u64>,
    /// The sender has finished: after the payload there is no more data.
    pub data_fin: bool,
}

impl Options {
    /// Bytes that the option takes in `segment`'s header, padded to a multiple of four.
    pub fn bytes(&self, cfg: &Config, segment: &Segment) -> u8 {
        match self {
            Self::None => 0,
            Self::Capable(capable) => match (capable.sender_key, capable.receiver_key) {
                (None, _) => 4,
                (Some(_), None) => 12,
                // With data it includes the data length: 22 bytes.
                (Some(_), Some(_)) => 20 + if segment.len > 0 { 4 } else { 0 },
            },
            Self::Join(Join::Syn { .. }) => 12,
            Self::Join(Join::SynAck { .. }) => 16,
            Self::Join(Join::Ack { .. }) => 24,
            Self::Dss(dss) if dss.dsn.is_some() => cfg.mapping_bytes(),
            Self::Dss(_) => cfg.data_ack_bytes(),
        }
    }
}
