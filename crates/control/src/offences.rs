//! [`Offences`]: blocked actions of hosts by port, for the operator's log.

use std::net::IpAddr;

use rustc_hash::FxHashMap;
use weft_wire::Mac;

use crate::ids::SwitchPort;

/// Maximum number of (port, kind) entries kept until they are read; further ones only appear in counters.
const MOST: usize = 1024;

/// The kind of blocked action.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OffenceKind {
    /// More packets for the controller than a port may send.
    Packets,
    /// More LLDP frames than a port may send.
    Lldp,
    /// More new TCP flows than a port may open; they are forwarded without rules of their own.
    Flows,
    /// More rules than the switches may have unconfirmed on behalf of a port.
    Rules,
    /// More broadcasts and frames to unknown hosts than may be flooded for a port.
    Floods,
    /// More new addresses than may be learned at a port.
    Addresses,
    /// Use of the MAC address of a host that answered at its own port.
    Moved,
    /// Use of the IP address of a host that answered.
    Taken,
    /// Use of the MAC address of a host that cannot be probed now.
    MovedUnasked,
    /// Use of the IP address of a host that cannot be probed now.
    TakenUnasked,
    /// ARP or neighbour discovery with a MAC address that differs from the frame's.
    Forged,
}

impl OffenceKind {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Packets => "packets",
            Self::Lldp => "lldp",
            Self::Flows => "flows",
            Self::Rules => "rules",
            Self::Floods => "floods",
            Self::Addresses => "addresses",
            Self::Moved => "moved",
            Self::Taken => "taken",
            Self::MovedUnasked => "moved-unasked",
            Self::TakenUnasked => "taken-unasked",
            Self::Forged => "forged",
        }
    }
}

/// Blocked actions of one kind at one port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offence {
    /// The port.
    pub at: SwitchPort,
    /// The kind.
    pub kind: OffenceKind,
    /// The MAC address last claimed, or the claimant's.
    pub mac: Option<Mac>,
    /// The IP address last claimed.
    pub address: Option<IpAddr>,
    /// The number of blocked frames or claims.
    pub count: u64,
}

/// Offences since the last read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offences {
    by_port: FxHashMap<(SwitchPort, OffenceKind), Offence>,
}

impl Offences {
    /// Records a blocked frame.
    pub fn add(&mut self, at: SwitchPort, kind: OffenceKind) {
        self.add_claim(at, kind, None, None);
    }

    /// Records a blocked claim.
    pub fn add_claim(
        &mut self,
        at: SwitchPort,
        kind: OffenceKind,
        mac: Option<Mac>,
        address: Option<IpAddr>,
    ) {
        let is_known = self.by_port.contains_key(&(at, kind));
        if !is_known && self.by_port.len() >= MOST {
            return;
        }
        let none = Offence { at, kind, mac: None, address: None, count: 0 };
        let offence = self.by_port.entry((at, kind)).or_insert(none);
        (offence.mac, offence.address) = (mac, address);
        offence.count += 1;
    }

    /// Returns and clears the offences.
    pub fn take(&mut self) -> Vec<Offence> {
        let mut offences: Vec<Offence> = self.by_port.drain().map(|(_, offence)| offence).collect();
        offences.sort_unstable_by_key(|offence| (offence.at, offence.kind.name()));
        offences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_port_and_kind_is_reported_once_with_its_count_and_the_table_is_bounded() {
        let mut offences = Offences::default();
        let at = |port| SwitchPort::new(1, port);
        offences.add(at(2), OffenceKind::Packets);
        offences.add(at(2), OffenceKind::Packets);
        offences.add_claim(at(1), OffenceKind::Moved, Some(Mac([2; 6])), None);
        let taken = offences.take();
        let brief: Vec<_> =
            taken.iter().map(|one| (one.at.port.0, one.kind.name(), one.mac, one.count)).collect();
        assert_eq!(brief, [(1, "moved", Some(Mac([2; 6])), 1), (2, "packets", None, 2)]);
        assert!(offences.take().is_empty());
        (0..2 * MOST as u32).for_each(|port| offences.add(at(port), OffenceKind::Lldp));
        offences.add(at(0), OffenceKind::Lldp);
        let taken = offences.take();
        assert_eq!((taken.len(), taken[0].count), (MOST, 2));
    }
}
