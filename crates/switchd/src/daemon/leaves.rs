//! Routes that a routing daemon beside the switch finds: the kernel's routes to leaves become next hops of their stations
//! (crates/switching/src/leaf_routes.rs).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use weft_switching::Mac;
use weft_switching::leaf_routes::{Change, Found, LeafRoute, LeafRoutes};
use weft_switching::reachability::PortBits;
use weft_units::PortId;

use super::fib::{RouteChanges, Touched};
use super::links::Links;
use super::shared::Shared;
use super::switch::Switch;
use super::withdrawal::bits;
use crate::clock;
use crate::config::Config;
use crate::layout::{self, MAX_PORTS};
use crate::sys::ifname;

/// The pause before routes that could not be read are read again.
const AGAIN: Duration = Duration::from_secs(1);

/// The stations that the configuration names a route to: it goes before that of a leaf.
fn named(config: &Config) -> HashSet<Mac> {
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

/// The kernel's routes to these addresses.
///
/// # Errors
/// The kernel's error.
pub async fn look_up(links: &Links, addresses: Vec<IpAddr>) -> io::Result<Vec<(IpAddr, Found)>> {
    let mut found = Vec::new();
    for address in addresses {
        found.push((address, links.route_to(address).await?));
    }
    Ok(found)
}

impl Switch {
    /// The addresses of leaves whose routes may have changed.
    fn touched(&self, touched: &Touched) -> Vec<IpAddr> {
        let all = self.leaves.leaves().iter().map(|route| route.leaf.address);
        all.filter(|address| touched.contains(address)).collect()
    }

    /// The kernel has these routes to leaves; nothing is written yet.
    pub fn take_leaves(&mut self, found: Vec<(IpAddr, Found)>) {
        self.see_interfaces();
        for (address, found) in found {
            self.leaves.find(address, found);
        }
    }

    /// The kernel has these routes to leaves.
    pub fn find_routes(&mut self, found: Vec<(IpAddr, Found)>, now: u64) {
        let mut changed = BTreeSet::new();
        let mut is_other = false;
        for (address, found) in found {
            match self.leaves.find(address, found) {
                Change::Nothing => {}
                Change::Hops => drop(changed.insert(address)),
                Change::Own => is_other = true,
            }
        }
        match is_other {
            true => {
                let (config, leaves) = (self.config.clone(), self.leaves.clone());
                if let Err(error) = self.exchange_routes(&config, leaves) {
                    tracing::error!(%error, "writing the routes of stations to the data plane failed");
                }
            }
            false => self.change_routes(&changed),
        }
        self.tell_of_leaves(now);
    }

    /// Finds the ports of next hops again, if fabric ports have other interfaces than before.
    pub(super) fn see_interfaces(&mut self) {
        if !self.config.uses_kernel {
            return;
        }
        let may = self.ports.iter().zip(0..).filter(|(port, _)| self.config.may_have_peer(&port.name));
        let fabric = may.filter_map(|(port, number)| Some((port.interface.as_ref()?.index, PortId(number))));
        let changed = self.leaves.set_fabric(fabric.collect());
        self.change_routes(&changed.into_iter().collect());
    }

    /// The routes to these leaves have other next hops.
    fn change_routes(&mut self, changed: &BTreeSet<IpAddr>) {
        if changed.is_empty() {
            return;
        }
        let named = named(&self.config);
        let of_leaves = self.leaves.routes();
        let routes = of_leaves
            .filter(|(station, route)| changed.contains(&route.leaf.address) && !named.contains(station));
        self.reach.change_routes(routes.map(|(station, route)| (station, route.ports())));
    }

    /// Logs leaves that have lost their routes or got them back, and routes that cannot be used.
    fn tell_of_leaves(&mut self, now: u64) {
        let without = self.leaves.leaves().iter().filter(|route| !route.is_reached());
        let without: BTreeSet<IpAddr> = without.map(|route| route.leaf.address).collect();
        let first = without.difference(&self.unrouted).next().copied();
        let back = self.unrouted.difference(&without).next().copied();
        if let Some(leaf) = first
            && let Some(left_out) = self.log_limit.admit(0, "no route", now)
        {
            tracing::warn!(
                %leaf, leaves = without.len(), left_out,
                "the kernel has no route to a leaf over a fabric port: frames to its stations are dropped (no_route); see \
                 `weftctl show leaves`, `ip route get fibmatch {leaf}` and `vtysh -c \"show bgp summary\"`"
            );
        }
        if let Some(leaf) = back
            && let Some(left_out) = self.log_limit.admit(0, "route", now)
        {
            tracing::info!(%leaf, without = without.len(), left_out, "the kernel has a route to a leaf again");
        }
        let stranger = self.leaves.leaves().iter().find(|route| !route.strangers.is_empty());
        if let Some((leaf, index)) = stranger.map(|route| (route.leaf.address, route.strangers[0]))
            && let Some(left_out) = self.log_limit.admit(0, "stranger", now)
        {
            let interface = ifname(index).unwrap_or_else(|_| index.to_string());
            tracing::warn!(
                %leaf, %interface, left_out,
                "a next hop of the kernel's route to a leaf is ignored: its interface is not in fabric_ports"
            );
        }
        self.unrouted = without;
    }
}

/// Follows the kernel's routes to leaves, until the task is aborted.
pub async fn watch(shared: Shared, links: Links, mut changes: RouteChanges) {
    // Those that were read at the start may have changed before the subscription.
    let mut touched = Touched::Any;
    loop {
        let addresses = shared.lock().touched(&touched);
        let looked_up = look_up(&links, addresses).await;
        touched = match looked_up {
            Ok(found) => {
                shared.lock().find_routes(found, clock::now());
                shared.0.changed.notify_one();
                match changes.next().await {
                    Ok(touched) => touched,
                    Err(error) => {
                        tracing::error!(%error, "listening to changes of routes failed");
                        tokio::time::sleep(AGAIN).await;
                        Touched::Any
                    }
                }
            }
            Err(error) => {
                if let Some(left_out) = shared.lock().log_limit.admit(0, "look up", clock::now()) {
                    tracing::error!(%error, left_out, "reading the kernel's routes failed");
                }
                tokio::time::sleep(AGAIN).await;
                Touched::Any
            }
        };
    }
}
