//! LetFlow: each flowlet takes a random equal-cost path. Flowlets on a congested path are shorter, since losses and
//! marks make a sender pause, so that traffic moves to the faster paths without any measurement (Vanini et al., "Let it
//! flow: resilient asymmetric load balancing with flowlet switching", NSDI 2017, sections 3 and 4).

use std::sync::Arc;

use rand_core::RngCore;
use weft_fabric::Fabric;
use weft_units::{Duration, NodeId, PortId, Time, params};

use crate::blueprint::Blueprint;
use crate::descriptor::{Descriptor, Hops, Need};
use crate::flowlets::{Flowlets, MOST_FLOWLETS};
use crate::hash::pick;
use crate::spec::SchemeSpec;
use crate::{Actions, Context, DropReason, Forwarding, Header, NextHops, Switch, TableEntries};

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "letflow",
    summary: "LetFlow: each flowlet takes a random equal-cost path",
    decides: "switches",
    observes: "pauses of flows",
    source: "Vanini et al., NSDI 2017",
    params: Config::PARAMS,
    needs: &[Need::NewSwitch],
    next_hops: Some(Hops::EqualCost),
    knows_interfaces: |_| true,
    ..Descriptor::PLAIN
};

params! {
    struct Config {
        /// pause after which a flow may change its path
        gap: Duration = Duration::from_us(500),
            elsewhere "ns3-load-balance 50 us (class), 500 us (script); conweave-ns3 100 us";
        /// entries of a switch's flowlet table
        flowlet_table: usize = 65_536, in 1..=MOST_FLOWLETS;
    }
}

/// Builds the switches of a LetFlow fabric.
pub struct LetFlow {
    routes: Arc<Forwarding>,
    config: Config,
}

impl LetFlow {
    /// The scheme with the parameters of `spec`.
    pub fn new(routes: Arc<Forwarding>, spec: &SchemeSpec) -> Self {
        Self { routes, config: Config::of(&spec.params) }
    }
}

impl Blueprint for LetFlow {
    type Switch = LetFlowSwitch;

    fn switch(&self, _fabric: &Fabric, node: NodeId) -> LetFlowSwitch {
        let Config { gap, flowlet_table } = self.config;
        LetFlowSwitch { next_hops: self.routes.at(node), flowlets: Flowlets::new(flowlet_table, gap) }
    }
}

/// A LetFlow switch.
pub struct LetFlowSwitch {
    next_hops: NextHops,
    flowlets: Flowlets,
}

impl Switch for LetFlowSwitch {
    #[inline]
    fn receive<C: Context>(&mut self, ctx: &mut C, _ingress: PortId, header: &Header, out: &mut Actions) {
        let ports = header.destination().map_or(&[][..], |host| self.next_hops.all(host));
        let port = match *ports {
            [] => return out.drop(DropReason::NoRoute),
            [port] => port,
            _ => self.flowlets.follow(header.path_hash(), ports, ctx.now(), |_| {
                ports[pick(ctx.random().next_u64(), ports.len())]
            }),
        };
        out.send(port);
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.next_hops.renew(routes);
    }

    fn table_entries(&mut self, now: Time) -> TableEntries {
        TableEntries { flows: self.flowlets.len(now), ..TableEntries::default() }
    }
}
