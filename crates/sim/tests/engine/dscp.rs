//! A scenario's DSCPs choose the queues of a congested port.

use weft_scenario::Scenario;
use weft_sim::engine::Progress;
use weft_sim::record::{FlowRecord, Recorder, Sample};
use weft_sim::run::run;

/// A bottleneck as fast as a host between four hosts a side, with two queues.
const FABRIC: &str = r#"
[fabric]
kind = "dumbbell"
left = 4
right = 4
rate = "1 Gbps"
queue = "200 packets"
"#;

#[derive(Default)]
struct Flows(Vec<FlowRecord>);

impl Recorder for Flows {
    fn flow(&mut self, record: &FlowRecord) {
        self.0.push(record.clone());
    }

    fn sample(&mut self, _sample: &Sample) {}
}

/// The slowdowns of the flows with that DSCP in the only run of a scenario.
fn slowdowns(scenario: &str, dscp: u8) -> Vec<f64> {
    let text = format!("{FABRIC}{scenario}\n[scheme]\nname = \"ecmp\"\n");
    let scenario = Scenario::parse(&text, "dscp.toml").unwrap_or_else(|error| panic!("{error}"));
    let no_files = |_: &str| Err("there are no files".to_owned());
    let plan = scenario.plan(&scenario.points()[0], &no_files).unwrap_or_else(|error| panic!("{error}"));
    let mut flows = Flows::default();
    run(&plan, &Progress::default(), &mut flows).unwrap();
    let of_class = flows.0.iter().filter(|record| record.flow.dscp == dscp);
    let slowdown = |record: &FlowRecord| {
        let end = record.end.unwrap_or_else(|| panic!("not finished: {record:?}"));
        (end - record.flow.start).ps() as f64 / record.ideal.ps() as f64
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
    // Of equal sizes, the one with 3/4 of the line ends after 4/3 of its time alone; both after 2.
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
