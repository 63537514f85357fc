//! RoCE's congestion controls over switches: HPCC's telemetry on the wire, and the queue of an incast.

use weft_sim::record::{MemoryRecorder, RunReport};
use weft_sim::sample::Metric;
use weft_units::{HostId, PortId};

use super::{leaf_spine, run, run_with_threads};

fn transport(control: &str) -> String {
    format!("protocol = \"roce\"\ncongestion_control = \"{control}\"")
}

#[test]
fn telemetry_takes_its_bytes_on_the_wire_in_both_directions() {
    let traffic = "pairs = [[\"h0\", \"h7\"]]\nflows = 1\nsizes = { fixed = \"10 kB\" }";
    for (more, bytes) in [("", 2 + 8 * 5), ("\nhpcc_hops = 3", 2 + 8 * 3)] {
        let plan = leaf_spine("queue = \"300 kB\"", traffic, &(transport("hpcc") + more), "");
        let (report, kept) = run_with_threads(&plan);
        let flow = &kept.flows[0];
        assert_eq!(flow.end.map(|end| end - flow.flow.start), flow.ideal);
        let sent = |host: u32| {
            let id = plan.fabric.ports(plan.fabric.host_node(HostId(host)))[PortId(0).0 as usize];
            report.links.iter().find(|link| link.id == id).expect("its link").counters.wire_bytes
        };
        // Ten packets of 1000 bytes behind 44 of headers, and as many acknowledgements of 48, in frames.
        assert_eq!([sent(0), sent(7)], [10 * (1044 + bytes + 38), 10 * (48 + bytes + 38)]);
    }
}

/// The outcome of an incast of seven flows of 3 MB at 10 Gbps, and the mean queue in bytes at its receiver's port,
/// after its first millisecond.
fn incast(control: &str, more: &str) -> (RunReport, MemoryRecorder, f64) {
    let traffic =
        "pairs = { incast = { fan_in = 7, receiver = \"h0\" } }\nflows = 7\nsizes = { fixed = \"3 MB\" }";
    let fabric = "queue = \"4 MB\"\nred = { kmin = \"50 kB\", kmax = \"200 kB\", pmax = 0.2 }";
    let rest = "limit = \"1 s\"\n[measure]\ninterval = \"20 us\"";
    let plan = leaf_spine(fabric, traffic, &format!("{}{more}", transport(control)), rest);
    let (report, kept) = run(&plan, 1);
    assert_eq!((report.flows_finished, report.counters.packets_dropped.iter().sum::<u64>()), (7, 0));
    let port = plan.fabric.ports(plan.fabric.host_node(HostId(0)))[0].reverse();
    let queues: Vec<f64> = kept
        .samples
        .iter()
        .filter(|sample| sample.metric == Metric::QueueBytes && sample.entity == port.0)
        .filter(|sample| (1e-3..10e-3).contains(&sample.time.as_secs_f64()))
        .map(|sample| sample.value)
        .collect();
    let mean = queues.iter().sum::<f64>() / queues.len() as f64;
    (report, kept, mean)
}

#[test]
fn in_an_incast_hpcc_keeps_the_queue_far_below_that_of_dcqcn() {
    let (_, _, dcqcn) = incast("dcqcn", "");
    let (_, kept, hpcc) = incast("hpcc", "");
    println!("mean queue: {hpcc:.0} B with HPCC, {dcqcn:.0} B with DCQCN");
    // As in the paper: a queue near zero, less than a packet of each sender.
    assert!(hpcc < 7.0 * 1124.0 && hpcc < dcqcn / 5.0, "{hpcc} {dcqcn}");
    let ends = kept.flows.iter().map(|flow| (flow.end.expect("it ends") - flow.flow.start).as_secs_f64());
    let last = ends.fold(0.0, f64::max);
    // 21 MB at 0.95 of 10 Gbps, of which 1000 of 1124 bytes are payload.
    let least = 21e6 * 8.0 / 9.5e9 * 1.124;
    assert!(last > 0.99 * least && last < 1.1 * least, "{last} of {least}");
}

#[test]
fn in_an_incast_swift_keeps_the_delay_near_its_target() {
    let (_, kept, mean) = incast("swift", "");
    // Windows of less than a packet to several: the target is between that without flow scaling and that with all of
    // it.
    let delay = mean * 8.0 / 10e9 * 1e6;
    println!("queueing delay: {delay:.1} us");
    assert!(delay > 10.0 && delay < 20.0 + 3.0 * 3.053 + 100.0, "{delay}");
    assert!(kept.flows.iter().all(|flow| flow.retransmissions == 0));
}
