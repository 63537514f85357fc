//! [`Flows`]: TCP flows by their stations and endpoints.

use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv6Addr};

use hashbrown::HashTable;

use crate::clock::Time;
use crate::cookie::Part;
use crate::hash::Keyed;
use crate::list::{Link, Linked, List};
use crate::packet::End;
use crate::slab::{NONE, Slab};

/// The lists that a flow is in, as indices of its links.
pub(crate) mod by {
    /// Flows of its path.
    pub const PATH: usize = 0;
    /// Flows of its connection.
    pub const CONNECTION: usize = 1;
    /// Unconfirmed flows of its port, or dormant flows.
    pub const AGE: usize = 2;
    /// Flows of the station that opened it.
    pub const OPENER: usize = 3;
    /// Flows of the other station.
    pub const OTHER: usize = 4;
    /// Flows whose reverse direction takes its path.
    pub const BACK: usize = 5;
    /// The number of lists.
    pub const COUNT: usize = 6;
}

/// A flow's identity: stations and endpoints, the opener first. IPv4 addresses are stored IPv4-mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key {
    pub stations: [u32; 2],
    addresses: [[u8; 16]; 2],
    ports: [u16; 2],
}

impl Key {
    /// The flow from the first to the second.
    pub fn new(stations: [u32; 2], ends: [End; 2]) -> Self {
        Self { stations, addresses: ends.map(|end| mapped(end.address)), ports: ends.map(|end| end.port) }
    }

    /// One endpoint, 0 for the opener's.
    pub fn end(&self, side: usize) -> End {
        End { address: Ipv6Addr::from(self.addresses[side]).to_canonical(), port: self.ports[side] }
    }

    /// An address in the form stored in keys.
    pub fn address(&self, side: usize) -> [u8; 16] {
        self.addresses[side]
    }

    fn reversed(&self) -> Self {
        let Self { stations: [a, b], addresses: [c, d], ports: [e, f] } = *self;
        Self { stations: [b, a], addresses: [d, c], ports: [f, e] }
    }
}

/// Equal for both directions.
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let side = |side: usize| (self.stations[side], self.addresses[side], self.ports[side]);
        let (a, b) = (side(0), side(1));
        (a.min(b), a.max(b)).hash(state);
    }
}

/// An address as an IPv6 address, IPv4-mapped if necessary.
pub(crate) fn mapped(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// A flow's state, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct State(u16);

impl State {
    /// The rule from the opener is installed or being installed.
    pub const FORWARD: Self = Self(1);
    /// The rule towards the opener is installed or being installed.
    pub const REVERSE: Self = Self(2);
    /// The forward rule copies frames to the controller.
    pub const COPY_FORWARD: Self = Self(4);
    /// The reverse rule copies frames to the controller.
    pub const COPY_REVERSE: Self = Self(8);
    /// Its rules are not confirmed yet.
    pub const INSTALLING: Self = Self(16);
    /// Its handshake is being watched.
    pub const HANDSHAKE: Self = Self(32);
    /// Its role in its connection is verified.
    pub const CONFIRMED: Self = Self(64);
    /// The flow joined a connection; without this flag, a flow of a connection opened it.
    pub const JOIN: Self = Self(128);
    /// The flow belongs to a connection but has no rules.
    pub const DORMANT: Self = Self(256);
    /// The flow is in its port's list of unconfirmed flows.
    pub const QUEUED: Self = Self(512);
    /// Its opener is on the listener's side of its connection.
    pub const FROM_LISTENER: Self = Self(1024);
    /// Both ends were at one switch when it was opened.
    pub const LOCAL: Self = Self(2048);

    /// The rule bit of each direction.
    pub const RULES: [Self; 2] = [Self::FORWARD, Self::REVERSE];
    /// The copy bit of each direction.
    pub const COPIES: [Self; 2] = [Self::COPY_FORWARD, Self::COPY_REVERSE];

    /// Whether all of `bits` are set.
    #[inline]
    pub const fn has(self, bits: Self) -> bool {
        self.0 & bits.0 == bits.0
    }

    /// Whether any of `bits` is set.
    #[inline]
    pub const fn any(self, bits: Self) -> bool {
        self.0 & bits.0 != 0
    }

    /// Sets or clears `bits`.
    #[inline]
    pub fn set(&mut self, bits: Self, to: bool) {
        self.0 = if to { self.0 | bits.0 } else { self.0 & !bits.0 };
    }

    /// The union of both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A TCP flow.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub key: Key,
    pub state: State,
    /// The path from the opener, and back unless there is another, [`NONE`] while it has none.
    pub path: u32,
    /// The path towards the opener, if it is one of its own.
    pub back: u32,
    /// Its connection, if it belongs to one.
    pub connection: u32,
    /// Its role in a connection when its rules were first requested: the rules keep their cookies.
    pub part: Part,
    /// The port at which it was opened.
    pub port: u32,
    /// The sequence number of the SYN that opened it.
    pub sequence: u32,
    /// When its rules were requested, or when it lost them.
    pub since: Time,
    links: [Link; by::COUNT],
}

impl Flow {
    /// The path of a direction.
    pub const fn path_of(&self, direction: usize) -> u32 {
        if direction == 1 && self.back != NONE { self.back } else { self.path }
    }
}

impl Linked for Flow {
    fn links(&self) -> &[Link] {
        &self.links
    }
    fn links_mut(&mut self) -> &mut [Link] {
        &mut self.links
    }
}

/// The flow of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    pub flow: u32,
    /// The direction of the frame: 0 from the opener, 1 towards it.
    pub direction: usize,
}

/// All flows.
#[derive(Clone, Debug)]
pub(crate) struct Flows {
    pub slab: Slab<Flow>,
    by_key: HashTable<u32>,
    hash: Keyed,
    /// Flows without rules, the longest dormant first.
    pub dormant: List,
}

impl Flows {
    /// An empty table; generations start at `epoch`.
    pub fn new(hash_key: u64, epoch: u32) -> Self {
        Self {
            slab: Slab::starting(epoch),
            by_key: HashTable::new(),
            hash: Keyed::new(hash_key, 3),
            dormant: List::default(),
        }
    }

    /// The flow of a frame, and the frame's direction in it.
    pub fn find(&self, key: &Key) -> Option<Found> {
        let reversed = key.reversed();
        let same = |&flow: &u32| self.slab[flow].key == *key || self.slab[flow].key == reversed;
        let flow = *self.by_key.find(self.hash.of(key), same)?;
        Some(Found { flow, direction: usize::from(self.slab[flow].key != *key) })
    }

    /// Adds an unknown flow. It is in no list yet.
    pub fn insert(&mut self, now: Time, key: Key, port: u32, sequence: u32) -> u32 {
        let flow = self.slab.insert(Flow {
            key,
            state: State::default(),
            path: NONE,
            back: NONE,
            connection: NONE,
            part: Part::Plain,
            port,
            sequence,
            since: now,
            links: [Link::default(); by::COUNT],
        });
        let (slab, keyed) = (&self.slab, self.hash);
        self.by_key.insert_unique(keyed.of(&key), flow, |&other| keyed.of(&slab[other].key));
        flow
    }

    /// Forgets a flow, which must be in no list.
    pub fn remove(&mut self, flow: u32) {
        let hash = self.hash.of(&self.slab[flow].key);
        if let Ok(entry) = self.by_key.find_entry(hash, |&other| other == flow) {
            entry.remove();
        }
        self.slab.remove(flow);
    }

    /// Memory of the tables in bytes.
    pub fn bytes(&self) -> usize {
        self.slab.bytes() + self.by_key.capacity() * 5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(address: &str, port: u16) -> End {
        End { address: address.parse().unwrap(), port }
    }

    #[test]
    fn a_flow_is_found_in_both_directions_and_only_between_its_stations() {
        let mut flows = Flows::new(7, 0);
        let (a, b) = (end("10.0.0.1", 4000), end("10.0.0.2", 80));
        let flow = flows.insert(Time::ZERO, Key::new([5, 9], [a, b]), 0, 1);
        assert_eq!(flows.find(&Key::new([5, 9], [a, b])), Some(Found { flow, direction: 0 }));
        assert_eq!(flows.find(&Key::new([9, 5], [b, a])), Some(Found { flow, direction: 1 }));
        assert_eq!(flows.find(&Key::new([6, 9], [a, b])), None, "another station with the same addresses");
        assert_eq!(flows.find(&Key::new([9, 5], [a, b])), None);
        assert_eq!([0, 1].map(|side| flows.slab[flow].key.end(side)), [a, b]);
        let six = Key::new([1, 2], [end("fd00::1", 1), end("fd00::2", 2)]);
        assert_eq!(six.end(1).to_string(), "[fd00::2]:2");
        flows.remove(flow);
        assert_eq!(flows.find(&Key::new([5, 9], [a, b])), None);
    }

    #[test]
    fn a_flow_is_small() {
        assert!(size_of::<Flow>() <= 136, "{} bytes", size_of::<Flow>());
    }
}
