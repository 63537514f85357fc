//! [`Directory`]: the result directory of a sweep, with the list of its runs.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use weft_scenario::{Loader, Point, Scenario, sha256};

use crate::origin::Origin;
use crate::results::{ResultError, is_temporary, temporary_of};
use crate::sweep_error::SweepError;

/// The list of runs, and the file that is locked during a sweep.
const LIST: &str = "sweep.json";
const LOCK: &str = ".lock";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The maximum number of changed keys that a message lists.
const CHANGES_SHOWN: usize = 5;

/// The files that a scenario names, by name.
pub type Inputs = BTreeMap<String, Vec<u8>>;

/// The result directory of a sweep, locked while this value exists.
pub struct Directory {
    path: PathBuf,
    inputs: Inputs,
    _lock: Lock,
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
    pub const fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The contents of a file that the scenario names, as read when the directory was opened.
    ///
    /// # Errors
    /// The scenario does not name this file.
    pub fn load(&self, file: &str) -> Result<Vec<u8>, String> {
        self.inputs.get(file).cloned().ok_or_else(|| "the scenario does not name this file".to_owned())
    }
}

/// Reads every file once, so that all runs use the hashed contents even if a file changes during the sweep.
pub(crate) fn read_inputs(scenario: &Scenario, load: Loader<'_>) -> Result<Inputs, SweepError> {
    let read = |file: &str| match load(file) {
        Ok(bytes) => Ok((file.to_owned(), bytes)),
        Err(why) => Err(SweepError::Unreadable { file: file.to_owned(), why }),
    };
    scenario.files().map(read).collect()
}

/// A locked file. It is unlocked explicitly: a child that another thread is starting inherits the open file between fork and
/// exec, and would keep the lock until then.
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Without locks, there is nothing to unlock.
        let _ = self.0.unlock();
    }
}

/// Locks the directory, creating it if needed, until the returned lock is dropped. The kernel releases
/// the lock when the process ends, even after a crash.
fn lock_directory(directory: &Path) -> Result<Lock, SweepError> {
    let path = directory.join(LOCK);
    if !path.exists() && !directory.join(LIST).exists() {
        refuse_occupied(directory)?;
    }
    write_all(directory, |path| fs::create_dir_all(path))?;
    let failed = |source| SweepError::Io(ResultError { path: path.clone(), source });
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Lock(file)),
        Err(TryLockError::WouldBlock) => Err(SweepError::Busy { path: directory.to_owned() }),
        // File systems without locks: continue without one.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(Lock(file)),
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
    let schemes = scenario.schemes().iter();
    let schemes = schemes.filter_map(|scheme| Some((scheme.name, scheme.module?.sha256())));
    let controllers = scenario.controllers().iter();
    let controllers = controllers.filter_map(|info| Some((info.name, info.sha256()?)));
    let modules = schemes.chain(controllers);
    let modules = modules.map(|(name, sha256)| (format!("plugin {name}"), sha256.to_owned()));
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
        "warnings": scenario.comparisons(),
        "runs": runs,
    });
    origin.enter(&mut sweep);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_is_being_started_does_not_keep_the_lock() {
        let directory = std::env::temp_dir().join(format!("weft-lock-{}", std::process::id()));
        let lock = lock_directory(&directory).unwrap();
        // What the child inherits.
        let inherited = lock.0.try_clone().unwrap();
        assert!(matches!(lock_directory(&directory), Err(SweepError::Busy { .. })));
        drop(lock);
        assert!(lock_directory(&directory).is_ok());
        drop(inherited);
        fs::remove_dir_all(&directory).unwrap();
    }
}
