//! Routes as JSON (docs/switchd.md): the next hops of stations and of leaves, and where they come from.

use std::collections::HashMap;
use std::net::IpAddr;

use serde_json::{Value, json};
use weft_switching::leaf_routes::{Found, LeafRoute};
use weft_switching::reachability::PortBits;

use super::switch::Switch;
use crate::sys::ifname;

/// The names of these ports.
fn names(switch: &Switch, ports: PortBits) -> Vec<&str> {
    let is_in = |number: usize| ports & 1_u64.checked_shl(number as u32).unwrap_or_default() != 0;
    let named = switch.ports.iter().enumerate().filter(|(number, _)| is_in(*number));
    named.map(|(_, port)| port.name.as_str()).collect()
}

/// At most `limit` routes: a station, the leaf whose route in the kernel it follows, or that the configuration names its ports,
/// and those of its next hops that count and that neighbours have withdrawn.
pub fn routes(switch: &Switch, limit: usize) -> Value {
    let named: std::collections::HashSet<_> =
        switch.config.routes.iter().map(|route| route.station).collect();
    let leaf_of: HashMap<_, IpAddr> = switch
        .leaves
        .routes()
        .filter(|(station, _)| !named.contains(station))
        .map(|(station, route)| (station, route.leaf.address))
        .collect();
    let all = switch.reach.all_routes();
    let total = all.len();
    let show = |(station, used, ports)| {
        let leaf = leaf_of.get(&station);
        json!({
            "station": station.to_string(),
            "from": if leaf.is_some() { "kernel" } else { "configuration" },
            "leaf": leaf.map(ToString::to_string),
            "ports": names(switch, used),
            "withdrawn": names(switch, ports & !used),
        })
    };
    json!({"total": total, "routes": all.take(limit).map(show).collect::<Vec<_>>()})
}

/// All leaves, with the kernel's routes to them.
pub fn leaves(switch: &Switch) -> Value {
    let name = |index: &u32| ifname(*index).unwrap_or_else(|_| index.to_string());
    let show = |route: &LeafRoute| {
        json!({
            "leaf": route.leaf.address.to_string(),
            "stations": route.leaf.stations.len(),
            "route": match route.found {
                Found::Own => "own",
                _ if route.is_reached() => "kernel",
                _ => "none",
            },
            "ports": names(switch, route.ports()),
            "weights": route.weights().map(|(_, weight)| weight).collect::<Vec<_>>(),
            "ignored": route.strangers.iter().map(name).collect::<Vec<_>>(),
        })
    };
    switch.leaves.leaves().iter().map(show).collect()
}
