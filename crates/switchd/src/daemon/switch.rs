//! [`Switch`]: the state of the daemon and its reactions to events. Nothing here blocks.

use std::sync::Arc;

use weft_switching::Unreached;
use weft_switching::leaf_routes::LeafRoutes;
use weft_switching::reachability::Reachability;
use weft_units::PortId;

use super::hello::{Hellos, Said, Schedule};
use super::log_limit::LogLimit;
use super::loop_counts::LoopCounts;
use super::notices::Notices;
use super::peers::Peers;
use super::ports::{Port, Role};
use super::throttle::Throttle;
use super::unrouted::Unrouted;
use crate::attach::Undo;
use crate::clock;
use crate::config::Config;
use crate::error::PlaneError;
use crate::held::Held;
use crate::pins::{Hook, Pins};
use crate::plane::Plane;
use crate::tables::Sizes;

/// A running switch.
pub struct Switch {
    /// Its configuration.
    pub config: Config,
    /// The program and its maps.
    pub plane: Plane,
    /// Table sizes at the last sweep.
    pub sizes: Sizes,
    /// The pins, which outlive the daemon.
    pub pins: Pins,
    /// Descriptors of all pinned objects, to restore removed pins.
    pub held: Held,
    /// How often pins and programs had to be restored.
    pub restored: Restored,
    /// How the program is attached.
    pub hook: Hook,
    /// Its ports, by number.
    pub ports: Vec<Port>,
    /// The state of Hello.
    pub hellos: Hellos,
    /// Loops outside the fabric.
    pub loops: LoopCounts,
    /// The rate limit of logs.
    pub log_limit: LogLimit,
    /// Notifications about ports.
    pub notices: Notices,
    /// When Hellos are sent.
    pub greeting: Schedule,
    /// The routes, in modes with routes.
    pub reach: Reachability,
    /// The routes to leaves, which a routing daemon finds.
    pub leaves: LeafRoutes,
    /// The machines at the ends of links, if a routing daemon runs beside the switch.
    pub peers: Peers,
    /// The smallest MTU of fabric ports, as last written for the program; 0: not written yet.
    pub wrapped_mtu: u32,
    /// Leaves without a route, and which of them were logged.
    pub unrouted: Unrouted,
    /// Whether it is taken down: neighbours have been told, so it says nothing more.
    pub is_gone: bool,
    /// How often the routes may change.
    pub throttle: Throttle,
    /// When the daemon should wake up next.
    pub due: u64,
    /// When it started.
    pub started: u64,
    /// Since when it reads Hello messages, or [`NEVER`].
    pub reads_since: u64,
    /// When it started, in nanoseconds since 1970.
    pub started_since_1970: u64,
    /// Whether it took over the state of an earlier daemon.
    pub adopted: bool,
}

/// How often pins and programs had to be restored since the daemon started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Restored {
    /// Pins restored.
    pub pins: u64,
    /// Programs reattached.
    pub programs: u64,
    /// Checks that found a pin or an attachment that could not be restored.
    pub failures: u64,
}

/// Work that follows from an event and may block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Task {
    /// The port has an interface: attach the program, set it up and read its Hellos.
    Appeared(u16),
    /// Reroute everything that uses the port.
    Broken(u16),
    /// Move flows off the port, whose link loses frames.
    Left(u16),
    /// List all interfaces again.
    LookAgain,
}

impl Switch {
    /// The hold time of this switch's Hellos, in ns.
    pub fn hold(&self) -> u64 {
        self.config.hello_hold.ps() / 1000
    }

    /// Writes the port's entry to the kernel, and notifies clients.
    pub fn tell(&mut self, number: u16) {
        self.tell_longest();
        let entry = self.ports[usize::from(number)].entry(self.config.tier, self.config.mode);
        if let Err(error) = self.plane.set_port(PortId(number), entry) {
            tracing::error!(port = number, %error, "updating a port in the data plane failed");
        }
        self.notices.tell(number, &self.ports[usize::from(number)]);
        self.tell_router(number);
        self.see_ports();
    }

    /// Sets the role of a port at `now`.
    pub fn play(&mut self, number: u16, role: Role, until: u64, now: u64) {
        let port = &mut self.ports[usize::from(number)];
        port.until = until;
        port.led_to = role.leads_to().or(port.led_to);
        if role == Role::Fabric {
            port.guard.clear();
        }
        port.is_answered &= role.has_neighbour();
        let led_to_switch = port.role.leads_to() == Some(Role::Fabric);
        port.is_left = port.may_be_fabric && !role.has_neighbour() && (port.is_left || led_to_switch);
        if port.role != role {
            port.role = role;
            let named = &port.name;
            if let Some(left_out) = self.log_limit.admit(number, role.name(), now) {
                tracing::info!(port = number, interface = %named, role = ?role, left_out, "role of a port");
            }
        }
        self.tell(number);
    }

    /// Sets whether the port takes no new paths.
    pub fn set_draining(&mut self, number: u16, draining: bool) {
        self.ports[usize::from(number)].draining = draining;
        self.tell(number);
    }

    /// Attaches the program to the interface of a port; returns how to undo it.
    ///
    /// # Errors
    /// [`PlaneError`].
    pub fn attach(&mut self, number: u16) -> Result<Undo, PlaneError> {
        let name = self.ports[usize::from(number)].name.clone();
        let undo = self.plane.attach(&self.pins, self.hook, number, &name)?;
        self.held.renew(&self.pins.attachment(self.hook, number, &name));
        Ok(undo)
    }

    /// Warns of frames that do not fit the link of a port.
    pub fn tell_of_long_frames(&mut self, now: u64) {
        let Ok(counts) = self.plane.port_counters() else { return };
        for (number, (port, counts)) in (0_u16..).zip(self.ports.iter_mut().zip(counts)) {
            let known = *port.too_long.get_or_insert(counts.too_long);
            let frames = counts.too_long.saturating_sub(known);
            if frames > 0
                && let Some(left_out) = self.log_limit.admit(number, "too long", now)
            {
                port.too_long = Some(counts.too_long);
                let mtu = port.interface.as_ref().map(|interface| interface.mtu);
                tracing::warn!(
                    port = number, interface = %port.name, mtu, frames, left_out,
                    "frames longer than the MTU of the interface are dropped: hosts send larger packets than `mtu` in the \
                     configuration says; raise the MTU of this link and `mtu`, or lower that of the hosts"
                );
            }
        }
    }

    /// Warns once per port that GSO frames arrive, which cannot be tagged.
    pub fn tell_of_gso(&mut self) {
        if !self.config.mode.tags() {
            return;
        }
        let Ok(counts) = self.plane.port_counters() else { return };
        for (number, (port, counts)) in (0_u16..).zip(self.ports.iter_mut().zip(counts)) {
            if counts.gso > 0 && !port.sends_gso {
                port.sends_gso = true;
                tracing::warn!(
                    port = number,
                    interface = %port.name,
                    frames = counts.gso,
                    "the port receives frames with several segments (GSO), which are dropped if they need a tag: turn off \
                     segmentation offload on the host (ethtool -K <interface> tso off gso off)"
                );
            }
        }
    }

    /// Sends Hellos on all ports that are up, if they are due; returns when the next ones are.
    pub fn greet(&mut self, now: u64) -> u64 {
        if self.greeting.take_due(now, self.config.hello_interval.ps() / 1000) {
            for number in 0..self.ports.len() as u16 {
                self.greet_on(number, now);
            }
        }
        self.greeting.next
    }

    pub(super) fn greet_on(&mut self, number: u16, now: u64) {
        self.say(number, self.hellos.hold_ms, now);
    }

    /// Sends a Hello on a port that is up; a hold time of 0 withdraws the adjacency.
    pub fn say(&mut self, number: u16, hold_ms: u32, now: u64) {
        let port = &self.ports[usize::from(number)];
        let (Some(interface), Some(socket)) = (&port.interface, &port.socket) else { return };
        let (source, socket) = (interface.mac, Arc::clone(socket));
        if port.role == Role::Down || (self.is_gone && hold_ms > 0) {
            return;
        }
        let announces = self.config.mode.routes()
            && self.config.announces_reach
            && port.role.has_neighbour()
            && hold_ms > 0;
        let parts: Vec<Option<&Unreached>> = match announces {
            true => self.reach.parts().iter().map(Some).collect(),
            false => vec![None],
        };
        let (hold, mut has_changed, mut has_left) = (self.config.hello_hold.ps() / 1000, false, false);
        // All parts have one number: how many there are depends on the stations that are not reached.
        let hello_number = self.ports[usize::from(number)].numbers.get();
        for part in parts {
            let port = &mut self.ports[usize::from(number)];
            let said = Said {
                port: number,
                hold_ms,
                echo: port.echo(now),
                reach: part.map(Unreached::reach),
                number: hello_number,
                misses: port.loss.is_lossy(),
            };
            let frame = self.hellos.frame(source, said, clock::since_1970());
            let sent = socket.send(&frame);
            has_left |= sent.is_ok();
            has_changed |= port.unsent.note(sent.is_ok(), now, hold);
            if let Err(error) = sent
                && let Some(left_out) = self.log_limit.admit(number, "send", now)
            {
                tracing::warn!(port = number, interface = %port.name, %error, left_out, "sending a Hello failed");
            }
        }
        if has_left {
            self.ports[usize::from(number)].numbers.advance();
        }
        if has_changed {
            self.tell(number);
        }
    }
}
