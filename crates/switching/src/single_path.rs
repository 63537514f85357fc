//! Single path: one shortest path for each destination, by the lowest next-hop node id.
//!
//! The baseline of the packet-spraying paper: hop-count routing without multipath.

use std::sync::Arc;

use weft_fabric::Fabric;
use weft_units::{HostId, NodeId, PortId};

use crate::blueprint::Blueprint;
use crate::descriptor::{Descriptor, Hops};
use crate::split::Split;
use crate::{Actions, Context, DropReason, Forwarding, Header, NextHops, Switch};

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "single_path",
    summary: "one shortest path per destination, by the lowest next-hop id",
    decides: "switches",
    observes: "nothing",
    source: "shortest-path routing",
    next_hops: Some(Hops::Lowest),
    split: |_| Some(Split::Lowest),
    // With one next hop per host, a hash has no choice.
    linux_mode: Some("ecmp"),
    ..Descriptor::PLAIN
};

/// Builds the switches of a single-path fabric.
pub struct SinglePath {
    routes: Arc<Forwarding>,
}

impl SinglePath {
    /// The scheme over `routes`.
    pub fn new(routes: Arc<Forwarding>) -> Self {
        Self { routes }
    }
}

impl Blueprint for SinglePath {
    type Switch = SinglePathSwitch;

    fn switch(&self, fabric: &Fabric, node: NodeId) -> SinglePathSwitch {
        let neighbours: Box<[NodeId]> =
            fabric.ports(node).iter().map(|link| fabric.links()[link.index()].to).collect();
        let ports = vec![None; fabric.host_count()].into();
        let mut switch = SinglePathSwitch { next_hops: self.routes.at(node), neighbours, ports };
        switch.routes_changed(&self.routes);
        switch
    }
}

/// A single-path switch.
pub struct SinglePathSwitch {
    next_hops: NextHops,
    /// The node behind each port.
    neighbours: Box<[NodeId]>,
    /// The egress port by destination host.
    ports: Box<[Option<PortId>]>,
}

impl Switch for SinglePathSwitch {
    const DECIDES_AHEAD: bool = true;

    #[inline(always)]
    fn receive<C: Context>(&mut self, _ctx: &mut C, _ingress: PortId, header: &Header, out: &mut Actions) {
        match self.decide(header) {
            Some(port) => out.send(port),
            None => out.drop(DropReason::NoRoute),
        }
    }

    #[inline(always)]
    fn decide(&self, header: &Header) -> Option<PortId> {
        header.destination().and_then(|host| self.ports.get(host.index()).copied().flatten())
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.next_hops.renew(routes);
        self.ports = (0..self.ports.len() as u32)
            .map(|host| {
                let ports = self.next_hops.all(HostId(host));
                ports.iter().copied().min_by_key(|port| (self.neighbours[port.index()], *port))
            })
            .collect();
    }
}
