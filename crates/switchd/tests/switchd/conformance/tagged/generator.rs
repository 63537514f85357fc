//! Random events.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use ipnet::IpNet;
use rand_core::RngCore;
use weft_fabric::gates::{Gate, SwitchGates};
use weft_switching::tag_forward::{FlowAction, FlowChange, FlowMatch, FlowRule, FlowTarget, GroupId, Way};
use weft_switching::{Stream, pick, stream};
use weft_wire::{EtherType, Mac, Tag, push_tag};

use super::frames::{Carries, frame};
use super::pair::Event;
use super::setting::{Setting, gates};
use crate::conformance::frames::{ethernet, hello, pad, probe, spoil};

/// The number of hosts.
const HOSTS: usize = 6;

pub struct Draw {
    setting: Setting,
    gates: SwitchGates,
    random: Stream,
    /// Rules that were added, if accepted.
    rules: Vec<FlowRule>,
    begun: bool,
}

impl Draw {
    pub fn new(setting: &Setting, seed: u64) -> Self {
        let random = stream(seed, "tag steps", 0);
        Self {
            setting: setting.clone(),
            gates: setting.gates.clone(),
            random,
            rules: Vec::new(),
            begun: false,
        }
    }

    fn below(&mut self, n: usize) -> usize {
        pick(self.random.next_u64(), n)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of the switch's gates; rarely another number.
    fn gate(&mut self) -> u32 {
        if self.one_in(10) || self.gates.gates.is_empty() {
            return [0, 1, 3, 40, self.random.next_u32()][self.below(5)];
        }
        let at = self.below(self.gates.gates.len());
        self.gates.gates[at].gate.0
    }

    fn way(&mut self) -> Way {
        let gate = Gate(self.gate());
        let up = if self.one_in(4) { 0 } else { self.gate() & self.setting.tagging.width.max_up() };
        Way { gate, up }
    }

    fn net(&mut self, v6: bool) -> IpNet {
        let host = 1 + self.below(HOSTS) as u8;
        let exact = self.one_in(2);
        let (address, len): (IpAddr, u8) = match v6 {
            false => {
                let len = if exact { 32 } else { [0, 8, 29, 30, 31, 1][self.below(6)] };
                (Ipv4Addr::new(10, 0, 0, host).into(), len)
            }
            true => {
                let mut bytes = [0xfd; 16];
                bytes[15] = host;
                let len = if exact { 128 } else { [0, 8, 33, 125, 127, 64][self.below(6)] };
                (Ipv6Addr::from(bytes).into(), len)
            }
        };
        IpNet::new(address, len).expect("a prefix")
    }

    fn rule(&mut self) -> FlowRule {
        let v6 = self.one_in(3);
        let matches = FlowMatch::new(self.net(v6), self.net(v6)).expect("one family");
        let to = match self.below(3) {
            0 => FlowTarget::Group(GroupId(1 + self.below(3) as u32)),
            _ => FlowTarget::Way(self.way()),
        };
        let down = if self.one_in(4) { 0 } else { self.gate() & self.setting.tagging.width.max_down() };
        let action = FlowAction { queue: self.below(8) as u8, down, to };
        FlowRule { priority: 1 + self.below(4) as u16, matches, action }
    }

    fn change(&mut self) -> FlowChange {
        let known = self.rules.len();
        match self.below(12) {
            0..=5 => {
                let rule = self.rule();
                self.rules.push(rule);
                FlowChange::Add(rule)
            }
            6 | 7 if known > 0 => {
                let (action, at) = (self.rule().action, self.below(known));
                FlowChange::Replace(FlowRule { action, ..self.rules[at] })
            }
            8 if known > 4 => {
                let at = self.below(known);
                let FlowRule { priority, matches, .. } = self.rules.swap_remove(at);
                FlowChange::Remove { priority, matches }
            }
            9 if self.one_in(3) => FlowChange::RemoveGroup(GroupId(1 + self.below(4) as u32)),
            _ => {
                let id = GroupId(1 + self.below(4) as u32);
                let count = [0, 1, 2, 3, 5, 12][self.below(6)];
                FlowChange::SetGroup { id, ways: (0..count).map(|_| self.way()).collect::<Arc<[Way]>>() }
            }
        }
    }

    fn changes(&mut self) -> Event {
        // Most batches have one change, since one refused change cancels the batch.
        let count = if self.one_in(3) { 1 + self.below(5) } else { 1 };
        Event::Change((0..count).map(|_| self.change()).collect())
    }

    fn carries(&mut self) -> Carries {
        match self.below(12) {
            0 => Carries::Udp,
            1 => Carries::Options(self.below(8)),
            2 => Carries::Fragment,
            3 => Carries::Asks(1 + self.below(3) as u8),
            4 | 5 => Carries::Asks(134 + self.below(3) as u8),
            _ => Carries::Tcp,
        }
    }

    fn plain(&mut self) -> Vec<u8> {
        let (from, to) = (1 + self.below(HOSTS) as u8, 1 + self.below(HOSTS) as u8);
        let tags = if self.one_in(5) { 1 + self.below(3) } else { 0 };
        let (v6, carries) = (self.one_in(3), self.carries());
        let bytes = [0, 1, 9, 100, 1400][self.below(5)];
        let mut frame = frame(from, to, v6, tags, carries, bytes);
        match self.below(40) {
            0 => frame[..6].copy_from_slice(&[0x01, 0x80, 0xc2, 0, 0, 0x0e]),
            1 | 2 => frame[..6].fill(0xff),
            _ => {}
        }
        frame
    }

    /// A tagged frame: with gate numbers, or numbers just below, which select the same gate.
    fn tagged(&mut self) -> Vec<u8> {
        let width = self.setting.tagging.width;
        let near = |draw: &mut Self| {
            let below = draw.below(4) as u32;
            match draw.below(8) {
                0 => 0,
                1 => draw.random.next_u32(),
                _ => draw.gate().saturating_sub(below),
            }
        };
        let (up, down) = if self.one_in(3) { (near(self), near(self)) } else { (0, near(self)) };
        let queue = self.below(8) as u8;
        let tag = Tag { queue, up: up & width.max_up(), down: down & width.max_down() };
        let original = self.plain();
        let ethertype = if self.one_in(12) { EtherType::WIDE_TAG } else { self.setting.tagging.ethertype };
        let mut frame = vec![0; original.len() + 8];
        if push_tag(&original, tag, width, ethertype, &mut frame).is_err() {
            // A tag without a gate.
            frame = [&original[..12], &ethertype.0.to_be_bytes(), &[0; 6], &original[12..]].concat();
        }
        match self.below(16) {
            0 => frame[20..22].copy_from_slice(&ethertype.0.to_be_bytes()),
            1 => frame.truncate(14 + self.below(12)),
            _ => {}
        }
        frame
    }

    fn frame(&mut self) -> Vec<u8> {
        let mut frame = match self.below(40) {
            0 if self.one_in(2) => probe(),
            0 => hello(1, false),
            1 => ethernet(Mac([2; 6]), Mac([2; 6]), self.below(3), EtherType::PATH, &[1; 40]),
            2 => ethernet(Mac([2; 6]), Mac([4; 6]), 0, EtherType(self.random.next_u32() as u16), &[5; 50]),
            3..=21 => self.tagged(),
            _ => self.plain(),
        };
        if self.one_in(10) {
            spoil(&mut self.random, &mut frame, 80);
        }
        pad(&mut frame);
        frame
    }

    pub fn step(&mut self) -> Event {
        if !self.begun {
            self.begun = true;
            let groups = (1..=3).map(|id| {
                let ways = (0..4).map(|_| self.way()).collect::<Arc<[Way]>>();
                FlowChange::SetGroup { id: GroupId(id), ways }
            });
            return Event::Change(groups.collect());
        }
        match self.below(40) {
            0 => Event::Up(self.below(usize::from(self.setting.ports)) as u16, !self.one_in(3)),
            1..=8 => self.changes(),
            9 if self.one_in(8) => {
                let mut gates = gates(&mut self.random, self.setting.tagging.width);
                if self.one_in(3) && gates.gates.len() > 1 {
                    // Two ports with the same gate are refused.
                    gates.gates[0].gate = gates.gates[1].gate;
                } else {
                    self.gates = gates.clone();
                }
                Event::Gates(gates)
            }
            10 if self.one_in(10) => Event::Adopt,
            _ => {
                let mut port = self.below(usize::from(self.setting.ports)) as u16;
                if !self.one_in(6) && !self.gates.gates.is_empty() {
                    let at = self.below(self.gates.gates.len());
                    port = self.gates.gates[at].port.0;
                }
                let frame = self.frame();
                Event::Frame(port, frame)
            }
        }
    }
}
