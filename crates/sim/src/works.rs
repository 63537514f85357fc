//! [`Works`]: the steps of processors: when each began, and the one that its processor did before.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use weft_traffic::Dependencies;
use weft_units::{Duration, Time};

/// No time, or no step.
const NEVER: u64 = u64::MAX;
const NONE: u32 = u32::MAX;

/// The steps of all processors. Only the partition of a processor's host writes its steps.
pub struct Works<'a> {
    table: &'a Dependencies,
    processors: Vec<State>,
    /// By step. Empty without processors.
    begun: Vec<Begun>,
    /// Steps of processors that have not begun.
    left: AtomicU64,
    /// When the last of those that have begun ends, in picoseconds.
    last_end: AtomicU64,
}

/// A processor: when it is free, in picoseconds, and the last node that it began.
struct State {
    free: AtomicU64,
    last: AtomicU32,
}

/// When a step began, in picoseconds, and the node that its processor did before.
struct Begun {
    at: AtomicU64,
    before: AtomicU32,
}

/// A step of a processor that has begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// When its processor began it.
    pub start: Time,
    /// When its processor is done with it.
    pub end: Time,
    /// The node that the processor did before.
    pub before: Option<u32>,
}

impl<'a> Works<'a> {
    /// The steps of the processors in `table`, before the start.
    pub fn new(table: &'a Dependencies) -> Self {
        let state = || State { free: AtomicU64::default(), last: AtomicU32::new(NONE) };
        let processors: Vec<State> = std::iter::repeat_with(state).take(table.processors()).collect();
        let begun = || Begun { at: AtomicU64::new(NEVER), before: AtomicU32::new(NONE) };
        let steps = if processors.is_empty() { 0 } else { table.steps().len() };
        let left = AtomicU64::new(table.works().count() as u64);
        let begun = std::iter::repeat_with(begun).take(steps).collect();
        Self { table, processors, begun, left, last_end: AtomicU64::default() }
    }

    /// A step joins the queue of its processor, now. Returns when the processor begins it: steps join in the order of
    /// time.
    pub fn begin(&self, node: u32, now: Time) -> Time {
        let Some((processor, takes)) = self.table.work(node) else { return now };
        let state = &self.processors[processor as usize];
        let start = now.max(Time::from_ps(state.free.load(Ordering::Relaxed)));
        state.free.store((start + takes).ps(), Ordering::Relaxed);
        let begun = &self.begun[(node - self.table.flows()) as usize];
        begun.at.store(start.ps(), Ordering::Relaxed);
        begun.before.store(state.last.swap(node, Ordering::Relaxed), Ordering::Relaxed);
        self.last_end.fetch_max((start + takes).ps(), Ordering::Relaxed);
        self.left.fetch_sub(1, Ordering::Relaxed);
        start
    }

    /// Whether processors have begun all their steps.
    pub fn all_begun(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// When the last of the steps ends that have begun.
    pub fn last_end(&self) -> Time {
        Time::from_ps(self.last_end.load(Ordering::Relaxed))
    }

    /// A step of a processor, if it has begun.
    pub fn work(&self, node: u32) -> Option<Work> {
        let begun = self.begun.get(node.checked_sub(self.table.flows())? as usize)?;
        let at = Some(begun.at.load(Ordering::Relaxed)).filter(|at| *at != NEVER)?;
        let takes = self.table.work(node).map_or(Duration::ZERO, |(_, takes)| takes);
        let (start, before) = (Time::from_ps(at), begun.before.load(Ordering::Relaxed));
        Some(Work { start, end: start + takes, before: Some(before).filter(|before| *before != NONE) })
    }
}
