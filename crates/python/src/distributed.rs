//! Sweeps whose runs are carried out elsewhere: the result directory here, and single runs there.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use serde_json::{Value, json};
use weft_scenario::{Scenario, sha256};
use weft_sim::origin::Origin;
use weft_sim::results::{FILES, MORE_FILES};
use weft_sim::single::run_point;
use weft_sim::sweep_directory::Directory;
use weft_units::reason;

use crate::emulated::of_sweep;
use crate::error::ScenarioError;
use crate::files::{load, scenario};

/// The names of the files of every result, and of those that only some have.
#[pyfunction]
pub fn result_files() -> (Vec<&'static str>, Vec<&'static str>) {
    (FILES.to_vec(), MORE_FILES.to_vec())
}

/// The result directory of a sweep, locked until it is closed.
#[pyclass(frozen)]
pub struct SweepDirectory {
    scenario: Scenario,
    directory: Mutex<Option<Directory>>,
}

impl SweepDirectory {
    fn with<T>(&self, act: impl FnOnce(&Directory) -> PyResult<T>) -> PyResult<T> {
        let directory = self.directory.lock().unwrap_or_else(PoisonError::into_inner);
        act(directory.as_ref().ok_or_else(|| PyValueError::new_err("the directory is closed"))?)
    }
}

#[pymethods]
impl SweepDirectory {
    #[new]
    fn new(text: &str, name: &str, base_dir: &str, sets: Vec<String>, out_dir: &str) -> PyResult<Self> {
        let scenario = scenario(text, name, &sets)?;
        let load = |path: &str| load(base_dir, path);
        let directory = Directory::open(&scenario, Path::new(out_dir), &load, Origin::Simulated);
        Ok(Self { scenario, directory: Mutex::new(Some(directory.map_err(of_sweep)?)) })
    }

    fn missing(&self) -> PyResult<Vec<String>> {
        self.with(|directory| {
            Ok(directory.missing(&self.scenario).iter().map(|point| point.id.clone()).collect())
        })
    }

    fn inputs(&self) -> PyResult<Vec<(String, String, usize)>> {
        self.with(|directory| {
            let inputs = directory.inputs();
            Ok(inputs.iter().map(|(file, bytes)| (file.clone(), sha256(bytes), bytes.len())).collect())
        })
    }

    fn input<'py>(
        &self,
        py: Python<'py>,
        file: &str,
        offset: usize,
        length: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.with(|directory| {
            let bytes = directory
                .inputs()
                .get(file)
                .ok_or_else(|| PyValueError::new_err(format!("the scenario does not name `{file}`")))?;
            let from = offset.min(bytes.len());
            let to = offset.saturating_add(length).min(bytes.len());
            Ok(PyBytes::new(py, &bytes[from..to]))
        })
    }

    fn begin(&self, point_id: &str) -> PyResult<String> {
        let point = self.scenario.point(point_id).map_err(ScenarioError::new_err)?;
        self.with(|directory| match directory.begin(point) {
            Ok(path) => Ok(path.to_string_lossy().into_owned()),
            Err(error) => Err(PyOSError::new_err(error.to_string())),
        })
    }

    fn complete(&self, point_id: &str, temporary: PathBuf) -> PyResult<()> {
        let point = self.scenario.point(point_id).map_err(ScenarioError::new_err)?;
        self.with(|directory| {
            directory.complete(point, &temporary).map_err(|error| PyOSError::new_err(error.to_string()))
        })
    }

    fn close(&self, timings: Vec<String>) -> PyResult<()> {
        let mut directory = self.directory.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(directory) = directory.take() else { return Ok(()) };
        let timings =
            timings.iter().map(|text| serde_json::from_str(text)).collect::<Result<Vec<Value>, _>>();
        let timings = timings.map_err(|error| PyValueError::new_err(error.to_string()))?;
        directory.add_timings(&timings).map_err(of_sweep)
    }
}

/// The runs of a scenario, to be carried out one at a time.
#[pyclass(frozen)]
pub struct Runs {
    scenario: Scenario,
}

#[pymethods]
impl Runs {
    #[new]
    fn new(text: &str, name: &str, sets: Vec<String>) -> PyResult<Self> {
        Ok(Self { scenario: scenario(text, name, &sets)? })
    }

    fn run(
        &self,
        py: Python<'_>,
        point_id: &str,
        files: HashMap<String, PathBuf>,
        target: &str,
        threads: usize,
        progress: Py<PyAny>,
    ) -> PyResult<Option<String>> {
        let point = self.scenario.point(point_id).map_err(ScenarioError::new_err)?;
        let mut raised = None;
        let outcome = py.detach(|| {
            let load = |file: &str| {
                let path = files.get(file).ok_or_else(|| format!("`{file}` was not sent"))?;
                fs::read(path).map_err(|error| format!("cannot read `{file}`: {}", reason(&error)))
            };
            run_point(&self.scenario, point, &load, Path::new(target), threads, &mut |so_far| {
                let result = Python::attach(|py| {
                    let text = so_far.map_or_else(
                        || json!({}),
                        |so_far| {
                            json!({
                                "fraction": so_far.fraction,
                                "flows_done": so_far.flows_done,
                                "flows_total": so_far.flows_total,
                                "packet_hops": so_far.packet_hops,
                                "sim_time_s": so_far.sim_time_s,
                            })
                        },
                    );
                    progress.call1(py, (PyString::new(py, &text.to_string()),)).map(drop)
                });
                raised = raised.take().or_else(|| result.err());
                raised.is_none()
            })
        });
        if let Some(error) = raised {
            return Err(error);
        }
        let answer = match outcome {
            Ok(None) => return Ok(None),
            Ok(Some(timing)) => json!({ "timing": timing.json(point), "one_thread": timing.alone }),
            Err(failed) => json!({ "error": failed.error, "disk_full": failed.is_disk_full }),
        };
        Ok(Some(answer.to_string()))
    }
}
