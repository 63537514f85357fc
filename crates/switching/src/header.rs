//! [`Header`], what a switch may look at.
//!
//! 40 bytes that are made from a real frame by a parser or by a simulated host, and carried as
//! they are in simulation, so that a packet with its transport fields fits one cache line.

use weft_units::HostId;

/// A MAC address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// The group address of every station.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// The locally administered address of a simulated host: `02:00` and the host's number.
    #[inline]
    pub const fn of_host(host: HostId) -> Self {
        let [a, b, c, d] = host.0.to_be_bytes();
        Self([0x02, 0x00, a, b, c, d])
    }

    /// The simulated host that has this address, if it is one.
    #[inline]
    pub const fn host(self) -> Option<HostId> {
        let [p, q, a, b, c, d] = self.0;
        if u16::from_be_bytes([p, q]) == 0x0200 {
            Some(HostId(u32::from_be_bytes([a, b, c, d])))
        } else {
            None
        }
    }

    /// Whether the address names a group of stations (broadcast included).
    #[inline]
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }
}

/// What a frame carries, as far as switches tell frames apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Kind {
    /// A TCP segment in IPv4 or IPv6.
    #[default]
    Tcp,
    /// Anything else.
    Other,
}

/// The fields of a frame that forwarding may depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Header {
    /// Destination station.
    pub dst: Mac,
    /// Source station.
    pub src: Mac,
    /// Source port of TCP or UDP, 0 otherwise.
    pub sport: u16,
    /// Destination port of TCP or UDP, 0 otherwise.
    pub dport: u16,
    /// Hash of the 5-tuple ([`crate::flow_hash`]), the same for every packet of one direction of a
    /// connection.
    pub flow_hash: u32,
    /// A field that the sending host may change to ask for another path (IPv6 flow label).
    pub entropy: u32,
    /// Room for a scheme's own header.
    pub overlay: [u8; 8],
    /// What the frame carries.
    pub kind: Kind,
    /// Flags of the TCP header as on the wire, 0 where the frame has none.
    pub tcp_flags: u8,
    /// DSCP (upper six bits) and ECN (lower two) of the IP header.
    pub traffic_class: u8,
    /// Bytes of transport options that the packet has room for, in units of four.
    pub option_words: u8,
    /// Length of the IP packet in bytes.
    pub ip_bytes: u16,
    /// Bytes of payload behind the transport header.
    pub payload: u16,
}

impl Header {
    /// ECN code point "congestion experienced" in [`Header::traffic_class`].
    pub const CE: u8 = 0b11;

    /// Whether the packet's sender understands ECN marks.
    #[inline]
    pub const fn is_ecn_capable(&self) -> bool {
        self.traffic_class & 0b11 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_leaves_room_for_transport_fields_in_a_cache_line() {
        assert_eq!(size_of::<Header>(), 40);
    }

    #[test]
    fn a_host_is_known_by_its_address() {
        assert_eq!(Mac::of_host(HostId(70_000)).host(), Some(HostId(70_000)));
        assert_eq!(Mac::BROADCAST.host(), None);
        assert!(Mac::BROADCAST.is_group() && !Mac::of_host(HostId(1)).is_group());
    }
}
