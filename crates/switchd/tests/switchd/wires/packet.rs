//! Segments of the two hosts, and checks of received frames.

use crate::wires::tap::{Frame, Partial};

pub const A: &str = "02:00:00:00:00:0a";
pub const B: &str = "02:00:00:00:00:0b";
const MACS: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 0xa], [2, 0, 0, 0, 0, 0xb]];

pub const SYN: u8 = 2;
pub const ACK: u8 = 16;
const TCP: u8 = 6;

/// A segment of a connection from A to B.
#[derive(Clone, Copy)]
pub struct Segment {
    pub ipv6: bool,
    pub tags: usize,
    /// The client's TCP port.
    pub port: u16,
    /// Whether its checksum is left to offload.
    pub partial: bool,
    /// Bytes of TCP options.
    pub options: usize,
    /// Bytes of payload.
    pub data: usize,
}

fn sum(bytes: &[u8]) -> u32 {
    bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0))).sum()
}

fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The sum over the pseudo-header (RFC 9293, section 3.1).
fn pseudo(addresses: &[u8], len: usize) -> u32 {
    sum(addresses) + u32::from(TCP) + len as u32
}

/// The addresses of a frame and its VLAN tags.
fn addressed(to: [u8; 6], from: [u8; 6], tags: usize) -> Vec<u8> {
    let tag = |at| [if at == 0 && tags > 1 { [0x88, 0xa8] } else { [0x81, 0] }, [0x20, 42]];
    [to, from].into_iter().flatten().chain((0..tags).flat_map(tag).flatten()).collect()
}

impl Segment {
    /// A segment from A to a nonexistent station.
    pub fn to_nobody(self, station: u16, flags: u8) -> Frame {
        self.bytes(MACS[0], nobody(station), false, flags)
    }

    pub fn frame(&self, back: bool, flags: u8) -> Frame {
        let (from, to) = (usize::from(back), usize::from(!back));
        self.bytes(MACS[from], MACS[to], back, flags)
    }

    fn bytes(&self, from: [u8; 6], to: [u8; 6], back: bool, flags: u8) -> Frame {
        let ports = if back { [80, self.port] } else { [self.port, 80] };
        let mut tcp: Vec<u8> = ports.iter().flat_map(|port| port.to_be_bytes()).collect();
        tcp.extend([0, 0, 0, self.port as u8, 0, 0, 0, flags]);
        tcp.extend([(((20 + self.options) / 4) << 4) as u8, flags, 0xfa, 0xf0, 0, 0, 0, 0]);
        tcp.resize(20 + self.options, 1);
        // The payload distinguishes segments.
        tcp.extend((0..self.data).map(|at| at as u8));
        let addresses: Vec<u8> = match self.ipv6 {
            true => [[0xfd; 15].as_slice(), &[from[5]], &[0xfd; 15], &[to[5]]].concat(),
            false => vec![10, 0, 0, from[5], 10, 0, 0, to[5]],
        };
        let pseudo = pseudo(&addresses, tcp.len());
        let checksum = if self.partial { fold(pseudo) } else { !fold(pseudo + sum(&tcp)) };
        tcp[16..18].copy_from_slice(&checksum.to_be_bytes());
        let mut bytes = addressed(to, from, self.tags);
        let len = tcp.len() as u16;
        if self.ipv6 {
            bytes.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
            bytes.extend(len.to_be_bytes());
            bytes.extend([TCP, 64]);
        } else {
            let mut ip = [vec![0x45, 0], (20 + len).to_be_bytes().to_vec()].concat();
            ip.extend([0, 0, 0x40, 0, 64, TCP, 0, 0]);
            let header = !fold(sum(&ip) + sum(&addresses));
            ip[10..12].copy_from_slice(&header.to_be_bytes());
            bytes.extend([[8, 0].as_slice(), &ip].concat());
        }
        bytes.extend(addresses);
        let start = bytes.len() as u16;
        bytes.extend(tcp);
        Frame { bytes, partial: self.partial.then_some(Partial { start, offset: 16 }), segment: 0 }
    }
}

/// The address of a nonexistent station, by number.
pub fn nobody(number: u16) -> [u8; 6] {
    let [high, low] = number.to_be_bytes();
    [2, 0, 0, 0, high, low]
}

/// A broadcast from which switches learn a host.
pub fn announcement(second: bool) -> Frame {
    let mac = MACS[usize::from(second)];
    let arp = [0, 1, 8, 0, 6, 4, 0, 1];
    let mut bytes =
        [[0xff; 6].as_slice(), &mac, &[8, 6], &arp, &mac, &[10, 0, 0, 9], &[0; 6], &[10, 0, 0, 8]].concat();
    bytes.resize(60, 0);
    Frame { bytes, partial: None, segment: 0 }
}

/// A frame from A to a nonexistent station, with an unassigned EtherType and `tags` VLAN tags.
pub fn meaningless(tags: usize, len: usize, to: u16) -> Frame {
    let mut bytes = addressed(nobody(to), MACS[0], tags);
    bytes.extend([0x88, 0xb5]);
    bytes.extend((0..len).map(|at| (at * 3) as u8));
    Frame { bytes, partial: None, segment: 0 }
}

/// Whether the frame carries the mark of frames flooded to unknown destinations.
pub fn is_marked(bytes: &[u8]) -> bool {
    bytes[6] & 1 == 1
}

/// The offset of the EtherType after the tags.
fn ethertype_at(bytes: &[u8]) -> usize {
    let mut at = 12;
    while matches!(bytes.get(at..at + 2), Some([0x81, 0] | [0x88, 0xa8])) {
        at += 4;
    }
    at
}

/// The type of a Path frame.
pub fn path_type(bytes: &[u8]) -> Option<u8> {
    let at = ethertype_at(bytes);
    (bytes.get(at..at + 3)? == [0xff, 0xaf, 1]).then(|| bytes[at + 3])
}

/// The offset of the IP packet, also in a Path frame, and whether it is IPv6.
fn packet_at(bytes: &[u8]) -> (usize, bool) {
    let at = ethertype_at(bytes) + 2 + if path_type(bytes).is_some() { 20 } else { 0 };
    (at, bytes[at] >> 4 == 6)
}

/// Whether TCP's checksum is correct.
pub fn is_complete(bytes: &[u8]) -> bool {
    let (at, ipv6) = packet_at(bytes);
    let word = |at: usize| usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
    let (addresses, start, end) = match ipv6 {
        true => (&bytes[at + 8..at + 40], at + 40, at + 40 + word(at + 4)),
        false => (&bytes[at + 12..at + 20], at + 20, at + word(at + 2)),
    };
    fold(pseudo(addresses, end - start) + sum(&bytes[start..end])) == 0xffff
}

/// The frame up to TCP's checksum.
pub fn until_checksum(bytes: &[u8]) -> &[u8] {
    let (at, ipv6) = packet_at(bytes);
    &bytes[..at + if ipv6 { 40 } else { 20 } + 16]
}

pub fn without_checksum(bytes: &[u8]) -> Vec<u8> {
    let checksum = until_checksum(bytes).len();
    let mut bytes = bytes.to_vec();
    bytes[checksum..checksum + 2].fill(0);
    bytes
}

/// Whether a frame created by the switch has only zeros after its header, except for a pending checksum
/// that could not be cleared.
pub fn own_is_clean(frame: &Frame, tags: usize) -> bool {
    let padding = &frame.bytes[12 + 4 * tags + 2 + 20..];
    // The offsets of TCP's checksum in the overwritten IPv4 or IPv6 packet.
    let checksums = if tags == 2 { [16, 36] } else { [usize::MAX - 1; 2] };
    let is_checksum = |at: usize| checksums.iter().any(|place| at == *place || at == place + 1);
    frame.bytes.len() >= 60 && padding.iter().enumerate().all(|(at, byte)| *byte == 0 || is_checksum(at))
}
