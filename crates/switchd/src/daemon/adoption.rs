//! Takes over the state of the previous daemon, and removes its leftovers.

use std::path::PathBuf;

use weft_units::PortId;

use super::links::Interface;
use super::places::Places;
use super::ports::{Port, Role};
use super::refusal::Refusal;
use super::switch::Switch;
use crate::clock;
use crate::config::Config;
use crate::detach::detach;
use crate::layout::{self, MAX_PORTS, NEVER};
use crate::pins::{Hook, Pins};
use crate::sys::ifname;

/// Leftovers of the previous daemon.
pub struct Leftovers {
    /// Port numbers that now belong to another listed interface, or to none.
    pub others: Vec<u16>,
    /// Ports that were lost while no daemon ran: the interface is missing, new or down.
    pub lost: Vec<u16>,
    /// Attachments to remove: hook, interface and pin.
    attachments: Vec<(Hook, String, PathBuf)>,
}

/// The interface indices of the ports under the previous daemon, by port number.
pub fn known_before(places: &Places, config: &Config) -> Vec<Option<u32>> {
    let map = Pins::of(&places.pins, &config.name).map("ports");
    let ports = aya::maps::MapData::from_pin(map).ok().and_then(|data| {
        aya::maps::Array::<_, crate::layout::Port>::try_from(aya::maps::Map::Array(data)).ok()
    });
    let index = |number: usize| {
        let port = ports.as_ref()?.get(&(number as u32), 0).ok()?;
        (port.ifindex > 0).then_some(port.ifindex)
    };
    (0..config.ports.len()).map(index).collect()
}

/// Takes over the port roles of the previous daemon; `interfaces` are those that exist, by port number. Nothing is changed
/// outside this process.
pub fn adopt(switch: &mut Switch, interfaces: &[Option<Interface>]) -> Result<Leftovers, Refusal> {
    let now = clock::now();
    let hold = switch.config.hello_hold.ps() / 1000;
    let mut left = Leftovers { others: Vec::new(), lost: Vec::new(), attachments: Vec::new() };
    for (hook, number, name, path) in switch.pins.attachments()? {
        let ours = switch.config.ports.get(usize::from(number)) == Some(&name);
        if !ours {
            left.others.push(number);
        }
        let listed = switch.config.ports.iter().position(|port| *port == name);
        let exists = listed.is_some_and(|at| interfaces[at].is_some());
        // Under another port number it is moved when the program is attached; with another hook it is removed.
        if hook != switch.hook || !exists {
            let before = switch.plane.port(PortId(number))?.ifindex;
            left.attachments.push((hook, called_now(name, before, exists), path));
        }
        switch.adopted |= hook == switch.hook && ours;
    }
    for (number, interface) in (0..).zip(interfaces) {
        let before = switch.plane.port(PortId(number))?;
        let tags = switch.config.mode.tags();
        let port = &mut switch.ports[usize::from(number)];
        port.interface.clone_from(interface);
        port.carries_tags = switch.config.carries_tags(&port.name);
        if left.others.contains(&number) || before.ifindex == 0 {
            continue;
        }
        let role = Port::role_in(&before).filter(|role| *role != Role::Fabric || port.may_be_fabric);
        port.led_to = role.and_then(Role::leads_to);
        let led_to_switch = port.led_to == Some(Role::Fabric) || before.last_resort != 0;
        port.is_left |= port.may_be_fabric && led_to_switch;
        let is_same = |interface: &Interface| interface.index == before.ifindex && interface.up;
        if !interface.as_ref().is_some_and(is_same) {
            left.lost.push(number);
            continue;
        }
        if role.is_none() && before.up != 0 {
            port.guard.was_blocked(now);
        }
        if let Some(role) = role {
            port.role = role;
            port.carries_tags |= tags && role == Role::Fabric;
            port.draining = role == Role::Fabric && before.up == 0;
            port.until = if role == Role::Fabric { now + hold } else { NEVER };
            port.adopted = Some(before);
        }
    }
    Ok(left)
}

/// The name of an interface that had the index `before`: a renamed one still has the program attached.
fn called_now(name: String, before: u32, exists: bool) -> String {
    match exists || before == 0 {
        true => name,
        false => ifname(before).unwrap_or(name),
    }
}

/// Removes the attachments and kernel entries that the previous daemon left behind, once the new program forwards.
pub fn settle(
    switch: &mut Switch,
    interfaces: &[Option<Interface>],
    left: &Leftovers,
) -> Result<(), Refusal> {
    for (hook, name, path) in &left.attachments {
        tracing::info!(interface = name, ?hook, path = %path.display(), "detached the program of the previous daemon");
        detach(*hook, name, path)?;
    }
    for (index, _) in switch.plane.interfaces()? {
        if !interfaces.iter().flatten().any(|interface| interface.index == index) {
            switch.plane.set_interface(index, None)?;
        }
    }
    let empty = layout::Port::decided(false, false);
    for number in interfaces.len()..usize::from(MAX_PORTS) {
        if switch.plane.port(PortId(number as u16))? != empty {
            switch.plane.set_port(PortId(number as u16), empty)?;
        }
    }
    Ok(())
}
