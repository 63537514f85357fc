//! Sources of one host wait in turn for its interface: nothing is lost or marked there, large flows share it, a small flow
//! passes them, and the line never idles.

use weft_scenario::Plan;
use weft_sim::record::RunReport;
use weft_units::{Duration, Time};

use super::{leaf_spine, planned, run, run_with_threads};

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

#[test]
fn a_queue_of_one_packet_takes_a_call_for_a_packet() {
    let traffic = "flow_list = [\
        { src = \"h0\", dst = \"h4\", bytes = \"1 MB\" },\
        { src = \"h0\", dst = \"h5\", bytes = \"1 MB\" }]";
    let events = |queue: &str| {
        let ports = format!("host_queue = \"{queue}\"");
        let plan = leaf_spine(&ports, traffic, "profile = \"ns3-3.37\"", "limit = \"2 s\"");
        let (report, _) = run(&plan, 1);
        assert_eq!(report.flows_finished, 2);
        report.counters.events
    };
    let usual = events("4 packets");
    for queue in ["1 packet", "900 B"] {
        assert!(events(queue) < 2 * usual, "{queue}: {} events, {usual} with four packets", events(queue));
    }
}

#[test]
fn an_urgent_flow_waits_neither_for_other_sources_nor_for_a_paused_class() {
    let bulk = "{ src = \"h0\", dst = \"h4\", bytes = \"4 MB\" },".repeat(20);
    let others: String =
        (1..4).map(|n| format!("{{ src = \"h{n}\", dst = \"h4\", bytes = \"20 MB\" }},")).collect();
    let urgent = "{ src = \"h0\", dst = \"h5\", bytes = \"100 kB\", dscp = 56, start = \"2 ms\" }";
    let two = "queues = { weights = [1, 1], scheduler = \"strict-priority\" }";
    for (ports, more) in [
        (format!("{two}\nqueue = \"100 packets\""), ""),
        // h4's edge is full, and pauses the class of the large flows at all hosts for most of the time.
        (format!("{two}\nqueue = \"1 MB\"\nbuffer = \"1 MB\"\npfc = {{ queues = [1] }}"), &*others),
    ] {
        for transport in ["profile = \"dctcp\"", "protocol = \"udp\"\nrate = \"9 Gbps\""] {
            let traffic = format!("flow_list = [{bulk}{more}{urgent}]");
            let plan = leaf_spine(&ports, &traffic, transport, "limit = \"5 s\"");
            let (_, kept) = run(&plan, 1);
            let last = kept.flows.last().unwrap();
            let took = last.end.expect("it ends") - last.flow.start;
            // 69 packets take 85 us, windows of 10 segments some round trips.
            assert!(took < Duration::from_us(300), "{ports} {transport}: {took}");
        }
    }
}

#[test]
fn no_interface_of_a_host_with_several_gets_more_than_its_queue_and_all_are_used() {
    let links = [("h0-a", "1 Gbps"), ("h0-b", "100 Mbps"), ("h1-a", "1 Gbps"), ("h1-b", "100 Mbps")];
    let links = links.map(|(cable, rate)| {
        let (host, switch) = cable.split_once('-').unwrap();
        format!("[[link]]\nbetween = [\"{host}\", \"{switch}\"]\nrate = \"{rate}\"\n")
    });
    let nodes = ["h0", "h1", "a", "b"].map(|name| {
        let role = if name.starts_with('h') { "host" } else { "switch" };
        format!("[[node]]\nname = \"{name}\"\nrole = \"{role}\"\n")
    });
    for profile in ["ns3-3.37", "linux"] {
        let text = format!(
            "[fabric]\nfile = \"two.toml\"\nhost_queue = \"4 packets\"\n[traffic]\nflow_list = [\
             {{ src = \"h0\", dst = \"h1\", bytes = \"10 MB\" }}, {{ src = \"h0\", dst = \"h1\", bytes = \"10 MB\" }}]\n\
             [scheme]\nname = \"ecmp\"\n[transport]\nprofile = \"{profile}\"\nmptcp = \"fullmesh\"\n\
             [run]\nduration = \"10 ms\"\nlimit = \"5 s\"\n"
        );
        let plan = planned(&text, &[nodes.concat(), links.concat()].concat());
        let (report, kept) = run_with_threads(&plan);
        assert_eq!((report.flows_finished, lost_and_marked(&plan, &report)), (2, (0, 0)), "{profile}");
        let links = plan.fabric.links().iter().zip(&report.links);
        let own = links.filter(|(link, _)| plan.fabric.node(link.from).name == "h0");
        for (link, report) in own {
            let most = report.counters.max_backlog.0;
            // Four full packets, the packet that is sent, and acknowledgements, which do not wait.
            assert!(most <= 6 * 1_538, "{profile}: {most} bytes at {}", link.rate.bps());
            assert!(report.counters.wire_bytes > 100_000, "{profile}: {} is not used", link.rate.bps());
        }
        let last = kept.flows.iter().map(|flow| flow.end.expect("it ends")).max().unwrap();
        // 20 MB over 1.1 Gbps, and a quarter for slow start.
        let wire = if profile == "linux" { 1_538.0 / 1_448.0 } else { 614.0 / 536.0 };
        let most = 1.25 * wire * 20e6 * 8.0 / 1.1e9;
        assert!(last.saturating_since(Time::ZERO).as_secs_f64() < most, "{profile}: {last}, not {most} s");
    }
}
