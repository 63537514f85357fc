//! [`Switch`]: the state of the daemon and its reactions to events. Nothing here blocks.

use std::sync::Arc;

use weft_units::PortId;

use super::hello::{Hellos, Schedule};
use super::interfaces::unfit;
use super::links::{Event, Interface};
use super::log_limit::LogLimit;
use super::notices::Notices;
use super::ports::{Port, Role};
use super::socket::PortSocket;
use crate::attach::Undo;
use crate::clock;
use crate::config::{Config, Route};
use crate::detach::detach;
use crate::error::PlaneError;
use crate::held::Held;
use crate::layout::{self, NEVER};
use crate::pins::{Hook, Pins};
use crate::plane::Plane;
use crate::sys::ifname;
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
    /// The rate limit of logs.
    pub log_limit: LogLimit,
    /// Notifications about ports.
    pub notices: Notices,
    /// When Hellos are sent.
    pub greeting: Schedule,
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
        let entry = self.ports[usize::from(number)].entry(self.config.tier, self.config.mode.has_gates());
        if let Err(error) = self.plane.set_port(PortId(number), entry) {
            tracing::error!(port = number, %error, "updating a port in the data plane failed");
        }
        self.notices.tell(number, &self.ports[usize::from(number)]);
    }

    /// Sets the role of a port at `now`.
    pub fn play(&mut self, number: u16, role: Role, until: u64, now: u64) {
        let port = &mut self.ports[usize::from(number)];
        port.until = until;
        port.led_to = role.leads_to().or(port.led_to);
        if port.role != role {
            port.role = role;
            let named = &port.name;
            if let Some(left_out) = self.log_limit.admit(number, role.name(), now) {
                tracing::info!(port = number, interface = %named, role = ?role, left_out, "role of a port");
            }
        }
        self.tell(number);
    }

    /// Handles a port that goes up or down.
    fn set_up(&mut self, number: u16, up: bool, now: u64) -> Vec<Task> {
        let port = &mut self.ports[usize::from(number)];
        let was_up = port.role != Role::Down;
        if up == was_up {
            return Vec::new();
        }
        if up {
            self.ports[usize::from(number)].silent_from = now + self.hold();
            match self.is_for_hosts(number, now) {
                true => self.play(number, Role::Host, NEVER, now),
                false => self.play(number, Role::Listening, now + self.hold(), now),
            }
            self.greet_on(number, now);
            return Vec::new();
        }
        port.neighbour = None;
        self.play(number, Role::Down, NEVER, now);
        vec![Task::Broken(number)]
    }

    /// Whether a port that has just come up is a host port at once: a host announces itself only once (gratuitous ARP,
    /// Duplicate Address Detection, the first DHCP DISCOVER), and a bridge forwards that. A port that led to a switch
    /// waits for a Hello, and so does every port until a hold time after start, when all switches may be starting.
    fn is_for_hosts(&self, number: u16, now: u64) -> bool {
        let port = &self.ports[usize::from(number)];
        match port.led_to {
            _ if !port.may_be_fabric => true,
            Some(led_to) => led_to == Role::Host,
            None => now >= self.reads_since.saturating_add(self.hold()),
        }
    }

    /// Handles an interface event.
    pub fn link(&mut self, event: Event, all: &[Interface], now: u64) -> Vec<Task> {
        let mut tasks = Vec::new();
        match event {
            Event::Missed => tasks.push(Task::LookAgain),
            Event::Gone(index) => {
                if let Some(number) = self.number_of(index) {
                    tasks.extend(self.lose(number, now));
                }
            }
            Event::Is(interface) => {
                let known = self.number_of(interface.index);
                let named =
                    self.ports.iter().position(|port| port.name == interface.name).map(|at| at as u16);
                if let Some(number) = known
                    && named != known
                {
                    tracing::warn!(
                        port = number,
                        now = interface.name,
                        "the interface of a port was renamed"
                    );
                    tasks.extend(self.lose(number, now));
                }
                if let Some(number) = named {
                    tasks.extend(self.see(number, interface, all, now));
                }
            }
        }
        tasks
    }

    /// Applies the current state of a port's interface.
    pub(super) fn see(
        &mut self,
        number: u16,
        interface: Interface,
        all: &[Interface],
        now: u64,
    ) -> Vec<Task> {
        let mut tasks = Vec::new();
        let port = &mut self.ports[usize::from(number)];
        let same = port.interface.as_ref().is_some_and(|known| known.index == interface.index);
        if !same {
            if port.interface.is_some() {
                tasks.extend(self.lose(number, now));
            }
            let port = &mut self.ports[usize::from(number)];
            port.interface = Some(interface);
            tasks.push(Task::Appeared(number));
            return tasks;
        }
        let port = &self.ports[usize::from(number)];
        let why = unfit(&interface, all, &self.config, port.carries_tags);
        let port = &mut self.ports[usize::from(number)];
        if let Some(why) = why.as_ref().filter(|_| port.unfit != why) {
            tracing::error!(port = number, interface = %port.name, "the port is not used: the interface {why}");
        }
        let up = interface.up && why.is_none() && port.socket.is_some();
        port.unfit = why;
        port.interface = Some(interface);
        tasks.extend(self.set_up(number, up, now));
        tasks
    }

    /// The port has lost its interface.
    fn lose(&mut self, number: u16, now: u64) -> Vec<Task> {
        let tasks = self.set_up(number, false, now);
        let port = &mut self.ports[usize::from(number)];
        let name = port.name.clone();
        tracing::warn!(port = number, interface = %name, "the interface of a port is gone");
        if let Some(reader) = port.reader.take() {
            reader.abort();
        }
        port.socket = None;
        port.carries_tags = self.config.carries_tags(&name);
        let mut called = name.clone();
        if let Some(interface) = port.interface.take() {
            let _ = self.plane.set_interface(interface.index, None);
            // A renamed interface belongs to the machine again: the program must be detached.
            called = ifname(interface.index).unwrap_or(called);
        }
        let path = self.pins.attachment(self.hook, number, &name);
        if path.exists()
            && let Err(error) = detach(self.hook, &called, &path)
        {
            tracing::debug!(%error, "detaching from an interface that is gone");
        }
        self.held.renew(&path);
        self.tell(number);
        tasks
    }

    /// Writes the configured routes to the kernel, in modes with routes.
    ///
    /// # Errors
    /// [`PlaneError`].
    pub fn set_routes(&mut self) -> Result<(), PlaneError> {
        match self.config.mode.routes() {
            true => self.plane.set_routes(&route_entries(&self.config.routes)),
            false => Ok(()),
        }
    }

    /// Sets whether the port takes no new paths.
    pub fn set_draining(&mut self, number: u16, draining: bool) {
        self.ports[usize::from(number)].draining = draining;
        self.tell(number);
    }

    /// The program is attached to the port's interface, and its socket is open.
    pub fn appeared(
        &mut self,
        number: u16,
        socket: Arc<PortSocket>,
        all: &[Interface],
        now: u64,
    ) -> Vec<Task> {
        let port = &mut self.ports[usize::from(number)];
        port.socket = Some(socket);
        let Some(interface) = port.interface.clone() else { return Vec::new() };
        if let Err(error) = self.plane.set_interface(interface.index, Some(PortId(number))) {
            tracing::error!(port = number, %error, "updating an interface in the data plane failed");
        }
        self.tell(number);
        self.see(number, interface, all, now)
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

    fn number_of(&self, index: u32) -> Option<u16> {
        let of = |port: &Port| port.interface.as_ref().is_some_and(|interface| interface.index == index);
        self.ports.iter().position(of).map(|at| at as u16)
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
        if port.role == Role::Down {
            return;
        }
        let frame = self.hellos.frame(interface.mac, number, hold_ms, port.echo(now), clock::since_1970());
        if let Err(error) = socket.send(&frame)
            && let Some(left_out) = self.log_limit.admit(number, "send", now)
        {
            tracing::warn!(port = number, interface = %port.name, %error, left_out, "sending a Hello failed");
        }
    }
}

/// Routes in the format of the kernel map.
pub fn route_entries(routes: &[Route]) -> Vec<(u64, layout::Route)> {
    let route = |route: &Route| {
        let ports = route.ports.iter().map(|port| u16::from(*port));
        (route.station.bits(), layout::Route::new(ports))
    };
    routes.iter().map(route).collect()
}
