//! Descriptions of scenarios and fabrics, without running anything.

use std::fs;

use pyo3::prelude::*;
use serde_json::{Value, json};
use weft_fabric::{EqualCost, Fabric, LinkSpec, measure, read, write};
use weft_sim::fabric_json::{links_json, nodes};
use weft_units::{plural, reason};

use crate::error::ScenarioError;
use crate::files::{load, scenario};

/// Pairs of hosts examined for path diversity.
const DIVERSITY_PAIRS: u64 = 2_000;

#[pyfunction]
pub fn check(py: Python<'_>, text: &str, name: &str, base_dir: &str, sets: Vec<String>) -> PyResult<String> {
    let scenario = scenario(text, name, &sets)?;
    let warnings = py.detach(|| scenario.check(&|path| load(base_dir, path)));
    let warnings = warnings.map_err(|wrong| ScenarioError::new_err(wrong.to_string()))?;
    let answer = json!({
        "name": scenario.name(),
        "description": scenario.description(),
        "baseline": scenario.baseline(),
        "points": scenario.points(),
        "warnings": warnings,
        "content": scenario.content(),
    });
    Ok(answer.to_string())
}

#[pyfunction]
pub fn fabric(text: &str, name: &str, base_dir: &str, sets: Vec<String>, measured: bool) -> PyResult<String> {
    Ok(describe(&fabric_of(text, name, base_dir, &sets)?, measured).to_string())
}

/// The fabric of a scenario's first point.
pub fn fabric_of(text: &str, name: &str, base_dir: &str, sets: &[String]) -> PyResult<Fabric> {
    let scenario = scenario(text, name, sets)?;
    let plan = scenario.plan(&scenario.points()[0], &|path| load(base_dir, path));
    plan.map(|plan| plan.fabric).map_err(|wrong| ScenarioError::new_err(wrong.to_string()))
}

#[pyfunction]
pub fn fabric_file(path: &str, measured: bool) -> PyResult<String> {
    Ok(describe(&read_with(read::file, path)?, measured).to_string())
}

/// The fabric of a scenario in the format given by the extension of `target`.
#[pyfunction]
pub fn fabric_as(
    target: &str,
    text: &str,
    name: &str,
    base_dir: &str,
    sets: Vec<String>,
) -> PyResult<String> {
    written(target, &fabric_of(text, name, base_dir, &sets)?)
}

/// A fabric file in the format given by the extension of `target`.
#[pyfunction]
pub fn fabric_file_as(target: &str, path: &str) -> PyResult<String> {
    written(target, &read_with(read::network, path)?)
}

fn written(target: &str, fabric: &Fabric) -> PyResult<String> {
    write::file(target, fabric).map_err(ScenarioError::new_err)
}

#[pyfunction]
pub fn network_file(path: &str) -> PyResult<String> {
    Ok(describe(&read_with(read::network, path)?, false).to_string())
}

type Reader = fn(&str, &[u8], &LinkSpec) -> Result<Fabric, read::ReadError>;

fn read_with(reader: Reader, path: &str) -> PyResult<Fabric> {
    let bytes = fs::read(path)
        .map_err(|error| ScenarioError::new_err(format!("cannot read {path}: {}", reason(&error))))?;
    let fabric = reader(path, &bytes, &LinkSpec::default());
    fabric.map_err(|error| {
        let text = error.to_string();
        // Some messages begin with the path themselves.
        let is_named = text.starts_with(&format!("`{path}`"));
        ScenarioError::new_err(if is_named { text } else { format!("{path}: {text}") })
    })
}

fn describe(fabric: &Fabric, measured: bool) -> Value {
    let mut description = json!({
        "name": fabric.name(),
        "nodes": nodes(fabric),
        "links": links_json(fabric),
        "warnings": fabric.notes(),
    });
    if measured && let (Some(all), Value::Object(measures)) = (description.as_object_mut(), measures(fabric))
    {
        all.extend(measures);
    }
    description
}

fn measures(fabric: &Fabric) -> Value {
    let counts = measure::counts(fabric);
    let paths = EqualCost::compute(fabric);
    let diversity = measure::diversity(fabric, &paths, DIVERSITY_PAIRS);
    let bisection = measure::bisection(fabric);
    let tiers =
        counts.tiers.iter().map(|tier| json!({ "tier": tier.tier, "name": tier.name, "nodes": tier.nodes }));
    let range = |(least, most): (u64, u64)| {
        if least == most { least.to_string() } else { format!("{least} to {most}") }
    };
    let rows = diversity.rows.iter().map(|row| {
        let text = format!(
            "{} equal-cost, {} disjoint ({})",
            range(row.equal_cost),
            range(row.disjoint),
            plural(row.pairs, "pair")
        );
        (format!("paths over {}", plural(u64::from(row.hops), "link")), json!(text))
    });
    json!({
        "counts": { "tiers": tiers.collect::<Vec<_>>(), "pods": counts.pods },
        "bisection": {
            "bandwidth_bps": bisection.rate.bps(),
            "share": bisection.share,
            "method": bisection.method.to_string(),
        },
        "oversubscription": measure::oversubscription(fabric),
        "diameter": measure::diameter(fabric, &paths),
        "diversity": Value::Object(rows.collect()),
    })
}
