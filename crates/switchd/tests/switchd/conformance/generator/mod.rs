//! Random sequences: frames of hosts and switches, looped, odd and hostile frames; waits around the lifetimes
//! of entries; ports that go down and come up.

mod calm;

use rand_core::RngCore;
use weft_switchd::Mode;
use weft_switching::hello::Way;
use weft_switching::{Stream, pick, stream};
use weft_units::PortId;
use weft_wire::{EtherType, Mac, PathFrame, PathHeader, PathType, Tuple};

use crate::conformance::answer::answer;
use crate::conformance::event::{Event, Step};
use crate::conformance::frames::{
    self, arp, ethernet, hello, ipv4, ipv6, neighbour, pad, probe, spoil, tcp, wrapped,
};
use crate::conformance::membership::{message, some_group};
use crate::conformance::pair::Pair;
use crate::conformance::setting::Setting;
use crate::conformance::talk::Talk;

/// Draws a sequence while both execute it; returns the steps, and the difference if one was found.
pub fn sequence(setting: &Setting, seed: u64, length: u64, pair: &mut Pair) -> (Vec<Step>, Option<String>) {
    let random = stream(seed, "steps", 0);
    let mut draw = Draw {
        mode: setting.mode,
        calm: setting.calm,
        random,
        seen: Vec::new(),
        sent: Vec::new(),
        talks: Vec::new(),
        down: Vec::new(),
        later: 0,
        up: None,
        planned: Vec::new(),
        ways: setting.ways.clone(),
    };
    let mut steps = Vec::new();
    for _ in 0..length {
        let mut step = draw.step();
        if let Event::Frame(_, bytes) = &mut step.event {
            pad(bytes);
        }
        let result = pair.step(&step);
        if let Event::Frame(_, bytes) = &step.event {
            draw.see(bytes.clone());
        }
        steps.push(step);
        match result {
            Ok(sent) => sent.into_iter().for_each(|(port, bytes)| draw.leaves(port, bytes)),
            Err(difference) => return (steps, Some(difference)),
        }
    }
    (steps, None)
}

struct Draw {
    mode: Mode,
    calm: bool,
    random: Stream,
    /// Recently received or sent frames.
    seen: Vec<Vec<u8>>,
    /// Recently sent frames and their ports, the latest last.
    sent: Vec<(PortId, Vec<u8>)>,
    /// Open connections.
    talks: Vec<Talk>,
    /// In a calm network, the ports that are down, and `up`, one that just came up.
    down: Vec<u16>,
    /// Steps until the flows of a failed port, looked up earlier, are broken.
    later: u32,
    up: Option<u16>,
    /// In a calm network, the next events, the last one first.
    planned: Vec<Step>,
    ways: Vec<Way>,
}

/// Waits in ns: none, short, and around the lifetimes of entries.
const WAITS: [u64; 14] = [
    0,
    0,
    0,
    1,
    1_000,
    50_000,
    5_000_000,
    100_000_000,
    999_999_999,
    1_000_000_000,
    2_500_000_000,
    3_000_000_000,
    6_000_000_000,
    10_000_000_000,
];

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        pick(self.random.next_u64(), n)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn see(&mut self, frame: Vec<u8>) {
        if self.seen.len() == 16 {
            let at = self.below(16);
            self.seen.swap_remove(at);
        }
        self.seen.push(frame);
    }

    fn leaves(&mut self, port: PortId, frame: Vec<u8>) {
        if self.sent.len() == 8 {
            self.sent.remove(0);
        }
        self.sent.push((port, frame.clone()));
        self.see(frame);
    }

    /// A possible answer of a link's other end to a recently sent frame.
    fn answer(&mut self) -> Option<Event> {
        let last = self.sent.len().saturating_sub(1);
        let at = if self.calm { last } else { self.below(last + 1) };
        let (PortId(port), frame) = self.sent.get(at)?.clone();
        let fail = self.one_in(if self.calm { 10 } else { 3 });
        if let Ok(path) = PathFrame::parse(&frame, EtherType::PATH)
            && !fail
        {
            let path = path.header();
            self.talks.iter_mut().for_each(|talk| talk.moves(&path.tuple, path.id, port));
        }
        Some(Event::Frame(port, answer(&frame, fail)?))
    }

    fn step(&mut self) -> Step {
        if self.calm {
            return self.calm_step();
        }
        // Most waits are short: otherwise no state of earlier steps would be left.
        let waits = if self.one_in(12) { WAITS.len() } else { 8 };
        let wait = WAITS[self.below(waits)];
        let port = self.below(self.ways.len()) as u16;
        let event = match self.below(40) {
            0 if self.one_in(2) => Event::Up(port, !self.one_in(3)),
            1 => Event::Look,
            2 => Event::Tend,
            25..=26 if self.mode.routes() => Event::Reach(port, self.unreached()),
            3..=6 => Event::Frame(if port == 0 && !self.one_in(8) { 1 } else { port }, self.hello()),
            7..=18 => self.answer().unwrap_or_else(|| Event::Frame(port, self.frame())),
            19..=24 if !self.seen.is_empty() => {
                let at = self.below(self.seen.len());
                Event::Frame(port, self.seen[at].clone())
            }
            _ => {
                let frame = self.frame();
                let home = self.home(frame[11]);
                Event::Frame(if self.one_in(6) { port } else { home }, frame)
            }
        };
        Step { wait, event }
    }

    /// The stations that a neighbour does not reach: none, some or all.
    fn unreached(&mut self) -> u8 {
        let drawn = self.random.next_u32() as u8;
        if self.one_in(3) { 0 } else { drawn | self.random.next_u32() as u8 }
    }

    /// The ingress port of a host's frames: some hosts are attached here, the others are behind other switches.
    fn home(&mut self, host: u8) -> u16 {
        let here = |way: &Way| (*way == Way::Host) == (host <= 2);
        let homes: Vec<u16> =
            (0..).zip(&self.ways).filter(|(_, way)| here(way)).map(|(port, _)| port).collect();
        // Local hosts have a fixed port.
        let at =
            if host <= 2 { usize::from(host) % homes.len().max(1) } else { self.below(homes.len().max(1)) };
        homes.get(at).copied().unwrap_or(0)
    }

    /// One of few host addresses; rarely an address that is not a host's.
    fn host(&mut self) -> Mac {
        match self.below(40) {
            0 => Mac::BROADCAST,
            1 => Mac([0x33, 0x33, 0, 0, 0, 1]),
            2 => Mac([0; 6]),
            _ => Mac([2, 0, 0, 0, 0, 1 + self.below(5) as u8]),
        }
    }

    fn group(&mut self) -> Mac {
        match pick(self.random.next_u64(), 16) {
            0 => Mac([0x01, 0x80, 0xc2, 0, 0, 3]),
            1..=3 => Mac([0x33, 0x33, 0, 0, 0, 1]),
            4..=9 => some_group(&mut self.random),
            _ => Mac::BROADCAST,
        }
    }

    fn tags(&mut self) -> usize {
        if self.one_in(5) { 1 + self.below(3) } else { 0 }
    }

    fn hello(&mut self) -> Vec<u8> {
        // Next hops of routes on such links are compared in `last_resort`.
        let misses = !self.mode.routes() && self.one_in(3);
        let sequence = self.random.next_u64();
        let mut frame = if !self.calm && self.one_in(6) { probe() } else { hello(sequence, misses) };
        if !self.calm && self.one_in(6) {
            spoil(&mut self.random, &mut frame, 60);
        }
        frame
    }

    fn frame(&mut self) -> Vec<u8> {
        let (src, dst, group, tags) = (self.host(), self.host(), self.group(), self.tags());
        let kinds = if self.mode == Mode::ArpPath { 20 } else { 70 };
        let mut frame = match self.below(kinds) {
            _ if self.one_in(10) => message(&mut self.random, src, tags.min(2)),
            20.. => self.segment(src, dst, tags.min(2)),
            0..=3 => ethernet(group, src, tags, EtherType::ARP, &arp(1, src, dst)),
            4..=6 => ethernet(dst, src, tags, EtherType::ARP, &arp(2, src, dst)),
            7 => ethernet(dst, src, tags, EtherType::ARP, &arp(1 + self.below(3) as u8, src, dst)),
            8 => ethernet(group, src, tags, EtherType::ARP, &arp(2, src, src)),
            9 => {
                let (message, options) = (134 + self.below(4) as u8, self.below(8));
                let (code, hops) = (u8::from(self.one_in(8)), if self.one_in(8) { 64 } else { 255 });
                let to = if self.one_in(2) { group } else { dst };
                ethernet(to, src, tags, EtherType::IPV6, &neighbour(message, code, hops, options))
            }
            10 => ethernet(group, src, tags, EtherType::IPV4, &ipv4(17, &[0; 30])),
            11 => ethernet(dst, src, tags, EtherType::IPV6, &ipv6(17, 9, &[1; 40])),
            12 => ethernet(dst, src, tags, EtherType(self.random.next_u32() as u16), &[7; 80]),
            13 => {
                let to = if self.one_in(8) { group } else { dst };
                ethernet(to, src, tags, EtherType::IPV4, &ipv4(6, &tcp(1, 80, 1, 2, &[])))
            }
            14..=16 => ethernet(dst, src, tags, EtherType::IPV4, &ipv4(6, &tcp(1, 80, 1, 16, &[5; 700]))),
            _ => self.path(src, dst, tags),
        };
        if self.one_in(12) {
            spoil(&mut self.random, &mut frame, 60);
        }
        // The flood mark of another switch that does not know the destination, or forged by a host.
        if self.one_in(10) {
            frame[6] |= 1;
        } else if self.one_in(60) {
            frame[6..12].fill(0);
        }
        frame
    }

    /// A Path frame about a flow or two stations.
    fn path(&mut self, src: Mac, dst: Mac, tags: usize) -> Vec<u8> {
        let flow = self.one_in(if self.mode == Mode::ArpPath { 5 } else { 2 });
        let client = 1 + self.below(2) as u16;
        let ports = match flow {
            true if src.0 < dst.0 => [client, 80],
            true => [80, client],
            false => [0, 0],
        };
        let tuple =
            Tuple { source: src, source_port: ports[0], destination: dst, destination_port: ports[1] };
        let path_type = PathType::ALL[2 + self.below(3)];
        let hops = if self.one_in(4) { 60 + self.below(10) as u8 } else { self.below(3) as u8 };
        let header = PathHeader { path_type, hops, id: self.below(3) as u32, tuple };
        let mut frame = frames::path(header, tags);
        if self.one_in(8) {
            // Types 1 and 2 with and without ports, invalid types, invalid versions.
            let at = 14 + 4 * tags.min(2) + usize::from(!self.one_in(3));
            frame[at] = self.below(8) as u8;
        }
        frame
    }

    /// A TCP segment of one of few flows, plain or in a Path frame.
    fn segment(&mut self, src: Mac, dst: Mac, tags: usize) -> Vec<u8> {
        let local = Mac([2, 0, 0, 0, 0, 1 + self.below(2) as u8]);
        let remote = Mac([2, 0, 0, 0, 0, 3 + self.below(3) as u8]);
        let (src, dst) = if self.one_in(2) { (local, remote) } else { (src, dst) };
        let (client, id) = (1 + self.below(2) as u16, self.below(3) as u32);
        let [sport, dport] = if src.0 < dst.0 { [client, 80] } else { [80, client] };
        let flags = [2, 2, 2, 0x12, 0x12, 0x10, 0x10, 0x11, 0x14, 4, 0x16][self.below(11)];
        let longest = if self.one_in(8) { 1460 } else { 100 };
        let bytes = vec![0xab; self.below(longest)];
        let tcp = tcp(sport, dport, id, flags, &bytes);
        let frame = match self.below(3) {
            0 => ethernet(dst, src, tags, EtherType::IPV6, &ipv6(6, 64, &tcp)),
            _ => ethernet(dst, src, tags, EtherType::IPV4, &ipv4(6, &tcp)),
        };
        let path_type = match self.below(6) {
            0 => PathType::Request,
            1 => PathType::Reply,
            _ => return frame,
        };
        wrapped(&frame, path_type, id)
    }
}
