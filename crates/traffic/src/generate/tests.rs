//! Tests of [`generate`].

use super::*;
use std::collections::HashMap;

use crate::arrivals::Arrivals;
use crate::collective::{Algorithm, Collective};
use crate::flow::Flow;
use crate::lane::Lane;
use crate::load_of::LoadOf;
use crate::pairs::Pairs;
use crate::placement::Placement;
use crate::places::tests::spine_leaf;
use crate::published;
use crate::stragglers::Stragglers;
use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use weft_units::HostId;

const CLASSES: Thresholds = Thresholds { mouse: Bytes(10_000), elephant: Bytes(10_000_000) };

fn drawn(load: f64) -> Drawn {
    Drawn {
        sizes: published::named("web-search").unwrap().sizes(),
        arrivals: Arrivals::Poisson,
        intensity: Some(Intensity::Load { share: load, of: LoadOf::FabricUplinks }),
        count: None,
        pairs: Pairs::InterLeaf,
        start: Duration::ZERO,
        jitter: Duration::ZERO,
    }
}

fn run(groups: &[Group], places: &Places, seconds: u64, seed: u64) -> Result<Traffic, TrafficError> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    generate(groups, places, &CLASSES, Duration::from_secs(seconds), &mut rng)
}

fn group(flows: Flows) -> Group {
    Group { class: None, dscp: 0, elephant_ports: None, lane: Lane::Any, stragglers: Stragglers::NONE, flows }
}

fn one(drawn: Drawn) -> Vec<Group> {
    vec![group(Flows::Drawn(drawn))]
}

/// A listed flow at the start.
fn listed(src: u32, dst: u32, bytes: u64) -> ListedFlow {
    let (src, dst) = (HostId(src), HostId(dst));
    ListedFlow { src, dst, bytes, start: Time::ZERO, class: None, dscp: None, ports: None, lane: Lane::Any }
}

#[test]
fn the_realised_load_is_the_load_asked_for() {
    let places = spine_leaf(4, 4, 20);
    for (of, pairs, arrivals) in [
        (LoadOf::FabricUplinks, Pairs::InterLeaf, Arrivals::Poisson),
        (LoadOf::FabricUplinks, Pairs::RackLocal { share: 0.5 }, Arrivals::Poisson),
        (LoadOf::FabricUplinks, Pairs::Incast { fan_in: 10, receiver: None }, Arrivals::Fixed),
        (LoadOf::HostLinks, Pairs::Random, Arrivals::Fixed),
        (LoadOf::HostLinks, Pairs::AllToAll, Arrivals::Poisson),
    ] {
        let spec =
            Drawn { intensity: Some(Intensity::Load { share: 0.15, of }), pairs, arrivals, ..drawn(0.0) };
        let traffic = run(&one(spec.clone()), &places, 60, 5).unwrap();
        let load = traffic.offered_load.unwrap();
        assert!((load / 0.15 - 1.0).abs() < 0.08, "{spec:?}: {load}");
        assert_eq!(traffic.load_of, of);
        assert_eq!(traffic.classes, ["mouse", "rabbit", "elephant"]);
    }
}

#[test]
fn a_sweep_over_the_load_keeps_sizes_and_pairs() {
    let places = spine_leaf(4, 4, 20);
    let [low, high] = [0.2, 0.4].map(|load| run(&one(drawn(load)), &places, 10, 1).unwrap().flows);
    let same = |a: &Flow, b: &Flow| (a.src, a.dst, a.bytes, a.sport) == (b.src, b.dst, b.bytes, b.sport);
    assert!(low.len() > 100 && low.iter().zip(&high).all(|(low, high)| same(low, high)));
}

#[test]
fn a_group_keeps_its_flows_when_others_change_come_or_go() {
    let places = spine_leaf(2, 2, 4);
    let named = |class: Option<&str>, count| Group {
        class: class.map(str::to_owned),
        ..group(Flows::Drawn(Drawn { intensity: None, count: Some(count), ..drawn(0.0) }))
    };
    let [short, other] = [named(Some("short"), 20), named(Some("short"), 21)];
    let shorts = |groups: &[Group]| {
        let traffic = run(groups, &places, 1, 3).unwrap();
        let short = traffic.classes.iter().position(|class| class == "short").unwrap();
        let flows = traffic.flows.iter().filter(|flow| usize::from(flow.class) == short);
        flows.map(|flow| (flow.start, flow.src, flow.dst, flow.bytes)).collect::<Vec<_>>()
    };
    let alone = shorts(std::slice::from_ref(&short));
    assert_eq!(alone.len(), 20);
    for before in [named(Some("long"), 5), named(Some("long"), 9), named(Some("shor"), 5), named(None, 5)] {
        assert_eq!(alone, shorts(&[before.clone(), short.clone()]), "{:?} before", before.class);
        assert_eq!(alone, shorts(&[short.clone(), before]));
    }
    let both = shorts(&[short, other]);
    assert!(both.len() == 41 && alone.iter().all(|flow| both.contains(flow)));
    let second: Vec<_> = both.iter().filter(|flow| !alone.contains(flow)).collect();
    assert_eq!(second.len(), 21, "the second group of a name draws flows of its own");
}

#[test]
fn elephants_and_only_they_have_ports_of_the_range_asked_for() {
    let group = Group { elephant_ports: Some((3_500, 3_502)), ..group(Flows::Drawn(drawn(0.4))) };
    let traffic = run(&[group], &spine_leaf(2, 2, 2), 60, 1).unwrap();
    let is_large = |flow: &&Flow| flow.bytes > CLASSES.elephant.0;
    let (large, small): (Vec<&Flow>, Vec<&Flow>) = traffic.flows.iter().partition(is_large);
    assert!(large.len() > 10 && small.len() > 100, "{} of {}", large.len(), traffic.flows.len());
    let ports: Vec<(u16, u16)> = large.iter().map(|flow| (flow.sport, flow.dport)).collect();
    assert_eq!(ports[..4], [(3_500, 5_001), (3_501, 5_001), (3_502, 5_001), (3_500, 5_002)]);
    assert!(small.iter().all(|flow| crate::EPHEMERAL.contains(&flow.sport)));
}

#[test]
fn flows_carry_the_dscp_of_their_group_unless_they_have_their_own() {
    let own = ListedFlow { dscp: Some(46), ..listed(2, 7, 5) };
    let count = Drawn { intensity: None, count: Some(3), start: Duration::from_ms(1), ..drawn(0.0) };
    let groups = [
        Group { dscp: 8, ..group(Flows::Listed(vec![listed(1, 7, 5), own])) },
        Group { dscp: 63, ..group(Flows::Drawn(count)) },
    ];
    let traffic = run(&groups, &spine_leaf(2, 2, 4), 1, 3).unwrap();
    assert_eq!(traffic.flows.iter().map(|flow| flow.dscp).collect::<Vec<_>>(), [8, 46, 63, 63, 63]);
}

#[test]
fn flows_at_once_go_through_the_pattern_once() {
    let places = spine_leaf(2, 2, 4);
    for (pairs, flows) in [
        (Pairs::Permutation, 8),
        (Pairs::AllToAll, 56),
        (Pairs::Incast { fan_in: 5, receiver: Some(HostId(7)) }, 5),
    ] {
        let spec = Drawn { arrivals: Arrivals::AtOnce, intensity: None, pairs, ..drawn(0.0) };
        let traffic = run(&one(spec), &places, 1, 3).unwrap();
        assert_eq!((traffic.flows.len(), traffic.offered_load), (flows, None));
    }
}

#[test]
fn flows_that_arrive_at_a_rate_are_distinguished_from_others() {
    let places = spine_leaf(4, 4, 2);
    let at_once =
        Drawn { arrivals: Arrivals::AtOnce, intensity: None, pairs: Pairs::Permutation, ..drawn(0.0) };
    let number = Drawn { intensity: None, count: Some(5), ..drawn(0.0) };
    let of = |groups: &[Group]| run(groups, &places, 1, 3).unwrap();
    assert_eq!(of(&one(drawn(0.1))).arriving, Arriving::All);
    assert_eq!(of(&one(at_once)).arriving, Arriving::None);
    assert_eq!(of(&one(number)).arriving, Arriving::None);
    let late = ListedFlow { start: Time::ZERO + Duration::from_ms(500), ..listed(0, 7, 1) };
    let mixed = of(&[group(Flows::Listed(vec![late])), group(Flows::Drawn(drawn(0.1)))]);
    for flow in &mixed.flows {
        assert_eq!(mixed.arriving.has(flow.id), flow.bytes != 1, "{flow:?}");
    }
}

#[test]
fn jitter_gives_each_pair_of_ranks_an_earliest_start_and_keeps_the_order_of_its_messages() {
    let places = spine_leaf(2, 2, 4);
    let of = |algorithm, rounds, ms| {
        let (start, jitter) = (Duration::from_ms(3), Duration::from_ms(ms));
        // Parts of 1000 and 1001 bytes.
        let once = Collective::new(algorithm, 8003, 1);
        let all = Collective { rounds, start, jitter, reuse: Reuse::Persistent, ..once };
        let ranks = Ranks::Placed(None, Placement::Rack, 0);
        run(&[group(Flows::Collective(all, ranks, None))], &places, 1, 3).unwrap()
    };
    let start = Time::ZERO + Duration::from_ms(3);
    for (algorithm, rounds, pairs) in
        [(Algorithm::AllToAll, 2, 56), (Algorithm::RingAllReduce, 2, 8), (Algorithm::Pipeline, 1, 7)]
    {
        let (jittered, same) = (of(algorithm, rounds, 5), of(algorithm, rounds, 0));
        assert!(same.flows.iter().all(|flow| flow.start == start));
        let mut delays = HashMap::new();
        for flow in &jittered.flows {
            assert!(flow.start >= start && flow.start < start + Duration::from_ms(5), "{flow:?}");
            let first = *delays.entry((flow.src, flow.dst)).or_insert(flow.start);
            assert_eq!(first, flow.start, "{algorithm:?}");
        }
        assert_eq!(delays.len(), pairs);
        assert_eq!(delays.values().collect::<HashSet<_>>().len(), pairs, "each has its own delay");
        // The messages of a connection stay in order.
        let messages = |traffic: &Traffic| {
            let ends = (jittered.flows[0].src, jittered.flows[0].dst);
            let of = traffic.flows.iter().filter(|flow| (flow.src, flow.dst) == ends);
            of.map(|flow| flow.bytes).collect::<Vec<_>>()
        };
        assert_eq!(messages(&jittered), messages(&same));
        let bounds = |traffic: &Traffic| {
            traffic.jobs.list().iter().map(|job| (job.bound.time, job.flows)).collect::<Vec<_>>()
        };
        assert_eq!(bounds(&jittered), bounds(&same));
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let places = spine_leaf(4, 4, 20);
    let twice = |flow: ListedFlow| vec![group(Flows::Listed(vec![flow.clone(), flow]))];
    let chunks = |chunks| {
        let ranks = Ranks::Placed(Some(8), Placement::Rack, 0);
        Flows::Collective(Collective::new(Algorithm::Pipeline, chunks, chunks), ranks, None)
    };
    let flood = Drawn { intensity: Some(Intensity::FlowsPerSecond(1e12)), ..drawn(0.0) };
    let many = Drawn { intensity: None, count: Some(u64::MAX), ..drawn(0.0) };
    let local = Drawn { pairs: Pairs::RackLocal { share: 1.0 }, ..drawn(0.5) };
    let endless = Drawn { intensity: None, arrivals: Arrivals::AtOnce, ..drawn(0.0) };
    for (groups, part) in [
        (one(drawn(0.0)), "load is 0"),
        (one(drawn(f64::NAN)), "load is NaN"),
        (one(flood), "at most 50000000"),
        (one(many), "at most 50000000"),
        (vec![group(chunks(1_428_571)), group(chunks(1))], "10000004 flows; a run can have at most 10000000"),
        (one(local), "no flow leaves its rack"),
        (one(Drawn { arrivals: Arrivals::AtOnce, ..drawn(0.5) }), "all start at once cannot have a load"),
        (one(endless), "the number of flows is not given"),
        (one(Drawn { pairs: Pairs::Listed(vec![]), ..drawn(0.5) }), "list of pairs is empty"),
        (twice(listed(1, 1, 5)), "flow 1: its source and destination are both `h1`"),
        (twice(listed(1, 80, 5)), "no host 80"),
        (twice(listed(1, 2, 0)), "0 bytes"),
        (twice(ListedFlow { ports: Some((7, 8)), ..listed(1, 2, 5) }), "ports 7 and 8"),
    ] {
        let error = run(&groups, &places, 1, 3).unwrap_err().to_string();
        assert!(error.contains(part), "{error}, not {part}");
    }
}

proptest! {
    #[test]
    fn flows_are_in_order_with_their_place_as_id_and_ports_of_their_own(
        load in 0.01..1.5_f64,
        seed: u64,
        jitter in 0..1_000_000_000_u64,
    ) {
        let places = spine_leaf(2, 3, 3);
        let spec = Drawn { jitter: Duration::from_ps(jitter), ..drawn(load) };
        let traffic = run(&one(spec), &places, 2, seed).unwrap();
        let mut ports = HashSet::new();
        for (at, flow) in traffic.flows.iter().enumerate() {
            prop_assert_eq!(flow.id.index(), at);
            prop_assert!(ports.insert((flow.sport, flow.dport)));
        }
        prop_assert!(traffic.flows.is_sorted_by_key(|flow| flow.start));
    }
}

#[test]
fn a_table_chooses_the_algorithm_by_size_and_its_protocol_adds_bytes() {
    let places = spine_leaf(2, 4, 2);
    let table = "allreduce,0,12000,tree,simple,-1,8,8\nallreduce,0,1000000,ring,ll128,2,-1,-1\nallgather,0,9,ring,ll,-1,-1,-1";
    let tuned = |bytes: u64, ranks: u64| {
        let (tuner, ranks) =
            (crate::read_tuner(table.as_bytes()).unwrap(), Ranks::Placed(Some(ranks), Placement::Rack, 0));
        let collective = Collective::new(Algorithm::RingAllReduce, bytes, 1);
        let traffic =
            run(&[group(Flows::Collective(collective, ranks, Some(tuner)))], &places, 1, 3).unwrap();
        let sum: u64 = traffic.flows.iter().map(|flow| flow.bytes).sum();
        (traffic.jobs.list()[0].kind, traffic.flows.len(), sum)
    };
    assert_eq!(tuned(12_000, 8), ("double-tree-all-reduce", 4 * 7, 2 * 7 * 12_000));
    // Seven servers: two channels around a ring, 128 bytes for 120.
    assert_eq!(tuned(8_400, 7), ("ring-all-reduce", 2 * 7 * 12, 2 * 6 * 8_400 * 128 / 120));
    assert_eq!(tuned(2_000_000, 8), ("ring-all-reduce", 8 * 14, 14 * 2_000_000));
}
