//! Network state that a controller shows: switches and stations.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::clock::Time;
use crate::network::Network;

/// Switches with their ports, and differences from the expected fabric.
pub(crate) fn switches(net: &Network, now: Time, limit: usize) -> Value {
    let switches = net.topology.known();
    let total = switches.len();
    let shown = switches.into_iter().take(limit).map(|switch| {
        let entry = &net.topology.switches[switch as usize];
        let ports = entry.ports.iter().map(|(number, &port)| {
            let to = net.topology.neighbour(port).map(|other| {
                let at = net.topology.place(other);
                json!({ "switch": net.expected.name(at.switch), "port": at.port.0 })
            });
            json!({ "port": number.0, "role": net.topology.role(port, now).name(), "to": to })
        });
        let stations: usize = entry.ports.values().map(|&port| net.stations.at_port(port).len()).sum();
        json!({
            "dpid": entry.id.0,
            "name": net.expected.name(entry.id),
            "up": entry.up,
            "ports": ports.collect::<Vec<_>>(),
            "stations": stations,
        })
    });
    let shown: Vec<Value> = shown.collect();
    let differences = net.expected.differences(&net.topology, net.settings.limits.differences);
    let failure = (!net.last_failure.is_empty()).then_some(&net.last_failure);
    json!({ "switches": shown, "total": total, "differences": differences, "last_failure": failure })
}

/// Stations and their locations.
pub(crate) fn stations(net: &Network, now: Time, limit: usize) -> Value {
    let shown = net.stations.slab.iter().take(limit).map(|(_, station)| {
        let at = net.topology.place(station.port);
        json!({
            "mac": station.mac.to_string(),
            "switch": net.expected.name(at.switch),
            "port": at.port.0,
            "addresses": station.addresses.iter().map(IpAddr::to_string).collect::<Vec<_>>(),
            "seen_s": now.saturating_since(station.seen).as_secs_f64(),
        })
    });
    json!({ "stations": shown.collect::<Vec<_>>(), "total": net.stations.slab.len() })
}
