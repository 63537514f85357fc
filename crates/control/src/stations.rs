//! [`Stations`]: hosts as they were heard of, with the port at which they are attached and their addresses.
//!
//! Hosts are not trusted. A station that turns up at another port, or an address that another station says it
//! has, is a [`Claim`]: the station heard of before is asked, and only if it does not answer where it was does
//! the claim hold. So a host cannot draw to itself what is for another one that is there.

use std::collections::VecDeque;
use std::net::IpAddr;

use hashbrown::HashTable;
use smallvec::SmallVec;
use weft_wire::Mac;

use crate::clock::{Duration, Time};
use crate::command::MadeFrame;
use crate::hash::Keyed;
use crate::label::{Label, MAX_STATIONS, Numbers};
use crate::list::List;
use crate::settings::Limits;
use crate::slab::{Handle, Slab};

/// How long the station heard of before may take to answer.
pub(crate) const PROBE: Duration = Duration::from_ms(300);
/// When it is asked once more, should it not have answered: a question or its answer may get lost (RFC 5227, section 2.1.1,
/// has three, a second or two apart, where nobody waits for the result).
const PROBE_AGAIN: Duration = Duration::from_ms(150);
/// How long a station that is known by rules alone, and by which address it could be asked is not, keeps its place unheard.
const UNHEARD: Duration = Duration::from_secs(60);
/// Claims that are open at most.
const MAX_CLAIMS: usize = 1024;

/// A host's interface.
#[derive(Clone, Debug)]
pub(crate) struct Station {
    pub mac: Mac,
    /// Where it is attached.
    pub port: u32,
    /// The switch of that port.
    pub switch: u32,
    /// Its number in labels to that switch.
    pub number: u32,
    /// When it was heard of last.
    pub seen: Time,
    /// Until when it keeps its place although nobody has heard it or knows an address to ask it by.
    unheard_until: Time,
    /// Whether rules that were found deliver to it.
    is_found: bool,
    /// Its addresses, that confirmed last last.
    pub addresses: SmallVec<[IpAddr; 1]>,
    /// Whether its switch was told to deliver to it.
    pub asked: bool,
    /// Whether the switch has confirmed that.
    pub installed: bool,
    /// Flows that it has opened, and others that it is an end of.
    pub flows: [List; 2],
    /// Routes that lead to it.
    pub routes: List,
    /// Routes that let through what it says of its own addresses.
    pub said: List,
    /// How many claims on what it has are open.
    claims: u16,
}

impl Station {
    /// Whether somebody else says that he is this station, or has an address of it, and that is being looked into.
    pub const fn is_disputed(&self) -> bool {
        self.claims > 0
    }

    /// Whether it is known by rules alone, and nobody knows an address to ask it by.
    pub fn is_unheard(&self, now: Time) -> bool {
        now < self.unheard_until && self.addresses.is_empty()
    }

    fn is_used(&self) -> bool {
        !self.routes.is_empty() || !self.said.is_empty() || self.flows.iter().any(|list| !list.is_empty())
    }
}

/// A station that was forgotten to make room for another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gone {
    pub switch: u32,
    pub number: u32,
    pub handle: Handle,
    /// Whether its switch was told to deliver to it.
    pub asked: bool,
}

/// What somebody says, and what is believed if nobody contradicts in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Claim {
    /// The station is at this port of this switch now.
    Moved { station: Handle, port: u32, switch: u32 },
    /// The address of the station is another one's now.
    Taken { station: Handle, address: IpAddr, by: Handle },
}

impl Claim {
    /// The station that would lose something.
    pub fn station(&self) -> Handle {
        match *self {
            Self::Moved { station, .. } | Self::Taken { station, .. } => station,
        }
    }
}

/// What hearing a station means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Heard {
    /// It is where it was.
    Here(u32),
    /// It was not heard of before.
    New(u32),
    /// It is said to be at another port, and its switch is to be asked.
    Elsewhere(u32),
    /// It is said to be at another port, and that is being looked into.
    Disputed,
    /// There are too many, or its address is none that a station may have.
    Refused,
}

/// All stations.
#[derive(Clone, Debug)]
pub(crate) struct Stations {
    pub slab: Slab<Station>,
    by_mac: HashTable<u32>,
    by_address: HashTable<(IpAddr, u32)>,
    hash: Keyed,
    /// Of each switch, numbers for labels.
    numbers: Vec<Numbers>,
    /// Of each port, its stations.
    at_port: Vec<Vec<u32>>,
    claims: VecDeque<(Time, Claim)>,
    /// Of these, such as nobody has been asked about for a second time, with when that is due.
    asked_once: VecDeque<(Time, Claim)>,
    /// Those that had to go: whoever told switches of them takes that back.
    pub gone: Vec<Gone>,
    /// Addresses that stations had, and do not have any more, where routes let through what they say of them.
    pub lost: Vec<(Handle, IpAddr)>,
    max: usize,
    max_at_port: usize,
    max_addresses: usize,
}

impl Stations {
    /// None yet.
    pub fn new(hash_key: u64, limits: &Limits) -> Self {
        Self {
            slab: Slab::default(),
            by_mac: HashTable::new(),
            by_address: HashTable::new(),
            hash: Keyed::new(hash_key, 2),
            numbers: Vec::new(),
            at_port: Vec::new(),
            claims: VecDeque::new(),
            asked_once: VecDeque::new(),
            gone: Vec::new(),
            lost: Vec::new(),
            max: limits.stations,
            max_at_port: limits.stations_per_port,
            max_addresses: limits.addresses_per_station,
        }
    }

    /// The station of an address.
    pub fn with_mac(&self, mac: Mac) -> Option<u32> {
        self.by_mac.find(self.hash.of(&mac), |&station| self.slab[station].mac == mac).copied()
    }

    /// The station that has an IP address.
    pub fn with_address(&self, address: IpAddr) -> Option<u32> {
        self.by_address
            .find(self.hash.of(&address), |(known, _)| *known == address)
            .map(|&(_, station)| station)
    }

    /// The stations at a port.
    pub fn at_port(&self, port: u32) -> &[u32] {
        self.at_port.get(port as usize).map_or(&[], |stations| stations)
    }

    /// A frame of `mac` came by a port where hosts may be. A claim on what the station has ends if it is heard
    /// where it is known to be; those go to `refuted`.
    pub fn hear(
        &mut self,
        now: Time,
        mac: Mac,
        (switch, port): (u32, u32),
        refuted: &mut Vec<Claim>,
    ) -> Heard {
        if let Some(station) = self.with_mac(mac) {
            let entry = &mut self.slab[station];
            if entry.port == port {
                (entry.seen, entry.unheard_until) = (now, Time::ZERO);
                if entry.claims > 0 {
                    refuted.extend(self.refute(|_, claim| {
                        claim.station().index == station && matches!(claim, Claim::Moved { .. })
                    }));
                }
                return Heard::Here(station);
            }
            let handle = self.slab.handle(station);
            let open = |(_, claim): &(Time, Claim)| {
                claim.station() == handle && matches!(claim, Claim::Moved { .. })
            };
            if self.slab[station].claims > 0 && self.claims.iter().any(open) {
                return Heard::Disputed;
            }
            return Heard::Elsewhere(station);
        }
        if !may_have(mac) {
            return Heard::Refused;
        }
        self.enter(now, mac, (switch, port)).map_or(Heard::Refused, Heard::New)
    }

    /// Enters a station that rules deliver to, with the number that it has in labels if that is given; `None` where it
    /// cannot be: it is known, or its number is another's, or there is no room for it without another having to go.
    pub fn adopt(
        &mut self,
        now: Time,
        mac: Mac,
        (switch, port): (u32, u32),
        number: Option<u32>,
    ) -> Option<u32> {
        let is_full = self.at_port(port).len() >= self.max_at_port;
        if is_full || !may_have(mac) || self.with_mac(mac).is_some() {
            return None;
        }
        let station = self.enter(now, mac, (switch, port))?;
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

    /// Rules say that a station is elsewhere. `false` where no other rules say that it is where it is known to be; otherwise
    /// it does not keep that place unheard.
    pub fn doubt(&mut self, station: u32) -> bool {
        let entry = &mut self.slab[station];
        entry.unheard_until = Time::ZERO;
        entry.is_found
    }

    /// Opens a claim. `false` where it cannot be: there are too many.
    pub fn claim(&mut self, now: Time, claim: Claim) -> bool {
        if self.claims.len() >= MAX_CLAIMS || self.claims.iter().any(|(_, open)| *open == claim) {
            return false;
        }
        self.slab[claim.station().index].claims += 1;
        self.claims.push_back((now + PROBE, claim));
        self.asked_once.push_back((now + PROBE_AGAIN, claim));
        true
    }

    /// When somebody is to be asked again, or the next claim holds if nobody contradicts.
    pub fn deadline(&self) -> Time {
        let fronts = [self.asked_once.front(), self.claims.front()].into_iter().flatten();
        fronts.map(|&(deadline, _)| deadline).min().unwrap_or(Time::MAX)
    }

    /// A claim about which its station, which is still there, is to be asked for the second time.
    pub fn ask_again(&mut self, now: Time) -> Option<Claim> {
        while let Some(&(due, claim)) = self.asked_once.front() {
            if due > now {
                return None;
            }
            self.asked_once.pop_front();
            if self.slab.find(claim.station()).is_some() && self.is_still_about(&claim) {
                return Some(claim);
            }
        }
        None
    }

    /// Whether the address that is claimed is its station's: another claim may have held meanwhile, and who has it now has
    /// not been asked.
    fn is_still_about(&self, claim: &Claim) -> bool {
        match *claim {
            Claim::Moved { .. } => true,
            Claim::Taken { station, address, .. } => self.with_address(address) == Some(station.index),
        }
    }

    /// A claim that nobody has contradicted in time.
    pub fn expire(&mut self, now: Time) -> Option<Claim> {
        while let Some(&(deadline, claim)) = self.claims.front() {
            if deadline > now {
                return None;
            }
            self.claims.pop_front();
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

    /// A station has shown that an address is its own: it is the last of the station's addresses to be pushed out, and
    /// claims on it end. Returns them.
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

    /// Moves a station to another port. `false` where there is no room for it.
    pub fn relocate(&mut self, now: Time, station: u32, (switch, port): (u32, u32)) -> bool {
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

    /// Notes an address that nobody has. The one not confirmed for longest goes where the station has too many.
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

    /// Gives an address to another station, if that is still there.
    pub fn reassign(&mut self, address: IpAddr, to: Handle) {
        self.remove_address(address);
        if self.slab.find(to).is_some() {
            self.add_address(to.index, address);
        }
    }

    /// Forgets whose an address is.
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

    /// Forgets a station that nobody uses.
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

    /// The bytes that the tables hold.
    pub fn bytes(&self) -> usize {
        self.slab.bytes() + self.by_mac.capacity() * 5 + self.by_address.capacity() * 29
    }

    fn enter(&mut self, now: Time, mac: Mac, (switch, port): (u32, u32)) -> Option<u32> {
        if !self.make_room(port) || self.slab.len() >= self.max {
            return None;
        }
        let number = self.number_at(switch)?;
        let station = self.slab.insert(Station {
            mac,
            port,
            switch,
            number,
            seen: now,
            unheard_until: Time::ZERO,
            is_found: false,
            addresses: SmallVec::new(),
            asked: false,
            installed: false,
            flows: [List::default(); 2],
            routes: List::default(),
            said: List::default(),
            claims: 0,
        });
        self.at_port[port as usize].push(station);
        let (slab, keyed) = (&self.slab, self.hash);
        self.by_mac.insert_unique(keyed.of(&mac), station, |&other| keyed.of(&slab[other].mac));
        Some(station)
    }

    /// Whether one more station may be at a port; of those that nobody uses the one not heard of for longest
    /// has to go if need be.
    fn make_room(&mut self, port: u32) -> bool {
        if self.at_port.len() <= port as usize {
            self.at_port.resize_with(port as usize + 1, Vec::new);
        }
        if self.at_port[port as usize].len() < self.max_at_port {
            return true;
        }
        let unused = self.at_port[port as usize].iter().filter(|&&station| !self.slab[station].is_used());
        let Some(oldest) = unused.min_by_key(|&&station| (self.slab[station].seen, station)).copied() else {
            return false;
        };
        let Station { switch, number, asked, .. } = self.slab[oldest];
        self.gone.push(Gone { switch, number, handle: self.slab.handle(oldest), asked });
        self.remove(oldest);
        true
    }

    fn number_at(&mut self, switch: u32) -> Option<u32> {
        if self.numbers.len() <= switch as usize {
            self.numbers.resize_with(switch as usize + 1, Numbers::default);
        }
        self.numbers[switch as usize].take(1, MAX_STATIONS)
    }

    fn leave_port(&mut self, station: u32) {
        let Station { port, switch, number, .. } = self.slab[station];
        self.at_port[port as usize].retain(|&other| other != station);
        self.numbers[switch as usize].give_back(number);
    }

    /// Nobody at a switch can be asked or heard any more: claims on what its stations have end.
    pub fn forget_claims_at(&mut self, switch: u32) {
        self.refute(|slab, claim| slab.find(claim.station()).is_some_and(|station| station.switch == switch));
    }

    fn refute(&mut self, which: impl Fn(&Slab<Station>, &Claim) -> bool) -> Vec<Claim> {
        let mut ended = Vec::new();
        self.asked_once.retain(|(_, claim)| !which(&self.slab, claim));
        let (slab, claims) = (&mut self.slab, &mut self.claims);
        claims.retain(|(_, claim)| {
            let refuted = which(slab, claim);
            if refuted {
                ended.push(*claim);
            }
            if refuted && slab.find(claim.station()).is_some() {
                slab[claim.station().index].claims -= 1;
            }
            !refuted
        });
        ended
    }
}

/// Whether a station may have a MAC address. Nobody may have the controller's: answers to its questions go there, and by
/// those a claim is contradicted.
fn may_have(mac: Mac) -> bool {
    !mac.is_group() && mac != Mac::default() && mac != MadeFrame::CONTROLLER && !Label::is_label(mac)
}
