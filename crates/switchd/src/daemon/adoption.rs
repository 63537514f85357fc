//! Takes over the state of the previous daemon, and removes its leftovers.

use std::path::PathBuf;

use weft_units::PortId;

use super::links::Interface;
use super::ports::{Port, Role};
use super::refusal::Refusal;
use super::switch::Switch;
use crate::clock;
use crate::detach::detach;
use crate::layout::{self, MAX_PORTS, NEVER};
use crate::pins::Hook;

/// Leftovers of the previous daemon.
pub struct Leftovers {
    /// Port numbers that now belong to another interface, or to none.
    others: Vec<u16>,
    /// Attachments to remove: hook, interface and pin.
    attachments: Vec<(Hook, String, PathBuf)>,
}

/// Takes over the port roles of the previous daemon. Nothing is changed outside this process.
pub fn adopt(switch: &mut Switch, interfaces: &[Interface]) -> Result<Leftovers, Refusal> {
    let now = clock::now();
    let hold = switch.config.hello_hold.ps() / 1000;
    let mut left = Leftovers { others: Vec::new(), attachments: Vec::new() };
    for (hook, number, name, path) in switch.pins.attachments()? {
        let ours = switch.config.ports.get(usize::from(number)) == Some(&name);
        if !ours {
            left.others.push(number);
        }
        // Under another port number it is moved when the program is attached; with another hook it is removed.
        if hook != switch.hook || !switch.config.ports.contains(&name) {
            left.attachments.push((hook, name, path));
        } else if ours {
            switch.adopted = true;
        }
    }
    for (number, interface) in interfaces.iter().enumerate() {
        let before = switch.plane.port(PortId(number as u16))?;
        let carries_tags = switch.config.carries_tags(&interface.name);
        let tags = switch.config.mode.tags();
        let port = &mut switch.ports[number];
        port.interface = Some(interface.clone());
        port.carries_tags = carries_tags;
        if before.ifindex != interface.index || !interface.up {
            continue;
        }
        if let Some(role) = Port::role_in(&before).filter(|role| *role != Role::Fabric || port.may_be_fabric)
        {
            port.role = role;
            port.led_to = role.leads_to();
            port.carries_tags |= tags && role == Role::Fabric;
            port.draining = role == Role::Fabric && before.up == 0;
            port.until = if role == Role::Fabric { now + hold } else { NEVER };
            port.adopted = Some(before);
        }
    }
    Ok(left)
}

/// Removes the leftovers of the previous daemon once the new program forwards; returns the port numbers that now
/// belong to another interface, or to none.
pub fn settle(switch: &mut Switch, interfaces: &[Interface], left: Leftovers) -> Result<Vec<u16>, Refusal> {
    for (hook, name, path) in left.attachments {
        tracing::info!(interface = name, ?hook, path = %path.display(), "detached the program of the previous daemon");
        detach(hook, &name, &path)?;
    }
    for (index, _) in switch.plane.interfaces()? {
        if !interfaces.iter().any(|interface| interface.index == index) {
            switch.plane.set_interface(index, None)?;
        }
    }
    let empty = layout::Port::decided(false, false);
    for number in interfaces.len()..usize::from(MAX_PORTS) {
        if switch.plane.port(PortId(number as u16))? != empty {
            switch.plane.set_port(PortId(number as u16), empty)?;
        }
    }
    Ok(left.others)
}
