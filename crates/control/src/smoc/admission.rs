//! Whether a port's hosts may open one more flow, and what becomes of those who open too many.
//!
//! Each port has its own limits, so that who floods makes room at the expense of his own flows. Above them
//! his TCP goes by stations instead of flows for as long as it lasts: nothing of it comes to the controller.

use weft_units::Time;

use super::Smoc;
use super::install::Draft;
use super::rules::Changes;
use crate::command::Command;
use crate::flows::State;
use crate::ids::{FrameRef, SwitchPort};
use crate::network::at_once;
use crate::routes::{self, From};
use crate::transactions::Purpose;

impl Smoc {
    /// Whether one more flow may be opened at a port; old ones that nobody has confirmed may have to go.
    pub(super) fn admit(&mut self, now: Time, port: u32, out: &mut Vec<Command>) -> bool {
        let limits = &self.net.settings.limits;
        let (rate, flows, per_port, unconfirmed) =
            (limits.new_flows_per_port_s, limits.flows, limits.flows_per_port, limits.unconfirmed_per_port);
        let used = self.net.port_use(port);
        if !used.new_flows.take(now, rate, rate / 10) {
            return false;
        }
        if (used.flows as usize >= per_port || used.unconfirmed.len() >= unconfirmed)
            && !self.give_up_oldest(now, port, out)
        {
            return false;
        }
        if self.flows.slab.len() < flows {
            return true;
        }
        let busiest = self.net.busiest_port();
        if busiest.is_some_and(|busiest| self.give_up_oldest(now, busiest, out)) {
            return true;
        }
        let Some(dormant) = self.flows.dormant.first() else { return false };
        self.drop_flow(now, dormant, &mut Changes::new(), out);
        true
    }

    /// Gives up the oldest unconfirmed flow of a port. Those that have outlived the idle timeout carry packets:
    /// that confirms them.
    fn give_up_oldest(&mut self, now: Time, port: u32, out: &mut Vec<Command>) -> bool {
        let alive = weft_units::Duration::from_secs(2 * u64::from(self.net.settings.idle_timeout_s));
        while let Some(oldest) = self.net.port_use(port).unconfirmed.first() {
            if now.saturating_since(self.flows.slab[oldest].since) < alive
                || self.flows.slab[oldest].state.any(State::INSTALLING.and(State::HANDSHAKE))
            {
                self.net.counters.flows_given_up += 1;
                let mut changes = Changes::new();
                self.drop_flow(now, oldest, &mut changes, out);
                at_once(changes, out);
                return true;
            }
            self.dequeue(oldest);
        }
        false
    }

    /// Sends TCP from a port to a station by the shortest path, without looking at its flows, and the same back.
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
        let froms = ends.map(|port| From::Crowd { port, six });
        self.route(now, at, stations, froms, frame, out);
    }

    /// Sends a frame along the route to the second station, which is made if need be, together with the one
    /// back.
    pub(super) fn route(
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
                Some(_) => {
                    self.net.counters.frames_dropped += 1;
                    out.push(Command::Forget(frame));
                }
                // It came before the rule was there.
                None => self.net.relay(now, port, stations[1], frame, out),
            }
            return;
        }
        let Some(path) = self.shortest(stations) else {
            self.net.counters.frames_without_path += 1;
            return out.push(Command::Forget(frame));
        };
        if self.routes.slab.len() + 2 > self.net.settings.limits.flows || !self.transactions.has_room() {
            return self.net.relay(now, port, stations[1], frame, out);
        }
        let mut draft = Draft::new(Purpose::Other).releasing(Some((at, frame)));
        for side in [1, 0] {
            let (from, to) = (froms[side], stations[1 - side]);
            if self.routes.find(from, to).is_some() {
                continue;
            }
            let switch = self.net.stations.slab[stations[side]].switch;
            let route = self.routes.insert(from, switch, to);
            if !self.put_route_on(now, route, path, out) {
                self.routes.remove(route);
                return self.net.relay(now, port, stations[1], frame, out);
            }
            self.net.stations.slab[to].routes.push(routes::by::STATION, &mut self.routes.slab, route);
            self.draft_route(&mut draft, route);
        }
        self.submit(now, draft, out);
    }
}
