//! Reloads the configuration while the switch runs: completely, or not at all if a change needs a restart.

use weft_units::PortId;
use weft_wire::Key;

use super::interfaces::unfit;
use super::ports::Role;
use super::shared::Shared;
use super::switch::{Switch, Task};
use crate::clock;
use crate::config::Config;
use crate::error::PlaneError;
use crate::layout;

/// Reloads the configuration; returns the keys that have changed.
///
/// # Errors
/// Its errors, or the changes that need a restart; nothing is changed then.
pub async fn reload(shared: &Shared) -> Result<Vec<&'static str>, String> {
    let start = shared.0.start.clone();
    // Reading a file of many routes takes longer than a Hello interval.
    let read = tokio::task::spawn_blocking(move || Config::load(start.file.as_deref(), &start.flags));
    let new = read.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    let (changed, tasks) = {
        let mut switch = shared.lock();
        let changed = changes(&switch.config, &new)?;
        switch.check_tags(&new)?;
        switch.change(new).map_err(|error| error.to_string())?;
        (changed, switch.permit_all(clock::now()))
    };
    shared.happened(tasks);
    Ok(changed)
}

/// The changed keys, if all of them can change while the switch runs.
fn changes(old: &Config, new: &Config) -> Result<Vec<&'static str>, String> {
    let fixed = [
        ("name", old.name != new.name),
        ("mode", old.mode != new.mode),
        ("ports", old.ports != new.ports),
        ("switch_id", old.switch_id != new.switch_id),
        ("control", old.control != new.control),
        ("metrics", old.metrics != new.metrics),
        ("mtu", old.mtu != new.mtu),
        ("routes", old.uses_kernel != new.uses_kernel),
        ("[exploration]", old.scheme != new.scheme),
        ("[tags]", old.tagging != new.tagging),
    ];
    let fixed: Vec<&str> = fixed.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect();
    if !fixed.is_empty() {
        return Err(format!(
            "{}: needs a restart, which loses no frames (systemctl restart weft-switchd@{})",
            fixed.join(", "),
            old.name
        ));
    }
    let hello = |config: &Config| (config.hello_interval, config.hello_hold, config.announces_reach);
    let changed = [
        ("tier", old.tier != new.tier),
        ("fabric_ports", old.fabric_ports != new.fabric_ports),
        ("hello_keys", old.hello_keys != new.hello_keys),
        ("[hello]", hello(old) != hello(new)),
        ("routes", old.routes != new.routes),
        ("leaves", old.leaves != new.leaves),
    ];
    Ok(changed.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect())
}

impl Switch {
    /// Checks that tagged frames fit the MTU of the configured fabric ports that are in use.
    fn check_tags(&self, new: &Config) -> Result<(), String> {
        let carry = self.ports.iter().filter(|port| new.carries_tags(&port.name) && port.unfit.is_none());
        for interface in carry.filter_map(|port| port.interface.as_ref()) {
            if let Some(why) = unfit(interface, &[], new, true) {
                return Err(format!("the interface `{}` {why}", interface.name));
            }
        }
        Ok(())
    }

    /// Applies a configuration that differs only in keys that can change.
    ///
    /// # Errors
    /// The data plane could not be updated; nothing is changed then.
    fn change(&mut self, new: Config) -> Result<(), PlaneError> {
        // Everything that can fail comes first.
        let leaves = self.leaves.replaced_by(&new.leaves);
        let before = new.mode.routes().then(|| self.exchange_routes(&new, leaves)).transpose()?;
        if let Err(error) = self.tell_all(&new) {
            if let Some(before) = before {
                (self.reach, self.leaves) = (before.reach, before.leaves);
                if let Err(error) = self.set_routes() {
                    tracing::error!(%error, "restoring the routes failed");
                }
            }
            return Err(error);
        }
        self.hellos.tier = new.tier;
        self.hellos.hold_ms = u32::try_from(new.hello_hold.ps() / 1_000_000_000).unwrap_or(u32::MAX);
        self.hellos.keys = new.hello_keys.iter().map(|key| Key::new(key)).collect();
        self.config = new;
        Ok(())
    }

    /// Applies `fabric_ports` to all ports at `now`, and sends Hellos at once.
    fn permit_all(&mut self, now: u64) -> Vec<Task> {
        self.greeting.next = now;
        (0..self.ports.len() as u16).filter_map(|number| self.permit(number, now)).collect()
    }

    /// Updates the kernel entries of all ports for a new configuration, or of none.
    fn tell_all(&mut self, new: &Config) -> Result<(), PlaneError> {
        let mut changed = Vec::new();
        for (number, port) in (0..).map(PortId).zip(&self.ports) {
            let may_be_fabric = new.may_be_fabric(&port.name).into();
            let wanted = layout::Port { may_be_fabric, ..port.entry(new.tier, new.mode) };
            let before = self.plane.port(number);
            if let Err(error) = before.and_then(|before| {
                changed.push((number, before));
                self.plane.set_port(number, wanted)
            }) {
                for (number, before) in changed {
                    if let Err(error) = self.plane.set_port(number, before) {
                        tracing::error!(port = number.0, %error, "restoring a port failed");
                    }
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Applies `fabric_ports` to a port. A port removed from the list is treated as if it had just come up: it
    /// becomes a host port after the hold time.
    fn permit(&mut self, number: u16, now: u64) -> Option<Task> {
        let port = &mut self.ports[usize::from(number)];
        port.may_be_fabric = self.config.may_be_fabric(&port.name);
        port.is_left &= port.may_be_fabric;
        let leaves = !port.may_be_fabric && !matches!(port.role, Role::Down | Role::Listening | Role::Host);
        if leaves {
            (port.neighbour, port.adopted) = (None, None);
            port.guard.clear();
            port.carries_tags = false;
            self.play(number, Role::Listening, now + self.hold(), now);
        } else {
            // An interface that was never taken has carried no tags.
            port.carries_tags =
                self.config.carries_tags(&port.name) || (port.carries_tags && !port.is_untaken());
            self.tell(number);
        }
        leaves.then_some(Task::Broken(number))
    }
}
