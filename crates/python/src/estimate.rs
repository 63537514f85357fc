//! The cost of a scenario before it runs.

use std::time::Instant;

use pyo3::prelude::*;
use serde_json::json;
use weft_scenario::Point;
use weft_sim::estimate::{Size, trial};

use crate::error::ScenarioError;
use crate::files::{load, scenario};

/// The most points of a sweep that are planned, evenly among all.
const MOST_POINTS: usize = 8;
/// The most of these of which a trial is made.
const MOST_TRIALS: usize = 3;

#[pyfunction]
pub fn estimate(
    py: Python<'_>,
    text: &str,
    name: &str,
    base_dir: &str,
    sets: Vec<String>,
    least_work: f64,
    seconds: f64,
) -> PyResult<String> {
    let scenario = scenario(text, name, &sets)?;
    let answer = py.detach(|| {
        let seed = scenario.points().first().map(|point| point.seed);
        let points: Vec<&Point> = scenario.points().iter().filter(|point| Some(point.seed) == seed).collect();
        let each = |most: usize, all: usize| all.div_ceil(most).max(1);
        let chosen: Vec<&Point> = points.iter().copied().step_by(each(MOST_POINTS, points.len())).collect();
        let share = scenario.points().len() as f64 / chosen.len().max(1) as f64;
        let (mut plans, mut first) = (Vec::new(), None);
        for point in chosen {
            let started = Instant::now();
            let plan =
                scenario.plan(point, &|path| load(base_dir, path)).map_err(|wrong| wrong.to_string())?;
            plans.push((Size::of(&plan), started.elapsed().as_secs_f64(), point));
            // It is that of the first trial: of millions of flows, planning takes seconds.
            first.get_or_insert(plan);
        }
        let work: f64 = plans.iter().map(|(size, _, _)| (size.packet_hops + size.samples) * share).sum();
        let step = each(MOST_TRIALS, plans.len());
        let mut trials = Vec::new();
        if work >= least_work {
            for (size, _, point) in plans.iter().step_by(step) {
                let plan = match first.take() {
                    Some(plan) => plan,
                    None => scenario
                        .plan(point, &|path| load(base_dir, path))
                        .map_err(|wrong| wrong.to_string())?,
                };
                trials.extend(trial(&plan, seconds).map(|trial| json!({ "size": size, "trial": trial })));
            }
        }
        let sizes: Vec<_> =
            plans.iter().map(|(size, seconds, _)| json!({ "size": size, "plan_seconds": seconds })).collect();
        Ok(json!({ "runs": scenario.points().len(), "sizes": sizes, "trials": trials }))
    });
    answer.map(|answer| answer.to_string()).map_err(|wrong: String| ScenarioError::new_err(wrong))
}
