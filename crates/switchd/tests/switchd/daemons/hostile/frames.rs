//! Frames of a hostile host: random bytes, truncated and corrupted frames of every kind, forged Hellos and
//! Path frames, SYN floods, spoofed addresses.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use weft_wire::{Echo, EtherType, Hello, Mac, PathHeader, PathType, SwitchId, Tuple};

/// Addresses of the two victims.
pub const VICTIMS: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
/// The hostile host's own address.
pub const OWN: [u8; 6] = [2, 0, 0, 0, 0, 3];

/// A Hello without a key.
pub fn hello(switch: u64, hold_ms: u32, sequence: u64) -> Vec<u8> {
    let mut frame = vec![0; 60];
    let hello = Hello {
        tier: 1,
        hold_ms,
        switch: SwitchId(switch + 1),
        port: 0,
        sequence,
        echo: None,
        number: None,
        misses: false,
    };
    hello.write(Mac(OWN), EtherType::HELLO, None, &mut frame).expect("room");
    frame
}

pub struct Frames(Xoshiro256PlusPlus);

impl Frames {
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn below(&mut self, most: u64) -> u64 {
        self.0.next_u64() % most
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.0.fill_bytes(&mut bytes);
        bytes
    }

    fn address(&mut self) -> [u8; 6] {
        match self.below(8) {
            0 | 1 => VICTIMS[self.below(2) as usize],
            2 => OWN,
            3 => [0xff; 6],
            4 => Mac::HELLO.0,
            _ => self.bytes(6).try_into().expect("six bytes"),
        }
    }

    /// A source address that is not a victim's: only [`Frames::spoofed`] uses those.
    fn own_source(&mut self) -> [u8; 6] {
        match self.below(2) {
            0 => OWN,
            _ => {
                let [_, _, a, b, c, d] = self.bytes(6).try_into().expect("six bytes");
                [0x06, 0x66, a, b, c, d]
            }
        }
    }

    /// A TCP segment in IPv4.
    fn segment(&mut self, destination: [u8; 6], source: [u8; 6], flags: u8) -> Vec<u8> {
        let mut frame = [destination, source].concat();
        frame.extend([0x08, 0x00, 0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 3, 10, 0, 0, 2]);
        frame.extend(self.bytes(4));
        frame.extend(self.bytes(8));
        frame.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
        frame.resize(60, 0);
        frame
    }

    fn hello(&mut self) -> Vec<u8> {
        let mut frame = vec![0; 60];
        let hello = Hello {
            tier: self.0.next_u32() as u8,
            hold_ms: self.0.next_u32(),
            switch: SwitchId(self.0.next_u64()),
            port: self.0.next_u32() as u16,
            sequence: self.0.next_u64(),
            echo: [None, Some(Echo::NOBODY), Some(Echo(self.0.next_u32() as u16))]
                [self.0.next_u32() as usize % 3],
            number: Some(self.0.next_u32() as u8),
            misses: self.0.next_u32().is_multiple_of(2),
        };
        hello.write(Mac(OWN), EtherType::HELLO, None, &mut frame).expect("room");
        frame
    }

    fn path(&mut self) -> Vec<u8> {
        let types = [PathType::Fail, PathType::RecoveryRequest, PathType::RecoveryReply];
        let header = PathHeader {
            path_type: types[self.below(3) as usize],
            hops: self.below(80) as u8,
            id: self.0.next_u32(),
            tuple: Tuple {
                source: Mac(self.address()),
                source_port: self.0.next_u32() as u16,
                destination: Mac(self.address()),
                destination_port: self.0.next_u32() as u16,
            },
        };
        let mut frame = vec![0; 60];
        header.write(&[], EtherType::PATH, &mut frame).expect("room");
        if self.below(3) == 0 {
            frame[15] = self.below(8) as u8;
        }
        frame
    }

    /// The next frame, possibly corrupted or truncated.
    pub fn next(&mut self) -> Vec<u8> {
        let source = self.own_source();
        let mut frame = match self.below(10) {
            0 => {
                let length = 14 + self.below(1500) as usize;
                let mut frame = self.bytes(length);
                frame[6..12].copy_from_slice(&source);
                frame
            }
            1 => self.hello(),
            // Not corrupted, since it contains the address that it is about.
            2 => return self.path(),
            3 => {
                let mut frame = [self.address(), source].concat();
                let ethertype =
                    [[0x81, 0], [0x88, 0xa8], [0x86, 0xdd], [8, 6], [8, 0], [0xff, 0xaf], [0xff, 0x70]];
                frame.extend(ethertype[self.below(7) as usize]);
                let length = self.below(100) as usize;
                frame.extend(self.bytes(length));
                frame
            }
            4 => {
                let mut frame = [[0xff; 6], source].concat();
                frame.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
                frame.extend(self.bytes(20));
                frame.resize(60, 0);
                frame
            }
            5 => {
                let flags = self.0.next_u32() as u8;
                let to = self.address();
                self.segment(to, source, flags)
            }
            _ => {
                let to = VICTIMS[self.below(2) as usize];
                self.segment(to, source, 0x02)
            }
        };
        if self.below(4) == 0 {
            let at = self.below(frame.len() as u64) as usize;
            // Not the source: the expected result depends on it.
            if !(6..12).contains(&at) {
                frame[at] ^= 1 << self.below(8);
            }
        }
        if self.below(8) == 0 {
            frame.truncate(14 + self.below(frame.len() as u64 - 13) as usize);
        }
        frame
    }

    /// An ARP Request from an address that no host has.
    pub fn forged_request(&mut self) -> Vec<u8> {
        let source: [u8; 6] = [&[0x06, 0x67][..], &self.bytes(4)].concat().try_into().expect("six bytes");
        let mut frame = [&[0xff; 6][..], &source, &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1], &source].concat();
        frame.extend(self.bytes(14));
        frame.resize(60, 0);
        frame
    }

    /// A frame with the address of another host.
    pub fn spoofed(&mut self) -> Vec<u8> {
        let [a, b] = VICTIMS;
        let (to, from) = if self.below(2) == 0 { (a, b) } else { (b, a) };
        self.segment(to, from, 0x10)
    }
}
