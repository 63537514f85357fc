//! Hosts with RoCE.

use proptest::prelude::*;
use weft_sim::columns::FlowRecord;

use super::{leaf_spine, run, run_with_threads};

const MARKING: &str = "queue = \"300 kB\"\necn_threshold = \"50 kB\"";

#[test]
fn a_lone_flow_takes_its_ideal_time() {
    for (recovery, size) in [("go-back-n", "1 MB"), ("go-back-n", "700 B"), ("selective-repeat", "10 kB")] {
        let traffic = format!("pairs = [[\"h0\", \"h7\"]]\nflows = 1\nsizes = {{ fixed = \"{size}\" }}");
        let transport = format!("protocol = \"roce\"\nloss_recovery = \"{recovery}\"");
        let (_, kept) = run(&leaf_spine(MARKING, &traffic, &transport, ""), 1);
        let flow = &kept.flows[0];
        assert_eq!(flow.end.map(|end| end - flow.flow.start), flow.ideal, "{recovery} {size}");
        assert_eq!((flow.retransmissions, flow.timeouts, flow.drops), (0, 0, 0));
    }
}

#[test]
fn queue_pairs_of_a_host_share_its_link_and_nothing_queues_there() {
    let traffic = "pairs = \"all-to-all\"\nflows = 56\nsizes = { fixed = \"100 kB\" }";
    let plan = leaf_spine(MARKING, traffic, "protocol = \"roce\"", "limit = \"1 s\"");
    let (report, kept) = run_with_threads(&plan);
    assert_eq!(report.flows_finished, kept.flows.len() as u64);
    for link in &report.links {
        let from = plan.fabric.node(plan.fabric.link(link.id).from);
        // A packet that leaves, and acknowledgements.
        assert!(!from.is_host() || link.counters.max_backlog.0 < 4_000, "{}: {:?}", from.name, link.counters);
    }
}

#[test]
fn losses_are_repaired_by_either_recovery() {
    let cases = ["go-back-n", "selective-repeat"]
        .into_iter()
        .flat_map(|recovery| ["off", "hpcc", "timely", "swift"].map(|control| (recovery, control)));
    for (recovery, control) in cases {
        let traffic = "pairs = { incast = { fan_in = 5, receiver = \"h0\" } }\nflows = 10\nsizes = { fixed = \"300 kB\" }";
        let transport = format!(
            "protocol = \"roce\"\nloss_recovery = \"{recovery}\"\ncongestion_control = \"{control}\""
        );
        let plan = leaf_spine("queue = \"20 packets\"", traffic, &transport, "limit = \"1 s\"");
        let (report, kept) = run_with_threads(&plan);
        assert_eq!(report.flows_finished, kept.flows.len() as u64, "{recovery} {control}");
        let repairs = |flow: &FlowRecord| flow.retransmissions > 0 && flow.drops > 0;
        assert!(kept.flows.iter().any(repairs), "{recovery} {control}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_parameters_flows_finish(
        recovery in prop_oneof!["go-back-n", "selective-repeat"],
        control in prop_oneof!["off", "dcqcn", "hpcc", "timely", "swift"],
        (mtu, ack_every, packets) in (100_u32..4000, 1_u32..65, 4_u32..60),
        window in prop_oneof![Just(0_u32), 4_000_u32..100_000],
        (pattern, bytes) in (prop_oneof!["permutation", "all-to-all"], 1_u32..200_000),
        fails in any::<bool>(),
    ) {
        let transport = format!(
            "protocol = \"roce\"\nloss_recovery = \"{recovery}\"\ncongestion_control = \"{control}\"\nmtu = {mtu}\n\
             ack_every = {ack_every}\nwindow = \"{window} B\""
        );
        let queue = format!("queue = \"{packets} packets\"\necn_threshold = \"{} packets\"", packets / 2);
        let traffic = format!("pairs = \"{pattern}\"\nflows = 40\nsizes = {{ fixed = \"{bytes} B\" }}");
        let event = "[[event]]\nat = \"100 us\"\nfail = \"l0-s0\"";
        let rest = format!("limit = \"20 s\"\n{}", if fails { event } else { "" });
        let (report, kept) = run(&leaf_spine(&queue, &traffic, &transport, &rest), 1);
        prop_assert_eq!(report.flows_finished, kept.flows.len() as u64);
    }
}

#[test]
fn over_lossless_ports_nothing_is_lost_and_paused_queue_pairs_wait_in_their_host() {
    let traffic =
        "pairs = { incast = { fan_in = 7, receiver = \"h0\" } }\nflows = 14\nsizes = { fixed = \"1 MB\" }";
    for control in ["off", "dcqcn", "hpcc", "timely", "swift"] {
        let transport = format!("protocol = \"roce\"\ncongestion_control = \"{control}\"");
        let fabric = "queue = \"1 MB\"\npfc = {}\nred = { kmin = \"50 kB\", kmax = \"200 kB\", pmax = 0.2 }";
        let plan = leaf_spine(fabric, traffic, &transport, "limit = \"1 s\"");
        let (report, kept) = run_with_threads(&plan);
        assert_eq!(report.flows_finished, kept.flows.len() as u64, "{control}");
        assert_eq!(report.counters.packets_dropped.iter().sum::<u64>(), 0, "{control}");
        assert!(kept.flows.iter().all(|flow| flow.retransmissions == 0), "{control}");
        for link in &report.links {
            let from = plan.fabric.node(plan.fabric.link(link.id).from);
            assert!(
                !from.is_host() || link.counters.max_backlog.0 < 5_000,
                "{}: {:?}",
                from.name,
                link.counters
            );
        }
    }
}

#[test]
fn dcqcn_shares_a_bottleneck_that_marks_at_random_fairly_and_fills_it() {
    let traffic = "pairs = [[\"h1\", \"h0\"], [\"h2\", \"h0\"], [\"h4\", \"h0\"], [\"h5\", \"h0\"]]\nflows = 4\n\
                   sizes = { fixed = \"10 MB\" }";
    let fabric = "queue = \"2 MB\"\nred = { kmin = \"50 kB\", kmax = \"400 kB\", pmax = 0.2 }";
    let plan = leaf_spine(fabric, traffic, "protocol = \"roce\"", "limit = \"1 s\"");
    let (_, kept) = run(&plan, 1);
    let times: Vec<f64> = kept
        .flows
        .iter()
        .map(|flow| (flow.end.expect("it finishes") - flow.flow.start).as_secs_f64())
        .collect();
    let (first, last) =
        (times.iter().copied().fold(f64::MAX, f64::min), times.iter().copied().fold(0.0, f64::max));
    // 40 MB at 10 Gbps, of which 1000 of 1082 bytes are payload.
    let least = 40e6 * 8.0 / 10e9 * 1.082;
    assert!(last < 1.15 * least && first > 0.75 * last, "{times:?} of {least}");
}
