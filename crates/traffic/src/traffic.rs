//! [`Traffic`]: all flows of a run, with the requested and the realised load.

use weft_units::{Bytes, Duration, FlowId};

use crate::connections::Connections;
use crate::dependencies::Dependencies;
use crate::flow::Flow;
use crate::jobs::Jobs;
use crate::load_of::LoadOf;
use crate::offer::Offer;
use crate::parts::Parts;
use crate::places::Places;
use crate::tuner::Choice;

/// The realised flows of one group.
#[derive(Clone, PartialEq, Debug)]
pub struct GroupSummary {
    /// The class of its flows; `None` if they are classified by size.
    pub class: Option<String>,
    /// The number of flows.
    pub flows: u64,
    /// The sum of their sizes.
    pub bytes: Bytes,
    /// The mean of its size distribution in bytes; `None` for a list.
    pub expected_mean: Option<f64>,
    /// The requested load.
    pub asked_load: Option<f64>,
}

/// So many different starts make a list of flows one of arrivals over time.
pub(crate) const MANY_STARTS: usize = 100;

/// The flows that arrive, for example at a rate, by `load` or `flows_per_second`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Arriving {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// Whether each flow arrives.
    Some(Vec<bool>),
}

impl Arriving {
    /// Whether this flow does.
    pub fn has(&self, flow: FlowId) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Some(flows) => flows.get(flow.0 as usize).copied().unwrap_or_default(),
        }
    }
}

/// All flows of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Traffic {
    /// The flows by start, then id; the id is the index.
    pub flows: Vec<Flow>,
    /// Dependencies between flows.
    pub dependencies: Dependencies,
    /// Flows that are sent in parts.
    pub parts: Parts,
    /// Flows that complete together.
    pub jobs: Jobs,
    /// Flows that share a connection that stays open.
    pub connections: Connections,
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The mean size of the drawn flows in bytes; 0 without flows.
    pub mean_bytes: f64,
    /// The bits of the flows divided by the capacity of the links of [`load_of`](Self::load_of) in the duration;
    /// payload only, without headers and acknowledgements. `None` if flows do not arrive over time.
    pub offered_load: Option<f64>,
    /// The capacity that the load is a fraction of.
    pub load_of: LoadOf,
    /// The expected load of groups whose flows start over time.
    pub offers: Vec<Offer>,
    /// The flows that arrive at a rate.
    pub arriving: Arriving,
    /// Which flows arrive over time, so that a growing backlog can be noticed: these or, if there are none, those of lists
    /// and traces with at least 100 different starts.
    pub over_time: Arriving,
    /// One entry per group, in order.
    pub groups: Vec<GroupSummary>,
    /// The choices of tuners' tables, with the index of the group.
    pub choices: Vec<(usize, Choice)>,
    /// Notes on the result: a group that was cut short, sizes far from their mean.
    pub notes: Vec<String>,
}

impl Traffic {
    /// Fills in the realised mean, and the load if flows arrive over time.
    pub(crate) fn measure(&mut self, places: &Places, duration: Duration, over_time: bool) {
        let bytes = self.flows.iter().fold(0.0, |sum, flow| sum + flow.bytes as f64);
        self.mean_bytes = bytes / self.flows.len().max(1) as f64;
        let crosses = |src, dst| places.rack_of(src) != places.rack_of(dst);
        let crossing: f64 =
            self.flows.iter().filter(|flow| crosses(flow.src, flow.dst)).map(|flow| flow.bytes as f64).sum();
        let asked = self.groups.iter().any(|group| group.asked_load.is_some());
        if !asked && (crossing == 0.0 || places.uplink_capacity() == 0.0) {
            self.load_of = LoadOf::HostLinks;
        }
        let (bytes, capacity) = match self.load_of {
            LoadOf::FabricUplinks => (crossing, places.uplink_capacity()),
            LoadOf::HostLinks => (bytes, places.host_capacity()),
        };
        let could = capacity * duration.as_secs_f64();
        self.offered_load = (over_time && could > 0.0).then(|| 8.0 * bytes / could);
    }
}
