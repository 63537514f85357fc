//! Runs of the engine with TCP.

use std::sync::Arc;

use weft_fabric::Fabric;
use weft_sim::engine::{self, Progress, Setup};
use weft_sim::fault::Fault;
use weft_sim::probe::Probe;
use weft_sim::record::{Kept, RunReport};
use weft_switching::ecmp::{Ecmp, EcmpSwitch};
use weft_switching::{Actions, Blueprint, Context, DropReason, Forwarding, Header, SchemeSpec, Switch};
use weft_traffic::{Dependencies, Flow, Jobs};
use weft_transport::{Config, Protocol};
use weft_units::{Duration, FlowId, HostId, NodeId, PortId, Time};

/// Forwards by ECMP, or on a ring always in one direction.
pub enum Scheme {
    Ecmp(Ecmp),
    Clockwise,
}

pub enum Either {
    Ecmp(EcmpSwitch),
    /// The switch's hosts by port, and the port to the next switch.
    Clockwise(Vec<(HostId, PortId)>, PortId),
}

impl Blueprint for Scheme {
    type Switch = Either;

    fn switch(&self, fabric: &Fabric, node: NodeId) -> Either {
        let Self::Ecmp(ecmp) = self else {
            let ports = || (0..).map(PortId).zip(fabric.ports(node));
            let own = ports()
                .filter_map(|(port, link)| fabric.node(fabric.link(*link).to).host.map(|host| (host, port)));
            let switches: Vec<NodeId> = fabric.switches().collect();
            let place = switches.iter().position(|switch| *switch == node).unwrap();
            let next = switches[(place + 1) % switches.len()];
            let next = ports().find(|(_, link)| fabric.link(**link).to == next).unwrap().0;
            return Either::Clockwise(own.collect(), next);
        };
        Either::Ecmp(ecmp.switch(fabric, node))
    }
}

impl Switch for Either {
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        match self {
            Self::Ecmp(ecmp) => ecmp.receive(ctx, ingress, header, out),
            Self::Clockwise(own, next) => {
                let own = own.iter().find(|(host, _)| Some(*host) == header.destination());
                match own {
                    Some((_, port)) if *port == ingress => out.drop(DropReason::SamePort),
                    Some((_, port)) => out.send(*port),
                    None => out.send(*next),
                }
            }
        }
    }
}

/// One run.
#[derive(Clone)]
pub struct Trial<'a> {
    pub fabric: &'a Fabric,
    pub flows: Vec<Flow>,
    pub limit: Duration,
    pub threads: usize,
    pub clockwise: bool,
    pub faults: Vec<Fault>,
}

impl<'a> Trial<'a> {
    pub fn new(fabric: &'a Fabric) -> Self {
        Self {
            fabric,
            flows: Vec::new(),
            limit: Duration::from_secs(20),
            threads: 1,
            clockwise: false,
            faults: Vec::new(),
        }
    }

    /// Adds a flow that starts at once.
    pub fn flow(mut self, src: u32, dst: u32, bytes: u64) -> Self {
        let id = self.flows.len() as u32;
        let (src, dst, sport) = (HostId(src), HostId(dst), 1_000 + id as u16);
        let start = Time::ZERO;
        self.flows.push(Flow { id: FlowId(id), src, dst, sport, dport: 80, class: 0, dscp: 0, bytes, start });
        self
    }

    /// Runs it, and checks that every packet is accounted for.
    pub fn run(&self) -> (RunReport, Kept) {
        let (fabric, mut kept) = (self.fabric, Kept::default());
        let config = Protocol::from(Config { mss: 1_448, ..Config::profile("linux").unwrap() });
        let setup = Setup {
            fabric,
            flows: &self.flows,
            dependencies: &Dependencies::default(),
            jobs: &Jobs::default(),
            classes: 1,
            transport: &config,
            seed: 1,
            limit: Time::ZERO + self.limit,
            window: (Time::ZERO, Time::ZERO + self.limit),
            probe: Probe::new(Some(Duration::from_ms(1)), Vec::new(), false),
            faults: &self.faults,
            reaction: Duration::ZERO,
            threads: self.threads,
        };
        let routes = Arc::new(Forwarding::new(fabric, |link| fabric.link(link).up));
        let spec = SchemeSpec { name: "ecmp".to_owned(), params: Default::default() };
        let scheme = if self.clockwise {
            Scheme::Clockwise
        } else {
            Scheme::Ecmp(Ecmp::new(Arc::clone(&routes), 1, &spec))
        };
        let report = engine::run(setup, routes, &scheme, &Progress::default(), &mut kept);
        assert!(report.counters.is_conserved(), "{:?}", report.counters);
        (report, kept)
    }

    /// Packets dropped.
    pub fn dropped(&self) -> u64 {
        self.run().0.counters.packets_dropped.iter().sum()
    }
}
