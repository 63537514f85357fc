//! [`Network`]: the network state common to all controllers, and how it learns where stations are.

use std::net::{IpAddr, Ipv6Addr};

use serde_json::{Value, json};
use weft_wire::Mac;

use crate::clock::{Duration, Time};
use crate::command::{Command, FrameOut, MadeFrame, Transaction};
use crate::counters::Counters;
use crate::expected::Expected;
use crate::ids::{FrameRef, PortNo, SwitchId, SwitchPort};
use crate::list::List;
use crate::meter::Meter;
use crate::offences::{OffenceKind, Offences};
use crate::packet::{Content, Packet};
use crate::rule::RuleChange;
use crate::settings::Settings;
use crate::slab::{Handle, grown};
use crate::stations::{Claim, Heard, PROBE, Station, Stations};
use crate::topology::{Change, Role, Topology};

/// Counters and limits of one port.
#[derive(Clone, Debug, Default)]
pub(crate) struct PortUse {
    /// Known flows opened there.
    pub flows: u32,
    /// Rules that these flows may have at one switch.
    pub rules: u32,
    /// Unconfirmed flows, the oldest first.
    pub unconfirmed: List,
    pub new_flows: Meter,
    pub evictions: Meter,
    addresses: Meter,
    floods: Meter,
    relays: Meter,
}

/// The sender of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sender {
    /// This station, at its known port.
    Known(u32),
    /// This station, which has moved to the frame's port.
    Moved(u32),
    /// No accepted station: the frame is dropped.
    Nobody,
}

/// Whether a station could contradict a claim to its address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Defence {
    /// Its port is up and can belong to a host: it can be probed, and its answer arrives if its switch is connected.
    /// A silent host at a disconnected switch can lose its addresses.
    Possible,
    /// It may still be there, but can neither be probed nor answer now.
    Impossible,
    /// Its port has just gone down. A MAC address moves to its next port immediately, but an IP address moves to another
    /// host only if the port stays down.
    Away,
    /// It cannot be at its port any more.
    Gone,
}

/// Switches, stations, settings and counters.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub settings: Settings,
    pub topology: Topology,
    pub stations: Stations,
    pub expected: Expected,
    pub counters: Counters,
    /// Blocked actions of hosts, for the log.
    pub offences: Offences,
    uses: Vec<PortUse>,
    /// Reason of the last failed install.
    pub last_failure: String,
}

/// Maximum number of a station's addresses probed when its MAC address is claimed: each causes an answer, and others
/// decide how often that happens.
const ASKED_BY: usize = 4;
/// How long a port must be down before its hosts can lose their IP addresses to others: longer than reseating a cable or
/// renegotiating the speed takes.
const AWAY: Duration = Duration::from_secs(1);
/// Frames per port and second that the controller relays to their station itself.
const RELAYS_PER_PORT_S: u32 = 1000;

impl Network {
    /// An empty network.
    pub fn new(settings: Settings) -> Self {
        let (limits, settle) = (&settings.limits, Duration::from_secs_f64(settings.settle_s));
        Self {
            topology: Topology::new(settle, limits.switches, limits.cables),
            stations: Stations::new(settings.hash_key, limits),
            expected: Expected::new(settings.fabric.as_ref()),
            counters: Counters::default(),
            offences: Offences::default(),
            uses: Vec::new(),
            last_failure: String::new(),
            settings,
        }
    }

    /// Counters and limits of a port.
    pub fn port_use(&mut self, port: u32) -> &mut PortUse {
        grown(&mut self.uses, port)
    }

    /// The port with the most unconfirmed flows.
    pub fn busiest_port(&self) -> Option<u32> {
        let busiest =
            (0..).zip(&self.uses).max_by_key(|(port, used)| (used.unconfirmed.len(), u32::MAX - port))?;
        (!busiest.1.unconfirmed.is_empty()).then_some(busiest.0)
    }

    /// Whether a switch is connected.
    pub fn is_up(&self, switch: u32) -> bool {
        self.topology.switches[switch as usize].up
    }

    /// Adds a rule change if the switch is connected.
    pub fn change(&self, rules: &mut Vec<(SwitchId, RuleChange)>, switch: u32, change: RuleChange) {
        let switch = &self.topology.switches[switch as usize];
        if switch.up {
            rules.push((switch.id, change));
        }
    }

    /// The ingress port of a frame, if it can be a host port.
    pub fn ingress(&mut self, now: Time, at: SwitchPort) -> Option<u32> {
        let port = self.topology.port_at(at);
        let Some(port) = port.filter(|&port| self.is_up(self.topology.ports[port as usize].switch)) else {
            self.counters.packet_ins_from_nowhere += 1;
            return None;
        };
        match self.topology.role(port, now) {
            Role::Host => return Some(port),
            Role::Switch => self.counters.packet_ins_from_switches += 1,
            Role::Down | Role::Settling | Role::Quarantine => self.counters.packet_ins_unsettled += 1,
        }
        None
    }

    /// The sender of a frame from a possible host port.
    pub fn hear(&mut self, now: Time, mac: Mac, port: u32, out: &mut Vec<Command>) -> Sender {
        let switch = self.topology.ports[port as usize].switch;
        let mut refuted = Vec::new();
        let heard = self.stations.hear(now, mac, (switch, port), &mut refuted);
        self.refuted(&refuted);
        match heard {
            Heard::Here(station) => return Sender::Known(station),
            Heard::New(station) => {
                self.counters.stations_new += 1;
                return Sender::Known(station);
            }
            Heard::Elsewhere(station) => {
                let defence = self.defence(now, station);
                if matches!(defence, Defence::Gone | Defence::Away) {
                    return Sender::Moved(station);
                }
                if defence == Defence::Impossible {
                    let at = self.topology.place(port);
                    self.offences.add_claim(at, OffenceKind::MovedUnasked, Some(mac), None);
                }
                let claim = Claim::Moved { station: self.stations.slab.handle(station), port, switch };
                self.counters.claims_disputed += 1;
                if defence == Defence::Possible
                    && self.may_learn(now, port)
                    && self.stations.claim(now, claim)
                {
                    self.ask_about(claim, out);
                }
            }
            Heard::Disputed => self.counters.claims_disputed += 1,
            Heard::Refused => self.counters.stations_refused += 1,
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
        let may_learn = self.may_learn(now, port);
        let Some(owner) = owner else {
            if may_learn {
                self.stations.add_address(station, address);
            }
            return true;
        };
        let defence = self.defence(now, owner);
        if defence == Defence::Gone {
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
        if self.may_flood(now, port) {
            self.send_to_hosts(now, port, FrameOut::Made(frame), out);
        }
    }

    /// Whether one more address may be learned at a port.
    fn may_learn(&mut self, now: Time, port: u32) -> bool {
        let rate = self.settings.limits.addresses_per_port_s;
        let may = self.port_use(port).addresses.take(now, rate, rate);
        if !may {
            self.counters.addresses_limited += 1;
            self.offend(port, OffenceKind::Addresses);
        }
        may
    }

    /// Records a blocked frame of a port.
    pub fn offend(&mut self, port: u32, kind: OffenceKind) {
        self.offences.add(self.topology.place(port), kind);
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
                (Claim::Taken { .. }, Defence::Possible | Defence::Gone) => true,
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
            Role::Down | Role::Switch => Defence::Gone,
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

    /// Sends a frame out of a station's port.
    pub fn send_to(&self, station: u32, frame: FrameOut, out: &mut Vec<Command>) {
        let at = self.topology.place(self.stations.slab[station].port);
        out.push(Command::PacketOut { switch: at.switch, in_port: None, ports: vec![at.port], frame });
    }

    /// Sends a frame from `port` to its station directly, bypassing the rules.
    pub fn relay(&mut self, now: Time, port: u32, station: u32, frame: FrameRef, out: &mut Vec<Command>) {
        let there = self.stations.slab[station].port;
        if there == port {
            self.counters.frames_filtered += 1;
        } else if self.port_use(port).relays.take(now, RELAYS_PER_PORT_S, RELAYS_PER_PORT_S / 10) {
            self.counters.frames_relayed += 1;
            self.send_to(station, FrameOut::Held(frame), out);
        } else {
            self.counters.frames_relay_limited += 1;
        }
        out.push(Command::Forget(frame));
    }

    /// Whether one more frame from `port` may be flooded.
    pub fn may_flood(&mut self, now: Time, port: u32) -> bool {
        let rate = self.settings.limits.floods_per_port_s;
        let may = self.port_use(port).floods.take(now, rate, rate);
        *(if may { &mut self.counters.floods } else { &mut self.counters.floods_limited }) += 1;
        if !may {
            self.offend(port, OffenceKind::Floods);
        }
        may
    }

    /// Sends a frame from `port` out of all other possible host ports.
    pub fn flood(&mut self, now: Time, port: u32, frame: FrameRef, out: &mut Vec<Command>) {
        if self.may_flood(now, port) {
            self.send_to_hosts(now, port, FrameOut::Held(frame), out);
        }
        out.push(Command::Forget(frame));
    }

    /// Sends a frame out of all possible host ports except one.
    fn send_to_hosts(&self, now: Time, port: u32, frame: FrameOut, out: &mut Vec<Command>) {
        for switch in self.topology.connected() {
            let entry = &self.topology.switches[switch as usize];
            let mut ports: Vec<PortNo> = Vec::new();
            for (&number, &other) in &entry.ports {
                if other != port && self.topology.role(other, now) == Role::Host {
                    ports.push(number);
                }
            }
            if !ports.is_empty() {
                out.push(Command::PacketOut { switch: entry.id, in_port: None, ports, frame });
            }
        }
    }

    /// Drops a frame that waited for rules, or for which no room to wait is left.
    pub fn drop_frame(&mut self, frame: FrameRef, out: &mut Vec<Command>) {
        self.counters.frames_dropped += 1;
        out.push(Command::Forget(frame));
    }

    /// Drops a frame to a station that no path reaches.
    pub fn drop_pathless(&mut self, frame: FrameRef, out: &mut Vec<Command>) {
        self.counters.frames_without_path += 1;
        out.push(Command::Forget(frame));
    }

    /// Counts a failed install and stores its reason.
    pub fn install_failed(&mut self, switch: SwitchId, reason: &str) {
        self.counters.installs_failed += 1;
        let name = if switch == SwitchId(0) { String::new() } else { self.expected.name(switch) + ": " };
        self.last_failure = name + &reason.chars().take(200).collect::<String>();
    }

    /// Counts links cut and made by a topology change.
    pub fn count(&mut self, change: &Change) {
        self.counters.cables_down += change.cut.len() as u64;
        self.counters.cables_up += u64::from(change.made);
    }

    /// Switches with their ports, and differences from the expected fabric.
    pub fn show_switches(&self, now: Time, limit: usize) -> Value {
        let switches = self.topology.known();
        let total = switches.len();
        let shown = switches.into_iter().take(limit).map(|switch| {
            let entry = &self.topology.switches[switch as usize];
            let ports = entry.ports.iter().map(|(number, &port)| {
                let to = self.topology.neighbour(port).map(|other| {
                    let at = self.topology.place(other);
                    json!({ "switch": self.expected.name(at.switch), "port": at.port.0 })
                });
                json!({ "port": number.0, "role": self.topology.role(port, now).name(), "to": to })
            });
            let stations: usize = entry.ports.values().map(|&port| self.stations.at_port(port).len()).sum();
            json!({
                "dpid": entry.id.0,
                "name": self.expected.name(entry.id),
                "up": entry.up,
                "ports": ports.collect::<Vec<_>>(),
                "stations": stations,
            })
        });
        let shown: Vec<Value> = shown.collect();
        let differences = self.expected.differences(&self.topology, self.settings.limits.differences);
        let failure = (!self.last_failure.is_empty()).then_some(&self.last_failure);
        json!({ "switches": shown, "total": total, "differences": differences, "last_failure": failure })
    }

    /// Stations and their locations.
    pub fn show_stations(&self, now: Time, limit: usize) -> Value {
        let shown = self.stations.slab.iter().take(limit).map(|(_, station)| {
            let at = self.topology.place(station.port);
            json!({
                "mac": station.mac.to_string(),
                "switch": self.expected.name(at.switch),
                "port": at.port.0,
                "addresses": station.addresses.iter().map(IpAddr::to_string).collect::<Vec<_>>(),
                "seen_s": now.saturating_since(station.seen).as_secs_f64(),
            })
        });
        json!({ "stations": shown.collect::<Vec<_>>(), "total": self.stations.slab.len() })
    }

    /// Counters and table sizes.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.counters.list();
        let differences = self.expected.differences(&self.topology, self.settings.limits.differences);
        counters.extend([
            ("switches_now", self.topology.connected().len() as u64),
            ("cables_now", self.topology.cables().count() as u64),
            ("stations_now", self.stations.slab.len() as u64),
            ("differences_now", differences.len() as u64),
        ]);
        counters
    }

    /// Memory of the tables in bytes.
    pub fn bytes(&self) -> usize {
        self.topology.bytes() + self.stations.bytes() + self.uses.capacity() * size_of::<PortUse>()
    }
}

/// Sends frames that waited for rules through them.
pub(crate) fn send_held(held: Vec<(SwitchPort, FrameRef)>, out: &mut Vec<Command>) {
    for (SwitchPort { switch, port }, frame) in held {
        let (in_port, ports) = (Some(port), vec![PortNo::TABLE]);
        out.push(Command::PacketOut { switch, in_port, ports, frame: FrameOut::Held(frame) });
        out.push(Command::Forget(frame));
    }
}

/// Queues rule changes without waiting for confirmation.
pub(crate) fn at_once(rules: Vec<(SwitchId, RuleChange)>, out: &mut Vec<Command>) {
    if !rules.is_empty() {
        out.push(Command::Install(Transaction { id: 0, rules, release: Vec::new() }));
    }
}
