//! [`Transactions`] that switches have not answered yet, with what becomes valid by their answer and the
//! frames that wait for it.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::clock::{Duration, Time};
use crate::ids::{FrameRef, SwitchPort};
use crate::slab::Handle;

/// What a transaction is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// The rules of a flow.
    Flow(Handle),
    /// Routes, or paths that are not used yet, or the rules of a switch that has come back.
    Other,
}

/// A transaction that is open.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    pub purpose: Purpose,
    /// Paths whose rules are among its own: number and serial.
    pub paths: SmallVec<[(u32, u32); 2]>,
    /// Stations whose rules are, with the switches and the numbers that they have there.
    pub stations: SmallVec<[(Handle, u32, u32); 2]>,
    /// Routes whose rules are.
    pub routes: SmallVec<[Handle; 2]>,
    /// The switches that have to answer, by number.
    pub switches: SmallVec<[u32; 8]>,
    /// The frame that is sent when all have.
    pub frame: Option<FrameRef>,
    /// Frames that came since, with the ports by which they came.
    pub held: Vec<(SwitchPort, FrameRef)>,
}

/// Frames of one transaction that wait at most, beside the first.
const MAX_HELD: usize = 16;

/// All transactions that are open.
#[derive(Clone, Debug)]
pub(crate) struct Transactions {
    open: FxHashMap<u64, Open>,
    /// Of each flow that is being installed, the last one.
    flows: FxHashMap<u32, u64>,
    /// Of each route that is.
    routes: FxHashMap<u32, u64>,
    /// Deadlines in their order; of transactions that have been answered too.
    deadlines: VecDeque<(Time, u64)>,
    last: u64,
    patience: Duration,
    held: usize,
    max_held: usize,
}

impl Transactions {
    /// None yet; each has to be answered within `patience`, and `max_held` frames wait at most.
    pub fn new(patience: Duration, max_held: usize) -> Self {
        Self {
            open: FxHashMap::default(),
            flows: FxHashMap::default(),
            routes: FxHashMap::default(),
            deadlines: VecDeque::new(),
            last: 0,
            patience,
            held: 0,
            max_held,
        }
    }

    /// How many are open.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// How many frames wait.
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

    /// A transaction that is open.
    pub fn get(&self, number: u64) -> Option<&Open> {
        self.open.get(&number)
    }

    /// The one that installs a flow.
    pub fn of_flow(&self, flow: u32) -> Option<u64> {
        self.flows.get(&flow).copied()
    }

    /// The one that installs a route.
    pub fn of_route(&self, route: u32) -> Option<u64> {
        self.routes.get(&route).copied()
    }

    /// A flow is not being installed any more, whatever becomes of the transaction. Returns the frames that
    /// wait, without that which the transaction's owner sends.
    pub fn leave_flow(&mut self, flow: u32) -> Vec<(SwitchPort, FrameRef)> {
        self.flows.remove(&flow).map(|number| self.take_held(number)).unwrap_or_default()
    }

    /// The same of a route.
    pub fn leave_route(&mut self, route: u32) -> Vec<(SwitchPort, FrameRef)> {
        self.routes.remove(&route).map(|number| self.take_held(number)).unwrap_or_default()
    }

    /// Lets a frame wait for a transaction. `false` where there is no room for it.
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

    /// When the next one has failed for want of an answer.
    pub fn deadline(&self) -> Time {
        self.deadlines.front().map_or(Time::MAX, |&(deadline, _)| deadline)
    }

    /// One that has not been answered in time.
    pub fn overdue(&self, now: Time) -> Option<u64> {
        self.deadlines.front().filter(|(deadline, _)| *deadline <= now).map(|&(_, number)| number)
    }

    /// Those that a switch has to answer, the oldest first.
    pub fn waiting_for(&self, switch: u32) -> Vec<u64> {
        let waits = |open: &Open| open.switches.contains(&switch);
        self.deadlines
            .iter()
            .map(|&(_, number)| number)
            .filter(|number| self.open.get(number).is_some_and(waits))
            .collect()
    }
}
