//! The engine: divides the fabric, and starts the threads that work through windows of time.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use cpu_time::ThreadTime;
use weft_switching::Forwarding;
use weft_switching::host::distinct_paths::{NoPaths, PathFinder};
use weft_switching::host::path_selector::{OnePath, PathSelector};
use weft_traffic::{Flow, InterfaceRule};
use weft_transport::Mptcp;
use weft_units::Duration;

use crate::central::ControlPlane;
use crate::conductor::Conductor;
use crate::division::Division;
use crate::fleet::FleetBuilder;
use crate::framings::Framings;
use crate::hosts::{Any, Choice, Chosen, HostQueue, Hosts, Places, Shell, Tcp, World};
use crate::part_arrivals::PartArrivals;
use crate::partition::Partition;
use crate::partition_set::PartitionSet;
use crate::record::{Recorder, RunReport};
use crate::rounds;
use crate::solo::Solo;
use crate::waiting::Waiting;

pub use crate::setup::{Progress, Setup};

/// Runs until every flow has finished and its connection is closed, or to the limit. Hosts choose paths by `choice` if
/// they use plain TCP. The loop is compiled for plain TCP on one path, which is fastest, and for all other hosts.
///
/// # Panics
/// If the flows are not in order of start time, the faults are not in order of time, a flow's class is not below
/// [`Setup::classes`], or there are more flows than packets can name (2^25).
pub fn run(
    setup: Setup<'_>,
    routes: Arc<Forwarding>,
    builder: &dyn FleetBuilder,
    choice: Option<Choice<'_>>,
    progress: &Progress,
    recorder: &mut dyn Recorder,
) -> RunReport {
    let protocol = setup.transport;
    if choice.is_none() && protocol.tcp().is_some_and(|config| config.mptcp == Mptcp::Off) {
        return run_selecting::<OnePath>(setup, routes, builder, &(), &NoPaths, progress, recorder);
    }
    let hosts = |queue, flows: Flows<'_, '_>| Any::new(protocol, choice, queue, flows);
    run_hosts(setup, routes, builder, hosts, progress, recorder)
}

/// Runs hosts that use plain TCP and choose among the paths of a finder by `P`.
///
/// # Panics
/// As [`run`]; if hosts use another protocol.
pub fn run_selecting<P: PathSelector>(
    setup: Setup<'_>,
    routes: Arc<Forwarding>,
    builder: &dyn FleetBuilder,
    scheme: &P::Scheme,
    paths: &dyn PathFinder,
    progress: &Progress,
    recorder: &mut dyn Recorder,
) -> RunReport {
    let config = setup.transport.tcp().expect("hosts use plain TCP");
    let hosts = |queue, _: Flows<'_, '_>| Shell::new(Tcp::<P>::new(config, scheme, paths), queue);
    run_hosts(setup, routes, builder, hosts, progress, recorder)
}

/// The flows that the hosts of a partition send.
type Flows<'a, 'b> = &'a mut dyn Iterator<Item = &'b Flow>;

fn run_hosts<H: Hosts>(
    setup: Setup<'_>,
    routes: Arc<Forwarding>,
    builder: &dyn FleetBuilder,
    // Those of a partition, from the queues of their interfaces and the flows that they send.
    hosts: impl Fn(HostQueue, Flows<'_, '_>) -> H,
    progress: &Progress,
    recorder: &mut dyn Recorder,
) -> RunReport {
    let (fabric, seed) = (setup.fabric, setup.seed);
    assert!(setup.flows.is_sorted_by_key(|flow| flow.start), "flows must be in order of start time");
    assert!(setup.faults.is_sorted_by_key(|fault| fault.at), "faults must be in order of time");
    let classed = |flow: &Flow| usize::from(flow.class) < setup.classes;
    assert!(setup.flows.iter().all(classed), "every flow's class must be below {}", setup.classes);
    assert!(setup.flows.len() < 1 << 25, "there are too many flows");
    let central = builder.central().map(|central| ControlPlane::new(central, fabric));
    let division = Division::of(fabric);
    let lookahead = division.lookahead();
    let window = central.as_ref().map_or(lookahead, |central| lookahead.min(central.delay()));
    let hindrance = hindrance(window, &division, recorder.traces());
    let are_faster = || rounds::are_faster(fabric, &setup.transport.framing());
    let has_rounds =
        hindrance.is_none() && rounds::are_possible(fabric) && setup.rounds.unwrap_or_else(are_faster);
    let window = if has_rounds { window.min(rounds::longest(fabric)) } else { window };
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
    let solo = Solo::new(setup.rests);
    let places = Places::new(setup.flows.len());
    let waiting = Waiting::new(setup.dependencies, setup.flows);
    let chosen = match setup.interfaces {
        InterfaceRule::LeastLoaded => Chosen::new(setup.flows.len()),
        _ => Chosen::default(),
    };
    let world = World {
        flows: setup.flows,
        transport: setup.transport,
        framings: Framings::of(fabric, setup.transport),
        seed,
        warm: setup.warm,
        has_rounds,
        places,
        waiting,
        connections: setup.connections,
        parts: setup.parts,
        arrivals: if setup.ring_steps {
            PartArrivals::of(setup.parts, setup.flows.len())
        } else {
            PartArrivals::default()
        },
        chosen,
    };
    let partitions = PartitionSet::new(fabric, world, division, solo, |world, division, part| {
        let is_own = |flow: &&Flow| division.part_of(fabric.host_node(flow.src)) == part;
        let queue = HostQueue::new(fabric, &world.framings.network);
        let hosts = hosts(queue, &mut world.flows.iter().filter(is_own));
        Partition::new(fabric, division, part, builder, &routes, hosts, world)
    });
    let helpers = setup.threads.clamp(1, partitions.count()) - 1;
    let mut run = Conductor::new(setup, central, lookahead, window);
    std::thread::scope(|scope| {
        let _closing = Closing(&partitions);
        for helper in 1..=helpers {
            let (partitions, from) = (&partitions, helper * partitions.count() / (helpers + 1));
            scope.spawn(move || {
                let worked = ThreadTime::now();
                partitions.help(from);
                progress.helpers_ns.fetch_add(worked.elapsed().as_nanos() as u64, Ordering::Relaxed);
            });
        }
        run.start(&partitions);
        let stopped = run.drive(&partitions, progress, recorder);
        run.finish(&partitions, recorder, stopped)
    })
}

/// The reason why a run has one thread, even if more were requested.
fn hindrance(window: Duration, division: &Division, traces: bool) -> Option<&'static str> {
    match () {
        () if traces => Some("captures and traces are written in order"),
        () if division.parts() == 1 => Some("the fabric cannot be divided: all hosts are at one switch"),
        () if window == Duration::ZERO => Some("the controller's `control_delay` is 0 s"),
        () => None,
    }
}

/// Ends the helping threads when dropped, even by a panic.
struct Closing<'f, 'a, H: Hosts>(&'f PartitionSet<'a, H>);

impl<H: Hosts> Drop for Closing<'_, '_, H> {
    fn drop(&mut self) {
        self.0.close();
    }
}
