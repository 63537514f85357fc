//! Equal-cost multipath: each flow keeps to one of the next hops of equal hop count, chosen by a
//! hash of its 5-tuple (RFC 2992, hash-threshold).

use std::sync::Arc;

use weft_fabric::Fabric;
use weft_units::{HostId, NodeId, PortId, params, words};

use crate::blueprint::Blueprint;
use crate::descriptor::{Descriptor, Hops};
use crate::hash::mix64;
use crate::spec::SchemeSpec;
use crate::split::Split;
use crate::{Actions, Context, DropReason, Forwarding, Header, NextHops, Switch};

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "ecmp",
    summary: "each flow takes one equal-cost path, chosen by a hash of its 5-tuple",
    decides: "switches",
    observes: "nothing",
    source: "RFC 2992",
    params: Config::PARAMS,
    next_hops: Some(Hops::EqualCost),
    knows_interfaces: |_| true,
    // With a shared key, a switch divides only the hashes that earlier ones have left.
    split: |spec| (Config::of(&spec.params).hash_seed == HashSeed::PerSwitch).then_some(Split::Hashed),
    linux_mode: Some("ecmp"),
    ..Descriptor::PLAIN
};

words! {
    /// The source of a switch's hash key.
    enum HashSeed {
        PerSwitch = "per-switch",
        Shared = "shared",
    }
}

params! {
    #[derive(Clone, Copy, Debug)]
    struct Config {
        /// a hash key of its own for each switch, or one for all; with a shared key, successive switches choose alike
        /// (polarization)
        hash_seed: HashSeed = HashSeed::PerSwitch;
    }
}

/// Builds the switches of an ECMP fabric.
pub struct Ecmp {
    routes: Arc<Forwarding>,
    seed: u64,
    config: Config,
}

impl Ecmp {
    /// The scheme with the parameters of `spec`.
    pub fn new(routes: Arc<Forwarding>, seed: u64, spec: &SchemeSpec) -> Self {
        Self { routes, seed, config: Config::of(&spec.params) }
    }
}

impl Blueprint for Ecmp {
    type Switch = EcmpSwitch;

    fn switch(&self, _fabric: &Fabric, node: NodeId) -> EcmpSwitch {
        let id = match self.config.hash_seed {
            HashSeed::PerSwitch => hash_id(self.seed, node),
            HashSeed::Shared => self.seed,
        };
        EcmpSwitch { next_hops: self.routes.at(node), key: mix64(id) }
    }
}

/// The number from which a switch's hash key is derived: a Linux switch with this id hashes flows alike.
pub const fn hash_id(seed: u64, node: NodeId) -> u64 {
    seed ^ mix64(node.0 as u64 + 1)
}

/// An ECMP switch.
pub struct EcmpSwitch {
    next_hops: NextHops,
    key: u64,
}

impl EcmpSwitch {
    /// One of the next hops to `host`, the same for all flows.
    pub(crate) fn first_hop(&self, host: HostId) -> Option<PortId> {
        self.next_hops.choose(host, 0)
    }
}

impl Switch for EcmpSwitch {
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
        let tuple = u64::from(header.path_hash());
        header.destination().and_then(|host| self.next_hops.choose(host, mix64(tuple ^ self.key)))
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.next_hops.renew(routes);
    }
}
