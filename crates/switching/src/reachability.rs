//! [`Reachability`]: which configured next hops reach a station, as neighbours announce.
//!
//! A switch with routes says in its Hello messages which stations it does not reach, so that a failure far away withdraws
//! routes, too. A next hop counts if it leads to the station itself, or to a switch that does not say that it does not reach
//! the station. A switch reaches a station if a next hop that counts carries frames.
//!
//! **There are no new loops.** An announcement only takes its sender's port out of configured routes, so the next hops are at
//! all times among those that are configured: where these form no loop, as those of shortest paths, no order of failures
//! and messages makes one. Nor can switches go on to believe each other: what a switch says depends on the switches behind
//! its configured next hops only, and the last of these is next to the station. Hence there are no distances, and nothing
//! counts to infinity.
//!
//! If no next hop counts, all of them are used: the switch drops no frame because of what others say.
//!
//! Where a routing protocol finds the routes ([`crate::leaf_routes`]), they change while they are in use, and freedom from
//! loops is the protocol's: announcements still only remove next hops.
//!
//! A port that has led nowhere or to no switch reaches nothing until its new neighbour has said what it reaches: a switch
//! that is starting gets frames for what it already reaches.

use weft_units::PortId;
use weft_wire::Mac;

use crate::unreached::{MOST_PARTS, Unreached};

/// Ports as bits: a switch with routes has at most 64.
pub type PortBits = u64;

/// The bit of a port.
const fn bit(port: PortId) -> PortBits {
    if port.0 < 64 { 1 << port.0 } else { 0 }
}

/// The state of a switch's ports, as far as it matters to routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PortStates {
    /// Ports with a carrier.
    pub up: PortBits,
    /// Ports that exchange frames with a switch.
    pub fabric: PortBits,
    /// Ports that lead to a host.
    pub hosts: PortBits,
}

/// A station and its next hops.
#[derive(Clone, Copy, Debug)]
struct Route {
    station: Mac,
    ports: PortBits,
    /// Ports whose neighbour does not reach the station.
    unreached: PortBits,
    /// The next hops as last reported by [`Reachability::settle`].
    reported: PortBits,
    /// Whether they must be reported again: shares of theirs have changed.
    is_stale: bool,
}

/// What the neighbour of a port has said.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Said {
    /// Announcements, none about the same stations as another.
    parts: Vec<Unreached>,
    /// Whether it reaches the stations that none of them is about.
    rest: bool,
}

impl Said {
    fn reaches(&self, station: Mac) -> bool {
        let about = self.parts.iter().find(|part| part.is_about(station));
        about.map_or(self.rest, |part| !part.names(station))
    }
}

/// The routes of a switch, less those that neighbours have withdrawn.
#[derive(Clone, Debug)]
pub struct Reachability {
    /// By station, ascending.
    routes: Vec<Route>,
    said: Vec<Said>,
    states: PortStates,
    parts: Vec<Unreached>,
    /// Whether something has changed since [`Reachability::settle`].
    is_unsettled: bool,
    /// Ports whose neighbour has said something that is not applied to the routes yet.
    news: PortBits,
    /// The stations that each neighbour does not reach, at the last [`Reachability::settle`].
    withdrawn: Vec<usize>,
}

/// The consequences of changes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Settled {
    /// Stations with other next hops than before, and these.
    pub routes: Vec<(Mac, PortBits)>,
    /// Whether [`Reachability::parts`] are others than before.
    pub says_other: bool,
}

impl Reachability {
    /// A switch with this number of ports and without routes. It reaches nothing until it has settled.
    pub fn new(ports: usize) -> Self {
        Self {
            routes: Vec::new(),
            said: vec![Said::default(); ports],
            states: PortStates::default(),
            parts: vec![Unreached::everything()],
            is_unsettled: true,
            news: 0,
            withdrawn: vec![0; ports],
        }
    }

    /// Replaces the routes by `routes`, no station twice: until it settles, all next hops are used. Those `in_use` are next hops that an earlier daemon has left for a
    /// station: it knew that the others do not reach it.
    pub fn set_routes(
        &mut self,
        routes: impl IntoIterator<Item = (Mac, PortBits)>,
        in_use: impl Fn(Mac) -> Option<PortBits>,
    ) {
        let route = |(station, ports): (Mac, PortBits)| {
            let left = in_use(station).filter(|left| *left & !ports == 0);
            let unreached = left.map_or(PortBits::MAX, |left| ports & !left);
            Route { station, ports, unreached, reported: left.unwrap_or(ports), is_stale: false }
        };
        self.routes = routes.into_iter().map(route).collect();
        self.routes.sort_unstable_by_key(|route| route.station);
        for (port, said) in (0..).map(PortId).zip(&self.said) {
            if said.rest || !said.parts.is_empty() {
                self.news |= bit(port);
            }
        }
        self.is_unsettled = true;
    }

    /// Gives some of the stations other next hops, or other shares of them; a station without a route is ignored.
    pub fn change_routes(&mut self, routes: impl IntoIterator<Item = (Mac, PortBits)>) {
        for (station, ports) in routes {
            let Ok(at) = self.routes.binary_search_by_key(&station, |route| route.station) else { continue };
            let route = &mut self.routes[at];
            self.news |= ports & !route.ports;
            (route.ports, route.is_stale) = (ports, true);
            self.is_unsettled = true;
        }
    }

    /// The ports are in this state. A port that leads to no switch any more reaches nothing.
    pub fn set_ports(&mut self, states: PortStates) {
        if states == self.states {
            return;
        }
        let left = self.states.fabric & !states.fabric;
        self.states = states;
        self.is_unsettled = true;
        for port in (0..self.said.len() as u16).map(PortId).filter(|port| left & bit(*port) != 0) {
            self.forget(port);
        }
    }

    /// Another neighbour is behind a port: it reaches nothing until it speaks.
    pub fn forget(&mut self, port: PortId) {
        self.replace(port, Said::default());
    }

    /// The neighbour of a port has said this.
    pub fn hear(&mut self, port: PortId, part: Unreached) {
        let Some(said) = self.said.get_mut(port.index()).filter(|said| !said.parts.contains(&part)) else {
            return;
        };
        said.parts.retain(|other| !other.overlaps(&part));
        if said.parts.len() < MOST_PARTS {
            said.parts.push(part);
        }
        self.news |= bit(port);
        self.is_unsettled = true;
    }

    /// The neighbour of a port does not say what it reaches: everything.
    pub fn trust(&mut self, port: PortId) {
        self.replace(port, Said { parts: Vec::new(), rest: true });
    }

    fn replace(&mut self, port: PortId, new: Said) {
        if let Some(said) = self.said.get_mut(port.index()).filter(|said| **said != new) {
            *said = new;
            self.news |= bit(port);
            self.is_unsettled = true;
        }
    }

    /// Applies to the routes what the neighbour of a port has said.
    fn mark(&mut self, port: PortId) {
        let said = &self.said[port.index()];
        for route in self.routes.iter_mut().filter(|route| route.ports & bit(port) != 0) {
            match said.reaches(route.station) {
                true => route.unreached &= !bit(port),
                false => route.unreached |= bit(port),
            }
        }
    }

    /// Whether [`Reachability::settle`] may report something.
    pub const fn is_unsettled(&self) -> bool {
        self.is_unsettled
    }

    /// The consequences of all changes since the last call.
    pub fn settle(&mut self) -> Settled {
        let news = std::mem::take(&mut self.news);
        (0..self.said.len() as u16)
            .map(PortId)
            .filter(|port| news & bit(*port) != 0)
            .for_each(|port| self.mark(port));
        let PortStates { up, fabric, hosts } = self.states;
        self.is_unsettled = false;
        self.withdrawn.fill(0);
        let mut changed = Vec::new();
        let mut says = Vec::with_capacity(self.routes.len());
        for route in &mut self.routes {
            let count = route.ports & (hosts | !route.unreached);
            let next_hops = if count & up == 0 { route.ports } else { count };
            if std::mem::take(&mut route.is_stale) || next_hops != route.reported {
                route.reported = next_hops;
                changed.push((route.station, next_hops));
            }
            let mut withdrawn = route.ports & route.unreached & up & !hosts;
            while withdrawn != 0 {
                if let Some(count) = self.withdrawn.get_mut(withdrawn.trailing_zeros() as usize) {
                    *count += 1;
                }
                withdrawn &= withdrawn - 1;
            }
            says.push((route.station, count & (hosts | fabric) != 0));
        }
        let parts = Unreached::all(says);
        let says_other = parts != self.parts;
        self.parts = parts;
        Settled { routes: changed, says_other }
    }

    /// What the switch says in its Hello messages, one part in each.
    pub fn parts(&self) -> &[Unreached] {
        &self.parts
    }

    /// The stations, and the next hops that [`Reachability::settle`] last reported.
    pub fn routes(&self) -> impl Iterator<Item = (Mac, PortBits)> {
        self.routes.iter().map(|route| (route.station, route.reported))
    }

    /// The same, with all next hops of the routes.
    pub fn all_routes(&self) -> impl ExactSizeIterator<Item = (Mac, PortBits, PortBits)> {
        self.routes.iter().map(|route| (route.station, route.reported, route.ports))
    }

    /// The number of stations that the neighbour of a port with a carrier does not reach, though the port is a next hop
    /// to them.
    pub fn withdrawn(&self, port: PortId) -> usize {
        self.withdrawn.get(port.index()).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UPLINKS: PortBits = 0b110;

    fn nothing(_: Mac) -> Option<PortBits> {
        None
    }

    /// A leaf with a host on port 0, and stations 2 and 3 over ports 1 and 2.
    fn leaf() -> Reachability {
        let mut leaf = Reachability::new(3);
        leaf.set_routes(
            [(1, 1), (2, UPLINKS), (3, UPLINKS)].map(|(host, ports)| (Mac::of_host(host), ports)),
            nothing,
        );
        leaf.set_ports(PortStates { up: 0b111, fabric: UPLINKS, hosts: 1 });
        leaf
    }

    /// An announcement that these stations are not reached.
    fn says(unreached: &[u32]) -> Unreached {
        Unreached::all((1..10).map(|host| (Mac::of_host(host), !unreached.contains(&host)))).remove(0)
    }

    fn routes(switch: &mut Reachability) -> Vec<PortBits> {
        switch.settle();
        switch.routes().map(|(_, ports)| ports).collect()
    }

    #[test]
    fn a_next_hop_is_withdrawn_while_its_neighbour_does_not_reach_the_station() {
        let mut leaf = leaf();
        assert_eq!(routes(&mut leaf), [1, UPLINKS, UPLINKS], "nobody has said anything: all are used");
        leaf.hear(PortId(1), says(&[]));
        assert_eq!(routes(&mut leaf), [1, 0b010, 0b010]);
        leaf.hear(PortId(2), says(&[]));
        assert_eq!(routes(&mut leaf), [1, UPLINKS, UPLINKS]);
        leaf.hear(PortId(1), says(&[2]));
        assert_eq!(leaf.settle().routes, [(Mac::of_host(2), 0b100)]);
        assert_eq!([1, 2].map(|port| leaf.withdrawn(PortId(port))), [1, 0]);
        leaf.hear(PortId(1), says(&[2]));
        leaf.forget(PortId(0));
        assert!(!leaf.is_unsettled(), "nothing new");
        leaf.hear(PortId(1), says(&[]));
        assert_eq!(routes(&mut leaf), [1, UPLINKS, UPLINKS]);
    }

    #[test]
    fn all_next_hops_are_used_if_none_reaches_the_station_and_others_hear_of_it() {
        let mut leaf = leaf();
        leaf.hear(PortId(1), says(&[2]));
        leaf.hear(PortId(2), says(&[2]));
        assert_eq!(routes(&mut leaf), [1, UPLINKS, UPLINKS]);
        assert!(leaf.parts()[0].names(Mac::of_host(2)) && !leaf.parts()[0].names(Mac::of_host(3)));
        leaf.hear(PortId(2), says(&[]));
        assert_eq!(leaf.settle(), Settled { routes: vec![(Mac::of_host(2), 0b100)], says_other: true });
    }

    #[test]
    fn a_port_that_led_to_no_switch_waits_for_its_neighbour_to_speak() {
        let mut leaf = leaf();
        leaf.trust(PortId(1));
        leaf.trust(PortId(2));
        assert_eq!(routes(&mut leaf), [1, UPLINKS, UPLINKS]);
        let states = leaf.states;
        leaf.set_ports(PortStates { up: 0b101, fabric: 0b100, ..states });
        assert_eq!(routes(&mut leaf), [1, 0b100, 0b100]);
        leaf.set_ports(states);
        assert_eq!(routes(&mut leaf), [1, 0b100, 0b100]);
        leaf.hear(PortId(1), says(&[3]));
        assert_eq!(routes(&mut leaf), [1, UPLINKS, 0b100]);
    }

    #[test]
    fn a_host_that_is_gone_is_not_reached() {
        let mut leaf = leaf();
        leaf.settle();
        assert!(!leaf.parts()[0].names(Mac::of_host(1)));
        leaf.set_ports(PortStates { up: UPLINKS, fabric: UPLINKS, hosts: 0 });
        assert!(leaf.settle().says_other && leaf.parts()[0].names(Mac::of_host(1)));
        leaf.hear(PortId(0), says(&[1]));
        leaf.set_ports(PortStates { up: 0b111, fabric: UPLINKS, hosts: 1 });
        assert!(
            leaf.settle().says_other && !leaf.parts()[0].names(Mac::of_host(1)),
            "a host announces nothing"
        );
    }

    #[test]
    fn the_next_daemon_goes_on_from_the_next_hops_that_are_left() {
        let mut leaf = Reachability::new(3);
        let left = |station| (station == Mac::of_host(2)).then_some(0b100);
        leaf.set_routes([(Mac::of_host(2), UPLINKS), (Mac::of_host(3), UPLINKS)], left);
        leaf.set_ports(PortStates { up: 0b111, fabric: UPLINKS, hosts: 1 });
        assert!(leaf.routes().map(|(_, ports)| ports).eq([0b100, UPLINKS]));
        assert_eq!(leaf.settle(), Settled { routes: Vec::new(), says_other: true });
        assert_eq!(routes(&mut leaf), [0b100, UPLINKS]);
        leaf.hear(PortId(1), says(&[]));
        assert_eq!(routes(&mut leaf), [UPLINKS, 0b010], "the other has not spoken yet");
    }

    #[test]
    fn what_neighbours_have_said_applies_to_next_hops_that_a_route_gains() {
        let mut leaf = leaf();
        leaf.hear(PortId(1), says(&[2]));
        leaf.trust(PortId(2));
        leaf.change_routes([(Mac::of_host(2), 0), (Mac::of_host(9), UPLINKS)]);
        assert_eq!(routes(&mut leaf), [1, 0, UPLINKS], "no next hop, and no new station");
        assert!(leaf.parts()[0].names(Mac::of_host(2)), "others hear of it");
        leaf.change_routes([(Mac::of_host(2), 0b010), (Mac::of_host(3), UPLINKS)]);
        let settled = leaf.settle();
        assert_eq!(
            settled.routes,
            [(Mac::of_host(2), 0b010), (Mac::of_host(3), UPLINKS)],
            "shares may have changed"
        );
        assert!(leaf.parts()[0].names(Mac::of_host(2)), "the only next hop does not reach it, but is used");
        leaf.change_routes([(Mac::of_host(2), UPLINKS)]);
        assert_eq!(routes(&mut leaf), [1, 0b100, UPLINKS]);
        assert!(!leaf.parts()[0].names(Mac::of_host(2)));
        assert_eq!(leaf.settle(), Settled::default());
    }

    #[test]
    fn what_neighbours_have_said_applies_to_new_routes() {
        let mut leaf = leaf();
        leaf.hear(PortId(1), says(&[4]));
        leaf.trust(PortId(2));
        leaf.set_routes([(Mac::of_host(4), UPLINKS), (Mac::of_host(5), UPLINKS)], nothing);
        assert_eq!(routes(&mut leaf), [0b100, UPLINKS]);
    }

    #[test]
    fn a_neighbour_fills_no_memory() {
        let mut leaf = leaf();
        for number in 0..10_000 {
            let station = Mac::of_host(number);
            leaf.hear(PortId(1), weft_wire::Reach { first: station, last: station, unreached: &[] }.into());
        }
        assert_eq!(leaf.said[1].parts.len(), MOST_PARTS, "more are ignored");
        leaf.hear(PortId(1), says(&[]));
        assert_eq!((leaf.said[1].parts.len(), routes(&mut leaf)), (1, vec![1, 0b010, 0b010]));
    }
}
