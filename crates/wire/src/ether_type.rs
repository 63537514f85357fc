//! [`EtherType`]: the protocol of an Ethernet frame.

use core::fmt;

/// The protocol of a frame. Below 1536 it is the length of an IEEE 802.3 frame with an LLC header.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct EtherType(pub u16);

impl EtherType {
    /// IPv4.
    pub const IPV4: Self = Self(0x0800);
    /// ARP.
    pub const ARP: Self = Self(0x0806);
    /// A VLAN tag (IEEE 802.1Q C-tag).
    pub const VLAN: Self = Self(0x8100);
    /// IPv6.
    pub const IPV6: Self = Self(0x86dd);
    /// The outer of two VLAN tags (IEEE 802.1ad S-tag).
    pub const SERVICE_VLAN: Self = Self(0x88a8);
    /// LLDP (IEEE 802.1AB).
    pub const LLDP: Self = Self(0x88cc);
    /// Hello, unless configured otherwise.
    pub const HELLO: Self = Self(0xff70);
    /// Path frames, unless configured otherwise.
    pub const PATH: Self = Self(0xffaf);
    /// Frames with a tag of Tag-and-Forward (section III-E), unless configured otherwise.
    pub const TAG: Self = Self(0xff1f);
    /// Frames with a wide tag, unless configured otherwise.
    pub const WIDE_TAG: Self = Self(0xff2f);

    /// Whether it introduces a VLAN tag instead of the payload.
    pub const fn is_tag(self) -> bool {
        matches!(self, Self::VLAN | Self::SERVICE_VLAN)
    }
}

impl fmt::Display for EtherType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#06x}", self.0)
    }
}

/// Maximum number of VLAN tags parsed.
pub(crate) const MAX_TAGS: usize = 2;
