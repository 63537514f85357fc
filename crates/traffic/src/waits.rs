//! [`Waits`]: the steps, needs and jobs of all groups, while their flows are drafts.

use crate::dependencies::{Dependencies, Need, Node, Step};
use crate::jobs::{Job, Jobs};
use crate::program::Program;

/// Maximum number of needs of a run: they take 4 GB.
const MAX_NEEDS: usize = 100_000_000;

/// The steps, needs and jobs of all groups. Their flows are drafts, by index.
#[derive(Default)]
pub(crate) struct Waits {
    steps: Vec<Step>,
    needs: Vec<Need>,
    /// The jobs, with the first of their drafts.
    jobs: Vec<(Job, usize)>,
}

impl Waits {
    /// Checks that there is room for the needs of a program.
    pub(crate) fn room_for(&self, program: &Program) -> Result<(), String> {
        match self.needs.len() + program.needs.len() <= MAX_NEEDS {
            true => Ok(()),
            false => Err(format!("flows wait for more than {MAX_NEEDS} others in total")),
        }
    }

    /// Adds the steps and needs of a program whose flows start at draft `first`.
    pub(crate) fn add(&mut self, mut program: Program, first: usize) {
        let (flows, steps) = (first as u32, self.steps.len() as u32);
        self.steps.append(&mut program.steps);
        let needs = program.needs.into_iter();
        self.needs.extend(needs.map(|need| need.between(|node| node.after(flows, steps))));
    }

    /// Adds a job, whose flows start at draft `first`.
    pub(crate) fn job(&mut self, job: Job, first: usize) {
        self.jobs.push((job, first));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.needs.is_empty() && self.jobs.is_empty()
    }

    /// The tables of a run, from the id of each draft.
    pub(crate) fn into_tables(self, ids: &[u32]) -> (Dependencies, Jobs) {
        let Self { steps, needs, jobs } = self;
        let needs = needs.into_iter().map(|need| {
            need.between(|node| match node {
                Node::Flow(draft) => Node::Flow(ids[draft as usize]),
                Node::Step(_) => node,
            })
        });
        let dependencies = Dependencies::new(ids.len(), steps, needs.collect());
        let members = jobs.into_iter().map(|(job, first)| {
            let drafts = first..first + job.flows as usize;
            (job, ids[drafts].iter().copied())
        });
        (dependencies, Jobs::new(ids.len(), members.collect()))
    }
}
