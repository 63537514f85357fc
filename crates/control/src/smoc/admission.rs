//! Flow admission: whether a port's hosts may open one more flow, and the consequence above the limit.
//!
//! Each port has its own limits, so that a flooding port evicts only its own flows. Above them its TCP is
//! forwarded per station instead of per flow while the flood lasts, and none of it reaches the controller.

use super::rules::Changes;
use super::state::Smoc;
use crate::budget::FLOWS;
use crate::clock::{Duration, Time};
use crate::command::{Command, at_once};
use crate::flows::State;

impl Smoc {
    /// Whether one more flow may be opened at a port between two stations; this may evict old unconfirmed
    /// flows.
    pub(super) fn admit(&mut self, now: Time, port: u32, stations: [u32; 2], out: &mut Vec<Command>) -> bool {
        let limits = &self.net.settings.limits;
        let (rate, flows, per_port, unconfirmed) =
            (limits.new_flows_per_port_s, limits.flows, limits.flows_per_port, limits.unconfirmed_per_port);
        let (rules, evictions) = (limits.rules_per_port as u32, limits.evictions_per_port_s);
        if !self.net.port_use(port).new_flows.take(now, rate, rate / 10) {
            return false;
        }
        if !self.has_budget(port, stations, FLOWS) {
            self.net.counters.flows_over_budget += 1;
            return false;
        }
        let more = self.rules_of(stations);
        let used = self.net.port_use(port);
        if used.rules + more > rules {
            self.net.counters.flows_over_rules += 1;
            return false;
        }
        if (used.flows as usize >= per_port || used.unconfirmed.len() >= unconfirmed)
            // An eviction costs its switches two more rule changes than the new flow.
            && !(used.evictions.take(now, evictions, evictions / 10) && self.give_up_oldest(now, port, out))
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

    /// Whether more rules may be requested from the switches of two stations on behalf of a port's hosts.
    pub(super) fn has_budget(&self, port: u32, stations: [u32; 2], part: u32) -> bool {
        let mut switches = stations.iter().map(|&station| self.net.stations.slab[station].switch);
        switches.all(|switch| self.budget.has_room(switch, port, part))
    }

    /// The number of rules of a flow between two stations at the switch that has most of them.
    pub(super) fn rules_of(&self, stations: [u32; 2]) -> u32 {
        let [from, to] = stations.map(|station| self.net.stations.slab[station].switch);
        1 + u32::from(from == to)
    }

    /// Evicts the oldest unconfirmed flow of a port. Flows that have outlived the idle timeout carry packets, which
    /// confirms them.
    fn give_up_oldest(&mut self, now: Time, port: u32, out: &mut Vec<Command>) -> bool {
        let alive = Duration::from_secs(2 * u64::from(self.net.settings.idle_timeout_s));
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
}
