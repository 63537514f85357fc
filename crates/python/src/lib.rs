//! Bindings between the crates and `python/weft`: text and paths in, JSON out.
//!
//! The functions are documented in `python/weft/_weft.pyi`.

mod controller;
mod describe;
mod distributed;
mod emulated;
mod error;
mod estimate;
mod explore;
mod files;
mod gates;
mod listing;
mod openflow;
mod path_set;
mod plan;
mod run;
mod tag_forward;
mod watched;
mod why;

use pyo3::prelude::*;

use error::{OtherVersionError, ScenarioError};

#[pymodule]
fn _weft(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("OtherVersionError", module.py().get_type::<OtherVersionError>())?;
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add_class::<controller::Controller>()?;
    module.add_class::<distributed::Runs>()?;
    module.add_class::<distributed::SweepDirectory>()?;
    module.add_class::<gates::GatePlan>()?;
    module.add_class::<openflow::OpenFlow>()?;
    module.add_class::<tag_forward::Provisioner>()?;
    module.add_function(wrap_pyfunction!(gates::tag_forward_state, module)?)?;
    module.add_function(wrap_pyfunction!(listing::version, module)?)?;
    module.add("ARRIVED", weft_sim::results::ARRIVED)?;
    module.add("CAPTURE_LIMIT", run::CAPTURE_LIMIT.to_string())?;
    module.add("FRAMING", listing::framing())?;
    module.add("MTU", weft_fabric::Overhead::MTU)?;
    module.add("OPENFLOW_PORT", weft_wire::openflow::PORT)?;
    module.add("WITHOUT_CONNECTIONS", listing::without_connections())?;
    module.add_function(wrap_pyfunction!(listing::growth, module)?)?;
    module.add_function(wrap_pyfunction!(listing::schemes, module)?)?;
    module.add_function(wrap_pyfunction!(listing::congestion_controls, module)?)?;
    module.add_function(wrap_pyfunction!(listing::load_plugin, module)?)?;
    module.add_function(wrap_pyfunction!(controller::controller_settings, module)?)?;
    module.add_function(wrap_pyfunction!(listing::profiles, module)?)?;
    module.add_function(wrap_pyfunction!(listing::distributions, module)?)?;
    module.add_function(wrap_pyfunction!(listing::result_tables, module)?)?;
    module.add_function(wrap_pyfunction!(listing::schema, module)?)?;
    module.add_function(wrap_pyfunction!(listing::bench_cases, module)?)?;
    module.add_function(wrap_pyfunction!(listing::bench, module)?)?;
    module.add_function(wrap_pyfunction!(listing::bench_model, module)?)?;
    module.add_function(wrap_pyfunction!(listing::bench_export, module)?)?;
    module.add_function(wrap_pyfunction!(describe::check, module)?)?;
    module.add_function(wrap_pyfunction!(describe::fabric, module)?)?;
    module.add_function(wrap_pyfunction!(describe::fabric_file, module)?)?;
    module.add_function(wrap_pyfunction!(describe::fabric_as, module)?)?;
    module.add_function(wrap_pyfunction!(describe::fabric_file_as, module)?)?;
    module.add_function(wrap_pyfunction!(describe::network_file, module)?)?;
    module.add_function(wrap_pyfunction!(distributed::result_files, module)?)?;
    module.add_function(wrap_pyfunction!(emulated::open_emulated, module)?)?;
    module.add_function(wrap_pyfunction!(emulated::write_emulated, module)?)?;
    module.add_function(wrap_pyfunction!(estimate::estimate, module)?)?;
    module.add_function(wrap_pyfunction!(explore::explore, module)?)?;
    module.add_function(wrap_pyfunction!(path_set::nearest, module)?)?;
    module.add_function(wrap_pyfunction!(path_set::path_set, module)?)?;
    module.add_function(wrap_pyfunction!(plan::plan, module)?)?;
    module.add_function(wrap_pyfunction!(plan::routes, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(why::time_line, module)?)?;
    module.add_function(wrap_pyfunction!(why::why, module)?)
}
