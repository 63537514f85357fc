//! Shared by the engine tests: a run described in a few lines, its outcome, a bare link fed with
//! packets, and statistics to judge them.

mod any_switch;
pub mod directory;
pub mod paths;
mod restart;
pub mod statistics;
pub mod wire;

use std::sync::Arc;

use proptest::test_runner::{Config as ProptestConfig, FileFailurePersistence};
use weft_fabric::{Fabric, LinkSpec};
use weft_scenario::{LinkChange, Plan, Scenario};
use weft_sim::columns::FlowRecord;
use weft_sim::engine::{self, Progress, Setup};
use weft_sim::fault::{Fault, FaultKind};
use weft_sim::probe::Probe;
use weft_sim::record::{LinkReport, MemoryRecorder, RunReport};
use weft_sim::run::run_setup;
use weft_sim::sample::{Metric, Sample};
use weft_switching::ecmp::Ecmp;
use weft_switching::host::distinct_paths::DistinctPaths;
use weft_switching::host::path_selector::PathSelector;
use weft_switching::{
    Blueprint, Descriptor, DropReason, Forwarding, ParamValue, SchemeSpec, registry, stream,
};
use weft_traffic::{Connections, Dependencies, Flow, InterfaceRule, Jobs, Lane, Need, Node, Parts, Point};
use weft_transport::{Config, Protocol};
use weft_units::{Duration, FlowId, HostId, LinkId, Rate, Time};

use restart::{Restart, run_with_restarts};

/// `count` random cases, or `PROPTEST_CASES` if set; a failing case is stored next to the test and
/// rerun first.
pub fn cases(count: u32) -> ProptestConfig {
    let beside = FileFailurePersistence::WithSource("regressions");
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let cases = asked.unwrap_or(count);
    ProptestConfig { failure_persistence: Some(Box::new(beside)), ..ProptestConfig::with_cases(cases) }
}

pub const MS: fn(u64) -> Duration = Duration::from_ms;
pub const US: fn(u64) -> Duration = Duration::from_us;

/// A link of 1 Gbps.
pub fn gigabit(delay: Duration) -> LinkSpec {
    LinkSpec::new(Rate::from_gbps(1), delay)
}

/// The plan of a scenario's first run; every file that the scenario names contains `file`.
pub fn plan(scenario: &Scenario, file: &[u8]) -> Plan {
    let plan = scenario.plan(&scenario.points()[0], &|_| Ok(file.to_vec()));
    plan.unwrap_or_else(|error| panic!("{error}"))
}

pub fn parsed(scenario: &str) -> Scenario {
    Scenario::parse(scenario, "test.toml").unwrap_or_else(|error| panic!("{error}"))
}

/// The instant `span` after the start.
pub fn at(span: Duration) -> Time {
    Time::ZERO + span
}

/// A scheme without parameters.
pub fn scheme(name: &str) -> SchemeSpec {
    SchemeSpec { name: name.to_owned(), params: Default::default() }
}

/// The names of the schemes that explore.
pub fn exploring() -> impl Iterator<Item = &'static str> {
    registry().iter().filter(|known| known.explores.is_some()).map(|known| known.name)
}

/// The names of the schemes that run on a fabric.
pub fn running_on(fabric: &Fabric) -> impl Iterator<Item = &'static str> {
    let fits = |known: &&Descriptor| known.misfit_of(&scheme(known.name), fabric).is_none();
    registry().iter().filter(fits).map(|known| known.name)
}

/// The schemes whose routes are recomputed after a failure, those of hosts among them.
pub fn routed() -> impl Iterator<Item = &'static Descriptor> {
    registry().iter().filter(|known| known.next_hops.is_some() || known.name == "spanning_tree")
}

/// A scheme with one parameter.
pub fn scheme_with(name: &str, key: &str, value: ParamValue) -> SchemeSpec {
    scheme_of(name, [(key, value)])
}

/// A scheme with parameters.
pub fn scheme_of<const N: usize>(name: &str, params: [(&str, ParamValue); N]) -> SchemeSpec {
    let params = params.map(|(key, value)| (key.to_owned(), value));
    SchemeSpec { name: name.to_owned(), params: params.into() }
}

/// A parameter that is a word.
pub fn word(word: &str) -> ParamValue {
    ParamValue::Text(word.to_owned())
}

/// The profile `name`, with segments that fill an Ethernet frame.
pub fn profile(name: &str) -> Config {
    Config { mss: 1448, ..Config::profile(name).unwrap_or_else(|| panic!("no profile `{name}`")) }
}

/// One run. Every flow has its own class, so that samples distinguish flows.
#[derive(Clone)]
pub struct Trial<'a> {
    pub fabric: &'a Fabric,
    pub scheme: SchemeSpec,
    pub protocol: Protocol,
    pub seed: u64,
    pub limit: Duration,
    pub window: (Duration, Duration),
    pub interval: Option<Duration>,
    pub flows: Vec<Flow>,
    pub needs: Vec<Need>,
    pub faults: Vec<Fault>,
    pub reaction: Duration,
    pub restarts: Vec<Restart>,
    pub threads: usize,
    pub rounds: Option<bool>,
    pub rests: bool,
}

impl<'a> Trial<'a> {
    pub fn new(fabric: &'a Fabric, scheme: SchemeSpec, protocol: impl Into<Protocol>) -> Self {
        Self {
            fabric,
            scheme,
            protocol: protocol.into(),
            seed: 1,
            limit: Duration::from_secs(100),
            window: (Duration::ZERO, Duration::from_secs(1)),
            interval: None,
            flows: Vec::new(),
            needs: Vec::new(),
            faults: Vec::new(),
            reaction: Duration::ZERO,
            restarts: Vec::new(),
            threads: 1,
            rounds: None,
            rests: false,
        }
    }

    /// Hosts with Linux's TCP under the scheme `name`.
    pub fn linux(fabric: &'a Fabric, name: &str) -> Self {
        Self::new(fabric, scheme(name), profile("linux"))
    }

    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    pub fn limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    pub fn measured(self, from: Duration, to: Duration) -> Self {
        Self { window: (from, to), ..self }
    }

    pub fn sampled(self, interval: Duration) -> Self {
        Self { interval: Some(interval), ..self }
    }

    /// Adds a flow; add flows in order of start time.
    pub fn flow(mut self, src: u32, dst: u32, bytes: u64, start: Duration) -> Self {
        let id = self.flows.len() as u32;
        self.flows.push(Flow {
            id: FlowId(id),
            src: HostId(src),
            dst: HostId(dst),
            sport: 1_000 + id as u16,
            dport: 80,
            class: id as u16,
            dscp: 0,
            lane: Lane::Any,
            bytes,
            start: at(start),
        });
        self
    }

    /// Makes the flow added last wait for a point of an earlier one, and `delay` from there.
    pub fn after(mut self, on: u32, point: Point, delay: Duration) -> Self {
        let waiting = Node::Flow(self.flows.len() as u32 - 1);
        self.needs.push(Need { waiting, on: Node::Flow(on), at: point, delay });
        self
    }

    /// Sets the DSCP of the flow added last.
    pub fn with_dscp(mut self, dscp: u8) -> Self {
        if let Some(last) = self.flows.last_mut() {
            last.dscp = dscp;
        }
        self
    }

    pub fn fail(self, when: Duration, cable: &str) -> Self {
        self.fault(when, FaultKind::Fail, cable)
    }

    pub fn heal(self, when: Duration, cable: &str) -> Self {
        self.fault(when, FaultKind::Heal, cable)
    }

    /// A switch loses its tables.
    pub fn restart(mut self, when: Duration, switch: &str) -> Self {
        self.restarts.push(Restart { at: at(when), switch: switch.to_owned() });
        self
    }

    pub fn reacts_after(self, reaction: Duration) -> Self {
        Self { reaction, ..self }
    }

    /// Changes both directions of a link.
    pub fn change(self, when: Duration, cable: &str, change: LinkChange) -> Self {
        self.fault(when, FaultKind::Change(change), cable)
    }

    fn fault(mut self, when: Duration, kind: FaultKind, cable: &str) -> Self {
        self.faults.push(Fault::of_cable(at(when), kind, link(self.fabric, cable)));
        self
    }

    /// Runs the trial and checks that every packet is accounted for.
    pub fn run(&self) -> Outcome {
        self.outcome(|setup, seen| match &self.restarts[..] {
            [] => run_setup(setup, &self.scheme, &Progress::default(), seen).expect("a known scheme"),
            restarts => run_with_restarts(setup, &self.scheme, restarts, seen),
        })
    }

    /// The same with a scheme of the test's own, which `make` builds from the routes.
    pub fn run_own<B: Blueprint>(&self, make: impl FnOnce(&Arc<Forwarding>) -> B) -> Outcome {
        let routes = Arc::new(Forwarding::new(self.fabric, |link| self.fabric.link(link).up));
        let scheme = make(&routes);
        self.outcome(|setup, seen| engine::run(setup, routes, &scheme, None, &Progress::default(), seen))
    }

    /// The same with hosts that choose paths, under ECMP.
    pub fn run_selecting<P: PathSelector<Scheme = ()>>(&self) -> Outcome {
        let routes = Arc::new(Forwarding::new(self.fabric, |link| self.fabric.link(link).up));
        let ecmp = Ecmp::new(Arc::clone(&routes), self.seed, &self.scheme);
        self.outcome(|setup, seen| {
            let paths = DistinctPaths::new(self.fabric, &ecmp);
            engine::run_selecting::<P>(setup, routes, &ecmp, &(), &paths, &Progress::default(), seen)
        })
    }

    fn outcome(&self, run: impl FnOnce(Setup<'_>, &mut MemoryRecorder) -> RunReport) -> Outcome {
        let mut seen = MemoryRecorder::default();
        let dependencies = Dependencies::new(self.flows.len(), Vec::new(), self.needs.clone());
        let links = (0..self.fabric.links().len() as u32).map(LinkId).collect();
        let setup = Setup {
            fabric: self.fabric,
            flows: &self.flows,
            dependencies: &dependencies,
            jobs: &Jobs::default(),
            connections: &Connections::default(),
            parts: &Parts::default(),
            ring_steps: false,
            classes: self.flows.len(),
            transport: &self.protocol,
            interfaces: InterfaceRule::Hash,
            seed: self.seed,
            warm: false,
            limit: at(self.limit),
            window: (at(self.window.0), at(self.window.1)),
            probe: Probe::new(self.interval, links, true),
            faults: &self.faults,
            reaction: self.reaction,
            threads: self.threads,
            rounds: self.rounds,
            rests: self.rests,
        };
        let report = run(setup, &mut seen);
        assert!(report.counters.is_conserved(), "seed {}: {:?}", self.seed, report.counters);
        let recorded = seen.flows.iter().map(|record| record.flow.id).collect();
        seen.flows.sort_by_key(|record| record.flow.id);
        Outcome { report, flows: seen.flows, recorded, samples: seen.samples }
    }
}

/// The link named by a text such as `e0-a1`, in that direction.
pub fn link(fabric: &Fabric, cable: &str) -> LinkId {
    fabric.link_named(cable).unwrap_or_else(|error| panic!("{error}"))
}

/// The outcome of a [`Trial`]: its report, its flows in order of ID, its samples.
pub struct Outcome {
    pub report: RunReport,
    pub flows: Vec<FlowRecord>,
    /// The order in which they were recorded.
    pub recorded: Vec<FlowId>,
    pub samples: Vec<Sample>,
}

impl Outcome {
    /// The completion time of a flow, which must have finished.
    pub fn fct(&self, flow: usize) -> Duration {
        let record = &self.flows[flow];
        record.end.unwrap_or_else(|| panic!("flow {flow} did not finish: {record:?}")) - record.flow.start
    }

    pub fn link(&self, link: LinkId) -> &LinkReport {
        &self.report.links[link.index()]
    }

    /// Packets that a link accepted.
    pub fn packets(&self, link: LinkId) -> u64 {
        self.link(link).counters.packets
    }

    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.report.counters.packets_dropped[reason as usize]
    }

    /// The mean of a metric for an entity after `from`; missing samples count as zero.
    pub fn mean(&self, metric: Metric, entity: u32, from: Duration) -> f64 {
        let late = |sample: &&Sample| sample.time > at(from);
        let instants = self.samples.iter().filter(late).filter(|sample| sample.metric == Metric::ActiveFlows);
        let said = self.samples.iter().filter(late);
        let values = said.filter(|sample| sample.metric == metric && sample.entity == entity);
        values.map(|sample| sample.value).sum::<f64>() / instants.count().max(1) as f64
    }

    /// Bits per second that each flow's application received after `from`.
    pub fn rates(&self, from: Duration) -> Vec<f64> {
        (0..self.flows.len() as u32).map(|class| self.mean(Metric::Throughput, class, from)).collect()
    }
}

/// Uniform numbers of a named stream.
pub struct Uniform(weft_switching::Stream);

impl Uniform {
    pub fn new(seed: u64, name: &str) -> Self {
        Self(stream(seed, name, 0))
    }

    pub fn bits(&mut self) -> u64 {
        rand_core::RngCore::next_u64(&mut self.0)
    }

    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// In 0..n.
    pub fn below(&mut self, n: usize) -> usize {
        weft_switching::pick(self.bits(), n)
    }

    /// Exponential with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }
}
