//! Routes that a routing daemon beside the switch finds: the kernel's routes to leaves become next hops of their stations
//! (crates/switching/src/leaf_routes.rs).

use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use weft_switching::leaf_routes::{Change, Found};
use weft_units::PortId;

use super::fib::{RouteChanges, Touched};
use super::links::Links;
use super::route_entries::named;
use super::shared::Shared;
use super::switch::Switch;
use crate::clock;
use crate::sys::ifname;

/// The pause before routes that could not be read are read again.
const AGAIN: Duration = Duration::from_secs(1);
/// The kernel reports that an interface goes down before it removes the routes.
const AFTER_LINKS: Duration = Duration::from_millis(10);
/// How often all routes are read, whatever the kernel reports.
const ALWAYS: Duration = Duration::from_secs(5);

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
        let leaves = self.leaves.leaves().iter().map(|route| (route.leaf.address, route.is_reached()));
        self.unrouted.note(leaves, now);
        let without = self.leaves.leaves().iter().filter(|route| !route.is_reached()).count();
        if self.unrouted.has_unnamed() && self.log_limit.admit(0, "no route", now).is_some() {
            let (lost, back) = self.unrouted.name_lost();
            if let Some(leaf) = lost.first() {
                tracing::warn!(
                    leaves = listed(&lost),
                    without,
                    "the kernel has no route to these leaves over a fabric port: frames to their stations are dropped \
                     (no_route); see `weftctl show leaves`, `ip route get fibmatch {leaf}` and `vtysh -c \"show bgp summary\"`"
                );
            }
            if !back.is_empty() {
                tracing::warn!(
                    leaves = listed(&back),
                    without,
                    "the kernel had no route to these leaves for a while: frames to their stations were dropped (no_route)"
                );
            }
        }
        if self.unrouted.has_found() && self.log_limit.admit(0, "route", now).is_some() {
            let leaves = listed(&self.unrouted.name_found());
            tracing::info!(leaves, without, "the kernel has a route to these leaves again");
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
    }
}

/// Addresses, separated by commas.
fn listed(addresses: &[IpAddr]) -> String {
    addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Logs the first leaf whose route cannot be read, unless `known` has it; returns all of them.
fn tell_of_unread(unread: &[(IpAddr, io::Error)], known: &BTreeSet<IpAddr>) -> BTreeSet<IpAddr> {
    if let Some((leaf, error)) = unread.iter().find(|(leaf, _)| !known.contains(leaf)) {
        tracing::error!(
            %leaf, %error, leaves = unread.len(),
            "reading the kernel's route to a leaf failed: its stations keep the next hops that they had, if any; see `ip route get \
             fibmatch {leaf}`"
        );
    }
    unread.iter().map(|(leaf, _)| *leaf).collect()
}

/// Follows the kernel's routes to leaves, until the task is aborted.
pub async fn watch(shared: Shared, links: Links, mut changes: RouteChanges) {
    // Those that were read at the start may have changed before the subscription.
    let mut touched = Touched::Any;
    let mut unread = BTreeSet::new();
    loop {
        let addresses = shared.lock().touched(&touched);
        let routes = links.routes_to(addresses).await;
        let now_unread = tell_of_unread(&routes.unread, &unread);
        match touched {
            Touched::Any => unread = now_unread,
            Touched::Within(_) => unread.extend(now_unread),
        }
        shared.lock().find_routes(routes.found, clock::now());
        shared.0.changed.notify_one();
        let pause = if unread.is_empty() { ALWAYS } else { AGAIN };
        touched = match tokio::time::timeout(pause, changes.next()).await {
            Err(_) => Touched::Any,
            Ok(Ok(Touched::Any)) => {
                tokio::time::sleep(AFTER_LINKS).await;
                Touched::Any
            }
            Ok(Ok(touched)) => touched,
            Ok(Err(error)) => {
                tracing::error!(%error, "listening to changes of routes failed");
                tokio::time::sleep(AGAIN).await;
                Touched::Any
            }
        };
    }
}
