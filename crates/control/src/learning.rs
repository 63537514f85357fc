//! How a [`Network`] learns where stations are. Nothing that hosts say is trusted: see [`Stations`](crate::stations).

use std::net::{IpAddr, Ipv6Addr};

use weft_wire::Mac;

use crate::claims::{Claim, PROBE};
use crate::clock::{Duration, Time};
use crate::command::{Command, FrameOut, MadeFrame};
use crate::network::Network;
use crate::offences::OffenceKind;
use crate::packet::{Content, Packet};
use crate::role::Role;
use crate::slab::Handle;
use crate::station::Station;
use crate::stations::Sighting;

/// The sender of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sender {
    /// This station, at its known port.
    Known(u32),
    /// This station, which has moved to the frame's port.
    Moved(u32),
    /// The source is not an accepted station; the frame is dropped.
    Nobody,
}

/// Whether a station could contradict a claim to its address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Defence {
    /// Its port is up and can belong to a host: it can be probed, and its answer arrives if its switch is connected.
    /// A silent host at a disconnected switch can lose its addresses.
    Possible,
    /// The station may still be at its port, but can neither be probed nor answer now.
    Impossible,
    /// Its port has just gone down. A MAC address moves to its next port immediately, but an IP address moves to another
    /// host only if the port stays down.
    Away,
    /// The station cannot be at its port any more.
    Absent,
}

/// Maximum number of a station's addresses probed when its MAC address is claimed: each causes an answer, and others
/// decide how often that happens.
const ASKED_BY: usize = 4;
/// How long a port must be down before its hosts can lose their IP addresses to others: longer than reseating a cable or
/// renegotiating the speed takes.
const AWAY: Duration = Duration::from_secs(1);
impl Network {
    /// The sender of a frame from a possible host port.
    pub fn hear(&mut self, now: Time, mac: Mac, port: u32, out: &mut Vec<Command>) -> Sender {
        let switch = self.topology.ports[port as usize].switch;
        let mut refuted = Vec::new();
        let heard = self.stations.hear(now, mac, switch, port, &mut refuted);
        self.refuted(&refuted);
        match heard {
            Sighting::Here(station) => return Sender::Known(station),
            Sighting::New(station) => {
                self.counters.stations_new += 1;
                return Sender::Known(station);
            }
            Sighting::Elsewhere(station) => {
                let defence = self.defence(now, station);
                if matches!(defence, Defence::Absent | Defence::Away) {
                    return Sender::Moved(station);
                }
                if defence == Defence::Impossible {
                    let at = self.topology.place(port);
                    self.offences.add_claim(at, OffenceKind::MovedUnasked, Some(mac), None);
                }
                let claim = Claim::Moved { station: self.stations.slab.handle(station), port, switch };
                self.counters.claims_disputed += 1;
                if defence == Defence::Possible
                    && self.admit_address(now, port)
                    && self.stations.claim(now, claim)
                {
                    self.ask_about(claim, out);
                }
            }
            Sighting::Disputed => self.counters.claims_disputed += 1,
            Sighting::Refused => self.counters.stations_refused += 1,
        }
        Sender::Nobody
    }

    /// Learns from a station's ARP and neighbour discovery. `false` if it is sent on behalf of another station, or claims
    /// another station's address: any receiver would believe it.
    pub fn learn(&mut self, now: Time, station: u32, packet: &Packet, out: &mut Vec<Command>) -> bool {
        let (speaker, address) = match packet.content {
            Content::Arp(arp) => (Some(arp.sender_mac), IpAddr::V4(arp.sender)),
            Content::Neighbour(message) if message.is_advertisement => {
                (message.link_layer, IpAddr::V6(message.target))
            }
            Content::Neighbour(message) => (message.link_layer, IpAddr::V6(message.source)),
            _ => return true,
        };
        if speaker.is_some_and(|mac| mac != packet.eth_src) {
            self.counters.addresses_forged += 1;
            let at = self.topology.place(self.stations.slab[station].port);
            self.offences.add_claim(at, OffenceKind::Forged, Some(packet.eth_src), Some(address));
            return false;
        }
        address.is_unspecified() || address.is_multicast() || self.learn_address(now, station, address, out)
    }

    /// A station claims an address. `false` while the address belongs to another station that may still be up.
    fn learn_address(&mut self, now: Time, station: u32, address: IpAddr, out: &mut Vec<Command>) -> bool {
        let owner = self.stations.with_address(address);
        if owner == Some(station) {
            let refuted = self.stations.confirm_address(station, address);
            self.refuted(&refuted);
            return true;
        }
        let port = self.stations.slab[station].port;
        let may_learn = self.admit_address(now, port);
        let Some(owner) = owner else {
            if may_learn {
                self.stations.add_address(station, address);
            }
            return true;
        };
        let defence = self.defence(now, owner);
        if defence == Defence::Absent {
            if may_learn {
                self.stations.remove_address(address);
                self.stations.add_address(station, address);
            }
            return true;
        }
        self.counters.addresses_disputed += 1;
        if defence == Defence::Impossible {
            let mac = self.stations.slab[station].mac;
            let at = self.topology.place(port);
            self.offences.add_claim(at, OffenceKind::TakenUnasked, Some(mac), Some(address));
        } else if may_learn {
            let by = self.stations.slab.handle(station);
            let handle = self.stations.slab.handle(owner);
            self.counters.claims_disputed += 1;
            let claim = Claim::Taken { station: handle, address, by };
            if self.stations.claim(now, claim) && defence == Defence::Possible {
                self.ask_about(claim, out);
            }
        }
        false
    }

    /// A station that did not defend its address loses it to another. The new owner's announcements were dropped in the
    /// meantime, so the controller announces the address to all hosts, within the port's flood limit.
    fn take_address(&mut self, now: Time, address: IpAddr, by: Handle, out: &mut Vec<Command>) {
        let Some(station) = self.stations.slab.find(by) else { return };
        let (mac, port) = (station.mac, station.port);
        self.stations.reassign(address, by);
        let frame = match address {
            IpAddr::V4(address) => {
                MadeFrame::ArpReply { sender: (mac, address), target: (Mac::BROADCAST, address) }
            }
            IpAddr::V6(address) => {
                let everybody = (Mac([0x33, 0x33, 0, 0, 0, 1]), Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1));
                MadeFrame::Advertisement { sender: (mac, address), target: everybody }
            }
        };
        if self.admit_flood(now, port) {
            self.send_to_hosts(now, port, FrameOut::Made(frame), out);
        }
    }

    /// Admits one more address at a port, or counts it as over the limit; returns whether it is admitted.
    fn admit_address(&mut self, now: Time, port: u32) -> bool {
        let rate = self.settings.limits.addresses_per_port_s;
        let may = self.port_use(port).addresses.take(now, rate, rate);
        if !may {
            self.counters.addresses_limited += 1;
            self.offend(port, OffenceKind::Addresses);
        }
        may
    }

    /// Records claims contradicted by the stations concerned.
    fn refuted(&mut self, claims: &[Claim]) {
        self.counters.claims_refuted += claims.len() as u64;
        for claim in claims {
            let (port, kind, mac, address) = match *claim {
                Claim::Moved { station, port, .. } => (
                    Some(port),
                    OffenceKind::Moved,
                    self.stations.slab.find(station).map(|one| one.mac),
                    None,
                ),
                Claim::Taken { address, by, .. } => {
                    let by = self.stations.slab.find(by);
                    (by.map(|one| one.port), OffenceKind::Taken, by.map(|one| one.mac), Some(address))
                }
            };
            if let Some(port) = port {
                self.offences.add_claim(self.topology.place(port), kind, mac, address);
            }
        }
    }

    /// Probes the station that would lose something by a claim.
    fn ask_about(&self, claim: Claim, out: &mut Vec<Command>) {
        let station = claim.station().index;
        match claim {
            // Probe the most recently seen addresses.
            Claim::Moved { .. } => {
                let addresses = self.stations.slab[station].addresses.iter().rev().take(ASKED_BY);
                addresses.for_each(|&address| self.probe(station, address, out));
            }
            Claim::Taken { address, .. } => self.probe(station, address, out),
        }
    }

    /// Probes stations again that have not answered within half the probe time.
    pub fn ask_again(&mut self, now: Time, out: &mut Vec<Command>) {
        while let Some(claim) = self.stations.ask_again(now) {
            if self.defence(now, claim.station().index) == Defence::Possible {
                self.ask_about(claim, out);
            }
        }
    }

    /// Probes a station at its known port by one of its addresses.
    fn probe(&self, station: u32, address: IpAddr, out: &mut Vec<Command>) {
        let entry = &self.stations.slab[station];
        let frame = match address {
            IpAddr::V4(target) => MadeFrame::ArpProbe { station: entry.mac, target },
            IpAddr::V6(target) => MadeFrame::SolicitationProbe { station: entry.mac, target },
        };
        self.send_to(station, FrameOut::Made(frame), out);
    }

    /// Settles the claims that are due: gives claimed addresses to their new owners, and returns the next station that
    /// has moved, and its port.
    pub fn settle_claims(&mut self, now: Time, out: &mut Vec<Command>) -> Option<(u32, u32)> {
        while let Some(claim) = self.stations.expire(now) {
            let holds = match (claim, self.defence(now, claim.station().index)) {
                (_, Defence::Impossible) => false,
                (Claim::Moved { port, .. }, _) => self.topology.role(port, now) == Role::Host,
                // The station could not be probed when the claim was made.
                (Claim::Taken { .. }, Defence::Away) => self.wait_longer(now, claim),
                (Claim::Taken { station, .. }, Defence::Possible)
                    if self.has_just_come_up(now, station.index) =>
                {
                    self.wait_longer(now, claim)
                }
                (Claim::Taken { .. }, Defence::Possible | Defence::Absent) => true,
            };
            match claim {
                _ if !holds => {}
                Claim::Moved { station, port, .. } => return Some((station.index, port)),
                Claim::Taken { address, by, .. } => self.take_address(now, address, by, out),
            }
        }
        None
    }

    /// Postpones a claim, as if it had been made now.
    fn wait_longer(&mut self, now: Time, claim: Claim) -> bool {
        self.stations.claim(now, claim);
        false
    }

    /// Whether a station's port came up after a claim that expires now was made.
    fn has_just_come_up(&self, now: Time, station: u32) -> bool {
        self.topology.has_just_changed(self.stations.slab[station].port, now, PROBE)
    }

    /// Whether a station could contradict a claim to its MAC or IP address.
    pub fn defence(&self, now: Time, station: u32) -> Defence {
        let entry = &self.stations.slab[station];
        let Station { port, switch, .. } = *entry;
        match self.topology.role(port, now) {
            Role::Down if self.topology.has_just_changed(port, now, AWAY) => Defence::Away,
            Role::Down | Role::Switch => Defence::Absent,
            // Frames from such a port are dropped, including answers.
            Role::Settling | Role::Quarantine => Defence::Impossible,
            Role::Host if !self.is_up(switch) && self.topology.is_wired(switch) => Defence::Impossible,
            Role::Host if entry.is_unheard(now) => Defence::Impossible,
            Role::Host => Defence::Possible,
        }
    }

    /// Whether a station can still be at its known port.
    pub fn is_there(&self, now: Time, station: u32) -> bool {
        self.topology.role(self.stations.slab[station].port, now) == Role::Host
    }
}
