//! The effect of scenario keys on a run: DSCPs on queues, events on links.

use weft_sim::columns::FlowRecord;
use weft_sim::engine::Progress;
use weft_sim::record::MemoryRecorder;
use weft_sim::run::run;

use crate::common::{parsed, plan};

/// Four hosts per side, and a bottleneck as fast as a host link.
const FABRIC: &str = r#"
[fabric]
kind = "dumbbell"
left = 4
right = 4
rate = "1 Gbps"
queue = "200 packets"
"#;

/// The flows of the only run of a scenario; every file that it names contains `file`.
fn flows(scenario: &str, file: &str) -> Vec<FlowRecord> {
    let text = format!("{scenario}\n[scheme]\nname = \"ecmp\"\n");
    let mut kept = MemoryRecorder::default();
    run(&plan(&parsed(&text), file.as_bytes()), &Progress::default(), &mut kept).unwrap();
    kept.flows
}

/// The slowdowns of the flows with this DSCP over [`FABRIC`].
fn slowdowns(scenario: &str, dscp: u8) -> Vec<f64> {
    let flows = flows(&format!("{FABRIC}{scenario}"), "");
    let of_class = flows.iter().filter(|record| record.flow.dscp == dscp);
    let slowdown = |record: &FlowRecord| {
        let end = record.end.unwrap_or_else(|| panic!("not finished: {record:?}"));
        (end - record.flow.start).ps() as f64 / record.ideal.unwrap().ps() as f64
    };
    of_class.map(slowdown).collect()
}

/// Twenty flows of 50 kB with `dscp` through a bottleneck that three transfers keep full.
fn beside_transfers(dscp: u8) -> Vec<f64> {
    let scenario = format!(
        r#"queues = {{ scheduler = "strict-priority", weights = [1, 1] }}
[[traffic]]
dscp = 7
flow_list = [
  {{ src = "h0", dst = "h4", bytes = "20 MB" }},
  {{ src = "h1", dst = "h5", bytes = "20 MB" }},
  {{ src = "h2", dst = "h6", bytes = "20 MB" }},
]
[[traffic]]
dscp = {dscp}
sizes = {{ fixed = "50 kB" }}
arrivals = "fixed"
flows_per_second = 100
flows = 20
pairs = [["h3", "h7"]]
start = "20 ms""#
    );
    slowdowns(&scenario, dscp)
}

#[test]
fn a_group_with_priority_goes_through_a_congested_port_as_if_alone() {
    let (urgent, alike) = (beside_transfers(8), beside_transfers(0));
    assert_eq!((urgent.len(), alike.len()), (20, 20));
    assert!(urgent.iter().all(|slowdown| (1.0..1.2).contains(slowdown)), "{urgent:?}");
    assert!(alike.iter().all(|slowdown| *slowdown > 3.0), "{alike:?}");
}

#[test]
fn drr_gives_groups_their_weights_until_one_has_finished() {
    // Of two equal flows, the one with 3/4 of the line ends after 4/3 of its time alone; both after 2.
    let scenario = r#"queues = { scheduler = "drr", weights = [3, 1] }
[traffic]
dscp = 46
flow_list = [
  { src = "h0", dst = "h4", bytes = "20 MB" },
  { src = "h1", dst = "h5", bytes = "20 MB", dscp = 0 },
]"#;
    let (heavy, light) = (slowdowns(scenario, 46)[0], slowdowns(scenario, 0)[0]);
    assert!((heavy / (4.0 / 3.0) - 1.0).abs() < 0.03, "{heavy}");
    assert!((light / 2.0 - 1.0).abs() < 0.03, "{light}");
}

#[test]
fn an_event_that_names_two_nodes_is_about_all_cables_between_them() {
    // Three parallel links, one of them listed the other way round.
    let fabric = r#"
name = "parallel"
node = [
  { name = "h0", role = "host" },
  { name = "h1", role = "host" },
  { name = "s0", role = "switch" },
  { name = "s1", role = "switch" },
]
link = [
  { between = ["h0", "s0"] },
  { between = ["h1", "s1"] },
  { between = ["s0", "s1"] },
  { between = ["s1", "s0"] },
  { between = ["s0", "s1"] },
]"#;
    let scenario = |events: &str| {
        let traffic = r#"[[traffic]]
flow_list = [{ src = "h0", dst = "h1", bytes = "1 MB" }]"#;
        format!("[fabric]\nfile = \"parallel.toml\"\nrate = \"1 Gbps\"\n{events}\n{traffic}")
    };
    let end = |events: &str| flows(&scenario(events), fabric)[0].end.expect("it finishes").ps() as f64 / 1e9;
    let fail = "[[event]]\nat = \"1 ms\"\nfail = \"s1-s0\"\n";
    let heal = "[[event]]\nat = \"40 ms\"\nheal = \"s0-s1\"\n";
    assert!(end("") < 10.0);
    assert!(end(&format!("{fail}{heal}")) > 40.0, "nothing arrives while all links are down");
}
