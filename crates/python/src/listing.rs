//! Lists: schemes, profiles, distributions, benchmark cases, the schema.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};
use weft_fabric::Overhead;
use weft_plugin::host::{self, LoadError};
use weft_sim::bench as cases;
use weft_sim::columns::FLOWS;
use weft_sim::jobs::{PATHS, RANKS, RING_STEPS, WORKS};
use weft_sim::results::{Growth, Summary};
use weft_sim::sample::{Metric, SERIES};
use weft_switching::{Descriptor, ParamInfo, ParamKind};
use weft_traffic::published;
use weft_transport::{Config, CongestionControl, Protocol, profile::PROFILES};

use crate::error::OtherVersionError;

#[pyfunction]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// How the backlog of several runs grows together.
#[pyfunction]
pub fn growth(backlog: [f64; 5], offered: f64, remaining: f64, error: f64) -> Option<String> {
    Growth { backlog, offered, remaining, error }.reason()
}

/// The file of the plugin that provides the scheme or congestion controller `name`.
fn plugin(name: &str) -> Option<PathBuf> {
    host::loaded().iter().find(|module| module.known.name() == name).map(|module| module.path.clone())
}

fn param_json(param: &ParamInfo) -> Value {
    let kind = match param.kind {
        ParamKind::Choice(words) => words.join(" | "),
        ParamKind::Duration => "a time".to_owned(),
        ParamKind::Bytes => "a size".to_owned(),
        ParamKind::Rate => "a rate".to_owned(),
        ParamKind::Count => "a whole number".to_owned(),
        ParamKind::Number => "a number".to_owned(),
        ParamKind::Flag => "true | false".to_owned(),
    };
    json!({
        "name": param.name,
        "kind": kind,
        "default": param.default.to_string(),
        "doc": param.doc,
        "elsewhere": param.elsewhere,
    })
}

/// Weft's own congestion controllers by name, and those of plugins with their descriptions.
#[pyfunction]
pub fn congestion_controls() -> String {
    let own = CongestionControl::WORDS.iter().map(|name| json!({ "name": name, "plugin": null }));
    let of_plugins = host::schemes().controllers.into_iter().map(|info| {
        json!({
            "name": info.name,
            "summary": info.summary,
            "source": info.source,
            "params": info.params.iter().map(param_json).collect::<Vec<_>>(),
            "plugin": plugin(info.name),
        })
    });
    Value::Array(own.chain(of_plugins).collect()).to_string()
}

#[pyfunction]
pub fn schemes() -> String {
    let schemes = host::schemes();
    let schemes = schemes.iter().map(|scheme: &Descriptor| {
        json!({
            "name": scheme.name,
            "summary": scheme.summary,
            "decides": scheme.decides,
            "observes": scheme.observes,
            "source": scheme.source,
            "params": scheme.params.iter().map(param_json).collect::<Vec<_>>(),
            "needs": scheme.needs,
            "explores": scheme.explores,
            "has_own_frames": scheme.has_own_frames,
            "next_hops": scheme.next_hops,
            "tag_bytes": scheme.tag_bytes,
            "linux_mode": scheme.linux_mode,
            "plugin": plugin(scheme.name),
        })
    });
    Value::Array(schemes.collect()).to_string()
}

#[pyfunction]
pub fn load_plugin(path: &str) -> PyResult<&'static str> {
    host::load(Path::new(path)).map(|module| module.known.name()).map_err(|error| match error {
        LoadError::OtherVersion { .. } => OtherVersionError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    })
}

#[pyfunction]
pub fn profiles() -> String {
    let profiles = PROFILES.iter().map(|(name, summary)| {
        json!({ "name": name, "summary": summary, "parameters": Config::profile(name).map(Protocol::from) })
    });
    Value::Array(profiles.collect()).to_string()
}

/// The names of the protocols without connections.
pub fn without_connections() -> Vec<&'static str> {
    let all = Protocol::all().into_iter().filter(|protocol| !protocol.config().has_connections());
    all.map(|protocol| protocol.name()).collect()
}

/// The bytes that each framing adds to an IP packet, by its name.
pub fn framing() -> BTreeMap<&'static str, u32> {
    let all = Overhead::WORDS.iter().filter_map(|word| word.parse().ok());
    all.map(|overhead: Overhead| (overhead.word(), overhead.bytes())).collect()
}

#[pyfunction]
pub fn distributions() -> String {
    let tables = published::ALL.iter().map(|table| {
        let sizes = table.sizes();
        let knots = sizes.knots().iter().map(|knot| json!([knot.bytes, knot.probability]));
        json!({
            "name": table.name,
            "summary": table.source,
            "mean_bytes": sizes.mean(),
            "knots": knots.collect::<Vec<_>>(),
        })
    });
    Value::Array(tables.collect()).to_string()
}

/// The columns of a run's tables, the metrics of its samples, and the keys of a class in its summary.
#[pyfunction]
pub fn result_tables() -> String {
    let metrics = Metric::ALL
        .iter()
        .map(|metric| json!({ "name": metric.name(), "entity": metric.entity(), "doc": metric.doc() }));
    json!({
        "flows": FLOWS,
        "series": SERIES,
        "work": WORKS,
        "ranks": RANKS,
        "critical_path": PATHS,
        "ring_steps": RING_STEPS,
        "metrics": metrics.collect::<Vec<_>>(),
        "classes": Summary::keys(),
    })
    .to_string()
}

#[pyfunction]
pub fn schema() -> String {
    weft_scenario::schema(&host::schemes()).to_value().to_string()
}

#[pyfunction]
pub fn bench_cases() -> Vec<&'static str> {
    cases::cases()
}

#[pyfunction]
pub fn bench(py: Python<'_>, case: &str, seconds: f64, threads: usize) -> PyResult<String> {
    let measured = py.detach(|| cases::bench(case, seconds, threads));
    let measured = measured.ok_or_else(|| unknown(case))?;
    serde_json::to_string(&measured).map_err(|error| PyValueError::new_err(error.to_string()))
}

#[pyfunction]
pub fn bench_model(py: Python<'_>, case: &str, seconds: f64) -> PyResult<String> {
    let model = py.detach(|| cases::model(case, seconds)).ok_or_else(|| unknown(case))?;
    serde_json::to_string(&model).map_err(|error| PyValueError::new_err(error.to_string()))
}

#[pyfunction]
pub fn bench_export(case: &str, seconds: f64, directory: &str) -> PyResult<f64> {
    let exported = cases::export(case, seconds, Path::new(directory));
    exported.map_err(|error| PyOSError::new_err(error.to_string()))?.ok_or_else(|| unknown(case))
}

fn unknown(case: &str) -> PyErr {
    PyValueError::new_err(format!("there is no case `{case}`: expected one of {}", cases::cases().join(", ")))
}
