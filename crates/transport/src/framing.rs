//! [`Framing`]: how a protocol divides a flow into packets.

use weft_units::Rate;

/// The packets of a flow, as far as its completion time on an idle network depends on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Framing {
    /// Payload bytes of a full packet.
    pub payload: u16,
    /// Bytes of the IP packet besides the payload.
    pub headers: u32,
    /// Round trips of packets without payload before the first payload.
    pub round_trips: u32,
    /// The rate of the payload at which the source sends, if it is not that of its link.
    pub pace: Option<Rate>,
}

impl Framing {
    /// Bytes of a full IP packet.
    pub fn full_packet(&self) -> u32 {
        u32::from(self.payload) + self.headers
    }

    /// The largest flow of a protocol that numbers its packets with 32 bits.
    pub fn largest_numbered_flow(&self) -> u64 {
        u64::from(u32::MAX - 1) * u64::from(self.payload)
    }

    /// [`Framing::packets`] for a protocol that numbers its packets. Flows larger than
    /// [`Framing::largest_numbered_flow`] are cut.
    pub fn numbered_packets(&self, bytes: u64) -> (u32, u16) {
        let (packets, last) = self.packets(bytes.min(self.largest_numbered_flow()));
        (packets as u32, last)
    }

    /// The number of packets of a flow of `bytes`, and the payload bytes of the last one.
    pub fn packets(&self, bytes: u64) -> (u64, u16) {
        let payload = u64::from(self.payload.max(1));
        let count = bytes.div_ceil(payload).max(1);
        (count, (bytes - (count - 1) * payload) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_packet_has_the_rest() {
        let framing = Framing { payload: 1000, headers: 44, round_trips: 0, pace: None };
        for (bytes, packets) in
            [(0, (1, 0)), (1, (1, 1)), (1000, (1, 1000)), (1001, (2, 1)), (5000, (5, 1000))]
        {
            assert_eq!(framing.packets(bytes), packets, "{bytes}");
            assert_eq!(framing.numbered_packets(bytes), (packets.0 as u32, packets.1), "{bytes}");
        }
    }

    #[test]
    fn the_largest_flow_is_the_last_one_whose_packets_have_numbers_of_32_bits() {
        let framing = Framing { payload: 1000, headers: 44, round_trips: 0, pace: None };
        let largest = framing.largest_numbered_flow();
        assert_eq!(largest, 4_294_967_294_000);
        assert_eq!(framing.numbered_packets(largest), (u32::MAX - 1, 1000));
        assert_eq!(framing.numbered_packets(u64::MAX), (u32::MAX - 1, 1000));
    }
}
