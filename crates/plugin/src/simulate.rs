//! [`simulate`] and [`simulate_congestion`]: a scheme or congestion controller in the unit tests of its module.

use weft_scenario::Scenario;
use weft_sim::columns::FlowRecord;
use weft_sim::record::{Recorder, RunReport};
use weft_sim::sample::Sample;
use weft_switching::Schemes;

use crate::congestion::CongestionController;
use crate::content::{Content, OfController, OfScheme};
use crate::scheme::Scheme;

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
    first::<OfScheme<S>>(scenario, sets)
}

/// [`simulate`] for the congestion controller `C`.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_congestion<C: CongestionController>(
    scenario: &str,
    sets: &[&str],
) -> Result<Outcome, String> {
    first::<OfController<C>>(scenario, sets)
}

fn first<B: Content>(scenario: &str, sets: &[&str]) -> Result<Outcome, String> {
    let mut schemes = Schemes::default();
    B::add(&mut schemes);
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let scenario = Scenario::parse_among(scenario, "scenario", &sets, schemes);
    let scenario = scenario.map_err(|wrong| wrong.to_string())?;
    let plan = |point| scenario.plan(point, &|_| Err("there are no files here".to_owned()));
    let mut plans = scenario.points().iter().map(|point| plan(point).map_err(|wrong| wrong.to_string()));
    let plan = plans.find(|plan| plan.as_ref().map_or(true, |plan| B::is_in(plan)));
    let plan = plan.ok_or_else(|| format!("no run has `{}`", B::describe().name()))??;
    let mut flows = Flows(Vec::new());
    let report = B::run(&plan, &mut flows).map_err(|error| error.to_string())?;
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
