//! Random packet spraying: each packet to a uniformly random equal-cost next hop, drawn
//! independently (Dixit et al., "On the impact of packet spraying in data center networks",
//! INFOCOM 2013).

use std::sync::Arc;

use rand_core::RngCore;
use weft_fabric::{EqualCost, Fabric};
use weft_units::{NodeId, PortId};

use crate::hash::pick;
use crate::registry::{Blueprint, SchemeInfo};
use crate::{Actions, Context, DropReason, Header, Switch};

/// The scheme's entry in the registry.
pub const INFO: SchemeInfo = SchemeInfo {
    name: "spray",
    summary: "each packet on a random equal-cost path, drawn independently",
    params: &[],
};

/// Makes the switches of a spraying fabric.
pub struct Spray {
    routes: Arc<EqualCost>,
}

impl Spray {
    /// The scheme over `routes`.
    pub fn new(routes: Arc<EqualCost>) -> Self {
        Self { routes }
    }
}

impl Blueprint for Spray {
    type Switch = SpraySwitch;

    fn switch(&self, _fabric: &Fabric, node: NodeId) -> SpraySwitch {
        SpraySwitch { routes: Arc::clone(&self.routes), node }
    }
}

/// One switch.
pub struct SpraySwitch {
    routes: Arc<EqualCost>,
    node: NodeId,
}

impl Switch for SpraySwitch {
    #[inline]
    fn receive<C: Context>(&mut self, ctx: &mut C, _ingress: PortId, header: &Header, out: &mut Actions) {
        let Some(host) = header.dst.host() else { return out.drop(DropReason::NoRoute) };
        match self.routes.next_hops(self.node, host) {
            [] => out.drop(DropReason::NoRoute),
            [port] => out.send(*port),
            ports => out.send(ports[pick(ctx.random().next_u64(), ports.len())]),
        }
    }

    fn routes_changed(&mut self, routes: &Arc<EqualCost>) {
        self.routes = Arc::clone(routes);
    }
}
