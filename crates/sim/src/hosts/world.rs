//! [`World`]: the knowledge that all hosts of a run share.

use weft_traffic::{Connections, Flow, Parts};
use weft_transport::Protocol;
use weft_units::{HostId, NodeId};

use super::chosen::Chosen;
use super::places::Places;
use crate::framings::Framings;
use crate::network::Network;
use crate::part_arrivals::PartArrivals;
use crate::waiting::Waiting;

/// The knowledge that all hosts of a run share.
pub struct World<'a> {
    /// The flows, in order of start time; of those that wait for others, the earliest.
    pub flows: &'a [Flow],
    /// The transport protocol, and how it divides flows into packets.
    pub transport: &'a Protocol,
    /// See `transport`.
    pub framings: Framings,
    /// The seed of the run.
    pub seed: u64,
    /// Whether hosts know all addresses and switches all stations from the start.
    pub warm: bool,
    /// Whether nodes handle their events in rounds.
    pub has_rounds: bool,
    /// The places of the flows' ends among those of their partitions.
    pub places: Places,
    /// The flows that wait for others.
    pub waiting: Waiting<'a>,
    /// The flows that share connections.
    pub connections: &'a Connections,
    /// The flows in parts.
    pub parts: &'a Parts,
    /// When their parts arrived, if that is recorded.
    pub arrivals: PartArrivals,
    /// The interfaces that sources have chosen by their load.
    pub chosen: Chosen,
}

impl World<'_> {
    /// The interfaces of a flow's first subflow by the rule, as far as the source has chosen.
    pub fn first_interfaces(&self, flow: &Flow) -> Option<[u8; 2]> {
        flow.lane.interfaces().or_else(|| self.chosen.get(flow.id.0))
    }
}

/// The node of a host.
pub fn node_of(net: &Network<'_>, host: HostId) -> NodeId {
    net.fabric.host_node(host)
}
