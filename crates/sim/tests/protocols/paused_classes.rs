//! Hosts that pace their packets, with a link of which flow control pauses one class.

use weft_units::Duration;

use super::{leaf_spine, run_with_threads};

/// Two queues, of which flow control pauses that of data.
const FABRIC: &str = "queue = \"100 kB\"\nqueues = { scheduler = \"strict-priority\", weights = [1, 1] }\npfc = { queues = [1] }";
/// Hosts that fill queues.
const HOSTS: [&str; 2] = [
    "protocol = \"roce\"\ncongestion_control = \"off\"",
    "protocol = \"uec\"\ncongestion = \"fixed\"\nwindow = 200",
];

/// Flows of all hosts to the first one, and `more`.
fn incast(more: Option<&str>) -> String {
    let flows = (1..8)
        .map(|from| format!("{{ src = \"h{from}\", dst = \"h0\", bytes = \"2 MB\", start = \"0 s\" }}"));
    format!("flow_list = [{}]", flows.chain(more.map(str::to_owned)).collect::<Vec<_>>().join(", "))
}

#[test]
fn a_paused_class_does_not_block_the_others_of_its_host() {
    let urgent = "{ src = \"h4\", dst = \"h5\", bytes = \"200 kB\", start = \"200 us\", dscp = 32 }";
    for transport in HOSTS {
        let plan = leaf_spine(FABRIC, &incast(Some(urgent)), transport, "limit = \"1 s\"");
        let (report, kept) = run_with_threads(&plan);
        assert_eq!(report.counters.packets_dropped.iter().sum::<u64>(), 0, "{transport}");
        let paused = report.links.iter().filter_map(|link| Some(link.port?.paused)).max();
        assert!(paused > Some(Duration::from_us(500)), "{transport}: {paused:?}");
        let flow = kept.flows.iter().find(|flow| flow.flow.dscp == 32).expect("it was sent");
        let time = flow.end.expect("it finishes") - flow.flow.start;
        let ideal = flow.ideal.unwrap();
        assert!(time < ideal * 3 / 2, "{transport}: {time}, ideal {ideal}");
    }
}

#[test]
fn flows_go_on_after_their_link_failed_while_it_was_paused() {
    let events = "[[event]]\nat = \"400 us\"\nfail = \"h4-l1\"\n[[event]]\nat = \"600 us\"\nheal = \"h4-l1\"\n\
                  [[event]]\nat = \"900 us\"\nfail_node = \"l1\"\n[[event]]\nat = \"1200 us\"\nheal_node = \"l1\"";
    for transport in HOSTS {
        let plan = leaf_spine(FABRIC, &incast(None), transport, &format!("limit = \"5 s\"\n{events}"));
        let (report, kept) = run_with_threads(&plan);
        assert!(kept.flows.iter().all(|flow| flow.end.is_some()), "{transport}: {:?}", report.counters);
    }
}
