//! [`Routes`]: rules that forward everything but TCP to a station, TCP between two stations of a port with too many
//! flows, and the stations' own ARP and neighbour discovery.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hashbrown::HashTable;

use crate::hash::Keyed;
use crate::list::{Link, Linked};
use crate::slab::{NONE, Slab};

/// The lists that a route is in, as indices of its links.
pub(crate) mod by {
    /// Routes of its path.
    pub const PATH: usize = 0;
    /// Routes to its destination station.
    pub const STATION: usize = 1;
    /// Routes of the station whose address claim it forwards.
    pub const CLAIMANT: usize = 2;
}

/// The message in which a station claims an address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    /// ARP about this address, or in reply to a request of its owner.
    Arp(Ipv4Addr),
    /// A Neighbour Solicitation for this address.
    Solicitation(Ipv6Addr),
    /// A Neighbour Advertisement without link-layer address: the reply to a unicast Solicitation
    /// (RFC 4861, section 7.2.4).
    Answer,
    /// A Neighbour Advertisement with link-layer address.
    Advertisement,
}

impl Kind {
    /// The receiver's address named in the message.
    pub const fn about(self) -> Option<IpAddr> {
        match self {
            Self::Arp(about) => Some(IpAddr::V4(about)),
            Self::Solicitation(about) => Some(IpAddr::V6(about)),
            Self::Answer | Self::Advertisement => None,
        }
    }
}

/// The start of a route.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum From {
    /// Everything but TCP at a switch.
    Switch(u32),
    /// TCP over IPv4 (`false`) or IPv6 from a port.
    PortTcp {
        /// The port.
        port: u32,
        /// Whether over IPv6.
        six: bool,
    },
    /// A station's claim to its own address.
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
    /// Whether its rule is still unconfirmed.
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
    /// An empty table; generations start at `epoch`.
    pub fn new(hash_key: u64, epoch: u32) -> Self {
        Self { slab: Slab::starting(epoch), by_ends: HashTable::new(), hash: Keyed::new(hash_key, 5) }
    }

    /// The route with these ends.
    pub fn find(&self, from: From, to: u32) -> Option<u32> {
        let same = |&route: &u32| self.slab[route].from == from && self.slab[route].to == to;
        self.by_ends.find(self.hash.of(&(from, to)), same).copied()
    }

    /// Adds an unknown route. It is in no list yet.
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

    /// Memory of the tables in bytes.
    pub fn bytes(&self) -> usize {
        self.slab.bytes() + self.by_ends.capacity() * 5
    }
}
