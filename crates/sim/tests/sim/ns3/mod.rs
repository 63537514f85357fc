//! Weft against the stored results of ns-3.37 (`validation/ns3`).
//!
//! With simultaneous events in ns-3's order, every flow's completion time equals ns-3's to the
//! nanosecond; the few cases where some flow differs are listed in [`KNOWN`]. The engine itself
//! processes simultaneous events in another order; its means are compared where they do not depend on
//! which flow has a timeout of a second.
//!
//! A few cases run here; `tests/ns3_studies.rs` runs all.

pub mod case;
pub mod generated;
mod in_order;
pub mod many_workloads;
mod mersenne;
pub mod run;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use case::{CLASSES, Case, Outcome};
use weft_switching::{flow_hash, mix64, pick};
use weft_units::{FlowId, HostId};

type Outcomes = BTreeMap<FlowId, Outcome>;

/// Cases in which some completion times differ from ns-3's, and how many. See `validation/ns3/README.md`.
const KNOWN: &[(&str, usize)] = &[
    ("web10-2.spine-leaf-4x4x5.single_path.newreno", 1),
    ("web10-2.spine-leaf-4x4x5.single_path.newreno-sack", 1),
    ("web40-2.spine-leaf-4x4x5.ecmp.cubic", 61),
];

/// Cases of the default tests.
const QUICK: &[&str] = &[
    "permutation-1.fat-tree-4.single_path.newreno-sack",
    "permutation-1.fat-tree-4.ecmp.newreno-sack",
    "permutation-1.fat-tree-4.ecmp.cubic",
    "permutation-2.fat-tree-4.single_path.newreno",
    "permutation-2.fat-tree-4.spray.newreno",
    "permutation-3.fat-tree-4.spray.newreno-sack",
    "permutation-3.fat-tree-4.spray.cubic",
];

/// The number of flows whose completion time differs from the reference, compared to the nanosecond.
fn differing(outcomes: &Outcomes, case: &Case) -> usize {
    let reference = case.reference();
    let differs =
        |(id, theirs): &(&FlowId, &Outcome)| outcomes.get(id).map(|ours| ours.fct) != Some(theirs.fct);
    reference.iter().filter(differs).count()
}

/// Checks a case, with simultaneous events in ns-3's order, against the reference.
pub fn agrees_in_order(case: &Case) {
    let outcomes = in_order::run(&case.input());
    store("in-order", case, &outcomes);
    let known = KNOWN.iter().find(|(name, _)| *name == case.name).map_or(0, |&(_, count)| count);
    assert_eq!(differing(&outcomes, case), known, "{}: flows that differ from ns-3", case.name);
}

/// Writes the result for `summarise.py` into the directory `WEFT_NS3_RESULTS`, if set.
pub fn store(kind: &str, case: &Case, outcomes: &Outcomes) {
    let Some(directory) = std::env::var_os("WEFT_NS3_RESULTS") else { return };
    let directory = PathBuf::from(directory).join(kind);
    fs::create_dir_all(&directory).unwrap();
    let mut text = String::from("flow,fct_ps,retransmitted,rtos\n");
    for (id, outcome) in outcomes {
        let fct = outcome.fct.map_or(String::new(), |fct| fct.ps().to_string());
        text += &format!("{id},{fct},{},{}\n", outcome.retransmitted, outcome.timeouts);
    }
    fs::write(directory.join(format!("{}.csv", case.name)), text).unwrap();
}

/// Mean completion time by class over the workload seeds of a group: ours and ns-3's, in seconds.
fn means(group: &str) -> BTreeMap<&'static str, (f64, f64)> {
    let mut sums: BTreeMap<&str, (f64, f64, u32)> = BTreeMap::new();
    for case in Case::all().iter().filter(|case| case.group() == group) {
        let input = case.input();
        let (ours, theirs) = (run::run(&input), case.reference());
        for flow in &input.flows {
            let sum = sums.entry(CLASSES[usize::from(flow.class)]).or_default();
            sum.0 += ours[&flow.id].fct.unwrap().as_secs_f64();
            sum.1 += theirs[&flow.id].fct.unwrap().as_secs_f64();
            sum.2 += 1;
        }
    }
    let mean = |(class, (a, b, n))| (class, (a / f64::from(n), b / f64::from(n)));
    sums.into_iter().map(mean).collect()
}

#[test]
fn flows_hash_onto_paths_as_in_the_reference_program() {
    assert_eq!(flow_hash(HostId(0), HostId(15), 10_000, 80), 0xd6fc_a983);
    assert_eq!(flow_hash(HostId(15), HostId(0), 80, 10_000), 0x2753_6af5);
    let key = mix64(1 ^ mix64(16 + 1));
    assert_eq!(key, 0xf8a9_cea2_76b0_2ba5);
    let choice = |hash: u64| pick(mix64(hash ^ key), 2);
    assert_eq!((choice(0xd6fc_a983), choice(0x2753_6af5)), (0, 1));
}

#[test]
fn a_lone_flow_takes_the_same_nanoseconds_as_in_ns3() {
    for case in Case::all().iter().filter(|case| case.workload() == "lone") {
        assert_eq!(differing(&run::run(&case.input()), case), 0, "{}", case.name);
    }
}

#[test]
fn in_ns3s_order_of_events_every_flow_takes_as_long_as_in_ns3() {
    for case in Case::all().iter().filter(|case| QUICK.contains(&case.name.as_str())) {
        agrees_in_order(case);
    }
}

/// `permutation` with CUBIC drops nothing, so no mean depends on a timeout.
#[test]
fn the_engines_means_agree_where_nothing_is_dropped() {
    for (scheme, tolerance) in [("single_path", 0.05), ("ecmp", 0.05), ("spray", 0.10)] {
        for (class, (ours, theirs)) in means(&format!("permutation.fat-tree-4.{scheme}.cubic")) {
            let error = ours / theirs - 1.0;
            assert!(error.abs() < tolerance, "{scheme} {class}: {ours} s, in ns-3 {theirs} s");
        }
    }
}
