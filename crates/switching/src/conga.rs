//! CONGA: a leaf sends each flowlet over the uplink whose path to the other leaf is the least congested (Alizadeh et al.,
//! "CONGA: distributed congestion-aware load balancing for datacenters", SIGCOMM 2014).
//!
//! Every packet between leaves carries the number of its uplink and the highest utilisation of the links on its path; the
//! receiving leaf notes both, and reports one path with each packet back (section 3.3). Defined for leaf-spine fabrics
//! of two tiers only.

use std::sync::Arc;

use rand_core::RngCore;
use weft_fabric::Fabric;
use weft_units::{Duration, HostId, NodeId, PortId, Time};

use crate::blueprint::Blueprint;
use crate::descriptor::{Descriptor, Hops, Need};
use crate::flowlets::{Flowlets, MOST_FLOWLETS};
use crate::hash::{mix64, pick};
use crate::param::ParamInfo;
use crate::path_reports::PathReports;
use crate::rate_estimator::RateEstimator;
use crate::spec::{Contradiction, SchemeError, SchemeSpec};
use crate::{Actions, Context, DropReason, Forwarding, Header, NextHops, Switch, TableEntries, ecmp};

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "conga",
    summary: "CONGA: on leaf-spine fabrics, each flowlet takes the path that leaves measured as least congested",
    params: &[
        ParamInfo::duration("gap", "500 us", "pause after which a flow may change its path"),
        ParamInfo::count("flowlet_table", "65536", "entries of a leaf's flowlet table"),
        ParamInfo::duration(
            "dre_interval",
            "32 us",
            "interval at which a link's utilisation is discounted, by a fifth: a time constant of 160 us",
        ),
        ParamInfo::count("bits", "3", "bits of a utilisation in packets and tables, 1 to 6"),
        ParamInfo::duration("aging", "10 ms", "age from which a reported utilisation counts as 0"),
    ],
    needs: &[Need::NewSwitch],
    next_hops: Some(Hops::EqualCost),
    contradiction,
    misfit: Some(misfit),
    ..Descriptor::PLAIN
};

fn contradiction(spec: &SchemeSpec) -> Option<Contradiction> {
    spec.out_of_range("bits", 1..=6).or_else(|| spec.out_of_range("flowlet_table", 1..=MOST_FLOWLETS))
}

/// Why `fabric` is not supported.
fn misfit(_spec: &SchemeSpec, fabric: &Fabric) -> Option<Contradiction> {
    let reason = leaves(fabric).err()?;
    Some(Contradiction {
        param: "name",
        message: format!("`{}` does not run on this fabric: {reason}", DESCRIPTOR.name),
        expected: "expected a leaf-spine fabric of two tiers".to_owned(),
    })
}

/// By node, the number of each leaf; or why the fabric is not a leaf-spine fabric of two tiers.
fn leaves(fabric: &Fabric) -> Result<Vec<Option<u16>>, String> {
    let neighbours = |node: NodeId| fabric.ports(node).iter().map(|link| fabric.link(*link).to);
    let has_hosts = |node: NodeId| neighbours(node).any(|to| fabric.node(to).is_host());
    for host in fabric.hosts() {
        let mut switches = neighbours(*host);
        let first = switches.next();
        if switches.any(|other| Some(other) != first) {
            return Err(format!("host `{}` is connected to several switches", fabric.node(*host).name));
        }
    }
    let mut numbers = vec![None; fabric.nodes().len()];
    for (number, leaf) in fabric.switches().filter(|node| has_hosts(*node)).enumerate() {
        numbers[leaf.index()] = Some(number as u16);
    }
    for node in fabric.switches() {
        let is_leaf = numbers[node.index()].is_some();
        for to in neighbours(node).filter(|to| !fabric.node(*to).is_host()) {
            if numbers[to.index()].is_some() == is_leaf {
                let kind = if is_leaf { "leaves" } else { "spines" };
                let [a, b] = [node, to].map(|node| fabric.node(node).name.clone());
                return Err(format!("the {kind} `{a}` and `{b}` are connected"));
            }
        }
    }
    Ok(numbers)
}

/// Builds the switches of the fabric.
pub struct Conga {
    routes: Arc<Forwarding>,
    leaves: Vec<Option<u16>>,
    seed: u64,
    config: Config,
}

#[derive(Clone, Copy)]
struct Config {
    gap: Duration,
    table: usize,
    dre_interval: Duration,
    levels: u64,
    aging: Duration,
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
        let config = Config {
            gap: spec.duration("gap").unwrap_or(Duration::from_us(500)),
            table: spec.count("flowlet_table").unwrap_or(65_536) as usize,
            dre_interval: spec.duration("dre_interval").unwrap_or(Duration::from_us(32)),
            levels: 1 << spec.count("bits").unwrap_or(3),
            aging: spec.duration("aging").unwrap_or(Duration::from_ms(10)),
        };
        Ok(Self { routes, leaves, seed, config })
    }
}

impl Blueprint for Conga {
    type Switch = CongaSwitch;

    fn switch(&self, fabric: &Fabric, node: NodeId) -> CongaSwitch {
        let links = self.routes.links(node);
        let estimator = |link: &crate::PortLink| RateEstimator::new(link.rate, self.config.dre_interval);
        let leaf = self.leaves[node.index()].map(|own| {
            let leaf_of = |host: HostId| {
                let first = fabric.ports(fabric.host_node(host)).first();
                first.and_then(|link| self.leaves[fabric.link(*link).to.index()]).unwrap_or(own)
            };
            let hosts = (0..fabric.host_count() as u32).map(HostId);
            let count = self.leaves.iter().flatten().count();
            Leaf {
                own,
                leaf_of: hosts.map(leaf_of).collect(),
                flowlets: Flowlets::new(self.config.table, self.config.gap),
                reports: PathReports::new(count, links.len(), self.config.aging),
            }
        });
        CongaSwitch {
            next_hops: self.routes.at(node),
            utilisation: links.iter().map(estimator).collect(),
            is_to_host: links.iter().map(|link| link.is_to_host).collect(),
            leaf,
            key: mix64(ecmp::hash_id(self.seed, node)),
            levels: self.config.levels,
        }
    }
}

/// One switch.
pub struct CongaSwitch {
    next_hops: NextHops,
    /// By port.
    utilisation: Vec<RateEstimator>,
    is_to_host: Vec<bool>,
    leaf: Option<Leaf>,
    key: u64,
    levels: u64,
}

/// The state of a leaf.
struct Leaf {
    own: u16,
    /// By host, its leaf.
    leaf_of: Vec<u16>,
    flowlets: Flowlets,
    reports: PathReports,
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
    /// The utilisation of the link at `port`, which a packet of `bytes` joins.
    #[inline]
    fn join(&mut self, port: PortId, bytes: u16, now: Time) -> u8 {
        let link = &mut self.utilisation[port.index()];
        link.add(bytes.into(), now);
        link.level(self.levels, now)
    }
}

impl Switch for CongaSwitch {
    const WRITES_OVERLAY: bool = true;

    #[inline]
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let now = ctx.now();
        let Some(host) = header.destination() else { return out.drop(DropReason::NoRoute) };
        let ports = self.next_hops.all(host);
        let flow = header.path_hash();
        let is_of_host =
            |port: PortId| self.is_to_host.get(port.index()).is_some_and(|is_to_host| *is_to_host);
        let ends_here = is_of_host(ingress) || ports.first().is_some_and(|port| is_of_host(*port));
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
                leaf.reports.told(from, overlay.about, overlay.reported, now);
            }
            return out.send(first);
        }
        let to = leaf.leaf_of[host.index()];
        let (utilisation, reports) = (&mut self.utilisation, &leaf.reports);
        let port = leaf.flowlets.follow(flow, ports, now, |last| {
            let mut path = |port: PortId| {
                let own = utilisation[port.index()].level(self.levels, now);
                own.max(reports.towards(to, port, now))
            };
            let least = ports.iter().map(|port| path(*port)).min();
            let mut is_least = |port: PortId| Some(path(port)) == least;
            // A flow moves only to a strictly better path (section 3.5).
            if let Some(port) = last.filter(|port| is_least(*port)) {
                return port;
            }
            let count = ports.iter().filter(|port| is_least(**port)).count();
            let drawn = pick(ctx.random().next_u64(), count);
            *ports.iter().filter(|port| is_least(**port)).nth(drawn).unwrap_or(&first)
        });
        let (about, reported) = leaf.reports.next_to(to, now);
        let congestion = self.join(port, header.ip_bytes, now);
        out.send_with_overlay(port, Overlay { uplink: port.0 + 1, congestion, about, reported }.to_bytes());
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.next_hops.renew(routes);
        for (estimator, link) in self.utilisation.iter_mut().zip(routes.links(self.next_hops.node())) {
            estimator.set_rate(link.rate);
        }
    }

    fn table_entries(&mut self, now: Time) -> TableEntries {
        let flows = self.leaf.as_ref().map_or(0, |leaf| leaf.flowlets.len(now));
        TableEntries { flows, ..TableEntries::default() }
    }
}
