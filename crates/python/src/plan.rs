//! One run of a scenario in full, to be executed elsewhere.

use pyo3::prelude::*;
use weft_scenario::{Plan, Scenario};

use crate::error::ScenarioError;
use crate::files::{load, scenario};

#[pyfunction]
pub fn plan(
    py: Python<'_>,
    text: &str,
    name: &str,
    base_dir: &str,
    sets: Vec<String>,
    point_id: &str,
) -> PyResult<String> {
    let scenario = scenario(text, name, &sets)?;
    py.detach(|| {
        let plan = plan_of(&scenario, point_id, base_dir)?;
        serde_json::to_string(&plan.export()).map_err(|error| error.to_string())
    })
    .map_err(ScenarioError::new_err)
}

#[pyfunction]
pub fn routes(
    py: Python<'_>,
    text: &str,
    name: &str,
    base_dir: &str,
    sets: Vec<String>,
    point_id: &str,
    down: Vec<usize>,
) -> PyResult<String> {
    let scenario = scenario(text, name, &sets)?;
    py.detach(|| {
        let plan = plan_of(&scenario, point_id, base_dir)?;
        let cables = plan.fabric.cable_count();
        if let Some(cable) = down.iter().find(|&&cable| cable >= cables) {
            return Err(format!("there is no link {cable}: the fabric has {cables}, counted from 0"));
        }
        serde_json::to_string(&plan.routes(&down)).map_err(|error| error.to_string())
    })
    .map_err(ScenarioError::new_err)
}

/// The plan of the point `id`.
pub fn plan_of(scenario: &Scenario, id: &str, base_dir: &str) -> Result<Plan, String> {
    scenario.plan(scenario.point(id)?, &|path| load(base_dir, path)).map_err(|wrong| wrong.to_string())
}
