//! Hosts that pace their packets, with a link of which flow control pauses one class.

use weft_units::Duration;

use super::{leaf_spine, run_with_threads};

#[test]
fn a_paused_class_does_not_block_the_others_of_its_host() {
    let bulk = (1..8)
        .map(|from| format!("{{ src = \"h{from}\", dst = \"h0\", bytes = \"2 MB\", start = \"0 s\" }}"));
    let urgent =
        "{ src = \"h4\", dst = \"h5\", bytes = \"200 kB\", start = \"200 us\", dscp = 32 }".to_owned();
    let flows: Vec<String> = bulk.chain([urgent]).collect();
    let traffic = format!("flow_list = [{}]", flows.join(", "));
    let fabric = "queue = \"100 kB\"\nqueues = { scheduler = \"strict-priority\", weights = [1, 1] }\npfc = { queues = [1] }";
    for transport in [
        "protocol = \"roce\"\ncongestion_control = \"off\"",
        "protocol = \"uec\"\ncongestion = \"fixed\"\nwindow = 200",
    ] {
        let plan = leaf_spine(fabric, &traffic, transport, "limit = \"1 s\"");
        let (report, kept) = run_with_threads(&plan);
        assert_eq!(report.counters.packets_dropped.iter().sum::<u64>(), 0, "{transport}");
        let paused = report.links.iter().filter_map(|link| Some(link.port?.paused)).max();
        assert!(paused > Some(Duration::from_us(500)), "{transport}: {paused:?}");
        let flow = kept.flows.iter().find(|flow| flow.flow.dscp == 32).expect("it was sent");
        let time = flow.end.expect("it finishes") - flow.flow.start;
        assert!(time < flow.ideal * 3 / 2, "{transport}: {time}, ideal {}", flow.ideal);
    }
}
