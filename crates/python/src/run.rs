//! Running a scenario's sweep with a Python callback for progress.

use std::path::Path;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use serde_json::{Value, json};
use weft_plugin::host::loaded;
use weft_sim::capture::{Captured, Target};
use weft_sim::module::Module;
use weft_sim::sweep::{Capture, Event, Options, run_sweep};
use weft_sim::sweep_error::SweepError;
use weft_units::Bytes;

use crate::emulated::of_sweep;
use crate::error::ScenarioError;
use crate::files::{load, scenario};

/// The default size after which a capture takes no more frames.
pub const CAPTURE_LIMIT: Bytes = Bytes(100_000_000);

#[pyfunction]
#[pyo3(signature = (text, name, base_dir, sets, out_dir, jobs, threads, seeds, progress, captures=Vec::new(), capture_dir=None, capture_limit=None))]
#[expect(clippy::too_many_arguments, reason = "the arguments of the Python function")]
pub fn run(
    py: Python<'_>,
    text: &str,
    name: &str,
    base_dir: &str,
    mut sets: Vec<String>,
    out_dir: &str,
    jobs: usize,
    threads: Option<usize>,
    seeds: Option<Vec<u64>>,
    progress: Py<PyAny>,
    captures: Vec<String>,
    capture_dir: Option<String>,
    capture_limit: Option<String>,
) -> PyResult<String> {
    let targets: Result<Vec<Target>, String> = captures.iter().map(|text| text.parse()).collect();
    let targets = targets.map_err(ScenarioError::new_err)?;
    let limit = capture_limit.map_or(Ok(CAPTURE_LIMIT), |text| text.parse());
    let limit = limit.map_err(|error| ScenarioError::new_err(format!("--capture-limit: {error}")))?;
    if let Some(seeds) = seeds {
        sets.push(format!("run.seeds={seeds:?}"));
    }
    let scenario = scenario(text, name, &sets)?;
    let mut raised = None;
    let report = py.detach(|| {
        let load = |path: &str| load(base_dir, path);
        let capture = Capture { targets: &targets, directory: capture_dir.as_deref().map(Path::new), limit };
        let capture = (!targets.is_empty()).then_some(capture);
        let modules: Vec<&dyn Module> = loaded().into_iter().map(|module| module as &dyn Module).collect();
        let modules = &*modules;
        let options = Options { directory: Path::new(out_dir), jobs, threads, load: &load, capture, modules };
        run_sweep(&scenario, &options, &mut |event| {
            if raised.is_some() {
                return false;
            }
            let result = Python::attach(|py| {
                py.check_signals()?;
                events_json(event).iter().try_for_each(|event| {
                    let text = PyString::new(py, &event.to_string());
                    progress.call1(py, (text,)).map(drop)
                })
            });
            raised = result.err();
            raised.is_none()
        })
    });
    let report = report.map_err(|error| match error {
        SweepError::Threads { .. } => PyRuntimeError::new_err(error.to_string()),
        _ => of_sweep(error),
    })?;
    if let Some(error) = raised {
        return Err(error);
    }
    let failed = report
        .failed
        .iter()
        .map(|(point, why)| json!({ "run_id": point.id, "label": point.label, "error": why.error, "disk_full": why.is_disk_full }));
    let answer = json!({
        "done": report.done,
        "skipped": report.skipped,
        "failed": failed.collect::<Vec<_>>(),
        "repeated": report.repeated,
        "captures": report.captured.iter().map(captured_json).collect::<Vec<_>>(),
        "captures_kept": report.captures_kept,
    });
    Ok(answer.to_string())
}

/// A capture that was made, as JSON for Python.
fn captured_json(captured: &Captured) -> Value {
    json!({
        "path": captured.path,
        "frames": captured.frames,
        "left_out": captured.left_out.map_or(0, |(frames, _)| frames),
        "full_at": captured.left_out.map(|(_, at)| at.to_string()),
    })
}

/// An event as JSON for Python.
fn events_json(event: &Event<'_>) -> Vec<Value> {
    match event {
        Event::Start { total, done } => {
            let skipped = std::iter::repeat_n(json!({ "event": "run_skipped" }), *done);
            std::iter::once(json!({ "event": "sweep", "total": total })).chain(skipped).collect()
        }
        Event::Progress { point, fraction, flows_done, flows_total, packet_hops, sim_time_s } => {
            vec![json!({
                "event": "progress",
                "run_id": point.id,
                "label": point.label,
                "fraction": fraction,
                "flows_done": flows_done,
                "flows_total": flows_total,
                "packet_hops": packet_hops,
                "sim_time_s": sim_time_s,
            })]
        }
        Event::RunDone { point, packet_hops } => vec![json!({
            "event": "run_done",
            "run_id": point.id,
            "label": point.label,
            "fraction": 1.0,
            "packet_hops": packet_hops,
        })],
        Event::RunFailed { point, error } => vec![json!({
            "event": "run_failed",
            "run_id": point.id,
            "label": point.label,
            "error": error,
        })],
        Event::OneThread { why } => vec![json!({ "event": "one_thread", "why": why })],
        Event::Tick => Vec::new(),
    }
}
