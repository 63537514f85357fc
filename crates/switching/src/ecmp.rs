//! Equal-cost multipath: each flow keeps to one of the next hops of equal hop count, chosen by a
//! hash of its 5-tuple (RFC 2992, hash-threshold).

use std::sync::Arc;

use weft_fabric::{EqualCost, Fabric};
use weft_units::{NodeId, PortId};

use crate::hash::{mix64, pick};
use crate::registry::{Blueprint, ParamInfo, ParamKind, ParamValue, SchemeInfo, SchemeSpec};
use crate::{Actions, Context, DropReason, Header, Switch};

/// The scheme's entry in the registry.
pub const INFO: SchemeInfo = SchemeInfo {
    name: "ecmp",
    summary: "each flow on one equal-cost path, chosen by a hash of its 5-tuple",
    params: &[ParamInfo {
        name: "hash_seed",
        kind: ParamKind::Choice(&["per-switch", "shared"]),
        default: "per-switch",
        doc: "whether every switch hashes with a key of its own; one shared key makes successive \
              switches choose alike (polarization)",
    }],
};

/// Makes the switches of an ECMP fabric.
pub struct Ecmp {
    routes: Arc<EqualCost>,
    seed: u64,
    polarized: bool,
}

impl Ecmp {
    /// The scheme with the parameters of `spec`.
    pub fn new(routes: Arc<EqualCost>, seed: u64, spec: &SchemeSpec) -> Self {
        let polarized = matches!(spec.params.get("hash_seed"), Some(ParamValue::Text(t)) if t == "shared");
        Self { routes, seed, polarized }
    }
}

impl Blueprint for Ecmp {
    type Switch = EcmpSwitch;

    fn switch(&self, _fabric: &Fabric, node: NodeId) -> EcmpSwitch {
        let salt = if self.polarized { 0 } else { mix64(u64::from(node.0) + 1) };
        EcmpSwitch { routes: Arc::clone(&self.routes), key: mix64(self.seed ^ salt), node }
    }
}

/// One switch.
pub struct EcmpSwitch {
    routes: Arc<EqualCost>,
    key: u64,
    node: NodeId,
}

impl Switch for EcmpSwitch {
    #[inline]
    fn receive<C: Context>(&mut self, _ctx: &mut C, _ingress: PortId, header: &Header, out: &mut Actions) {
        let Some(host) = header.dst.host() else { return out.drop(DropReason::NoRoute) };
        match self.routes.next_hops(self.node, host) {
            [] => out.drop(DropReason::NoRoute),
            [port] => out.send(*port),
            ports => {
                let tuple = u64::from(header.flow_hash ^ header.entropy);
                out.send(ports[pick(mix64(tuple ^ self.key), ports.len())]);
            }
        }
    }

    fn routes_changed(&mut self, routes: &Arc<EqualCost>) {
        self.routes = Arc::clone(routes);
    }
}
