//! How ports follow their interfaces, which come and go, go up and down, and are renamed.

use std::sync::Arc;

use weft_units::PortId;

use super::interfaces::unfit;
use super::links::{Event, Interface};
use super::listed::Listed;
use super::ports::{Port, Role};
use super::socket::PortSocket;
use super::switch::{Switch, Task};
use crate::detach::detach;
use crate::layout::NEVER;
use crate::sys::ifname;

impl Switch {
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
        let port = &mut self.ports[usize::from(number)];
        if port.socket.is_none() {
            // Not taken yet: it may be fit now.
            port.interface = Some(interface);
            tasks.push(Task::Appeared(number));
            return tasks;
        }
        let why = unfit(&interface, all, &self.config, port.carries_tags);
        let up = interface.up && why.is_none();
        let leaves = interface.up && why.is_some() && port.role.has_neighbour();
        let is_resized = port.interface.as_ref().is_some_and(|known| known.mtu != interface.mtu);
        port.interface = Some(interface);
        if is_resized {
            self.tell(number);
        }
        if leaves {
            // The carrier stays: the neighbour would send frames here until its hold time ends.
            self.say(number, 0, now);
        }
        match why {
            Some(why) => self.reject(number, why),
            None => self.ports[usize::from(number)].unfit = None,
        }
        tasks.extend(self.set_up(number, up, now));
        tasks
    }

    /// The switch starts without an interface that is missing or cannot be a port.
    pub(super) fn start_without(&mut self, number: u16, listed: Listed) {
        match listed {
            Listed::Missing(hint) => tracing::warn!(
                port = number, interface = %self.ports[usize::from(number)].name, hint,
                "there is no interface of this name: the switch starts without it and takes it when it appears"
            ),
            Listed::Unfit(interface, why) => {
                self.ports[usize::from(number)].interface = Some(interface);
                self.reject(number, why);
            }
            Listed::Fit(_) => {}
        }
        self.tell(number);
    }

    /// The port's interface cannot be used; logs each reason once.
    pub fn reject(&mut self, number: u16, why: String) {
        let port = &mut self.ports[usize::from(number)];
        if port.unfit.as_ref() != Some(&why) {
            tracing::error!(
                port = number, interface = %port.name,
                "the port is not used until this is mended: the interface {why}"
            );
        }
        port.unfit = Some(why);
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
        port.unfit = None;
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

    /// Handles a port that goes up or down.
    fn set_up(&mut self, number: u16, up: bool, now: u64) -> Vec<Task> {
        let port = &mut self.ports[usize::from(number)];
        let was_up = port.role != Role::Down;
        if up == was_up {
            return Vec::new();
        }
        if up {
            let certain_from = now + self.hold();
            let port = &mut self.ports[usize::from(number)];
            let listens_until = port.guard.came_up(now);
            port.certain_from = certain_from;
            match (listens_until, self.is_for_hosts(number, now)) {
                // The cable of a loop may have been plugged in again.
                (Some(until), true) => self.play(number, Role::Listening, until, now),
                (None, true) => self.play(number, Role::Host, NEVER, now),
                (_, false) => self.play(number, Role::Listening, self.listens_until(number, now), now),
            }
            self.greet_on(number, now);
            return Vec::new();
        }
        port.neighbour = None;
        port.loss.forget();
        port.unsent.forget();
        port.is_missed = false;
        port.guard.went_down(now);
        self.play(number, Role::Down, NEVER, now);
        if let Err(error) = self.plane.refill(PortId(number)) {
            tracing::error!(port = number, %error, "updating the limits of a port failed");
        }
        vec![Task::Broken(number)]
    }

    /// Until when a port that has just come up waits for a Hello: a hold time, but if its neighbour has never been known,
    /// only until a hold time after start.
    fn listens_until(&self, number: u16, now: u64) -> u64 {
        let since = match self.ports[usize::from(number)].led_to {
            None => self.reads_since.min(now),
            Some(_) => now,
        };
        since + self.hold()
    }

    /// Whether a port that has just come up is a host port at once: a host announces itself only once (gratuitous ARP,
    /// Duplicate Address Detection, the first DHCP DISCOVER), and a bridge forwards that. A port that led to a switch
    /// waits for a Hello, and so does every port until a hold time after start, when all switches may be starting.
    pub(super) fn is_for_hosts(&self, number: u16, now: u64) -> bool {
        let port = &self.ports[usize::from(number)];
        match port.led_to {
            _ if !port.may_be_fabric => true,
            Some(led_to) => led_to == Role::Host,
            None => now >= self.reads_since.saturating_add(self.hold()),
        }
    }

    fn number_of(&self, index: u32) -> Option<u16> {
        let of = |port: &Port| port.interface.as_ref().is_some_and(|interface| interface.index == index);
        self.ports.iter().position(of).map(|at| at as u16)
    }
}
