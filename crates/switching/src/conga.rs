//! CONGA: a leaf sends each flowlet over the uplink whose path to the other leaf is the least congested (Alizadeh et al.,
//! "CONGA: distributed congestion-aware load balancing for datacenters", SIGCOMM 2014).
//!
//! Every packet between leaves carries the number of its uplink and the highest utilisation of the links on its path; the
//! receiving leaf notes both, and reports one path with each packet back (section 3.3). Defined for leaf-spine fabrics
//! of two tiers only.

use std::sync::Arc;

use weft_fabric::Fabric;
use weft_units::{Duration, NodeId, PortId, Time, params, words};

use crate::blueprint::Blueprint;
use crate::descriptor::{Descriptor, Hops, Need};
use crate::edge_switches::EdgeSwitches;
use crate::flowlets::{Flowlets, MOST_FLOWLETS};
use crate::hash::{mix64, pick};
use crate::least_loaded::least_loaded;
use crate::path_reports::PathReports;
use crate::rate_estimator::RateEstimator;
use crate::spec::{Contradiction, SchemeError, SchemeSpec};
use crate::{
    Actions, Context, DropReason, Forwarding, Header, NextHops, PortLink, Switch, TableEntries, ecmp,
};

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "conga",
    summary: "CONGA: on leaf-spine fabrics, each flowlet takes the path that leaves measured as least congested",
    decides: "leaf switches",
    observes: "utilisation of paths, reported by other leaves",
    source: "Alizadeh et al., SIGCOMM 2014",
    params: Config::PARAMS,
    needs: &[Need::NewSwitch],
    next_hops: Some(Hops::EqualCost),
    misfit: Some(misfit),
    ..Descriptor::PLAIN
};

words! {
    /// Packets that measure paths and report.
    enum Carriers {
        All = "all",
        /// Packets without data are neither placed nor counted.
        Data = "data",
    }
}

params! {
    #[derive(Clone, Copy, Debug)]
    struct Config {
        /// pause after which a flow may change its path
        gap: Duration = Duration::from_us(500),
            elsewhere "ns3-load-balance 50 us (class), 500 us (script); conweave-ns3 100 us";
        /// entries of a leaf's flowlet table
        flowlet_table: usize = 65_536, in 1..=MOST_FLOWLETS;
        /// interval at which a link's utilisation is discounted, by a fifth: a time constant of 160 us
        dre_interval: Duration = Duration::from_us(32),
            elsewhere "ns3-load-balance 200 us (class), 30 us (script); conweave-ns3 50 us";
        /// bits of a utilisation in packets and tables, 1 to 6
        bits: u32 = 3, in 1..=6;
        /// age from which a reported utilisation counts as 0
        aging: Duration = Duration::from_ms(10), elsewhere "conweave-ns3 500 us";
        /// packets that measure paths and report: all, or those with data; then the others go by hash
        carriers: Carriers = Carriers::All, elsewhere "conweave-ns3 data";
    }
}

/// Why `fabric` is not supported.
fn misfit(_spec: &SchemeSpec, fabric: &Fabric) -> Option<Contradiction> {
    Some(Contradiction::of_fabric(DESCRIPTOR.name, leaves(fabric).err()?, "a leaf-spine fabric of two tiers"))
}

/// The leaves; or why the fabric is not a leaf-spine fabric of two tiers.
fn leaves(fabric: &Fabric) -> Result<EdgeSwitches, String> {
    let neighbours = |node: NodeId| fabric.ports(node).iter().map(|link| fabric.link(*link).to);
    let leaves = EdgeSwitches::new(fabric)?;
    for node in fabric.switches() {
        let is_leaf = leaves.number(node).is_some();
        for to in neighbours(node).filter(|to| !fabric.node(*to).is_host()) {
            if leaves.number(to).is_some() == is_leaf {
                let kind = if is_leaf { "leaves" } else { "spines" };
                let [a, b] = [node, to].map(|node| fabric.node(node).name.clone());
                return Err(format!("the {kind} `{a}` and `{b}` are connected"));
            }
        }
    }
    Ok(leaves)
}

/// Builds the switches of the fabric.
pub struct Conga {
    routes: Arc<Forwarding>,
    leaves: EdgeSwitches,
    /// The highest number of uplinks that a leaf has.
    most_uplinks: usize,
    seed: u64,
    config: Config,
}

impl Conga {
    /// The scheme with the parameters of `spec`.
    ///
    /// # Errors
    /// [`SchemeError::Fabric`] if the fabric is not a leaf-spine fabric of two tiers.
    pub fn new(
        fabric: &Fabric,
        routes: Arc<Forwarding>,
        seed: u64,
        spec: &SchemeSpec,
    ) -> Result<Self, SchemeError> {
        let leaves =
            leaves(fabric).map_err(|reason| SchemeError::Fabric { name: DESCRIPTOR.name, reason })?;
        let config = Config::of(&spec.params);
        let uplinks = |node: NodeId| routes.links(node).iter().filter(|link| !link.is_to_host).count();
        let at_leaves = fabric.switches().filter(|node| leaves.number(*node).is_some());
        let most_uplinks = at_leaves.map(uplinks).max().unwrap_or(0);
        Ok(Self { routes, leaves, most_uplinks, seed, config })
    }
}

impl Blueprint for Conga {
    type Switch = CongaSwitch;

    fn switch(&self, _fabric: &Fabric, node: NodeId) -> CongaSwitch {
        let links = self.routes.links(node);
        let estimator =
            |link: &PortLink| RateEstimator::new(link.rate, link.overhead, self.config.dre_interval);
        let leaf = self.leaves.number(node).map(|own| Leaf {
            own,
            leaf_of: self.leaves.of_hosts(),
            flowlets: Flowlets::new(self.config.flowlet_table, self.config.gap),
            reports: PathReports::new(self.leaves.count(), self.most_uplinks, self.config.aging),
            uplinks: numbers(links),
        });
        CongaSwitch {
            next_hops: self.routes.at(node),
            utilisation: links.iter().map(estimator).collect(),
            is_to_host: links.iter().map(|link| link.is_to_host).collect(),
            leaf,
            key: mix64(ecmp::hash_id(self.seed, node)),
            levels: 1 << self.config.bits,
            data_only: self.config.carriers == Carriers::Data,
        }
    }
}

/// A CONGA switch.
pub struct CongaSwitch {
    next_hops: NextHops,
    /// Utilisation by port.
    utilisation: Vec<RateEstimator>,
    is_to_host: Vec<bool>,
    leaf: Option<Leaf>,
    key: u64,
    levels: u64,
    data_only: bool,
}

/// The state of a leaf.
struct Leaf {
    own: u16,
    /// The leaf of each host.
    leaf_of: Arc<[u16]>,
    flowlets: Flowlets,
    reports: PathReports,
    /// For each port, its uplink number plus one; 0: it leads to a host.
    uplinks: Vec<u16>,
}

/// For each port, its uplink number plus one; 0: it leads to a host.
fn numbers(links: &[PortLink]) -> Vec<u16> {
    let mut count = 0;
    let number = |link: &PortLink| {
        count += u16::from(!link.is_to_host);
        if link.is_to_host { 0 } else { count }
    };
    links.iter().map(number).collect()
}

/// The header between leaves, in a frame's overlay.
struct Overlay {
    /// The uplink by which the frame left its leaf, plus one; 0: the frame is not from another leaf.
    uplink: u16,
    /// The highest utilisation on its path so far.
    congestion: u8,
    /// A path in the other direction, by its uplink plus one (0: none), and its utilisation.
    about: u16,
    reported: u8,
}

impl Overlay {
    fn to_bytes(&self) -> [u8; 8] {
        let ([a, b], [c, d]) = (self.uplink.to_be_bytes(), self.about.to_be_bytes());
        [a, b, self.congestion, c, d, self.reported, 0, 0]
    }

    fn from_bytes([a, b, congestion, c, d, reported, ..]: [u8; 8]) -> Self {
        let (uplink, about) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        Self { uplink, congestion, about, reported }
    }
}

impl CongaSwitch {
    /// The utilisation of the link at `port`, which an IP packet of `ip_bytes` joins.
    #[inline]
    fn join(&mut self, port: PortId, ip_bytes: u16, now: Time) -> u8 {
        let link = &mut self.utilisation[port.index()];
        link.add(ip_bytes, now);
        link.level(self.levels, now)
    }
}

impl Switch for CongaSwitch {
    #[inline]
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let now = ctx.now();
        let Some(host) = header.destination() else { return out.drop(DropReason::NoRoute) };
        let ports = self.next_hops.all(host);
        let flow = header.path_hash();
        let is_of_host =
            |port: PortId| self.is_to_host.get(port.index()).is_some_and(|is_to_host| *is_to_host);
        let ends_here = is_of_host(ingress) || ports.first().is_some_and(|port| is_of_host(*port));
        if self.data_only && header.payload == 0 {
            // Its overlay stays that of a frame from no other leaf.
            return match ports.len() {
                0 => out.drop(DropReason::NoRoute),
                count => out.send(ports[pick(mix64(u64::from(flow) ^ self.key), count)]),
            };
        }
        let Some(leaf) = self.leaf.as_mut().filter(|_| ends_here) else {
            // A spine, or a leaf in transit: by hash if several links lead on (section 3.3).
            let port = match *ports {
                [] => return out.drop(DropReason::NoRoute),
                [port] => port,
                _ => ports[pick(mix64(u64::from(flow) ^ self.key), ports.len())],
            };
            let mut overlay = Overlay::from_bytes(header.overlay);
            overlay.congestion = overlay.congestion.max(self.join(port, header.ip_bytes, now));
            return out.send_with_overlay(port, overlay.to_bytes());
        };
        let Some(&first) = ports.first() else { return out.drop(DropReason::NoRoute) };
        if self.is_to_host[first.index()] {
            let from = header.source().and_then(|host| leaf.leaf_of.get(host.index()));
            if let Some(&from) = from.filter(|from| **from != leaf.own && !self.is_to_host[ingress.index()]) {
                let overlay = Overlay::from_bytes(header.overlay);
                leaf.reports.arrived(from, overlay.uplink, overlay.congestion, now);
                leaf.reports.record_feedback(from, overlay.about, overlay.reported, now);
            }
            return out.send(first);
        }
        let to = leaf.leaf_of[host.index()];
        let (utilisation, reports, uplinks) = (&mut self.utilisation, &leaf.reports, &leaf.uplinks);
        let port = leaf.flowlets.follow(flow, ports, now, |last| {
            let mut path = |port: PortId| {
                let own = utilisation[port.index()].level(self.levels, now);
                own.max(reports.towards(to, uplinks[port.index()], now))
            };
            let least = ports.iter().map(|port| path(*port)).min();
            // A flow moves only to a strictly better path (section 3.5).
            if let Some(port) = last.filter(|port| Some(path(*port)) == least) {
                return port;
            }
            least_loaded(ctx, ports, |_, port| path(port))
        });
        let (about, reported) = leaf.reports.next_to(to, now);
        let uplink = leaf.uplinks[port.index()];
        let congestion = self.join(port, header.ip_bytes, now);
        out.send_with_overlay(port, Overlay { uplink, congestion, about, reported }.to_bytes());
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.next_hops.renew(routes);
        for (estimator, link) in self.utilisation.iter_mut().zip(routes.links(self.next_hops.node())) {
            estimator.set_rate(link.rate);
        }
    }

    fn table_entries(&mut self, now: Time) -> TableEntries {
        let Some(leaf) = &mut self.leaf else { return TableEntries::default() };
        TableEntries { flows: leaf.flowlets.len(now), stations: leaf.reports.len(now), groups: 0 }
    }
}
