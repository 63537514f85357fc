//! [`Stations`]: the known hosts, with their ports and addresses.
//!
//! Hosts are not trusted. If a station appears at another port, or claims another station's address, that is a
//! [`Claim`]: the known station is probed, and the claim holds only if it does not answer from its known port. So a
//! host cannot attract another host's traffic while that host is up.

use std::net::IpAddr;

use hashbrown::HashTable;
use weft_wire::Mac;

use crate::claims::{Claim, Claims};
use crate::clock::{Duration, Time};
use crate::command::MadeFrame;
use crate::hash::Keyed;
use crate::label::{Label, MAX_STATIONS, Numbers};
use crate::settings::Limits;
use crate::slab::{Handle, Slab, grown};
use crate::station::Station;

/// How long a station known only from rules, without an address to probe, keeps its place without sending.
const UNHEARD: Duration = Duration::from_secs(60);

/// An evicted station.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evicted {
    pub switch: u32,
    pub number: u32,
    pub handle: Handle,
    /// Whether its delivery rule was requested.
    pub asked: bool,
}

/// The result of receiving a frame from a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sighting {
    /// The station is at its known port.
    Here(u32),
    /// The station is new.
    New(u32),
    /// The station appeared at another port and must be probed.
    Elsewhere(u32),
    /// The station appeared at another port, and a probe is pending.
    Disputed,
    /// The table is full, or the address is not valid for a station.
    Refused,
}

/// All stations.
#[derive(Clone, Debug)]
pub(crate) struct Stations {
    pub slab: Slab<Station>,
    by_mac: HashTable<u32>,
    by_address: HashTable<(IpAddr, u32)>,
    hash: Keyed,
    /// Station numbers for labels, by switch.
    numbers: Vec<Numbers>,
    /// The stations of each port.
    at_port: Vec<Vec<u32>>,
    claims: Claims,
    /// Evicted stations, whose rules the owner of this table must remove.
    pub gone: Vec<Evicted>,
    /// Addresses that stations with claim routes have lost.
    pub lost: Vec<(Handle, IpAddr)>,
    max: usize,
    max_at_port: usize,
    max_addresses: usize,
}

impl Stations {
    /// An empty table.
    pub fn new(hash_key: u64, limits: &Limits) -> Self {
        Self {
            slab: Slab::default(),
            by_mac: HashTable::new(),
            by_address: HashTable::new(),
            hash: Keyed::new(hash_key, 2),
            numbers: Vec::new(),
            at_port: Vec::new(),
            claims: Claims::default(),
            gone: Vec::new(),
            lost: Vec::new(),
            max: limits.stations,
            max_at_port: limits.stations_per_port,
            max_addresses: limits.addresses_per_station,
        }
    }

    /// The station with a MAC address.
    pub fn with_mac(&self, mac: Mac) -> Option<u32> {
        self.by_mac.find(self.hash.of(&mac), |&station| self.slab[station].mac == mac).copied()
    }

    /// The station with an IP address.
    pub fn with_address(&self, address: IpAddr) -> Option<u32> {
        self.by_address
            .find(self.hash.of(&address), |(known, _)| *known == address)
            .map(|&(_, station)| station)
    }

    /// The stations at a port.
    pub fn at_port(&self, port: u32) -> &[u32] {
        self.at_port.get(port as usize).map_or(&[], |stations| stations)
    }

    /// Handles a frame from `mac` at a possible host port. A station seen at its known port ends claims that it has moved;
    /// those go to `refuted`.
    pub fn hear(
        &mut self,
        now: Time,
        mac: Mac,
        switch: u32,
        port: u32,
        refuted: &mut Vec<Claim>,
    ) -> Sighting {
        if let Some(station) = self.with_mac(mac) {
            let entry = &mut self.slab[station];
            if entry.port == port {
                (entry.seen, entry.unheard_until) = (now, Time::ZERO);
                if entry.claims > 0 {
                    refuted.extend(self.refute(|_, claim| {
                        claim.station().index == station && matches!(claim, Claim::Moved { .. })
                    }));
                }
                return Sighting::Here(station);
            }
            let handle = self.slab.handle(station);
            if self.slab[station].claims > 0 && self.claims.is_said_to_have_moved(handle) {
                return Sighting::Disputed;
            }
            return Sighting::Elsewhere(station);
        }
        if !may_have(mac) {
            return Sighting::Refused;
        }
        self.enter(now, mac, switch, port).map_or(Sighting::Refused, Sighting::New)
    }

    /// Adds a station found in delivery rules, with its number in labels if given; `None` if it is known already, the
    /// number is taken, or it does not fit without an eviction.
    pub fn adopt(&mut self, now: Time, mac: Mac, switch: u32, port: u32, number: Option<u32>) -> Option<u32> {
        let is_full = self.at_port(port).len() >= self.max_at_port;
        if is_full || !may_have(mac) || self.with_mac(mac).is_some() {
            return None;
        }
        let station = self.enter(now, mac, switch, port)?;
        (self.slab[station].unheard_until, self.slab[station].is_found) = (now + UNHEARD, true);
        let Some(number) = number else { return Some(station) };
        let given = self.slab[station].number;
        let numbers = &mut self.numbers[switch as usize];
        if number != given {
            if number == 0 || number > MAX_STATIONS || !numbers.claim(1, number) {
                self.remove(station);
                return None;
            }
            self.numbers[switch as usize].give_back(given);
            self.slab[station].number = number;
        }
        Some(station)
    }

    /// Rules of another switch place a station elsewhere. `false` if no rules placed it at its known port; otherwise it no
    /// longer keeps that place without being seen.
    pub fn doubt(&mut self, station: u32) -> bool {
        let entry = &mut self.slab[station];
        entry.unheard_until = Time::ZERO;
        entry.is_found
    }

    /// Opens a claim. `false` if it is open already or there are too many.
    pub fn claim(&mut self, now: Time, claim: Claim) -> bool {
        let is_new = self.claims.open(now, claim);
        self.slab[claim.station().index].claims += u16::from(is_new);
        is_new
    }

    /// When the next second probe or claim expiry is due.
    pub fn deadline(&self) -> Time {
        self.claims.deadline()
    }

    /// The next claim due for its second probe whose station still exists.
    pub fn ask_again(&mut self, now: Time) -> Option<Claim> {
        while let Some(claim) = self.claims.next_to_probe(now) {
            if self.slab.find(claim.station()).is_some() && self.is_still_about(&claim) {
                return Some(claim);
            }
        }
        None
    }

    /// Whether a claimed address still belongs to the claim's station: another claim may have succeeded in the meantime,
    /// and the new owner has not been probed.
    fn is_still_about(&self, claim: &Claim) -> bool {
        match *claim {
            Claim::Moved { .. } => true,
            Claim::Taken { station, address, .. } => self.with_address(address) == Some(station.index),
        }
    }

    /// A claim that expired without being contradicted.
    pub fn expire(&mut self, now: Time) -> Option<Claim> {
        while let Some(claim) = self.claims.next_expired(now) {
            if self.slab.find(claim.station()).is_none() {
                continue;
            }
            self.slab[claim.station().index].claims -= 1;
            if self.is_still_about(&claim) {
                return Some(claim);
            }
        }
        None
    }

    /// A station has shown that it owns an address: the address becomes the last one to be evicted, and claims to it end.
    /// Returns those claims.
    pub fn confirm_address(&mut self, station: u32, address: IpAddr) -> Vec<Claim> {
        let known = &mut self.slab[station].addresses;
        if let Some(place) = known.iter().position(|one| *one == address) {
            known[place..].rotate_left(1);
        }
        if self.slab[station].claims == 0 {
            return Vec::new();
        }
        self.refute(|_, claim| {
            claim.station().index == station
                && matches!(claim, Claim::Taken { address: claimed, .. } if *claimed == address)
        })
    }

    /// Moves a station to another port. `false` if there is no room for it.
    pub fn relocate(&mut self, now: Time, station: u32, switch: u32, port: u32) -> bool {
        if !self.make_room(port) {
            return false;
        }
        let Some(number) = self.number_at(switch) else { return false };
        self.leave_port(station);
        self.at_port[port as usize].push(station);
        let entry = &mut self.slab[station];
        (entry.port, entry.switch, entry.number, entry.seen) = (port, switch, number, now);
        (entry.asked, entry.installed) = (false, false);
        (entry.unheard_until, entry.is_found) = (Time::ZERO, false);
        true
    }

    /// Whether a station may have one more address without losing another.
    pub fn has_room_for_address(&self, station: u32) -> bool {
        self.slab[station].addresses.len() < self.max_addresses
    }

    /// Adds an address without an owner. If the station has too many, the least recently confirmed one is evicted.
    pub fn add_address(&mut self, station: u32, address: IpAddr) {
        if !self.has_room_for_address(station) {
            let oldest = self.slab[station].addresses[0];
            self.remove_address(oldest);
        }
        self.slab[station].addresses.push(address);
        let keyed = self.hash;
        let hash = keyed.of(&address);
        self.by_address.insert_unique(hash, (address, station), |(known, _)| keyed.of(known));
    }

    /// Gives an address to another station, if that still exists.
    pub fn reassign(&mut self, address: IpAddr, to: Handle) {
        self.remove_address(address);
        if self.slab.find(to).is_some() {
            self.add_address(to.index, address);
        }
    }

    /// Removes an address from its owner.
    pub fn remove_address(&mut self, address: IpAddr) {
        let hash = self.hash.of(&address);
        if let Ok(entry) = self.by_address.find_entry(hash, |(known, _)| *known == address) {
            let ((_, station), _) = entry.remove();
            self.slab[station].addresses.retain(|known| *known != address);
            if !self.slab[station].said.is_empty() {
                self.lost.push((self.slab.handle(station), address));
            }
        }
    }

    /// Forgets a station without flows and routes.
    pub fn remove(&mut self, station: u32) {
        let addresses = std::mem::take(&mut self.slab[station].addresses);
        for address in addresses {
            self.remove_address(address);
        }
        self.leave_port(station);
        let mac = self.slab[station].mac;
        if let Ok(entry) = self.by_mac.find_entry(self.hash.of(&mac), |&other| other == station) {
            entry.remove();
        }
        self.slab.remove(station);
    }

    /// Memory of the tables in bytes.
    pub fn bytes(&self) -> usize {
        self.slab.bytes() + self.by_mac.capacity() * 5 + self.by_address.capacity() * 29
    }

    fn enter(&mut self, now: Time, mac: Mac, switch: u32, port: u32) -> Option<u32> {
        if !self.make_room(port) || self.slab.len() >= self.max {
            return None;
        }
        let number = self.number_at(switch)?;
        let entry = Station { mac, port, switch, number, seen: now, ..Station::default() };
        let station = self.slab.insert(entry);
        self.at_port[port as usize].push(station);
        let (slab, keyed) = (&self.slab, self.hash);
        self.by_mac.insert_unique(keyed.of(&mac), station, |&other| keyed.of(&slab[other].mac));
        Some(station)
    }

    /// Whether one more station fits at a port; evicts the least recently seen unused one if
    /// necessary.
    fn make_room(&mut self, port: u32) -> bool {
        let here = grown(&mut self.at_port, port);
        if here.len() < self.max_at_port {
            return true;
        }
        let unused = here.iter().filter(|&&station| !self.slab[station].is_used());
        let Some(oldest) = unused.min_by_key(|&&station| (self.slab[station].seen, station)).copied() else {
            return false;
        };
        let Station { switch, number, asked, .. } = self.slab[oldest];
        self.gone.push(Evicted { switch, number, handle: self.slab.handle(oldest), asked });
        self.remove(oldest);
        true
    }

    fn number_at(&mut self, switch: u32) -> Option<u32> {
        grown(&mut self.numbers, switch).take(1, MAX_STATIONS)
    }

    fn leave_port(&mut self, station: u32) {
        let Station { port, switch, number, .. } = self.slab[station];
        self.at_port[port as usize].retain(|&other| other != station);
        self.numbers[switch as usize].give_back(number);
    }

    /// A switch has disconnected: claims to its stations' addresses end, since no probe can reach them.
    pub fn forget_claims_at(&mut self, switch: u32) {
        self.refute(|slab, claim| slab.find(claim.station()).is_some_and(|station| station.switch == switch));
    }

    fn refute(&mut self, which: impl Fn(&Slab<Station>, &Claim) -> bool) -> Vec<Claim> {
        let ended = self.claims.end(|claim| which(&self.slab, claim));
        for claim in &ended {
            if self.slab.find(claim.station()).is_some() {
                self.slab[claim.station().index].claims -= 1;
            }
        }
        ended
    }
}

/// Whether a MAC address is valid for a station. The controller's own is not: probe answers, which contradict claims,
/// are sent to it.
fn may_have(mac: Mac) -> bool {
    !mac.is_group() && mac != Mac::default() && mac != MadeFrame::CONTROLLER && !Label::is_label(mac)
}
