//! [`Open`]: transactions that not all of their switches have confirmed.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::clock::{Duration, Time};
use crate::ids::{FrameRef, SwitchId, SwitchPort};

/// A transaction that is over.
#[derive(Debug)]
pub struct Done {
    /// The frames that waited for it, with the ports by which they came.
    pub release: Vec<(SwitchPort, FrameRef)>,
    /// When what caused it came in.
    pub since: Time,
}

/// A transaction that has failed, and at which switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The core's number.
    pub transaction: u64,
    /// The switch; 0 where none is known.
    pub switch: SwitchId,
}

#[derive(Debug)]
struct Pending {
    done: Done,
    waiting: SmallVec<[SwitchId; 8]>,
}

/// All that are open, by the core's number.
#[derive(Debug, Default)]
pub struct Open {
    pending: FxHashMap<u64, Pending>,
    /// All have the same patience: the first is the first to be overdue. Its first is open, others may not be.
    deadlines: VecDeque<(Time, u64)>,
}

impl Open {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Opens one that waits for these switches.
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

    /// A switch has confirmed it; gives it if that was the last.
    pub fn confirmed(&mut self, transaction: u64, switch: SwitchId) -> Option<Done> {
        let waiting = &mut self.pending.get_mut(&transaction)?.waiting;
        waiting.retain(|other| *other != switch);
        self.done(transaction)
    }

    /// Gives it if it waits for nobody.
    pub fn done(&mut self, transaction: u64) -> Option<Done> {
        self.pending.get(&transaction).filter(|pending| pending.waiting.is_empty())?;
        self.close(transaction)
    }

    /// It has failed by a switch, unless it is over.
    pub fn fail(&mut self, transaction: u64, switch: SwitchId) -> Option<Failure> {
        self.close(transaction).map(|_| Failure { transaction, switch })
    }

    /// One that has taken too long, with a switch that has not confirmed it.
    pub fn overdue(&mut self, now: Time) -> Option<Failure> {
        let (_, transaction) = self.deadlines.front().filter(|(deadline, _)| *deadline <= now).copied()?;
        let late = self.pending.get(&transaction).and_then(|pending| pending.waiting.iter().min());
        let switch = late.copied().unwrap_or_default();
        self.fail(transaction, switch)
    }

    /// When the oldest is overdue; [`Time::MAX`] if there is none.
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
