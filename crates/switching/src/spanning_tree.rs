//! Ordinary Ethernet switching: learning and flooding on one spanning tree.
//!
//! The tree is the one that IEEE 802.1D converges to (root: lowest id, cost by rate). The protocol
//! itself is not simulated; after a failure its result applies at once. Addresses are learnt from
//! source fields and age out (IEEE 802.1Q, 8.8).

use std::hash::BuildHasherDefault;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxHasher;
use weft_fabric::{Fabric, Link};
use weft_units::{Duration, NodeId, PortId, Time, params};

use crate::blueprint::Blueprint;
use crate::descriptor::Descriptor;
use crate::first_copies::first_copies;
use crate::split::Split;
use crate::{Actions, Context, DropReason, Forwarding, Header, Switch, TableEntries};
use weft_wire::Mac;

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "spanning_tree",
    summary: "MAC learning and flooding on one spanning tree, like ordinary Ethernet",
    decides: "switches",
    observes: "source addresses",
    source: "IEEE 802.1D, 802.1Q",
    params: Config::PARAMS,
    split: |_| Some(Split::Tree),
    ..Descriptor::PLAIN
};

params! {
    /// The parameters.
    #[derive(Clone, Copy, Debug)]
    pub struct Config {
        /// lifetime of a learnt address without a frame from it (IEEE 802.1Q default)
        ageing: Duration = Duration::from_secs(300);
        /// maximum number of learnt addresses per switch; frames to other addresses are flooded
        table_size: usize = 65_536;
    }
}

/// Builds the switches of a spanning-tree fabric.
pub struct SpanningTreeScheme {
    routes: Arc<Forwarding>,
    config: Config,
}

impl SpanningTreeScheme {
    /// The scheme on the tree of `routes`.
    pub fn new(routes: Arc<Forwarding>, config: Config) -> Self {
        Self { routes, config }
    }
}

impl Blueprint for SpanningTreeScheme {
    type Switch = SpanningTreeSwitch;

    fn switch(&self, _fabric: &Fabric, node: NodeId) -> SpanningTreeSwitch {
        SpanningTreeSwitch {
            ports: self.routes.tree().forwarding(node).into(),
            routes: Arc::clone(&self.routes),
            node,
            learnt: HashMap::default(),
            config: self.config,
        }
    }

    fn learnt(&self, fabric: &Fabric, host: NodeId, random: u64) -> Option<Vec<Option<PortId>>> {
        let tree = self.routes.tree();
        let in_tree = |node, port| fabric.node(node).is_host() || tree.forwards(node, port);
        let carries =
            |link: &Link| link.up && in_tree(link.from, link.from_port) && in_tree(link.to, link.to_port);
        Some(first_copies(fabric, host, carries, random))
    }
}

/// A spanning-tree switch.
pub struct SpanningTreeSwitch {
    /// Ports of the tree, including host ports.
    ports: Box<[PortId]>,
    routes: Arc<Forwarding>,
    node: NodeId,
    learnt: HashMap<Mac, (PortId, Time), BuildHasherDefault<FxHasher>>,
    config: Config,
}

impl SpanningTreeSwitch {
    /// A frame from `source` arrived on `ingress`.
    pub(crate) fn learn(&mut self, source: Mac, ingress: PortId, now: Time) {
        if source.is_group() {
            return;
        }
        let entry = (ingress, now + self.config.ageing);
        if let Some(known) = self.learnt.get_mut(&source) {
            *known = entry;
        } else if self.learnt.len() < self.config.table_size {
            self.learnt.insert(source, entry);
        }
    }

    /// The port of `station`, if it is known at `now`.
    pub(crate) fn port_of(&self, station: Mac, now: Time) -> Option<PortId> {
        self.learnt.get(&station).filter(|(_, expiry)| *expiry > now).map(|(port, _)| *port)
    }

    /// Learns the source of a frame and forwards it; returns whether it was forwarded.
    pub(crate) fn forward<C: Context>(
        &mut self,
        ctx: &mut C,
        ingress: PortId,
        header: &Header,
        out: &mut Actions,
    ) -> bool {
        let now = ctx.now();
        if !self.ports.contains(&ingress) {
            out.drop(DropReason::NoRoute);
            return false;
        }
        self.learn(header.src, ingress, now);
        let mut sent = false;
        match self.port_of(header.dst, now) {
            Some(port) if port == ingress => {}
            Some(port) => {
                out.send(port);
                sent = true;
            }
            None => {
                for &port in self.ports.iter().filter(|port| **port != ingress) {
                    out.send(port);
                    sent = true;
                }
            }
        }
        if !sent {
            out.drop(DropReason::SamePort);
        }
        sent
    }
}

impl Switch for SpanningTreeSwitch {
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        self.forward(ctx, ingress, header, out);
    }

    fn learn_station(&mut self, station: Mac, port: PortId, now: Time) {
        self.learn(station, port, now);
    }

    /// Addresses learnt on another tree are flushed (IEEE 802.1D-2004, 17.11).
    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        if self.routes.tree() != routes.tree() {
            self.learnt.clear();
        }
        self.ports = routes.tree().forwarding(self.node).into();
        self.routes = Arc::clone(routes);
    }

    fn table_entries(&mut self, _now: Time) -> TableEntries {
        TableEntries { stations: self.learnt.len(), ..TableEntries::default() }
    }
}
