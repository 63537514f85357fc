//! Work on a thread of its own, whose progress a Python callback hears a few times a second.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyString;
use serde_json::Value;

use crate::error::ScenarioError;

/// How often the callback is called.
const TICK: Duration = Duration::from_millis(100);

/// Carries out `work`; calls `progress` with the events of `event`. If the callback raises, sets the flags in `stops` and
/// raises its exception when the work has ended.
pub fn watched<T: Send>(
    py: Python<'_>,
    stops: &[&AtomicBool],
    progress: &Py<PyAny>,
    event: impl Fn() -> Value + Send + Sync,
    work: impl FnOnce() -> Result<T, String> + Send,
) -> PyResult<T> {
    let mut raised = None;
    let answer = py.detach(|| {
        std::thread::scope(|scope| {
            let (over, ended) = channel::<()>();
            let worker = scope.spawn(|| {
                // Dropped at the end, which ends the loop below.
                let _over = over;
                work()
            });
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none() {
                    raised = tell(&event(), progress).err();
                }
                if raised.is_some() {
                    stops.iter().for_each(|stop| stop.store(true, Ordering::Relaxed));
                }
            }
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    });
    raised.map_or_else(|| answer.map_err(ScenarioError::new_err), Err)
}

fn tell(event: &Value, progress: &Py<PyAny>) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        progress.call1(py, (PyString::new(py, &event.to_string()),)).map(drop)
    })
}
