//! [`Waits`]: the steps, needs and jobs of all groups, while their flows are drafts.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::collective::Collective;
use crate::connections::Reuse;
use crate::dependencies::{Dependencies, MAX_ORDERED, Need, Node, Step, StepKind};
use crate::error::TrafficError;
use crate::group::{Flows, Group};
use crate::jobs::{Job, Jobs};
use crate::parts::{Parts, Series};
use crate::placement::Ranks;
use crate::places::Places;
use crate::processor::Processor;
use crate::program::Program;

/// Maximum number of needs of a run: planning it takes up to 70 bytes for each.
pub(crate) const MAX_NEEDS: usize = 40_000_000;

/// The steps, needs and jobs of all groups. Their flows are drafts, by index.
#[derive(Default)]
pub(crate) struct Waits {
    steps: Vec<Step>,
    needs: Vec<Need>,
    /// The parts of drafts.
    series: Vec<(u32, Series)>,
    /// The jobs, with the first of their drafts.
    jobs: Vec<(Job, usize)>,
    /// Steps of jobs, by the job's index.
    job_steps: Vec<(usize, Range<usize>)>,
    /// The number of processors.
    processors: u32,
    /// The kinds of those that do not compute.
    kinds: BTreeMap<u32, Processor>,
}

impl Waits {
    /// Checks the number of flows of the groups' programs, before any is made: millions take seconds.
    pub(crate) fn room_for_flows(groups: &[Group], places: &Places) -> Result<(), TrafficError> {
        let mut flows = 0_u64;
        let hosts = places.len() as u64;
        for (index, group) in groups.iter().enumerate() {
            let refuse = |why| TrafficError::Ranks { group: index, why };
            if let Some(skip) = group.flows.ranks().and_then(|ranks| ranks.skips_too_many(hosts)) {
                return Err(TrafficError::Skip { group: index, skip, hosts });
            }
            let more = match &group.flows {
                Flows::Ordered(program, _) => program.flows.len() as u64,
                // Known once the table has chosen.
                Flows::Collective(_, _, Some(_)) => 0,
                Flows::Collective(collective, ranks, None) => {
                    let count = ranks.count(hosts);
                    let round =
                        collective.flows(count).map_err(|why| collective.refused(index, count, why))?;
                    round.saturating_mul(collective.rounds)
                }
                Flows::Training(training, ranks) => {
                    training.check_ranks(ranks.count(hosts)).map_err(refuse)?;
                    training.flows().map_err(refuse)?.saturating_mul(training.steps)
                }
                Flows::Inference(inference, ranks) => {
                    inference.check_ranks(ranks.count(hosts)).map_err(refuse)?;
                    inference.expected_flows()
                }
                Flows::Listed(_) | Flows::Drawn(_) => 0,
            };
            let before = flows;
            flows = flows.saturating_add(more);
            if flows > MAX_ORDERED {
                let fewer =
                    |collective: &Collective, ranks: &Ranks| fewer(before, collective, ranks.count(hosts));
                let advice = match &group.flows {
                    Flows::Collective(collective, ranks, _) => fewer(collective, ranks),
                    _ => "",
                };
                return Err(refuse(too_many(flows, advice)));
            }
        }
        Ok(())
    }

    /// Checks that there is room for this many flows more of a collective of so many ranks, which a table has chosen.
    pub(crate) fn room_for_ordered(
        before: u64,
        more: u64,
        collective: &Collective,
        ranks: u64,
    ) -> Result<(), String> {
        match before.saturating_add(more) {
            flows if flows > MAX_ORDERED => Err(too_many(flows, fewer(before, collective, ranks))),
            _ => Ok(()),
        }
    }

    /// Checks that there is room for a program with this many needs.
    pub(crate) fn room_for_needs(&self, needs: usize) -> Result<(), String> {
        match self.needs.len() + needs <= MAX_NEEDS {
            true => Ok(()),
            false => Err(format!("flows wait for more than {MAX_NEEDS} others in total")),
        }
    }

    /// Adds the steps and needs of a program whose flows start at draft `first`.
    pub(crate) fn add(&mut self, mut program: Program, first: usize) {
        let (flows, steps) = (first as u32, self.steps.len() as u32);
        if program.processors > 0 {
            for step in &mut program.steps {
                if let StepKind::Work { processor, .. } = &mut step.kind {
                    *processor += self.processors;
                }
            }
            self.kinds.extend(program.kinds.iter().map(|(number, kind)| (number + self.processors, *kind)));
            self.processors += program.processors;
        }
        self.series.extend(program.series.iter().map(|(flow, of)| (flow + flows, of.after(flows))));
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

    /// Gives so many steps, which are added next, to the last job, after `skipped` of them.
    pub(crate) fn steps_of_job(&mut self, skipped: usize, count: usize) {
        let first = self.steps.len() + skipped;
        self.job_steps.push((self.jobs.len() - 1, first..first + count));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.needs.is_empty() && self.jobs.is_empty()
    }

    /// The tables of a run, from the id of each draft.
    pub(crate) fn into_tables(self, ids: &[u32]) -> (Dependencies, Jobs, Parts) {
        let Self { steps, needs, series, jobs, job_steps, kinds, .. } = self;
        let needs = needs.into_iter().map(|need| {
            need.between(|node| match node {
                Node::Flow(draft) => Node::Flow(ids[draft as usize]),
                Node::Step(_) => node,
            })
        });
        let dependencies = Dependencies::new(ids.len(), steps, needs.collect()).with_kinds(kinds);
        let members = jobs.into_iter().map(|(job, first)| {
            let drafts = first..first + job.flows as usize;
            (job, ids[drafts].iter().copied())
        });
        let id = |draft: u32| ids[draft as usize];
        let series = series.into_iter().map(|(flow, of)| (id(flow), Series { feeds: id(of.feeds), ..of }));
        let jobs = Jobs::new(ids.len(), members.collect()).with_steps(job_steps);
        (dependencies, jobs, Parts::new(ids.len(), series))
    }
}

/// The error of so many flows of programs, with advice.
fn too_many(flows: u64, advice: &str) -> String {
    format!(
        "collectives, training, inference and traces between ranks have {flows} flows; a run can have at most \
         {MAX_ORDERED} of them{advice}"
    )
}

/// How a collective of so many ranks would have few enough flows after so many others.
fn fewer(before: u64, collective: &Collective, ranks: u64) -> &'static str {
    let open = Collective { reuse: Reuse::Persistent, ..*collective };
    let flows = open.flows(ranks).map_or(u64::MAX, |round| round.saturating_mul(open.rounds));
    match before.saturating_add(flows) > MAX_ORDERED {
        false => {
            ": set connections = \"persistent\", under which all that a rank sends around a ring is one flow"
        }
        true => ": choose fewer ranks, channels, chunks or repeats",
    }
}
