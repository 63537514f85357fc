//! TCP-Path's table: for each direction of a flow, the port towards one of its ends.

use weft_units::{PortId, Time};
use weft_wire::Mac;

use crate::exploration::Exploration;
use crate::hash::fold_product;
use crate::header::Header;
use crate::soft_table::{SoftKey, SoftTable};

/// Class of an entry made by a request and not confirmed by a reply.
pub const LOCKED: u8 = 0;
/// Class of an entry of a closing connection.
pub const CLOSING: u8 = 1;
/// Class of an entry confirmed by a reply.
pub const CONFIRMED: u8 = 2;

/// An end of a TCP connection: a station and its TCP port in one word, compared and hashed at once,
/// in the order of the two.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct End(u64);

impl End {
    /// The end at `port` of `station`.
    #[inline]
    pub const fn new(station: Mac, port: u16) -> Self {
        Self(station.bits() << 16 | port as u64)
    }

    /// The station.
    pub const fn station(self) -> Mac {
        let [a, b, c, d, e, f, ..] = self.0.to_be_bytes();
        Mac([a, b, c, d, e, f])
    }

    /// Its TCP port.
    pub const fn port(self) -> u16 {
        self.0 as u16
    }
}

/// One direction of a TCP connection: the entry of `{host, peer}` leads to `host`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FlowKey {
    /// The end towards which the entry leads.
    pub host: End,
    /// The other end.
    pub peer: End,
}

impl FlowKey {
    /// The entry that leads back to the frame's source.
    #[inline]
    pub const fn to_source(header: &Header) -> Self {
        Self::to_destination(header).reversed()
    }

    /// The entry that leads to the frame's destination.
    #[inline]
    pub const fn to_destination(header: &Header) -> Self {
        Self { host: End::new(header.dst, header.dport), peer: End::new(header.src, header.sport) }
    }

    /// The entry of the other direction.
    #[inline]
    pub const fn reversed(self) -> Self {
        Self { host: self.peer, peer: self.host }
    }
}

impl SoftKey for FlowKey {
    #[inline]
    fn hash(&self, secrets: [u64; 2]) -> u64 {
        fold_product(self.host.0 ^ secrets[0], self.peer.0 ^ secrets[1])
    }
}

/// An entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct PathEntry {
    /// The egress port.
    pub port: PortId,
    /// Whether the end towards which it leads started the exploration.
    pub initiator: bool,
    /// Whether the last SYN explored, so that the next one takes the default forwarding.
    pub explored: bool,
    /// The exploration that created it.
    pub id: u32,
    /// Creation time, in milliseconds of the run modulo 2^32.
    pub made: u32,
}

/// Milliseconds of the run modulo 2^32.
pub const fn milliseconds(now: Time) -> u32 {
    (now.ps() / 1_000_000_000) as u32
}

/// The table.
pub type PathTable = SoftTable<FlowKey, PathEntry>;

/// An empty table.
pub fn path_table(config: &Exploration, secret: u64) -> PathTable {
    SoftTable::new(config.flows, &[config.lock, config.closing, config.confirmed], secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_entries_take_at_most_64_bytes_each() {
        let config = Exploration::default();
        let mut table = path_table(&config, 1);
        let entry = PathEntry { port: PortId(1), initiator: true, explored: false, id: 2, made: 4 };
        for number in 0..1_000_000 {
            let end = |host, port| End::new(Mac::of_host(host), port);
            let key = FlowKey { host: end(number, 1), peer: end(7, 80) };
            table.insert(key, entry, CONFIRMED, Time::ZERO);
        }
        assert_eq!(table.len(), 1_000_000);
        assert!(table.memory() <= 64_000_000, "{} bytes", table.memory());
    }
}
