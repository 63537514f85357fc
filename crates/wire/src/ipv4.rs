//! IPv4 (RFC 791): the header fields that switches need. Hosts verify the checksum.

use core::net::Ipv4Addr;

use crate::Error;
use crate::ip_common::{IpProtocol, cut};

/// An IPv4 packet: its validated header and its payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ipv4<'a> {
    header: &'a [u8; Ipv4::MIN_HEADER_LEN],
    payload: &'a [u8],
}

impl<'a> Ipv4<'a> {
    /// Length of a header without options.
    pub const MIN_HEADER_LEN: usize = 20;

    /// Parses the packet at the start of `bytes`. A payload shorter than the total length is accepted: a
    /// switch only needs headers.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Version`], and [`Error::HeaderLength`] if header length or total length
    /// are below the minimum. A total length of 0 means all bytes, as Linux writes it in packets longer than
    /// 65535 bytes.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let short = |need| Error::Short { need, have: bytes.len() };
        let header: &[u8; Ipv4::MIN_HEADER_LEN] = bytes.first_chunk().ok_or(short(Self::MIN_HEADER_LEN))?;
        if header[0] >> 4 != 4 {
            return Err(Error::Version(header[0] >> 4));
        }
        let (header_len, total_len) = (header_len(header), total_len(header));
        if header_len < Self::MIN_HEADER_LEN {
            return Err(Error::HeaderLength { least: Self::MIN_HEADER_LEN, given: header_len });
        }
        if total_len != 0 && total_len < header_len {
            return Err(Error::HeaderLength { least: header_len, given: total_len });
        }
        let payload = cut(bytes, total_len).get(header_len..).ok_or(short(header_len))?;
        Ok(Self { header, payload })
    }

    /// The source address.
    pub const fn source(&self) -> Ipv4Addr {
        let h = self.header;
        Ipv4Addr::new(h[12], h[13], h[14], h[15])
    }

    /// The destination address.
    pub const fn destination(&self) -> Ipv4Addr {
        let h = self.header;
        Ipv4Addr::new(h[16], h[17], h[18], h[19])
    }

    /// The protocol carried.
    pub const fn protocol(&self) -> IpProtocol {
        IpProtocol(self.header[9])
    }

    /// Differentiated services code point, 0 to 63 (RFC 2474).
    pub const fn dscp(&self) -> u8 {
        self.header[1] >> 2
    }

    /// Explicit congestion notification, 0 to 3 (RFC 3168).
    pub const fn ecn(&self) -> u8 {
        self.header[1] & 3
    }

    /// Whether the packet is a fragment, including the first: more follow, or its offset is not 0.
    pub const fn is_fragment(&self) -> bool {
        u16::from_be_bytes([self.header[6], self.header[7]]) & 0x3fff != 0
    }

    /// Length of the header, options included.
    pub const fn header_len(&self) -> usize {
        header_len(self.header)
    }

    /// The available payload, without Ethernet padding.
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

const fn header_len(header: &[u8; Ipv4::MIN_HEADER_LEN]) -> usize {
    (header[0] & 0x0f) as usize * 4
}

const fn total_len(header: &[u8; Ipv4::MIN_HEADER_LEN]) -> usize {
    u16::from_be_bytes([header[2], header[3]]) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 64 bytes that start with these; total length 40.
    fn packet(start: [u8; 8]) -> [u8; 64] {
        let mut packet = [0xa5; 64];
        packet[..8].copy_from_slice(&start);
        packet
    }

    #[test]
    fn options_belong_to_the_header_and_padding_to_nothing() {
        for (first, total, header, payload) in
            [(0x45, 40, 20, 20), (0x46, 40, 24, 16), (0x4f, 60, 60, 0), (0x45, 0, 20, 44)]
        {
            let bytes = packet([first, 0, 0, total, 0, 0, 0, 0]);
            let ip = Ipv4::parse(&bytes).unwrap();
            assert_eq!((ip.header_len(), ip.payload().len()), (header, payload), "{first:x} {total}");
        }
    }

    #[test]
    fn lengths_that_contradict_each_other_are_refused() {
        for (first, total, error) in [
            (0x65, 40, Error::Version(6)),
            (0x44, 40, Error::HeaderLength { least: 20, given: 16 }),
            (0x45, 19, Error::HeaderLength { least: 20, given: 19 }),
            (0x4f, 40, Error::HeaderLength { least: 60, given: 40 }),
        ] {
            assert_eq!(Ipv4::parse(&packet([first, 0, 0, total, 0, 0, 0, 0])), Err(error));
        }
        let bytes = packet([0x4f, 0, 0, 60, 0, 0, 0, 0]);
        assert_eq!(Ipv4::parse(&bytes[..59]), Err(Error::Short { need: 60, have: 59 }));
    }

    #[test]
    fn every_part_of_a_fragmented_packet_is_a_fragment() {
        for (high, low, fragment) in
            [(0x40, 0, false), (0x20, 0, true), (0, 1, true), (0x1f, 0xff, true), (0x80, 0, false)]
        {
            let bytes = packet([0x45, 46 << 2 | 2, 0, 40, 0, 0, high, low]);
            let ip = Ipv4::parse(&bytes).unwrap();
            assert_eq!(ip.is_fragment(), fragment, "{high:x} {low:x}");
            assert_eq!((ip.dscp(), ip.ecn()), (46, 2));
        }
    }
}
