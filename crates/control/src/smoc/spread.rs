//! Spreading subflows that shared a path because of a failure over the recovered paths. A flow is moved only after
//! the switches on its new path have confirmed their rules.

use super::install::Draft;
use super::progress::Spread;
use super::state::Smoc;
use crate::clock::{Duration, Time};
use crate::command::Command;
use crate::flows::{State, by};
use crate::slab::NONE;
use crate::transactions::Purpose;

/// How long a link must have been up: a flapping link moves nothing.
const STEADY: Duration = Duration::from_secs(1);
/// Connections checked per turn, and the interval between turns.
const CONNECTIONS: u32 = 256;
const TURN: Duration = Duration::from_ms(10);
/// Nothing is moved while more transactions than this are open.
const BUSY: usize = 256;
/// Time allowed for installing paths before the next round.
const AGAIN: Duration = Duration::from_ms(500);
/// Maximum number of rounds over all connections.
const ROUNDS: u32 = 4;

impl Smoc {
    /// Links have come up: subflows are spread once the links are steady.
    pub(super) fn spread_later(&mut self, now: Time) {
        self.spread = Some(Spread { at: now + STEADY, next: 0, rounds: ROUNDS, waits: false });
    }

    /// Spreads the subflows of some connections.
    pub(super) fn spread(&mut self, now: Time, out: &mut Vec<Command>) {
        let Some(mut state) = self.spread.filter(|state| state.at <= now) else { return };
        state.at = now + TURN;
        if self.transactions.len() > BUSY {
            self.spread = Some(state);
            return;
        }
        let Some(last) = self.connections.slab.iter().next_back().map(|(index, _)| index) else {
            self.spread = None;
            return;
        };
        let end = state.next.saturating_add(CONNECTIONS);
        for connection in state.next..end.min(last + 1) {
            state.waits |= self.spread_connection(now, connection, out);
        }
        state.next = end;
        self.spread = if end <= last {
            Some(state)
        } else if state.waits && state.rounds > 1 {
            Some(Spread { at: now + AGAIN, next: 0, rounds: state.rounds - 1, waits: false })
        } else {
            None
        };
    }

    /// Moves subflows of a connection to less used paths. Returns whether one waits for a path.
    fn spread_connection(&mut self, now: Time, connection: u32, out: &mut Vec<Command>) -> bool {
        let Some(entry) = self.connections.slab.get(connection) else { return false };
        if entry.confirmed < 2 {
            return false;
        }
        let flows: Vec<u32> = entry.flows.iter(by::CONNECTION, &self.flows.slab).collect();
        let mut waits = false;
        for flow in flows {
            let entry = &self.flows.slab[flow];
            let settled = entry.state.has(State::CONFIRMED) && !entry.state.has(State::INSTALLING);
            if !settled || entry.path == NONE {
                continue;
            }
            let Some(path) = self.better(flow) else { continue };
            if self.is_in_place(path) {
                self.net.counters.flows_spread += 1;
                self.move_flow(now, flow, path, out);
                continue;
            }
            waits = true;
            if !self.paths.slab[path].asked && self.label(now, path, out) {
                let mut draft = Draft::new(Purpose::Other);
                self.draft_path(&mut draft, path);
                self.submit(now, draft, out);
                // It has no users yet: it expires if none comes.
                self.paths.unused(now, path);
            }
        }
        waits
    }

    /// Whether all transit switches of a path have confirmed its rules.
    fn is_in_place(&self, path: u32) -> bool {
        let path = &self.paths.slab[path];
        path.installed || (path.switches.len() <= 2 && path.labels.is_some())
    }
}
