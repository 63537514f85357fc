//! [`Topology`]: switches, their ports, and the links between them as seen by LLDP.
//!
//! A port leads to a switch if LLDP from it or to it was received. Every other port may be a host port, but
//! only once it has been up for a while without LLDP, and never if it led to a switch and has not been down
//! since: the link may have failed in one direction, and frames flooded into it may come back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::clock::{Duration, Time};
use crate::ids::{PortNo, SwitchId, SwitchPort};
use crate::label::MAX_SWITCHES;
use crate::role::Role;
use crate::slab::NONE;

/// Maximum number of ports over all switches.
const MAX_PORTS: usize = 1 << 16;

/// A switch that is or was connected.
#[derive(Clone, Debug)]
pub(crate) struct Switch {
    pub id: SwitchId,
    /// Its number in labels.
    pub label: u32,
    /// Whether it is connected.
    pub up: bool,
    /// Its ports, including those that are down.
    pub ports: BTreeMap<PortNo, u32>,
}

/// A port.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    pub switch: u32,
    pub number: PortNo,
    pub up: bool,
    /// When it last came up or went down.
    since: Time,
    /// The port where LLDP from here was received.
    reaches: u32,
    /// The port whose LLDP was received here.
    hears: u32,
    /// Whether it has led to a switch since it came up.
    led_to_switch: bool,
    /// Whether rules found in switches send labels out of it, so that it must have led to a switch.
    kept: bool,
    /// The link, if seen in both directions.
    pub cable: u32,
}

/// A link between two switches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cable {
    /// Its ports, that of the lower datapath id first.
    pub ends: [u32; 2],
}

/// Changes that users of the topology must react to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Change {
    /// Ports that came, went, or started or stopped leading to a switch.
    pub ports: Vec<u32>,
    /// Links that are gone.
    pub cut: Vec<u32>,
    /// The number of new links.
    pub made: u32,
    /// Whether paths may have changed.
    pub paths: bool,
}

/// Switches, ports and links.
#[derive(Clone, Debug, Default)]
pub(crate) struct Topology {
    pub switches: Vec<Switch>,
    pub ports: Vec<Port>,
    /// Links by number; numbers are never reused.
    cables: BTreeMap<u32, Cable>,
    next_cable: u32,
    by_id: FxHashMap<SwitchId, u32>,
    settle: Duration,
    max_switches: usize,
    max_cables: usize,
    /// For each switch, whether [`Topology::is_wired`]; computed once per change.
    wired: OnceLock<Vec<bool>>,
}

impl Topology {
    /// An empty topology.
    pub fn new(settle: Duration, max_switches: usize, max_cables: usize) -> Self {
        Self { settle, max_switches, max_cables, ..Self::default() }
    }

    /// A switch has connected with these ports up. `None` if there are too many switches.
    pub fn switch_up(&mut self, now: Time, id: SwitchId, numbers: &[PortNo]) -> Option<(u32, Change)> {
        let switch = match self.by_id.get(&id) {
            Some(&switch) => switch,
            None if self.switches.len() < self.max_switches => {
                let switch = self.switches.len() as u32;
                self.switches.push(Switch { id, label: NONE, up: false, ports: BTreeMap::new() });
                self.by_id.insert(id, switch);
                switch
            }
            None => return None,
        };
        let mut change = Change { paths: true, ..Change::default() };
        self.switches[switch as usize].up = true;
        self.wired.take();
        let known = self.switches[switch as usize].ports.iter();
        let gone = known.filter(|(number, _)| !numbers.contains(number)).map(|(_, &port)| port);
        for port in gone.collect::<Vec<_>>() {
            self.set_port(now, port, false, &mut change);
        }
        for &number in numbers {
            if let Some(port) = self.port_or_new(switch, number) {
                self.set_port(now, port, true, &mut change);
                change.ports.push(port);
            }
        }
        change.ports.sort_unstable();
        change.ports.dedup();
        Some((switch, change))
    }

    /// The connection to a switch is lost; `None` if there was none.
    pub fn switch_down(&mut self, id: SwitchId) -> Option<u32> {
        let switch = self.switch(id)?;
        let was_up = std::mem::take(&mut self.switches[switch as usize].up);
        self.wired.take();
        was_up.then_some(switch)
    }

    /// Whether links that are up lead from a switch to a connected one, possibly through other disconnected switches:
    /// then it presumably still forwards.
    pub fn is_wired(&self, switch: u32) -> bool {
        self.wired.get_or_init(|| self.reached())[switch as usize]
    }

    /// For each switch, whether links lead there from a connected one.
    fn reached(&self) -> Vec<bool> {
        let mut reached: Vec<bool> = self.switches.iter().map(|switch| switch.up).collect();
        let mut next: Vec<usize> = (0..reached.len()).filter(|&at| reached[at]).collect();
        while let Some(at) = next.pop() {
            for &port in self.switches[at].ports.values() {
                let cable = self.ports[port as usize].cable;
                if cable == NONE {
                    continue;
                }
                for end in self.cable(cable).ends {
                    let far = self.ports[end as usize].switch as usize;
                    if !std::mem::replace(&mut reached[far], true) {
                        next.push(far);
                    }
                }
            }
        }
        reached
    }

    /// A port has come up or gone down.
    pub fn port_changed(&mut self, now: Time, at: SwitchPort, up: bool) -> Change {
        let mut change = Change::default();
        if let Some(switch) = self.switch(at.switch)
            && let Some(port) = self.port_or_new(switch, at.port)
        {
            self.set_port(now, port, up, &mut change);
        }
        change
    }

    /// Frames sent on one port arrive at the other, or no longer do.
    pub fn link_changed(&mut self, from: SwitchPort, to: SwitchPort, up: bool) -> Change {
        if up { self.link_up(from, to) } else { self.link_down(from, to) }
    }

    /// Frames sent on one port arrive at the other.
    fn link_up(&mut self, from: SwitchPort, to: SwitchPort) -> Change {
        let mut change = Change::default();
        let (Some(from), Some(to)) = (self.port_at(from), self.port_at(to)) else { return change };
        let up = |port: u32| self.ports[port as usize].up;
        if self.ports[from as usize].reaches == to || from == to || !up(from) || !up(to) {
            return change;
        }
        // A port has one neighbour: drop the previous one.
        self.part(from, &mut change);
        match self.ports[to as usize].hears {
            NONE => {}
            before => self.part(before, &mut change),
        }
        self.ports[from as usize].reaches = to;
        self.ports[to as usize].hears = from;
        (self.ports[from as usize].kept, self.ports[to as usize].kept) = (false, false);
        change.ports.extend([from, to]);
        if self.ports[to as usize].reaches == from {
            change.made += u32::from(self.connect(from, to));
            change.paths = true;
        }
        change
    }

    /// Frames sent on one port no longer arrive at the other. This is ignored for links of a disconnected switch, which
    /// cannot report the LLDP frames it receives.
    fn link_down(&mut self, from: SwitchPort, to: SwitchPort) -> Change {
        let mut change = Change::default();
        if let (Some(from), Some(to)) = (self.port_at(from), self.port_at(to))
            && self.ports[from as usize].reaches == to
            && [from, to].iter().all(|&port| self.is_connected(port))
        {
            self.part(from, &mut change);
        }
        change
    }

    /// The number of a switch.
    pub fn switch(&self, id: SwitchId) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    /// The number of a port.
    pub fn port_at(&self, at: SwitchPort) -> Option<u32> {
        self.switches[self.switch(at.switch)? as usize].ports.get(&at.port).copied()
    }

    /// The switch and port number of a port.
    pub fn place(&self, port: u32) -> SwitchPort {
        let port = &self.ports[port as usize];
        SwitchPort { switch: self.switches[port.switch as usize].id, port: port.number }
    }

    /// The role of a port.
    pub fn role(&self, port: u32, now: Time) -> Role {
        let port = &self.ports[port as usize];
        if !port.up {
            Role::Down
        } else if port.reaches != NONE || port.hears != NONE {
            Role::Switch
        } else if port.led_to_switch {
            Role::Quarantine
        } else if port.kept || now < port.since + self.settle {
            Role::Settling
        } else {
            Role::Host
        }
    }

    /// Whether a port has come up or gone down within the last `span`.
    pub fn has_just_changed(&self, port: u32, now: Time, span: Duration) -> bool {
        now < self.ports[port as usize].since + span
    }

    /// Whether the switch of a port is connected.
    fn is_connected(&self, port: u32) -> bool {
        self.switches[self.ports[port as usize].switch as usize].up
    }

    /// Whether a port leads to a switch.
    pub fn leads_to_switch(&self, port: u32) -> bool {
        let port = &self.ports[port as usize];
        port.reaches != NONE || port.hears != NONE
    }

    /// The port at the other end of a link seen in at least one direction.
    pub fn neighbour(&self, port: u32) -> Option<u32> {
        let port = &self.ports[port as usize];
        [port.reaches, port.hears].into_iter().find(|&other| other != NONE)
    }

    /// An existing link.
    pub fn cable(&self, cable: u32) -> Cable {
        self.cables[&cable]
    }

    /// The port of a link at one of its switches.
    pub fn end_at(&self, cable: u32, switch: u32) -> PortNo {
        let ends = self.cable(cable).ends.map(|port| &self.ports[port as usize]);
        if ends[0].switch == switch { ends[0].number } else { ends[1].number }
    }

    /// The links, by number.
    pub fn cables(&self) -> impl Iterator<Item = (u32, Cable)> {
        self.cables.iter().map(|(&number, &cable)| (number, cable))
    }

    /// Gives a switch without one its number in labels: `wanted` if free, otherwise a number that is the same in every run
    /// as far as possible.
    pub fn give_label(&mut self, switch: u32, wanted: Option<u32>) {
        if self.switches[switch as usize].label != NONE {
            return;
        }
        let taken: BTreeSet<u32> = self.switches.iter().map(|switch| switch.label).collect();
        let first = (self.switches[switch as usize].id.0 % u64::from(MAX_SWITCHES)) as u32;
        let usual = (0..MAX_SWITCHES).map(|step| (first + step) % MAX_SWITCHES);
        let mut numbers = wanted.into_iter().chain(usual);
        self.switches[switch as usize].label =
            numbers.find(|number| *number < MAX_SWITCHES && !taken.contains(number)).unwrap_or(NONE);
    }

    /// Rules send labels out of a port: it is not a host port until it goes down or [`Topology::give_up`] is called.
    pub fn keep(&mut self, port: u32) {
        self.ports[port as usize].kept = self.ports[port as usize].up && !self.leads_to_switch(port);
    }

    /// Whether a port is kept for rules that send labels out of it.
    pub fn is_kept(&self, port: u32) -> bool {
        self.ports[port as usize].kept
    }

    /// The kept ports that have not turned out to lead to a switch.
    pub fn kept(&self) -> Vec<u32> {
        (0..).zip(&self.ports).filter(|(_, port)| port.kept).map(|(number, _)| number).collect()
    }

    /// Allows a kept port to be a host port.
    pub fn give_up(&mut self, port: u32) {
        self.ports[port as usize].kept = false;
    }

    /// The connected switches, in datapath id order.
    pub fn connected(&self) -> Vec<u32> {
        let mut connected = self.known();
        connected.retain(|&switch| self.switches[switch as usize].up);
        connected
    }

    /// The switches that are or were connected, in datapath id order: a disconnected one still forwards.
    pub fn known(&self) -> Vec<u32> {
        let mut known: Vec<u32> = (0..self.switches.len() as u32).collect();
        known.sort_unstable_by_key(|&switch| self.switches[switch as usize].id);
        known
    }

    /// Memory of the tables in bytes.
    pub fn bytes(&self) -> usize {
        self.ports.capacity() * (size_of::<Port>() + 16) + self.cables.len() * 16
    }

    fn port_or_new(&mut self, switch: u32, number: PortNo) -> Option<u32> {
        let ports = &self.switches[switch as usize].ports;
        if let Some(&port) = ports.get(&number) {
            return Some(port);
        }
        if !number.is_real() || self.ports.len() == MAX_PORTS {
            return None;
        }
        let port = self.ports.len() as u32;
        self.ports.push(Port {
            switch,
            number,
            up: false,
            since: Time::ZERO,
            reaches: NONE,
            hears: NONE,
            led_to_switch: false,
            kept: false,
            cable: NONE,
        });
        self.switches[switch as usize].ports.insert(number, port);
        Some(port)
    }

    fn set_port(&mut self, now: Time, port: u32, up: bool, change: &mut Change) {
        let entry = &mut self.ports[port as usize];
        if entry.up == up {
            return;
        }
        change.ports.push(port);
        entry.since = now;
        if up {
            entry.up = true;
            return;
        }
        let hears = entry.hears;
        self.part(port, change);
        if hears != NONE {
            self.part(hears, change);
        }
        let entry = &mut self.ports[port as usize];
        (entry.up, entry.led_to_switch, entry.kept) = (false, false, false);
    }

    /// Frames from `from` no longer arrive at the other end.
    fn part(&mut self, from: u32, change: &mut Change) {
        let to = std::mem::replace(&mut self.ports[from as usize].reaches, NONE);
        if to == NONE {
            return;
        }
        self.ports[to as usize].hears = NONE;
        for port in [from, to] {
            self.ports[port as usize].led_to_switch = true;
            change.ports.push(port);
        }
        let cable = std::mem::replace(&mut self.ports[from as usize].cable, NONE);
        if cable != NONE {
            self.ports[to as usize].cable = NONE;
            self.cables.remove(&cable);
            self.wired.take();
            change.cut.push(cable);
            change.paths = true;
        }
    }

    /// Adds a link; `false` if there are too many.
    fn connect(&mut self, a: u32, b: u32) -> bool {
        let mut ends = [a, b];
        ends.sort_unstable_by_key(|&port| self.place(port));
        if self.cables.len() >= self.max_cables {
            return false;
        }
        let number = self.next_cable;
        self.next_cable += 1;
        self.cables.insert(number, Cable { ends });
        self.wired.take();
        self.ports[a as usize].cable = number;
        self.ports[b as usize].cable = number;
        true
    }
}

#[cfg(test)]
mod tests;
