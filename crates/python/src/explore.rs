//! Following one exploration with a Python callback for progress.

use pyo3::prelude::*;
use serde_json::{Value, json};
use weft_scenario::{Plan, Scenario};
use weft_sim::explore::{RecordingProgress, explore as follow};
use weft_sim::flow_choice::FlowChoice;
use weft_switching::explores;

use crate::files::{load, scenario};
use crate::watched::watched;

/// Names of source and destination, and their ports.
pub type Ends = (String, String, Option<u16>, Option<u16>);

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
    ends: Option<Ends>,
    progress: Py<PyAny>,
) -> PyResult<String> {
    let scenario = scenario(text, name, &sets)?;
    let choice = choice(flow, ends);
    let watches = [RecordingProgress::default(), RecordingProgress::default()];
    let stops = [&watches[0].progress.stop, &watches[1].progress.stop];
    watched(
        py,
        &stops,
        &progress,
        || event(&watches),
        || {
            let plan = exploring_plan(&scenario, &points, base_dir)?;
            let explored = follow(&plan, &choice, &watches).map_err(|error| error.to_string())?;
            Ok(explored.json(&plan).to_string())
        },
    )
}

/// The flow with this number, or the first with these ends; with neither, any.
pub fn choice(flow: Option<u64>, ends: Option<Ends>) -> FlowChoice {
    match (flow, ends) {
        (Some(number), _) => FlowChoice::Number(number),
        (None, Some((from, to, sport, dport))) => FlowChoice::Between { from, to, sport, dport },
        (None, None) => FlowChoice::Any,
    }
}

/// The plan of the first point with one of these ids whose scheme explores, else the first.
pub fn exploring_plan(scenario: &Scenario, ids: &[String], base_dir: &str) -> Result<Plan, String> {
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
    let (scene, share) = match (watches[0].fraction(), watches[1].fraction()) {
        (_, Some(share)) => (1, share),
        (first, None) => (0, first.unwrap_or_default()),
    };
    json!({ "scene": scene, "fraction": share, "packet_hops": watches[scene].packet_hops() })
}
