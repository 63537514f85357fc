//! All stored ns-3 cases and the studies in `validation/ns3`; not part of `make test`. `make test-all` runs the cases;
//! with `WEFT_NS3_RESULTS=DIR` they write `DIR/engine/` and `DIR/in-order/` for `validation/ns3/summarise.py`.

#[path = "sim/ns3/mod.rs"]
mod ns3;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use ns3::case::Case;
use ns3::generated::{KINDS, Workload};
use ns3::many_workloads::{TCPS, rows};
use ns3::{agrees_in_order, run, store};

#[test]
fn in_ns3s_order_of_events_all_cases_agree() {
    for case in Case::all() {
        agrees_in_order(&case);
    }
}

#[test]
fn the_engine_runs_all_cases() {
    for case in Case::all() {
        store("engine", &case, &run::run(&case.input()));
    }
}

/// Writes `validation/ns3/order.md`; 20 minutes.
#[test]
fn the_engines_means_over_hundreds_of_workloads() {
    let mut text = String::from(HEADING);
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../validation/ns3/order.md");
    for kind in &KINDS {
        let count = if matches!(kind.workload, Workload::Permutation) { 400 } else { 200 };
        for tcp in TCPS {
            for row in rows(kind, tcp, count) {
                writeln!(text, "| {}.{tcp} {row}", kind.name).unwrap();
            }
            fs::write(&path, &text).unwrap();
        }
    }
}

const HEADING: &str = "\
# The engine's means compared with those in ns-3's order, over many workloads

Written by `cargo test --release -p weft-sim --test ns3_studies hundreds`. Workloads like the stored cases, with
other seeds. `in order`: with simultaneous events in ns-3's order, which reproduces ns-3's times. The last column is
the 95 % confidence interval of the ratio of the two means, paired over workloads.

| case | class | workloads | flows | in order, us | Weft, us | ratio | 95 % |
|---|---|---|---|---|---|---|---|
";
