//! Forwarding per station instead of per flow: everything but TCP, and TCP of ports with too many
//! flows.

use super::install::Draft;
use super::state::Smoc;
use crate::budget::ROUTES;
use crate::clock::Time;
use crate::command::Command;
use crate::ids::{FrameRef, SwitchPort};
use crate::offences::OffenceKind;
use crate::routes::{self, From};
use crate::transactions::Purpose;

impl Smoc {
    /// Sends a non-TCP frame to a station, and creates the route for the next ones.
    pub(super) fn plain(
        &mut self,
        now: Time,
        at: SwitchPort,
        stations: [u32; 2],
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        let froms = stations.map(|station| From::Switch(self.net.stations.slab[station].switch));
        self.route(now, at, stations, froms, frame, out);
    }

    /// Sends TCP from a port to a station by the shortest path, ignoring flows, in both directions.
    pub(super) fn crowd(
        &mut self,
        now: Time,
        at: SwitchPort,
        stations: [u32; 2],
        six: bool,
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        self.net.counters.flows_crowded += 1;
        let ends = stations.map(|station| self.net.stations.slab[station].port);
        self.net.offend(ends[0], OffenceKind::Flows);
        let froms = ends.map(|port| From::PortTcp { port, six });
        self.route(now, at, stations, froms, frame, out);
    }

    /// Sends a frame along the route to the second station; creates the routes in both directions if
    /// necessary.
    fn route(
        &mut self,
        now: Time,
        at: SwitchPort,
        stations: [u32; 2],
        froms: [From; 2],
        frame: FrameRef,
        out: &mut Vec<Command>,
    ) {
        let port = self.net.stations.slab[stations[0]].port;
        if let Some(route) = self.routes.find(froms[0], stations[1]) {
            match self.transactions.of_route(route) {
                Some(number) if self.transactions.hold(number, at, frame) => {}
                Some(_) => self.net.drop_frame(frame, out),
                // It was sent before the rule was installed.
                None => self.net.relay(now, port, stations[1], frame, out),
            }
            return;
        }
        let Some(path) = self.shortest(stations) else {
            return self.net.drop_pathless(frame, out);
        };
        if !self.admit_routes(port, stations) {
            return self.net.relay(now, port, stations[1], frame, out);
        }
        let mut draft = Draft::new(Purpose::Other).releasing(Some((at, frame))).charged(port);
        for side in [1, 0] {
            let (from, to) = (froms[side], stations[1 - side]);
            if self.routes.find(from, to).is_some() {
                continue;
            }
            let switch = self.net.stations.slab[stations[side]].switch;
            let Some(route) = self.enter_route(now, from, switch, to, path, out) else {
                return self.net.relay(now, port, stations[1], frame, out);
            };
            self.draft_route(&mut draft, route);
        }
        self.submit(now, draft, out);
    }

    /// Whether `more` routes fit the limits.
    pub(super) fn has_room_for_routes(&self, more: usize) -> bool {
        self.routes.slab.len() + more <= self.net.settings.limits.flows && self.transactions.has_room()
    }

    /// Admits two more routes between two stations on behalf of a port's hosts, or counts them as over budget.
    fn admit_routes(&mut self, port: u32, stations: [u32; 2]) -> bool {
        if !self.has_room_for_routes(2) {
            return false;
        }
        let has_budget = self.has_budget(port, stations, ROUTES);
        if !has_budget {
            self.net.counters.routes_over_budget += 1;
            self.net.offend(port, OffenceKind::Rules);
        }
        has_budget
    }

    /// Adds a route from a switch to a station on a path. `None` if the path gets no labels.
    pub(super) fn enter_route(
        &mut self,
        now: Time,
        from: From,
        switch: u32,
        to: u32,
        path: u32,
        out: &mut Vec<Command>,
    ) -> Option<u32> {
        let route = self.routes.insert(from, switch, to);
        if !self.put_route_on(now, route, path, out) {
            self.routes.remove(route);
            return None;
        }
        self.net.stations.slab[to].routes.push(routes::by::STATION, &mut self.routes.slab, route);
        if let From::Claim { station, .. } = from {
            let said = &mut self.net.stations.slab[station].said;
            said.push(routes::by::CLAIMANT, &mut self.routes.slab, route);
            self.shares.add(self.ports_of([station, to]));
        }
        Some(route)
    }
}
