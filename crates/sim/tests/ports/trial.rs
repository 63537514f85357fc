//! Runs of the engine.

use std::sync::Arc;

use weft_fabric::Fabric;
use weft_sim::engine::{self, Progress, Setup};
use weft_sim::fault::Fault;
use weft_sim::probe::Probe;
use weft_sim::record::{MemoryRecorder, RunReport};
use weft_switching::conweave::ConWeave;
use weft_switching::ecmp::{Ecmp, EcmpSwitch};
use weft_switching::{Actions, Blueprint, Context, DropReason, Forwarding, Header, SchemeSpec, Switch};
use weft_traffic::{Connections, Dependencies, Flow, InterfaceRule, Jobs, Lane, Parts};
use weft_transport::{Config, Protocol};
use weft_units::{Duration, FlowId, HostId, NodeId, PortId, Time};

/// How switches forward.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forwards {
    Ecmp,
    ConWeave,
    /// On a ring, always in one direction.
    Clockwise,
}

pub enum Scheme {
    Ecmp(Ecmp),
    ConWeave(ConWeave),
    Clockwise,
}

pub enum Either {
    Ecmp(EcmpSwitch),
    ConWeave(Box<<ConWeave as Blueprint>::Switch>),
    /// The switch's hosts by port, and the port to the next switch.
    Clockwise(Vec<(HostId, PortId)>, PortId),
}

impl Blueprint for Scheme {
    type Switch = Either;

    fn switch(&self, fabric: &Fabric, node: NodeId) -> Either {
        match self {
            Self::Ecmp(ecmp) => return Either::Ecmp(ecmp.switch(fabric, node)),
            Self::ConWeave(conweave) => return Either::ConWeave(Box::new(conweave.switch(fabric, node))),
            Self::Clockwise => {}
        }
        let ports = || (0..).map(PortId).zip(fabric.ports(node));
        let own = ports()
            .filter_map(|(port, link)| fabric.node(fabric.link(*link).to).host.map(|host| (host, port)));
        let switches: Vec<NodeId> = fabric.switches().collect();
        let place = switches.iter().position(|switch| *switch == node).unwrap();
        let next = switches[(place + 1) % switches.len()];
        let next = ports().find(|(_, link)| fabric.link(**link).to == next).unwrap().0;
        Either::Clockwise(own.collect(), next)
    }
}

impl Switch for Either {
    fn receive<C: Context>(&mut self, ctx: &mut C, ingress: PortId, header: &Header, out: &mut Actions) {
        match self {
            Self::Ecmp(ecmp) => ecmp.receive(ctx, ingress, header, out),
            Self::ConWeave(conweave) => conweave.receive(ctx, ingress, header, out),
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

    fn next_deadline(&self) -> Time {
        let Self::ConWeave(conweave) = self else { return Time::MAX };
        conweave.next_deadline()
    }

    fn on_deadline<C: Context>(&mut self, ctx: &mut C, out: &mut Actions) {
        if let Self::ConWeave(conweave) = self {
            conweave.on_deadline(ctx, out);
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
    pub rounds: Option<bool>,
    pub rests: bool,
    pub forwards: Forwards,
    pub transport: Protocol,
    pub faults: Vec<Fault>,
    /// How often it samples, and looks for deadlocks; `None`: only at its end.
    pub interval: Option<Duration>,
}

impl<'a> Trial<'a> {
    pub fn new(fabric: &'a Fabric) -> Self {
        Self {
            fabric,
            flows: Vec::new(),
            limit: Duration::from_secs(20),
            threads: 1,
            rounds: None,
            rests: false,
            forwards: Forwards::Ecmp,
            transport: Protocol::from(Config { mss: 1_448, ..Config::profile("linux").unwrap() }),
            faults: Vec::new(),
            interval: Some(Duration::from_ms(1)),
        }
    }

    /// Adds a flow that starts at once.
    pub fn flow(self, src: u32, dst: u32, bytes: u64) -> Self {
        self.marked_flow(src, dst, bytes, 0)
    }

    /// Adds a flow that starts at once, with this DSCP.
    pub fn marked_flow(mut self, src: u32, dst: u32, bytes: u64, dscp: u8) -> Self {
        let id = self.flows.len() as u32;
        let (src, dst, sport) = (HostId(src), HostId(dst), 1_000 + id as u16);
        let start = Time::ZERO;
        self.flows.push(Flow {
            id: FlowId(id),
            src,
            dst,
            sport,
            dport: 80,
            class: 0,
            dscp,
            lane: Lane::Any,
            bytes,
            start,
        });
        self
    }

    /// Runs it, and checks that every packet is accounted for.
    pub fn run(&self) -> (RunReport, MemoryRecorder) {
        let (fabric, mut kept) = (self.fabric, MemoryRecorder::default());
        let setup = Setup {
            fabric,
            flows: &self.flows,
            dependencies: &Dependencies::default(),
            jobs: &Jobs::default(),
            connections: &Connections::default(),
            parts: &Parts::default(),
            ring_steps: false,
            classes: 1,
            transport: &self.transport,
            interfaces: InterfaceRule::Hash,
            seed: 1,
            warm: false,
            limit: Time::ZERO + self.limit,
            window: (Time::ZERO, Time::ZERO + self.limit),
            probe: Probe::new(self.interval, Vec::new(), false),
            faults: &self.faults,
            reaction: Duration::ZERO,
            threads: self.threads,
            rounds: self.rounds,
            rests: self.rests,
        };
        let routes = Arc::new(Forwarding::new(fabric, |link| fabric.link(link).up));
        let spec = |name: &str| SchemeSpec { name: name.to_owned(), params: Default::default() };
        let scheme = match self.forwards {
            Forwards::Clockwise => Scheme::Clockwise,
            Forwards::Ecmp => Scheme::Ecmp(Ecmp::new(Arc::clone(&routes), 1, &spec("ecmp"))),
            Forwards::ConWeave => {
                let conweave = ConWeave::new(fabric, Arc::clone(&routes), 1, &spec("conweave"));
                Scheme::ConWeave(conweave.expect("the fabric has tiers"))
            }
        };
        let report = engine::run(setup, routes, &scheme, None, &Progress::default(), &mut kept);
        assert!(report.counters.is_conserved(), "{:?}", report.counters);
        (report, kept)
    }

    /// Packets dropped.
    pub fn dropped(&self) -> u64 {
        self.run().0.counters.packets_dropped.iter().sum()
    }
}
