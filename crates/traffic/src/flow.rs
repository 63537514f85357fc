//! [`Flow`], and [`Traffic`]: all flows of a run, with the requested and the realised load.

use weft_units::{Bytes, FlowId, HostId, Time};

use crate::connections::Connections;
use crate::dependencies::Dependencies;
use crate::jobs::Jobs;
use crate::offer::Offer;

/// Maximum number of flows of a run: they take 2 GB.
pub const MAX_FLOWS: u64 = 50_000_000;

/// The largest DSCP: it has six bits.
pub const MAX_DSCP: u8 = 63;

/// One transfer over one connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// The index in [`Traffic::flows`].
    pub id: FlowId,
    /// The sending host.
    pub src: HostId,
    /// The receiving host.
    pub dst: HostId,
    /// TCP source port.
    pub sport: u16,
    /// TCP destination port.
    pub dport: u16,
    /// Index into [`Traffic::classes`].
    pub class: u16,
    /// The DSCP of all its packets, both ways (RFC 2474): 0 to [`MAX_DSCP`].
    pub dscp: u8,
    /// Bytes that the application sends.
    pub bytes: u64,
    /// When the application opens the connection; if the flow waits for others, the earliest time.
    pub start: Time,
}

/// The capacity that a load is a fraction of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LoadOf {
    /// The sum of the rates of all links from racks into the fabric, in one direction. Only flows that
    /// leave their rack count.
    #[default]
    FabricUplinks,
    /// The sum of the rates of all host links, in one direction.
    HostLinks,
}

impl LoadOf {
    /// Every choice.
    pub const ALL: [Self; 2] = [Self::FabricUplinks, Self::HostLinks];

    /// The name in a scenario.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FabricUplinks => "fabric-uplinks",
            Self::HostLinks => "host-links",
        }
    }
}

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

/// Which flows arrive, for example at a rate, by `load` or `flows_per_second`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Arriving {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// Those of which this is true, by flow.
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
    /// Which of them wait for which.
    pub dependencies: Dependencies,
    /// Which of them are done together.
    pub jobs: Jobs,
    /// Which of them share a connection that stays open.
    pub connections: Connections,
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The mean size of the drawn flows in bytes; 0 without flows.
    pub mean_bytes: f64,
    /// The bits of the flows divided by what the links of [`load_of`](Self::load_of) can carry in the duration;
    /// payload only, without headers and acknowledgements. `None` if flows do not arrive over time.
    pub offered_load: Option<f64>,
    /// The capacity that the load is a fraction of.
    pub load_of: LoadOf,
    /// What groups whose flows start over time offer in expectation.
    pub offers: Vec<Offer>,
    /// Which flows arrive at a rate.
    pub arriving: Arriving,
    /// Which flows arrive over time, so that a growing backlog can be noticed: these or, if there are none, those of lists
    /// and traces with at least 100 different starts.
    pub over_time: Arriving,
    /// One entry per group, in order.
    pub groups: Vec<GroupSummary>,
    /// Notes on the result: a group that was cut short, sizes far from their mean.
    pub notes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_takes_forty_bytes() {
        assert_eq!(size_of::<Flow>(), 40);
    }
}
