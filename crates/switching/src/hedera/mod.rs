//! Hedera: a central controller places large flows on paths, at an interval; other flows go by ECMP (Al-Fares et al.,
//! "Hedera: dynamic flow scheduling for data center networks", NSDI 2010).
//!
//! A flow is large if it sent at least a tenth of its host's link rate since the last poll and its [`demand`] is as high.
//! It is placed by Global First Fit ([`placement`]) or by simulated annealing ([`annealing`]).
//!
//! Departures from the paper:
//! * A path number takes the place of a core switch in annealing, so that it runs on any fabric: in a fat-tree, paths
//!   between pods with one number meet in one core. Without pods, the hosts of an edge switch are one. One of the hosts that
//!   swap receives a large flow.
//! * Rules of flows that are no longer large are removed at the next poll, not by a timeout.
//! * Rates of links are those of the fabric as built, also after an event changes them; a host with several links counts
//!   with the rate of its first one.
//! * The switches' own ECMP routes follow failures at once. A rule whose port leads nowhere is ignored.

mod annealing;
mod controller;
mod demand;
mod paths;
mod placement;
mod switch;

use std::sync::Arc;

use weft_fabric::Fabric;
use weft_units::{Duration, NodeId, params, words};

use crate::blueprint::{Blueprint, Central};
use crate::descriptor::{Descriptor, Hops, Need};
use crate::hash::mix64;
use crate::spec::SchemeSpec;
use crate::timing::Timing;
use crate::{Forwarding, ecmp, stream};

use controller::Scheduler;
use switch::Counters;
pub use switch::HederaSwitch;

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "hedera",
    summary: "Hedera: a central controller moves large flows to paths with room for them; others go by ECMP",
    decides: "controller",
    observes: "bytes of large flows",
    source: "Al-Fares et al., NSDI 2010",
    params: Config::PARAMS,
    needs: &[Need::Controller],
    next_hops: Some(Hops::EqualCost),
    ..Descriptor::PLAIN
};

/// Shorter intervals measure single packets.
const LEAST_INTERVAL: Duration = Duration::from_us(100);

words! {
    /// How large flows are placed.
    enum Placement {
        /// Global First Fit.
        FirstFit = "first-fit",
        Annealing = "annealing",
    }
}

params! {
    #[derive(Clone, Copy, Debug)]
    struct Config {
        /// interval at which the controller polls switches and places flows
        interval: Duration = Duration::from_secs(5), in LEAST_INTERVAL..=Duration::MAX;
        /// percent of its host's link rate from which a flow is large
        elephant: u64 = 10, in 1..=100;
        /// Global First Fit, or simulated annealing of the paths to each host
        placement: Placement = Placement::FirstFit;
        /// flows that a switch counts, and rules for flows, each
        flow_table: usize = 65_536, in 1..=1 << 24;
        ..timing: Timing;
    }
}

/// Builds the switches and the controller.
pub struct Hedera<'a> {
    fabric: &'a Fabric,
    routes: Arc<Forwarding>,
    seed: u64,
    config: Config,
}

impl<'a> Hedera<'a> {
    /// The scheme with the parameters of `spec`.
    pub fn new(fabric: &'a Fabric, routes: Arc<Forwarding>, seed: u64, spec: &SchemeSpec) -> Self {
        Self { fabric, routes, seed, config: Config::of(&spec.params) }
    }
}

impl Blueprint for Hedera<'_> {
    type Switch = HederaSwitch;

    fn switch(&self, _fabric: &Fabric, node: NodeId) -> HederaSwitch {
        HederaSwitch {
            next_hops: self.routes.at(node),
            is_to_host: self.routes.links(node).iter().map(|link| link.is_to_host).collect(),
            key: mix64(ecmp::hash_id(self.seed, node)),
            rules: Default::default(),
            counters: Counters::new(self.config.flow_table),
        }
    }

    fn central(&self) -> Option<Central> {
        let controller = Scheduler::new(self.fabric, &self.config, stream(self.seed, "hedera", 0));
        Some(Central { controller: Box::new(controller), timing: self.config.timing })
    }
}
