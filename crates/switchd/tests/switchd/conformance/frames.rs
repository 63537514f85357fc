//! Builds frames byte by byte.

use rand_core::RngCore;
use weft_switching::{Stream, pick};
use weft_wire::{
    EtherType, Hello, MIN_FRAME, Mac, PATH_HEADER_LEN, PathHeader, PathType, Probe, SwitchId, VlanTag, wrap,
};

/// An Ethernet frame with `tags` VLAN tags, padded.
pub fn ethernet(dst: Mac, src: Mac, tags: usize, ethertype: EtherType, payload: &[u8]) -> Vec<u8> {
    let mut frame = [dst.0, src.0].concat();
    for tag in 0..tags {
        frame.extend([if tag == 0 && tags > 1 { [0x88, 0xa8] } else { [0x81, 0x00] }, [0x60, 42]].concat());
    }
    frame.extend(ethertype.0.to_be_bytes());
    frame.extend(payload);
    frame.resize(frame.len().max(MIN_FRAME), 0);
    frame
}

/// The payload of an ARP frame.
pub fn arp(operation: u8, sender: Mac, target: Mac) -> Vec<u8> {
    let start = [0, 1, 8, 0, 6, 4, 0, operation];
    [&start[..], &sender.0, &[10, 0, 0, sender.0[5]], &target.0, &[10, 0, 0, target.0[5]]].concat()
}

/// An IPv4 packet.
pub fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let len = (20 + payload.len() as u16).to_be_bytes();
    let header = [0x45, 0, len[0], len[1], 0, 0, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    [&header[..], payload].concat()
}

/// An IPv6 packet.
pub fn ipv6(next: u8, hop_limit: u8, payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u16).to_be_bytes();
    [&[0x60, 0, 0, 0, len[0], len[1], next, hop_limit][..], &[0xfd; 32], payload].concat()
}

/// Sets the DSCP and ECN of a packet.
pub fn mark(mut packet: Vec<u8>, class: u8) -> Vec<u8> {
    if packet[0] >> 4 == 4 {
        packet[1] = class;
    } else {
        packet[0] = 0x60 | class >> 4;
        packet[1] = class << 4;
    }
    packet
}

/// A Neighbour Solicitation (135) or Advertisement (136), behind `options` destination options headers.
pub fn neighbour(message: u8, code: u8, hop_limit: u8, options: usize) -> Vec<u8> {
    let mut payload = Vec::new();
    for left in (0..options).rev() {
        payload.extend([if left == 0 { 58 } else { 60 }, 0, 1, 4, 0, 0, 0, 0]);
    }
    payload.extend([message, code, 0, 0, 0, 0, 0, 0]);
    payload.extend([0xfe; 16]);
    ipv6(if options == 0 { 58 } else { 60 }, hop_limit, &payload)
}

/// A TCP segment.
pub fn tcp(sport: u16, dport: u16, sequence: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut segment = [sport.to_be_bytes(), dport.to_be_bytes()].concat();
    segment.extend(sequence.to_be_bytes());
    segment.extend([0, 0, 0, 0, 0x50, flags, 0xfa, 0xf0, 0, 0, 0, 0]);
    segment.extend(payload);
    segment
}

/// A Path frame without an original, with `tags` VLAN tags, at most two.
pub fn path(header: PathHeader, tags: usize) -> Vec<u8> {
    let tag = VlanTag { tpid: EtherType::VLAN, tci: 42 };
    let mut frame = vec![0; MIN_FRAME];
    let len = header.write(&[tag; 2][..tags.min(2)], EtherType::PATH, &mut frame);
    assert_eq!(len, Ok(MIN_FRAME));
    frame
}

/// A segment in a Path frame.
pub fn wrapped(segment: &[u8], path_type: PathType, id: u32) -> Vec<u8> {
    let mut longer = vec![0; segment.len() + PATH_HEADER_LEN];
    wrap(segment, path_type, id, EtherType::PATH, &mut longer).expect("a segment");
    longer
}

/// A Hello of another switch, which misses many Hello messages of this one or does not.
pub fn hello(sequence: u64, misses: bool) -> Vec<u8> {
    let hello = Hello {
        tier: 1,
        hold_ms: 15_000,
        switch: SwitchId(7),
        port: 1,
        sequence,
        echo: None,
        number: None,
        misses,
    };
    let mut frame = vec![0; MIN_FRAME];
    let len = hello.write(Mac([2, 0, 0, 0, 1, 1]), EtherType::HELLO, None, &mut frame);
    assert_eq!(len, Ok(MIN_FRAME));
    frame
}

/// A probe of another switch.
pub fn probe() -> Vec<u8> {
    let probe = Probe { switch: SwitchId(7), port: 1, blocked: false, hosts_only: true };
    let mut frame = vec![0; MIN_FRAME];
    assert_eq!(probe.write(Mac([2, 0, 0, 0, 1, 1]), EtherType::HELLO, None, &mut frame), Ok(MIN_FRAME));
    frame
}

/// Flips bits in the first `most` bytes, and truncates.
pub fn spoil(random: &mut Stream, frame: &mut Vec<u8>, most: usize) {
    let mut below = |n: usize| pick(random.next_u64(), n);
    for _ in 0..below(3) {
        let at = below(frame.len().min(most));
        frame[at] ^= 1 << below(8);
    }
    if below(2) == 0 {
        frame.truncate(14 + below(frame.len() - 13));
    }
}

/// Pads a frame that `BPF_PROG_TEST_RUN` itself would refuse: an IP packet shorter than its header, unless there is a
/// tag.
pub fn pad(frame: &mut Vec<u8>) {
    let least = match frame[12..14] {
        [0x08, 0x00] => 34,
        [0x86, 0xdd] => 54,
        _ => 14,
    };
    frame.resize(frame.len().max(least), 0);
}
