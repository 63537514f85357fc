//! Reading the configuration again while the switch runs: what can be changed is, what cannot is said.

use weft_wire::Key;

use super::Shared;
use crate::config::Config;

/// Reads the configuration again; gives the keys whose values are others now.
///
/// # Errors
/// What is wrong with it, or what would take a restart; nothing is changed then.
pub fn reload(shared: &Shared) -> Result<Vec<&'static str>, String> {
    let start = &shared.0.start;
    let new = Config::load(start.file.as_deref(), &start.flags).map_err(|error| error.to_string())?;
    let mut switch = shared.lock();
    let old = &switch.config;
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
        let keys = fixed.join(", ");
        return Err(format!(
            "{keys}: takes a restart, which loses no frame (systemctl restart weft-switchd@{})",
            old.name
        ));
    }
    let changed = [
        ("tier", old.tier != new.tier),
        ("fabric_ports", old.fabric_ports != new.fabric_ports),
        ("hello_key", old.hello_key != new.hello_key),
        ("[hello]", (old.hello_interval, old.hello_hold) != (new.hello_interval, new.hello_hold)),
        ("routes", old.routes != new.routes),
    ];
    switch.hellos.tier = new.tier;
    switch.hellos.hold_ms = u32::try_from(new.hello_hold.ps() / 1_000_000_000).unwrap_or(u32::MAX);
    switch.hellos.key = new.hello_key.as_deref().map(Key::new);
    switch.config = new;
    for number in 0..switch.ports.len() as u16 {
        let port = &switch.ports[usize::from(number)];
        let may_be_fabric = switch.config.may_be_fabric(&port.name);
        switch.ports[usize::from(number)].may_be_fabric = may_be_fabric;
        switch.tell(number);
    }
    switch.set_routes().map_err(|error| error.to_string())?;
    switch.next_greeting = crate::clock::now();
    drop(switch);
    shared.0.changed.notify_one();
    Ok(changed.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect())
}
