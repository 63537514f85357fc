//! Which path a flow takes (Algorithm 1 gives the set, this its use).

use std::sync::Arc;

use smallvec::SmallVec;

use super::Smoc;
use crate::clock::Time;
use crate::command::Command;
use crate::connections::{INITIATOR, LISTENER};
use crate::flows::{State, by};
use crate::network::at_once;
use crate::routes;
use crate::slab::NONE;

impl Smoc {
    /// The paths from one switch to another.
    pub(super) fn set(&mut self, from: u32, to: u32) -> Arc<[u32]> {
        self.sets.get(from, to, &self.net.topology, &mut self.paths)
    }

    /// The shortest path between the switches of two stations.
    pub(super) fn shortest(&mut self, stations: [u32; 2]) -> Option<u32> {
        let [from, to] = stations.map(|station| self.net.stations.slab[station].switch);
        self.set(from, to).first().copied()
    }

    /// The path for a flow: that of its connection's set which the fewest of the connection's subflows take,
    /// the first of several; for a flow without connection the shortest.
    ///
    /// Sets lead from the initiator's side to the listener's, whoever opens the subflow. Of subflows that are not
    /// confirmed only those count that come from the same port: whoever else asks to join, the connection's
    /// own hosts get the paths that they would get without him.
    pub(super) fn choose(&mut self, flow: u32) -> Option<u32> {
        let entry = &self.flows.slab[flow];
        let (stations, connection, port) = (entry.key.stations, entry.connection, entry.port);
        if connection == NONE {
            return self.shortest(stations);
        }
        let from_listener = entry.state.has(State::FROM_LISTENER);
        let set = self.set_of(stations, from_listener);
        let used = self.uses(connection, flow, &set, Some(port));
        let (_, place) = used.iter().zip(0..).min()?;
        set.get::<usize>(place).copied()
    }

    /// The set of a connection's path for a subflow between two stations.
    fn set_of(&mut self, stations: [u32; 2], from_listener: bool) -> Arc<[u32]> {
        let mut switches = stations.map(|station| self.net.stations.slab[station].switch);
        if from_listener {
            switches.reverse();
        }
        self.set(switches[INITIATOR], switches[LISTENER])
    }

    /// How many subflows of a connection beside `flow` take each path of a set: confirmed ones, and others that
    /// were opened at `port`.
    fn uses(&self, connection: u32, flow: u32, set: &[u32], port: Option<u32>) -> SmallVec<[u32; 8]> {
        let mut used: SmallVec<[u32; 8]> = SmallVec::from_elem(0, set.len());
        for other in self.connections.slab[connection].flows.iter(by::CONNECTION, &self.flows.slab) {
            let entry = &self.flows.slab[other];
            let counts = entry.state.has(State::CONFIRMED) || Some(entry.port) == port;
            if other != flow && counts && entry.path != NONE {
                let place = set.iter().position(|&path| path == entry.path);
                place.into_iter().for_each(|place| used[place] += 1);
            }
        }
        used
    }

    /// A better path for a subflow that is confirmed only now, if there is one: while it was not, others may
    /// have been given its path.
    pub(super) fn better(&mut self, flow: u32) -> Option<u32> {
        let entry = &self.flows.slab[flow];
        let (stations, connection, path) = (entry.key.stations, entry.connection, entry.path);
        let from_listener = entry.state.has(State::FROM_LISTENER);
        let set = self.set_of(stations, from_listener);
        let used = self.uses(connection, flow, &set, None);
        let mine = set.iter().position(|&other| other == path)?;
        let (uses, least) = used.iter().zip(0_usize..).min()?;
        (*uses < used[mine]).then(|| set[least])
    }

    /// Labels a path; one that nobody uses gives up its labels if need be.
    pub(super) fn label(&mut self, now: Time, path: u32, out: &mut Vec<Command>) -> bool {
        let had = self.paths.slab[path].labels.is_some();
        if !self.paths.label(now, path) {
            if let Some(idle) = self.paths.reclaim(path) {
                at_once(self.path_removals(&idle), out);
            }
            if !self.paths.label(now, path) {
                self.net.counters.labels_exhausted += 1;
                return false;
            }
        }
        self.net.counters.paths_labelled += u64::from(!had && self.paths.slab[path].labels.is_some());
        true
    }

    /// Puts a flow on a path; `false` where the path gets no labels.
    pub(super) fn put_on(&mut self, now: Time, flow: u32, path: u32, out: &mut Vec<Command>) -> bool {
        if !self.label(now, path, out) {
            return false;
        }
        self.flows.slab[flow].path = path;
        self.paths.slab[path].flows.push(by::PATH, &mut self.flows.slab, flow);
        true
    }

    /// Puts a route on a path; `false` where the path gets no labels.
    pub(super) fn put_route_on(&mut self, now: Time, route: u32, path: u32, out: &mut Vec<Command>) -> bool {
        if !self.label(now, path, out) {
            return false;
        }
        self.routes.slab[route].path = path;
        self.paths.slab[path].routes.push(routes::by::PATH, &mut self.routes.slab, route);
        true
    }
}
