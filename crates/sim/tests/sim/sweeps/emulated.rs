//! Results of emulated runs: reads records, writes a result directory like a simulation's.

use std::fs;
use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};
use weft_scenario::{Plan, Scenario};
use weft_sim::emulated::{self, EmulatedError};
use weft_sim::origin::Origin;
use weft_sim::sweep_directory::Directory;
use weft_sim::sweep_error::SweepError;

use crate::common::directory::{Scratch, json_in};
use crate::common::{parsed, plan};
use crate::sweeps::sweep::{no_files, run};

const TEXT: &str = r#"
name = "two leaves"
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 2
rate = "10 Mbps"
delay = "5 us"
[traffic]
sizes = { fixed = "30 kB" }
load = 0.3
[scheme]
name = "tcp_path"
[run]
duration = "2 s"
limit = "20 s"
[measure]
interval = "500 ms"
[[event]]
at = "1 s"
fail = "l0-s0"
"#;

fn scenario() -> Scenario {
    parsed(TEXT)
}

fn open(scenario: &Scenario, path: &Path, origin: Origin) -> Result<Directory, SweepError> {
    Directory::open(scenario, path, &no_files, origin)
}

/// Records of a run in which every flow took 50 ms and started a microsecond late, except the first, which
/// lost two segments, the second, which did not finish, and the third, which did not start.
fn records(plan: &Plan) -> Vec<Value> {
    let flows = plan.traffic.flows.iter();
    let mut records: Vec<Value> = flows
        .map(|flow| {
            let start = flow.start.ps() + 1_000_000;
            json!({
                "flow": flow.id.0, "start_ps": start, "established_ps": start + 1, "end_ps": start + 50_000_000_000_u64,
                "packets_sent": 21, "retransmissions": 0, "timeouts": 0, "out_of_order": 0,
                "segments_received": 21, "ecn_marks": 0, "error": null,
            })
        })
        .collect();
    let change = |record: &mut Value, more: Value| {
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    };
    let lossy = json!({"packets_sent": 23, "retransmissions": 2, "timeouts": null, "out_of_order": 7});
    change(&mut records[0], lossy);
    let late = json!({"end_ps": null, "segments_received": 5, "error": "the run's time limit was reached"});
    change(&mut records[1], late);
    let error = "listen at 10.0.0.4:5001: Address already in use (os error 98)";
    records[2] = json!({"flow": 2, "start_ps": null, "end_ps": null, "error": error});
    records
}

fn observed() -> Value {
    json!({
        "end_ps": 2_200_000_000_000_u64,
        "window_ps": [1_000_000_000_u64, 2_001_000_000_000_u64],
        "links": [
            {"from": "h0", "to": "l0", "bytes": 125_000, "window_bytes": 100_000, "packets": 90, "drops": 0},
            {"from": "l0", "to": "s1", "bytes": 275_000, "packets": 190, "drops": 3, "interface": "l0-eth3"},
        ],
        "series": [
            {"time_ps": 500_000_000_000_u64, "metric": "link_utilisation", "entity": "l0->s1", "value": 0.5},
            {"time_ps": 400_000_000_000_u64, "metric": "flow_entries", "entity": "s1", "value": 4.0},
        ],
        "switches": {"l0": {"dropped": {"late_copy": 5}, "forwarded": 3}, "s1": {"dropped": {"late_copy": 2}}},
        "flows": [{"flow": 3, "exploration_ps": 900_000_000_u64, "moves": 1, "path": ["l0", "s1", "l1"]}],
        "events": [{"at_ps": 1_000_000_000_000_u64, "happened_ps": 1_000_400_000_000_u64}],
        "versions": {"kernel": "6.18"},
    })
}

fn write(scratch: &Scratch, records: &[Value], observed: &Value) -> Result<(), EmulatedError> {
    write_of(&scenario(), scratch, records, observed)
}

fn write_of(
    scenario: &Scenario,
    scratch: &Scratch,
    records: &[Value],
    observed: &Value,
) -> Result<(), EmulatedError> {
    let (lines, seen) = (scratch.join("records.jsonl"), scratch.join("observed.json"));
    let text: Vec<String> = records.iter().map(Value::to_string).collect();
    fs::write(&lines, text.join("\n")).unwrap();
    fs::write(&seen, observed.to_string()).unwrap();
    let directory = open(scenario, &scratch.join("results"), Origin::Emulated)?;
    emulated::write(scenario, &scenario.points()[0], &directory, &lines, &seen)
}

fn table(path: &Path) -> RecordBatch {
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap().build().unwrap();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    assert_eq!(batches.len(), 1);
    batches[0].clone()
}

/// A column of whole numbers.
fn column(table: &RecordBatch, name: &str) -> Vec<Option<i64>> {
    let column = table.column_by_name(name).unwrap_or_else(|| panic!("no column {name}"));
    match column.as_primitive_opt::<Int64Type>() {
        Some(column) => column.iter().collect(),
        None => column.as_primitive::<Int32Type>().iter().map(|value| value.map(i64::from)).collect(),
    }
}

#[test]
fn an_emulated_run_has_the_columns_and_keys_of_a_simulated_one() {
    let scenario = scenario();
    let scratch = Scratch::new("both");
    write(&scratch, &records(&plan(&scenario, &[])), &observed()).unwrap();
    let simulated = scratch.join("simulated");
    run(&scenario, &simulated, 1, &mut |_| true).unwrap();
    let run = format!("runs/{}", scenario.points()[0].id);
    let (ours, theirs) = (scratch.join("results").join(&run), simulated.join(&run));
    for name in ["flows.parquet", "series.parquet"] {
        assert_eq!(table(&ours.join(name)).schema(), table(&theirs.join(name)).schema());
    }
    let (ours, theirs) = (table(&ours.join("flows.parquet")), table(&theirs.join("flows.parquet")));
    let mut order: Vec<usize> = (0..theirs.num_rows()).collect();
    let numbers = column(&theirs, "flow");
    order.sort_by_key(|&at| numbers[at]);
    for name in ["flow", "sport", "dport", "dscp", "bytes", "start_ps", "ideal_fct_ps", "hops"] {
        let theirs = column(&theirs, name);
        let theirs: Vec<_> = order.iter().map(|&at| theirs[at]).collect();
        assert_eq!(column(&ours, name), theirs, "{name}");
    }
    let keys = |path: &Path| -> Vec<String> {
        let summary = json_in(&path.join(&run).join("summary.json"));
        summary.as_object().unwrap().keys().filter(|key| *key != "emulated").cloned().collect()
    };
    assert_eq!(keys(&scratch.join("results")), keys(&simulated));
    let list = json_in(&scratch.join("results/sweep.json"));
    assert_eq!((&list["emulated"], &list["runs"][0]["path"]), (&json!(true), &json!(run)));
}

#[test]
fn what_is_known_is_there_and_what_is_not_is_null() {
    let scenario = scenario();
    let plan = plan(&scenario, &[]);
    let scratch = Scratch::new("known");
    write(&scratch, &records(&plan), &observed()).unwrap();
    let path = scratch.join("results/runs").join(&plan.id);
    let flows = table(&path.join("flows.parquet"));
    let of = |name: &str| column(&flows, name)[..4].to_vec();
    let took = Some(50_000_000_000);
    assert_eq!(of("fct_ps"), [took, None, None, took], "a late start by the generator does not count");
    let start = plan.traffic.flows[3].start.ps() as i64;
    assert_eq!((of("start_ps")[3], of("end_ps")[3]), (Some(start), Some(start + 50_000_000_000)));
    assert_eq!(of("drops"), [Some(2), None, None, Some(0)]);
    assert_eq!(of("packets_sent"), [Some(23), Some(21), Some(0), Some(21)]);
    assert_eq!(of("timeouts"), [None, Some(0), Some(0), Some(0)]);
    assert_eq!(of("first_transmissions_received"), [None, Some(5), Some(0), Some(21)]);
    assert_eq!(of("out_of_order"), [None; 4]);
    assert_eq!((of("moves"), of("exploration_ps")[3]), (vec![None, None, None, Some(1)], Some(900_000_000)));
    let paths = flows.column_by_name("path").unwrap();
    assert_eq!(paths.null_count(), flows.num_rows() - 1);

    let summary = json_in(&path.join("summary.json"));
    let flows = plan.traffic.flows.len();
    for (at, expected) in [
        ("/classes/rabbit/out_of_order_share", json!(null)),
        ("/classes/rabbit/timeouts", json!(null)),
        ("/classes/rabbit/moves", json!(null)),
        ("/classes/rabbit/retransmissions", json!(2)),
        ("/counters/flows_started", json!(flows - 1)),
        ("/counters/flows_finished", json!(flows - 2)),
        // Some links were not read.
        ("/counters/packets_dropped", json!({"late_copy": 7})),
        ("/counters/packets_sent", json!(null)),
        ("/path_evenness", json!(null)),
        ("/window_ps", json!([0, 2_000_000_000_000_u64])),
        ("/events/0/change", json!("fail")),
        ("/events/0/frames_lost", json!(null)),
        ("/emulated/versions/kernel", json!("6.18")),
        ("/emulated/switches/l0/forwarded", json!(3)),
        ("/emulated/classes/rabbit/rcv_ooopack", json!(7)),
        ("/emulated/errors/listen at # Address already in use (os error #)", json!(1)),
        ("/emulated/events/0/happened_ps", json!(1_000_400_000_000_u64)),
    ] {
        assert_eq!(summary.pointer(at), Some(&expected), "{at}");
    }
    assert!((summary["classes"]["rabbit"]["mean_fct_s"].as_f64().unwrap() - 0.05).abs() < 1e-12);
    let links = summary["links"].as_array().unwrap();
    for (from, to, key, expected) in [
        // 100 000 bytes in the two seconds between the readings, of 10 Mbps.
        ("h0", "l0", "utilisation", json!(0.04)),
        ("h0", "l0", "bytes", json!(125_000)),
        ("h0", "l0", "window_bytes", json!(100_000)),
        // Not read at the ends of the window.
        ("l0", "s1", "utilisation", json!(null)),
        ("l0", "s1", "drops", json!(3)),
        ("l1", "s1", "drops", json!(null)),
        ("l0", "s0", "up", json!(false)),
        ("l0", "s1", "up", json!(true)),
    ] {
        let link = links.iter().find(|link| link["from"] == from && link["to"] == to).unwrap();
        assert_eq!(link.get(key), Some(&expected), "{key} of {from}->{to}");
    }
}

/// Flows from h0 to h1, over three links, or five the other way round: one starts before the short path
/// fails, one at that moment.
const RING: &str = r#"
name = "ring"
[fabric]
kind = "ring"
switches = 4
hosts_per_switch = 1
rate = "10 Mbps"
delay = "5 us"
[traffic]
flow_list = [
  { class = "early", src = "h0", dst = "h1", bytes = "30 kB", start = "0.5 s" },
  { class = "late", src = "h0", dst = "h1", bytes = "30 kB", start = "1 s" },
]
[scheme]
name = "ecmp"
[run]
duration = "2 s"
[[event]]
at = "1 s"
fail = "s0-s1"
"#;

#[test]
fn the_ideal_is_over_the_paths_at_the_start_of_a_flow_as_in_a_simulation() {
    let scenario = parsed(RING);
    let scratch = Scratch::new("ring");
    let record = |flow: u32, start: u64| {
        json!({"flow": flow, "start_ps": start, "end_ps": start + 900_000_000_000, "packets_sent": 21,
               "segments_received": 21, "retransmissions": 0})
    };
    let lines = [record(0, 500_000_000_000), record(1, 1_000_000_000_000)];
    write_of(&scenario, &scratch, &lines, &json!({})).unwrap();
    let simulated = scratch.join("simulated");
    run(&scenario, &simulated, 1, &mut |_| true).unwrap();
    for results in [scratch.join("results"), simulated] {
        let flows = table(&results.join("runs").join(&scenario.points()[0].id).join("flows.parquet"));
        assert_eq!(column(&flows, "hops"), [Some(3), Some(5)], "{}", results.display());
    }
}

#[test]
fn the_halves_of_two_machines_and_their_samples_go_together() {
    let scenario = scenario();
    let scratch = Scratch::new("halves");
    let mut lines = Vec::new();
    for record in records(&plan(&scenario, &[])).into_iter().skip(3) {
        let (mut sent, mut received) = (record.clone(), record);
        sent["end_ps"] = json!(null);
        sent["segments_received"] = json!(null);
        for key in ["start_ps", "packets_sent", "retransmissions", "timeouts"] {
            received[key] = json!(null);
        }
        lines.extend([received, sent]);
    }
    for bytes in [100_000, 25_000] {
        lines.push(json!({"time_ps": 500_000_000_000_u64, "class": "rabbit", "delivered_bytes": bytes}));
    }
    write(&scratch, &lines, &json!({})).unwrap();
    let path = scratch.join("results/runs").join(&scenario.points()[0].id);
    let flows = table(&path.join("flows.parquet"));
    assert_eq!(column(&flows, "fct_ps")[2..4], [None, Some(50_000_000_000)]);
    assert_eq!(
        (column(&flows, "packets_sent")[2], column(&flows, "drops")[3]),
        (None, Some(0)),
        "without a record the value is null, not zero"
    );
    let series = table(&path.join("series.parquet"));
    let values = series.column_by_name("value").unwrap().as_primitive::<arrow_array::types::Float64Type>();
    assert!(values.iter().any(|value| value == Some(2e6)), "1 Mbit in half a second: {values:?}");
}

#[test]
fn what_is_not_of_this_run_is_refused_with_its_place_and_leaves_nothing() {
    let scenario = scenario();
    let good = records(&plan(&scenario, &[]));
    let seen = observed();
    let link = json!({"links": [{"from": "h0", "to": "s1"}]});
    let twice = json!({"links": [{"from": "h0", "to": "l0"}, {"from": "h0", "to": "l0"}]});
    let metric = json!({"series": [{"time_ps": 1, "metric": "colour", "entity": "l0", "value": 1.0}]});
    let [entity, host] = ["l9", "h0"].map(|entity| {
        json!({"series": [{"time_ps": 1, "metric": "flow_entries", "entity": entity, "value": 1.0}]})
    });
    let ant = json!({"time_ps": 3, "class": "ant", "delivered_bytes": 3});
    let negative = vec![good[0].clone(), json!({"flow": -1})];
    let cases: [(Vec<Value>, &Value, &str); 9] = [
        (vec![json!({"flow": 99_999})], &seen, "records.jsonl, line 1: flow 99999: the run has"),
        (negative, &seen, "line 2: invalid value: integer `-1`, expected u32"),
        (vec![json!({"time_ps": 3})], &seen, "line 1: expected a record with"),
        (vec![ant], &seen, "the run has no class `ant`"),
        (good.clone(), &link, "observed.json: links[0]: the fabric has no other link `h0->s1`"),
        (good.clone(), &twice, "links[1]: the fabric has no other link `h0->l0`"),
        (good.clone(), &metric, "series[0]: unknown metric `colour`"),
        (good.clone(), &entity, "series[0]: the run has no switch `l9`"),
        (good.clone(), &host, "series[0]: the run has no switch `h0`"),
    ];
    for (records, observed, expected) in cases {
        let scratch = Scratch::new("refused");
        let error = write(&scratch, &records, observed).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(fs::read_dir(scratch.join("results/runs")).unwrap().count(), 0);
    }
}

#[test]
fn emulated_and_simulated_runs_do_not_share_a_directory_and_no_run_is_written_twice() {
    let scenario = scenario();
    let scratch = Scratch::new("mixed");
    let good = records(&plan(&scenario, &[]));
    write(&scratch, &good, &observed()).unwrap();
    assert!(matches!(write(&scratch, &good, &observed()), Err(EmulatedError::Exists { .. })));
    let results = scratch.join("results");
    let refused = run(&scenario, &results, 1, &mut |_| true).unwrap_err().to_string();
    assert!(refused.contains("holds emulated results, but this run is simulated"), "{refused}");
    let held = open(&scenario, &results, Origin::Emulated).unwrap();
    assert!(matches!(open(&scenario, &results, Origin::Emulated), Err(SweepError::Busy { .. })));
    drop(held);
    assert!(open(&scenario, &results, Origin::Emulated).is_ok());
}
