//! Sequences drawn from a seed: frames that hosts and switches send, frames that come back, odd and
//! hostile ones; times about the lives of entries; ports that go down and come up.

use rand_core::RngCore;
use weft_switching::exploration::{Exploration, FloodOrder, Scope};
use weft_switching::hello::Way;
use weft_switching::{Stream, pick, stream};
use weft_units::PortId;
use weft_wire::{EtherType, Hello, MacAddr, PathHeader, PathType, SwitchId, Tuple, VlanTag};

use crate::frames::{arp, ethernet, ipv4, ipv6, neighbour, tcp};
use crate::pair::{Event, Pair, Step, WAYS};

/// A switch and its settings.
#[derive(Clone, Debug)]
pub struct Setting {
    pub config: Exploration,
    pub ways: Vec<Way>,
    /// Ports that a Hello makes fabric ports.
    pub may_be_fabric: Vec<bool>,
}

impl Setting {
    /// The one that belongs to a seed.
    pub fn draw(seed: u64) -> Self {
        let mut random = stream(seed, "setting", 0);
        let mut flip = || random.next_u64() & 1 == 1;
        let config = Exploration {
            stations: 1024,
            floods: if flip() && flip() { 6 } else { 2048 },
            scope: if flip() { Scope::Full } else { Scope::ValleyFree },
            order: if flip() { FloodOrder::Fixed } else { FloodOrder::Random },
            ..Exploration::default()
        };
        let ports = 2 + pick(random.next_u64(), 7);
        let mut ways: Vec<Way> = (0..ports).map(|_| WAYS[pick(random.next_u64(), WAYS.len())]).collect();
        ways[0] = Way::Host;
        let may_be_fabric = (0..ports).map(|_| pick(random.next_u64(), 5) > 0).collect();
        Self { config, ways, may_be_fabric }
    }
}

/// Draws a sequence while both take its steps; the steps, and the difference if one was found.
pub fn sequence(setting: &Setting, seed: u64, length: u64, pair: &mut Pair) -> (Vec<Step>, Option<String>) {
    let mut draw = Draw { random: stream(seed, "steps", 0), seen: Vec::new(), ports: setting.ways.len() };
    let mut steps = Vec::new();
    for _ in 0..length {
        let step = draw.step();
        let result = pair.step(&step);
        if let Event::Frame(_, bytes) = &step.event {
            draw.see(bytes.clone());
        }
        steps.push(step);
        match result {
            Ok(sent) => sent.into_iter().for_each(|(PortId(_), bytes)| draw.see(bytes)),
            Err(difference) => return (steps, Some(difference)),
        }
    }
    (steps, None)
}

struct Draw {
    random: Stream,
    /// Frames that came in or left lately.
    seen: Vec<Vec<u8>>,
    ports: usize,
}

/// Waits in ns: none, some, and about the lives of entries.
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

    fn step(&mut self) -> Step {
        // Most steps follow soon, or nothing would be left of those before.
        let waits = if self.one_in(12) { WAITS.len() } else { 8 };
        let wait = WAITS[self.below(waits)];
        let port = self.below(self.ports) as u16;
        let event = match self.below(40) {
            0 if self.one_in(2) => Event::Up(port, !self.one_in(3)),
            1 | 2 => Event::Tend,
            3..=6 => Event::Frame(port, self.hello()),
            7..=13 if !self.seen.is_empty() => {
                let at = self.below(self.seen.len());
                Event::Frame(port, self.seen[at].clone())
            }
            _ => {
                let frame = self.frame();
                // Most hosts stay where they are.
                let home = (usize::from(frame[11]) % self.ports) as u16;
                Event::Frame(if self.one_in(3) { port } else { home }, frame)
            }
        };
        Step { wait, event }
    }

    /// One of few hosts; rarely something that is no host's.
    fn host(&mut self) -> MacAddr {
        match self.below(40) {
            0 => MacAddr::BROADCAST,
            1 => MacAddr([0x33, 0x33, 0, 0, 0, 1]),
            2 => MacAddr([0; 6]),
            _ => MacAddr([2, 0, 0, 0, 0, 1 + self.below(5) as u8]),
        }
    }

    fn group(&mut self) -> MacAddr {
        if self.one_in(4) { MacAddr([0x33, 0x33, 0, 0, 0, 1]) } else { MacAddr::BROADCAST }
    }

    fn tags(&mut self) -> usize {
        if self.one_in(5) { 1 + self.below(3) } else { 0 }
    }

    fn hello(&mut self) -> Vec<u8> {
        let sequence = self.random.next_u64();
        let hello = Hello { tier: 1, hold_ms: 15_000, switch: SwitchId(7), port: 1, sequence };
        let mut frame = vec![0; 60];
        let len = hello.write(MacAddr([2, 0, 0, 0, 1, 1]), EtherType::HELLO, None, &mut frame);
        assert_eq!(len, Ok(60));
        if self.one_in(6) { self.spoil(frame) } else { frame }
    }

    fn frame(&mut self) -> Vec<u8> {
        let (src, dst, group, tags) = (self.host(), self.host(), self.group(), self.tags());
        let frame = match self.below(20) {
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
        if self.one_in(12) { self.spoil(frame) } else { frame }
    }

    /// A Path frame, of a flow or of two stations.
    fn path(&mut self, src: MacAddr, dst: MacAddr, tags: usize) -> Vec<u8> {
        let ports = if self.one_in(5) { [1, 80] } else { [0, 0] };
        let tuple =
            Tuple { source: src, source_port: ports[0], destination: dst, destination_port: ports[1] };
        let path_type = PathType::ALL[2 + self.below(3)];
        let hops = if self.one_in(4) { 60 + self.below(10) as u8 } else { self.below(3) as u8 };
        let header = PathHeader { path_type, hops, id: self.below(3) as u32, tuple };
        let tag = VlanTag { tpid: EtherType::VLAN, tci: 42 };
        let mut frame = vec![0; 60];
        let len = header.write(&[tag; 2][..tags.min(2)], EtherType::PATH, &mut frame);
        assert_eq!(len, Ok(60));
        if self.one_in(8) {
            // Types 1 and 2, with and without ports, types that there are none, and versions.
            let at = 14 + 4 * tags.min(2) + usize::from(!self.one_in(3));
            frame[at] = self.below(8) as u8;
        }
        frame
    }

    /// Some bytes changed, the end cut off.
    fn spoil(&mut self, mut frame: Vec<u8>) -> Vec<u8> {
        for _ in 0..self.below(3) {
            let at = self.below(frame.len().min(60));
            frame[at] ^= 1 << self.below(8);
        }
        if self.one_in(2) {
            let len = 14 + self.below(frame.len() - 13);
            frame.truncate(len);
        }
        // BPF_PROG_TEST_RUN itself refuses an IP packet shorter than its header, unless there is a tag.
        let least = match frame[12..14] {
            [0x08, 0x00] => 34,
            [0x86, 0xdd] => 54,
            _ => 14,
        };
        frame.resize(frame.len().max(least), 0);
        frame
    }
}
