//! Path choice for flows, from the sets of Algorithm 1.

use std::sync::Arc;

use smallvec::SmallVec;

use super::state::Smoc;
use crate::clock::Time;
use crate::command::{Command, at_once};
use crate::connections::INITIATOR;
use crate::flows::{State, by};
use crate::routes;
use crate::settings::{Pick, Reverse};
use crate::slab::NONE;

impl Smoc {
    /// The paths from one switch to another.
    pub(super) fn set(&mut self, from: u32, to: u32) -> Arc<[u32]> {
        self.sets.get(from, to, &self.net.topology, &mut self.paths)
    }

    /// Whether a path can be taken now, i.e. its missing rules can be installed. A disconnected transit switch keeps its
    /// rules but cannot get new ones.
    pub(super) fn is_usable(&self, path: u32) -> bool {
        let path = &self.paths.slab[path];
        let inside = path.switches.get(1..path.switches.len().saturating_sub(1)).unwrap_or_default();
        path.installed || inside.iter().all(|&switch| self.net.is_up(switch))
    }

    /// The first usable path between two switches.
    pub(super) fn first_usable(&mut self, from: u32, to: u32) -> Option<u32> {
        self.set(from, to).iter().copied().find(|&path| self.is_usable(path))
    }

    /// The shortest path between the switches of two stations.
    pub(super) fn shortest(&mut self, stations: [u32; 2]) -> Option<u32> {
        let [from, to] = stations.map(|station| self.net.stations.slab[station].switch);
        self.first_usable(from, to)
    }

    /// The path for a direction of a flow: one of its connection's set; for a flow without connection the shortest.
    ///
    /// Unconfirmed subflows count as users of a path only if they come from the same port: joins by others do not change
    /// the paths of the connection's own hosts. With [`Pick::Next`], as in the paper, they do.
    fn choose_for(&mut self, flow: u32, direction: usize) -> Option<u32> {
        let entry = &self.flows.slab[flow];
        if entry.connection == NONE {
            return self.shortest(entry.key.stations);
        }
        let (connection, port) = (entry.connection, entry.port);
        let set = self.set_of(flow, direction);
        let place = match self.net.settings.pick {
            Pick::LeastUsed => {
                let used = self.uses(flow, direction, &set, Some(port));
                self.least_used(&set, &used)
            }
            Pick::Next => self.next_in(connection, self.side_of(flow, direction), &set),
        };
        place.map(|place| set[place])
    }

    /// The path for a flow.
    pub(super) fn choose(&mut self, flow: u32) -> Option<u32> {
        self.choose_for(flow, 0)
    }

    /// The next usable place of a connection's cycle through a set.
    fn next_in(&mut self, connection: u32, side: usize, set: &[u32]) -> Option<usize> {
        let from = self.connections.slab[connection].next[side] as usize;
        let mut cycle = (0..set.len()).map(|step| (from + step) % set.len());
        let place = cycle.find(|&place| self.is_usable(set[place]))?;
        self.connections.slab[connection].next[side] = place as u32 + 1;
        Some(place)
    }

    /// The place in a set of the usable path with the fewest uses, the first of several.
    fn least_used(&self, set: &[u32], used: &[u32]) -> Option<usize> {
        let usable = (0..set.len()).filter(|&place| self.is_usable(set[place]));
        usable.min_by_key(|&place| used[place])
    }

    /// The side of the connection whose set a direction of a subflow takes its path from: the sets lead from there to the
    /// other side. If both directions share a path, that is the initiator's, whichever side opens the subflow.
    fn side_of(&self, flow: u32, direction: usize) -> usize {
        match self.net.settings.reverse {
            Reverse::Same => INITIATOR,
            Reverse::Own => direction ^ usize::from(self.flows.slab[flow].state.has(State::FROM_LISTENER)),
        }
    }

    /// The path set for a direction of a connection's subflow.
    fn set_of(&mut self, flow: u32, direction: usize) -> Arc<[u32]> {
        let entry = &self.flows.slab[flow];
        let mut switches = entry.key.stations.map(|station| self.net.stations.slab[station].switch);
        if entry.state.has(State::FROM_LISTENER) {
            switches.reverse();
        }
        let side = self.side_of(flow, direction);
        self.set(switches[side], switches[1 - side])
    }

    /// How many subflows of the connection of `flow` other than itself take each path of a set in the same direction:
    /// confirmed ones, and others opened at `port`.
    fn uses(&self, flow: u32, direction: usize, set: &[u32], port: Option<u32>) -> SmallVec<[u32; 8]> {
        let connection = self.flows.slab[flow].connection;
        let side = self.side_of(flow, direction);
        let mut used: SmallVec<[u32; 8]> = SmallVec::from_elem(0, set.len());
        for other in self.connections.slab[connection].flows.iter(by::CONNECTION, &self.flows.slab) {
            let entry = &self.flows.slab[other];
            let counts = entry.state.has(State::CONFIRMED) || Some(entry.port) == port;
            let direction = usize::from(self.side_of(other, 0) != side);
            let taken = entry.path_of(direction);
            if other != flow && counts && taken != NONE {
                let place = set.iter().position(|&path| path == taken);
                place.into_iter().for_each(|place| used[place] += 1);
            }
        }
        used
    }

    /// A less used path for a newly confirmed subflow, if there is one: before its confirmation, others may
    /// have been assigned its path. With [`Pick::Next`], subflows stay where they are.
    pub(super) fn better(&mut self, flow: u32) -> Option<u32> {
        if self.net.settings.pick == Pick::Next {
            return None;
        }
        let path = self.flows.slab[flow].path;
        let set = self.set_of(flow, 0);
        let used = self.uses(flow, 0, &set, None);
        let mine = set.iter().position(|&other| other == path)?;
        let least = self.least_used(&set, &used)?;
        (used[least] < used[mine]).then(|| set[least])
    }

    /// Labels a path, if necessary with the labels of an unused one.
    pub(super) fn label(&mut self, now: Time, path: u32, out: &mut Vec<Command>) -> bool {
        let had = self.paths.slab[path].labels.is_some();
        let ends = self.ends(path);
        if !self.paths.label(now, path, ends, [None; 2], &self.resumption.reserved) {
            if let Some(idle) = self.paths.reclaim(path) {
                at_once(self.path_removals(&idle), out);
            }
            if !self.paths.label(now, path, ends, [None; 2], &self.resumption.reserved) {
                self.net.counters.labels_exhausted += 1;
                return false;
            }
        }
        self.net.counters.paths_labelled += u64::from(!had && self.paths.slab[path].labels.is_some());
        true
    }

    /// The numbers in labels of the switches where a path's directions end.
    pub(super) fn ends(&self, path: u32) -> [u32; 2] {
        let switches = &self.paths.slab[path].switches;
        [switches[switches.len() - 1], switches[0]].map(|end| self.net.topology.switches[end as usize].label)
    }

    /// Assigns a flow to a path, and its reverse direction to a path of its own if there are two sets; `false` if the path
    /// gets no labels.
    pub(super) fn put_on(&mut self, now: Time, flow: u32, path: u32, out: &mut Vec<Command>) -> bool {
        if !self.put_both_on(now, flow, path, out) {
            return false;
        }
        self.put_back(now, flow, out);
        true
    }

    /// Assigns both directions of a flow to a path; `false` if the path gets no labels.
    pub(super) fn put_both_on(&mut self, now: Time, flow: u32, path: u32, out: &mut Vec<Command>) -> bool {
        if !self.label(now, path, out) {
            return false;
        }
        self.flows.slab[flow].path = path;
        self.paths.slab[path].flows.push(by::PATH, &mut self.flows.slab, flow);
        true
    }

    /// Assigns the reverse direction of a subflow to a path of the second set, if there is one that gets labels.
    pub(super) fn put_back(&mut self, now: Time, flow: u32, out: &mut Vec<Command>) {
        if self.net.settings.reverse == Reverse::Same || self.flows.slab[flow].connection == NONE {
            return;
        }
        let Some(path) = self.choose_for(flow, 1) else { return };
        if self.label(now, path, out) {
            self.flows.slab[flow].back = path;
            self.paths.slab[path].backs.push(by::BACK, &mut self.flows.slab, flow);
        }
    }

    /// Assigns a route to a path; `false` if the path gets no labels.
    pub(super) fn put_route_on(&mut self, now: Time, route: u32, path: u32, out: &mut Vec<Command>) -> bool {
        if !self.label(now, path, out) {
            return false;
        }
        self.routes.slab[route].path = path;
        self.paths.slab[path].routes.push(routes::by::PATH, &mut self.routes.slab, route);
        true
    }
}
