//! [`Header`]: the fields of a frame that a switch may read.
//!
//! 40 bytes, filled by a parser from a real frame or by a simulated host, and carried as they are in simulation: a
//! packet with its transport fields fits one cache line.

use weft_fabric::Overhead;
use weft_units::HostId;
use weft_wire::{EtherType, Mac};

/// Bytes of the header of a frame about a path, without its EtherType.
pub(crate) const PATH_HEADER_BYTES: u16 = 20;

/// The kinds of frames that switches distinguish.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Kind {
    /// A TCP segment in IPv4 or IPv6.
    #[default]
    Tcp,
    /// Anything else.
    Other,
    /// Requests an address: ARP Request, Neighbour Solicitation.
    ArpRequest,
    /// Answers a request: ARP Reply, Neighbour Advertisement.
    ArpReply,
    /// A switch announces itself to its neighbour.
    Hello,
    /// Explores the fabric with the SYN that it wraps, or, without TCP ports, for a pair of stations.
    PathRequest,
    /// Follows the path found back, with the SYN+ACK that it wraps.
    PathReply,
    /// Reports that the source has become unreachable.
    PathFail,
    /// Explores the fabric for an established flow.
    RecoveryRequest,
    /// Follows the path found back.
    RecoveryReply,
    /// Measures the paths to the switch that sent it.
    Probe,
}

impl Kind {
    /// Whether only switches send such frames, to each other.
    pub const fn is_control(self) -> bool {
        match self {
            Self::Tcp | Self::Other | Self::ArpRequest | Self::ArpReply => false,
            Self::Hello | Self::PathRequest | Self::PathReply | Self::PathFail => true,
            Self::RecoveryRequest | Self::RecoveryReply | Self::Probe => true,
        }
    }
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
    /// Hash of the 5-tuple ([`crate::flow_hash`]), the same for every packet of one direction of a connection.
    pub flow_hash: u32,
    /// Entropy that the sending host may change to get another path (IPv6 flow label).
    pub entropy: u32,
    /// Room for a scheme's own header. In a SYN and a frame about a path, the first four bytes are
    /// [`Header::exploration_id`], the fifth counts hops.
    pub overlay: [u8; 8],
    /// Kind of the frame.
    pub kind: Kind,
    /// Flags of the TCP header as on the wire, 0 if the frame has none.
    pub tcp_flags: u8,
    /// DSCP (upper six bits) and ECN (lower two) of the IP header.
    pub traffic_class: u8,
    /// Room for transport options, in units of four bytes.
    pub option_words: u8,
    /// Length of the IP packet in bytes.
    pub ip_bytes: u16,
    /// Bytes of payload behind the transport header.
    pub payload: u16,
}

impl Header {
    /// ECN code point "congestion experienced" in [`Header::traffic_class`].
    pub const CE: u8 = 0b11;

    /// DSCP of a packet that a switch has trimmed to its headers: class selector 7, the most urgent one.
    pub const TRIMMED: u8 = 57;
    /// Bytes of the IP packet in the shortest Ethernet frame.
    pub const SHORTEST: u16 = Overhead::MIN_PACKET as u16;

    /// TCP's FIN, SYN, RST and ACK in [`Header::tcp_flags`].
    pub const FIN: u8 = 1;
    /// See [`Header::FIN`].
    pub const SYN: u8 = 2;
    /// See [`Header::FIN`].
    pub const RST: u8 = 4;
    /// See [`Header::FIN`].
    pub const ACK: u8 = 16;

    /// A frame about the path from `src` to `dst`.
    pub(crate) fn about_path(kind: Kind, src: Mac, dst: Mac, id: u32) -> Self {
        let mut header = Self { src, dst, kind, ..Self::default() };
        header.set_exploration_id(id);
        header
    }

    /// Distinguishes explorations for the same tuple: a SYN's initial sequence number.
    pub const fn exploration_id(&self) -> u32 {
        let [a, b, c, d, ..] = self.overlay;
        u32::from_be_bytes([a, b, c, d])
    }

    /// Sets [`Header::exploration_id`].
    pub fn set_exploration_id(&mut self, id: u32) {
        self.overlay[..4].copy_from_slice(&id.to_be_bytes());
    }

    /// The hash by which switches choose among paths: that of the flow, changed by the host's entropy.
    #[inline]
    pub const fn path_hash(&self) -> u32 {
        self.flow_hash ^ self.entropy
    }

    /// Whether a switch has trimmed the packet to its headers.
    #[inline]
    pub const fn is_trimmed(&self) -> bool {
        self.traffic_class >> 2 == Self::TRIMMED
    }

    /// Removes the payload.
    pub fn trim(&mut self) {
        self.traffic_class = Self::TRIMMED << 2 | self.traffic_class & Self::CE;
        self.payload = 0;
        self.ip_bytes = Self::SHORTEST;
    }

    /// The simulated sending host; `None` if the source address is not a simulated host's.
    #[inline]
    pub fn source(&self) -> Option<HostId> {
        self.src.host().map(HostId)
    }

    /// The simulated receiving host; `None` if the destination address is not a simulated host's.
    #[inline]
    pub fn destination(&self) -> Option<HostId> {
        self.dst.host().map(HostId)
    }

    /// The destination address that the frame carries between switches: a label set by a switch (`06:57` and four
    /// bytes), or the destination's own address.
    pub const fn label(&self) -> Mac {
        let [.., a, b, c, d] = self.overlay;
        if let [0, 0, 0, 0] = [a, b, c, d] { self.dst } else { Mac([0x06, 0x57, a, b, c, d]) }
    }

    /// Replaces the destination address by a label, or removes the label if it equals that address.
    pub fn set_label(&mut self, label: Mac) {
        let [.., a, b, c, d] = label.0;
        self.overlay[4..].copy_from_slice(&if label == self.dst { [0; 4] } else { [a, b, c, d] });
    }

    /// The frame's Tag-and-Forward tag as on the wire: its EtherType and the six bytes after it
    /// ([`weft_wire::Tag::from_bytes`]). In the overlay the EtherType is last, 0 without a tag.
    #[inline]
    pub const fn tag(&self) -> Option<(EtherType, [u8; 6])> {
        let [tag @ .., a, b] = self.overlay;
        match u16::from_be_bytes([a, b]) {
            0 => None,
            ethertype => Some((EtherType(ethertype), tag)),
        }
    }

    /// Pushes a tag, or replaces the present one.
    pub fn set_tag(&mut self, ethertype: EtherType, tag: [u8; 6]) {
        self.overlay[..6].copy_from_slice(&tag);
        self.overlay[6..].copy_from_slice(&ethertype.0.to_be_bytes());
    }

    /// Replaces a frame about a path by the frame that it wraps.
    pub(crate) fn unwrap(&mut self) {
        self.kind = Kind::Tcp;
        self.ip_bytes = self.ip_bytes.saturating_sub(PATH_HEADER_BYTES);
    }

    /// The frame as its host sent it: unwrapped, without the mark of an unknown destination.
    pub fn as_sent(mut self) -> Self {
        self.src = self.src.unmarked();
        if self.is_about_flow() && matches!(self.kind, Kind::PathRequest | Kind::PathReply) {
            self.unwrap();
        }
        self
    }

    /// Whether a frame about a path is about a flow's path, not that of two stations.
    pub const fn is_about_flow(&self) -> bool {
        self.sport != 0 || self.dport != 0
    }

    /// Whether the packet is one that a host sent for a flow: a segment of TCP, or one with ports of another protocol.
    #[inline]
    pub const fn is_of_flow(&self) -> bool {
        match self.kind {
            Kind::Tcp => true,
            Kind::Other => self.is_about_flow(),
            _ => false,
        }
    }

    /// Switches that have forwarded a frame about a path.
    pub const fn hops(&self) -> u8 {
        self.overlay[4]
    }

    /// Whether the frame is a report of one group (IGMP, MLD), which only routers need. In a frame of kind
    /// [`Kind::Other`], the sixth byte of the overlay says so.
    pub const fn is_report(&self) -> bool {
        matches!(self.kind, Kind::Other) && self.overlay[5] != 0
    }

    /// Sets [`Header::is_report`].
    pub const fn set_report(&mut self, is_report: bool) {
        self.overlay[5] = is_report as u8;
    }

    /// Bytes of the frame, without FCS.
    pub const fn frame_bytes(&self) -> u64 {
        self.ip_bytes as u64 + 14
    }

    /// Whether the packet's sender supports ECN.
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
}
