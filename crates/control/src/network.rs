//! [`Network`]: the network state common to all controllers.

use crate::clock::{Duration, Time};
use crate::command::{Command, FrameOut};
use crate::counters::Counters;
use crate::expected::Expected;
use crate::ids::{FrameRef, PortNo, SwitchId, SwitchPort};
use crate::list::List;
use crate::meter::Meter;
use crate::offences::{OffenceKind, Offences};
use crate::role::Role;
use crate::rule::RuleChange;
use crate::settings::Settings;
use crate::slab::grown;
use crate::stations::Stations;
use crate::topology::{Change, Topology};

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
    pub addresses: Meter,
    floods: Meter,
    relays: Meter,
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

    /// Records a blocked frame of a port.
    pub fn offend(&mut self, port: u32, kind: OffenceKind) {
        self.offences.add(self.topology.place(port), kind);
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

    /// Admits one more flood from `port`, or counts it as over the limit; returns whether it is admitted.
    pub fn admit_flood(&mut self, now: Time, port: u32) -> bool {
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
        if self.admit_flood(now, port) {
            self.send_to_hosts(now, port, FrameOut::Held(frame), out);
        }
        out.push(Command::Forget(frame));
    }

    /// Sends a frame out of all possible host ports except one.
    pub fn send_to_hosts(&self, now: Time, port: u32, frame: FrameOut, out: &mut Vec<Command>) {
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
