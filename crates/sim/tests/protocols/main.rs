//! Hosts with protocols other than TCP, under ECMP: flows end, packets are conserved, and results are the same with any
//! number of threads. With one scheme only, so that the test is compiled in a minute.

mod answers;
mod congestion;
mod datagrams;
mod gray_links;
mod host_queue;
mod open_connections;
mod paused_classes;
mod queue_pairs;
mod trees;

use std::sync::Arc;

use weft_scenario::{Plan, Scenario};
use weft_sim::engine::Progress;
use weft_sim::record::{MemoryRecorder, RunReport};
use weft_sim::run::run_own;
use weft_switching::ecmp::Ecmp;

/// A leaf-spine fabric at 10 Gbps with `more` keys, four hosts for each of two leaves.
fn leaf_spine(more: &str, traffic: &str, transport: &str, rest: &str) -> Plan {
    let is_given = traffic.starts_with("flow_list") || traffic.starts_with("collective");
    let arrivals = if is_given { "" } else { "arrivals = \"at-once\"" };
    let text = format!(
        "[fabric]\nkind = \"spine-leaf\"\nspines = 2\nleaves = 2\nhosts_per_leaf = 4\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n{more}\n[traffic]\n{arrivals}\n{traffic}\n[scheme]\nname = \"ecmp\"\n\
         [transport]\n{transport}\n[run]\nduration = \"10 ms\"\n{rest}\n"
    );
    planned(&text, "")
}

/// The plan of a scenario whose fabric file, if it names one, has the text `fabric`.
fn planned(text: &str, fabric: &str) -> Plan {
    let scenario = Scenario::parse(text, "test.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let point = scenario.points().first().expect("a scenario has a point");
    let plan = scenario.plan(point, &|_| Ok(fabric.as_bytes().to_vec()));
    plan.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The outcome of a plan on this number of threads, in which every packet is accounted for.
fn run(plan: &Plan, threads: usize) -> (RunReport, MemoryRecorder) {
    let mut kept = MemoryRecorder::default();
    let ecmp = |routes: &Arc<_>| Ecmp::new(Arc::clone(routes), plan.seed, &plan.scheme);
    let report = run_own(plan, ecmp, threads, &Progress::default(), &mut kept);
    assert!(report.counters.is_conserved(), "{:?}", report.counters);
    kept.flows.sort_by_key(|record| record.flow.id);
    (report, kept)
}

/// Checks that several threads have the same results as one; returns these.
fn run_with_threads(plan: &Plan) -> (RunReport, MemoryRecorder) {
    let said = |threads| {
        let (mut report, kept) = run(plan, threads);
        report.state_bytes = 0;
        format!("{report:?} {kept:?}")
    };
    let alone = said(1);
    for threads in [2, 3, 8] {
        assert!(said(threads) == alone, "{threads} threads differ");
    }
    run(plan, 1)
}
