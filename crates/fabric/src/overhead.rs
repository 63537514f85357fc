//! [`Overhead`]: the bytes that a link adds to an IP packet on the wire.

use weft_units::words;

words! {
    /// The framing of a link.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Overhead {
        /// 38 bytes around the IP packet: preamble and start delimiter 8, header 14, check sequence 4, gap 12;
        /// frames are padded to at least 84 bytes on the wire (IEEE 802.3-2018, 3.1.1, 4.2.3.3 and 4.4.2).
        Ethernet = "ethernet",
        /// 18 bytes, the frame without preamble and gap: header 14, check sequence 4; frames are padded to at least 64 bytes.
        EthernetFrame = "ethernet-frame",
        /// 2 bytes, the framing of ns-3's point-to-point device.
        Ppp = "ppp",
        /// The IP packet alone.
        None = "none",
    }
}

impl Overhead {
    /// Bytes of the IP packet in the shortest Ethernet frame (IEEE 802.3, 4.2.3.3).
    pub const MIN_PACKET: u32 = 46;
    /// The shortest Ethernet frame with preamble and inter-frame gap.
    pub const MIN_FRAME: u32 = Self::Ethernet.wire_bytes(Self::MIN_PACKET);
    /// Bytes of the IP packet in a full Ethernet frame.
    pub const MTU: u16 = 1_500;
    /// Bytes on the wire of a full Ethernet frame.
    pub const FULL_FRAME: u32 = Self::Ethernet.wire_bytes(Self::MTU as u32);

    /// The bytes around an IP packet, without padding.
    #[inline]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Ethernet => 38,
            Self::EthernetFrame => 18,
            Self::Ppp => 2,
            Self::None => 0,
        }
    }

    /// Whether frames with less than [`Self::MIN_PACKET`] are padded.
    #[inline]
    pub const fn pads(self) -> bool {
        matches!(self, Self::Ethernet | Self::EthernetFrame)
    }

    /// The bytes that a packet of `ip_bytes` occupies on the wire.
    #[inline]
    pub const fn wire_bytes(self, ip_bytes: u32) -> u32 {
        let is_short = self.pads() && ip_bytes < Self::MIN_PACKET;
        self.bytes() + if is_short { Self::MIN_PACKET } else { ip_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::Overhead;

    #[test]
    fn a_packet_takes_its_frame_and_no_frame_is_shorter_than_the_shortest() {
        for (overhead, ip, wire) in [
            (Overhead::Ethernet, 1500, 1538),
            (Overhead::Ethernet, 40, 84),
            (Overhead::Ethernet, 46, 84),
            (Overhead::Ethernet, 47, 85),
            (Overhead::EthernetFrame, 1500, 1518),
            (Overhead::EthernetFrame, 40, 64),
            (Overhead::EthernetFrame, 46, 64),
            (Overhead::EthernetFrame, 47, 65),
            (Overhead::Ppp, 40, 42),
            (Overhead::None, 40, 40),
        ] {
            assert_eq!(overhead.wire_bytes(ip), wire, "{overhead} {ip}");
            assert_eq!(overhead.to_string().parse(), Ok(overhead));
        }
    }
}
