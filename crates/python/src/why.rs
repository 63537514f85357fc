//! Explaining the time of flows with a Python callback for progress.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use pyo3::prelude::*;
use serde_json::{Value, json};
use weft_sim::engine::Progress;
use weft_sim::explore::RecordingProgress;
use weft_sim::flow_choice::FlowChoice;
use weft_sim::why::explain;
use weft_units::Time;

use crate::explore::{Ends, choice, exploring_plan};
use crate::files::scenario;
use crate::plan::plan_of;
use crate::watched::watched;

#[pyfunction]
#[pyo3(signature = (text, name, base_dir, sets, point_id, flows, packets, on_path, progress))]
#[expect(clippy::too_many_arguments, reason = "the arguments of the Python function")]
pub fn why(
    py: Python<'_>,
    text: &str,
    name: &str,
    base_dir: &str,
    sets: Vec<String>,
    point_id: &str,
    flows: Vec<u64>,
    packets: bool,
    on_path: Option<HashMap<u32, u64>>,
    progress: Py<PyAny>,
) -> PyResult<String> {
    let scenario = scenario(text, name, &sets)?;
    let watch = Progress::default();
    let event = || {
        json!({
            "sim_time_s": watch.time_ps.load(Ordering::Relaxed) as f64 * 1e-12,
            "packet_hops": watch.packet_hops.load(Ordering::Relaxed),
        })
    };
    watched(py, &[&watch.stop], &progress, event, || {
        let plan = plan_of(&scenario, point_id, base_dir)?;
        let named = |flow: &u64| FlowChoice::Number(*flow).named(&plan);
        let flows: Vec<u32> = flows
            .iter()
            .filter_map(|flow| named(flow).transpose())
            .map(|flow| flow.map(|flow| flow.id.0))
            .collect::<Result<_, _>>()?;
        let starts: Option<HashMap<u32, Time>> =
            on_path.map(|starts| starts.into_iter().map(|(flow, ps)| (flow, Time::from_ps(ps))).collect());
        let explained = explain(&plan, &flows, starts.as_ref(), &watch).map_err(|error| error.to_string())?;
        let values: Vec<Value> = explained.iter().map(|one| one.json(&plan, packets)).collect();
        Ok(Value::from(values).to_string())
    })
}

#[pyfunction]
#[pyo3(signature = (text, name, base_dir, sets, points, flow, ends, progress))]
#[expect(clippy::too_many_arguments, reason = "the arguments of the Python function")]
pub fn time_line(
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
    let watch = RecordingProgress::default();
    let event =
        || json!({ "fraction": watch.fraction().unwrap_or_default(), "packet_hops": watch.packet_hops() });
    watched(py, &[&watch.progress.stop], &progress, event, || {
        let plan = exploring_plan(&scenario, &points, base_dir)?;
        watch.goal_ps.store(plan.run.duration.ps(), Ordering::Relaxed);
        let flow = choice.named_or_long(&plan)?.id.0;
        let explained = explain(&plan, &[flow], None, &watch.progress).map_err(|error| error.to_string())?;
        Ok(json!({
            "name": plan.name,
            "label": if plan.label.is_empty() { &plan.scheme.name } else { &plan.label },
            "seed": plan.seed,
            "flow": explained.first().map(|one| one.json(&plan, true)),
        })
        .to_string())
    })
}
