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
mod config;
mod controller;
mod demand;
mod paths;
mod placement;
mod switch;

use std::sync::Arc;

use weft_fabric::Fabric;
use weft_units::NodeId;

use crate::blueprint::{Blueprint, Central};
use crate::descriptor::{Descriptor, Hops, Need};
use crate::hash::mix64;
use crate::spec::SchemeSpec;
use crate::{Forwarding, ecmp, stream};

use config::Config;
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
