//! With flow control and the computed headroom no packet is lost; without, many are.

use proptest::prelude::*;
use weft_fabric::{ClassSpec, Fabric, Limit, LinkSpec, PfcSpec, QueueSpec, SharedBuffer, build};
use weft_sim::fault::{Fault, FaultKind};
use weft_sim::record::RunReport;
use weft_switching::DropReason;
use weft_transport::Protocol;
use weft_units::{Bytes, Duration, LinkId, Rate, Time};

use crate::trial::{Forwards, Trial};

/// A random leaf-spine fabric: rates of hosts and uplinks, delay, space beyond the headroom, queues, shared buffer.
#[derive(Clone, Debug)]
struct Drawn {
    gbps: [u64; 2],
    delay_ns: u64,
    space: u64,
    queues: usize,
    /// Whether only the last queue is lossless.
    one_lossless: bool,
    shared: Option<f64>,
    counts: [u32; 3],
}

fn any_fabric() -> impl Strategy<Value = Drawn> {
    let gbps = || prop::sample::select(vec![1_u64, 3, 10, 25]);
    let shared = prop::option::of(prop::sample::select(vec![0.125, 1.0, 8.0]));
    let counts = (1_u32..4, 1_u32..4, 2_u32..5).prop_map(|(spines, leaves, hosts)| [spines, leaves, hosts]);
    let queues = (1_usize..4, any::<bool>());
    ((gbps(), gbps()), 0_u64..4_000, 3_000_u64..60_000, queues, shared, counts).prop_map(
        |((host, trunk), delay_ns, space, (queues, one_lossless), shared, counts)| Drawn {
            gbps: [host, trunk],
            delay_ns,
            space,
            queues,
            one_lossless,
            shared,
            counts,
        },
    )
}

impl Drawn {
    /// Links of 10 Gbps and 1 us, and ports with one queue.
    const fn plain(space: u64, shared: Option<f64>, counts: [u32; 3]) -> Self {
        Self { gbps: [10, 10], delay_ns: 1_000, space, queues: 1, one_lossless: false, shared, counts }
    }

    fn build(&self, pfc: bool, limit: u64) -> Fabric {
        let classes = if self.queues == 1 { Vec::new() } else { vec![ClassSpec { weight: 1 }; self.queues] };
        let lossless = self.one_lossless.then(|| 1 << (self.queues - 1));
        let pfc = pfc.then(|| PfcSpec { queues: lossless, ..PfcSpec::default() });
        let queue = QueueSpec { classes, pfc, ..QueueSpec::fifo(Limit::Bytes(limit)) };
        let link = |gbps| {
            let delay = Duration::from_ns(self.delay_ns);
            LinkSpec::new(Rate::from_gbps(gbps), delay).with_queue(queue.clone())
        };
        let [host, trunk] = self.gbps.map(link);
        let [spines, leaves, hosts] = self.counts;
        build::spine_leaf(spines, leaves, hosts, &host, &trunk).unwrap()
    }

    /// The fabric with flow control, and as much space as it needs beyond the headroom.
    fn lossless(&self) -> Fabric {
        let wide = self.build(true, 1 << 30);
        let headroom = (0..wide.links().len() as u32).filter_map(|link| wide.thresholds(LinkId(link)));
        let most = headroom.map(|found| found.headroom).max().unwrap();
        let fabric = self.build(true, most + self.space);
        let buffer = self.shared.map(|alpha| {
            let shared =
                wide.clone().with_buffer(Some(SharedBuffer { bytes: Bytes(1 << 40), alpha })).unwrap();
            let reserved = shared.switches().map(|switch| shared.reserved(switch)).max().unwrap();
            SharedBuffer { bytes: Bytes(reserved + self.space), alpha }
        });
        fabric.with_buffer(buffer).unwrap()
    }
}

/// From, to, bytes.
type Offered = (prop::sample::Index, prop::sample::Index, u64);

fn loaded<'a>(fabric: &'a Fabric, flows: &[Offered], fan_in: bool) -> Trial<'a> {
    let hosts = fabric.host_count();
    let to_all = |(from, to, bytes): &Offered| (from.index(hosts), to.index(hosts), *bytes);
    let pairs = flows.iter().map(to_all).filter(|(from, to, _)| from != to);
    let pairs: Vec<_> =
        if fan_in { (1..hosts).flat_map(|from| [(from, 0, 150_000); 2]).collect() } else { pairs.collect() };
    pairs
        .into_iter()
        .fold(Trial::new(fabric), |trial, (from, to, bytes)| trial.flow(from as u32, to as u32, bytes))
}

fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(40);
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_packet_is_lost_and_every_flow_finishes_whatever_the_threads(
        drawn in any_fabric(),
        flows in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1_u64..200_000), 1..16),
        fan_in in any::<bool>(),
        threads in prop::sample::select(vec![2, 4, 8]),
        conweave in any::<bool>(),
    ) {
        // Acknowledgements of RoCE are in the most urgent queue.
        let drawn = Drawn { one_lossless: drawn.one_lossless && !conweave, ..drawn };
        let fabric = drawn.lossless();
        let mut trial = loaded(&fabric, &flows, fan_in);
        if conweave {
            trial = Trial { forwards: Forwards::ConWeave, transport: Protocol::Roce(Box::default()), ..trial };
        }
        let (mut alone, kept) = trial.run();
        prop_assert_eq!(alone.counters.packets_dropped.iter().sum::<u64>(), 0, "{:?}", drawn);
        prop_assert_eq!(alone.flows_finished, trial.flows.len() as u64);
        prop_assert_eq!(&alone.deadlock, &None);
        let (mut together, others) = Trial { threads, ..trial }.run();
        (alone.state_bytes, together.state_bytes) = (0, 0);
        prop_assert_eq!(format!("{alone:?}{kept:?}"), format!("{together:?}{others:?}"));
    }
}

#[test]
fn the_same_incast_loses_packets_without_flow_control_and_none_with_it() {
    for (shared, queues) in [(None, 1), (None, 2), (Some(1.0), 1)] {
        let drawn = Drawn { queues, ..Drawn::plain(30_000, shared, [2, 2, 8]) };
        let lossless = drawn.lossless();
        let limit = lossless.links()[0].queue.limit.count();
        let lossy = drawn.build(false, limit);
        let lossy = if shared.is_some() { lossy.with_buffer(lossless.buffer()).unwrap() } else { lossy };
        let incast = |fabric| (1..16).fold(Trial::new(fabric), |trial, from| trial.flow(from, 0, 400_000));
        let (with, without) = (incast(&lossless), incast(&lossy).dropped());
        let (report, _) = with.run();
        assert!(without > 20, "{shared:?}, {queues} queues: {without} packets lost without");
        assert_eq!(report.counters.packets_dropped.iter().sum::<u64>(), 0);
        assert_eq!(report.flows_finished, 15);
        let frames: u64 = report.links.iter().map(|link| link.port.unwrap().pause_frames).sum();
        assert!(frames > 10 && frames == report.counters.packets_of_switches);
    }
}

#[test]
fn frames_that_switches_make_are_not_lost_in_lossless_queues_either() {
    for shared in [None, Some(0.125), Some(1.0)] {
        let fabric = Drawn::plain(3_000, shared, [2, 2, 8]).lossless();
        let roce = Protocol::Roce(Box::default());
        let trial = Trial { forwards: Forwards::ConWeave, transport: roce, ..Trial::new(&fabric) };
        // Two incasts that cross, so that answers wait as well.
        let incasts = (0..16).map(|from| (from, if from < 8 { 8 } else { 0 }));
        let (report, _) = incasts.fold(trial, |trial, (from, to)| trial.flow(from, to, 400_000)).run();
        let pauses: u64 = report.links.iter().map(|link| link.port.unwrap().pause_frames).sum();
        assert!(report.counters.packets_of_switches > pauses + 20, "{shared:?}: {pauses} pause frames");
        assert_eq!(report.counters.packets_dropped.iter().sum::<u64>(), 0, "{shared:?}");
        assert_eq!(report.flows_finished, 16, "{shared:?}");
    }
}

#[test]
fn a_lossless_queue_in_a_shared_buffer_grows_beyond_the_queue_limit() {
    let drawn = Drawn::plain(400_000, Some(1.0), [2, 2, 8]);
    let lossless = drawn.lossless();
    let fabric = drawn.build(true, 30_000).with_buffer(lossless.buffer()).unwrap();
    let (report, _) = (1..16).fold(Trial::new(&fabric), |trial, from| trial.flow(from, 0, 400_000)).run();
    let longest = report.links.iter().map(|link| link.counters.max_backlog.0).max();
    assert!(longest > Some(100_000), "{longest:?}");
    assert_eq!(report.counters.packets_dropped.iter().sum::<u64>(), 0);
}

#[test]
fn links_that_fail_while_they_are_paused_start_anew() {
    for (shared, is_switch) in [(None, false), (Some(0.125), false), (None, true), (Some(0.125), true)] {
        let fabric = Drawn::plain(10_000, shared, [2, 3, 4]).lossless();
        let trial = (1..12).fold(Trial::new(&fabric), |trial, from| trial.flow(from, 0, 400_000));
        let cables = ["l0-s0", "l1-s1", "l2-s0"].map(|name| fabric.link_named(name).unwrap());
        let spine = fabric.link(cables[0]).to;
        // One cable after the other, or all of a spine's at once.
        let at_once: Vec<Vec<LinkId>> = match is_switch {
            true => vec![fabric.ports(spine).iter().flat_map(|link| [*link, link.reverse()]).collect()],
            false => cables.iter().map(|link| vec![*link, link.reverse()]).collect(),
        };
        let faults = at_once.into_iter().zip(1_u64..).flat_map(|(links, number)| {
            [(FaultKind::Fail, 0), (FaultKind::Heal, 150)].map(|(kind, later)| {
                let at = Time::ZERO + Duration::from_us(300 * number + later);
                Fault { at, kind, links: links.iter().copied().collect() }
            })
        });
        let trial = Trial { faults: faults.collect(), ..trial };
        let (mut alone, _) = trial.run();
        let lost = |report: &RunReport, reason: DropReason| report.counters.packets_dropped[reason as usize];
        assert_eq!((alone.flows_finished, lost(&alone, DropReason::QueueFull)), (11, 0), "{shared:?}");
        assert!(lost(&alone, DropReason::LinkDown) > 0, "the links are in use");
        for rests in [false, true] {
            let (mut together, _) = Trial { threads: 3, rests, ..trial.clone() }.run();
            (alone.state_bytes, together.state_bytes) = (0, 0);
            assert_eq!(format!("{alone:?}"), format!("{together:?}"), "rests: {rests}");
        }
    }
}
