//! HULA: probes tell every switch the utilisation of its paths to every ToR switch, and each flowlet takes the best next
//! hop at each switch (Katta et al., "HULA: scalable load balancing using programmable data planes", SOSR 2016).
//!
//! Each ToR switch sends probes up, at an interval. A probe that comes from below is forwarded to all other switches below and
//! above, one that comes from above goes only down, so that none is in a loop (section 4.1). A switch takes the highest
//! utilisation on the way back to the ToR switch, and keeps the best next hop (section 4.2).
//!
//! Departures from the paper:
//! * A switch passes on only the probes that set its entry, so that a link carries about one probe for each ToR switch
//!   and interval (the overhead that section 4.5 aims at).
//! * A best next hop is used only while it is on a shortest path; without one, a flowlet goes by hash.
//! * ToR switches send their first probes at random times within an interval, not together.

use std::sync::Arc;

use weft_fabric::Fabric;
use weft_units::{Duration, HostId, NodeId, PortId, Time, params};

use crate::best_hops::BestHops;
use crate::blueprint::Blueprint;
use crate::descriptor::{Descriptor, Hops, Need};
use crate::edge_switches::EdgeSwitches;
use crate::flowlets::{Flowlets, MOST_FLOWLETS};
use crate::hash::{mix64, pick};
use crate::header::Kind;
use crate::link_load::LinkLoad;
use crate::spec::{Contradiction, SchemeError, SchemeSpec};
use crate::tiers::{self, Way, tor_switches};
use crate::{Actions, Context, DropReason, Forwarding, Header, NextHops, Switch, TableEntries, ecmp};
use weft_wire::Mac;

/// The scheme.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "hula",
    summary: "HULA: on fabrics of tiers, each flowlet takes the next hop that probes found least utilised",
    decides: "switches",
    observes: "utilisation of paths, by probes",
    source: "Katta et al., SOSR 2016",
    params: Config::PARAMS,
    needs: &[Need::NewSwitch],
    has_own_frames: true,
    next_hops: Some(Hops::EqualCost),
    contradiction,
    misfit: Some(misfit),
    ..Descriptor::PLAIN
};

fn contradiction(spec: &SchemeSpec) -> Option<Contradiction> {
    let Config { probe_interval, aging, .. } = Config::of(&spec.params);
    let expected = || format!("expected more than `probe_interval`, {probe_interval}");
    (aging <= probe_interval).then(|| Contradiction::of("aging", aging, expected()))
}

/// Why `fabric` is not supported.
fn misfit(_spec: &SchemeSpec, fabric: &Fabric) -> Option<Contradiction> {
    tiers::misfit(DESCRIPTOR.name, fabric)
}

/// Shorter intervals would fill links with probes.
const LEAST_INTERVAL: Duration = Duration::from_us(1);

params! {
    struct Config {
        /// interval at which a ToR switch sends probes
        probe_interval: Duration = Duration::from_us(200), in LEAST_INTERVAL..=Duration::MAX;
        /// time constant of a link's utilisation
        tau: Duration = Duration::from_us(400);
        /// age from which a next hop without a new probe is forgotten
        aging: Duration = Duration::from_ms(1);
        /// pause after which a flow may change its path
        gap: Duration = Duration::from_us(100);
        /// entries of a switch's flowlet table
        flowlet_table: usize = 65_536, in 1..=MOST_FLOWLETS;
    }
}

/// Builds the switches of the fabric.
pub struct Hula {
    routes: Arc<Forwarding>,
    tors: EdgeSwitches,
    seed: u64,
    config: Config,
}

impl Hula {
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

impl Blueprint for Hula {
    type Switch = HulaSwitch;

    fn switch(&self, fabric: &Fabric, node: NodeId) -> HulaSwitch {
        let links = self.routes.links(node);
        let key = mix64(ecmp::hash_id(self.seed, node));
        let interval = self.config.probe_interval.max(LEAST_INTERVAL);
        let tor = self.tors.number(node);
        // Another hash of the key than those that flows meet.
        let phase = Duration::from_ps(mix64(!key) % interval.ps());
        HulaSwitch {
            next_hops: self.routes.at(node),
            ways: links.iter().map(|link| Way::new(fabric, node, link.to)).collect(),
            works: links.iter().map(|link| link.up).collect(),
            loads: links
                .iter()
                .map(|link| LinkLoad::new(link.rate, link.overhead, self.config.tau))
                .collect(),
            flowlets: Flowlets::new(self.config.flowlet_table, self.config.gap),
            best: BestHops::new(self.tors.count(), self.config.aging),
            tor_of: self.tors.of_hosts(),
            members: self.tors.members(),
            next_probe: tor.map_or(Time::MAX, |_| Time::ZERO + phase),
            tor,
            interval,
            node,
            key,
        }
    }
}

/// A HULA switch.
pub struct HulaSwitch {
    next_hops: NextHops,
    /// The direction of each port.
    ways: Vec<Way>,
    /// Whether the link of each port is up.
    works: Vec<bool>,
    /// The utilisation of each port's link.
    loads: Vec<LinkLoad>,
    flowlets: Flowlets,
    best: BestHops,
    /// The ToR switch number of each host.
    tor_of: Arc<[u16]>,
    /// One host of each ToR switch.
    members: Arc<[HostId]>,
    next_probe: Time,
    /// Its number, if it is a ToR switch.
    tor: Option<u16>,
    interval: Duration,
    node: NodeId,
    key: u64,
}

/// A probe of ToR switch `tor` that has met this utilisation. As long as the shortest Ethernet frame: the paper's 64
/// bytes.
fn probe(tor: u16, level: u8) -> Header {
    Header { dst: Mac::HELLO, kind: Kind::Probe, overlay: probe_overlay(tor, level), ..Header::default() }
}

const fn probe_overlay(tor: u16, level: u8) -> [u8; 8] {
    let [a, b] = tor.to_be_bytes();
    [a, b, level, 0, 0, 0, 0, 0]
}

impl HulaSwitch {
    /// The ports that lead this way over links that are up.
    fn ports(&self, way: Way) -> impl Iterator<Item = PortId> {
        let all = self.ways.iter().zip(&self.works).enumerate();
        all.filter(move |(_, (this, works))| **this == way && **works).map(|(port, _)| PortId(port as u16))
    }

    /// Processes a probe: notes it, and passes it on if it set the best next hop.
    fn probed(&mut self, now: Time, ingress: PortId, header: &Header, out: &mut Actions) {
        let [a, b, level, ..] = header.overlay;
        let tor = u16::from_be_bytes([a, b]);
        let from = match self.ways.get(ingress.index()) {
            Some(Way::Host) | None => return out.drop(DropReason::Untrusted),
            Some(way) => *way,
        };
        let Some(host) = self.members.get(usize::from(tor)) else { return out.drop(DropReason::Stale) };
        // After a failure, probes also come over longer paths, and back to the ToR switch that sent them.
        if self.tor == Some(tor) || !self.next_hops.all(*host).contains(&ingress) {
            return out.consume();
        }
        // Of the link towards the ToR switch.
        let level = level.max(self.loads[ingress.index()].level(now));
        if !self.best.probed(tor, ingress, level, now) {
            return out.consume();
        }
        let up = self.ports(Way::Up).filter(|_| from == Way::Down);
        let mut copies = up.chain(self.ports(Way::Down)).filter(|port| *port != ingress).peekable();
        if copies.peek().is_none() {
            out.consume();
        }
        copies.for_each(|port| out.send_with_overlay(port, probe_overlay(tor, level)));
    }
}

impl Switch for HulaSwitch {
    #[inline]
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        let now = ctx.now();
        if header.kind == Kind::Probe {
            return self.probed(now, ingress, header, out);
        }
        let Some(host) = header.destination() else { return out.drop(DropReason::NoRoute) };
        let ports = self.next_hops.all(host);
        let flow = header.path_hash();
        let port = match *ports {
            [] => return out.drop(DropReason::NoRoute),
            [port] => port,
            _ => self.flowlets.follow(flow, ports, now, |_| {
                let best = self.best.to(self.tor_of[host.index()], now);
                let by_hash = || ports[pick(mix64(u64::from(flow) ^ self.key), ports.len())];
                best.filter(|port| ports.contains(port)).unwrap_or_else(by_hash)
            }),
        };
        self.loads[port.index()].add(header.ip_bytes, now);
        out.send(port);
    }

    fn next_deadline(&self) -> Time {
        self.next_probe
    }

    fn on_deadline<C: Context>(&mut self, ctx: &mut C, out: &mut Actions) {
        let Some(tor) = self.tor.filter(|_| ctx.now() >= self.next_probe) else { return };
        self.next_probe = ctx.now() + self.interval;
        self.ports(Way::Up).for_each(|port| out.emit(port, probe(tor, 0)));
    }

    fn routes_changed(&mut self, routes: &Arc<Forwarding>) {
        self.next_hops.renew(routes);
        self.works = routes.links(self.node).iter().map(|link| link.up).collect();
        for (load, link) in self.loads.iter_mut().zip(routes.links(self.node)) {
            load.set_rate(link.rate);
        }
    }

    fn table_entries(&mut self, now: Time) -> TableEntries {
        TableEntries { flows: self.flowlets.len(now), stations: self.best.len(now), groups: 0 }
    }
}
