//! The engine: divides the fabric, and starts the threads that work through windows of time.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use cpu_time::ThreadTime;
use weft_switching::host::distinct_paths::{DistinctPaths, NoPaths};
use weft_switching::host::path_selector::{OnePath, PathSelector};
use weft_switching::{Blueprint, Forwarding, Switch};
use weft_traffic::Flow;
use weft_transport::{Config, Mptcp, Protocol};
use weft_units::Duration;

use crate::central::ControlPlane;
use crate::conductor::Conductor;
use crate::division::Division;
use crate::floor::Floor;
use crate::hosts::{Any, HostQueue, Hosts, Places, Tcp, World};
use crate::partition::Partition;
use crate::record::{Recorder, RunReport};
use crate::waiting::Waiting;

pub use crate::setup::{Progress, Setup};

/// Runs until every flow has finished and its connection is closed, or to the limit. Each switch of `blueprint` is
/// compiled into the loop.
///
/// # Panics
/// If the flows are not in order of start time, the faults are not in order of time, a flow's class is not below
/// [`Setup::classes`], or there are more flows than packets can name (2^25).
pub fn run<B: Blueprint, R: Recorder>(
    setup: Setup<'_>,
    routes: Arc<Forwarding>,
    blueprint: &B,
    progress: &Progress,
    recorder: &mut R,
) -> RunReport {
    match plain_tcp(setup.transport) {
        Some(config) => {
            let hosts =
                |queue, _: &mut dyn Iterator<Item = &Flow>| Tcp::<OnePath>::new(config, queue, &(), &NoPaths);
            run_hosts(setup, routes, blueprint, hosts, progress, recorder)
        }
        None => {
            let protocol = setup.transport;
            let hosts = |queue, flows: &mut dyn Iterator<Item = &Flow>| Any::new(protocol, queue, flows);
            run_hosts(setup, routes, blueprint, hosts, progress, recorder)
        }
    }
}

/// TCP's parameters, if hosts use plain TCP.
fn plain_tcp(protocol: &Protocol) -> Option<&Config> {
    protocol.tcp().filter(|config| config.mptcp == Mptcp::Off)
}

/// The same with hosts that choose paths by `scheme`, if they use plain TCP: with another protocol they choose none.
///
/// # Panics
/// As [`run`].
pub fn run_selecting<P: PathSelector, B: Blueprint + Sync, R: Recorder>(
    setup: Setup<'_>,
    routes: Arc<Forwarding>,
    (scheme, blueprint): (&P::Scheme, &B),
    progress: &Progress,
    recorder: &mut R,
) -> RunReport {
    let Some(config) = plain_tcp(setup.transport) else {
        return run(setup, routes, blueprint, progress, recorder);
    };
    let finder = DistinctPaths::new(setup.fabric, blueprint);
    let hosts = |queue, _: &mut dyn Iterator<Item = &Flow>| Tcp::<P>::new(config, queue, scheme, &finder);
    run_hosts(setup, routes, blueprint, hosts, progress, recorder)
}

fn run_hosts<B: Blueprint, H: Hosts, R: Recorder>(
    setup: Setup<'_>,
    routes: Arc<Forwarding>,
    blueprint: &B,
    // Those of a partition, from the queues of their interfaces and the flows that they send.
    hosts: impl Fn(HostQueue, &mut dyn Iterator<Item = &Flow>) -> H,
    progress: &Progress,
    recorder: &mut R,
) -> RunReport {
    let (fabric, seed) = (setup.fabric, setup.seed);
    assert!(setup.flows.is_sorted_by_key(|flow| flow.start), "flows must be in order of start time");
    assert!(setup.faults.is_sorted_by_key(|fault| fault.at), "faults must be in order of time");
    let classed = |flow: &Flow| usize::from(flow.class) < setup.classes;
    assert!(setup.flows.iter().all(classed), "every flow's class must be below {}", setup.classes);
    assert!(setup.flows.len() < 1 << 25, "there are too many flows");
    let central = blueprint.central().map(|central| ControlPlane::new(central, fabric));
    let division = Division::of(fabric);
    let lookahead = division.lookahead();
    let window = central.as_ref().map_or(lookahead, |central| lookahead.min(central.delay()));
    let hindrance = hindrance(window, &division, R::TRACES);
    if let Some(why) = hindrance.filter(|_| setup.threads > 1) {
        progress.alone.get_or_init(|| why.to_owned());
    }
    let parts = match hindrance {
        Some(_) => 1,
        None if progress.loads.is_some() => division.parts(),
        // More would balance better; packets that cross cost more than that gains.
        None => setup.threads,
    };
    let division = division.joined(parts);
    let places = Places::new(setup.flows.len());
    let waiting = Waiting::new(setup.dependencies, setup.flows);
    let world = World {
        flows: setup.flows,
        transport: setup.transport,
        framing: setup.transport.framing(),
        seed,
        warm: setup.warm,
        places,
        waiting,
        connections: setup.connections,
    };
    let floor = Floor::new(fabric, world, division, |world, division, part| {
        let is_own = |flow: &&Flow| division.part_of(fabric.host_node(flow.src)) == part;
        let queue = HostQueue::new(fabric, &world.framing);
        let hosts = hosts(queue, &mut world.flows.iter().filter(is_own));
        Partition::new((fabric, seed), (division, part), blueprint, &routes, hosts, world)
    });
    let helpers = setup.threads.clamp(1, floor.count()) - 1;
    let mut run = Conductor::new(setup, central, lookahead, window);
    std::thread::scope(|scope| {
        let _closing = Closing(&floor);
        for helper in 1..=helpers {
            let (floor, from) = (&floor, helper * floor.count() / (helpers + 1));
            scope.spawn(move || {
                let worked = ThreadTime::now();
                floor.help(from);
                progress.helpers_ns.fetch_add(worked.elapsed().as_nanos() as u64, Ordering::Relaxed);
            });
        }
        run.start(&floor);
        let stopped = run.drive(&floor, progress, recorder);
        run.finish(&floor, recorder, stopped)
    })
}

/// Why a run has one thread, whatever was asked for.
fn hindrance(window: Duration, division: &Division, traces: bool) -> Option<&'static str> {
    match () {
        () if traces => Some("captures and traces are written in order"),
        () if division.parts() == 1 => Some("the fabric cannot be divided: all hosts are at one switch"),
        () if window == Duration::ZERO => Some("the controller's `control_delay` is 0 s"),
        () => None,
    }
}

/// Sends the helping threads home when dropped, even by a panic.
struct Closing<'f, 'a, S: Switch, H: Hosts>(&'f Floor<'a, S, H>);

impl<S: Switch, H: Hosts> Drop for Closing<'_, '_, S, H> {
    fn drop(&mut self) {
        self.0.close();
    }
}
