//! [`Floods`]: which flooded frames have been here, so that only the first copy goes on.
//!
//! This memory is apart from the tables that forward: nothing that is learnt, evicted or replaced
//! there lets a copy pass a second time. Where it is full of floods under way, further ones end here:
//! a flood that is not remembered might never end.

use weft_units::{Duration, Mac, PortId, Time};

use crate::DropReason;
use crate::hash::mix64;
use crate::header::{Header, Kind};
use crate::soft_table::{SoftKey, SoftTable};

/// What the copies of a flooded frame have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flood {
    /// What the frame is; [`Kind::Other`] of all broadcasts that explore nothing.
    pub kind: Kind,
    /// Its source.
    pub from: Mac,
    /// Its destination, of a frame about a path; else broadcast.
    pub to: Mac,
    /// TCP ports of the source and of the destination, of a frame about the path of a flow.
    pub ports: [u16; 2],
    /// The exploration, of a frame about a path.
    pub id: u32,
}

impl SoftKey for Flood {
    fn hash(&self, secrets: [u64; 2]) -> u64 {
        let [sport, dport] = self.ports.map(u64::from);
        let ends = mix64(self.from.bits() ^ secrets[0]) ^ self.to.bits() ^ sport << 48;
        mix64(mix64(ends) ^ dport << 40 ^ (self.kind as u64) << 32 ^ u64::from(self.id))
    }
}

/// No port: the flood started here, and every copy that comes back is late.
const HERE: PortId = PortId(u16::MAX);

/// The memory.
pub(crate) struct Floods {
    first: SoftTable<Flood, PortId>,
    size: usize,
}

/// Classes: what is about a station or a flow, and other broadcasts.
const EXPLORATION: u8 = 0;
const BROADCAST: u8 = 1;

impl Floods {
    /// A memory of `size` floods that lasts `lock` for explorations and `broadcast` for other frames.
    pub(crate) fn new(size: usize, lock: Duration, broadcast: Duration, secret: u64) -> Self {
        Self { first: SoftTable::new(size, &[lock, broadcast], secret), size }
    }

    /// Takes note of a copy that came in on `ingress`, or says why it goes no further. A copy on the
    /// port of the first one is the frame sent again, and goes on.
    pub(crate) fn note(&mut self, ingress: PortId, header: &Header, now: Time) -> Result<(), DropReason> {
        let flood = match header.kind {
            kind if kind.is_control() => Flood {
                kind,
                from: header.src,
                to: header.dst,
                ports: [header.sport, header.dport],
                id: header.exploration_id(),
            },
            // One memory for all other broadcasts of a source, whatever they carry.
            kind => {
                let kind = if kind == Kind::ArpRequest { kind } else { Kind::Other };
                Flood { kind, from: header.src, to: Mac::BROADCAST, ports: [0; 2], id: 0 }
            }
        };
        match self.first.get(&flood, now) {
            Some(&port) if port != ingress => return Err(DropReason::LateCopy),
            Some(_) => {}
            None if self.first.len() < self.size => {}
            None => {
                self.first.sweep(now);
                if self.first.len() >= self.size {
                    return Err(DropReason::TableFull);
                }
            }
        }
        let explores = header.kind.is_control() || header.kind == Kind::ArpRequest;
        self.first.insert(flood, ingress, if explores { EXPLORATION } else { BROADCAST }, now);
        Ok(())
    }

    /// Takes note of a flood that starts here.
    pub(crate) fn note_own(&mut self, header: &Header, now: Time) -> Result<(), DropReason> {
        self.note(HERE, header, now)
    }

    /// What is remembered, where each first copy came in ([`HERE`] for what started here), until when.
    pub(crate) fn entries(&self, now: Time) -> impl Iterator<Item = (Flood, PortId, Time)> {
        self.first.entries(now).map(|(flood, port, _, expiry)| (*flood, *port, expiry))
    }

    pub(crate) fn sweep(&mut self, now: Time) {
        self.first.sweep(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasts_of_a_source_are_late_on_another_port_whatever_they_carry() {
        let life = Duration::from_secs(1);
        let mut floods = Floods::new(10, life, life, 1);
        let mut note = |port, kind| {
            let header = Header { kind, dst: Mac::BROADCAST, ..Header::default() };
            floods.note(PortId(port), &header, Time::ZERO)
        };
        assert_eq!(note(0, Kind::Other), Ok(()));
        for kind in [Kind::Other, Kind::Tcp, Kind::ArpReply] {
            assert_eq!(note(1, kind), Err(DropReason::LateCopy), "{kind:?}");
        }
        assert_eq!(note(1, Kind::ArpRequest), Ok(()));
    }
}
