//! [`Floods`]: which flooded frames have been here, so that only the first copy goes on.
//!
//! This memory is apart from the tables that forward: nothing that is learnt, evicted or replaced
//! there lets a copy pass a second time. Where it is full of floods under way, further ones end here:
//! a flood that is not remembered might never end.

use weft_units::{Duration, PortId, Time};

use crate::DropReason;
use crate::hash::mix64;
use crate::header::{Header, Kind, Mac};
use crate::soft_table::{SoftKey, SoftTable};

/// What the copies of a flooded frame have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Flood {
    kind: Kind,
    from: Mac,
    to: Mac,
    ports: [u16; 2],
    id: u32,
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
            kind => Flood { kind, from: header.src, to: Mac::BROADCAST, ports: [0; 2], id: 0 },
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

    pub(crate) fn sweep(&mut self, now: Time) {
        self.first.sweep(now);
    }
}
