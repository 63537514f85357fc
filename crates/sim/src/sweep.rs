//! All runs of a scenario, on a given number of threads, into one directory.
//!
//! A run's result appears under its final name only when complete, so a sweep that was stopped, or that
//! filled the disk, resumes where it left off.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rayon::prelude::*;
use serde_json::{Value, json};
use thiserror::Error;
use weft_scenario::{Loader, Point, Scenario, sha256};
use weft_units::Bytes;

use crate::active::{Active, Failed, Task, Timing, carry_out};
use crate::capture::{CaptureError, Captured, Request, Target};
use crate::module::Module;
use crate::results::{ResultError, is_temporary, temporary_of};

/// Links, counted in both directions, from which several threads are faster than one: a fat-tree with k = 8.
const LINKS_TO_GAIN: usize = 768;
/// The maximum number of threads per CPU.
const THREADS_PER_CORE: usize = 4;

/// The list of runs, and the file that is locked during a sweep.
const LIST: &str = "sweep.json";
const LOCK: &str = ".lock";
/// The directory of captures within that of the results.
const CAPTURES: &str = "captures";
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
    /// A capture is not possible.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A run cannot be planned.
    #[error("{0}")]
    Plan(String),
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
    /// Runs that already had results, and all captures.
    pub skipped: usize,
    /// Of those done: runs that had results and were repeated for captures.
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
    /// Concurrent runs; limited to the missing runs and to what the machine can use.
    pub jobs: usize,
    /// Threads within a run; `None` for those that parallel runs leave, if the fabric is large enough to gain.
    pub threads: Option<usize>,
    /// Reads a file that the scenario names.
    pub load: Loader<'a>,
    /// What to capture, if anything.
    pub capture: Option<Capture<'a>>,
    /// Modules, for schemes that are not in the registry.
    pub modules: &'a [&'a dyn Module],
}

/// What to capture of each run.
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
        if options.modules.iter().any(|module| module.scheme().name == plan.scheme.name) {
            return Err(CaptureError::OfModule { scheme: plan.scheme.name }.into());
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
    let ended: Mutex<Vec<Ended<'_>>> = Mutex::default();
    let one = |point| {
        let within = |links| asked.unwrap_or_else(|| left(threads, links));
        let (target, capture) = (target(point), request.as_ref());
        let files = &results.inputs;
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
    let (mut timings, mut is_told) = (Vec::<Value>::new(), false);
    std::thread::scope(|scope| {
        let workers = scope.spawn(|| {
            pool.install(|| {
                missing.par_iter().with_max_len(1).for_each(|point| {
                    if !stop.load(Ordering::Relaxed) {
                        let ends = one(*point).transpose().map(|outcome| (*point, outcome));
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
                        let alone = timing.alone.as_deref().filter(|_| asked.is_some());
                        if let Some(why) = alone.filter(|_| !std::mem::replace(&mut is_told, true)) {
                            tell(&Event::OneThread { why });
                        }
                        tell(&Event::RunDone { point, packet_hops: timing.packet_hops });
                        report.done += 1;
                        report.repeated += usize::from(timing.is_repeated);
                        timings.push(timing.json(point));
                        report.captured.extend(timing.captured);
                    }
                    Err(failed) => {
                        tell(&Event::RunFailed { point, error: &failed.error });
                        report.failed.push((point.clone(), failed));
                    }
                }
            }
            if last {
                break;
            }
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
            if stop.load(Ordering::Relaxed) {
                runs.iter().for_each(|run| run.stop(true));
            }
            std::thread::sleep(TICK);
        }
    });
    report.stopped = stop.load(Ordering::Relaxed);
    match results.add_timings(&timings) {
        // If runs have failed, their errors say more than this one.
        Err(error) if report.failed.is_empty() => Err(error),
        _ => Ok(report),
    }
}

/// What to capture of each run of `scenario`.
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

    /// The points of `scenario` that have no result yet.
    pub fn missing<'a>(&self, scenario: &'a Scenario) -> Vec<&'a Point> {
        scenario.points().iter().filter(|point| !self.target(point).exists()).collect()
    }

    /// Creates an empty directory for a run's result that comes from elsewhere, under a temporary name.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn begin(&self, point: &Point) -> Result<PathBuf, ResultError> {
        let path = temporary_of(&self.target(point));
        match fs::create_dir_all(&path) {
            Ok(()) => Ok(path),
            Err(source) => Err(ResultError { path, source }),
        }
    }

    /// Gives the directory that `begin` created its final name.
    ///
    /// # Errors
    /// It cannot be renamed, for example because the run has a result.
    pub fn complete(&self, point: &Point, temporary: &Path) -> Result<(), ResultError> {
        let path = self.target(point);
        fs::rename(temporary, &path).map_err(|source| ResultError { path, source })
    }

    /// Appends the cost of runs to `performance.json`, which is not part of any result.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add_timings(&self, timings: &[Value]) -> Result<(), SweepError> {
        if timings.is_empty() {
            return Ok(());
        }
        let path = self.path.join("performance.json");
        let before = fs::read_to_string(&path).ok();
        let before = before.and_then(|text| serde_json::from_str::<Vec<Value>>(&text).ok());
        let all: Vec<Value> = before.unwrap_or_default().into_iter().chain(timings.iter().cloned()).collect();
        replace(&path, &json!(all))
    }

    /// The files that the scenario names, with their contents as read when the directory was opened.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.inputs.iter().map(|(file, bytes)| (file.as_str(), bytes.as_slice()))
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
        let baseline = json!(scenario.baseline());
        if scenario.points().iter().all(|point| ids.contains(point.id.as_str())) {
            if found["baseline"] == baseline {
                return Ok(());
            }
            found["baseline"] = baseline;
            return replace(&list, &found);
        }
        let ids: HashSet<&str> = scenario.points().iter().map(|point| point.id.as_str()).collect();
        runs.extend(known.into_iter().filter(|run| run["id"].as_str().is_some_and(|id| !ids.contains(id))));
        found["runs"] = json!(runs);
        found["baseline"] = baseline;
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
    // First, as the fingerprint of the same scenario may differ between versions.
    if found["version"] != json!(VERSION) {
        return Err(SweepError::OtherVersion { path, found: text("version", "(unknown version)") });
    }
    if found["scenario_sha"] != json!(scenario.fingerprint()) {
        let (found, changes) = (text("name", "unknown name"), changes(scenario, directory, found));
        return Err(SweepError::OtherScenario { path, found, changes });
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
        0 => "unknown".to_owned(),
        1..=CHANGES_SHOWN => changes.join(", "),
        all => format!("{} and {} more", changes[..CHANGES_SHOWN].join(", "), all - CHANGES_SHOWN),
    }
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
