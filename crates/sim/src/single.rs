//! One run of a scenario, alone, for example on another machine than the rest of its sweep.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use weft_scenario::{Point, Scenario};

use crate::active::{Active, Failed, RunProgress, Task, Timing, carry_out};

/// How often the observer receives progress.
const TICK: Duration = Duration::from_millis(200);

/// Carries out the run `point` on `threads` threads and writes its result to `target`; see
/// [`carry_out`](crate::active::carry_out). Calls `observer` from this thread; it returns whether to continue.
///
/// # Errors
/// As `carry_out`.
pub fn run_point(
    scenario: &Scenario,
    point: &Point,
    load: &(dyn Fn(&str) -> Result<Vec<u8>, String> + Sync),
    target: &Path,
    threads: usize,
    observer: &mut dyn FnMut(Option<RunProgress>) -> bool,
) -> Result<Option<Timing>, Failed> {
    let run: OnceLock<Arc<Active<'_>>> = OnceLock::new();
    let (over, ended) = channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            let (threads, files) = (&|_| threads, &BTreeMap::new());
            let task = Task { scenario, point, load, target, threads, capture: None, modules: &[], files };
            let outcome = carry_out(&task, &|active| {
                // The first and only call.
                let _ = run.set(Arc::clone(active));
            });
            // The receiver lives until the outcome has arrived.
            let _ = over.send(outcome);
        });
        let mut is_stopped = false;
        loop {
            match ended.recv_timeout(TICK) {
                Ok(outcome) => return outcome,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err("the run ended without a result".to_owned().into());
                }
                Err(RecvTimeoutError::Timeout) => {
                    is_stopped = is_stopped || !observer(run.get().map(|run| run.so_far()));
                    if let Some(run) = run.get() {
                        run.stop(is_stopped);
                    }
                }
            }
        }
    })
}
