//! Whether a port's hosts may open one more flow, and what becomes of those who open too many.
//!
//! Each port has its own limits, so that who floods makes room at the expense of his own flows. Above them
//! his TCP goes by stations instead of flows for as long as it lasts: nothing of it comes to the controller.

use weft_units::{Duration, Time};

use super::Smoc;
use super::rules::Changes;
use crate::command::Command;
use crate::flows::State;
use crate::network::at_once;

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
