//! Files that a scenario names, relative to its directory.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind::NotFound;
use std::path::Path;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use weft_plugin::host::schemes;
use weft_scenario::{RANK, Scenario, pack};
use weft_sim::results::ResultError;
use weft_units::reason;

use crate::error::ScenarioError;

/// Reads a scenario with `--set` changes; it may name schemes of loaded modules.
pub fn scenario(text: &str, name: &str, sets: &[String]) -> Result<Scenario, PyErr> {
    Scenario::parse_among(text, name, sets, schemes())
        .map_err(|wrong| ScenarioError::new_err(wrong.to_string()))
}

/// The Python error of a result that cannot be written, with its `errno`.
pub fn os_error(error: &ResultError) -> PyErr {
    let raised = PyOSError::new_err(error.to_string());
    let numbered = Python::attach(|py| raised.value(py).setattr("errno", error.source.raw_os_error()));
    numbered.err().unwrap_or(raised)
}

/// The bytes of the file `path`, relative to `base`; with `{rank}` in its name, those of all ranks' files together.
pub fn load(base: &str, path: &str) -> Result<Vec<u8>, String> {
    let path = Path::new(base).join(path);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match name.split_once(RANK).filter(|(_, after)| after.to_ascii_lowercase().ends_with(".et")) {
        Some((before, after)) => load_ranks(&path, before, after),
        None => read(&path),
    }
}

/// The bytes of the files of all ranks, from 0, whose names have this before and after the number.
fn load_ranks(path: &Path, before: &str, after: &str) -> Result<Vec<u8>, String> {
    let directory = path.parent().filter(|at| *at != Path::new("")).unwrap_or(Path::new("."));
    let entries =
        fs::read_dir(directory).map_err(|error| format!("{}: {}", directory.display(), reason(&error)))?;
    let number = |name: &str| {
        let digits = name.strip_prefix(before)?.strip_suffix(after)?;
        digits.parse::<u32>().ok().filter(|rank| rank.to_string() == digits)
    };
    let found = entries.flatten().filter_map(|entry| number(entry.file_name().to_str()?));
    let ranks = BTreeSet::from_iter(found);
    let file = |rank: u32| format!("{before}{rank}{after}");
    let missing = (0..).find(|rank| !ranks.contains(rank)).unwrap_or_default();
    if let Some(last) = ranks.last().filter(|last| **last > missing) {
        return Err(format!("there is `{}`, but no `{}`", file(*last), file(missing)));
    }
    if ranks.is_empty() {
        return Err(format!("there is no `{}` in {}", file(0), directory.display()));
    }
    let files = ranks
        .into_iter()
        .map(|rank| read(&directory.join(file(rank))).map_err(|why| format!("`{}`: {why}", file(rank))));
    Ok(pack(&files.collect::<Result<Vec<_>, _>>()?))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| {
        let why = reason(&error);
        match path.parent().filter(|at| !["", "."].map(Path::new).contains(at)) {
            Some(directory) if error.kind() == NotFound => format!("{why} in {}", directory.display()),
            _ => why,
        }
    })
}
