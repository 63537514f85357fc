//! Removing flows, routes and stations, with everything that depends on them.

use super::rules::{Changes, delivery};
use super::state::Smoc;
use crate::clock::Time;
use crate::command::{Command, at_once};
use crate::flows::{State, by};
use crate::routes::{self, From};
use crate::rule::{Actions, RuleChange};
use crate::slab::NONE;
use crate::station::Station;

impl Smoc {
    /// Removes the rules of a flow from their switches. Frames waiting for them are dropped.
    pub(super) fn unrule(&mut self, flow: u32, changes: &mut Changes, out: &mut Vec<Command>) {
        for direction in [0, 1] {
            if self.flows.slab[flow].state.has(State::RULES[direction]) {
                let (cookie, matches) = (self.flow_cookie(flow, direction), self.flow_match(flow, direction));
                let station = self.flows.slab[flow].key.stations[direction];
                let switch = self.net.stations.slab[station].switch;
                self.net.change(changes, switch, RuleChange::Remove { cookie, matches });
            }
        }
        let state = &mut self.flows.slab[flow].state;
        state.set(State::FORWARD.and(State::REVERSE), false);
        state.set(State::COPY_FORWARD.and(State::COPY_REVERSE).and(State::INSTALLING), false);
        for (_, frame) in self.transactions.leave_flow(flow) {
            self.net.drop_frame(frame, out);
        }
    }

    /// Takes a flow off its paths.
    pub(super) fn unpath(&mut self, now: Time, flow: u32) {
        self.unpath_back(now, flow);
        let path = std::mem::replace(&mut self.flows.slab[flow].path, NONE);
        if path != NONE {
            self.paths.slab[path].flows.remove(by::PATH, &mut self.flows.slab, flow);
            self.paths.unused(now, path);
        }
    }

    /// Takes a flow off the path of its reverse direction, if it has one of its own.
    pub(super) fn unpath_back(&mut self, now: Time, flow: u32) {
        let path = std::mem::replace(&mut self.flows.slab[flow].back, NONE);
        if path != NONE {
            self.paths.slab[path].backs.remove(by::BACK, &mut self.flows.slab, flow);
            self.paths.unused(now, path);
        }
    }

    /// Removes a flow from its connection. A connection without flows is forgotten.
    pub(super) fn leave_connection(&mut self, flow: u32) {
        let connection = std::mem::replace(&mut self.flows.slab[flow].connection, NONE);
        if connection == NONE {
            return;
        }
        let state = &mut self.flows.slab[flow].state;
        let was = *state;
        state.set(State::JOIN.and(State::FROM_LISTENER).and(State::CONFIRMED), false);
        let entry = &mut self.connections.slab[connection];
        entry.flows.remove(by::CONNECTION, &mut self.flows.slab, flow);
        entry.confirmed -= u32::from(was.has(State::CONFIRMED));
        if entry.flows.is_empty() {
            self.connections.remove(connection);
        }
        if was.has(State::CONFIRMED) && !was.has(State::DORMANT) {
            self.enqueue(flow);
        }
    }

    /// Adds a flow to its port's list of unconfirmed flows.
    pub(super) fn enqueue(&mut self, flow: u32) {
        let entry = &mut self.flows.slab[flow];
        entry.state.set(State::QUEUED, true);
        let port = entry.port;
        self.net.port_use(port).unconfirmed.push(by::AGE, &mut self.flows.slab, flow);
    }

    /// Removes a flow from the unconfirmed or dormant list.
    pub(super) fn dequeue(&mut self, flow: u32) {
        let entry = &mut self.flows.slab[flow];
        let (port, state) = (entry.port, entry.state);
        entry.state.set(State::QUEUED.and(State::DORMANT), false);
        if state.has(State::QUEUED) {
            self.net.port_use(port).unconfirmed.remove(by::AGE, &mut self.flows.slab, flow);
        } else if state.has(State::DORMANT) {
            self.flows.dormant.remove(by::AGE, &mut self.flows.slab, flow);
        }
    }

    /// Forgets a flow.
    pub(super) fn drop_flow(&mut self, now: Time, flow: u32, changes: &mut Changes, out: &mut Vec<Command>) {
        self.unrule(flow, changes, out);
        self.unpath(now, flow);
        self.leave_connection(flow);
        self.dequeue(flow);
        self.handshakes.end(flow);
        let (port, stations) = (self.flows.slab[flow].port, self.flows.slab[flow].key.stations);
        let rules = 1 + u32::from(self.flows.slab[flow].state.has(State::LOCAL));
        let used = self.net.port_use(port);
        (used.flows, used.rules) = (used.flows - 1, used.rules - rules);
        let [opener, other] = stations;
        self.net.stations.slab[opener].flows[0].remove(by::OPENER, &mut self.flows.slab, flow);
        self.net.stations.slab[other].flows[1].remove(by::OTHER, &mut self.flows.slab, flow);
        self.flows.remove(flow);
    }

    /// Removes a flow's rules and path. A confirmed subflow keeps its place in its connection for a while, so that its
    /// next packet does not start a new one.
    pub(super) fn put_to_sleep(
        &mut self,
        now: Time,
        flow: u32,
        changes: &mut Changes,
        out: &mut Vec<Command>,
    ) {
        let state = self.flows.slab[flow].state;
        if !state.has(State::CONFIRMED) || self.net.settings.remember_s == 0.0 {
            return self.drop_flow(now, flow, changes, out);
        }
        self.unrule(flow, changes, out);
        self.unpath(now, flow);
        self.dequeue(flow);
        self.handshakes.end(flow);
        let entry = &mut self.flows.slab[flow];
        entry.state.set(State::HANDSHAKE, false);
        entry.state.set(State::DORMANT, true);
        entry.since = now;
        self.flows.dormant.push(by::AGE, &mut self.flows.slab, flow);
    }

    /// A rule of a flow has reached its idle timeout.
    pub(super) fn rule_idle(&mut self, now: Time, flow: u32, direction: usize, out: &mut Vec<Command>) {
        let state = &mut self.flows.slab[flow].state;
        if state.has(State::INSTALLING) {
            // It may have been installed again since.
            return;
        }
        state.set(State::RULES[direction].and(State::COPIES[direction]), false);
        if !state.any(State::FORWARD.and(State::REVERSE)) {
            self.put_to_sleep(now, flow, &mut Vec::new(), out);
        }
    }

    /// Forgets a route. Its rule is removed if it still exists.
    pub(super) fn drop_route(
        &mut self,
        now: Time,
        route: u32,
        changes: &mut Changes,
        out: &mut Vec<Command>,
    ) {
        let (cookie, (_, matches)) = (self.route_cookie(route), self.route_match(route));
        let entry = &self.routes.slab[route];
        let (switch, path, to) = (entry.switch, entry.path, entry.to);
        self.net.change(changes, switch, RuleChange::Remove { cookie, matches });
        for (_, frame) in self.transactions.leave_route(route) {
            self.net.drop_frame(frame, out);
        }
        self.paths.slab[path].routes.remove(routes::by::PATH, &mut self.routes.slab, route);
        self.paths.unused(now, path);
        self.net.stations.slab[to].routes.remove(routes::by::STATION, &mut self.routes.slab, route);
        if let From::Claim { station, .. } = self.routes.slab[route].from {
            let said = &mut self.net.stations.slab[station].said;
            said.remove(routes::by::CLAIMANT, &mut self.routes.slab, route);
            self.shares.remove(self.ports_of([station, to]));
        }
        self.routes.remove(route);
    }

    /// Removes the routes of addresses that stations have lost: their own claims to such an address, and others' requests
    /// for it. The next request creates new routes as needed.
    pub(super) fn forget_claims(&mut self, now: Time, out: &mut Vec<Command>) {
        let mut changes = Changes::new();
        for (station, lost) in std::mem::take(&mut self.net.stations.lost) {
            let Some(entry) = self.net.stations.slab.find(station) else { continue };
            let of_address = |&route: &u32| match self.routes.slab[route].from {
                From::Claim { station: of, address, .. } if of == station.index => address == lost,
                From::Claim { kind, .. } => kind.about() == Some(lost),
                _ => false,
            };
            let said = entry.said.iter(routes::by::CLAIMANT, &self.routes.slab);
            let asked = entry.routes.iter(routes::by::STATION, &self.routes.slab);
            let routes: Vec<u32> = said.chain(asked).filter(of_address).collect();
            for route in routes {
                self.drop_route(now, route, &mut changes, out);
            }
        }
        at_once(changes, out);
    }

    /// Removes the delivery rules of evicted stations.
    pub(super) fn forget_stations(&mut self, out: &mut Vec<Command>) {
        let mut changes = Changes::new();
        for gone in self.net.stations.gone.drain(..).filter(|gone| gone.asked).collect::<Vec<_>>() {
            let end = self.net.topology.switches[gone.switch as usize].label;
            let rule = delivery(end, gone.number, Actions::new());
            self.net.change(&mut changes, gone.switch, rule.removal());
        }
        at_once(changes, out);
    }

    /// The flows that a station opened, then those that others opened to it.
    fn flows_of(&self, station: u32) -> Vec<u32> {
        let [opened, other] = &self.net.stations.slab[station].flows;
        let opened = opened.iter(by::OPENER, &self.flows.slab);
        opened.chain(other.iter(by::OTHER, &self.flows.slab)).collect()
    }

    /// Ends all flows and routes of a station, and removes its delivery rule.
    pub(super) fn detach_station(&mut self, now: Time, station: u32, out: &mut Vec<Command>) {
        let mut changes = Changes::new();
        for flow in self.flows_of(station) {
            self.put_to_sleep(now, flow, &mut changes, out);
        }
        let Station { routes: to, said, .. } = &self.net.stations.slab[station];
        let to = to.iter(routes::by::STATION, &self.routes.slab);
        let said = said.iter(routes::by::CLAIMANT, &self.routes.slab);
        let routes: Vec<u32> = to.chain(said).collect();
        for route in routes {
            self.drop_route(now, route, &mut changes, out);
        }
        if self.net.stations.slab[station].asked {
            let rule = self.station_rule(station);
            self.net.change(&mut changes, self.net.stations.slab[station].switch, rule.removal());
        }
        let entry = &mut self.net.stations.slab[station];
        (entry.asked, entry.installed) = (false, false);
        at_once(changes, out);
    }

    /// Forgets a station with its flows: none may keep its place for an unknown host.
    pub(super) fn remove_station(&mut self, now: Time, station: u32, out: &mut Vec<Command>) {
        let mut changes = Changes::new();
        for flow in self.flows_of(station) {
            self.drop_flow(now, flow, &mut changes, out);
        }
        at_once(changes, out);
        self.detach_station(now, station, out);
        self.net.stations.remove(station);
    }

    /// Moves a station to another port. `false` if there is no room for it.
    pub(super) fn move_station(
        &mut self,
        now: Time,
        station: u32,
        port: u32,
        out: &mut Vec<Command>,
    ) -> bool {
        self.detach_station(now, station, out);
        let switch = self.net.topology.ports[port as usize].switch;
        let moved = self.net.stations.relocate(now, station, switch, port);
        self.forget_stations(out);
        self.net.counters.stations_moved += u64::from(moved);
        self.net.counters.stations_refused += u64::from(!moved);
        moved
    }
}
