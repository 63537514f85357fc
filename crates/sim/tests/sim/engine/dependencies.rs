//! Flows that wait for others start when those are done, with every transport and on any number of threads.

use weft_fabric::{Fabric, build};
use weft_sim::columns::FlowRecord;
use weft_sim::engine::Progress;
use weft_sim::record::{MemoryRecorder, RunReport};
use weft_sim::run::{run, run_with};
use weft_traffic::Flow;
use weft_traffic::Point::{Acknowledged, Received, Started};
use weft_transport::{Config, Mptcp, udp};
use weft_units::{Bytes, Duration, Rate, Time};

use crate::common::{MS, Trial, US, gigabit, parsed, plan, profile, scheme};
use crate::engine::threads::{busy, link, same_with_threads};

fn leaves() -> Fabric {
    build::spine_leaf(2, 3, 2, &gigabit(US(2)), &gigabit(US(2))).expect("the sizes are positive")
}

#[test]
fn a_flow_starts_at_once_where_it_is_known_that_the_others_are_done_and_elsewhere_a_lookahead_later() {
    let fabric = leaves();
    let multipath = Config { mptcp: Mptcp::Ndiffports, ..profile("linux") };
    for transport in [profile("linux"), multipath] {
        let trial = Trial::new(&fabric, scheme("ecmp"), transport);
        let trial = trial.flow(0, 2, 100_000, MS(1));
        let trial = trial.flow(2, 4, 100_000, MS(0)).after(0, Received, US(7));
        let trial = trial.flow(0, 5, 1_000, MS(0)).after(0, Acknowledged, US(0));
        let trial = trial.flow(0, 5, 1_000, MS(0)).after(0, Started, US(9));
        let trial = trial.flow(1, 3, 1_000, MS(0)).after(0, Received, US(3));
        // Two at different hosts, and a start of its own that is later.
        let trial = trial.flow(4, 0, 1_000, MS(0)).after(1, Received, US(0)).after(0, Received, US(0));
        let mut trial = trial.flow(4, 0, 1_000, MS(90)).after(1, Received, US(0));
        trial.flows.sort_by_key(|flow| flow.start);
        // Sorting has moved the first flow behind five others.
        let place = |id: u32| trial.flows.iter().position(|flow| flow.id.0 == id).unwrap() as u32;
        for need in &mut trial.needs {
            let moved = |node| match node {
                weft_traffic::Node::Flow(flow) => weft_traffic::Node::Flow(place(flow)),
                step @ weft_traffic::Node::Step(_) => step,
            };
            (need.waiting, need.on) = (moved(need.waiting), moved(need.on));
        }
        let outcome = trial.run();
        assert_eq!((outcome.report.flows_started, outcome.report.flows_finished), (7, 7));
        let start = |flow: usize| outcome.flows[flow].flow.start;
        let end = |flow: usize| outcome.flows[flow].end.expect("finished");
        // The least time of a packet between two switches.
        let lookahead = US(2) + Rate::from_gbps(1).tx_time(Bytes(84));
        assert_eq!(start(0), Time::ZERO + MS(1));
        assert_eq!(start(1), end(0) + US(7));
        assert!(start(2) > end(0) && start(2) < end(0) + US(50), "{} {}", start(2), end(0));
        assert_eq!(start(3), start(0) + US(9));
        assert_eq!(start(4), end(0) + lookahead + US(3));
        assert_eq!(start(5), end(1));
        assert_eq!(start(6), Time::ZERO + MS(90));
        for flow in &outcome.flows {
            assert!(flow.end.unwrap() - flow.flow.start >= flow.ideal.unwrap(), "{flow:?}");
        }
        same_with_threads(&trial, &[2, 3], |trial| trial.run());
    }
}

#[test]
fn a_flow_starts_when_a_source_is_done_that_sends_all_it_has_as_it_opens() {
    let fabric = leaves();
    let mut trial = Trial::linux(&fabric, "ecmp").limit(MS(5)).flow(0, 4, 100, US(5));
    trial.protocol = udp::Config::default().into();
    let trial = trial.flow(0, 1, 30_000, US(0)).after(0, Acknowledged, US(3));
    let trial = Trial {
        flows: trial.flows.iter().cloned().map(|flow| Flow { start: Time::ZERO + US(5), ..flow }).collect(),
        ..trial
    };
    let outcome = trial.run();
    assert_eq!(outcome.flows.iter().map(|flow| flow.flow.start - Time::ZERO).max(), Some(US(8)));
    same_with_threads(&trial, &[2, 3], |trial| trial.run());
}

#[test]
fn what_waits_for_a_flow_that_does_not_finish_never_starts_and_the_run_ends_at_its_limit() {
    let fabric = leaves();
    let trial = Trial::linux(&fabric, "ecmp").limit(MS(5)).flow(0, 2, 100_000_000, MS(0));
    let trial = trial.flow(2, 4, 1_000, MS(0)).after(0, Received, US(0)).flow(1, 3, 1_000, MS(0));
    let outcome = trial.run();
    assert_eq!((outcome.report.flows_started, outcome.report.flows_finished), (2, 1));
    assert_eq!(outcome.flows.len(), 2);
    assert!(outcome.report.end > Time::ZERO + MS(4), "{}", outcome.report.end);
    same_with_threads(&trial, &[2, 3], |trial| trial.run());
}

#[test]
fn flows_that_wait_say_the_same_with_any_number_of_threads() {
    let fabric = build::spine_leaf(3, 4, 3, &link(), &link()).expect("the sizes are positive");
    let multipath = Config { mptcp: Mptcp::Ndiffports, ..profile("linux") };
    for (name, transport) in [
        ("ecmp", profile("linux")),
        ("letflow", multipath),
        ("tcp_path", profile("dctcp")),
        ("arp_path", profile("linux")),
        ("smoc", profile("linux")),
    ] {
        let mut trial = busy(&fabric, scheme(name), transport);
        let flows = std::mem::take(&mut trial.flows);
        for (number, flow) in (0_u32..).zip(flows) {
            trial.flows.push(flow);
            if number > 3 {
                let points = [Received, Acknowledged];
                let point = |seed: u32| points[seed as usize % 2];
                trial = trial.after(number * 7 % (number - 2), point(number / 2), US(number.into()));
                trial = trial.after(number * 11 % (number - 1), point(number), US(0));
            }
        }
        println!("{name}");
        same_with_threads(&trial, &[2, 3, 4, 8], |trial| trial.run());
    }
}

/// TCP with windows as large as the data.
const WIDE: &str = "initial_window = 64";

/// A run of a collective among hosts of one switch.
fn collective(keys: &str, transport: &str, threads: usize) -> (RunReport, Vec<FlowRecord>) {
    let text = format!(
        "[fabric]\nkind = \"spine-leaf\"\nspines = 1\nleaves = 2\nhosts_per_leaf = 8\nrate = \"1 Gbps\"\n\
         delay = \"1 us\"\n[traffic]\n{keys}\n[scheme]\nname = \"ecmp\"\n[transport]\n{transport}\n\
         [run]\nduration = \"1 s\"\n"
    );
    let plan = plan(&parsed(&text), b"");
    let mut kept = MemoryRecorder::default();
    let report = match threads {
        1 => run(&plan, &Progress::default(), &mut kept),
        _ => run_with(&plan, threads, &Progress::default(), &mut kept),
    };
    let bounds: Vec<Duration> = plan.traffic.jobs.list().iter().map(|job| job.bound.time).collect();
    let report = report.expect("a known scheme");
    assert_eq!(report.flows_finished as usize, plan.traffic.flows.len(), "{keys}");
    for (job, bound) in report.jobs.iter().zip(bounds) {
        let took = job.end.unwrap() - job.start.unwrap();
        assert!(took >= bound, "{keys}: {took}, at least {bound}");
    }
    (report, kept.flows)
}

#[test]
fn collectives_take_their_closed_form_time_on_an_idle_fabric() {
    const BYTES: u64 = 8 * 14_480;
    for (keys, steps, computes) in [
        ("collective = \"ring-all-reduce\"\nranks = 8", vec![BYTES / 8; 14], 0),
        ("collective = \"ring-all-reduce\"\nranks = 8\ncompute = \"5 us\"", vec![BYTES / 8; 14], 13),
        ("collective = \"all-gather\"\nranks = 8", vec![BYTES / 8; 7], 0),
        (
            "collective = \"halving-doubling-all-reduce\"\nranks = 8",
            [2, 4, 8, 8, 4, 2].map(|parts| BYTES / parts).to_vec(),
            0,
        ),
        ("collective = \"tree-all-reduce\"\nranks = 2\nchunks = 2", vec![BYTES / 2; 3], 0),
        // Chunks of a sender follow each other after an acknowledgement, which with TCP may wait for a window of data.
        ("collective = \"pipeline\"\nranks = 4\nchunks = 4\ncompute = \"5 us\"", vec![BYTES / 4; 6], 2),
    ] {
        let transport = if keys.contains("pipeline") { "protocol = \"roce\"" } else { WIDE };
        let (report, flows) = collective(&format!("{keys}\nbytes = \"{BYTES} B\""), transport, 1);
        let ideal = |bytes: u64| {
            flows.iter().find(|flow| flow.flow.bytes == bytes).expect("such a flow").ideal.unwrap()
        };
        let took = report.jobs[0].end.unwrap() - report.jobs[0].start.unwrap();
        let least: Duration = steps.iter().fold(US(5 * computes), |sum, bytes| sum + ideal(*bytes));
        // Acknowledgements take their turn among a host's segments: one of at most 100 bytes for each segment of 1 500,
        // and four to open and close; a step has at least ten segments. With RoCE, one of 86 bytes for each of 1 082.
        let share = 1.0 + 14.0 * 100.0 / (10.0 * 1_500.0);
        let most = least.as_secs_f64() * share;
        assert!(took >= least && took.as_secs_f64() <= most, "{keys}: {took}, from {least} to {most} s");
    }
}

#[test]
fn an_all_to_all_takes_little_longer_than_its_bound_and_rounds_follow_each_other() {
    let keys = "collective = \"all-to-all\"\nranks = 4\nbytes = \"240 kB\"\nrepeats = 3\ncompute = \"10 us\"";
    let (report, flows) = collective(keys, WIDE, 1);
    assert_eq!((report.jobs.len(), flows.len()), (3, 36));
    for pair in report.jobs.windows(2) {
        // A rank that has received all may start a little earlier than the last one ends.
        assert!(pair[1].start.unwrap() > pair[0].start.unwrap() + US(1_440), "{pair:?}");
        assert!(pair[1].start.unwrap() < pair[0].end.unwrap() + US(100), "{pair:?}");
    }
    let (together, others) = collective(keys, WIDE, 2);
    assert_eq!(format!("{:?} {flows:?}", report.jobs), format!("{:?} {others:?}", together.jobs));
}

#[test]
fn a_large_barrier_starts_all_its_connections_when_the_last_one_before_it_is_received() {
    let scenario = parsed(
        "[fabric]\nkind = \"spine-leaf\"\nspines = 1\nleaves = 2\nhosts_per_leaf = 8\n[traffic]\ntrace = \"a.cm\"\n\
         [scheme]\nname = \"ecmp\"\n[run]\nduration = \"1 s\"\n",
    );
    // Eight connections, then eight of two nodes, started by one trigger.
    let on: String = (2..10)
        .map(|src| format!("{src}->{} start 0 size {src}0000 recv_done_trigger 1\n", src % 2))
        .collect();
    let then: String =
        (0..8).map(|at| format!("{}->{} trigger 1 size 50000\n", at % 2, 10 + at % 3)).collect();
    let text = format!("Nodes 16\nConnections 16\nTriggers 1\n{on}{then}trigger id 1 barrier count 8\n");
    let plan = plan(&scenario, text.as_bytes());
    // Two edges for each connection that the barrier joins, instead of one for each pair.
    assert_eq!(plan.traffic.dependencies.len(), 2 * 8 + 8);
    let mut kept = MemoryRecorder::default();
    let report = run(&plan, &Progress::default(), &mut kept).expect("a known scheme");
    assert_eq!(report.flows_finished, 16);
    let (first, later): (Vec<_>, Vec<_>) =
        kept.flows.iter().partition(|flow| flow.flow.bytes != 50_000 || flow.flow.dst.0 < 2);
    assert_eq!((first.len(), later.len()), (8, 8));
    let last = first.iter().filter_map(|flow| flow.end).max().unwrap();
    for flow in later {
        let wait = flow.flow.start.saturating_since(last);
        assert!(flow.flow.start >= last && wait < Duration::from_us(100), "{wait} after the last");
    }
}
