//! The table of TCP-Path: for each direction of a flow, the port towards one of its ends.

use weft_units::{PortId, Time};

use crate::exploration::Exploration;
use crate::hash::mix64;
use crate::header::{Header, Mac};
use crate::soft_table::{SoftKey, SoftTable};

/// Class of an entry that a request has made and no reply has confirmed.
pub const LOCKED: u8 = 0;
/// Class of an entry of a connection that ends.
pub const CLOSING: u8 = 1;
/// Class of an entry that a reply has confirmed.
pub const CONFIRMED: u8 = 2;

/// One direction of a TCP connection: the entry of `{host, port, peer, peer_port}` leads to `host`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FlowKey {
    /// The end that the entry leads to.
    pub host: Mac,
    /// Its TCP port.
    pub port: u16,
    /// The other end.
    pub peer: Mac,
    /// The other end's TCP port.
    pub peer_port: u16,
}

impl FlowKey {
    /// The entry that leads back to where the frame comes from.
    pub const fn to_source(header: &Header) -> Self {
        Self { host: header.src, port: header.sport, peer: header.dst, peer_port: header.dport }
    }

    /// The entry that leads on to where the frame goes.
    pub const fn to_destination(header: &Header) -> Self {
        Self::to_source(header).reversed()
    }

    /// The entry of the other direction.
    pub const fn reversed(self) -> Self {
        Self { host: self.peer, port: self.peer_port, peer: self.host, peer_port: self.port }
    }
}

impl SoftKey for FlowKey {
    fn fold(&self, secret: u64) -> u64 {
        let end = |mac: Mac, port: u16| mac.fold(0) << 16 | u64::from(port);
        mix64(end(self.host, self.port) ^ secret) ^ end(self.peer, self.peer_port)
    }
}

/// An entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathEntry {
    /// Where it leads.
    pub port: PortId,
    /// Whether the end that it leads to started the exploration.
    pub initiator: bool,
    /// Whether the next SYN of the tuple goes by the default forwarding, since the last explored.
    pub explored: bool,
    /// The exploration that made it.
    pub id: u32,
    /// When it was made, in milliseconds of the run modulo 2^32.
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
    use weft_units::HostId;

    #[test]
    fn a_million_entries_take_at_most_64_bytes_each() {
        let config = Exploration::default();
        let mut table = path_table(&config, 1);
        let entry = PathEntry { port: PortId(1), initiator: true, explored: false, id: 2, made: 4 };
        for number in 0..1_000_000 {
            let key = FlowKey {
                host: Mac::of_host(HostId(number)),
                port: 1,
                peer: Mac::of_host(HostId(7)),
                peer_port: 80,
            };
            table.insert(key, entry, CONFIRMED, Time::ZERO);
        }
        assert_eq!(table.len(), 1_000_000);
        assert!(table.memory() <= 64_000_000, "{} bytes", table.memory());
    }
}
