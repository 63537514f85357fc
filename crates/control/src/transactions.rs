//! [`Transactions`] that switches have not answered yet, with the state that the answer makes valid and the
//! frames that wait for it.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::clock::{Duration, Time};
use crate::ids::{FrameRef, SwitchPort};
use crate::settings::Settings;
use crate::slab::Handle;

/// The purpose of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Purpose {
    /// The rules of a flow.
    Flow(Handle),
    /// Routes, paths without users yet, or the rules of a reconnected switch.
    #[default]
    Other,
}

/// A flow or route taken over from the rules of an earlier controller run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Resumed {
    /// A flow.
    Flow(Handle),
    /// A route.
    Route(Handle),
}

/// An open transaction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Open {
    pub purpose: Purpose,
    /// Paths whose rules it contains: number and serial.
    pub paths: SmallVec<[(u32, u32); 2]>,
    /// Stations whose rules it contains, with their switches and numbers.
    pub stations: SmallVec<[(Handle, u32, u32); 2]>,
    /// Routes whose rules it contains.
    pub routes: SmallVec<[Handle; 2]>,
    /// Flows and routes whose old rules are replaced after confirmation.
    pub before: Vec<Resumed>,
    /// The switches that must answer, by number.
    pub switches: SmallVec<[u32; 8]>,
    /// The frame sent after confirmation.
    pub frame: Option<FrameRef>,
    /// Frames that arrived since, with their ingress ports.
    pub held: Vec<(SwitchPort, FrameRef)>,
}

/// Maximum number of frames waiting for one transaction, in addition to the first.
const MAX_HELD: usize = 16;

/// All open transactions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transactions {
    open: FxHashMap<u64, Open>,
    /// For each flow being installed, its last transaction.
    flows: FxHashMap<u32, u64>,
    /// For each route being installed, its last transaction.
    routes: FxHashMap<u32, u64>,
    /// Deadlines in order, including those of closed transactions.
    deadlines: VecDeque<(Time, u64)>,
    last: u64,
    /// How long switches may take to answer.
    patience: Duration,
    held: usize,
    /// Maximum number of waiting frames.
    max_held: usize,
}

impl Transactions {
    /// Creates an empty set of transactions.
    pub fn new(settings: &Settings) -> Self {
        // A second more than the deadline of each switch, which comes first and names the switch.
        let patience = Duration::from_secs_f64(settings.install_deadline_s + 1.0);
        Self { patience, max_held: settings.limits.held_frames, ..Self::default() }
    }

    /// The number of open transactions.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// The number of waiting frames.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Whether one more frame may wait.
    pub fn has_room(&self) -> bool {
        self.held < self.max_held
    }

    /// Opens a transaction and returns its number.
    pub fn open(&mut self, now: Time, transaction: Open) -> u64 {
        self.last += 1;
        self.held += usize::from(transaction.frame.is_some()) + transaction.held.len();
        if let Purpose::Flow(flow) = transaction.purpose {
            self.flows.insert(flow.index, self.last);
        }
        for route in &transaction.routes {
            self.routes.insert(route.index, self.last);
        }
        self.open.insert(self.last, transaction);
        self.deadlines.push_back((now + self.patience, self.last));
        self.last
    }

    /// An open transaction.
    pub fn get(&self, number: u64) -> Option<&Open> {
        self.open.get(&number)
    }

    /// The transaction that installs a flow.
    pub fn of_flow(&self, flow: u32) -> Option<u64> {
        self.flows.get(&flow).copied()
    }

    /// The transaction that installs a route.
    pub fn of_route(&self, route: u32) -> Option<u64> {
        self.routes.get(&route).copied()
    }

    /// A flow is no longer being installed, whatever the transaction's outcome. Returns its waiting frames,
    /// except the one that the transaction itself sends.
    pub fn leave_flow(&mut self, flow: u32) -> Vec<(SwitchPort, FrameRef)> {
        self.flows.remove(&flow).map(|number| self.take_held(number)).unwrap_or_default()
    }

    /// Likewise for a route.
    pub fn leave_route(&mut self, route: u32) -> Vec<(SwitchPort, FrameRef)> {
        self.routes.remove(&route).map(|number| self.take_held(number)).unwrap_or_default()
    }

    /// Lets a frame wait for a transaction. `false` if there is no room for it.
    pub fn hold(&mut self, number: u64, at: SwitchPort, frame: FrameRef) -> bool {
        if self.held >= self.max_held {
            return false;
        }
        match self.open.get_mut(&number) {
            Some(open) if open.held.len() < MAX_HELD => {
                open.held.push((at, frame));
                self.held += 1;
                true
            }
            _ => false,
        }
    }

    fn take_held(&mut self, number: u64) -> Vec<(SwitchPort, FrameRef)> {
        let held = self.open.get_mut(&number).map(|open| std::mem::take(&mut open.held)).unwrap_or_default();
        self.held -= held.len();
        held
    }

    /// Closes a transaction.
    pub fn close(&mut self, number: u64) -> Option<Open> {
        let open = self.open.remove(&number)?;
        if let Purpose::Flow(flow) = open.purpose
            && self.flows.get(&flow.index) == Some(&number)
        {
            self.flows.remove(&flow.index);
        }
        for route in &open.routes {
            if self.routes.get(&route.index) == Some(&number) {
                self.routes.remove(&route.index);
            }
        }
        self.held -= usize::from(open.frame.is_some()) + open.held.len();
        while self.deadlines.front().is_some_and(|(_, first)| !self.open.contains_key(first)) {
            self.deadlines.pop_front();
        }
        Some(open)
    }

    /// When the next transaction times out.
    pub fn deadline(&self) -> Time {
        self.deadlines.front().map_or(Time::MAX, |&(deadline, _)| deadline)
    }

    /// A transaction that has timed out.
    pub fn overdue(&self, now: Time) -> Option<u64> {
        self.deadlines.front().filter(|(deadline, _)| *deadline <= now).map(|&(_, number)| number)
    }

    /// The transactions that a switch has to answer, oldest first.
    pub fn waiting_for(&self, switch: u32) -> Vec<u64> {
        let waits = |open: &Open| open.switches.contains(&switch);
        self.deadlines
            .iter()
            .map(|&(_, number)| number)
            .filter(|number| self.open.get(number).is_some_and(waits))
            .collect()
    }
}
