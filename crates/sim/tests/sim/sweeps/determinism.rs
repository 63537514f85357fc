//! The same scenario and seed give the same bytes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use weft_sim::columns::FlowRecord;
use weft_sim::engine::Progress;
use weft_sim::record::MemoryRecorder;
use weft_traffic::Flow;

use crate::common::directory::Scratch;
use crate::sweeps::sweep::{are_equal, complete, no_files, results, run, scenario};

#[test]
fn any_number_of_threads_leaves_the_same_bytes() {
    let scratch = Scratch::new("threads");
    let sweeps = [("one", 1), ("again", 1), ("two", 2), ("four", 4), ("many", 16)];
    let results = sweeps.map(|(name, jobs)| {
        let report = complete(&scratch.join(name), jobs);
        assert_eq!((report.done, report.skipped), (6, 0));
        results(&scratch.join(name))
    });
    // sweep.json, scenario.toml, and for each of six runs two tables, the summary and the scenario.
    assert_eq!(results[0].len(), 2 + 6 * 4, "{:?}", results[0].keys());
    for ((name, jobs), other) in sweeps.iter().zip(&results) {
        are_equal(&results[0], other, &format!("{name}: {jobs} jobs"));
    }
    let all: BTreeSet<_> = results[0].iter().filter(|(name, _)| name.ends_with("flows.parquet")).collect();
    let bytes: BTreeSet<_> = all.iter().map(|(_, bytes)| *bytes).collect();
    assert_eq!(bytes.len(), 6, "runs with another scheme or seed differ");
}

/// The threads of this process, including those of other tests.
#[cfg(target_os = "linux")]
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[cfg(target_os = "linux")]
#[test]
fn no_more_threads_start_than_there_are_runs_to_do() {
    let scratch = Scratch::new("jobs");
    let mut most = 0;
    for done in [6, 0] {
        let report = run(&scenario(), scratch.path(), 5000, &mut |_| {
            most = most.max(threads());
            true
        });
        assert_eq!(report.unwrap().done, done);
    }
    assert!(most < 1000, "{most} threads");
}

#[test]
fn a_summary_accounts_for_every_packet_and_says_how_the_run_came_about() {
    let scratch = Scratch::new("summary");
    complete(scratch.path(), 2);
    let results = results(scratch.path());
    let mut schemes = BTreeSet::new();
    for (name, bytes) in results.iter().filter(|(name, _)| name.ends_with("summary.json")) {
        let summary: Value = serde_json::from_slice(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let counters = &summary["counters"];
        let count = |key: &str| counters[key].as_u64().unwrap_or_else(|| panic!("{name}: no {key}"));
        let dropped: u64 =
            counters["packets_dropped"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
        let ended = count("packets_delivered") + dropped + count("packets_in_flight");
        assert_eq!(count("packets_sent") + count("packets_copied"), ended, "{name}");
        assert!(counters["packets_dropped"]["queue_full"].as_u64() > Some(0), "{name}: {counters}");
        assert_eq!(count("flows_started"), summary["traffic"]["flows"].as_u64().unwrap(), "{name}");
        schemes.insert(summary["scheme"]["name"].as_str().unwrap().to_owned());
        let text = results[&name.replace("summary.json", "scenario.toml")].as_slice();
        assert_eq!(text, crate::sweeps::sweep::TEXT.as_bytes(), "{name}: the exact scenario");
    }
    assert_eq!(Vec::from_iter(schemes), ["ecmp", "single_path", "spray"]);
}

/// The planned flows, and the sum of the completion times, which differs between schemes.
struct Sent {
    flows: BTreeMap<u32, Flow>,
    sum: u64,
}

impl From<MemoryRecorder> for Sent {
    fn from(kept: MemoryRecorder) -> Self {
        let took = |record: &FlowRecord| record.end.map_or(0, |end| (end - record.flow.start).ps());
        Self {
            flows: kept.flows.iter().map(|record| (record.flow.id.0, record.flow)).collect(),
            sum: kept.flows.iter().map(took).sum(),
        }
    }
}

#[test]
fn every_scheme_is_given_the_same_flows_and_every_seed_others() {
    let scenario = scenario();
    let mut by_seed: BTreeMap<u64, Vec<Sent>> = BTreeMap::new();
    for point in scenario.points() {
        let mut kept = MemoryRecorder::default();
        let plan = scenario.plan(point, &no_files).unwrap_or_else(|error| panic!("{error}"));
        weft_sim::run::run(&plan, &Progress::default(), &mut kept).unwrap();
        by_seed.entry(point.seed).or_default().push(kept.into());
    }
    for (seed, runs) in &by_seed {
        assert!(runs[0].flows.len() > 50, "seed {seed}");
        assert!(runs.iter().all(|run| run.flows == runs[0].flows), "seed {seed}");
        let sums: BTreeSet<u64> = runs.iter().map(|run| run.sum).collect();
        assert_eq!(sums.len(), 3, "the schemes did not do the same, seed {seed}");
    }
    assert_ne!(by_seed[&1][0].flows, by_seed[&2][0].flows);
}
