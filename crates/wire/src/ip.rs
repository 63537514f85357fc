//! The common part of IPv4 and IPv6: protocol, fragments, traffic class.

use core::fmt;
use core::net::IpAddr;

use crate::{Error, EtherType, Ethernet, Ipv4, Ipv6};

/// A protocol over IP, by its IANA number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct IpProtocol(pub u8);

impl IpProtocol {
    /// TCP.
    pub const TCP: Self = Self(6);
    /// UDP.
    pub const UDP: Self = Self(17);
    /// ICMP for IPv6.
    pub const ICMPV6: Self = Self(58);
}

impl fmt::Display for IpProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An IP packet of either version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ip<'a> {
    /// IPv4.
    V4(Ipv4<'a>),
    /// IPv6.
    V6(Ipv6<'a>),
}

impl<'a> Ip<'a> {
    /// Parses the packet in `ethernet`.
    ///
    /// # Errors
    /// [`Error::EtherType`] if it is not IP, and the errors of [`Ipv4::parse`] and [`Ipv6::parse`].
    pub fn parse(ethernet: &Ethernet<'a>) -> Result<Self, Error> {
        match ethernet.ethertype() {
            EtherType::IPV4 => Ipv4::parse(ethernet.payload()).map(Self::V4),
            EtherType::IPV6 => Ipv6::parse(ethernet.payload()).map(Self::V6),
            other => Err(Error::EtherType(other)),
        }
    }

    /// The source address.
    pub fn source(&self) -> IpAddr {
        match self {
            Self::V4(ip) => ip.source().into(),
            Self::V6(ip) => ip.source().into(),
        }
    }

    /// The destination address.
    pub fn destination(&self) -> IpAddr {
        match self {
            Self::V4(ip) => ip.destination().into(),
            Self::V6(ip) => ip.destination().into(),
        }
    }

    /// The protocol carried.
    pub const fn protocol(&self) -> IpProtocol {
        match self {
            Self::V4(ip) => ip.protocol(),
            Self::V6(ip) => ip.protocol(),
        }
    }

    /// Differentiated services code point, 0 to 63 (RFC 2474).
    pub const fn dscp(&self) -> u8 {
        match self {
            Self::V4(ip) => ip.dscp(),
            Self::V6(ip) => ip.dscp(),
        }
    }

    /// Explicit congestion notification, 0 to 3 (RFC 3168): not capable, ECT(1), ECT(0), congestion
    /// experienced.
    pub const fn ecn(&self) -> u8 {
        match self {
            Self::V4(ip) => ip.ecn(),
            Self::V6(ip) => ip.ecn(),
        }
    }

    /// Whether the packet is a fragment, including the first.
    pub const fn is_fragment(&self) -> bool {
        match self {
            Self::V4(ip) => ip.is_fragment(),
            Self::V6(ip) => ip.is_fragment(),
        }
    }

    /// The available payload, without Ethernet padding.
    pub const fn payload(&self) -> &'a [u8] {
        match self {
            Self::V4(ip) => ip.payload(),
            Self::V6(ip) => ip.payload(),
        }
    }
}

/// `bytes` up to `len`, or all if fewer are available or `len` is 0: Linux writes no length into packets
/// left to the interface to segment (BIG TCP).
pub(crate) fn cut(bytes: &[u8], len: usize) -> &[u8] {
    match bytes.get(..len) {
        Some(cut) if len > 0 => cut,
        _ => bytes,
    }
}
