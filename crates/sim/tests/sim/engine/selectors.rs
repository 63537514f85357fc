//! Hosts that choose paths, by the entropy that switches hash.

use weft_fabric::{Limit, LinkSpec, QueueSpec, build};
use weft_switching::host::over::OverHashing;
use weft_switching::host::path_selector::{Host, Opening, PathSelector};
use weft_switching::{Header, ParamValue, SchemeSpec};
use weft_transport::Segment;
use weft_units::{Duration, NodeId, Time};

use crate::common::{MS, Outcome, Trial, US, gigabit, link, profile, scheme, scheme_of, scheme_with, word};

/// A new path for every segment.
struct EachSegment;

impl PathSelector for EachSegment {
    type Scheme = ();
    type Shared = ();

    fn open(_scheme: &(), _opening: Opening) -> Self {
        Self
    }

    fn stamp(&mut self, _host: &mut Host<'_, Self>, template: &mut Header, _segment: &Segment) {
        template.entropy = template.entropy.wrapping_add(0x9e37_79b9);
    }
}

/// A mistake in a selector's own code, when the source gets its first acknowledgement after 1 ms.
struct Panics;

impl PathSelector for Panics {
    type Scheme = ();
    type Shared = ();

    fn open(_scheme: &(), _opening: Opening) -> Self {
        Self
    }

    fn receive(&mut self, host: &mut Host<'_, Self>, _header: &Header, _segment: &Segment) -> bool {
        assert!(host.now < Time::ZERO + MS(1), "the selector's own words");
        false
    }
}

/// A new path with the tenth acknowledgement, as a reaction to the network.
struct AfterTen {
    acks: u32,
}

impl PathSelector for AfterTen {
    type Scheme = ();
    type Shared = ();

    fn open(_scheme: &(), _opening: Opening) -> Self {
        Self { acks: 0 }
    }

    fn stamp(&mut self, _host: &mut Host<'_, Self>, template: &mut Header, _segment: &Segment) {
        template.entropy = u32::from(self.acks >= 10) * 77;
    }

    fn receive(&mut self, _host: &mut Host<'_, Self>, _header: &Header, _segment: &Segment) -> bool {
        self.acks += 1;
        false
    }
}

/// The packets that each of four spines gets from the source's leaf.
fn by_spine<P: PathSelector<Scheme = ()>>() -> Vec<u64> {
    let fabric = build::spine_leaf(4, 2, 1, &gigabit(US(2)), &gigabit(US(2))).unwrap();
    let trial =
        Trial::linux(&fabric, "ecmp").limit(MS(100)).measured(MS(0), MS(100)).flow(0, 1, 300_000, US(0));
    let report = trial.run_selecting::<P>().report;
    assert_eq!(report.flows_finished, 1);
    let leaf = fabric.link(fabric.ports(fabric.hosts()[0])[0]).to;
    let to_spine = |node: NodeId| !fabric.node(node).is_host();
    let up = fabric.ports(leaf).iter().filter(|link| to_spine(fabric.link(**link).to));
    up.map(|link| report.links[link.index()].counters.packets).collect()
}

#[test]
fn a_host_that_changes_the_entropy_of_each_segment_uses_all_paths() {
    let packets = by_spine::<EachSegment>();
    let all: u64 = packets.iter().sum();
    assert!(packets.iter().all(|count| *count * 8 > all), "{packets:?}");
}

#[test]
fn a_host_that_changes_once_uses_two_paths() {
    let packets = by_spine::<AfterTen>();
    assert_eq!(packets.iter().filter(|count| **count > 0).count(), 2, "{packets:?}");
}

#[test]
#[should_panic(expected = "the selector's own words")]
fn a_panic_on_a_helping_thread_is_the_panic_of_the_run() {
    let fabric = build::spine_leaf(2, 2, 1, &gigabit(US(2)), &gigabit(US(2))).unwrap();
    let trial = Trial::linux(&fabric, "ecmp").limit(MS(100)).flow(1, 0, 3_000_000, US(0));
    trial.threads(2).run_selecting::<Panics>();
}

/// The packets at each of four spines of flows from all hosts of a leaf to another one, and the run.
fn spread(scheme: SchemeSpec, hosts: u32, bytes: u64) -> (Vec<u64>, Outcome) {
    let fabric = build::spine_leaf(4, 2, hosts, &gigabit(US(2)), &gigabit(US(2))).unwrap();
    let mut trial = Trial::new(&fabric, scheme, profile("dctcp")).limit(MS(500)).measured(MS(0), MS(500));
    for host in 0..hosts {
        trial = trial.flow(host, hosts + host, bytes, US(0));
    }
    let outcome = trial.run();
    assert_eq!(outcome.report.flows_finished, u64::from(hosts));
    let up = ["s0", "s1", "s2", "s3"].map(|spine| link(&fabric, &format!("l0-{spine}")));
    (up.map(|id| outcome.packets(id)).to_vec(), outcome)
}

#[test]
fn drb_uses_all_paths_alike() {
    let (packets, _) = spread(scheme("drb"), 1, 1_000_000);
    let (most, least) = (packets.iter().max().unwrap(), packets.iter().min().unwrap());
    assert!(most - least <= 1, "{packets:?}");
}

#[test]
fn presto_uses_all_paths_and_its_destination_restores_the_order() {
    let late = |wait: Duration| {
        let spec = scheme_with("presto", "wait", ParamValue::Duration(wait));
        // Twice as much as the uplinks can carry, so that queues differ.
        let (packets, outcome) = spread(spec, 8, 2_000_000);
        let (most, least) = (packets.iter().max().unwrap(), packets.iter().min().unwrap());
        assert!(*least * 10 > *most * 9, "{packets:?}");
        outcome.flows.iter().map(|flow| flow.out_of_order).sum::<u64>()
    };
    let (restored, passed_on) = (late(MS(50)), late(Duration::PICOSECOND));
    assert!(restored == 0 && passed_on > 10, "{restored} and {passed_on}");
}

#[test]
fn flowbender_and_plb_leave_a_path_on_which_flows_collide() {
    let fabric = build::spine_leaf(4, 2, 4, &marking(), &marking()).unwrap();
    // Two flows of DCTCP mark less than half of their packets, which is below the default of PLB.
    let eager = [("marked", ParamValue::Count(10)), ("rounds", ParamValue::Count(3))];
    let slowest = |spec: &SchemeSpec, seed| {
        let trial = Trial::new(&fabric, spec.clone(), profile("dctcp")).seed(seed).limit(MS(2_000));
        let outcome = (0..4).fold(trial, |trial, host| trial.flow(host, 4 + host, 10_000_000, US(0))).run();
        (0..4).map(|flow| outcome.fct(flow)).max().unwrap()
    };
    let total = |spec| (0..8).map(|seed| slowest(&spec, seed).as_secs_f64()).sum::<f64>();
    let stayed = total(scheme("ecmp"));
    for spec in [scheme("flowbender"), scheme_of("plb", eager)] {
        let (name, moved) = (spec.name.clone(), total(spec));
        assert!(moved < 0.75 * stayed, "{name}: {moved} s, ECMP {stayed} s");
    }
}

fn marking() -> LinkSpec {
    gigabit(US(2)).with_queue(QueueSpec::fifo(Limit::Packets(200)).marking(Limit::Packets(20)))
}

#[test]
fn a_host_scheme_runs_over_every_scheme_that_it_names() {
    let fabric = build::fat_tree(4, &marking(), &marking()).unwrap();
    for over in OverHashing::WORDS {
        let spec = scheme_with("plb", "over", word(over));
        let trial = Trial::new(&fabric, spec, profile("dctcp")).limit(MS(500)).flow(0, 15, 500_000, US(0));
        assert_eq!(trial.run().report.flows_finished, 1, "{over}");
    }
}

/// One flow of each host is the first one of its source, which knows nothing of the paths yet.
#[test]
fn first_flows_of_many_hosts_spread_over_all_paths() {
    let fabric = build::spine_leaf(4, 2, 32, &gigabit(US(2)), &gigabit(US(2))).unwrap();
    for name in ["clove", "hermes"] {
        let trial = (0..32).fold(Trial::linux(&fabric, name).limit(MS(500)), |trial, host| {
            trial.flow(host, host + 32, 10_000, MS(u64::from(host)))
        });
        let outcome = trial.run();
        let packets: Vec<u64> =
            (0..4).map(|spine| outcome.packets(link(&fabric, &format!("l0-s{spine}")))).collect();
        let all: u64 = packets.iter().sum();
        assert!(packets.iter().all(|packets| (all / 16..all / 2).contains(packets)), "{name}: {packets:?}");
    }
}
