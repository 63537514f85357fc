//! [`Nics`]: the links on which the hosts of flows send.

use std::sync::Arc;

use weft_switching::{Forwarding, flow_hash, mix64, pick};
use weft_traffic::Flow;
use weft_units::PortId;

use crate::network::Network;

/// The routes, and with them the links of hosts.
pub struct Nics(Arc<Forwarding>);

impl Nics {
    /// The links by these routes.
    pub fn new(routes: &Arc<Forwarding>) -> Self {
        Self(Arc::clone(routes))
    }

    /// The link on which one side (0: the source) of a flow sends: the one of the side's address, if that has a number. Else
    /// each host picks one of its links on a shortest path by the flow's hash, as in link aggregation
    /// (IEEE 802.1AX, 6.2.4).
    pub fn nic(&self, net: &Network<'_>, flow: &Flow, side: usize, address: Option<u8>) -> u32 {
        let (from, to) = if side == 0 { (flow.src, flow.dst) } else { (flow.dst, flow.src) };
        let node = net.fabric.host_node(from);
        if let Some(address) = address {
            return net.link_at(node, PortId(address.into()));
        }
        let hash = flow_hash(flow.src, flow.dst, flow.sport, flow.dport);
        let ports = self.0.routes().next_hops(node, to);
        let drawn = ports.get(pick(mix64(u64::from(hash)), ports.len()));
        net.link_at(node, drawn.copied().unwrap_or(PortId(0)))
    }

    /// The routes of the fabric.
    pub fn routes(&self) -> &Arc<Forwarding> {
        &self.0
    }
}
