//! Random packet spraying: each packet to a uniformly random equal-cost next hop, drawn
//! independently (Dixit et al., "On the impact of packet spraying in data center networks",
//! INFOCOM 2013).

use std::sync::Arc;

use rand_core::RngCore;
use weft_fabric::Fabric;
use weft_units::{NodeId, PortId};

use crate::blueprint::Blueprint;
use crate::descriptor::{Descriptor, Hops};
use crate::split::Split;
use crate::{Actions, Context, DropReason, Forwarding, Header, NextHops, Switch};

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "spray",
    summary: "each packet takes a random equal-cost path, drawn independently",
    decides: "switches",
    observes: "nothing",
    source: "Dixit et al., INFOCOM 2013",
    next_hops: Some(Hops::EqualCost),
    knows_interfaces: |_| true,
    split: |_| Some(Split::Random),
    linux_mode: Some("spray"),
    ..Descriptor::PLAIN
};

/// Builds the switches of a spraying fabric.
pub struct Spray {
    routes: Arc<Forwarding>,
}

impl Spray {
    /// The scheme over `routes`.
    pub fn new(routes: Arc<Forwarding>) -> Self {
        Self { routes }
    }
}

impl Blueprint for Spray {
    type Switch = SpraySwitch;

    fn switch(&self, _fabric: &Fabric, node: NodeId) -> SpraySwitch {
        SpraySwitch { next_hops: self.routes.at(node) }
    }
}

/// A packet-spraying switch.
pub struct SpraySwitch {
    next_hops: NextHops,
}

impl Switch for SpraySwitch {
    #[inline(always)]
    fn receive<C: Context>(&mut self, ctx: &mut C, _ingress: PortId, header: &Header, out: &mut Actions) {
        let draw = ctx.random().next_u64();
        match header.destination().and_then(|host| self.next_hops.choose(host, draw)) {
            Some(port) => out.send(port),
            None => out.drop(DropReason::NoRoute),
        }
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.next_hops.renew(routes);
    }
}
