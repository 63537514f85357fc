//! The state of the switch as JSON (docs/switchd.md).

use std::io;

use serde_json::{Map, Value, json};
use weft_units::PortId;
use weft_wire::Mac;

use super::ports::{Port, Role};
use super::switch::Switch;
use crate::clock;
use crate::layout::NEVER;
use crate::names::{path_class, station_class};
use crate::pins::Hook;
use crate::tables::Tables;
use crate::tags::daemon as tags;

/// Milliseconds until a time; negative if it has passed.
fn ms_until(time: u64, now: u64) -> i64 {
    (time as i64).wrapping_sub(now as i64) / 1_000_000
}

/// The switch as a whole.
pub fn status(switch: &Switch, given: tags::Sizes) -> Value {
    let sizes = switch.sizes;
    json!({
        "name": &*switch.config.name,
        "version": env!("CARGO_PKG_VERSION"),
        "mode": switch.config.mode.word(),
        "switch_id": format!("{:016x}", switch.hellos.id),
        "tier": switch.config.tier,
        "ports": switch.ports.len(),
        "hook": match switch.hook { Hook::Tcx => "tcx", Hook::Clsact => "clsact" },
        "adopted": switch.adopted,
        "up_s": (clock::now() - switch.started) / 1_000_000_000,
        "hello_interval_ms": switch.config.hello_interval.ps() / 1_000_000_000,
        "hello_hold_ms": switch.hellos.hold_ms,
        "hello_key": !switch.hellos.keys.is_empty(),
        "hello_keys": switch.hellos.keys.len(),
        "loops_found": switch.loops.found,
        "blocked_ports": switch.ports.iter().filter(|port| port.role == Role::Looped).count(),
        "pid": std::process::id(),
        "entries": {
            "hosts": sizes.stations, "repairs": sizes.repairs, "floods": sizes.floods, "paths": sizes.flows,
            "carried": sizes.carried, "members": sizes.groups, "rules": given.rules, "groups": given.groups, "gates": given.gates,
        },
    })
}

fn neighbour(port: &Port, now: u64) -> Value {
    port.neighbour.as_ref().map_or(Value::Null, |neighbour| {
        json!({
            "switch_id": format!("{:016x}", neighbour.switch),
            "port": neighbour.port,
            "tier": neighbour.tier,
            "heard_ms": -ms_until(neighbour.heard, now),
            "hold_ms": neighbour.hold_ms,
            "authenticated": neighbour.key.is_some(),
            "key": neighbour.key.map(|number| number + 1),
        })
    })
}

/// All ports.
pub fn ports(switch: &Switch) -> Value {
    let now = clock::now();
    let counters = switch.plane.port_counters().unwrap_or_default();
    let show = |(number, port): (usize, &Port)| {
        let counts = counters.get(number).copied().unwrap_or_default();
        let interface = port.interface.as_ref();
        json!({
            "port": number,
            "interface": port.name,
            "up": port.role != Role::Down,
            "carrier": interface.is_some_and(|interface| interface.up),
            "role": port.role,
            "way": format!("{:?}", port.way(switch.config.tier)).to_lowercase(),
            "last_resort": port.is_last_resort(),
            "role_ends_ms": (port.until < NEVER).then(|| ms_until(port.until, now)),
            "ifindex": interface.map(|interface| interface.index),
            "address": interface.map(|interface| interface.mac.to_string()),
            "mtu": interface.map(|interface| interface.mtu),
            "unfit": port.unfit,
            "may_be_fabric": port.may_be_fabric,
            "draining": port.draining,
            "loop": port.guard.other_end(now).map(|end| {
                json!({"switch_id": format!("{:016x}", end.switch), "port": end.port})
            }),
            "withdrawn_routes": switch.reach.withdrawn(PortId(number as u16)),
            "neighbour": neighbour(port, now),
            "hello_loss": port.loss.share(),
            "neighbour_misses": port.is_missed,
            "hellos_unsent": port.unsent.total(),
            "cannot_send": port.unsent.lasts(),
            "received_frames": counts.received,
            "received_bytes": counts.received_bytes,
            "sent_frames": counts.sent,
            "sent_bytes": counts.sent_bytes,
            "dropped_frames": counts.dropped,
            "too_long_frames": counts.too_long,
        })
    };
    switch.ports.iter().enumerate().map(show).collect()
}

/// The neighbouring switches.
pub fn neighbours(switch: &Switch) -> Value {
    let now = clock::now();
    let heard = switch.ports.iter().enumerate().filter(|(_, port)| port.neighbour.is_some());
    let show = |(number, port): (usize, &Port)| {
        let mut shown = neighbour(port, now);
        shown["here"] = json!({"port": number, "interface": port.name, "role": port.role});
        shown
    };
    heard.map(show).collect()
}

/// Counters of frames and Hellos.
pub fn counters(switch: &Switch) -> Value {
    let counters = switch.plane.counters().unwrap_or_default();
    let dropped: Map<String, Value> =
        counters.dropped.iter().map(|(reason, count)| (reason.name().to_owned(), (*count).into())).collect();
    let tags = switch.config.mode.has_gates().then(|| switch.plane.tag_counters().unwrap_or_default());
    let tags = tags.map(|tags| {
        json!({
            "lookups": tags.lookups, "misses": tags.misses, "pushed": tags.pushed, "popped": tags.popped,
            "forwarded": tags.forwarded, "tags_of_hosts": tags.tags_of_hosts,
        })
    });
    json!({
        "tags": tags,
        "forwarded": counters.forwarded,
        "consumed": counters.consumed,
        "dropped": dropped,
        "hello": {
            "sent": switch.hellos.sent,
            "heard": switch.hellos.heard,
            "refused": switch.hellos.refused,
        },
        "loops": {"found": switch.loops.found, "probes_sent": switch.loops.sent, "probes_heard": switch.loops.heard},
    })
}

/// Interface names by port number.
pub struct Names(Vec<String>);

impl Names {
    /// The names of a switch's ports.
    pub fn of(switch: &Switch) -> Self {
        Self(switch.ports.iter().map(|port| port.name.clone()).collect())
    }

    fn get(&self, number: u16) -> Option<&str> {
        self.0.get(usize::from(number)).map(String::as_str)
    }
}

/// The known stations, at most `limit`.
///
/// # Errors
/// The kernel's error.
pub fn hosts(names: &Names, tables: &Tables, limit: usize) -> io::Result<Value> {
    let now = clock::now();
    let (mut shown, mut total) = (Vec::new(), 0);
    tables.stations(now, |address, station| {
        total += 1;
        if shown.len() < limit {
            shown.push(json!({
                "station": Mac::from_bits(address).to_string(),
                "port": station.port,
                "interface": names.get(station.port),
                "class": station_class(station.class),
                "expires_ms": ms_until(station.expiry, now),
            }));
        }
    })?;
    Ok(json!({"total": total, "hosts": shown}))
}

/// The path entries of flows, at most `limit`.
///
/// # Errors
/// The kernel's error.
pub fn paths(names: &Names, tables: &Tables, limit: usize) -> io::Result<Value> {
    let now = clock::now();
    let (mut shown, mut total) = (Vec::new(), 0);
    tables.paths(now, |flow, path| {
        total += 1;
        if shown.len() < limit {
            let age = ((now / 1_000_000) as u32).wrapping_sub(path.made);
            shown.push(json!({
                "to": {"station": Mac::from_bits(flow.host >> 16).to_string(), "tcp_port": flow.host & 0xffff},
                "from": {"station": Mac::from_bits(flow.peer >> 16).to_string(), "tcp_port": flow.peer & 0xffff},
                "port": path.port,
                "interface": names.get(path.port),
                "class": path_class(path.class),
                "to_initiator": path.initiator != 0,
                "exploration": path.id,
                "age_ms": age,
                "expires_ms": ms_until(path.expiry, now),
            }));
        }
    })?;
    Ok(json!({"total": total, "paths": shown}))
}
