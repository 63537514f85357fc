//! A run has the same results with any number of threads: partitions of the fabric change nothing.

use proptest::prelude::*;
use weft_fabric::{Fabric, FabricBuilder, Limit, LinkSpec, QueueSpec, build};
use weft_sim::fault::{Fault, FaultKind};
use weft_sim::rounds;
use weft_switching::{ParamValue, SchemeSpec, registry};
use weft_transport::{Config, Mptcp};
use weft_units::{LinkId, Rate, Time};

use crate::common::{MS, Outcome, Trial, US, profile, scheme, scheme_of, scheme_with, word};
use crate::theory::conservation::{any_fabric, any_flows, any_leaf_spine, any_scheme_of_tiers, any_trial};

/// All that a run says, except for the memory that it held.
pub fn said(outcome: Outcome) -> String {
    let Outcome { mut report, flows, recorded, samples } = outcome;
    report.state_bytes = 0;
    let flows: String = flows.iter().map(|flow| format!("{flow:?}\n")).collect();
    format!("{report:#?}\n{flows}{recorded:#?}\n{samples:?}")
}

/// Compares the run on one thread by the event queue with runs on these numbers of threads, with those in rounds, and with
/// one whose helping threads rest at times.
pub fn same_with_threads(trial: &Trial<'_>, threads: &[usize], run: impl Fn(&Trial<'_>) -> Outcome) {
    let trial = Trial { rounds: Some(false), ..trial.clone() };
    let alone = said(run(&trial));
    let others = threads.iter().map(|count| (*count, false, false));
    let in_rounds = std::iter::once(&1).chain(threads.last()).map(|count| (*count, true, false));
    let resting = threads.last().map(|count| (*count, true, true));
    for (threads, rounds, rests) in others.chain(in_rounds).chain(resting) {
        let other = said(run(&Trial { threads, rounds: Some(rounds), rests, ..trial.clone() }));
        let differs = alone.lines().zip(other.lines()).enumerate().find(|(_, (a, b))| a != b);
        let is_same = differs.is_none() && alone.len() == other.len();
        assert!(is_same, "{threads} threads, rounds: {rounds}, rests: {rests}: {differs:?}");
    }
}

fn schemes() -> Vec<SchemeSpec> {
    let names = registry().iter().map(|known| known.name);
    let choices = ["least-loaded", "spray"].map(|choice| scheme_with("tag_forward", "choice", word(choice)));
    let ports = scheme_with("tfe", "classifier", word("auto"));
    let small = scheme_with("spanning_tree", "table_size", ParamValue::Count(2));
    let interval = ("interval", ParamValue::Duration(MS(2)));
    let placements = ["first-fit", "annealing"]
        .map(|name| scheme_of("hedera", [interval.clone(), ("placement", word(name))]));
    names.map(scheme).chain(choices).chain(placements).chain([ports, small]).collect()
}

fn transports() -> Vec<Config> {
    let plain = ["linux", "dctcp", "ns3-3.37"].map(profile);
    let multipath = [Mptcp::Ndiffports, Mptcp::Fullmesh].map(|mptcp| Config { mptcp, ..profile("linux") });
    plain.into_iter().chain(multipath).collect()
}

pub fn link() -> LinkSpec {
    LinkSpec::new(Rate::from_gbps(1), US(2)).with_queue(QueueSpec::fifo(Limit::Packets(30)))
}

/// Crossing flows with pauses; a cable fails and heals, then two at once.
pub fn busy(fabric: &Fabric, scheme: SchemeSpec, transport: Config) -> Trial<'_> {
    let trial = Trial::new(fabric, scheme, transport).limit(MS(250)).sampled(MS(1)).measured(MS(1), MS(9));
    let hosts = fabric.host_count() as u32;
    let mut trial = (0..24).fold(trial, |trial, number| {
        let (src, dst) = (number % hosts, (number * 5 + 3 + number / hosts) % hosts);
        let dst = if src == dst { (dst + 1) % hosts } else { dst };
        trial.flow(src, dst, u64::from(number % 4) * 60_000 + 900, US(u64::from(number) * 250))
    });
    let between = |id: &LinkId| {
        let link = fabric.link(*id);
        ![link.from, link.to].iter().any(|node| fabric.node(*node).is_host())
    };
    let cables: Vec<LinkId> = (0..fabric.links().len() as u32).map(LinkId).filter(between).collect();
    for (ms, kind, cable) in
        [(3, FaultKind::Fail, 0), (6, FaultKind::Heal, 0), (8, FaultKind::Fail, 4), (8, FaultKind::Fail, 10)]
    {
        trial.faults.push(Fault::of_cable(Time::ZERO + MS(ms), kind, cables[cable]));
    }
    trial
}

#[test]
fn every_scheme_and_transport_says_the_same_with_any_number_of_threads() {
    let leaf_spine = build::spine_leaf(3, 4, 3, &link(), &link()).expect("the sizes are positive");
    let fat_tree = build::fat_tree(4, &link(), &link()).expect("the arity is even");
    assert!([&leaf_spine, &fat_tree].into_iter().all(rounds::are_possible));
    for scheme in schemes() {
        let fabric = if scheme.name == "tag_forward" { &fat_tree } else { &leaf_spine };
        for transport in transports() {
            println!("{scheme:?}, {:?}", transport.mptcp);
            same_with_threads(&busy(fabric, scheme.clone(), transport), &[2, 3, 4, 8], |trial| trial.run());
        }
    }
}

/// Two leaves with one host each.
fn pair() -> Fabric {
    build::spine_leaf(2, 2, 1, &link(), &link()).expect("the sizes are positive")
}

#[test]
fn a_flow_that_starts_beyond_the_queues_range_changes_nothing() {
    for (bytes, scheme) in [(1_000_000, "ecmp"), (60_000, "smoc"), (60_000, "tcp_path")] {
        let fabric = pair();
        let trial = Trial::linux(&fabric, scheme).limit(MS(4_000_000));
        let trial = trial.flow(0, 1, bytes, MS(0)).flow(1, 0, bytes, MS(2_000_000));
        let outcome = trial.run();
        assert_eq!(outcome.report.flows_finished, 2);
        assert_eq!(outcome.flows.iter().map(|flow| flow.timeouts).sum::<u64>(), 0, "{scheme}");
        same_with_threads(&trial, &[2], |trial| trial.run());
    }
}

#[test]
fn a_switch_without_links_changes_nothing() {
    let mut builder = FabricBuilder::new("with a lone switch");
    let mut switch = |name: &str| builder.add_switch(name, 1, None).expect("a new name");
    let [_lone, left, right] = ["lone", "left", "right"].map(&mut switch);
    for (name, leaf) in [("h0", left), ("h1", right)] {
        let host = builder.add_host(name, 0, None).expect("a new name");
        builder.connect(host, leaf, &link()).expect("both exist");
    }
    builder.connect(left, right, &link()).expect("both exist");
    let fabric = builder.build().expect("it is complete");
    let trial = Trial::linux(&fabric, "ecmp").flow(0, 1, 100_000, MS(0));
    same_with_threads(&trial, &[2], |trial| trial.run());
}

#[test]
fn unfinished_flows_are_recorded_in_the_same_order() {
    let fabric = build::spine_leaf(2, 4, 2, &link(), &link()).expect("the sizes are positive");
    let mut trial = Trial::linux(&fabric, "ecmp").limit(MS(5));
    for (place, src) in [5, 0, 3, 1, 4, 2].into_iter().enumerate() {
        trial = trial.flow(src, 7, 10_000_000, US(10 * place as u64));
    }
    assert_eq!(trial.run().report.flows_finished, 0);
    same_with_threads(&trial, &[2, 3, 4], |trial| trial.run());
}

#[test]
fn timers_of_flows_that_have_left_do_not_move_the_end() {
    let fabric = build::spine_leaf(2, 4, 2, &link(), &link()).expect("the sizes are positive");
    let mut trial = Trial::linux(&fabric, "ecmp").limit(MS(400)).flow(0, 7, 1_000_000, MS(30));
    for number in 0..700_u64 {
        trial = trial.flow(number as u32 % 6, 6, 600, US(40 * number));
    }
    trial.flows.sort_by_key(|flow| flow.start);
    // The one flow that is left can no longer reach its destination.
    let host = fabric.ports(fabric.hosts()[7])[0];
    trial.faults.push(Fault::of_cable(Time::ZERO + MS(31), FaultKind::Fail, host));
    assert_eq!(trial.run().report.flows_finished, 700);
    same_with_threads(&trial, &[2, 4], |trial| trial.run());
}

proptest! {
    #![proptest_config(crate::common::cases(64))]

    #[test]
    fn random_fabrics_say_the_same_with_any_number_of_threads(
        fabric in any_fabric(),
        scheme in prop::sample::select(
            registry().iter().filter(|known| !known.is_choosy()).map(|known| scheme(known.name)).collect::<Vec<_>>()
        ),
        transport in prop::sample::select(transports()),
        flows in any_flows(),
        faults in prop::collection::vec((any::<prop::sample::Index>(), 0_u64..30_000, any::<bool>()), 0..6),
        seed in any::<u64>(),
    ) {
        let trial = any_trial(&fabric, scheme, transport, &flows, &faults).seed(seed).limit(MS(100));
        same_with_threads(&trial, &[2, 5], |trial| trial.run());
    }

    #[test]
    fn random_leaf_spines_say_the_same_with_any_number_of_threads(
        fabric in any_leaf_spine(),
        scheme in any_scheme_of_tiers(),
        transport in prop::sample::select(transports()),
        flows in any_flows(),
        faults in prop::collection::vec((any::<prop::sample::Index>(), 0_u64..30_000, any::<bool>()), 0..6),
        seed in any::<u64>(),
    ) {
        let trial = any_trial(&fabric, scheme, transport, &flows, &faults).seed(seed).limit(MS(100));
        same_with_threads(&trial, &[2, 5], |trial| trial.run());
    }
}
