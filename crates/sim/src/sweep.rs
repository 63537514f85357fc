//! All runs of a scenario, on a given number of threads, into one directory.
//!
//! A run's result appears under its final name only when complete, so a sweep that was stopped, or that
//! filled the disk, resumes where it left off.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde_json::Value;
use weft_scenario::{Loader, Point, Scenario, sha256};
use weft_units::Bytes;

use crate::active::{Active, Failed, Task, Timing, carry_out};
use crate::capture::{CaptureError, Captured, Request, Target};
use crate::free_cores::free_cores;
use crate::module::Module;
use crate::origin::Origin;
use crate::sweep_directory::{Directory, read_inputs};
use crate::sweep_error::SweepError;

/// Links, counted in both directions, from which several threads are faster than one: a fat-tree with k = 8.
const LINKS_TO_GAIN: usize = 768;
/// The maximum number of threads per CPU.
const THREADS_PER_CORE: usize = 4;

/// The directory of captures within that of the results.
const CAPTURES: &str = "captures";

/// How often the observer receives progress.
const TICK: Duration = Duration::from_millis(200);

/// Events of a sweep, for its observer.
#[derive(Debug)]
pub enum Event<'a> {
    /// The sweep starts; `done` runs already have results.
    Start {
        /// Total number of runs.
        total: usize,
        /// Runs that already have results.
        done: usize,
    },
    /// Progress of an active run.
    Progress {
        /// The run.
        point: &'a Point,
        /// Completed fraction, 0 to 1.
        fraction: f64,
        /// Flows finished.
        flows_done: u64,
        /// Total number of flows.
        flows_total: u64,
        /// Packet-hops so far.
        packet_hops: u64,
        /// Simulated seconds so far.
        sim_time_s: f64,
    },
    /// A run wrote its result.
    RunDone {
        /// The run.
        point: &'a Point,
        /// Its packet-hops.
        packet_hops: u64,
    },
    /// A run failed.
    RunFailed {
        /// The run.
        point: &'a Point,
        /// The reason.
        error: &'a str,
    },
    /// Runs have one thread although more were requested; reported once.
    OneThread {
        /// The reason.
        why: &'a str,
    },
    /// No change; lets the observer stop the sweep.
    Tick,
}

/// The outcome of a sweep.
#[derive(Debug, Default)]
pub struct SweepReport {
    /// Runs completed now.
    pub done: usize,
    /// Runs that already had results, and all captures.
    pub skipped: usize,
    /// Finished runs that already had results and were repeated for captures.
    pub repeated: usize,
    /// The captures that were made.
    pub captured: Vec<Captured>,
    /// Captures that existed already.
    pub captures_kept: usize,
    /// Runs that failed, with the reason.
    pub failed: Vec<(Point, Failed)>,
    /// Whether it ended early: the observer stopped it, or the disk was full.
    pub stopped: bool,
}

/// Options of a sweep.
pub struct Options<'a> {
    /// The result directory.
    pub directory: &'a Path,
    /// Concurrent runs: at most one per missing run, and four per CPU.
    pub jobs: usize,
    /// The maximum number of threads within a run; `None` for those that parallel runs leave, if the fabric is large enough
    /// to gain. On such fabrics, runs use no more threads than there are free cores.
    pub threads: Option<usize>,
    /// Reads a file that the scenario names.
    pub load: Loader<'a>,
    /// The requested captures, if any.
    pub capture: Option<Capture<'a>>,
    /// Modules, for schemes and congestion controllers that are not Weft's own.
    pub modules: &'a [&'a dyn Module],
}

/// The frames to capture in each run.
#[derive(Clone, Copy)]
pub struct Capture<'a> {
    /// The links and flows.
    pub targets: &'a [Target],
    /// The directory with a directory for each run; by default `captures` in the result directory.
    pub directory: Option<&'a Path>,
    /// The size after which a capture takes no more frames.
    pub limit: Bytes,
}

/// A finished run, to be reported to the observer.
type Ended<'a> = (&'a Point, Result<Timing, Failed>);

/// Runs every point of `scenario` that has no result yet. Calls `observer` from this thread; it returns
/// whether to continue.
///
/// # Errors
/// The sweep cannot start. Failed runs are part of the report instead.
pub fn run_sweep(
    scenario: &Scenario,
    options: &Options<'_>,
    observer: &mut dyn FnMut(&Event<'_>) -> bool,
) -> Result<SweepReport, SweepError> {
    let directory = options.directory;
    let stop = AtomicBool::new(false);
    let mut tell = |event: &Event<'_>| {
        if !observer(event) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let request = options.capture.map(|capture| request(scenario, options, &capture)).transpose()?;
    let mut report = SweepReport::default();
    // Runs without all of their captures.
    let mut uncaptured = HashSet::new();
    for (request, point) in
        request.iter().flat_map(|request| scenario.points().iter().map(move |at| (request, at)))
    {
        tell(&Event::Tick);
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let plan = scenario.plan(point, options.load).map_err(|error| SweepError::Plan(error.to_string()))?;
        if let Some(module) = options.modules.iter().find(|module| module.has(&plan)) {
            return Err(CaptureError::OfModule { name: module.name() }.into());
        }
        let captures = request.of(&plan)?;
        report.captures_kept += captures.existing;
        if !captures.is_empty() {
            uncaptured.insert(point.id.as_str());
        }
    }
    let results = Directory::open(scenario, directory, options.load, Origin::Simulated)?;
    let load = |path: &str| results.load(path);
    let target = |point: &Point| results.target(point);
    let is_missing = |point: &&Point| !target(point).exists() || uncaptured.contains(point.id.as_str());
    let missing: Vec<&Point> = scenario.points().iter().filter(is_missing).collect();
    let total = scenario.points().len();
    report.skipped = total - missing.len();
    tell(&Event::Start { total, done: report.skipped });
    if missing.is_empty() {
        report.stopped = stop.load(Ordering::Relaxed);
        return Ok(report);
    }
    let (asked, modules) = (options.threads, options.modules);
    let threads = threads(options.jobs, missing.len());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| SweepError::Threads { threads, why: error.to_string() })?;
    let active: Mutex<Vec<Arc<Active<'_>>>> = Mutex::default();
    let (sender, outcomes) = channel::<Ended<'_>>();
    let one = |point| {
        let within = |links| within(asked, threads, links, cores(), free_cores);
        let (target, capture) = (target(point), request.as_ref());
        let files = results.inputs();
        let task =
            Task { scenario, point, load: &load, target: &target, threads: &within, capture, modules, files };
        let outcome = carry_out(&task, &|run| {
            run.stop(stop.load(Ordering::Relaxed));
            lock(&active).push(Arc::clone(run));
        });
        // If the disk is full, the results of the other runs would not fit either.
        stop.fetch_or(outcome.as_ref().is_err_and(|failed| failed.is_disk_full), Ordering::Relaxed);
        outcome
    };
    let (mut timings, mut is_reported) = (Vec::<Value>::new(), false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Dropped with the last run, which ends the loop below.
            let sender = sender;
            pool.install(|| {
                missing.par_iter().with_max_len(1).for_each(|point| {
                    if !stop.load(Ordering::Relaxed) {
                        let outcome = one(*point).transpose();
                        lock(&active).retain(|run| run.point.id != point.id);
                        if let Some(outcome) = outcome {
                            // The receiver lives until all senders are gone.
                            let _ = sender.send((*point, outcome));
                        }
                    }
                });
            });
        });
        let mut next_tick = Instant::now();
        loop {
            match outcomes.recv_timeout(next_tick.saturating_duration_since(Instant::now())) {
                Ok((point, Ok(timing))) => {
                    let alone = timing.alone.as_deref().filter(|_| asked.is_some());
                    if let Some(why) = alone.filter(|_| !std::mem::replace(&mut is_reported, true)) {
                        tell(&Event::OneThread { why });
                    }
                    tell(&Event::RunDone { point, packet_hops: timing.packet_hops });
                    report.done += 1;
                    report.repeated += usize::from(timing.is_repeated);
                    timings.push(timing.json(point));
                    report.captured.extend(timing.captured);
                }
                Ok((point, Err(failed))) => {
                    tell(&Event::RunFailed { point, error: &failed.error });
                    report.failed.push((point.clone(), failed));
                }
                Err(RecvTimeoutError::Timeout) => {
                    next_tick = Instant::now() + TICK;
                    let runs = lock(&active).clone();
                    for run in &runs {
                        let so_far = run.so_far();
                        tell(&Event::Progress {
                            point: run.point,
                            fraction: so_far.fraction,
                            flows_done: so_far.flows_done,
                            flows_total: so_far.flows_total,
                            packet_hops: so_far.packet_hops,
                            sim_time_s: so_far.sim_time_s,
                        });
                    }
                    tell(&Event::Tick);
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if stop.load(Ordering::Relaxed) {
                lock(&active).iter().for_each(|run| run.stop(true));
            }
        }
    });
    report.stopped = stop.load(Ordering::Relaxed);
    match results.add_timings(&timings) {
        // If runs have failed, their errors say more than this one.
        Err(error) if report.failed.is_empty() => Err(error),
        _ => Ok(report),
    }
}

/// The capture request for each run of `scenario`.
fn request(scenario: &Scenario, options: &Options<'_>, capture: &Capture<'_>) -> Result<Request, SweepError> {
    let inputs = read_inputs(scenario, options.load)?;
    let inputs: Vec<String> = inputs.values().map(|bytes| sha256(bytes)).collect();
    let directory = capture.directory.map_or_else(|| options.directory.join(CAPTURES), Path::to_owned);
    Ok(Request {
        targets: capture.targets.to_vec(),
        directory,
        limit: capture.limit,
        scenario: sha256([scenario.fingerprint(), &inputs.concat()].concat().as_bytes()),
    })
}

/// The number of threads to use for `jobs` jobs and `missing` runs.
fn threads(jobs: usize, missing: usize) -> usize {
    jobs.min(missing).clamp(1, THREADS_PER_CORE * cores())
}

/// The cores that the process may use.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The threads for each of `runs` parallel runs on a fabric of `links` links, on `cores` cores: at most the number `asked` for, if
/// any. On a fabric where threads gain, no more than the number of `free` cores, which is read only if it matters.
fn within(asked: Option<usize>, runs: usize, links: usize, cores: usize, free: impl Fn() -> usize) -> usize {
    let gains = links >= LINKS_TO_GAIN;
    let most = asked.unwrap_or(if gains { (cores / runs).max(1) } else { 1 });
    if gains && most > 1 { most.min(free()) } else { most }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_on_large_fabrics_get_the_free_cores_that_their_share_has() {
        let (small, large) = (LINKS_TO_GAIN - 1, LINKS_TO_GAIN);
        // Threads asked for, parallel runs, links, free cores of 8, and the threads of each run.
        for (asked, runs, links, free, expected) in [
            (None, 1, small, 8, 1),
            (None, 1, large, 8, 8),
            (None, 1, large, 3, 3),
            (None, 1, large, 1, 1),
            (None, 3, large, 8, 2),
            (None, 2, large, 3, 3),
            (None, 2, large, 8, 4),
            (None, 20, large, 8, 1),
            (Some(4), 1, small, 1, 4),
            (Some(4), 1, large, 8, 4),
            (Some(4), 1, large, 2, 2),
            (Some(16), 1, large, 8, 8),
            (Some(4), 20, large, 8, 4),
            (Some(1), 1, large, 8, 1),
        ] {
            let found = within(asked, runs, links, 8, || free);
            assert_eq!(found, expected, "{asked:?}, {runs} runs, {links} links, {free} free");
        }
    }

    #[test]
    fn free_cores_are_read_only_if_a_run_may_be_divided() {
        let unread = || panic!("read");
        assert_eq!(within(Some(4), 1, LINKS_TO_GAIN - 1, 8, unread), 4);
        assert_eq!(within(None, 1, LINKS_TO_GAIN - 1, 8, unread), 1);
        assert_eq!(within(Some(1), 1, LINKS_TO_GAIN, 8, unread), 1);
        assert_eq!(within(None, 8, LINKS_TO_GAIN, 8, unread), 1);
    }
}
