//! Following one exploration with a Python callback for progress.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyString;
use serde_json::json;
use weft_scenario::{Plan, Scenario};
use weft_sim::explore::{Choice, RecordingProgress, explore as follow};
use weft_switching::explores;

use crate::error::ScenarioError;
use crate::files::{load, scenario};

/// How often the callback is called.
const TICK: Duration = Duration::from_millis(100);

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
        (Some(number), _) => Choice::Number(number),
        (None, Some((from, to, sport, dport))) => Choice::Between { from, to, sport, dport },
        (None, None) => Choice::Any,
    };
    let watches = [RecordingProgress::default(), RecordingProgress::default()];
    let mut raised = None;
    let answer = py.detach(|| {
        std::thread::scope(|scope| {
            let (over, ended) = channel::<()>();
            let worker = scope.spawn(|| {
                // Dropped at the end, which ends the loop below.
                let _over = over;
                let plan = plan(&scenario, &points, base_dir)?;
                let explored = follow(&plan, &choice, &watches).map_err(|error| error.to_string())?;
                Ok::<_, String>(explored.json(&plan).to_string())
            });
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none() {
                    raised = tell(&watches, &progress).err();
                }
                if raised.is_some() {
                    watches.iter().for_each(|watch| watch.progress.stop.store(true, Ordering::Relaxed));
                }
            }
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    });
    raised.map_or_else(|| answer.map_err(ScenarioError::new_err), Err)
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

/// Reports the progress of the two runs.
fn tell(watches: &[RecordingProgress; 2], progress: &Py<PyAny>) -> PyResult<()> {
    let share = |watch: &RecordingProgress| {
        let goal = watch.goal_ps.load(Ordering::Relaxed);
        (goal > 0).then(|| watch.progress.time_ps.load(Ordering::Relaxed) as f64 / goal as f64)
    };
    let (scene, share) = match (share(&watches[0]), share(&watches[1])) {
        (_, Some(share)) => (1, share),
        (first, None) => (0, first.unwrap_or_default()),
    };
    let hops = watches[scene].progress.packet_hops.load(Ordering::Relaxed);
    let event = json!({ "scene": scene, "fraction": share.min(1.0), "packet_hops": hops });
    Python::attach(|py| {
        py.check_signals()?;
        progress.call1(py, (PyString::new(py, &event.to_string()),)).map(drop)
    })
}
