//! Hosts with UDP.

use weft_sim::columns::FlowRecord;
use weft_units::{Duration, Time};

use super::{leaf_spine, run, run_with_threads};

#[test]
fn a_constant_rate_flow_ends_when_its_last_datagram_has_crossed_the_fabric() {
    let traffic = "pairs = [[\"h0\", \"h7\"]]\nflows = 1\nsizes = { fixed = \"1.472 MB\" }";
    let plan = leaf_spine("", traffic, "protocol = \"udp\"\nrate = \"4 Gbps\"", "");
    let (report, kept) = run(&plan, 1);
    let flow = &kept.flows[0];
    // 999 gaps of 2.944 us, then a datagram of 1538 bytes on the wire over each hop.
    let hops = u64::from(flow.hops);
    let expected =
        Duration::from_ns(2_944) * 999 + (Duration::from_ps(1_230_400) + Duration::from_us(1)) * hops;
    assert_eq!((report.flows_finished, flow.packets_sent, flow.retransmissions), (1, 1000, 0));
    assert_eq!(flow.end.map(|end| end - flow.flow.start), Some(expected));
    assert_eq!(flow.ideal, Some(expected));
    assert_eq!(flow.delay, Some((Duration::from_ps(1_230_400) + Duration::from_us(1)) * hops));
    assert_eq!(flow.jitter, Some(Duration::ZERO));
}

#[test]
fn a_flow_that_loses_datagrams_ends_unfinished_after_lingering() {
    let traffic = "pairs = [[\"h0\", \"h7\"], [\"h1\", \"h7\"], [\"h6\", \"h7\"]]\nflows = 3\nsizes = { fixed = \"2 MB\" }";
    let transport = "protocol = \"udp\"\nrate = \"8 Gbps\"\nlinger = \"1 ms\"";
    let plan = leaf_spine("queue = \"20 packets\"", traffic, transport, "limit = \"20 ms\"");
    let (report, kept) = run_with_threads(&plan);
    let lost = kept.flows.iter().map(|flow| flow.drops).sum::<u64>();
    assert!(lost > 100 && kept.flows.iter().any(|flow| flow.end.is_none()), "{lost} lost");
    assert_eq!(report.counters.packets_in_flight, 0);
    for flow in &kept.flows {
        assert_eq!(flow.packets_sent, flow.drops + flow.first_transmissions_received);
        assert_eq!(flow.end.is_some(), flow.drops == 0);
    }
    assert!(report.end < Time::ZERO + Duration::from_ms(10), "{}", report.end);
}

#[test]
fn a_datagram_that_a_switch_has_cut_is_lost() {
    let traffic = "pairs = [[\"h0\", \"h7\"], [\"h1\", \"h7\"], [\"h6\", \"h7\"]]\nflows = 3\nsizes = { fixed = \"2 MB\" }";
    let transport = "protocol = \"udp\"\nrate = \"8 Gbps\"\nlinger = \"1 ms\"";
    let ports = "queue = \"20 packets\"\nqueues = { weights = [1, 1] }\ntrim = true";
    let (_, kept) = run_with_threads(&leaf_spine(ports, traffic, transport, "limit = \"20 ms\""));
    let missing = |flow: &FlowRecord| flow.packets_sent - flow.first_transmissions_received;
    let cut = kept.flows.iter().map(|flow| missing(flow) - flow.drops).sum::<u64>();
    assert!(cut > 100, "{cut} cut");
    assert!(kept.flows.iter().all(|flow| flow.end.is_some() == (missing(flow) == 0)), "{:?}", kept.flows);
    // Lost headers were data, too.
    let ports = format!("{ports}\ntrim_queue = \"1 packets\"");
    let pairs: String = (0..7).map(|host| format!("[\"h{host}\", \"h7\"], ")).collect();
    let traffic = format!("pairs = [{pairs}]\nflows = 7\nsizes = {{ fixed = \"2 MB\" }}");
    let (report, kept) = run_with_threads(&leaf_spine(&ports, &traffic, transport, "limit = \"20 ms\""));
    let lost = report.counters.packets_dropped.iter().sum::<u64>();
    assert!(lost > 100, "{lost} lost");
    assert_eq!(kept.flows.iter().map(|flow| flow.drops).sum::<u64>(), lost);
}

#[test]
fn a_source_that_is_on_half_of_the_time_takes_twice_as_long() {
    let traffic = "pairs = \"permutation\"\nflows = 8\nsizes = { fixed = \"2 MB\" }";
    let ends = |pattern: &str| {
        let times = "mean_on = \"50 us\"\nmean_off = \"50 us\"";
        let transport = format!("protocol = \"udp\"\nrate = \"1 Gbps\"\npattern = \"{pattern}\"\n{times}");
        let (_, kept) = run(&leaf_spine("", traffic, &transport, "limit = \"200 ms\""), 1);
        let times = kept
            .flows
            .iter()
            .map(|flow| (flow.end.expect("nothing is lost") - flow.flow.start).as_secs_f64());
        times.sum::<f64>() / kept.flows.len() as f64
    };
    let ratio = ends("on-off") / ends("constant");
    assert!((1.8..2.2).contains(&ratio), "{ratio}");
}

#[test]
fn datagrams_that_arrive_do_not_change_when_a_host_sends_its_own() {
    let own: String =
        (4..7).map(|n| format!("{{ src = \"h0\", dst = \"h{n}\", bytes = \"4 MB\" }},")).collect();
    let other = "{ src = \"h7\", dst = \"h0\", bytes = \"4 MB\", start = \"13 us\" }";
    let delays = |other: &str| {
        let traffic = format!("flow_list = [{own}{other}]");
        let (_, kept) = run(&leaf_spine("", &traffic, "protocol = \"udp\"\nrate = \"9 Gbps\"", ""), 1);
        let own = kept.flows.iter().filter(|flow| flow.flow.start == Time::ZERO);
        own.map(|flow| (flow.end, flow.delay)).collect::<Vec<_>>()
    };
    assert_eq!(delays(other), delays(""));
    assert_eq!(delays("").len(), 3);
}
