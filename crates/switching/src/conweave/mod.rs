//! ConWeave: the switch of the source moves a flow off a path whose round trip is long, and the switch of the destination
//! restores the order of its packets (Song et al., "Network load balancing with in-network reordering support for RDMA",
//! SIGCOMM 2023).
//!
//! A flow's packets are in epochs. The first one of an epoch asks for an answer (`RTT_REQUEST`). If it comes in time, the
//! next epoch begins; if not, the next packet is the last one on this path (`TAIL`), and the flow continues on another one
//! that was not reported as congested. The switch of the destination holds packets of the new path until the `TAIL` is
//! there, or should be; then it answers (`CLEAR`), and the next epoch begins. It reports paths of marked packets (`NOTIFY`).
//!
//! Departures from the paper, most of them as in conweave-ns3:
//! * Two paths are drawn for a flow that is to move; if both are congested, it keeps its own.
//! * If the `TAIL` does not come in time, packets wait no longer, but the `CLEAR` still follows the `TAIL`. If one of them is
//!   lost, the next epoch begins after a pause of the flow or after `aging`.
//! * Only packets with payload are in epochs, of all protocols; others go by hash. The header takes no bytes on the wire.
//! * A path is the choices at the first two switches on the way up: on fabrics with more, later ones go by its hash.

mod arrivals;
mod config;
mod departures;
mod flow_key;
mod overlay;
mod paths;
mod queues;
mod switch;

use std::sync::Arc;

use weft_fabric::Fabric;
use weft_units::NodeId;

use self::arrivals::{Arrivals, Waits};
use self::config::{Config, Waiting, contradiction};
use self::departures::{Departures, Limits};
use self::paths::Paths;
use self::queues::Queues;
use self::switch::{ConWeaveSwitch, Tor};
use crate::blueprint::Blueprint;
use crate::descriptor::{Descriptor, Hops, Need};
use crate::edge_switches::EdgeSwitches;
use crate::hash::mix64;
use crate::spec::{Contradiction, SchemeError, SchemeSpec};
use crate::tiers::{self, Way, tor_switches};
use crate::{Forwarding, ecmp};

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "conweave",
    summary: "ConWeave: a flow leaves a path with long round trips at once, its destination's switch restores the order",
    decides: "the source's switch",
    observes: "round trips and congestion marks, reported by the destination's switch",
    source: "Song et al., SIGCOMM 2023",
    params: Config::PARAMS,
    needs: &[Need::NewSwitch],
    has_own_frames: true,
    next_hops: Some(Hops::EqualCost),
    contradiction,
    misfit: Some(misfit),
    ..Descriptor::PLAIN
};

/// Why `fabric` is not supported.
fn misfit(_spec: &SchemeSpec, fabric: &Fabric) -> Option<Contradiction> {
    tiers::misfit(DESCRIPTOR.name, fabric)
}

/// Builds the switches of the fabric.
pub struct ConWeave {
    routes: Arc<Forwarding>,
    tors: EdgeSwitches,
    seed: u64,
    config: Config,
}

impl ConWeave {
    /// The scheme with the parameters of `spec`.
    ///
    /// # Errors
    /// [`SchemeError::Fabric`] if the fabric does not consist of tiers.
    pub fn new(
        fabric: &Fabric,
        routes: Arc<Forwarding>,
        seed: u64,
        spec: &SchemeSpec,
    ) -> Result<Self, SchemeError> {
        let tors = tor_switches(DESCRIPTOR.name, fabric)?;
        Ok(Self { routes, tors, seed, config: Config::of(&spec.params) })
    }
}

impl Blueprint for ConWeave {
    type Switch = ConWeaveSwitch;

    fn switch(&self, fabric: &Fabric, node: NodeId) -> ConWeaveSwitch {
        let links = self.routes.links(node);
        let key = mix64(ecmp::hash_id(self.seed, node));
        let Config { cutoff, pause, wait, slack, expiry, aging, flow_table, queues, waiting } = self.config;
        let tor = self.tors.number(node).map(|_| Tor {
            tor_of: self.tors.of_hosts(),
            paths: Paths::new(fabric, &self.routes, node, self.tors.members()),
            departures: Departures::new(flow_table, Limits { aging, cutoff, expiry }, mix64(key ^ 1)),
            arrivals: Arrivals::new(
                flow_table,
                aging,
                Waits { unpredicted: wait, slack, longest: self.config.longest_wait() },
                mix64(key ^ 2),
            ),
            queues: Queues::new(queues),
            pause,
            aside: waiting == Waiting::Aside,
        });
        ConWeaveSwitch {
            next_hops: self.routes.at(node),
            ways: links.iter().map(|link| Way::new(fabric, node, link.to)).collect(),
            level: usize::from(fabric.node(node).tier).saturating_sub(1),
            tor,
            key,
        }
    }
}
