//! [`Plan`]: everything one run needs, resolved, checked and drawn.

use weft_fabric::Fabric;
use weft_switching::{Descriptor, SchemeSpec};
use weft_traffic::Traffic;
use weft_units::{Duration, Time};

use crate::change::Event;
use crate::overload::Overload;
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
    /// The scheme that it names.
    pub descriptor: &'static Descriptor,
    /// The TCP of the hosts.
    pub transport: Transport,
    /// When it ends.
    pub run: Run,
    /// Measurement settings.
    pub measure: Measure,
    /// Time from a change of a link until computed routes take it into account.
    pub reaction: Duration,
    /// Changes of links and nodes, in order of time.
    pub events: Vec<Event>,
    /// Links to which more is offered than they carry.
    pub overloads: Vec<Overload>,
    /// Warnings for readers of the result.
    pub warnings: Vec<String>,
}

impl Plan {
    /// When computed routes take an event into account: after the reaction time, but at once if it is part of the
    /// fabric from the start (0 s); never if the control plane cannot see it.
    pub fn reroutes_at(&self, event: &Event) -> Option<Time> {
        let at = if event.at == Time::ZERO { event.at } else { event.at + self.reaction };
        event.change.is_visible().then_some(at)
    }
}
