//! Schemes that balance load, under load.

use weft_fabric::{Fabric, Limit, LinkSpec, QueueSpec, build};
use weft_switching::{ParamValue, SchemeSpec};
use weft_units::{Duration, Rate};

use crate::common::{MS, Outcome, Trial, US, profile, scheme, scheme_of, scheme_with, word};

fn fat_tree() -> Fabric {
    let queue = QueueSpec::fifo(Limit::Packets(40));
    let link = LinkSpec::new(Rate::from_gbps(1), US(2)).with_queue(queue);
    build::fat_tree(4, &link, &link).unwrap()
}

/// Crossing flows that overload some links, so that packets are lost.
fn crossing(fabric: &Fabric, scheme: SchemeSpec) -> Outcome {
    let trial = Trial::new(fabric, scheme, profile("linux"));
    let flows = 0..160_u32;
    let trial = flows.fold(trial, |trial, number| {
        let (src, dst) = (number % 16, (number * 7 + 3) % 16);
        let dst = if src == dst { (dst + 5) % 16 } else { dst };
        trial.flow(src, dst, 40_000 + u64::from(number % 5) * 100_000, US(u64::from(number) * 60))
    });
    trial.limit(MS(20_000)).run()
}

#[test]
fn flowcuts_keep_packets_in_order_where_flowlets_of_short_pauses_do_not() {
    let fabric = fat_tree();
    let out_of_order = |outcome: &Outcome| outcome.flows.iter().map(|flow| flow.out_of_order).sum::<u64>();
    let flowlets = scheme_with("letflow", "gap", ParamValue::Duration(Duration::from_us(20)));
    assert!(out_of_order(&crossing(&fabric, flowlets)) > 100);
    let small = scheme_with("flowcut", "flow_table", ParamValue::Count(4));
    for flowcut in [scheme("flowcut"), small] {
        let outcome = crossing(&fabric, flowcut);
        assert_eq!(outcome.report.flows_finished, 160);
        assert!(outcome.flows.iter().map(|flow| flow.drops).sum::<u64>() > 100, "the links are overloaded");
        assert_eq!(out_of_order(&outcome), 0);
    }
}

#[test]
fn a_probe_of_each_switch_crosses_each_link_about_once_an_interval_as_exploration_traffic() {
    let link = LinkSpec::new(Rate::from_gbps(1), US(2));
    let fabric = build::spine_leaf(2, 3, 2, &link, &link).unwrap();
    let outcome = Trial::linux(&fabric, "hula").flow(0, 2, 50_000_000, MS(0)).limit(MS(20)).run();
    // 100 intervals of 200 us.
    for (cable, expected) in [("l0-s0", 100), ("s1-l2", 200), ("h0-l0", 0)] {
        let floods = outcome.link(crate::common::link(&fabric, cable)).floods;
        assert!(floods.explorations.abs_diff(expected) <= 3, "{cable}: {floods:?}");
        // 46 bytes, Ethernet header and checksum, preamble and gap.
        assert_eq!(floods.exploration_bytes, floods.explorations * 84, "{cable}");
        assert_eq!(floods.broadcasts, 0, "{cable}");
    }
}

/// Hosts of the first pod each send an endless flow to the third pod. Under ECMP, some share a link.
#[test]
fn hedera_moves_large_flows_apart_after_the_first_poll() {
    let link = LinkSpec::new(Rate::from_gbps(1), US(2));
    let fabric = build::fat_tree(4, &link, &link).unwrap();
    let rates = |spec: SchemeSpec, seed: u64, from: Duration| -> Vec<f64> {
        let trial = Trial::new(&fabric, spec, profile("dctcp")).seed(seed).limit(MS(100)).sampled(MS(10));
        (0..4).fold(trial, |trial, host| trial.flow(host, 8 + host, 1 << 30, US(0))).run().rates(from)
    };
    let least = |rates: &[f64]| rates.iter().copied().fold(f64::MAX, f64::min);
    let collides = |seed: &u64| least(&rates(scheme("ecmp"), *seed, MS(60))) < 0.7e9;
    let seeds: Vec<u64> = (1..20).filter(collides).take(3).collect();
    assert_eq!(seeds.len(), 3);
    for (seed, placement) in seeds.iter().flat_map(|seed| [(*seed, "first-fit"), (*seed, "annealing")]) {
        let interval = ("interval", ParamValue::Duration(MS(20)));
        let spec = scheme_of("hedera", [interval, ("placement", word(placement))]);
        let found = rates(spec, seed, MS(60));
        assert!(least(&found) > 0.85e9, "{placement}, seed {seed}: {found:?}");
    }
}
