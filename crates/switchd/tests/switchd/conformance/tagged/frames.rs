//! Frames of few hosts with adjacent addresses.

use weft_wire::{EtherType, Mac};

use crate::conformance::frames::{arp, ethernet, ipv4, ipv6, neighbour, tcp};

/// The payload of a frame.
#[derive(Clone, Copy, Debug)]
pub enum Carries {
    Tcp,
    Udp,
    /// TCP behind this many destination options headers, IPv6 only.
    Options(usize),
    Fragment,
    /// ARP or neighbour discovery, with the operation or message type.
    Asks(u8),
}

/// A frame from host `from` to host `to`, with `tags` VLAN tags.
pub fn frame(from: u8, to: u8, v6: bool, tags: usize, carries: Carries, bytes: usize) -> Vec<u8> {
    let mac = |host| Mac([2, 0, 0, 0, host / 3, host]);
    let (src, dst) = (mac(from), mac(to));
    let segment = tcp(1000 + u16::from(from), 80, 1, 16, &vec![7; bytes]);
    if !v6 {
        let mut packet = match carries {
            Carries::Asks(operation) => {
                let packet = patch(arp(operation, src, dst), 14, &[10, 0, 0, from]);
                return ethernet(dst, src, tags, EtherType::ARP, &patch(packet, 24, &[10, 0, 0, to]));
            }
            Carries::Tcp | Carries::Options(_) => ipv4(6, &segment),
            Carries::Udp => ipv4(17, &segment),
            Carries::Fragment => patch(ipv4(17, &segment), 6, &[0x20, 0]),
        };
        packet = patch(packet, 12, &[10, 0, 0, from, 10, 0, 0, to]);
        return ethernet(dst, src, tags, EtherType::IPV4, &packet);
    }
    let address = |host: u8| [[0xfd; 15].as_slice(), &[host]].concat();
    let options = |count: usize| -> Vec<u8> {
        let each = (0..count).rev().flat_map(|left| [if left == 0 { 6 } else { 60 }, 0, 1, 4, 0, 0, 0, 0]);
        each.chain(segment.iter().copied()).collect()
    };
    let packet = match carries {
        // The target follows the header's addresses.
        Carries::Asks(message) => patch(neighbour(message, 0, 255, 0), 48, &address(to)),
        Carries::Tcp => ipv6(6, 64, &segment),
        Carries::Udp => patch(ipv6(17, 64, &segment), 1, &[from & 15, to]),
        Carries::Options(count) => ipv6(if count == 0 { 6 } else { 60 }, 64, &options(count)),
        Carries::Fragment => ipv6(44, 64, &[&[6, 0, 0, 1, 0, 0, 0, 9][..], &segment].concat()),
    };
    let packet = patch(packet, 8, &[address(from), address(to.wrapping_add(1))].concat());
    let is_solicitation = matches!(carries, Carries::Asks(135));
    let packet = if is_solicitation { packet } else { patch(packet, 24, &address(to)) };
    ethernet(dst, src, tags, EtherType::IPV6, &packet)
}

fn patch(mut packet: Vec<u8>, at: usize, bytes: &[u8]) -> Vec<u8> {
    packet[at..at + bytes.len()].copy_from_slice(bytes);
    packet
}
