//! Packet formats: UDP over IPv4 over Ethernet, and ICMP echo.

use std::net::Ipv4Addr;

/// The length of an Ethernet header.
pub const ETHERNET: usize = 14;
/// The length of IPv4 and UDP headers, and of IPv4 and ICMP echo headers: the smallest packet.
pub const HEADERS: usize = 28;
/// The minimum Ethernet frame length, without its checksum.
const LEAST: usize = 60;
const UDP: u8 = 17;
const TTL: u8 = 64;
const ECHO_REQUEST: u8 = 8;

/// One end of a UDP flow.
#[derive(Clone, Copy)]
pub struct End {
    pub mac: [u8; 6],
    pub address: Ipv4Addr,
    pub port: u16,
}

/// A frame whose IP packet has `size` bytes, at least [`HEADERS`]; its data is zeros, and its UDP checksum is 0, for
/// none (RFC 768).
pub fn udp(from: End, to: End, size: u16) -> Vec<u8> {
    let mut frame = vec![0; LEAST.max(ETHERNET + usize::from(size))];
    frame[..6].copy_from_slice(&to.mac);
    frame[6..12].copy_from_slice(&from.mac);
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    let ip = &mut frame[ETHERNET..ETHERNET + 20];
    ip[0] = 0x45;
    ip[2..4].copy_from_slice(&size.to_be_bytes());
    ip[8] = TTL;
    ip[9] = UDP;
    ip[12..16].copy_from_slice(&from.address.octets());
    ip[16..20].copy_from_slice(&to.address.octets());
    let checksum = checksum(ip);
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    let udp = &mut frame[ETHERNET + 20..];
    udp[..2].copy_from_slice(&from.port.to_be_bytes());
    udp[2..4].copy_from_slice(&to.port.to_be_bytes());
    udp[4..6].copy_from_slice(&(size - 20).to_be_bytes());
    frame
}

/// An ICMP echo request whose IP packet has `size` bytes, at least [`HEADERS`].
pub fn echo_request(id: u16, sequence: u16, size: usize) -> Vec<u8> {
    let mut message = vec![0; size - 20];
    message[0] = ECHO_REQUEST;
    message[4..6].copy_from_slice(&id.to_be_bytes());
    message[6..8].copy_from_slice(&sequence.to_be_bytes());
    let checksum = checksum(&message);
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    message
}

/// Whether an IP packet is the reply to a request; data is not compared.
pub fn is_reply(packet: &[u8], id: u16, sequence: u16) -> bool {
    let header = packet.first().map_or(0, |first| usize::from(first & 15) * 4);
    packet.get(header..header + 8).is_some_and(|icmp| {
        icmp[0] == 0 && icmp[4..6] == id.to_be_bytes() && icmp[6..8] == sequence.to_be_bytes()
    })
}

/// The checksum of RFC 1071.
fn checksum(data: &[u8]) -> u16 {
    let words = data.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !(((folded & 0xffff) + (folded >> 16)) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_has_the_size_that_was_asked_for_and_checksums_that_come_out() {
        let end = |last, port| End { mac: [2, 0, 0, 0, 0, last], address: [10, 0, 0, last].into(), port };
        for size in [28, 46, 47, 64, 1500] {
            let frame = udp(end(1, 1000), end(2, 9), size);
            assert_eq!(frame.len(), LEAST.max(ETHERNET + usize::from(size)));
            assert_eq!(frame[16..18], size.to_be_bytes());
            assert_eq!(frame[38..40], (size - 20).to_be_bytes());
            assert_eq!(checksum(&frame[ETHERNET..ETHERNET + 20]), 0);
            assert_eq!((&frame[26..30], &frame[30..34]), (&[10, 0, 0, 1][..], &[10, 0, 0, 2][..]));
        }
        for size in [28, 29, 64, 8192] {
            let message = echo_request(7, 0xffff, size);
            assert_eq!((message.len(), checksum(&message)), (size - 20, 0));
        }
    }

    #[test]
    fn a_reply_is_distinguished_from_the_request_and_from_replies_to_others() {
        let mut packet = vec![0; 20];
        packet[0] = 0x45;
        packet.extend(echo_request(7, 3, 64));
        assert!(!is_reply(&packet, 7, 3));
        packet[20] = 0;
        assert!(is_reply(&packet, 7, 3));
        assert!(!is_reply(&packet, 7, 4) && !is_reply(&packet, 8, 3));
        for length in 0..28 {
            assert!(!is_reply(&packet[..length], 7, 3));
        }
    }
}
