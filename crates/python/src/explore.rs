//! Following one exploration with a Python callback for progress.

use std::sync::atomic::Ordering;

use pyo3::prelude::*;
use serde_json::{Value, json};
use weft_scenario::{Plan, Scenario};
use weft_sim::explore::{RecordingProgress, explore as follow};
use weft_sim::flow_choice::FlowChoice;
use weft_switching::explores;

use crate::files::{load, scenario};
use crate::watched::watched;

#[pyfunction]
#[pyo3(signature = (text, name, base_dir, sets, points, flow, ends, progress))]
#[expect(clippy::too_many_arguments, reason = "the arguments of the Python function")]
pub fn explore(
    py: Python<'_>,
    text: &str,
    name: &str,
    base_dir: &str,
    sets: Vec<String>,
    points: Vec<String>,
    flow: Option<u64>,
    ends: Option<(String, String, Option<u16>, Option<u16>)>,
    progress: Py<PyAny>,
) -> PyResult<String> {
    let scenario = scenario(text, name, &sets)?;
    let choice = match (flow, ends) {
        (Some(number), _) => FlowChoice::Number(number),
        (None, Some((from, to, sport, dport))) => FlowChoice::Between { from, to, sport, dport },
        (None, None) => FlowChoice::Any,
    };
    let watches = [RecordingProgress::default(), RecordingProgress::default()];
    let stops = [&watches[0].progress.stop, &watches[1].progress.stop];
    watched(
        py,
        &stops,
        &progress,
        || event(&watches),
        || {
            let plan = plan(&scenario, &points, base_dir)?;
            let explored = follow(&plan, &choice, &watches).map_err(|error| error.to_string())?;
            Ok(explored.json(&plan).to_string())
        },
    )
}

/// The first point with one of these ids whose scheme explores, else the first.
fn plan(scenario: &Scenario, ids: &[String], base_dir: &str) -> Result<Plan, String> {
    let points = scenario.points().iter().filter(|point| ids.contains(&point.id));
    let mut first = None;
    for point in points {
        let plan = scenario.plan(point, &|path| load(base_dir, path)).map_err(|wrong| wrong.to_string())?;
        if explores(&plan.scheme.name).is_some() {
            return Ok(plan);
        }
        first.get_or_insert(plan);
    }
    first.ok_or_else(|| "the scenario has no such run".to_owned())
}

/// The progress of the two runs.
fn event(watches: &[RecordingProgress; 2]) -> Value {
    let share = |watch: &RecordingProgress| {
        let goal = watch.goal_ps.load(Ordering::Relaxed);
        (goal > 0).then(|| watch.progress.time_ps.load(Ordering::Relaxed) as f64 / goal as f64)
    };
    let (scene, share) = match (share(&watches[0]), share(&watches[1])) {
        (_, Some(share)) => (1, share),
        (first, None) => (0, first.unwrap_or_default()),
    };
    let hops = watches[scene].progress.packet_hops.load(Ordering::Relaxed);
    json!({ "scene": scene, "fraction": share.min(1.0), "packet_hops": hops })
}
