//! Builds frames byte by byte.

use weft_wire::{EtherType, MIN_FRAME, Mac};

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
