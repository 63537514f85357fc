//! One run while it is active: how far it is, its cost, and its errors.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use cpu_time::ThreadTime;
use serde_json::{Value, json};
use weft_scenario::{Loader, Point, Scenario};

use crate::engine::Progress;
use crate::run::run_to_directory;

/// An active run, shared between its thread and the observer's.
pub struct Active<'a> {
    /// The run.
    pub point: &'a Point,
    progress: Progress,
    flows_total: u64,
    limit_ps: u64,
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct SoFar {
    /// Completed fraction, 0 to 1.
    pub fraction: f64,
    /// Flows finished.
    pub flows_done: u64,
    /// Total number of flows.
    pub flows_total: u64,
    /// Packet-hops.
    pub packet_hops: u64,
    /// Simulated seconds.
    pub sim_time_s: f64,
}

impl Active<'_> {
    /// How far the run is.
    pub fn so_far(&self) -> SoFar {
        let time = self.progress.time_ps.load(Ordering::Relaxed);
        let flows = self.progress.flows.load(Ordering::Relaxed);
        let by_time = time as f64 / self.limit_ps.max(1) as f64;
        let by_flows = flows as f64 / self.flows_total.max(1) as f64;
        SoFar {
            fraction: by_time.min(1.0) * 0.5 + by_flows * 0.5,
            flows_done: flows,
            flows_total: self.flows_total,
            packet_hops: self.progress.packet_hops.load(Ordering::Relaxed),
            sim_time_s: time as f64 * 1e-12,
        }
    }

    /// Makes the run stop soon, if `now`.
    pub fn stop(&self, now: bool) {
        self.progress.stop.store(now, Ordering::Relaxed);
    }
}

/// The cost of a run.
#[derive(Debug)]
pub struct Timing {
    /// Packet-hops simulated.
    pub packet_hops: u64,
    seconds: f64,
    cpu_seconds: f64,
    state_bytes: u64,
    /// Why it had one thread although it was given more.
    pub alone: Option<&'static str>,
}

impl Timing {
    /// The entry of `performance.json`.
    pub fn json(&self, point: &Point) -> Value {
        json!({
            "run": point.id,
            "packet_hops": self.packet_hops,
            "wall_seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "packet_hops_per_second": self.packet_hops as f64 / self.seconds.max(1e-9),
            "state_bytes": self.state_bytes,
        })
    }
}

/// Why a run has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failed {
    /// The reason.
    pub error: String,
    /// Whether the disk or the quota was full.
    pub is_disk_full: bool,
}

impl From<String> for Failed {
    fn from(error: String) -> Self {
        Self { error, is_disk_full: false }
    }
}

/// Carries out the run `point` and writes its result to `target`. `None` if it was stopped: then there is no
/// result.
///
/// `threads` gives the number of threads for a fabric with that many links. `begun` is called with the active
/// run before it starts.
///
/// # Errors
/// The run cannot be planned or written, or panicked; no partial result is left.
pub fn carry_out<'a>(
    scenario: &Scenario,
    point: &'a Point,
    load: Loader<'_>,
    target: &Path,
    threads: &dyn Fn(usize) -> usize,
    begun: &dyn Fn(&Arc<Active<'a>>),
) -> Result<Option<Timing>, Failed> {
    guarded(|| {
        let plan = scenario.plan(point, load).map_err(|error| error.to_string())?;
        let within = threads(plan.fabric.links().len());
        let (started, worked) = (Instant::now(), ThreadTime::now());
        let run = Arc::new(Active {
            point,
            progress: Progress::default(),
            flows_total: plan.traffic.flows.len() as u64,
            limit_ps: plan.run.duration.ps(),
        });
        begun(&run);
        let outcome = run_to_directory(&plan, target, scenario.text(), within, &run.progress);
        let report = outcome
            .map_err(|error| Failed { error: error.to_string(), is_disk_full: error.is_disk_full() })?;
        Ok(report.map(|report| Timing {
            packet_hops: report.counters.packet_hops,
            seconds: started.elapsed().as_secs_f64(),
            cpu_seconds: worked.elapsed().as_secs_f64() + run.progress.helped_seconds(),
            state_bytes: report.state_bytes,
            alone: run.progress.alone.get().copied(),
        }))
    })
}

/// The outcome of a run; a panic is an error of that run, and the others go on.
fn guarded<T>(run: impl FnOnce() -> Result<T, Failed>) -> Result<T, Failed> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(format!("internal error, please report it with the scenario: {text}").into())
    })
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_is_an_error_of_its_run() {
        let failed = guarded::<()>(|| panic!("port {} is missing", 7)).unwrap_err();
        assert_eq!(failed.error, "internal error, please report it with the scenario: port 7 is missing");
        assert_eq!(guarded(|| Ok(1)), Ok(1));
    }
}
