//! All runs of a scenario, on a given number of threads, into one directory.
//!
//! A run's result appears under its final name only when complete, so a sweep that was stopped, or that
//! filled the disk, resumes where it left off.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

use rayon::prelude::*;
use serde_json::{Value, json};
use thiserror::Error;
use weft_scenario::{Loader, Point, Scenario, sha256};

use crate::engine::Progress;
use crate::module::{Ended as Size, Job, Module};
use crate::results::{ResultError, is_temporary};
use crate::run::run_to_directory;

/// Links, counted in both directions, from which several threads are faster than one: a fat-tree with k = 8.
const LINKS_TO_GAIN: usize = 768;
/// The maximum number of threads per CPU.
const THREADS_PER_CORE: usize = 4;

/// The list of runs, and the file that is locked during a sweep.
const LIST: &str = "sweep.json";
const LOCK: &str = ".lock";
/// The key that marks a list of emulated results.
const EMULATED: &str = "emulated";

/// The maximum number of changed keys that a message lists.
const CHANGES_SHOWN: usize = 5;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How often the observer receives progress.
const TICK: Duration = Duration::from_millis(200);

/// Why a sweep did not start.
#[derive(Debug, Error)]
pub enum SweepError {
    /// The directory holds results of another scenario.
    #[error(
        "{} already holds results of a different scenario (`{found}`). Changed: {changes}. Use another directory (-o DIR), or remove this one",
        path.display()
    )]
    OtherScenario {
        /// The directory.
        path: PathBuf,
        /// The name of the scenario whose results it holds.
        found: String,
        /// The keys that differ, with both values.
        changes: String,
    },
    /// The directory holds results of another version of Weft.
    #[error(
        "{} holds results of Weft {found}, but this is {VERSION}: choose another directory with -o, or remove it",
        path.display()
    )]
    OtherVersion {
        /// The directory.
        path: PathBuf,
        /// The version.
        found: String,
    },
    /// The directory holds emulated results and the sweep is simulated, or the other way round.
    #[error(
        "{} holds {} results, but this run is {}: choose another directory with -o",
        path.display(), found.name(), wanted.name()
    )]
    OtherOrigin {
        /// The directory.
        path: PathBuf,
        /// Origin of the results it holds.
        found: Origin,
        /// Origin of the new results.
        wanted: Origin,
    },
    /// A file that the scenario names has changed since the directory's results were written.
    #[error(
        "`{file}` has changed since the results in {} were written: choose another directory with -o, or remove it",
        path.display()
    )]
    Changed {
        /// The directory.
        path: PathBuf,
        /// The file.
        file: String,
    },
    /// A file that the scenario names cannot be read.
    #[error("cannot read `{file}`: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// The reason.
        why: String,
    },
    /// The directory is neither empty nor a Weft result.
    #[error("{} exists but holds no Weft results: choose another directory with -o", path.display())]
    NotOurs {
        /// The directory.
        path: PathBuf,
    },
    /// Another process, or another sweep of this one, is using the directory.
    #[error(
        "another weft run is writing to {}: wait for it to finish, or choose another directory with -o",
        path.display()
    )]
    Busy {
        /// The directory.
        path: PathBuf,
    },
    /// A file system error.
    #[error(transparent)]
    Io(#[from] ResultError),
    /// The threads could not be started.
    #[error("cannot start {threads} threads: {why}")]
    Threads {
        /// The number of threads.
        threads: usize,
        /// The reason.
        why: String,
    },
}

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
    /// Runs have one thread although more were asked for; told once.
    OneThread {
        /// The reason.
        why: &'a str,
    },
    /// Nothing new; lets the observer stop the sweep.
    Tick,
}

/// The outcome of a sweep.
#[derive(Debug, Default)]
pub struct SweepReport {
    /// Runs completed now.
    pub done: usize,
    /// Runs that already had results.
    pub skipped: usize,
    /// Runs that failed, with the reason.
    pub failed: Vec<(Point, String)>,
    /// Whether it ended early: the observer stopped it, or the disk was full.
    pub stopped: bool,
}

/// Options of a sweep.
pub struct Options<'a> {
    /// The result directory.
    pub directory: &'a Path,
    /// Concurrent runs; limited to the missing runs and to what the machine can use.
    pub jobs: usize,
    /// Threads within a run; `None` for those that parallel runs leave, if the fabric is large enough to gain.
    pub threads: Option<usize>,
    /// Reads a file that the scenario names.
    pub load: Loader<'a>,
    /// Modules, for schemes that are not in the registry.
    pub modules: &'a [&'a dyn Module],
}

/// An active run, shared between its thread and the observer's.
struct Active<'a> {
    point: &'a Point,
    progress: Progress,
    flows_total: u64,
    limit_ps: u64,
}

/// A finished run, to be reported to the observer.
type Ended<'a> = (&'a Point, Result<Timing, String>);

/// The cost of a run.
struct Timing {
    packet_hops: u64,
    seconds: f64,
    /// CPU time in seconds.
    cpu_seconds: f64,
    state_bytes: u64,
    /// Why it had one thread although more were asked for.
    alone: Option<String>,
}

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
    let results = Directory::open(scenario, directory, options.load, Origin::Simulated)?;
    let load = |path: &str| results.load(path);
    let target = |point: &Point| results.target(point);
    let missing: Vec<&Point> = scenario.points().iter().filter(|point| !target(point).exists()).collect();
    let total = scenario.points().len();
    let mut report = SweepReport { skipped: total - missing.len(), ..SweepReport::default() };
    let stop = AtomicBool::new(false);
    let mut tell = |event: &Event<'_>| {
        if !observer(event) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    tell(&Event::Start { total, done: report.skipped });
    if missing.is_empty() {
        report.stopped = stop.load(Ordering::Relaxed);
        return Ok(report);
    }
    let asked = options.threads;
    let threads = threads(options.jobs, missing.len());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| SweepError::Threads { threads, why: error.to_string() })?;
    let active: Mutex<Vec<Arc<Active<'_>>>> = Mutex::default();
    let ended: Mutex<Vec<Ended<'_>>> = Mutex::default();
    let one = |point| -> Result<Option<Timing>, String> {
        let plan = scenario.plan(point, &load).map_err(|error| error.to_string())?;
        let within = asked.unwrap_or_else(|| left(threads, plan.fabric.links().len()));
        let (started, worked) = (Instant::now(), ThreadTime::now());
        let run = Arc::new(Active {
            point,
            progress: Progress::default(),
            flows_total: plan.traffic.flows.len() as u64,
            limit_ps: plan.run.duration.ps(),
        });
        lock(&active).push(Arc::clone(&run));
        run.progress.stop.store(stop.load(Ordering::Relaxed), Ordering::Relaxed);
        let (target, progress) = (target(point), &run.progress);
        let module = options.modules.iter().find(|module| module.scheme().name == plan.scheme.name);
        let outcome = match module {
            None => run_to_directory(&plan, &target, scenario.text(), within, progress)
                .map(|report| report.as_ref().map(Size::from)),
            Some(module) => {
                // The module makes its own.
                drop(plan);
                let files = &results.inputs;
                module.run(&Job { scenario, point, files, target: &target, threads: within }, progress)
            }
        };
        let size = outcome.map_err(|error| {
            // The results of the other runs would not fit either.
            stop.fetch_or(error.is_disk_full(), Ordering::Relaxed);
            error.to_string()
        })?;
        Ok(size.map(|size| Timing {
            packet_hops: size.packet_hops,
            seconds: started.elapsed().as_secs_f64(),
            cpu_seconds: worked.elapsed().as_secs_f64() + run.progress.helped_seconds(),
            state_bytes: size.state_bytes,
            alone: run.progress.alone.get().cloned().filter(|_| asked.is_some()),
        }))
    };
    let (mut timings, mut is_told) = (Vec::<Value>::new(), false);
    std::thread::scope(|scope| {
        let workers = scope.spawn(|| {
            pool.install(|| {
                missing.par_iter().with_max_len(1).for_each(|point| {
                    if !stop.load(Ordering::Relaxed) {
                        let ends = guarded(|| one(point)).transpose().map(|outcome| (*point, outcome));
                        lock(&active).retain(|run| run.point.id != point.id);
                        lock(&ended).extend(ends);
                    }
                });
            });
        });
        loop {
            let last = workers.is_finished();
            for (point, outcome) in std::mem::take(&mut *lock(&ended)) {
                match outcome {
                    Ok(timing) => {
                        let alone = timing.alone.as_deref();
                        if let Some(why) = alone.filter(|_| !std::mem::replace(&mut is_told, true)) {
                            tell(&Event::OneThread { why });
                        }
                        tell(&Event::RunDone { point, packet_hops: timing.packet_hops });
                        report.done += 1;
                        timings.push(timing_json(point, &timing));
                    }
                    Err(error) => {
                        tell(&Event::RunFailed { point, error: &error });
                        report.failed.push((point.clone(), error));
                    }
                }
            }
            if last {
                break;
            }
            let runs = lock(&active).clone();
            for run in &runs {
                let time = run.progress.time_ps.load(Ordering::Relaxed);
                let flows = run.progress.flows.load(Ordering::Relaxed);
                let by_time = time as f64 / run.limit_ps.max(1) as f64;
                let by_flows = flows as f64 / run.flows_total.max(1) as f64;
                tell(&Event::Progress {
                    point: run.point,
                    fraction: by_time.min(1.0) * 0.5 + by_flows * 0.5,
                    flows_done: flows,
                    flows_total: run.flows_total,
                    packet_hops: run.progress.packet_hops.load(Ordering::Relaxed),
                    sim_time_s: time as f64 * 1e-12,
                });
            }
            tell(&Event::Tick);
            if stop.load(Ordering::Relaxed) {
                runs.iter().for_each(|run| run.progress.stop.store(true, Ordering::Relaxed));
            }
            std::thread::sleep(TICK);
        }
    });
    report.stopped = stop.load(Ordering::Relaxed);
    match write_timings(directory, &timings) {
        // If runs have failed, their errors say more than this one.
        Err(error) if report.failed.is_empty() => Err(error),
        _ => Ok(report),
    }
}

/// The outcome of a run; a panic is an error of that run, and the others go on.
fn guarded<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(format!("internal error, please report it with the scenario: {text}"))
    })
}

/// How the results of a sweep are produced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// By the simulator.
    Simulated,
    /// On a network of Linux switches and hosts.
    Emulated,
}

impl Origin {
    const fn name(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Emulated => "emulated",
        }
    }

    /// The origin given in a list of runs.
    fn of(list: &Value) -> Self {
        if list[EMULATED] == json!(true) { Self::Emulated } else { Self::Simulated }
    }
}

/// The result directory of a sweep, locked while this value exists.
pub struct Directory {
    path: PathBuf,
    inputs: Inputs,
    _lock: File,
}

impl Directory {
    /// Creates the directory for the results of `scenario`, or opens an existing one.
    ///
    /// # Errors
    /// It belongs to something else or cannot be written, or a file that the scenario names cannot be read.
    pub fn open(
        scenario: &Scenario,
        path: &Path,
        load: Loader<'_>,
        origin: Origin,
    ) -> Result<Self, SweepError> {
        let inputs = read_inputs(scenario, load)?;
        let lock = lock_directory(path)?;
        prepare(scenario, &inputs, path, origin)?;
        Ok(Self { path: path.to_owned(), inputs, _lock: lock })
    }

    /// The path of a run's result.
    pub fn target(&self, point: &Point) -> PathBuf {
        self.path.join("runs").join(&point.id)
    }

    /// The contents of a file that the scenario names, as read when the directory was opened.
    ///
    /// # Errors
    /// The scenario does not name this file.
    pub fn load(&self, file: &str) -> Result<Vec<u8>, String> {
        self.inputs.get(file).cloned().ok_or_else(|| "the scenario does not name this file".to_owned())
    }
}

/// The number of threads to use for `jobs` jobs and `missing` runs.
fn threads(jobs: usize, missing: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    jobs.min(missing).clamp(1, THREADS_PER_CORE * cores)
}

/// The threads for each of `runs` parallel runs on a fabric of `links` links.
fn left(runs: usize, links: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if links < LINKS_TO_GAIN { 1 } else { (cores / runs).max(1) }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn timing_json(point: &Point, timing: &Timing) -> Value {
    json!({
        "run": point.id,
        "packet_hops": timing.packet_hops,
        "wall_seconds": timing.seconds,
        "cpu_seconds": timing.cpu_seconds,
        "packet_hops_per_second": timing.packet_hops as f64 / timing.seconds.max(1e-9),
        "state_bytes": timing.state_bytes,
    })
}

/// The files that a scenario names, by name.
type Inputs = BTreeMap<String, Vec<u8>>;

/// Reads every file once, so that all runs use the hashed contents even if a file changes during the sweep.
fn read_inputs(scenario: &Scenario, load: Loader<'_>) -> Result<Inputs, SweepError> {
    let read = |file: &str| match load(file) {
        Ok(bytes) => Ok((file.to_owned(), bytes)),
        Err(why) => Err(SweepError::Unreadable { file: file.to_owned(), why }),
    };
    scenario.files().map(read).collect()
}

/// Locks the directory, creating it if needed, until the returned file is dropped. The kernel releases
/// the lock when the process ends, even after a crash.
fn lock_directory(directory: &Path) -> Result<File, SweepError> {
    let path = directory.join(LOCK);
    if !path.exists() && !directory.join(LIST).exists() {
        refuse_occupied(directory)?;
    }
    write_all(directory, |path| fs::create_dir_all(path))?;
    let failed = |source| SweepError::Io(ResultError { path: path.clone(), source });
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SweepError::Busy { path: directory.to_owned() }),
        // File systems without locks: go on without one.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Refuses a directory that holds anything except our lock.
fn refuse_occupied(directory: &Path) -> Result<(), SweepError> {
    let mut entries = fs::read_dir(directory).into_iter().flatten().flatten();
    match entries.any(|entry| entry.file_name() != LOCK) {
        true => Err(SweepError::NotOurs { path: directory.to_owned() }),
        false => Ok(()),
    }
}

/// Removes the partial results of interrupted runs.
fn remove_unfinished(runs: &Path) -> Result<(), SweepError> {
    let entries = fs::read_dir(runs).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_temporary(&entry.file_name().to_string_lossy())) {
        write_all(&entry.path(), |path| fs::remove_dir_all(path))?;
    }
    Ok(())
}

/// Creates the directory with the scenario and the list of runs, or checks an existing one and adds new
/// runs (of further seeds) to its list.
fn prepare(scenario: &Scenario, inputs: &Inputs, directory: &Path, origin: Origin) -> Result<(), SweepError> {
    let list = directory.join(LIST);
    let modules = scenario.schemes().iter().filter_map(|scheme| Some((scheme.name, scheme.module?)));
    let modules = modules.map(|(name, module)| (format!("plugin {name}"), module.sha256().to_owned()));
    let files = inputs.iter().map(|(file, bytes)| (file.clone(), sha256(bytes)));
    let inputs: BTreeMap<String, String> = files.chain(modules).collect();
    let mut runs: Vec<Value> = scenario.points().iter().map(run_json).collect();
    if let Ok(text) = fs::read_to_string(&list) {
        let mut found: Value = serde_json::from_str(&text).unwrap_or_default();
        check(scenario, &inputs, directory, &found, origin)?;
        remove_unfinished(&directory.join("runs"))?;
        let known = found["runs"].as_array().cloned().unwrap_or_default();
        let ids: HashSet<&str> = known.iter().filter_map(|run| run["id"].as_str()).collect();
        if scenario.points().iter().all(|point| ids.contains(point.id.as_str())) {
            return Ok(());
        }
        let ids: HashSet<&str> = scenario.points().iter().map(|point| point.id.as_str()).collect();
        runs.extend(known.into_iter().filter(|run| run["id"].as_str().is_some_and(|id| !ids.contains(id))));
        found["runs"] = json!(runs);
        return replace(&list, &found);
    }
    refuse_occupied(directory)?;
    let mut sweep = json!({
        "name": scenario.name(),
        "description": scenario.description(),
        "version": VERSION,
        "scenario_sha": scenario.fingerprint(),
        "sets": scenario.sets(),
        "inputs": inputs,
        "baseline": scenario.baseline(),
        "runs": runs,
    });
    if origin == Origin::Emulated {
        sweep[EMULATED] = json!(true);
    }
    write_all(&directory.join("runs"), |path| fs::create_dir_all(path))?;
    write_all(&directory.join("scenario.toml"), |path| fs::write(path, scenario.text()))?;
    replace(&list, &sweep)
}

/// A run's entry in the list.
fn run_json(point: &Point) -> Value {
    json!({
        "id": point.id,
        "label": point.label,
        "overrides": point.overrides,
        "seed": point.seed,
        "path": format!("runs/{}", point.id),
    })
}

/// Checks that the results listed in `found` would be the same if run now.
fn check(
    scenario: &Scenario,
    inputs: &BTreeMap<String, String>,
    directory: &Path,
    found: &Value,
    origin: Origin,
) -> Result<(), SweepError> {
    let path = directory.to_owned();
    let text = |key: &str, without: &str| found[key].as_str().unwrap_or(without).to_owned();
    if found["scenario_sha"] != json!(scenario.fingerprint()) {
        let (found, changes) = (text("name", "unknown name"), changes(scenario, directory, found));
        return Err(SweepError::OtherScenario { path, found, changes });
    }
    if found["version"] != json!(VERSION) {
        return Err(SweepError::OtherVersion { path, found: text("version", "(unknown version)") });
    }
    if Origin::of(found) != origin {
        return Err(SweepError::OtherOrigin { path, found: Origin::of(found), wanted: origin });
    }
    match inputs.iter().find(|(file, sha)| found["inputs"][file.as_str()] != json!(sha)) {
        Some((file, _)) => Err(SweepError::Changed { path, file: file.clone() }),
        None => Ok(()),
    }
}

/// The differences between `scenario` and the scenario whose results `directory` holds.
fn changes(scenario: &Scenario, directory: &Path, found: &Value) -> String {
    let Ok(text) = fs::read_to_string(directory.join("scenario.toml")) else {
        return "unknown (no scenario.toml)".to_owned();
    };
    let sets = found["sets"].as_array().into_iter().flatten();
    let sets: Vec<String> = sets.filter_map(|set| set.as_str().map(str::to_owned)).collect();
    let changes = scenario.changes_since(&text, &sets);
    match changes.len() {
        0 => "only comments or formatting".to_owned(),
        1..=CHANGES_SHOWN => changes.join(", "),
        all => format!("{} and {} more", changes[..CHANGES_SHOWN].join(", "), all - CHANGES_SHOWN),
    }
}

/// Appends the cost of the runs to `performance.json`, which is not part of any result.
fn write_timings(directory: &Path, timings: &[Value]) -> Result<(), SweepError> {
    if timings.is_empty() {
        return Ok(());
    }
    let path = directory.join("performance.json");
    let before =
        fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str::<Vec<Value>>(&text).ok());
    let all: Vec<Value> = before.unwrap_or_default().into_iter().chain(timings.iter().cloned()).collect();
    replace(&path, &json!(all))
}

/// Writes JSON under a temporary name and renames it.
fn replace(path: &Path, value: &Value) -> Result<(), SweepError> {
    let temporary = path.with_extension("partial");
    write_all(&temporary, |path| fs::write(path, format!("{value:#}\n")))?;
    write_all(path, |path| fs::rename(&temporary, path))
}

fn write_all(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), SweepError> {
    write(path).map_err(|source| SweepError::Io(ResultError { path: path.to_owned(), source }))
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_is_an_error_of_its_run() {
        let error = guarded::<()>(|| panic!("port {} is missing", 7)).unwrap_err();
        assert_eq!(error, "internal error, please report it with the scenario: port 7 is missing");
        assert_eq!(guarded(|| Ok(1)), Ok(1));
    }
}
