//! Sources of one host wait in turn for its interface: nothing is lost or marked there, large flows share it, a small flow
//! passes them, and the line never idles.

use weft_scenario::Plan;
use weft_sim::record::RunReport;
use weft_units::Duration;

use super::{leaf_spine, run, run_with_threads};

/// Packets dropped and marked at interfaces of hosts.
fn lost_and_marked(plan: &Plan, report: &RunReport) -> (u64, u64) {
    let links = plan.fabric.links().iter().zip(&report.links);
    let own = links.filter(|(link, _)| plan.fabric.node(link.from).is_host());
    own.fold((0, 0), |(drops, marks), (_, report)| {
        (drops + report.counters.drops, marks + report.counters.marks)
    })
}

const TRANSPORTS: [&str; 5] = [
    "profile = \"linux\"",
    "profile = \"dctcp\"",
    "profile = \"ns3-3.26\"",
    "profile = \"linux\"\nmptcp = \"ndiffports\"\nsubflows = 2",
    "protocol = \"udp\"\nrate = \"9 Gbps\"",
];

#[test]
fn a_small_flow_passes_the_large_ones_of_its_host() {
    let traffic = "flow_list = [\
        { src = \"h0\", dst = \"h4\", bytes = \"4 MB\" },\
        { src = \"h0\", dst = \"h5\", bytes = \"4 MB\" },\
        { src = \"h0\", dst = \"h6\", bytes = \"4 MB\" },\
        { src = \"h0\", dst = \"h7\", bytes = \"1 kB\", start = \"5 ms\" }]";
    for transport in TRANSPORTS {
        let ports = "queue = \"100 packets\"\necn_threshold = \"20 packets\"";
        let plan = leaf_spine(ports, traffic, transport, "limit = \"2 s\"");
        let (report, kept) = run_with_threads(&plan);
        assert_eq!(lost_and_marked(&plan, &report), (0, 0), "{transport}");
        let times = kept.flows.iter().map(|flow| flow.end.expect("it ends") - flow.flow.start);
        let times: Vec<Duration> = times.collect();
        assert!(times[3] < Duration::from_us(60), "{transport}: {}", times[3]);
        let (first, last) = (times[..3].iter().min().unwrap(), times[..3].iter().max().unwrap());
        assert!(last.ps() < first.ps() * 5 / 4, "{transport}: {first} and {last}");
        // 12 MB at 10 Gbps take 9.6 ms and headers; what is more is handshakes, slow start and short windows.
        let most = if transport.contains("ns3") { 14 } else { 11 };
        assert!(*last < Duration::from_ms(most), "{transport}: {last}");
    }
}

#[test]
fn a_host_whose_queue_is_that_of_a_switch_marks_and_drops() {
    let traffic = "flow_list = [\
        { src = \"h0\", dst = \"h4\", bytes = \"4 MB\" },\
        { src = \"h0\", dst = \"h5\", bytes = \"4 MB\" }]";
    let ports = "queue = \"30 packets\"\necn_threshold = \"20 packets\"\nhost_queue = \"as-switches\"";
    let (drops, marks) = {
        let plan = leaf_spine(ports, traffic, "profile = \"dctcp\"\nsmall_queues = false", "limit = \"2 s\"");
        lost_and_marked(&plan, &run(&plan, 1).0)
    };
    assert!(drops > 0 && marks > 0, "{drops} drops, {marks} marks");
}

#[test]
fn a_longer_queue_of_a_host_lets_packets_wait_in_it() {
    let traffic = "flow_list = [{ src = \"h0\", dst = \"h4\", bytes = \"4 MB\" }]";
    let longest = |queue: &str| {
        let transport = "profile = \"ns3-3.37\"";
        let plan = leaf_spine(&format!("host_queue = \"{queue}\""), traffic, transport, "limit = \"2 s\"");
        let (report, _) = run(&plan, 1);
        let links = plan.fabric.links().iter().zip(&report.links);
        let own = links.filter(|(link, _)| plan.fabric.node(link.from).is_host());
        own.map(|(_, report)| report.counters.max_backlog.0).max().unwrap()
    };
    let (few, some, all) = (longest("4 packets"), longest("50 packets"), longest("unlimited"));
    assert!(few <= 5 * 632 && some > 40 * 632 && some <= 51 * 632 && all > 100 * 632, "{few} {some} {all}");
}

#[test]
fn subflows_and_connections_that_small_queues_hold_wait_in_line_as_well() {
    let traffic = "flow_list = [\
        { src = \"h0\", dst = \"h4\", bytes = \"2 MB\" },\
        { src = \"h0\", dst = \"h5\", bytes = \"2 MB\" },\
        { src = \"h1\", dst = \"h4\", bytes = \"2 MB\" }]";
    let loss = "[[event]]\nat = \"1 ms\"\nfail = \"l0-s0\"\n[[event]]\nat = \"300 ms\"\nheal = \"l0-s0\"";
    for mptcp in ["off", "fullmesh", "ndiffports"] {
        for rate in ["100 Mbps", "10 Gbps"] {
            let transport = format!("profile = \"linux\"\nmptcp = \"{mptcp}\"");
            let ports = format!("host_rate = \"{rate}\"\nqueue = \"50 packets\"");
            let rest = format!("limit = \"20 s\"\n{loss}");
            let plan = leaf_spine(&ports, traffic, &transport, &rest);
            let (report, _) = run(&plan, 1);
            assert_eq!(
                (report.flows_finished, lost_and_marked(&plan, &report)),
                (3, (0, 0)),
                "{mptcp} {rate}"
            );
        }
    }
}
