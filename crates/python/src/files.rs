//! Files that a scenario names, relative to its directory.

use std::fs;
use std::io::ErrorKind::NotFound;
use std::path::Path;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use weft_plugin::host::schemes;
use weft_scenario::Scenario;
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

/// The bytes of the file `path`, relative to `base`.
pub fn load(base: &str, path: &str) -> Result<Vec<u8>, String> {
    let path = Path::new(base).join(path);
    fs::read(&path).map_err(|error| {
        let why = reason(&error);
        match path.parent().filter(|at| !["", "."].map(Path::new).contains(at)) {
            Some(directory) if error.kind() == NotFound => format!("{why} in {}", directory.display()),
            _ => why,
        }
    })
}
