//! [`Routes`]: rules that send all that is not TCP to a station, TCP between two stations where there are too many
//! flows to tell them apart, and what stations say to each other of their own addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hashbrown::HashTable;

use crate::hash::Keyed;
use crate::list::{Link, Linked};
use crate::slab::{NONE, Slab};

/// The lists that a route is in, by their links.
pub(crate) mod by {
    /// Of its path.
    pub const PATH: usize = 0;
    /// Of the station to which it leads.
    pub const STATION: usize = 1;
    /// Of the station whose claim it lets through.
    pub const CLAIMANT: usize = 2;
}

/// In which message a station says that an address is its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    /// ARP about this address, or in answer to a question of its owner.
    Arp(Ipv4Addr),
    /// A Neighbour Solicitation that asks for this address.
    Solicitation(Ipv6Addr),
    /// A Neighbour Advertisement without link-layer address: the answer to a question that came to one station alone
    /// (RFC 4861, section 7.2.4).
    Answer,
    /// A Neighbour Advertisement with the link-layer address.
    Advertisement,
}

impl Kind {
    /// The receiver's address that the message names.
    pub const fn about(self) -> Option<IpAddr> {
        match self {
            Self::Arp(about) => Some(IpAddr::V4(about)),
            Self::Solicitation(about) => Some(IpAddr::V6(about)),
            Self::Answer | Self::Advertisement => None,
        }
    }
}

/// Where a route starts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum From {
    /// Everything at a switch that is not TCP.
    Switch(u32),
    /// TCP in IPv4 (`false`) or IPv6 that comes by a port.
    Crowd {
        /// The port.
        port: u32,
        /// Whether in IPv6.
        six: bool,
    },
    /// What a station says of an address that is its own.
    Claim {
        /// The station.
        station: u32,
        /// The address.
        address: IpAddr,
        /// The message.
        kind: Kind,
    },
}

/// A route to a station.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub from: From,
    /// The switch where it starts.
    pub switch: u32,
    /// The station.
    pub to: u32,
    pub path: u32,
    /// Whether its rule is not confirmed yet.
    pub installing: bool,
    links: [Link; 3],
}

impl Linked for Route {
    fn links(&self) -> &[Link] {
        &self.links
    }
    fn links_mut(&mut self) -> &mut [Link] {
        &mut self.links
    }
}

/// All routes.
#[derive(Clone, Debug)]
pub(crate) struct Routes {
    pub slab: Slab<Route>,
    by_ends: HashTable<u32>,
    hash: Keyed,
}

impl Routes {
    /// None yet; their generations start with `epoch`.
    pub fn new(hash_key: u64, epoch: u32) -> Self {
        Self { slab: Slab::starting(epoch), by_ends: HashTable::new(), hash: Keyed::new(hash_key, 5) }
    }

    /// The route of these ends.
    pub fn find(&self, from: From, to: u32) -> Option<u32> {
        let same = |&route: &u32| self.slab[route].from == from && self.slab[route].to == to;
        self.by_ends.find(self.hash.of(&(from, to)), same).copied()
    }

    /// Enters a route that is not known. It is in no list yet.
    pub fn insert(&mut self, from: From, switch: u32, to: u32) -> u32 {
        let (path, links) = (NONE, [Link::default(); 3]);
        let route = self.slab.insert(Route { from, switch, to, path, installing: true, links });
        let (slab, keyed) = (&self.slab, self.hash);
        let rehash = |&other: &u32| keyed.of(&(slab[other].from, slab[other].to));
        self.by_ends.insert_unique(keyed.of(&(from, to)), route, rehash);
        route
    }

    /// Forgets a route, which must be in no list.
    pub fn remove(&mut self, route: u32) {
        let Route { from, to, .. } = self.slab[route];
        if let Ok(entry) = self.by_ends.find_entry(self.hash.of(&(from, to)), |&other| other == route) {
            entry.remove();
        }
        self.slab.remove(route);
    }

    /// The bytes that the tables hold.
    pub fn bytes(&self) -> usize {
        self.slab.bytes() + self.by_ends.capacity() * 5
    }
}
