//! [`Plan`]: everything one run needs, resolved, checked and drawn.

use weft_fabric::Fabric;
use weft_switching::SchemeSpec;
use weft_traffic::Traffic;

use crate::sections::event::Event;
use crate::sections::measure::Measure;
use crate::sections::run::Run;
use crate::sections::transport::Transport;

/// Everything one run needs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The name of the run's directory.
    pub id: String,
    /// The label of the point of the sweep.
    pub label: String,
    /// The name of the scenario.
    pub name: String,
    /// The seed from which every random stream of the run is derived.
    pub seed: u64,
    /// The swept keys and their values here.
    pub overrides: serde_json::Map<String, serde_json::Value>,
    /// Hosts, switches and links.
    pub fabric: Fabric,
    /// The flows, drawn from the seed alone: the same for every scheme.
    pub traffic: Traffic,
    /// How switches choose paths.
    pub scheme: SchemeSpec,
    /// The TCP of the hosts.
    pub transport: Transport,
    /// When it ends.
    pub run: Run,
    /// Measurement settings.
    pub measure: Measure,
    /// Failures and recoveries, in order of time.
    pub events: Vec<Event>,
    /// Warnings for readers of the result.
    pub warnings: Vec<String>,
}
