//! Flowcut switching: a flow changes its path only when none of its packets is in flight, so that packets stay in order
//! (Bonato et al., "Flowcut switching: high-performance adaptive routing with in-order delivery guarantees", IEEE
//! Transactions on Networking 2025).
//!
//! The packets of a flow from one such moment to the next are a flowcut. The switch of the source sends a new flowcut to
//! the uplink with the shortest queue, numbers the packets and counts as in flight all up to the last one acknowledged.
//!
//! Departures from the paper:
//! * The switch of the destination acknowledges in packets of the other direction, in a field of their header between
//!   switches, not in frames of its own: a flowcut ends when the destination next sends a packet back. A flow without packets
//!   in the other direction, as with UDP, or to a host behind several switches, changes its path only after `timeout`.
//! * Only the switch of the source chooses by load. Later switches hash the flow with a number drawn for the flowcut,
//!   since they hold no state; in the paper every switch keeps a table.
//! * A flow on a congested path is not paused to drain it: while it always has packets in flight, it keeps its path.
//!
//! A flow's entry is found by its 5-tuple: a host's own choice of path ([`Header::entropy`]) has no effect.

use std::sync::Arc;

use rand_core::RngCore;
use weft_fabric::Fabric;
use weft_units::{Duration, NodeId, PortId, Time, params};

use crate::blueprint::Blueprint;
use crate::descriptor::{Descriptor, Hops, Need};
use crate::flowcuts::{Arrivals, FlowcutPath, Flowcuts, MOST_FLOWS};
use crate::hash::{flow_hash, mix64, pick};
use crate::header::Kind;
use crate::least_loaded::least_loaded;
use crate::spec::SchemeSpec;
use crate::{Actions, Context, DropReason, Forwarding, Header, NextHops, Switch, TableEntries, ecmp};

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "flowcut",
    summary: "flowcut switching: a flow changes to a less loaded path only when none of its packets is in flight",
    decides: "the source's switch",
    observes: "packets in flight, queues of its ports",
    source: "Bonato et al., IEEE Transactions on Networking 2025",
    params: Config::PARAMS,
    needs: &[Need::NewSwitch],
    next_hops: Some(Hops::EqualCost),
    knows_interfaces: |_| true,
    ..Descriptor::PLAIN
};

params! {
    struct Config {
        /// time after which a packet in flight is considered lost
        timeout: Duration = Duration::from_ms(100);
        /// entries of a switch's table of flows; flows without one go by hash
        flow_table: usize = 65_536, in 1..=MOST_FLOWS;
    }
}

/// Builds the switches of the fabric.
pub struct Flowcut {
    routes: Arc<Forwarding>,
    seed: u64,
    config: Config,
}

impl Flowcut {
    /// The scheme with the parameters of `spec`.
    pub fn new(routes: Arc<Forwarding>, seed: u64, spec: &SchemeSpec) -> Self {
        Self { routes, seed, config: Config::of(&spec.params) }
    }
}

impl Blueprint for Flowcut {
    type Switch = FlowcutSwitch;

    fn switch(&self, _fabric: &Fabric, node: NodeId) -> FlowcutSwitch {
        let is_to_host: Vec<bool> = self.routes.links(node).iter().map(|link| link.is_to_host).collect();
        let edge = is_to_host.contains(&true).then(|| Edge {
            flowcuts: Flowcuts::new(self.config.flow_table, self.config.timeout),
            arrivals: Arrivals::new(self.config.flow_table),
        });
        let key = mix64(ecmp::hash_id(self.seed, node));
        FlowcutSwitch { next_hops: self.routes.at(node), is_to_host, edge, key }
    }
}

/// A flowcut switch.
pub struct FlowcutSwitch {
    next_hops: NextHops,
    /// Whether each port leads to a host.
    is_to_host: Vec<bool>,
    edge: Option<Edge>,
    key: u64,
}

/// The state of a switch with hosts.
struct Edge {
    /// Flowcuts of flows from its hosts.
    flowcuts: Flowcuts,
    /// Arrivals of flows to its hosts.
    arrivals: Arrivals,
}

/// The header between switches, in a frame's overlay.
#[derive(Clone, Copy, Default)]
struct Overlay {
    cut: u16,
    /// The packet's number in its flow, 24 bits; 0: none.
    number: u32,
    /// The number of the last packet of the other direction that arrived, 24 bits; 0: unknown.
    acknowledged: u32,
}

impl Overlay {
    fn to_bytes(self) -> [u8; 8] {
        let ([a, b], [_, c, d, e], [_, f, g, h]) =
            (self.cut.to_be_bytes(), self.number.to_be_bytes(), self.acknowledged.to_be_bytes());
        [a, b, c, d, e, f, g, h]
    }

    const fn from_bytes([a, b, c, d, e, f, g, h]: [u8; 8]) -> Self {
        Self {
            cut: u16::from_be_bytes([a, b]),
            number: u32::from_be_bytes([0, c, d, e]),
            acknowledged: u32::from_be_bytes([0, f, g, h]),
        }
    }
}

/// The hash of the other direction of a packet's flow.
#[inline]
fn reverse(header: &Header) -> Option<u32> {
    let (src, dst) = (header.source()?, header.destination()?);
    header.is_of_flow().then(|| flow_hash(dst, src, header.dport, header.sport))
}

/// Chooses one of `ports`, which must not be empty, by the hash of the flow and its flowcut.
#[inline]
fn hashed(ports: &[PortId], header: &Header, cut: u16, key: u64) -> PortId {
    let flowcut = u64::from(cut) << 32 | u64::from(header.flow_hash);
    ports[pick(mix64(flowcut ^ key), ports.len())]
}

impl Edge {
    /// A packet from another switch to a host of this one.
    #[inline]
    fn arrived(&mut self, header: &Header) {
        let overlay = Overlay::from_bytes(header.overlay);
        if overlay.number > 0 {
            self.arrivals.arrived(header.flow_hash, overlay.number);
        }
        if let Some(flow) = reverse(header).filter(|_| overlay.acknowledged > 0) {
            self.flowcuts.acknowledged(flow, overlay.acknowledged);
        }
    }

    /// The port of a packet from a host of this switch to another switch, and the packet's overlay.
    #[inline]
    fn departs<C: Context>(
        &mut self,
        ctx: &mut C,
        header: &Header,
        ports: &[PortId],
        key: u64,
    ) -> (PortId, Overlay) {
        let by_hash = FlowcutPath { port: hashed(ports, header, 0, key), cut: 0 };
        let is_first = match header.kind {
            Kind::Tcp => header.tcp_flags & Header::SYN != 0,
            // Other protocols do not mark their first packet. With an entry that no flow has used, it is the first.
            _ => self.flowcuts.is_unused(header.flow_hash),
        };
        let (flow, now) = (header.flow_hash, ctx.now());
        let found = self.flowcuts.follow(flow, is_first, ports, now, by_hash, || FlowcutPath {
            port: least_loaded(ctx, ports, |ctx, port| ctx.queue_bytes(port)),
            cut: (ctx.random().next_u64() >> 48) as u16 | 1,
        });
        let (course, number) = found.unwrap_or((by_hash, 0));
        let acknowledged = reverse(header).map_or(0, |flow| self.arrivals.last(flow));
        (course.port, Overlay { cut: course.cut, number, acknowledged })
    }
}

impl Switch for FlowcutSwitch {
    #[inline]
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let ports = header.destination().map_or(&[][..], |host| self.next_hops.all(host));
        let Some(first) = ports.first() else { return out.drop(DropReason::NoRoute) };
        let is_from_host = self.is_to_host.get(ingress.index()).is_some_and(|is_to_host| *is_to_host);
        let is_last = self.is_to_host[first.index()];
        match &mut self.edge {
            Some(edge) if is_from_host && !is_last => {
                let (port, overlay) = edge.departs(ctx, header, ports, self.key);
                return out.send_with_overlay(port, overlay.to_bytes());
            }
            Some(edge) if is_last && !is_from_host => edge.arrived(header),
            _ => {}
        }
        // A host of this switch may have several links, of which a flow keeps one.
        let cut = if is_last { 0 } else { Overlay::from_bytes(header.overlay).cut };
        out.send(if ports.len() == 1 { *first } else { hashed(ports, header, cut, self.key) });
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.next_hops.renew(routes);
    }

    fn table_entries(&mut self, now: Time) -> TableEntries {
        let flows = self.edge.as_mut().map_or(0, |edge| edge.flowcuts.len(now));
        TableEntries { flows, ..TableEntries::default() }
    }
}
