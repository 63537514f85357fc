//! [`Open`]: transactions not yet confirmed by all their switches.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::clock::{Duration, Time};
use crate::ids::{FrameRef, SwitchId, SwitchPort};

/// A finished transaction.
#[derive(Debug)]
pub struct Done {
    /// The frames that waited for it, with their ingress ports.
    pub release: Vec<(SwitchPort, FrameRef)>,
    /// When it was started.
    pub since: Time,
}

/// A failed transaction and the switch where it failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The core's number.
    pub transaction: u64,
    /// The switch; 0 if unknown.
    pub switch: SwitchId,
}

#[derive(Debug)]
struct Pending {
    done: Done,
    waiting: SmallVec<[SwitchId; 8]>,
}

/// All open transactions, by the core's number.
#[derive(Debug, Default)]
pub struct Open {
    pending: FxHashMap<u64, Pending>,
    /// All have the same timeout, so the first expires first. The first is open, others may be closed.
    deadlines: VecDeque<(Time, u64)>,
}

impl Open {
    /// The number of open transactions.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Opens a transaction that waits for these switches.
    pub fn begin(
        &mut self,
        transaction: u64,
        release: Vec<(SwitchPort, FrameRef)>,
        now: Time,
        patience: Duration,
        switches: impl Iterator<Item = SwitchId>,
    ) {
        let done = Done { release, since: now };
        self.pending.insert(transaction, Pending { done, waiting: switches.collect() });
        self.deadlines.push_back((now + patience, transaction));
    }

    /// A switch has confirmed a transaction; returns it if that was the last switch.
    pub fn confirmed(&mut self, transaction: u64, switch: SwitchId) -> Option<Done> {
        let waiting = &mut self.pending.get_mut(&transaction)?.waiting;
        waiting.retain(|other| *other != switch);
        self.done(transaction)
    }

    /// Closes and returns a transaction that waits for no switch.
    pub fn done(&mut self, transaction: u64) -> Option<Done> {
        self.pending.get(&transaction).filter(|pending| pending.waiting.is_empty())?;
        self.close(transaction)
    }

    /// Fails a transaction at a switch, unless it is closed.
    pub fn fail(&mut self, transaction: u64, switch: SwitchId) -> Option<Failure> {
        self.close(transaction).map(|_| Failure { transaction, switch })
    }

    /// Fails an overdue transaction, with a switch that has not confirmed it.
    pub fn overdue(&mut self, now: Time) -> Option<Failure> {
        let (_, transaction) = self.deadlines.front().filter(|(deadline, _)| *deadline <= now).copied()?;
        let late = self.pending.get(&transaction).and_then(|pending| pending.waiting.iter().min());
        let switch = late.copied().unwrap_or_default();
        self.fail(transaction, switch)
    }

    /// When the oldest transaction times out; [`Time::MAX`] if there is none.
    pub fn next_deadline(&self) -> Time {
        self.deadlines.front().map_or(Time::MAX, |(deadline, _)| *deadline)
    }

    fn close(&mut self, transaction: u64) -> Option<Done> {
        let pending = self.pending.remove(&transaction)?;
        while let Some((_, first)) = self.deadlines.front()
            && !self.pending.contains_key(first)
        {
            self.deadlines.pop_front();
        }
        Some(pending.done)
    }
}
