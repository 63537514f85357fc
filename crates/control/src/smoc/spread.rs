//! Subflows that share a path because another one had failed, when that is there again: they are spread over the
//! paths once more, and no rule sends them anywhere before the switches on the way have confirmed theirs.

use super::Smoc;
use super::install::Draft;
use crate::clock::{Duration, Time};
use crate::command::Command;
use crate::flows::{State, by};
use crate::slab::NONE;
use crate::transactions::Purpose;

/// A cable must have been there for so long: one that comes and goes moves nobody.
const STEADY: Duration = Duration::from_secs(1);
/// Connections that are looked at in a turn, and how long a turn is.
const CONNECTIONS: u32 = 256;
const TURN: Duration = Duration::from_ms(10);
/// While more transactions are open, nothing is moved: the switches have enough to do.
const BUSY: usize = 256;
/// So long paths that had to be installed first have for it.
const AGAIN: Duration = Duration::from_ms(500);
/// How often all connections are gone through for that.
const ROUNDS: u32 = 4;

/// Where spreading has come to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    /// When it goes on.
    pub at: Time,
    /// The connection that is next.
    next: u32,
    /// How often all are still gone through.
    rounds: u32,
    /// Whether somebody waits for a path that is being installed.
    waits: bool,
}

impl Smoc {
    /// Cables have come: subflows are spread anew when they have stayed.
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

    /// Moves subflows of a connection to paths that fewer of them take. Returns whether one waits for a path.
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
                // Nobody uses it yet: it goes if nobody comes.
                self.paths.unused(now, path);
            }
        }
        waits
    }

    /// Whether all switches inside a path have confirmed its rules.
    fn is_in_place(&self, path: u32) -> bool {
        let path = &self.paths.slab[path];
        path.installed || (path.switches.len() <= 2 && path.labels.is_some())
    }
}
