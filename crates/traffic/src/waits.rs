//! [`Waits`]: the steps, needs and jobs of all groups, while their flows are drafts.

use crate::dependencies::{Dependencies, Need, Node, Step};
use crate::jobs::{Job, Jobs};
use crate::program::Program;

/// Maximum number of needs of a run: planning it takes up to 70 bytes for each.
pub(crate) const MAX_NEEDS: usize = 40_000_000;
/// Maximum number of flows of collectives and of traces between ranks: planning takes about 100 bytes for each, besides needs.
const MAX_ORDERED: u64 = 10_000_000;

/// The steps, needs and jobs of all groups. Their flows are drafts, by index.
#[derive(Default)]
pub(crate) struct Waits {
    /// The number of flows of the programs.
    flows: u64,
    steps: Vec<Step>,
    needs: Vec<Need>,
    /// The jobs, with the first of their drafts.
    jobs: Vec<(Job, usize)>,
}

impl Waits {
    /// Checks that there is room for programs with this many flows and needs more.
    pub(crate) fn room_for(&self, flows: u64, needs: usize) -> Result<(), String> {
        let flows = self.flows.saturating_add(flows);
        if flows > MAX_ORDERED {
            return Err(format!(
                "collectives and traces between ranks have {flows} flows; a run can have at most {MAX_ORDERED} of them"
            ));
        }
        match self.needs.len() + needs <= MAX_NEEDS {
            true => Ok(()),
            false => Err(format!("flows wait for more than {MAX_NEEDS} others in total")),
        }
    }

    /// Adds the steps and needs of a program whose flows start at draft `first`.
    pub(crate) fn add(&mut self, mut program: Program, first: usize) {
        self.flows += program.flows.len() as u64;
        let (flows, steps) = (first as u32, self.steps.len() as u32);
        self.steps.append(&mut program.steps);
        let mut needs = program.needs;
        needs.iter_mut().for_each(|need| *need = need.between(|node| node.after(flows, steps)));
        match self.needs.is_empty() {
            true => self.needs = needs,
            false => self.needs.append(&mut needs),
        }
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
        let Self { steps, needs, jobs, .. } = self;
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
