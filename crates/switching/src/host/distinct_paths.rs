//! [`DistinctPaths`]: path hashes that lead to distinct paths, for hosts that name the path of each packet.
//!
//! Real hosts find them by traceroute (Clove) or get them from a controller (Presto, DRB). Here they are found by
//! following the decisions of the switches.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use weft_fabric::Fabric;
use weft_units::{HostId, NodeId, PortId};

use crate::blueprint::Blueprint;
use crate::hash::mix64;
use crate::{Forwarding, Header, Switch};
use weft_wire::Mac;

/// The most paths that a packet can name.
const MOST_PATHS: usize = 255;

/// Finds paths.
pub trait PathFinder: Sync {
    /// Path hashes of the distinct paths from the switch `from` to `host` over `routes`, at most 255, in digit-reversed
    /// order: the first switch's choice changes fastest. None if the switches do not decide by hashes alone.
    fn paths(&self, from: NodeId, host: HostId, routes: &Arc<Forwarding>) -> Arc<[u32]>;
}

/// Knows no paths.
pub struct NoPaths;

impl PathFinder for NoPaths {
    fn paths(&self, _from: NodeId, _host: HostId, _routes: &Arc<Forwarding>) -> Arc<[u32]> {
        Arc::new([])
    }
}

/// The path finder of a scheme.
pub struct DistinctPaths<'a, B: Blueprint> {
    fabric: &'a Fabric,
    blueprint: &'a B,
    /// Copies of the switches that were asked.
    asked: Mutex<Option<Asked<B::Switch>>>,
}

/// Switches, with the routes that they know.
type Asked<S> = (Arc<Forwarding>, BTreeMap<NodeId, S>);

impl<'a, B: Blueprint> DistinctPaths<'a, B> {
    /// Creates a finder for the scheme of `blueprint` on `fabric`.
    pub const fn new(fabric: &'a Fabric, blueprint: &'a B) -> Self {
        Self { fabric, blueprint, asked: Mutex::new(None) }
    }
}

impl<B: Blueprint + Sync> PathFinder for DistinctPaths<'_, B> {
    fn paths(&self, from: NodeId, host: HostId, routes: &Arc<Forwarding>) -> Arc<[u32]> {
        if !B::Switch::DECIDES_AHEAD {
            return Arc::new([]);
        }
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, switches) = match &mut *asked {
            Some(known) if Arc::ptr_eq(&known.0, routes) => known,
            stale => stale.insert((Arc::clone(routes), BTreeMap::new())),
        };
        let mut decide = |node: NodeId, header: &Header| {
            let switch = switches.entry(node).or_insert_with(|| {
                let mut switch = self.blueprint.switch(self.fabric, node);
                switch.routes_changed(routes);
                switch
            });
            switch.decide(header)
        };
        let mut header = Header { dst: Mac::of_host(host.0), ..Header::default() };
        let mut known: BTreeMap<Vec<PortId>, u32> = BTreeMap::new();
        let mut tried: usize = 0;
        // With n paths of equal shares, the chance to miss one is below n / e^16; paths with a small share may be missed.
        while known.len() < MOST_PATHS && tried < 64 + 16 * known.len() {
            header.entropy = mix64(tried as u64) as u32;
            tried += 1;
            if let Some(ports) = self.walk(from, &header, &mut decide) {
                known.entry(ports).or_insert(header.entropy);
            }
        }
        known.into_values().collect()
    }
}

impl<B: Blueprint> DistinctPaths<'_, B> {
    /// The ports along the path of `header`, the last first; `None` if it does not reach its host.
    fn walk(
        &self,
        from: NodeId,
        header: &Header,
        decide: &mut impl FnMut(NodeId, &Header) -> Option<PortId>,
    ) -> Option<Vec<PortId>> {
        let (mut node, mut ports) = (from, Vec::new());
        while !self.fabric.node(node).is_host() {
            let port = decide(node, header)?;
            node = self.fabric.link(*self.fabric.ports(node).get(port.index())?).to;
            ports.push(port);
            if ports.len() > self.fabric.switch_count() {
                return None;
            }
        }
        ports.reverse();
        Some(ports)
    }
}
