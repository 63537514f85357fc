//! [`Job`]: flows that are done together: a round of a collective, a step of training, a request of inference, or a trace whose
//! flows wait for each other.

use std::ops::Range;

use weft_units::Time;

use crate::bound::Bound;

/// The start of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Began {
    /// With its first flow or computation.
    First,
    /// At this time.
    At(Time),
}

impl Began {
    /// The start of a job whose first flow or computation started at `first`.
    pub const fn time(self, first: Time) -> Time {
        match self {
            Self::First => first,
            Self::At(time) => time,
        }
    }
}

/// Flows that are done together.
#[derive(Clone, PartialEq, Debug)]
pub struct Job {
    /// The index of its group.
    pub group: u32,
    /// The algorithm's name, `training`, `inference` or `trace`.
    pub kind: &'static str,
    /// The number of the round, from 1.
    pub round: u64,
    /// The number of ranks.
    pub ranks: u32,
    /// The bytes at every rank; of a trace, the sum of its flows.
    pub bytes: u64,
    /// The number of flows.
    pub flows: u64,
    /// Its start.
    pub began: Began,
    /// A lower bound of the time from its start to the last end of a flow or computation.
    pub bound: Bound,
    /// The ratio of the bus bandwidth to `bytes` over the time, if it has one.
    pub bus_factor: Option<f64>,
}

/// The jobs of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Jobs {
    list: Vec<Job>,
    /// The job of each flow, plus one; 0 for none. Empty without jobs.
    of: Vec<u32>,
    /// The same of each step; empty if no job has steps.
    of_steps: Vec<u32>,
}

impl Jobs {
    /// Jobs of `flows` flows, each with the flows that belong to it.
    pub(crate) fn new(flows: usize, jobs: Vec<(Job, impl Iterator<Item = u32>)>) -> Self {
        let of = vec![0; if jobs.is_empty() { 0 } else { flows }];
        let mut this = Self { list: Vec::new(), of, of_steps: Vec::new() };
        for (job, members) in jobs {
            this.list.push(job);
            for flow in members {
                this.of[flow as usize] = this.list.len() as u32;
            }
        }
        this
    }

    /// The same, with the steps of each job, by its index.
    pub(crate) fn with_steps(mut self, steps: Vec<(usize, Range<usize>)>) -> Self {
        self.of_steps = vec![0; steps.iter().map(|(_, steps)| steps.end).max().unwrap_or_default()];
        for (job, steps) in steps {
            self.of_steps[steps].fill(job as u32 + 1);
        }
        self
    }

    /// All jobs.
    pub fn list(&self) -> &[Job] {
        &self.list
    }

    /// The index of the job of a flow.
    pub fn of(&self, flow: u32) -> Option<usize> {
        (*self.of.get(flow as usize)? as usize).checked_sub(1)
    }

    /// The index of the job of a step.
    pub fn of_step(&self, step: u32) -> Option<usize> {
        (*self.of_steps.get(step as usize)? as usize).checked_sub(1)
    }
}
