//! Handling of received and of missing Hello messages by a [`Switch`].

use super::delivery::Delivery;
use super::hello::Accepted;
use super::hold::is_late;
use super::ports::{Neighbour, Port, Role};
use super::switch::{Switch, Task};
use crate::layout::NEVER;
use weft_switching::Unreached;
use weft_units::PortId;
use weft_wire::Mac;

impl Switch {
    /// Handles a frame with the EtherType of Hello that was read at `now`.
    pub fn hear(&mut self, number: u16, frame: &[u8], now: u64) -> Vec<Task> {
        match self.hellos.read_probe(frame) {
            None => self.hear_hello(number, frame, now),
            Some(Ok(probe)) => self.hear_probe(number, probe, now),
            Some(Err(reason)) => {
                if let Some(left_out) = self.log_limit.admit(number, reason, now) {
                    tracing::warn!(port = number, interface = %self.ports[usize::from(number)].name, reason, left_out, "a probe was refused");
                }
                Vec::new()
            }
        }
    }

    fn hear_hello(&mut self, number: u16, frame: &[u8], now: u64) -> Vec<Task> {
        let port = &mut self.ports[usize::from(number)];
        if port.role == Role::Down {
            return Vec::new();
        }
        let Accepted { hello, reach, key } = match self.hellos.read(frame, port.may_be_fabric) {
            Ok(read) => read,
            Err(reason) => {
                if reason == "replay" && self.is_late(number, frame) {
                    return Vec::new();
                }
                let was_host = self.ports[usize::from(number)].role == Role::Host;
                if reason == "own" {
                    // A link between two of our ports, or a device that reflects our Hellos.
                    self.play(number, Role::Looped, now + self.hold(), now);
                } else {
                    self.distrust(number, now);
                }
                if let Some(left_out) = self.log_limit.admit(number, reason, now) {
                    tracing::warn!(port = number, interface = %self.ports[usize::from(number)].name, reason, left_out, "a Hello was refused");
                }
                // Entries learnt there came from the loop.
                let looped = was_host && reason == "own";
                return if looped { vec![Task::Broken(number)] } else { Vec::new() };
            }
        };
        self.hear_number(number, &hello, now);
        let port = &mut self.ports[usize::from(number)];
        // The neighbour of a blocked port must have heard this switch before Hello messages count.
        if port.guard.blocked_by().is_some()
            && (hello.echo.is_none() || !self.hellos.is_heard_by(&hello, number))
        {
            return Vec::new();
        }
        let (was_fabric, was_heard) = (port.role.has_neighbour(), port.role == Role::Fabric);
        let was_host = port.role == Role::Host;
        port.delivery = Delivery::default();
        let (tier, hold_ms) = (hello.tier, hello.hold_ms);
        let hold = u64::from(hold_ms) * 1_000_000;
        if hold_ms == 0 {
            // The neighbour withdraws: treat the port as if it had just come up.
            self.ports[usize::from(number)].neighbour = None;
            self.play(number, Role::Listening, now + self.hold(), now);
            return if was_fabric { vec![Task::Broken(number)] } else { Vec::new() };
        }
        let mac = frame.get(6..12).and_then(|mac| mac.try_into().ok()).map(Mac).unwrap_or_default();
        let neighbour =
            Neighbour { switch: hello.switch.0, port: hello.port, mac, tier, hold_ms, heard: now, key };
        let is_heard = self.hellos.is_heard_by(&hello, number);
        let reach = reach.map(Unreached::from);
        let has_restarted = hello.echo.is_none() && port.role == Role::OneWay && now < port.one_way_until;
        let port = &mut self.ports[usize::from(number)];
        let other = port.neighbour.as_ref().map(|known| (known.switch, known.tier));
        port.neighbour = Some(neighbour);
        port.until = now + hold;
        if has_restarted {
            // It does not know yet.
            return Vec::new();
        }
        // A daemon that goes on after a pause first reads what neighbours said meanwhile.
        let is_late = is_late(now.saturating_sub(self.due), hold);
        if !is_heard && !is_late && now >= port.certain_from {
            port.one_way_until = now + 2 * hold;
            return self.hear_one_way(number, now);
        }
        port.is_answered |= is_heard && (hello.echo.is_some() || now >= port.certain_from);
        if other.is_some_and(|(switch, _)| switch != hello.switch.0) {
            self.reach.forget(PortId(number));
        }
        if !was_heard || other != Some((hello.switch.0, tier)) {
            let until = port.until;
            if was_fabric
                && other.is_some_and(|(switch, _)| switch != hello.switch.0)
                && let Some(left_out) = self.log_limit.admit(number, "another switch", now)
            {
                tracing::warn!(port = number, switch = %hello.switch, left_out, "another switch is behind a port");
            }
            self.play(number, Role::Fabric, until, now);
        }
        if !was_heard {
            // It may have missed our Hello: its carrier, or its daemon, has just come up.
            self.greet_on(number, now);
        }
        self.tell_router(number);
        self.hear_reach(number, reach);
        self.notices.tell(number, &self.ports[usize::from(number)]);
        let mut tasks = self.need_room_for_tags(number, now);
        if was_host {
            // Stations learnt as hosts on this port are behind the switch.
            tasks.push(Task::Broken(number));
        }
        tasks
    }

    /// The neighbour does not hear this switch, or refuses its Hello messages. It is told at once that it is heard: it may just
    /// have come up.
    fn hear_one_way(&mut self, number: u16, now: u64) -> Vec<Task> {
        let port = &self.ports[usize::from(number)];
        let (role, until) = (port.role, port.until);
        if role == Role::OneWay {
            return Vec::new();
        }
        if role.is_fabric()
            && let Some(left_out) = self.log_limit.admit(number, "one-way", now)
        {
            tracing::warn!(
                port = number, interface = %port.name, left_out,
                "the neighbour accepts no Hello of this switch: the link works in one direction only, or keys or fabric_ports \
                 of the neighbour differ; the port carries nothing"
            );
        }
        self.play(number, Role::OneWay, until, now);
        self.greet_on(number, now);
        self.notices.tell(number, &self.ports[usize::from(number)]);
        // Stations learnt as hosts on this port are behind the switch.
        if role.is_fabric() || role == Role::Host { vec![Task::Broken(number)] } else { Vec::new() }
    }

    /// A switch is behind the port: checks that tagged frames fit.
    fn need_room_for_tags(&mut self, number: u16, now: u64) -> Vec<Task> {
        let port = &mut self.ports[usize::from(number)];
        if !self.config.mode.tags() || port.carries_tags {
            return Vec::new();
        }
        port.carries_tags = true;
        match port.interface.clone() {
            Some(interface) => self.see(number, interface, &[], now),
            None => Vec::new(),
        }
    }

    /// Ends roles that have expired at `now`; returns the resulting tasks, and when the next role expires.
    pub fn expire(&mut self, now: u64) -> (Vec<Task>, u64) {
        self.forgive(now);
        let mut tasks = Vec::new();
        for number in 0..self.ports.len() as u16 {
            let port = &self.ports[usize::from(number)];
            match port.role {
                Role::Fabric | Role::Unheard | Role::Silent => tasks.extend(self.attend(number, now)),
                _ if port.until > now => {}
                Role::Listening => self.play(number, Role::Host, NEVER, now),
                Role::Looped => self.end_loop(number, now),
                Role::OneWay => tasks.extend(self.give_up(number, now)),
                Role::Down | Role::Host => self.ports[usize::from(number)].until = NEVER,
            }
        }
        (tasks, self.ports.iter().map(Port::next).min().unwrap_or(NEVER))
    }
}
