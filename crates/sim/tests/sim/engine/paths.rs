//! The links that packets take under each scheme.

use weft_fabric::{Fabric, Limit, LinkSpec, QueueSpec, SpanningTree, build};
use weft_switching::{DropReason, ParamValue};
use weft_units::{Duration, LinkId, Rate};

use crate::common::paths::single_path;
use crate::common::statistics::is_even;
use crate::common::{Outcome, Trial, US, gigabit, link, profile, scheme_with, word};

fn fat_tree(k: u32) -> Fabric {
    let spec = LinkSpec::new(Rate::from_gbps(10), Duration::from_us(1));
    build::fat_tree(k, &spec, &spec).unwrap()
}

/// Packets per core, on the links from pod 0.
fn by_core(fabric: &Fabric, outcome: &Outcome, half: u32) -> Vec<u64> {
    let up = (0..half * half).map(|core| link(fabric, &format!("a{}-c{core}", core / half)));
    up.map(|link| outcome.packets(link)).collect()
}

fn used(outcome: &Outcome) -> Vec<LinkId> {
    let links = outcome.report.links.iter().filter(|link| link.counters.packets > 0);
    links.map(|link| link.id).collect()
}

#[test]
fn single_path_takes_the_lowest_next_hop_and_no_other_link() {
    let fabric = fat_tree(4);
    for (src, dst) in [(0, 1), (0, 2), (0, 15), (9, 4)] {
        let trial = Trial::linux(&fabric, "single_path");
        let outcome = trial.flow(src, dst, 500_000, Duration::ZERO).run();
        let mut expected = [single_path(&fabric, src, dst), single_path(&fabric, dst, src)].concat();
        expected.sort_unstable();
        assert_eq!(used(&outcome), expected, "h{src} to h{dst}");
        assert_eq!(outcome.flows[0].out_of_order, 0);
    }
    let names: Vec<_> = single_path(&fabric, 0, 15).into_iter().map(|id| fabric.link_label(id)).collect();
    assert_eq!(names, ["h0->e0", "e0->a0", "a0->c0", "c0->a6", "a6->e7", "e7->h15"]);
}

#[test]
fn ecmp_keeps_a_flow_on_one_path_in_order() {
    let fabric = fat_tree(4);
    for sport in 0..60 {
        let mut trial = Trial::linux(&fabric, "ecmp").flow(0, 15, 100_000, Duration::ZERO);
        trial.flows[0].sport = sport;
        let outcome = trial.run();
        assert_eq!(used(&outcome).len(), 12, "six links there, six back, source port {sport}");
        assert_eq!(outcome.flows[0].out_of_order, 0);
        assert_eq!(by_core(&fabric, &outcome, 2).iter().filter(|&&packets| packets > 0).count(), 1);
    }
}

/// One flow per run would be slow; instead, 600 flows of one packet each share a run.
fn flows_by_core(fabric: &Fabric, half: u32, hash_seed: &str, seed: u64) -> Vec<u64> {
    let ecmp = scheme_with("ecmp", "hash_seed", word(hash_seed));
    let mut trial = Trial::new(fabric, ecmp, profile("linux")).seed(seed);
    let hosts = fabric.host_count() as u32;
    let pod = half * half;
    for i in 0..600 {
        trial = trial.flow(i % pod, pod + i * 7 % (hosts - pod), 1_000, Duration::from_us(u64::from(i)));
    }
    let outcome = trial.run();
    assert_eq!(outcome.report.flows_finished, 600);
    // SYN, its ACK, data, FIN and the ACK of the other FIN: all flows send the same, up to timing.
    by_core(fabric, &outcome, half).iter().map(|packets| packets / 4).collect()
}

/// With one hash seed for all switches, they choose alike, so the flows that an edge switch sends to its j-th
/// aggregation switch are exactly those that this switch sends to its j-th core: three of four cores are idle.
#[test]
fn ecmp_spreads_flows_evenly_over_all_cores_or_with_one_hash_seed_over_a_quarter_of_them() {
    let fabric = fat_tree(8);
    let all: Vec<usize> = (0..16).collect();
    for (hash_seed, busy) in [("per-switch", &all[..]), ("shared", &[0, 5, 10, 15])] {
        for seed in [1, 2, 3] {
            let flows = flows_by_core(&fabric, 4, hash_seed, seed);
            println!("{hash_seed}, seed {seed}: flows by core {flows:?}");
            let idle = (0..16).filter(|core| !busy.contains(core)).map(|core| flows[core]).sum::<u64>();
            assert_eq!(idle, 0, "{hash_seed}, seed {seed}: {flows:?}");
            let busy: Vec<u64> = busy.iter().map(|core| flows[*core]).collect();
            is_even(&format!("flows over cores, {hash_seed}"), &busy, seed);
        }
    }
}

#[test]
fn spraying_uses_all_paths_evenly() {
    let fabric = fat_tree(8);
    for seed in [1, 2, 3] {
        let trial = Trial::linux(&fabric, "spray").seed(seed);
        let outcome = trial.flow(0, 127, 20_000_000, Duration::ZERO).run();
        is_even("packets over 16 cores", &by_core(&fabric, &outcome, 4), seed);
        let down = (0..4).map(|j| link(&fabric, &format!("a{}-e31", 28 + j)));
        let down: Vec<u64> = down.map(|link| outcome.packets(link)).collect();
        is_even("packets down to the last edge", &down, seed);
        assert_eq!(outcome.report.flows_finished, 1);
    }
}

#[test]
fn spraying_reorders_where_paths_differ_and_only_there() {
    let spec = LinkSpec::new(Rate::from_gbps(10), Duration::from_us(1));
    let fabric = build::spine_leaf(2, 2, 1, &spec, &spec).unwrap();
    let mut builder = fabric.edit();
    let [leaf, spine] = ["l0", "s1"].map(|name| builder.find(name).unwrap());
    let far = LinkSpec::new(Rate::from_gbps(10), Duration::from_us(21));
    builder.respecify(leaf, spine, &far, &far).unwrap();
    let uneven = builder.build().unwrap();
    let out_of_order = |fabric: &Fabric| {
        let trial = Trial::linux(fabric, "spray");
        let outcome = trial.flow(0, 1, 1_000_000, Duration::ZERO).run();
        (outcome.flows[0].out_of_order, outcome.flows[0].first_transmissions_received)
    };
    let (reordered, received) = out_of_order(&uneven);
    assert!(received >= 690 && reordered * 4 > received, "{reordered} of {received} out of order");
    // Equal-size packets sent one after another over equal-length paths stay in order.
    assert_eq!(out_of_order(&fabric).0, 0);
}

#[test]
fn the_first_frame_to_an_unknown_host_floods_and_the_rest_goes_straight() {
    let spec = gigabit(US(5));
    let fabric = build::spine_leaf(1, 1, 5, &spec, &spec).unwrap();
    let trial = Trial::linux(&fabric, "spanning_tree");
    let outcome = trial.clone().flow(0, 1, 50_000, Duration::ZERO).run();
    // The SYN goes to h1..h4; l0 also sends it up to the spine, which has no other port.
    assert_eq!(outcome.report.counters.packets_copied, 4);
    assert_eq!(outcome.dropped(DropReason::NotForMe), 3);
    assert_eq!(outcome.dropped(DropReason::SamePort), 1);
    assert_eq!(outcome.flows[0].first_transmissions_received, 35, "copies are not counted as data");
    // Replies have taught the switches where h0 and h1 are: the second flow floods nothing.
    let outcome = trial.flow(0, 1, 50_000, Duration::ZERO).flow(1, 0, 50_000, Duration::from_ms(5)).run();
    assert_eq!(outcome.report.counters.packets_copied, 4);
}

#[test]
fn a_flood_reaches_every_host_once_and_keeps_to_the_tree() {
    let spec = gigabit(US(5));
    let fabrics = [
        build::fat_tree(4, &spec, &spec).unwrap(),
        build::ring(6, 2, &spec, &spec).unwrap(),
        build::mesh(5, 2, &spec, &spec).unwrap(),
        build::spine_leaf(4, 4, 3, &spec, &spec).unwrap(),
    ];
    for fabric in &fabrics {
        let hosts = fabric.host_count() as u32;
        let tree = SpanningTree::compute(fabric);
        let trial = Trial::linux(fabric, "spanning_tree");
        let outcome = trial.flow(0, hosts - 1, 100, Duration::ZERO).run();
        let counters = &outcome.report.counters;
        let name = fabric.name();
        assert_eq!(outcome.dropped(DropReason::NotForMe), u64::from(hosts - 2), "{name}: one copy per host");
        // A copy ends at a switch with only one port in the tree.
        let ends = fabric.switches().filter(|&switch| tree.forwarding(switch).len() == 1).count() as u64;
        assert_eq!(outcome.dropped(DropReason::SamePort), ends, "{name}");
        assert_eq!(counters.packets_copied, u64::from(hosts - 2) + ends, "{name}");
        for report in outcome.report.links.iter().filter(|report| report.counters.packets > 0) {
            let link = fabric.link(report.id);
            let host = fabric.node(link.from).is_host();
            assert!(
                host || tree.forwards(link.from, link.from_port),
                "{name}: {}",
                fabric.link_label(report.id)
            );
        }
    }
}

#[test]
fn addresses_are_forgotten_after_the_ageing_time() {
    let spec = gigabit(US(5));
    let fabric = build::spine_leaf(1, 1, 5, &spec, &spec).unwrap();
    let copied = |ageing: Duration| {
        let ageing = scheme_with("spanning_tree", "ageing", ParamValue::Duration(ageing));
        let trial = Trial::new(&fabric, ageing, profile("linux")).flow(0, 1, 1_000, Duration::ZERO);
        trial.flow(0, 1, 1_000, Duration::from_ms(50)).run().report.counters.packets_copied
    };
    assert_eq!(copied(Duration::from_ms(100)), 4);
    assert_eq!(copied(Duration::from_ms(20)), 8);
}

/// Frames to addresses that do not fit the tables are flooded forever, including those with SACK
/// blocks.
#[test]
fn floods_take_no_more_memory_the_longer_they_last() {
    let queue = QueueSpec::fifo(Limit::Packets(10));
    let spec = gigabit(US(5)).with_queue(queue);
    let fabric = build::spine_leaf(1, 1, 5, &spec, &spec).unwrap();
    let state = |limit: u64| {
        let small = scheme_with("spanning_tree", "table_size", ParamValue::Count(1));
        let trial = Trial::new(&fabric, small, profile("linux")).limit(Duration::from_ms(limit));
        let trial = (1..5).fold(trial, |trial, src| trial.flow(src, 0, 1 << 40, Duration::ZERO));
        let outcome = trial.run();
        assert!(
            outcome.report.counters.packets_copied > 1_000 && outcome.dropped(DropReason::QueueFull) > 100
        );
        outcome.report.state_bytes
    };
    let (short, long) = (state(200), state(2_000));
    assert!(long < short * 3 / 2, "{short} bytes after 0.2 s, {long} after 2 s");
}
