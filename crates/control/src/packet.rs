//! [`Packet`], the fields of a packet-in that a controller may look at.
//!
//! Built from a real frame by a parser, or from a simulated one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use weft_wire::Mac;
use weft_wire::mptcp::Version;

/// A frame, parsed as far as decisions need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// The source address.
    pub eth_src: Mac,
    /// The destination address.
    pub eth_dst: Mac,
    /// The payload.
    pub content: Content,
}

/// The payload of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// A complete TCP header in IPv4 or IPv6.
    Tcp(Tcp),
    /// Another IP packet, a fragment, or one with an unreadable transport header.
    Ip {
        /// The protocol in the IP header.
        protocol: u8,
    },
    /// ARP for IPv4.
    Arp(Arp),
    /// A Neighbour Solicitation or Advertisement.
    Neighbour(Neighbour),
    /// Anything else.
    Other,
}

/// The bytes of a TCP flow since a switch was last queried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowCount {
    /// The source.
    pub source: End,
    /// The destination.
    pub destination: End,
    /// Bytes of its IP packets.
    pub bytes: u64,
}

/// An endpoint of a TCP connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct End {
    /// Its address.
    pub address: IpAddr,
    /// Its port.
    pub port: u16,
}

/// For example `10.0.0.1:80`, `[fd00::1]:80`.
impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::net::SocketAddr::new(self.address, self.port).fmt(f)
    }
}

/// A TCP header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tcp {
    /// The sender.
    pub source: End,
    /// The receiver; both addresses are of one family.
    pub destination: End,
    /// The flags as on the wire.
    pub flags: u8,
    /// The sequence number.
    pub sequence: u32,
    /// The Multipath TCP option, if any.
    pub mptcp: Option<Mptcp>,
}

impl Tcp {
    /// FIN in [`Tcp::flags`].
    pub const FIN: u8 = 1;
    /// SYN in [`Tcp::flags`].
    pub const SYN: u8 = 2;
    /// RST in [`Tcp::flags`].
    pub const RST: u8 = 4;
    /// ACK in [`Tcp::flags`].
    pub const ACK: u8 = 16;

    /// Whether it opens a connection: SYN without ACK.
    pub const fn is_syn(&self) -> bool {
        self.flags & (Self::SYN | Self::ACK) == Self::SYN
    }

    /// Whether it answers a SYN: SYN with ACK.
    pub const fn is_syn_ack(&self) -> bool {
        self.flags & (Self::SYN | Self::ACK) == Self::SYN | Self::ACK
    }
}

/// The Multipath TCP option of a segment (RFC 8684; version 0: RFC 6824).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mptcp {
    /// MP_CAPABLE.
    Capable {
        /// The version that the sender supports, or has chosen.
        version: Version,
        /// The sender's key: in every segment of version 0, in the second and third of version 1.
        sender_key: Option<u64>,
        /// The receiver's key: in the third segment.
        receiver_key: Option<u64>,
    },
    /// MP_JOIN.
    Join(Join),
    /// Any other option of Multipath TCP, such as a data sequence mapping.
    Other,
    /// A malformed option; the segment is treated as plain TCP.
    Malformed,
}

/// MP_JOIN in each of the segments of a handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Join {
    /// In the SYN.
    Syn {
        /// The receiver's token, which names the connection.
        token: u32,
        /// The sender's nonce.
        nonce: u32,
    },
    /// In the SYN+ACK.
    SynAck {
        /// The leftmost 64 bits of the sender's HMAC.
        hmac: u64,
        /// The sender's nonce.
        nonce: u32,
    },
    /// In the third segment.
    Ack {
        /// The leftmost 160 bits of the sender's HMAC.
        hmac: [u8; 20],
    },
}

/// An ARP packet for IPv4 (RFC 826).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arp {
    /// A reply if `true`, otherwise a request.
    pub is_reply: bool,
    /// The sender hardware address in the packet.
    pub sender_mac: Mac,
    /// 0.0.0.0 in a probe for duplicates (RFC 5227).
    pub sender: Ipv4Addr,
    /// The target protocol address.
    pub target: Ipv4Addr,
}

/// A message of neighbour discovery (RFC 4861).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Neighbour {
    /// An Advertisement if `true`, otherwise a Solicitation.
    pub is_advertisement: bool,
    /// The source of the IPv6 packet; `::` in a probe for duplicates.
    pub source: Ipv6Addr,
    /// The target address.
    pub target: Ipv6Addr,
    /// The link-layer address option: of the source in a Solicitation, of the target in an Advertisement.
    pub link_layer: Option<Mac>,
}
