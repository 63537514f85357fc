//! Probes of host ports: finding two of them that are connected outside the fabric, and blocking one
//! ([`weft_switching::loop_guard`]).

use weft_switching::loop_guard::{End, Finding, Probe};
use weft_wire::{EtherType, MIN_FRAME, SwitchId};

use super::ports::Role;
use super::switch::{Switch, Task};
use crate::layout::NEVER;

impl Role {
    /// Whether ports of this role send probes.
    pub(super) const fn probes(self) -> bool {
        matches!(self, Self::Listening | Self::Host | Self::Looped)
    }
}

impl Switch {
    /// A port as its probes name it.
    fn end(&self, number: u16) -> End {
        let may_be_fabric = self.ports[usize::from(number)].may_be_fabric;
        End { may_be_fabric, switch: self.hellos.id, port: number }
    }

    /// Sends the probes that are due at `now`; returns when the next ones are.
    pub fn probe(&mut self, now: u64) -> u64 {
        // Without floods there are no loops.
        if !self.config.mode.explores() {
            return NEVER;
        }
        let mut next = NEVER;
        for number in 0..self.ports.len() as u16 {
            let port = &mut self.ports[usize::from(number)];
            if !port.role.probes() || port.socket.is_none() {
                continue;
            }
            let is_due = port.guard.take_due(now);
            next = next.min(port.guard.next());
            if is_due {
                self.probe_on(number, now);
            }
        }
        next
    }

    pub(super) fn probe_on(&mut self, number: u16, now: u64) {
        let port = &self.ports[usize::from(number)];
        let (Some(interface), Some(socket)) = (&port.interface, &port.socket) else { return };
        let probe = weft_wire::Probe {
            switch: SwitchId(self.hellos.id),
            port: number,
            blocked: port.role == Role::Looped,
            hosts_only: !port.may_be_fabric,
        };
        let mut frame = [0; MIN_FRAME];
        // A probe has the shortest length of a frame.
        let _ = probe.write(interface.mac, EtherType::HELLO, self.hellos.keys.first(), &mut frame);
        self.loops.sent += 1;
        if let Err(error) = socket.send(&frame)
            && let Some(left_out) = self.log_limit.admit(number, "send a probe", now)
        {
            tracing::warn!(port = number, interface = %port.name, %error, left_out, "sending a probe failed");
        }
    }

    /// Handles a probe that arrived on a port.
    pub(super) fn hear_probe(&mut self, number: u16, probe: weft_wire::Probe, now: u64) -> Vec<Task> {
        let from = End { may_be_fabric: !probe.hosts_only, switch: probe.switch.0, port: probe.port };
        let own = self.end(number);
        let port = &mut self.ports[usize::from(number)];
        // Hello messages make a fabric link of two ports that may be fabric ports, as long as they are heard.
        let is_link = own.may_be_fabric && from.may_be_fabric && !port.role.probes();
        if port.role == Role::Down || !self.config.mode.explores() || is_link {
            return Vec::new();
        }
        self.loops.heard += 1;
        let (role, until) = (port.role, port.until);
        let finding = port.guard.hear(own, Probe { from, blocked: probe.blocked }, now);
        let blocked_until = port.guard.blocked_until();
        match finding {
            Finding::Nothing => {
                if let (Role::Looped, Some(blocked_until)) = (role, blocked_until) {
                    port.until = until.max(blocked_until);
                }
                Vec::new()
            }
            Finding::Answer => {
                self.probe_on(number, now);
                Vec::new()
            }
            Finding::Ask => {
                // In this order: at the other end of a fabric link, the Hello makes a fabric port first.
                self.greet_on(number, now);
                self.probe_on(number, now);
                Vec::new()
            }
            Finding::Blocks => {
                self.report_loop(number, from, true, now);
                let least = if role == Role::Looped { until } else { 0 };
                self.play(number, Role::Looped, blocked_until.unwrap_or(now).max(least), now);
                self.probe_on(number, now);
                // Entries learnt there came from the loop.
                if role == Role::Looped { Vec::new() } else { vec![Task::Broken(number)] }
            }
            // The switch receives its own Hello messages there, too, which it has logged.
            Finding::Spared if role == Role::Looped => Vec::new(),
            Finding::Spared => {
                self.report_loop(number, from, false, now);
                vec![Task::Broken(number)]
            }
            Finding::Released => {
                self.unblock(number, now);
                Vec::new()
            }
        }
    }

    fn report_loop(&mut self, number: u16, other: End, blocks: bool, now: u64) {
        self.loops.found += 1;
        let Some(left_out) = self.log_limit.admit(number, "loop", now) else { return };
        let (interface, id) = (&self.ports[usize::from(number)].name, SwitchId(self.hellos.id));
        let (other_switch, other_port) = (SwitchId(other.switch), other.port);
        let outcome = match blocks {
            true => "this port is blocked until the connection is gone",
            false => "the other port is blocked, and this one forwards",
        };
        tracing::warn!(
            switch = %id, port = number, %interface, %other_switch, other_port, left_out,
            "a loop: a cable or a bridge connects two host ports of the fabric; {outcome}"
        );
    }

    /// The role [`Role::Looped`] ends, unless probes still arrive.
    pub(super) fn end_loop(&mut self, number: u16, now: u64) {
        let port = &mut self.ports[usize::from(number)];
        if port.guard.expire(now) {
            self.unblock(number, now);
        } else if let Some(until) = port.guard.blocked_until() {
            port.until = until;
        } else {
            self.play(number, Role::Listening, now + self.hold(), now);
        }
    }

    /// The loop of a blocked port is gone, or the other end is blocked.
    fn unblock(&mut self, number: u16, now: u64) {
        if self.is_for_hosts(number, now) {
            self.play(number, Role::Host, NEVER, now);
        } else {
            self.play(number, Role::Listening, now + self.hold(), now);
        }
    }
}
