//! Two hosts in their own network namespaces, joined by a link, like the hosts of an emulation.

use crate::common::{flow, lateness, read, send, text};
use crate::hosts::{Host, pair};
use serde_json::{Value, json};
use weft_loadgen::Workload;

fn workload(hosts: &[Host; 2], flows: &[Value], congestion: &str) -> Workload {
    let more = json!({"congestion": congestion, "limit_ps": 20_000_000_000_000_u64});
    let mut text = text(&["10.0.0.1".to_owned(), "10.0.0.2".to_owned()], flows, more);
    for (n, host) in hosts.iter().enumerate() {
        text["hosts"][n]["netns"] = json!(host.netns());
    }
    read(&text)
}

#[test]
#[ignore = "needs root"]
fn two_hundred_flows_start_at_their_time_and_arrive_whole() {
    let hosts = pair();
    let mut flows: Vec<Value> = (0..200_u32)
        .map(|n| {
            let (sport, dport) = (33_000 + (n * 37 % 20_000) as u16, 5_001 + (n % 4) as u16);
            flow(n, sport, dport, 1 + u64::from(n * n) * 11, u64::from(n) * 3)
        })
        .collect();
    for flow in flows.iter_mut().step_by(2) {
        (flow["src"], flow["dst"], flow["dscp"]) = (json!("h1"), json!("h0"), json!(10));
    }
    let (outcome, records) = send(&workload(&hosts, &flows, "reno"), &[]);
    assert_eq!((outcome.finished, outcome.failed, outcome.strangers), (200, 0, 0), "{records:?}");
    assert_eq!(outcome.bytes, flows.iter().map(|flow| flow["bytes"].as_u64().unwrap()).sum::<u64>());
    assert_eq!(outcome.congestion.iter().collect::<Vec<_>>(), ["reno"]);
    for record in &records {
        assert!(record["end_ps"].as_u64() > record["start_ps"].as_u64(), "{record}");
    }
    assert_eq!(outcome.lateness, lateness(&records, &flows));
    let again = send(&workload(&hosts, &flows, "reno"), &[]).0;
    assert_eq!(again.failed, 0, "ports of connections in TIME_WAIT must be reusable");
}

#[test]
#[ignore = "needs root"]
fn what_a_narrow_link_drops_is_counted_by_the_kernel() {
    let hosts = pair();
    hosts[0].run("tc", "qdisc add dev eth0 root tbf rate 20mbit burst 3000 limit 15000");
    let flows: Vec<Value> = (0..4).map(|n| flow(n, 40_000 + n as u16, 5_001, 400_000, 0)).collect();
    let (outcome, records) = send(&workload(&hosts, &flows, "cubic"), &[]);
    assert_eq!((outcome.finished, outcome.failed), (4, 0), "{records:?}");
    let sum = |key: &str| records.iter().map(|record| record[key].as_u64().unwrap()).sum::<u64>();
    assert!(sum("retransmissions") > 0 && sum("out_of_order") > 0, "{records:?}");
    assert!(
        sum("packets_sent") > sum("segments_received"),
        "dropped segments must not be counted as received: {records:?}"
    );
}

#[test]
fn a_namespace_that_is_not_there_is_named() {
    let text = json!({
        "hosts": [{"name": "h0", "address": "10.0.0.1", "netns": "/nowhere/net"}], "flows": [], "limit_ps": 1,
    });
    let workload = read(&text);
    let error =
        weft_loadgen::Generator::open(&workload, vec![true], Vec::new(), weft_loadgen::Style::Quiet).err();
    assert!(error.unwrap().to_string().contains("cannot open the network namespace /nowhere/net"));
}
