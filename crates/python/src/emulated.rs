//! The results of emulated runs.

use std::path::Path;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;
use weft_sim::emulated::{self, EmulatedError};
use weft_sim::origin::Origin;
use weft_sim::sweep_directory::Directory;
use weft_sim::sweep_error::SweepError;

use crate::error::ScenarioError;
use crate::files::{load, os_error, scenario};

#[pyfunction]
pub fn open_emulated(
    text: &str,
    name: &str,
    base_dir: &str,
    sets: Vec<String>,
    out_dir: &str,
) -> PyResult<String> {
    let scenario = scenario(text, name, &sets)?;
    let load = |path: &str| load(base_dir, path);
    let directory =
        Directory::open(&scenario, Path::new(out_dir), &load, Origin::Emulated).map_err(of_sweep)?;
    let there = scenario.points().iter().filter(|point| directory.target(point).exists());
    Ok(json!(there.map(|point| &point.id).collect::<Vec<_>>()).to_string())
}

#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arguments of the Python function")]
pub fn write_emulated(
    py: Python<'_>,
    text: &str,
    name: &str,
    base_dir: &str,
    sets: Vec<String>,
    point_id: &str,
    out_dir: &str,
    records: &str,
    observed: &str,
) -> PyResult<()> {
    let scenario = scenario(text, name, &sets)?;
    let point = scenario.point(point_id).map_err(ScenarioError::new_err)?;
    py.detach(|| {
        let load = |path: &str| load(base_dir, path);
        let directory = Directory::open(&scenario, Path::new(out_dir), &load, Origin::Emulated)?;
        emulated::write(&scenario, point, &directory, Path::new(records), Path::new(observed))
    })
    .map_err(|error| match error {
        EmulatedError::Sweep(error) => of_sweep(error),
        EmulatedError::Plan(_) => ScenarioError::new_err(error.to_string()),
        EmulatedError::Record { .. } | EmulatedError::Observed { .. } => {
            PyValueError::new_err(error.to_string())
        }
        EmulatedError::Result(error) => os_error(&error),
        EmulatedError::Exists { .. } | EmulatedError::Unreadable { .. } => {
            PyOSError::new_err(error.to_string())
        }
    })
}

/// The Python error of a sweep that did not start.
pub fn of_sweep(error: SweepError) -> PyErr {
    match error {
        SweepError::Io(error) => os_error(&error),
        _ => ScenarioError::new_err(error.to_string()),
    }
}
