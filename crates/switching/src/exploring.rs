//! Switches that explore, in a fabric.

use weft_fabric::Fabric;
use weft_units::{Duration, NodeId, PortId};

use crate::Switch;
use crate::blueprint::Blueprint;
use crate::exploration::Exploration;
use crate::first_copies::first_copies;
use crate::hash::mix64;
use crate::hello::Way;
use crate::over::resolves;
use crate::spec::SchemeSpec;

/// Builds the switches of an exploring scheme with `make`, from the settings, the roles of the ports, a secret and
/// the node.
pub(crate) struct Exploring<F> {
    config: Exploration,
    /// `None` if switches have a route to every host, so that hosts need no ARP.
    arp_cache: Option<Duration>,
    seed: u64,
    make: F,
}

impl<F> Exploring<F> {
    /// Creates the scheme with the parameters of `spec`; `seed` is the run's.
    pub(crate) fn new(seed: u64, spec: &SchemeSpec, make: F) -> Self {
        let config = Exploration::from_spec(spec);
        let arp_cache = resolves(spec).then_some(config.arp_cache);
        Self { config, arp_cache, seed, make }
    }
}

impl<S: Switch + 'static, F: Fn(&Exploration, Vec<Way>, u64, NodeId) -> S> Blueprint for Exploring<F> {
    type Switch = S;

    fn switch(&self, fabric: &Fabric, node: NodeId) -> S {
        let secret = mix64(self.seed ^ mix64(u64::from(node.0) + 1));
        (self.make)(&self.config, ways(fabric, node), secret, node)
    }

    fn arp_cache(&self) -> Option<Duration> {
        self.arp_cache
    }

    fn learnt(&self, fabric: &Fabric, host: NodeId, random: u64) -> Option<Vec<Option<PortId>>> {
        Some(first_copies(fabric, host, |link| link.up, random))
    }
}

/// The roles of the ports of `node`.
pub fn ways(fabric: &Fabric, node: NodeId) -> Vec<Way> {
    let tier = fabric.node(node).tier;
    let way = |&link| {
        let other = fabric.node(fabric.link(link).to);
        match other.tier.cmp(&tier) {
            _ if other.is_host() => Way::Host,
            std::cmp::Ordering::Less => Way::Down,
            std::cmp::Ordering::Equal => Way::Level,
            std::cmp::Ordering::Greater => Way::Up,
        }
    };
    fabric.ports(node).iter().map(way).collect()
}
