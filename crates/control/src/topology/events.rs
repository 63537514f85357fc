//! The events that change a [`Topology`]: switches and ports that come and go, and the links that LLDP shows.

use std::collections::BTreeMap;

use super::Topology;
use super::change::Change;
use super::elements::{Cable, Port, Switch};
use crate::clock::Time;
use crate::ids::{PortNo, SwitchId, SwitchPort};
use crate::slab::NONE;

/// Maximum number of ports over all switches.
const MAX_PORTS: usize = 1 << 16;

impl Topology {
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
    pub(super) fn link_up(&mut self, from: SwitchPort, to: SwitchPort) -> Change {
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
    pub(super) fn link_down(&mut self, from: SwitchPort, to: SwitchPort) -> Change {
        let mut change = Change::default();
        if let (Some(from), Some(to)) = (self.port_at(from), self.port_at(to))
            && self.ports[from as usize].reaches == to
            && [from, to].iter().all(|&port| self.is_connected(port))
        {
            self.part(from, &mut change);
        }
        change
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
