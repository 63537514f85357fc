//! Messages about groups: IGMP, MLD, PIM Hello. The parser that the program is compared with, and random messages.

use rand_core::RngCore;
use weft_switching::snooping::{Family, Membership};
use weft_switching::{Stream, pick};
use weft_wire::{EtherType, Ethernet, Ip, Mac};

use crate::conformance::frames::ethernet;

const IGMP: u8 = 2;
const ICMPV6: u8 = 58;
const PIM: u8 = 103;
const PIM_HELLO: u8 = 0x20;
/// Records read of a report.
const MOST_RECORDS: usize = 32;

fn group_v4(address: &[u8]) -> Mac {
    Mac([1, 0, 0x5e, address[1] & 0x7f, address[2], address[3]])
}

fn group_v6(address: &[u8]) -> Mac {
    Mac([0x33, 0x33, address[12], address[13], address[14], address[15]])
}

/// A message: what it says, and whether it is a report of one group.
fn read(frame: &[u8]) -> Option<(Vec<Membership>, bool)> {
    let ethernet = Ethernet::parse(frame).ok()?;
    let ip = Ip::parse(&ethernet).ok()?;
    if ip.is_fragment() {
        return None;
    }
    let (payload, protocol) = (ip.payload(), ip.protocol().0);
    match ip {
        Ip::V4(_) if protocol == PIM && payload.len() >= 4 && payload[0] == PIM_HELLO => {
            Some((vec![Membership::All(Family::V4)], false))
        }
        Ip::V6(_) if protocol == PIM && payload.len() >= 4 && payload[0] == PIM_HELLO => {
            Some((vec![Membership::All(Family::V6)], false))
        }
        Ip::V4(ip) if protocol == IGMP && payload.len() >= 8 => {
            let group = &payload[4..8];
            match payload[0] {
                0x11 if ip.source().is_unspecified() => None,
                0x11 if group == [0; 4] => Some((vec![Membership::Query(Family::V4)], false)),
                0x11 => Some((vec![Membership::QueryOf(Family::V4, group_v4(group))], false)),
                0x12 | 0x16 => Some((vec![Membership::Member(group_v4(group))], true)),
                0x22 => Some((records(payload, 4), false)),
                _ => None,
            }
        }
        Ip::V6(ip) if protocol == ICMPV6 && ip.hop_limit() == 1 && payload.len() >= 8 => {
            if payload[0] == 143 {
                return Some((records(payload, 16), false));
            }
            let group = payload.get(8..24)?;
            match payload[0] {
                130 if ip.source().octets()[..4] == [0; 4] => None,
                130 if group[..4] == [0; 4] => Some((vec![Membership::Query(Family::V6)], false)),
                130 => Some((vec![Membership::QueryOf(Family::V6, group_v6(group))], false)),
                131 => Some((vec![Membership::Member(group_v6(group))], true)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The records of a report, of groups with addresses of `width` bytes.
fn records(report: &[u8], width: usize) -> Vec<Membership> {
    let count = usize::from(u16::from_be_bytes([report[6], report[7]]));
    let (mut found, mut at) = (Vec::new(), 8);
    for _ in 0..count.min(MOST_RECORDS) {
        let Some(record) = report.get(at..at + 4 + width) else { return found };
        let sources = usize::from(u16::from_be_bytes([record[2], record[3]]));
        // A list that includes no source means that the station left.
        if matches!(record[0], 2 | 4 | 5) || matches!(record[0], 1 | 3) && sources > 0 {
            found.push(Membership::Member(if width == 4 {
                group_v4(&record[4..])
            } else {
                group_v6(&record[4..])
            }));
        }
        at += 4 + width + width * sources + 4 * usize::from(record[1]);
    }
    if count > MOST_RECORDS {
        found.push(Membership::All(if width == 4 { Family::V4 } else { Family::V6 }));
    }
    found
}

/// What a frame says about groups.
pub fn memberships(frame: &[u8]) -> Vec<Membership> {
    read(frame).map(|(messages, _)| messages).unwrap_or_default()
}

/// Whether a frame is a report of one group.
pub fn is_report(frame: &[u8]) -> bool {
    read(frame).is_some_and(|(_, is_report)| is_report)
}

/// One of few groups: of IPv4, with its Ethernet address.
fn some_v4(random: &mut Stream) -> ([u8; 4], Mac) {
    let group =
        [[239, 1, 2, 3], [239, 129, 2, 3], [224, 1, 2, 4], [224, 0, 0, 5]][pick(random.next_u64(), 4)];
    (group, group_v4(&group))
}

/// One of few groups: of IPv6, with its Ethernet address.
fn some_v6(random: &mut Stream) -> ([u8; 16], Mac) {
    let last = [[0, 5, 0, 1], [0, 5, 0, 2], [0xff, 1, 2, 3], [0, 0, 0, 1]][pick(random.next_u64(), 4)];
    let mut group = [0; 16];
    (group[0], group[1]) = (0xff, 0x0e);
    group[12..].copy_from_slice(&last);
    (group, group_v6(&group))
}

/// The address of one of few groups.
pub fn some_group(random: &mut Stream) -> Mac {
    if random.next_u64() & 1 == 0 { some_v4(random).1 } else { some_v6(random).1 }
}

/// A random message of a station.
pub fn message(random: &mut Stream, src: Mac, tags: usize) -> Vec<u8> {
    let mut below = |n: usize| pick(random.next_u64(), n);
    let (is_v6, kind, count) = (below(2) == 1, below(6), below(4));
    let count = if below(20) == 0 { 30 + below(5) } else { count };
    let (lifetime, zero) = (if below(8) == 0 { 64 } else { 1 }, below(8) == 0);
    let (four, dst4) = some_v4(random);
    let (six, dst6) = some_v6(random);
    let group: &[u8] = if is_v6 { &six } else { &four };
    let [query, report_1, report_2] =
        if is_v6 { [130, 131, 143] } else { [0x11, 0x12 + 4 * (count as u8 & 1), 0x22] };
    let none = vec![0; group.len()];
    let fixed = if is_v6 { vec![0; 4] } else { Vec::new() };
    let message = match kind {
        0 => [&[query, 10, 0, 0][..], &fixed, &none].concat(),
        1 => [&[query, 10, 0, 0][..], &fixed, group].concat(),
        2 | 3 => [&[report_1, 0, 0, 0][..], &fixed, group].concat(),
        4 => {
            let mut report = vec![report_2, 0, 0, 0, 0, 0, 0, count as u8];
            for _ in 0..count {
                let sources = pick(random.next_u64(), 3);
                report.extend([
                    pick(random.next_u64(), 8) as u8,
                    pick(random.next_u64(), 2) as u8,
                    0,
                    sources as u8,
                ]);
                let aux = usize::from(report[report.len() - 3]);
                let group = if is_v6 { some_v6(random).0.to_vec() } else { some_v4(random).0.to_vec() };
                report.extend(&group);
                report.extend(vec![9; group.len() * sources + 4 * aux]);
            }
            report
        }
        _ => vec![PIM_HELLO, 0, 0, 0],
    };
    let is_pim = kind > 4;
    let (dst, ethertype, packet) = if is_v6 {
        let next = if is_pim { PIM } else { ICMPV6 };
        // Behind a hop-by-hop header with a Router Alert.
        let payload = [&[next, 0, 5, 2, 0, 0, 1, 0][..], &message].concat();
        let mut packet = crate::conformance::frames::ipv6(0, lifetime, &payload);
        if zero {
            packet[8..24].fill(0);
        }
        (dst6, EtherType::IPV6, packet)
    } else {
        let mut packet = crate::conformance::frames::ipv4(if is_pim { PIM } else { IGMP }, &message);
        if zero {
            packet[12..16].fill(0);
        }
        (dst4, EtherType::IPV4, packet)
    };
    ethernet(dst, src, tags, ethertype, &packet)
}
