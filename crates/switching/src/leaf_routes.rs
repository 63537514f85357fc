//! [`LeafRoutes`]: routes that a routing protocol finds. It knows leaves, each by its loopback address, and not stations;
//! the configuration says which stations are attached to which leaf.

use std::net::IpAddr;

use weft_units::PortId;
use weft_wire::Mac;

use crate::reachability::PortBits;
use crate::wcmp;

/// A leaf, and the stations attached to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leaf {
    /// The address that it announces.
    pub address: IpAddr,
    /// Its stations.
    pub stations: Vec<Mac>,
}

/// A next hop of a route.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NextHop {
    /// The index of its interface.
    pub interface: u32,
    /// Its weight.
    pub weight: u32,
}

/// The route of the machine to an address.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Found {
    /// There is none, or only a default route.
    #[default]
    Nothing,
    /// The address is the machine's own.
    Own,
    /// Over these next hops.
    Over(Vec<NextHop>),
}

/// A leaf with its route.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeafRoute {
    /// The leaf.
    pub leaf: Leaf,
    /// The machine's route.
    pub found: Found,
    /// The next hops that are fabric ports, with their weights.
    group: Vec<(PortId, u64)>,
    /// The interfaces of the others.
    pub strangers: Vec<u32>,
}

impl LeafRoute {
    /// Its next hops.
    pub fn ports(&self) -> PortBits {
        self.group
            .iter()
            .fold(0, |bits, (port, _)| bits | 1_u64.checked_shl(port.0.into()).unwrap_or_default())
    }

    /// Its next hops in order, with their weights.
    pub fn weights(&self) -> impl Iterator<Item = (PortId, u64)> {
        self.group.iter().copied()
    }

    /// Whether frames to its stations have a next hop, or are for this switch.
    pub fn is_reached(&self) -> bool {
        self.found == Found::Own || !self.group.is_empty()
    }

    /// The next hops among `ports`, each as often as its weight demands, at most `most`.
    pub fn entries(&self, ports: PortBits, most: usize) -> Vec<PortId> {
        let is_left =
            |(port, _): &&(PortId, u64)| ports & 1_u64.checked_shl(port.0.into()).unwrap_or_default() != 0;
        wcmp::entries(self.group.iter().filter(is_left).copied().collect(), most)
    }

    /// Finds the ports of its next hops; returns whether they or their weights have changed.
    fn resolve(&mut self, fabric: &[(u32, PortId)]) -> bool {
        let hops = match &self.found {
            Found::Over(hops) => &hops[..],
            _ => &[],
        };
        let mut group: Vec<(PortId, u64)> = Vec::new();
        self.strangers.clear();
        for hop in hops {
            let port =
                fabric.iter().find(|(interface, _)| *interface == hop.interface).map(|(_, port)| *port);
            let weight = u64::from(hop.weight.max(1));
            match (port, group.iter_mut().find(|(known, _)| Some(*known) == port)) {
                // Two next hops over one link.
                (Some(_), Some((_, sum))) => *sum += weight,
                (Some(port), None) => group.push((port, weight)),
                (None, _) => self.strangers.push(hop.interface),
            }
        }
        group.sort_unstable();
        let is_other = group != self.group;
        self.group = group;
        is_other
    }
}

/// The routes to all leaves.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LeafRoutes {
    /// In the order of the configuration.
    leaves: Vec<LeafRoute>,
    /// Fabric ports, by the index of their interface.
    fabric: Vec<(u32, PortId)>,
}

/// The consequence of a change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Change {
    /// Nothing.
    Nothing,
    /// The next hops of this leaf's stations.
    Hops,
    /// The machine has become this leaf, or is it no longer: its stations have a route or none.
    Own,
}

impl LeafRoutes {
    /// Leaves whose routes are not known yet, with the routes that `before` had found.
    #[must_use]
    pub fn replaced_by(&self, leaves: &[Leaf]) -> Self {
        let route = |leaf: &Leaf| {
            let before = self.leaves.iter().find(|route| route.leaf.address == leaf.address);
            let found = before.map(|route| route.found.clone()).unwrap_or_default();
            let mut route = LeafRoute { leaf: leaf.clone(), found, group: Vec::new(), strangers: Vec::new() };
            route.resolve(&self.fabric);
            route
        };
        Self { leaves: leaves.iter().map(route).collect(), fabric: self.fabric.clone() }
    }

    /// All leaves.
    pub fn leaves(&self) -> &[LeafRoute] {
        &self.leaves
    }

    /// The machine's route to a leaf is this.
    pub fn find(&mut self, address: IpAddr, found: Found) -> Change {
        let Some(route) = self.leaves.iter_mut().find(|route| route.leaf.address == address) else {
            return Change::Nothing;
        };
        let is_own = [&route.found, &found].map(|found| *found == Found::Own);
        route.found = found;
        let is_other = route.resolve(&self.fabric);
        if is_own[0] != is_own[1] {
            return Change::Own;
        }
        if is_other { Change::Hops } else { Change::Nothing }
    }

    /// These are the fabric ports, by the index of their interface; returns the leaves whose next hops change.
    pub fn set_fabric(&mut self, fabric: Vec<(u32, PortId)>) -> Vec<IpAddr> {
        if fabric == self.fabric {
            return Vec::new();
        }
        self.fabric = fabric;
        let fabric = &self.fabric;
        let changed =
            self.leaves.iter_mut().filter_map(|route| route.resolve(fabric).then_some(route.leaf.address));
        changed.collect()
    }

    /// The stations of other leaves, with their next hops, in no particular order.
    pub fn routes(&self) -> impl Iterator<Item = (Mac, &LeafRoute)> {
        let others = self.leaves.iter().filter(|route| route.found != Found::Own);
        others.flat_map(|route| route.leaf.stations.iter().map(move |station| (*station, route)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FABRIC: [(u32, PortId); 2] = [(10, PortId(1)), (20, PortId(2))];

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    /// Two leaves with a station each.
    fn routes() -> LeafRoutes {
        let leaf = |last| Leaf { address: address(last), stations: vec![Mac::of_host(last.into())] };
        let mut routes = LeafRoutes::default().replaced_by(&[leaf(1), leaf(2)]);
        assert!(routes.set_fabric(FABRIC.to_vec()).is_empty());
        routes
    }

    fn over(hops: &[(u32, u32)]) -> Found {
        Found::Over(
            hops.iter()
                .map(|(interface, weight)| NextHop { interface: *interface, weight: *weight })
                .collect(),
        )
    }

    #[test]
    fn stations_of_a_leaf_take_the_next_hops_of_its_address() {
        let mut routes = routes();
        assert!(!routes.leaves()[1].is_reached());
        assert_eq!(routes.find(address(2), over(&[(20, 1), (10, 1)])), Change::Hops);
        assert_eq!(routes.find(address(2), over(&[(10, 1), (20, 1)])), Change::Nothing);
        let of: Vec<_> = routes.routes().map(|(station, route)| (station, route.ports())).collect();
        assert_eq!(of, [(Mac::of_host(1), 0), (Mac::of_host(2), 0b110)]);
        assert_eq!(routes.find(address(2), Found::Nothing), Change::Hops);
        assert_eq!(routes.find(address(9), over(&[(10, 1)])), Change::Nothing, "no leaf");
    }

    #[test]
    fn stations_of_this_switch_have_no_route() {
        let mut routes = routes();
        assert_eq!(routes.find(address(1), Found::Own), Change::Own);
        assert_eq!(routes.find(address(1), Found::Own), Change::Nothing);
        assert!(routes.leaves()[0].is_reached());
        assert_eq!(routes.routes().count(), 1);
        assert_eq!(routes.find(address(1), Found::Nothing), Change::Own);
    }

    #[test]
    fn weights_count_among_the_next_hops_that_are_left() {
        let mut routes = routes();
        assert_eq!(routes.find(address(2), over(&[(10, 10), (20, 30)])), Change::Hops);
        let entries = |routes: &LeafRoutes, ports| routes.leaves()[1].entries(ports, 64);
        assert_eq!(entries(&routes, 0b110), [1, 2, 2, 2].map(PortId));
        assert_eq!(entries(&routes, 0b010), [PortId(1)]);
        assert_eq!(entries(&routes, 0), []);
        assert_eq!(routes.find(address(2), over(&[(10, 1), (20, 1)])), Change::Hops, "other weights");
        assert_eq!(routes.find(address(2), over(&[(10, 1), (10, 1), (20, 1)])), Change::Hops);
        assert_eq!(entries(&routes, 0b110), [1, 1, 2].map(PortId), "two next hops over one link");
    }

    #[test]
    fn interfaces_that_are_no_fabric_ports_are_left_out_until_they_are() {
        let mut routes = routes();
        assert_eq!(routes.find(address(2), over(&[(30, 1)])), Change::Nothing);
        assert_eq!((routes.leaves()[1].is_reached(), &routes.leaves()[1].strangers[..]), (false, &[30][..]));
        assert_eq!(routes.set_fabric(vec![(30, PortId(1))]), [address(2)]);
        assert_eq!((routes.leaves()[1].ports(), routes.leaves()[1].strangers.len()), (0b010, 0));
        assert!(routes.set_fabric(vec![(30, PortId(1)), (10, PortId(2))]).is_empty());
    }

    #[test]
    fn another_configuration_keeps_the_routes_that_are_known() {
        let mut routes = routes();
        routes.find(address(2), over(&[(10, 1)]));
        let leaf = |last| Leaf { address: address(last), stations: vec![Mac::of_host(7)] };
        let new = routes.replaced_by(&[leaf(2), leaf(3)]);
        let of: Vec<_> = new.routes().map(|(station, route)| (station, route.ports())).collect();
        assert_eq!(of, [(Mac::of_host(7), 0b010), (Mac::of_host(7), 0)]);
    }
}
