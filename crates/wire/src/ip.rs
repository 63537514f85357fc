//! [`Ip`]: a packet of either version.

use core::net::IpAddr;

use crate::ip_common::IpProtocol;
use crate::{Error, EtherType, Ethernet, Ipv4, Ipv6};

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
