//! All routes of a switch, configured and found, and their format in the kernel map.

use std::collections::{HashMap, HashSet};

use weft_switching::Mac;
use weft_switching::leaf_routes::{LeafRoute, LeafRoutes};
use weft_switching::reachability::PortBits;

use crate::config::Config;
use crate::layout::{self, MAX_PORTS};

/// Ports as bits.
pub fn bits(ports: impl IntoIterator<Item = u8>) -> PortBits {
    ports.into_iter().fold(0, |bits, port| bits | 1_u64.checked_shl(port.into()).unwrap_or_default())
}

/// The stations that the configuration names a route to: it goes before that of a leaf.
pub fn named(config: &Config) -> HashSet<Mac> {
    config.routes.iter().map(|route| route.station).collect()
}

/// All routes of a configuration: those that it names, and those of the stations of leaves.
pub fn routes<'a>(
    config: &'a Config,
    leaves: &'a LeafRoutes,
) -> impl Iterator<Item = (Mac, PortBits)> + use<'a> {
    let named = named(config);
    let of_leaves = leaves.routes().filter(move |(station, _)| !named.contains(station));
    let configured = config.routes.iter().map(|route| (route.station, bits(route.ports.iter().copied())));
    configured.chain(of_leaves.map(|(station, route)| (station, route.ports())))
}

/// Routes of a configuration in the format of the kernel map, with the weights of leaves.
pub fn entries(
    config: &Config,
    leaves: &LeafRoutes,
    routes: impl IntoIterator<Item = (Mac, PortBits)>,
) -> Vec<(u64, layout::Route)> {
    let named = named(config);
    let leaf_of: HashMap<Mac, &LeafRoute> =
        leaves.routes().filter(|(station, _)| !named.contains(station)).collect();
    let entry = |(station, ports): (Mac, PortBits)| {
        let route = match leaf_of.get(&station) {
            Some(leaf) => {
                layout::Route::weighted(leaf.entries(ports, MAX_PORTS.into()).into_iter().map(|port| port.0))
            }
            None => layout::Route::new((0..MAX_PORTS).filter(|port| ports & 1 << port != 0)),
        };
        (station.bits(), route)
    };
    routes.into_iter().map(entry).collect()
}
