//! One run while it is active: how far it is, its cost, and its errors.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use cpu_time::ThreadTime;
use serde_json::{Value, json};
use weft_scenario::{Loader, Point, Scenario};

use crate::capture::{Captured, Request};
use crate::engine::Progress;
use crate::framings::Framings;
use crate::module::{Ended, Job, Module};
use crate::run::run_to_directory;

/// An active run, shared between its thread and the observer's.
pub struct Active<'a> {
    /// The run.
    pub point: &'a Point,
    progress: Progress,
    flows_total: u64,
    packets_total: f64,
    limit_ps: u64,
}

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunProgress {
    /// Completed fraction, 0 to 1: of the packets with the flows' data, or of the time limit if that is more.
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
    pub fn so_far(&self) -> RunProgress {
        let time = self.progress.time_ps.load(Ordering::Relaxed);
        let flows = self.progress.flows.load(Ordering::Relaxed);
        let by_time = time as f64 / self.limit_ps.max(1) as f64;
        let packets = self.progress.data_packets.load(Ordering::Relaxed);
        let by_packets = packets as f64 / self.packets_total.max(1.0);
        RunProgress {
            fraction: by_time.max(by_packets).min(1.0),
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
    pub alone: Option<String>,
    /// The captures that were made.
    pub captured: Vec<Captured>,
    /// Whether the run had results already.
    pub is_repeated: bool,
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

/// A run to carry out.
pub struct Task<'a, 'p> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Its run.
    pub point: &'p Point,
    /// Reads a file that the scenario names.
    pub load: Loader<'a>,
    /// The result directory of the run.
    pub target: &'a Path,
    /// The number of threads for a fabric with that many links.
    pub threads: &'a dyn Fn(usize) -> usize,
    /// The requested captures, if any.
    pub capture: Option<&'a Request>,
    /// Modules, for schemes and congestion controllers that are not Weft's own.
    pub modules: &'a [&'a dyn Module],
    /// The contents of the files that the scenario names, for modules.
    pub files: &'a BTreeMap<String, Vec<u8>>,
}

/// Carries out a run and writes its result, unless there is one, and its captures. `None` if it was stopped: then there
/// is neither. `begun` is called with the active run before it starts.
///
/// # Errors
/// The run cannot be planned or written, or panicked; no partial result is left.
pub fn carry_out<'p>(
    task: &Task<'_, 'p>,
    begun: &dyn Fn(&Arc<Active<'p>>),
) -> Result<Option<Timing>, Failed> {
    guarded(|| {
        let plan = task.scenario.plan(task.point, task.load).map_err(|error| error.to_string())?;
        let within = (task.threads)(plan.fabric.links().len());
        let (started, worked) = (Instant::now(), ThreadTime::now());
        let framings = Framings::of(&plan.fabric, &plan.transport.protocol);
        let run = Arc::new(Active {
            point: task.point,
            progress: Progress::default(),
            flows_total: plan.traffic.flows.len() as u64,
            packets_total: plan
                .traffic
                .flows
                .iter()
                .map(|flow| framings.packets(flow, &plan.traffic.parts))
                .sum(),
            limit_ps: plan.run.limit.ps(),
        });
        begun(&run);
        let is_repeated = task.target.exists();
        let captures = task.capture.map(|request| request.of(&plan)).transpose();
        let captures = captures.map_err(|error| error.to_string())?;
        let module = task.modules.iter().find(|module| module.has(&plan));
        let outcome = match module {
            None => {
                let scenario = task.scenario.text();
                run_to_directory(&plan, task.target, scenario, captures, within, &run.progress)
                    .map(|outcome| outcome.map(|(report, captured)| (Ended::from(&report), captured)))
            }
            Some(module) => {
                // The module makes its own.
                drop(plan);
                let Task { scenario, point, target, files, .. } = *task;
                let job = Job { scenario, point, files, target, threads: within };
                module.run(&job, &run.progress).map(|ended| ended.map(|ended| (ended, Vec::new())))
            }
        };
        let outcome = outcome
            .map_err(|error| Failed { error: error.to_string(), is_disk_full: error.is_disk_full() })?;
        Ok(outcome.map(|(ended, captured)| Timing {
            packet_hops: ended.packet_hops,
            seconds: started.elapsed().as_secs_f64(),
            cpu_seconds: worked.elapsed().as_secs_f64() + run.progress.helped_seconds(),
            state_bytes: ended.state_bytes,
            alone: run.progress.alone.get().cloned(),
            captured,
            is_repeated,
        }))
    })
}

/// The outcome of a run; a panic is an error of that run, and the others continue.
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
