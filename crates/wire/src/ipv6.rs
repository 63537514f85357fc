//! IPv6 (RFC 8200): the header fields that switches need, and extension headers up to the payload.

use core::net::Ipv6Addr;

use crate::Error;
use crate::ip_common::{IpProtocol, MAX_EXTENSIONS, cut};

/// An IPv6 packet: its validated header and its payload after all extension headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ipv6<'a> {
    header: &'a [u8; Ipv6::HEADER_LEN],
    protocol: IpProtocol,
    fragment: bool,
    payload: &'a [u8],
}

impl<'a> Ipv6<'a> {
    /// Length of a header without extension headers.
    pub const HEADER_LEN: usize = 40;
    /// Maximum number of extension headers parsed: as many as RFC 8200, section 4.1, allows before the
    /// payload, each once and destination options twice (without ESP, which hides everything after it).
    pub const MAX_EXTENSIONS: usize = MAX_EXTENSIONS;

    /// Parses the packet at the start of `bytes`. A payload shorter than the payload length is accepted: a
    /// switch only needs headers. A payload length of 0 means all bytes (jumbograms, RFC 2675).
    ///
    /// Hop-by-hop options, routing, fragment, authentication and destination options are skipped; any other
    /// number is the protocol carried. In a fragment other than the first, nothing after the fragment header
    /// is skipped, since arbitrary payload follows.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Version`], and [`Error::Extensions`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let short = Error::Short { need: Self::HEADER_LEN, have: bytes.len() };
        let (header, rest): (&[u8; Ipv6::HEADER_LEN], _) = bytes.split_first_chunk().ok_or(short)?;
        if header[0] >> 4 != 6 {
            return Err(Error::Version(header[0] >> 4));
        }
        let mut packet = Self {
            header,
            protocol: IpProtocol(header[6]),
            fragment: false,
            payload: cut(rest, payload_len(header)),
        };
        for _ in 0..Self::MAX_EXTENSIONS {
            if !packet.skip_extension()? {
                return Ok(packet);
            }
        }
        if is_extension(packet.protocol) { Err(Error::Extensions) } else { Ok(packet) }
    }

    /// Skips one extension header; returns `false` if there is none, or nothing parseable after it.
    fn skip_extension(&mut self) -> Result<bool, Error> {
        if !is_extension(self.protocol) {
            return Ok(false);
        }
        let short = |need| Error::Short { need, have: self.payload.len() };
        let start: &[u8; 8] = self.payload.first_chunk().ok_or(short(8))?;
        let len = match self.protocol {
            FRAGMENT => 8,
            AUTHENTICATION => (usize::from(start[1]) + 2) * 4,
            _ => (usize::from(start[1]) + 1) * 8,
        };
        let rest = self.payload.get(len..).ok_or(short(len))?;
        let mut readable = true;
        if self.protocol == FRAGMENT {
            // Offset in the upper 13 bits, more fragments in the lowest. Neither set: a whole packet (RFC
            // 6946).
            let place = u16::from_be_bytes([start[2], start[3]]);
            self.fragment |= place & 0xfff9 != 0;
            readable = place & 0xfff8 == 0;
        }
        (self.protocol, self.payload) = (IpProtocol(start[0]), rest);
        Ok(readable)
    }

    /// The source address.
    pub fn source(&self) -> Ipv6Addr {
        address(self.header, 8)
    }

    /// The destination address.
    pub fn destination(&self) -> Ipv6Addr {
        address(self.header, 24)
    }

    /// The protocol carried, after all extension headers.
    pub const fn protocol(&self) -> IpProtocol {
        self.protocol
    }

    /// Differentiated services code point, 0 to 63 (RFC 2474).
    pub const fn dscp(&self) -> u8 {
        self.traffic_class() >> 2
    }

    /// Explicit congestion notification, 0 to 3 (RFC 3168).
    pub const fn ecn(&self) -> u8 {
        self.traffic_class() & 3
    }

    const fn traffic_class(&self) -> u8 {
        self.header[0] << 4 | self.header[1] >> 4
    }

    /// The flow label, 20 bits (RFC 6437).
    pub const fn flow_label(&self) -> u32 {
        u32::from_be_bytes([0, self.header[1] & 0x0f, self.header[2], self.header[3]])
    }

    /// The hop limit.
    pub const fn hop_limit(&self) -> u8 {
        self.header[7]
    }

    /// Whether the packet is a fragment, including the first.
    pub const fn is_fragment(&self) -> bool {
        self.fragment
    }

    /// The available payload, without extension headers and Ethernet padding.
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

const HOP_BY_HOP: IpProtocol = IpProtocol(0);
const ROUTING: IpProtocol = IpProtocol(43);
const FRAGMENT: IpProtocol = IpProtocol(44);
const AUTHENTICATION: IpProtocol = IpProtocol(51);
const DESTINATION_OPTIONS: IpProtocol = IpProtocol(60);

const fn is_extension(protocol: IpProtocol) -> bool {
    matches!(protocol, HOP_BY_HOP | ROUTING | FRAGMENT | AUTHENTICATION | DESTINATION_OPTIONS)
}

const fn payload_len(header: &[u8; Ipv6::HEADER_LEN]) -> usize {
    u16::from_be_bytes([header[4], header[5]]) as usize
}

/// The address at byte `at` of a header; `::` if out of range.
pub(crate) fn address(header: &[u8], at: usize) -> Ipv6Addr {
    let bytes: Option<&[u8; 16]> = header.get(at..).and_then(|rest| rest.first_chunk());
    bytes.map_or(Ipv6Addr::UNSPECIFIED, |bytes| Ipv6Addr::from(*bytes))
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    /// A packet with these extension headers (number, bytes), then TCP's number and four bytes.
    fn packet(extensions: &[(u8, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::from([0xa5; 40]);
        bytes[..4].copy_from_slice(&[0x6b, 0xa9, 0x87, 0x65]);
        let mut next = 6;
        for &(number, extension) in extensions {
            let at = bytes.len();
            bytes[next] = number;
            bytes.extend_from_slice(extension);
            next = at;
        }
        bytes[next] = 6;
        bytes.extend_from_slice(b"data");
        let len = (bytes.len() - 40) as u16;
        bytes[4..6].copy_from_slice(&len.to_be_bytes());
        bytes.extend_from_slice(b"padding");
        bytes
    }

    #[test]
    fn what_is_carried_is_found_behind_extension_headers() {
        let options = [0; 8];
        let long = [&[0, 1][..], &[0; 14]].concat();
        let authentication = [&[0, 4][..], &[0; 22]].concat();
        for extensions in [
            &[][..],
            &[(0, &options[..])],
            &[(0, &long), (60, &options), (43, &long), (44, &options), (51, &authentication), (60, &options)],
        ] {
            let bytes = packet(extensions);
            let ip = Ipv6::parse(&bytes).unwrap();
            assert_eq!((ip.protocol(), ip.payload()), (IpProtocol::TCP, &b"data"[..]), "{extensions:?}");
            assert!(!ip.is_fragment());
            assert_eq!((ip.dscp(), ip.ecn(), ip.flow_label()), (0b101110, 2, 0x98765));
        }
    }

    #[test]
    fn one_extension_header_too_many_is_refused() {
        let options = [0; 8];
        let bytes = packet(&[(60, &options[..]); 7]);
        assert_eq!(Ipv6::parse(&bytes), Err(Error::Extensions));
    }

    #[test]
    fn an_extension_header_does_not_reach_beyond_the_packet() {
        let bytes = packet(&[(0, &[0, 1, 0, 0, 0, 0, 0, 0])]);
        assert_eq!(Ipv6::parse(&bytes), Err(Error::Short { need: 16, have: 12 }));
    }

    #[test]
    fn fragments_are_distinguished_from_a_whole_packet_with_a_fragment_header() {
        for (place, fragment, protocol) in
            [(0u16, false, 6), (1, true, 6), (8, true, 60), (0xfff9, true, 60), (6, false, 6)]
        {
            let [high, low] = place.to_be_bytes();
            let bytes = packet(&[(44, &[0, 0, high, low, 0, 0, 0, 0]), (60, &[0; 8])]);
            let ip = Ipv6::parse(&bytes).unwrap();
            assert_eq!((ip.is_fragment(), ip.protocol().0), (fragment, protocol), "{place:#x}");
        }
    }
}
