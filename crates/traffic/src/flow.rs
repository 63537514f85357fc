//! [`Flow`], and [`Traffic`], all flows of a run with what was asked for and what came of it.

use weft_units::{Bytes, FlowId, HostId, Time};

/// The largest DSCP: it has six bits.
pub const MAX_DSCP: u8 = 63;

/// One transfer over one connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// The place in [`Traffic::flows`].
    pub id: FlowId,
    /// The host that sends.
    pub src: HostId,
    /// The host that receives.
    pub dst: HostId,
    /// TCP source port.
    pub sport: u16,
    /// TCP destination port.
    pub dport: u16,
    /// Index into [`Traffic::classes`].
    pub class: u16,
    /// The DSCP of all its packets, both ways (RFC 2474): 0 to [`MAX_DSCP`].
    pub dscp: u8,
    /// What the application sends.
    pub bytes: u64,
    /// When the application opens the connection.
    pub start: Time,
}

/// What a load is a share of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LoadOf {
    /// The sum of the rates of all links from racks into the fabric, one direction. Only flows that
    /// leave their rack count.
    #[default]
    FabricUplinks,
    /// The sum of the rates of all links from hosts, one direction.
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

/// What became of one group.
#[derive(Clone, PartialEq, Debug)]
pub struct GroupSummary {
    /// The class its flows are named by; `None` where they are named by size.
    pub class: Option<String>,
    /// How many flows it has.
    pub flows: u64,
    /// The sum of their sizes.
    pub bytes: Bytes,
    /// The mean that its distribution promises, in bytes; `None` for a list.
    pub expected_mean: Option<f64>,
    /// The load that was asked for.
    pub asked_load: Option<f64>,
}

/// All flows of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Traffic {
    /// The flows by start, then id; the id is the place.
    pub flows: Vec<Flow>,
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The mean size of the flows in bytes, as drawn; 0 without flows.
    pub mean_bytes: f64,
    /// The bits of the flows over what the links of [`load_of`](Self::load_of) carry in the duration,
    /// payload only, without headers and acknowledgements. `None` where flows do not arrive over time.
    pub offered_load: Option<f64>,
    /// What the load is a share of.
    pub load_of: LoadOf,
    /// One for every group, in order.
    pub groups: Vec<GroupSummary>,
    /// What a reader of the result should know: a group that was cut short, sizes far from their mean.
    pub notes: Vec<String>,
    /// Where the links cannot carry what is asked of them.
    pub warnings: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_takes_forty_bytes() {
        assert_eq!(size_of::<Flow>(), 40);
    }
}
