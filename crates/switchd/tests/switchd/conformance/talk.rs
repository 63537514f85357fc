//! TCP connections of hosts, as neighbouring switches forward them: handshakes (in Path frames on fabric
//! ports), data, closes, breaks and recoveries.

use rand_core::RngCore;
use weft_switching::hello::Way;
use weft_switching::{Stream, pick};
use weft_wire::{EtherType, Mac, PathHeader, PathType, Tuple};

use crate::conformance::event::Event;
use crate::conformance::frames::{self, arp, ethernet, ipv4, ipv6, mark, tcp};

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// One of the two ends.
#[derive(Clone, Copy)]
struct End {
    mac: Mac,
    tcp: u16,
    /// The ingress port of its frames.
    port: u16,
    /// Whether its host is attached to this switch.
    here: bool,
}

/// A connection; the first end opens it.
pub struct Talk {
    ends: [End; 2],
    ipv6: bool,
    tags: usize,
    class: u8,
    /// Its initial sequence number.
    id: u32,
    stage: u32,
    /// Whether neighbouring switches explore.
    explores: bool,
}

impl Talk {
    pub fn draw(random: &mut Stream, ways: &[Way], explores: bool) -> Self {
        let of = |here: bool| -> Vec<u16> {
            let fits = |way: &Way| (*way == Way::Host) == here;
            (0..).zip(ways).filter(|(_, way)| fits(way)).map(|(port, _)| port).collect()
        };
        let (hosts, fabric) = (of(true), of(false));
        let (first, second) = match random.next_u32() % 16 {
            0..=5 => (true, false),
            6..=10 => (false, true),
            11..=14 => (false, false),
            _ => (true, true),
        };
        let mut end = |here: bool, side: usize| {
            let mut below = |n: usize| pick(random.next_u64(), n);
            // Hosts 1 and 2 are attached here, each on a fixed port; hosts 3 to 6 are not.
            let host = if here { 1 + below(2) } else { 3 + side + 2 * below(2) };
            let port = match here {
                true => hosts[host % hosts.len()],
                false if fabric.is_empty() => 0,
                false => fabric[below(fabric.len())],
            };
            let tcp = if side == 0 { 1 + below(3) as u16 } else { [80, 80, 5001][below(3)] };
            End { mac: Mac([2, 0, 0, 0, 0, host as u8]), tcp, port, here }
        };
        let mut ends = [end(first, 0), end(second, 1)];
        if ends[0].port == ends[1].port
            && let Some(other) = fabric.iter().find(|port| **port != ends[0].port)
            && !second
        {
            ends[1].port = *other;
        }
        Self {
            ends,
            ipv6: random.next_u32().is_multiple_of(2),
            tags: [0, 0, 0, 1, 2][(random.next_u32() % 5) as usize],
            class: [0, 40, 41, 184][(random.next_u32() % 4) as usize],
            id: random.next_u32() % 1000,
            stage: 0,
            explores,
        }
    }

    /// Whether the connection has ended.
    pub fn has_ended(&self) -> bool {
        self.stage > 24
    }

    /// The ports to other switches that it uses, once it is open.
    pub fn ports_in_use(&self) -> impl Iterator<Item = u16> {
        let is_open = self.stage > 4;
        self.ends.into_iter().filter(move |end| is_open && !end.here).map(|end| end.port)
    }

    /// A segment from one of the ends.
    fn segment(&self, side: usize, flags: u8, bytes: usize) -> Vec<u8> {
        let (from, to) = (self.ends[side], self.ends[1 - side]);
        let sequence = if side == 0 { self.id } else { self.id ^ 0xffff };
        let segment = tcp(from.tcp, to.tcp, sequence, flags, &vec![0xcd; bytes]);
        let (ethertype, packet) = match self.ipv6 {
            true => (EtherType::IPV6, ipv6(6, 64, &segment)),
            false => (EtherType::IPV4, ipv4(6, &segment)),
        };
        ethernet(to.mac, from.mac, self.tags, ethertype, &mark(packet, self.class))
    }

    /// A segment as it arrives: in a Path frame if a switch has wrapped it.
    fn comes_in(&self, side: usize, frame: Vec<u8>, wrapped: Option<PathType>) -> Event {
        let end = self.ends[side];
        let Some(path_type) = wrapped.filter(|_| !end.here && self.explores) else {
            return Event::Frame(end.port, frame);
        };
        Event::Frame(end.port, frames::wrapped(&frame, path_type, self.id))
    }

    /// A Path frame about the flow from the remote end `side`.
    fn about(&self, side: usize, path_type: PathType) -> Event {
        let (from, to) = (self.ends[side], self.ends[1 - side]);
        let tuple =
            Tuple { source: from.mac, source_port: from.tcp, destination: to.mac, destination_port: to.tcp };
        let header = PathHeader { path_type, hops: 1, id: self.id, tuple };
        Event::Frame(from.port, frames::path(header, self.tags))
    }

    /// The next event.
    pub fn next(&mut self, random: &mut Stream) -> Event {
        let mut below = |n: usize| pick(random.next_u64(), n);
        let stage = self.stage;
        self.stage += 1;
        match stage {
            0 | 1 => {
                let end = self.ends[stage as usize];
                let request = arp(1, end.mac, self.ends[1 - stage as usize].mac);
                Event::Frame(end.port, ethernet(Mac::BROADCAST, end.mac, 0, EtherType::ARP, &request))
            }
            2 => {
                if below(4) == 0 {
                    // Retransmitted in the next step.
                    self.stage = 2;
                }
                let data = if below(8) == 0 { 1300 + below(160) } else { below(40) * below(2) };
                self.comes_in(0, self.segment(0, SYN, data), Some(PathType::Request))
            }
            3 => self.comes_in(1, self.segment(1, SYN | ACK, 0), Some(PathType::Reply)),
            _ => {
                let side = below(2);
                match below(24) {
                    0 => self.comes_in(side, self.segment(side, FIN | ACK, 0), None),
                    1 => self.comes_in(side, self.segment(side, RST, 0), None),
                    2 if !self.ends[side].here && self.explores => self.about(side, PathType::Fail),
                    3 if !self.ends[side].here => Event::Up(self.ends[side].port, false),
                    4 if !self.ends[0].here && self.explores => {
                        self.id = below(1000) as u32;
                        self.about(0, PathType::RecoveryRequest)
                    }
                    5 if !self.ends[1].here && self.explores => self.about(1, PathType::RecoveryReply),
                    6 if below(3) == 0 => {
                        // A new connection with the same ports.
                        self.id = below(1000) as u32;
                        self.stage = 2;
                        self.comes_in(side, self.segment(side, FIN | ACK, 0), None)
                    }
                    _ => self.comes_in(side, self.segment(side, ACK, [0, 100, 600, 1400][below(4)]), None),
                }
            }
        }
    }

    /// A switch has answered a Recovery Request for this tuple on `port`: the flow now arrives on that port.
    pub fn moves(&mut self, tuple: &Tuple, id: u32, port: u16) {
        let ends = self.ends.map(|end| (end.mac, end.tcp));
        let asked = [(tuple.source, tuple.source_port), (tuple.destination, tuple.destination_port)];
        for side in 0..2 {
            if asked == [ends[side], ends[1 - side]] && !self.ends[1 - side].here {
                self.ends[1 - side].port = port;
                self.id = id;
            }
        }
    }
}
