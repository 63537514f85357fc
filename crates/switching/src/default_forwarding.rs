//! The default forwarding of TCP-Path and TFE, which carries all frames without a path of their own.
//!
//! The papers leave it open: ARP-Path, ECMP or a spanning tree (Alvarez-Horcajo et al., sections III-C and IV). Over ECMP
//! the switches have a route to every host, and hosts need no ARP. Over the tree an ARP Request is flooded on the tree,
//! which learns addresses as ordinary bridges do. In both cases paths of flows are still explored over all links.

use std::sync::Arc;

use weft_units::{HostId, NodeId, PortId, Time};
use weft_wire::Mac;

use crate::arp_path::ArpPathSwitch;
use crate::blueprint::Blueprint;
use crate::ecmp::{Ecmp, EcmpSwitch};
use crate::exploration::Exploration;
use crate::header::Header;
use crate::over::Under;
use crate::spanning_tree::{self, SpanningTreeScheme, SpanningTreeSwitch};
use crate::spec::SchemeSpec;
use crate::{Actions, Context, DropReason, Forwarding, Switch};

/// The default forwarding of a whole fabric.
pub(crate) enum Over {
    /// ARP-Path.
    ArpPath,
    /// ECMP.
    Ecmp(Ecmp),
    /// A spanning tree.
    SpanningTree(SpanningTreeScheme),
}

impl Over {
    /// The default forwarding that `spec` names, over `routes`; `seed` is that of the run. The tree's tables have the size
    /// of the exploring scheme's.
    pub(crate) fn new(routes: Arc<Forwarding>, seed: u64, spec: &SchemeSpec) -> Self {
        match Under::of_spec(spec) {
            Under::ArpPath => Self::ArpPath,
            Under::Ecmp => {
                let spec = SchemeSpec { name: Under::Ecmp.word().to_owned(), params: Default::default() };
                Self::Ecmp(Ecmp::new(routes, seed, &spec))
            }
            Under::SpanningTree => {
                let table_size = Exploration::of(&spec.params).stations;
                let config = spanning_tree::Config { table_size, ..Default::default() };
                Self::SpanningTree(SpanningTreeScheme::new(routes, config))
            }
        }
    }

    /// The default forwarding of the switch at `node`.
    pub(crate) fn at(&self, fabric: &weft_fabric::Fabric, node: NodeId) -> DefaultForwarding {
        match self {
            Self::ArpPath => DefaultForwarding::ArpPath,
            Self::Ecmp(ecmp) => DefaultForwarding::Ecmp(ecmp.switch(fabric, node)),
            Self::SpanningTree(tree) => DefaultForwarding::SpanningTree(tree.switch(fabric, node)),
        }
    }
}

/// The default forwarding of one switch.
#[derive(Default)]
pub enum DefaultForwarding {
    /// ARP-Path, by the tables of the exploring switch.
    #[default]
    ArpPath,
    /// ECMP.
    Ecmp(EcmpSwitch),
    /// A spanning tree.
    SpanningTree(SpanningTreeSwitch),
}

/// A switch of default forwarding.
pub(crate) struct DefaultSwitch {
    /// ARP-Path, whose ports, floods and limits serve in all cases.
    pub(crate) base: ArpPathSwitch,
    /// The scheme that forwards.
    pub(crate) over: DefaultForwarding,
}

impl DefaultSwitch {
    /// Learns `station` at `port` as from earlier traffic. A tree knows only its own hosts: the port
    /// is that of a shortest path, and the first frame to another station is flooded on the tree.
    pub(crate) fn learn_station(&mut self, station: Mac, port: PortId, now: Time) {
        match &mut self.over {
            DefaultForwarding::ArpPath => self.base.learn_station(station, port, now),
            DefaultForwarding::SpanningTree(tree) if self.base.ports.is_host(port, now) => {
                tree.learn(station, port, now);
            }
            _ => {}
        }
    }

    /// The port of `station`, if it is a host port of this switch.
    #[inline]
    pub(crate) fn attached(&self, station: Mac, now: Time) -> Option<PortId> {
        let port = match &self.over {
            DefaultForwarding::ArpPath => return self.base.attached(station, now),
            DefaultForwarding::Ecmp(ecmp) => ecmp.first_hop(station.host().map(HostId)?),
            DefaultForwarding::SpanningTree(tree) => tree.port_of(station, now),
        };
        port.filter(|&port| self.base.ports.is_host(port, now))
    }

    /// Whether the default forwarding would flood a frame to `station` in search of a path.
    pub(crate) fn is_to_be_flooded(&self, station: Mac, now: Time) -> bool {
        matches!(self.over, DefaultForwarding::ArpPath) && self.base.is_to_be_flooded(station, now)
    }

    /// Whether a frame between switches has looped: its source is attached to this switch.
    #[inline(always)]
    pub(crate) fn has_returned(&self, ingress: PortId, egress: PortId, header: &Header, now: Time) -> bool {
        match self.over {
            DefaultForwarding::ArpPath => self.base.has_returned(ingress, egress, header, now),
            _ => {
                self.base.ports.is_fabric(ingress, now)
                    && self.base.ports.is_fabric(egress, now)
                    && self.attached(header.src, now).is_some()
            }
        }
    }

    /// Refreshes or learns the sender on a host port; returns whether the port accepts the frame.
    #[inline(always)]
    pub(crate) fn accept<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        out: &mut Actions,
    ) -> bool {
        if matches!(self.over, DefaultForwarding::ArpPath) {
            return self.base.accept(ctx, ingress, header, out);
        }
        let now = ctx.now();
        if let Some(reason) = self.base.refuses(ingress, header, now) {
            out.drop(reason);
            return false;
        }
        if let DefaultForwarding::SpanningTree(tree) = &mut self.over
            && self.base.ports.is_host(ingress, now)
        {
            tree.learn(header.src, ingress, now);
        }
        true
    }

    /// The default forwarding of a frame to one station; returns whether it was forwarded.
    #[inline]
    pub(crate) fn forward<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        out: &mut Actions,
    ) -> bool {
        match &mut self.over {
            DefaultForwarding::ArpPath => self.base.forward(ctx, ingress, header, out),
            DefaultForwarding::SpanningTree(tree) => tree.forward(ctx, ingress, header, out),
            DefaultForwarding::Ecmp(ecmp) => match ecmp.decide(header) {
                Some(port) if port != ingress => {
                    out.send(port);
                    true
                }
                // The frame left a path of its own: its route leads back there.
                Some(_) => {
                    out.drop(DropReason::SamePort);
                    false
                }
                None => {
                    out.drop(DropReason::NoRoute);
                    false
                }
            },
        }
    }

    /// The default forwarding of any frame, including the messages between switches about stations.
    #[inline(always)]
    pub(crate) fn receive<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        out: &mut Actions,
    ) {
        if matches!(self.over, DefaultForwarding::ArpPath) || header.kind.is_control() {
            return self.base.receive(ctx, ingress, header, out);
        }
        if self.accept(ctx, ingress, header, out) {
            self.forward(ctx, ingress, header, out);
        }
    }

    /// Computed routes and the tree changed.
    pub(crate) fn reroute(&mut self, routes: &Arc<Forwarding>) {
        match &mut self.over {
            DefaultForwarding::ArpPath => {}
            DefaultForwarding::Ecmp(ecmp) => ecmp.routes_changed(routes),
            DefaultForwarding::SpanningTree(tree) => tree.routes_changed(routes),
        }
    }

    /// Stations in the switch's tables.
    pub(crate) fn station_entries(&mut self, now: Time) -> usize {
        let own = self.base.table_entries(now).stations;
        match &mut self.over {
            DefaultForwarding::SpanningTree(tree) => own + tree.table_entries(now).stations,
            _ => own,
        }
    }
}
