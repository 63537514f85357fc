//! [`Topology`]: switches, their ports, and the links between them as seen by LLDP.
//!
//! A port leads to a switch if LLDP from it or to it was received. Every other port may be a host port, but
//! only once it has been up for a while without LLDP, and never if it led to a switch and has not been down
//! since: the link may have failed in one direction, and frames flooded into it may come back.

mod change;
mod elements;
mod events;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

pub(crate) use self::change::Change;
use self::elements::{Cable, Port, Switch};
use crate::clock::{Duration, Time};
use crate::ids::{PortNo, SwitchId, SwitchPort};
use crate::label::MAX_SWITCHES;
use crate::role::Role;
use crate::slab::NONE;

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
}

#[cfg(test)]
mod tests;
