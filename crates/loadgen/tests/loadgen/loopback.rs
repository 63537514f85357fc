//! Flows over real sockets on loopback addresses: sizes, times and errors.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use crate::common::{Files, addresses, flow, lateness, lines, read, send, text, wait_for, workload};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::{Value, json};
use weft_loadgen::{Generator, GeneratorError, Style};

#[test]
fn every_byte_of_every_flow_arrives_and_times_are_in_order() {
    let flows: Vec<Value> = (0..100)
        .map(|n| flow(n, 40_000 + n as u16, 5_001 + n as u16 % 3, 1 + u64::from(n) * 7_919, u64::from(n)))
        .collect();
    let workload = workload(&addresses(), &flows, json!({}));
    let (outcome, records) = send(&workload, &[]);
    assert_eq!((outcome.finished, outcome.failed, outcome.strangers), (100, 0, 0));
    assert_eq!(outcome.bytes, (0..100).map(|n| 1 + n * 7_919).sum::<u64>());
    assert_eq!(records.len(), 100);
    for (record, flow) in records.iter().zip(&flows) {
        let time = |key: &str| record[key].as_u64().unwrap_or_else(|| panic!("{key} of {record}"));
        assert!(flow["start_ps"].as_u64().unwrap() <= time("start_ps"), "{record}");
        assert!(time("start_ps") < time("established_ps") && time("established_ps") < time("end_ps"));
        // Loopback loses nothing, but Linux sends a tail loss probe when a busy machine acknowledges late. The receiver
        // gets a probe, too, perhaps after its counters were read.
        let (sent, resent) = (time("packets_sent"), time("retransmissions"));
        assert!(resent < sent && record["error"].is_null(), "{record}");
        assert!((sent - resent..=sent).contains(&time("segments_received")), "{record}");
    }
    assert_eq!((outcome.lateness, outcome.congestion.len()), (lateness(&records, &flows), 1));
}

#[test]
fn samples_add_up_to_what_was_delivered() {
    let flows = [flow(0, 40_000, 5_001, 5_000, 0), flow(1, 40_001, 5_001, 3_000_000, 35)];
    let workload = workload(&addresses(), &flows, json!({"sample_ps": 10_000_000_000_u64}));
    let (_, lines) = send(&workload, &[]);
    let samples: Vec<&Value> = lines.iter().filter(|line| line["flow"].is_null()).collect();
    let of = |class: &str| {
        let samples = samples.iter().filter(|sample| sample["class"] == class);
        samples.map(|sample| sample["delivered_bytes"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    // On a busy machine, the bytes arrive in a later interval than the first, or after the last sample.
    let mice = of("mouse");
    let end = lines.iter().find(|line| line["flow"] == 0).and_then(|line| line["end_ps"].as_u64()).unwrap();
    let times = samples.iter().map(|sample| sample["time_ps"].as_u64().unwrap());
    let arrived: Vec<u64> = mice.iter().copied().filter(|bytes| *bytes > 0).collect();
    let are_late = arrived.is_empty() && times.max().is_none_or(|last| end >= last);
    assert!(mice.len() >= 3 && (arrived == [5_000] || are_late), "{mice:?}, {end} ps");
    assert!(of("rabbit").len() >= 3 && of("rabbit").iter().sum::<u64>() <= 3_000_000);
}

#[test]
fn the_congestion_control_is_read_back_and_one_that_is_not_there_is_refused_with_those_that_are() {
    let flows = [flow(0, 40_000, 5_001, 5_000, 0)];
    let (outcome, _) = send(&workload(&addresses(), &flows, json!({"congestion": "reno"})), &[]);
    assert_eq!(outcome.congestion.iter().collect::<Vec<_>>(), ["reno"]);
    let none = workload(&addresses(), &flows, json!({"congestion": "nosuchthing"}));
    let error = Generator::open(&none, vec![true, true], Vec::new(), Style::Quiet).err().unwrap();
    let text = error.to_string();
    assert!(text.contains("`h0` cannot use the congestion control `nosuchthing`"), "{text}");
    assert!(text.contains("reno"), "{text}");
}

#[test]
fn ports_that_are_taken_are_the_error_of_their_flows_alone() {
    let addresses = addresses();
    let taken = [TcpListener::bind((&*addresses[1], 5_002)), TcpListener::bind((&*addresses[0], 40_003))];
    let flows = [
        flow(1, 40_001, 5_001, 5_000, 0),
        flow(2, 40_002, 5_002, 5_000, 1),
        flow(3, 40_003, 5_001, 5_000, 2),
    ];
    let (outcome, records) = send(&workload(&addresses, &flows, json!({})), &[]);
    drop(taken);
    assert_eq!((outcome.finished, outcome.failed), (1, 2));
    let error = |at: usize| records[at]["error"].as_str().unwrap_or_default().to_owned();
    assert_eq!(error(0), "");
    let listen = format!("listen at {}:5002: Address already in use", addresses[1]);
    assert!(error(1).starts_with(&listen), "{}", error(1));
    let bind = format!("bind to {}:40003: Address already in use", addresses[0]);
    assert!(error(2).starts_with(&bind), "{}", error(2));
    assert_eq!(records[1]["start_ps"], Value::Null);
}

#[test]
fn nobody_there_and_a_receiver_that_never_reads_are_recorded_at_once_and_at_the_limit() {
    let addresses = addresses();
    let deaf = TcpListener::bind((&*addresses[1], 5_002)).unwrap();
    let flows =
        [flow(1, 40_001, 5_001, 5_000, 0), flow(2, 40_002, 5_002, 5_000, 0), flow(3, 40_003, 5_001, 9, 900)];
    let workload = workload(&addresses, &flows, json!({"limit_ps": 300_000_000_000_u64}));
    let (outcome, records) = send(&workload, &["h0"]);
    drop(deaf);
    assert_eq!((outcome.finished, outcome.failed, outcome.interrupted), (0, 3, false));
    assert!(outcome.elapsed_ps >= 300_000_000_000, "{outcome}");
    let error = |at: usize| records[at]["error"].as_str().unwrap().to_owned();
    assert!(error(0).contains("connect to") && error(0).contains("Connection refused"), "{}", error(0));
    assert_eq!(error(1), "the run's time limit was reached");
    assert!(
        records[1]["established_ps"].is_u64() && records[1]["packets_sent"] == json!(1),
        "{}",
        records[1]
    );
    assert_eq!(error(2), "the run's time limit was reached before the flow started");
}

#[test]
fn two_machines_that_start_together_have_each_its_half_of_every_record() {
    let flows: Vec<Value> = (0..20).map(|n| flow(n, 40_000 + n as u16, 5_001, 50_000, 5)).collect();
    let start =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap() + Duration::from_millis(300);
    let both = workload(&addresses(), &flows, json!({"start_at_ns": start.as_nanos() as u64}));
    let ((left, sent), (right, received)) = std::thread::scope(|scope| {
        let receiver = scope.spawn(|| send(&both, &["h1"]));
        (send(&both, &["h0"]), receiver.join().unwrap())
    });
    assert_eq!((left.finished, right.finished, left.bytes, right.bytes), (20, 20, 0, 1_000_000));
    for (sent, received) in sent.iter().zip(&received) {
        assert_eq!(sent["flow"], received["flow"]);
        assert!(sent["end_ps"].is_null() && received["start_ps"].is_null());
        assert!(sent["start_ps"].as_u64().unwrap() < received["end_ps"].as_u64().unwrap());
    }
}

#[test]
fn a_start_that_is_over_is_refused() {
    let late = workload(&addresses(), &[], json!({"start_at_ns": 1}));
    let error = Generator::open(&late, vec![true, true], Vec::new(), Style::Quiet).err();
    assert!(matches!(error, Some(GeneratorError::Over { .. })), "{error:?}");
}

#[test]
fn an_interrupted_run_leaves_a_record_of_every_flow() {
    let addresses = addresses();
    let flows = [flow(0, 40_000, 5_001, 5_000, 0), flow(1, 40_001, 5_001, 5_000, 9_000)];
    let files = Files::new(&text(&addresses, &flows, json!({})));
    let mut child = files.command().args(["--progress", "json"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut events = Vec::new();
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if event["event"] == "progress" && event["finished"] == 1 && events.len() < 20 {
            kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        }
        events.push(event);
    }
    let status = child.wait().unwrap();
    let records = lines(&std::fs::read(files.records()).unwrap());
    assert_eq!(status.code(), Some(130), "{events:?}");
    assert_eq!((events[0]["event"].as_str(), events[0]["flows"].as_u64()), (Some("ready"), Some(2)));
    assert_eq!(events.last().unwrap()["interrupted"], json!(true));
    assert!(
        records[0]["end_ps"].is_u64()
            && records[1]["error"] == json!("the run was interrupted before the flow started")
    );
}

#[test]
fn a_run_that_cannot_start_keeps_the_records_of_the_one_before() {
    let addresses = addresses();
    let files = Files::new(&text(&addresses, &[], json!({"start_at_ns": 1})));
    std::fs::write(files.records(), "of before\n").unwrap();
    let done = files.command().output().unwrap();
    let kept = std::fs::read_to_string(files.records()).unwrap();
    assert_eq!((done.status.code(), kept.as_str()), (Some(2), "of before\n"), "{done:?}");
}

#[test]
fn a_listener_that_lacks_descriptors_waits_idly_and_goes_on_once_it_has_them() {
    let addresses = addresses();
    let text = text(&addresses, &[flow(0, 40_000, 5_001, 5_000, 0)], json!({}));
    let files = Files::new(&text);
    let mut receiver = files.command();
    receiver.args(["--host", "h1", "--progress", "json"]).stderr(Stdio::piped());
    let mut receiver = receiver.spawn().unwrap();
    let mut events = BufReader::new(receiver.stderr.take().unwrap()).lines();
    assert!(events.next().unwrap().unwrap().contains("ready"));
    let pid = Pid::from_child(&receiver);
    let limit = |current| Rlimit { current: Some(current), maximum: Some(1024) };
    // Its standard streams are the only descriptors below.
    prlimit(Some(pid), Resource::Nofile, limit(3)).unwrap();
    let sender = std::thread::spawn(move || send(&read(&text), &["h0"]));
    let address: Ipv4Addr = addresses[1].parse().unwrap();
    let listener = format!("{:08X}:{:04X} 00000000:0000 0A", address.to_bits().swap_bytes(), 5_001);
    wait_for("a connection that is not accepted", || {
        let text = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let line = text.lines().find(|line| line.contains(&listener)).unwrap_or_else(|| panic!("{text}"));
        // After the state come the queues: not yet sent, and not yet accepted.
        !line.contains(&format!("{listener} 00000000:00000000"))
    });
    wait_for("the receiver sleeps", || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", receiver.id())).unwrap();
        stat.rsplit(')').next().unwrap().trim_start().starts_with('S')
    });
    prlimit(Some(pid), Resource::Nofile, limit(64)).unwrap();
    assert_eq!(sender.join().unwrap().0.finished, 1);
    assert_eq!(events.map(Result::unwrap).filter(|event| event.contains("\"done\"")).count(), 1);
    assert!(receiver.wait().unwrap().success());
}
