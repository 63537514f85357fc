//! ARP-Path, TCP-Path and TFE in the engine: addresses are resolved, control frames take time and
//! bandwidth, flows spread, and change paths when one breaks.

use weft_fabric::{Fabric, build};
use weft_switching::{DropReason, ParamValue, SchemeSpec};
use weft_units::{Bytes, Duration, Time};

use crate::common::{
    MS, Outcome, Trial, US, exploring, gigabit, link, profile, scheme, scheme_of, scheme_with, word,
};

/// Four spines, four leaves, two hosts per leaf; every link 1 Gbps and 1 us.
pub fn fabric() -> Fabric {
    build::spine_leaf(4, 4, 2, &gigabit(US(1)), &gigabit(US(1))).unwrap()
}

/// Bytes sent on the uplinks of the first leaf, by spine.
fn uplinks(fabric: &Fabric, outcome: &Outcome) -> Vec<u64> {
    (0..4).map(|spine| outcome.link(link(fabric, &format!("l0-s{spine}"))).counters.wire_bytes).collect()
}

#[test]
fn a_flow_starts_with_a_question_and_the_next_one_to_the_same_host_does_not() {
    let fabric = fabric();
    for name in exploring() {
        let trial = Trial::linux(&fabric, name).flow(0, 2, 1_000, MS(1));
        let outcome = trial.flow(0, 2, 1_000, MS(20)).run();
        assert_eq!(outcome.report.flows_finished, 2, "{name}");
        // Request and reply cross four links each, with 84 bytes and 1 us per link.
        let question = US(8) + Duration::from_ns(8 * 672);
        let longer = outcome.fct(0).ps().abs_diff((outcome.fct(1) + question).ps());
        assert!(longer < 1_000_000, "{name}: {:?} and {:?}", outcome.fct(0), outcome.fct(1));
    }
}

#[test]
fn without_a_cache_every_flow_asks() {
    let fabric = fabric();
    let never = scheme_with("tcp_path", "arp_cache", ParamValue::Duration(Duration::ZERO));
    let run = |scheme| {
        let trial = Trial::new(&fabric, scheme, profile("linux")).flow(0, 2, 1_000, MS(1));
        trial.flow(0, 2, 1_000, MS(20)).run().report.counters.packets_copied
    };
    assert!(run(never) > run(scheme("tcp_path")));
}

#[test]
fn a_question_that_nobody_answers_is_asked_again_until_the_path_heals() {
    let fabric = fabric();
    let trial = Trial::linux(&fabric, "arp_path").flow(0, 2, 1_000, MS(1));
    let outcome =
        trial.clone().fail(Duration::ZERO, "h2-l1").heal(MS(1_500), "h2-l1").limit(MS(60_000)).run();
    assert_eq!(outcome.report.flows_finished, 1);
    // A host port works again once its link is up; the ARP Request is repeated every second.
    let (earliest, latest) = (MS(2_000), MS(2_001));
    assert!((earliest..latest).contains(&outcome.fct(0)), "{:?}", outcome.fct(0));
    let never = trial.fail(Duration::ZERO, "h2-l1").limit(MS(5_000)).run();
    assert_eq!((never.report.flows_finished, never.flows.len()), (0, 1));
}

#[test]
fn long_flows_at_once_take_paths_of_their_own_where_hashing_collides() {
    let fabric = fabric();
    let start = |scheme: SchemeSpec| {
        // Two hosts of the first leaf, two flows each, starting one after another while the others send.
        let mut trial = Trial::new(&fabric, scheme, profile("linux")).limit(MS(400));
        for flow in 0..4_u32 {
            trial = trial.flow(flow % 2, 2 + flow, 1 << 30, MS(u64::from(flow) * 50));
        }
        trial.run()
    };
    let tcp_path = start(scheme("tcp_path"));
    let used = uplinks(&fabric, &tcp_path).into_iter().filter(|&bytes| bytes > 1_000_000).count();
    assert!(used >= 3, "{:?}", uplinks(&fabric, &tcp_path));
    assert!(tcp_path.dropped(DropReason::LateCopy) > 0);
    assert_eq!(tcp_path.flows.iter().map(|flow| flow.out_of_order).sum::<u64>(), 0);
}

#[test]
fn a_flow_survives_the_failure_of_its_spine_within_milliseconds() {
    let fabric = fabric();
    let long = Trial::linux(&fabric, "tcp_path").flow(0, 2, 20_000_000, MS(1));
    let whole = long.run();
    let bytes = uplinks(&fabric, &whole);
    let spine = bytes.iter().enumerate().max_by_key(|(_, bytes)| **bytes).unwrap().0;
    for cable in [format!("l0-s{spine}"), format!("s{spine}-l1")] {
        let failed = long.clone().fail(MS(50), &cable).run();
        assert_eq!(failed.report.flows_finished, 1);
        assert!(failed.flows[0].drops > 0);
        let longer = failed.fct(0).ps() - whole.fct(0).ps();
        assert!(longer < MS(600).ps(), "{cable}: {longer} ps longer");
        let elsewhere = uplinks(&fabric, &failed).into_iter().filter(|&bytes| bytes > 1_000_000).count();
        assert_eq!(elsewhere, 2, "{cable}");
    }
}

#[test]
fn tfe_moves_a_flow_once_it_has_grown() {
    let fabric = fabric();
    let megabyte = ParamValue::Bytes(Bytes(1_000_000));
    let auto = scheme_of("tfe", [("classifier", word("auto")), ("elephant_bytes", megabyte)]);
    let run = |bytes| {
        let trial = Trial::new(&fabric, auto.clone(), profile("linux")).flow(0, 2, bytes, MS(1));
        trial.run().report.counters.packets_of_switches
    };
    let hellos = run(900_000);
    assert!(run(1_100_000) > hellos, "the exchange costs control frames");
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let fabric = fabric();
    let run = |seed| {
        let mut trial = Trial::linux(&fabric, "tcp_path").seed(seed);
        for flow in 0..20_u32 {
            trial = trial.flow(flow % 8, (flow + 2) % 8, 100_000, US(u64::from(flow) * 700));
        }
        let outcome = trial.fail(MS(5), "l0-s1").heal(MS(9), "l0-s1").run();
        let ends: Vec<Option<Time>> = outcome.flows.iter().map(|flow| flow.end).collect();
        (ends, outcome.report.counters.packet_hops)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}
