//! Reading the configuration again while the switch runs: what can be changed is, what cannot is said. A reload takes
//! effect as a whole or not at all.

use weft_units::PortId;
use weft_wire::Key;

use super::Shared;
use super::interfaces::unfit;
use super::ports::Role;
use super::switch::{Switch, Task, told_routes};
use crate::clock;
use crate::config::Config;
use crate::error::PlaneError;
use crate::layout;

/// Reads the configuration again; gives the keys whose values are others now.
///
/// # Errors
/// What is wrong with it, or what would take a restart; nothing is changed then.
pub async fn reload(shared: &Shared) -> Result<Vec<&'static str>, String> {
    let start = shared.0.start.clone();
    // A file of many routes takes longer to read than two Hellos are apart.
    let read = tokio::task::spawn_blocking(move || Config::load(start.file.as_deref(), &start.flags));
    let new = read.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    let (changed, tasks) = {
        let mut switch = shared.lock();
        let changed = changes(&switch.config, &new)?;
        switch.check_tags(&new)?;
        (changed, switch.change(new).map_err(|error| error.to_string())?)
    };
    shared.happened(tasks);
    Ok(changed)
}

/// What differs, if all of it can be changed while the switch runs.
fn changes(old: &Config, new: &Config) -> Result<Vec<&'static str>, String> {
    let fixed = [
        ("name", old.name != new.name),
        ("mode", old.mode != new.mode),
        ("ports", old.ports != new.ports),
        ("switch_id", old.switch_id != new.switch_id),
        ("control", old.control != new.control),
        ("metrics", old.metrics != new.metrics),
        ("mtu", old.mtu != new.mtu),
        ("[exploration]", old.scheme != new.scheme),
        ("[tags]", old.tagging != new.tagging),
    ];
    let fixed: Vec<&str> = fixed.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect();
    if !fixed.is_empty() {
        return Err(format!(
            "{}: takes a restart, which loses no frame (systemctl restart weft-switchd@{})",
            fixed.join(", "),
            old.name
        ));
    }
    let changed = [
        ("tier", old.tier != new.tier),
        ("fabric_ports", old.fabric_ports != new.fabric_ports),
        ("hello_keys", old.hello_keys != new.hello_keys),
        ("[hello]", (old.hello_interval, old.hello_hold) != (new.hello_interval, new.hello_hold)),
        ("routes", old.routes != new.routes),
    ];
    Ok(changed.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect())
}

impl Switch {
    /// Makes sure that frames with tags fit on the ports that are to lead to switches.
    fn check_tags(&self, new: &Config) -> Result<(), String> {
        let carry = self.ports.iter().filter(|port| new.carries_tags(&port.name));
        for interface in carry.filter_map(|port| port.interface.as_ref()) {
            if let Some(why) = unfit(interface, &[], new, true) {
                return Err(format!("the interface `{}` {why}", interface.name));
            }
        }
        Ok(())
    }

    /// Goes by another configuration from now on, of which only what can be changed differs; gives what there is to do.
    ///
    /// # Errors
    /// The program could not be told; nothing is changed then.
    fn change(&mut self, new: Config) -> Result<Vec<Task>, PlaneError> {
        // First all that can fail.
        if new.mode.routes() {
            self.plane.set_routes(&told_routes(&new.routes))?;
        }
        if let Err(error) = self.tell_all(&new) {
            if new.mode.routes()
                && let Err(error) = self.set_routes()
            {
                tracing::error!(%error, "routes are not as they were");
            }
            return Err(error);
        }
        self.hellos.tier = new.tier;
        self.hellos.hold_ms = u32::try_from(new.hello_hold.ps() / 1_000_000_000).unwrap_or(u32::MAX);
        self.hellos.keys = new.hello_keys.iter().map(|key| Key::new(key)).collect();
        self.config = new;
        self.next_greeting = clock::now();
        let mut tasks = Vec::new();
        for number in 0..self.ports.len() as u16 {
            tasks.extend(self.permit(number));
        }
        Ok(tasks)
    }

    /// Tells the program of all ports as they are under another configuration, or of none.
    fn tell_all(&mut self, new: &Config) -> Result<(), PlaneError> {
        let mut told = Vec::new();
        for (number, port) in (0..).map(PortId).zip(&self.ports) {
            let may_be_fabric = new.may_be_fabric(&port.name).into();
            let wanted = layout::Port { may_be_fabric, ..port.told(new.tier, new.mode.has_gates()) };
            let before = self.plane.port(number);
            if let Err(error) = before.and_then(|before| {
                told.push((number, before));
                self.plane.set_port(number, wanted)
            }) {
                for (number, before) in told {
                    if let Err(error) = self.plane.set_port(number, before) {
                        tracing::error!(port = number.0, %error, "a port is not as it was");
                    }
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Has a port be a fabric port or not, as it is configured. One that may not be any more is as if it had just come
    /// up: a host port once it has listened for the hold time.
    fn permit(&mut self, number: u16) -> Option<Task> {
        let port = &mut self.ports[usize::from(number)];
        port.may_be_fabric = self.config.may_be_fabric(&port.name);
        let leaves = !port.may_be_fabric && !matches!(port.role, Role::Down | Role::Listening | Role::Host);
        if leaves {
            (port.neighbour, port.adopted) = (None, None);
            port.carries_tags = false;
            let until = clock::now() + self.hold();
            self.play(number, Role::Listening, until);
        } else {
            port.carries_tags |= self.config.carries_tags(&port.name);
            self.tell(number);
        }
        leaves.then_some(Task::Broken(number))
    }
}
