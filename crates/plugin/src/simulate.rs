//! [`simulate`]: a scheme in the unit tests of its module.

use weft_scenario::Scenario;
use weft_sim::columns::FlowRecord;
use weft_sim::engine::Progress;
use weft_sim::record::{Recorder, RunReport};
use weft_sim::run::run_own;
use weft_sim::sample::Sample;
use weft_switching::{Descriptor, Schemes};

use crate::scheme::{Scheme, Setting};

/// The outcome of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Sums over the run.
    pub report: RunReport,
    /// Every flow, in the order of their ends.
    pub flows: Vec<FlowRecord>,
}

/// Carries out the first run of a scenario, given as text, that has the scheme `S`. Each of `sets` changes a key, as in
/// `"traffic.load=0.4"`.
///
/// # Errors
/// The scenario is not valid, names a file, or has no such run.
pub fn simulate<S: Scheme>(scenario: &str, sets: &[&str]) -> Result<Outcome, String> {
    let own: &'static Descriptor = const { &S::DESCRIPTOR };
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let scenario = Scenario::parse_among(scenario, "scenario", &sets, Schemes { modules: vec![own] });
    let scenario = scenario.map_err(|wrong| wrong.to_string())?;
    let plan = |point| scenario.plan(point, &|_| Err("there are no files here".to_owned()));
    let mut plans = scenario.points().iter().map(|point| plan(point).map_err(|wrong| wrong.to_string()));
    let plan = plans.find(|plan| plan.as_ref().map_or(true, |plan| plan.scheme.name == own.name));
    let plan = plan.ok_or_else(|| format!("no run has the scheme `{}`", own.name))??;
    let make = |routes: &_| {
        S::new(&Setting { fabric: &plan.fabric, routes, seed: plan.seed, parameters: &plan.scheme })
    };
    let mut flows = Flows(Vec::new());
    let report = run_own(&plan, make, 1, &Progress::default(), &mut flows);
    Ok(Outcome { report, flows: flows.0 })
}

/// Keeps the flows.
struct Flows(Vec<FlowRecord>);

impl Recorder for Flows {
    fn flow(&mut self, record: &FlowRecord) {
        self.0.push(record.clone());
    }

    fn sample(&mut self, _sample: &Sample) {}
}
