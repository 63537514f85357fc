//! Two hosts in network namespaces of their own, joined by a cable: what hosts of an emulation are.

mod common;

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{flow, send};
use serde_json::{Value, json};
use weft_loadgen::Workload;

/// A process that keeps a namespace of its own; both go with this value.
struct Host(Child);

impl Host {
    fn new() -> Option<Self> {
        let child =
            Command::new("unshare").args(["--net", "sleep", "60"]).stderr(Stdio::null()).spawn().ok()?;
        let mut host = Self(child);
        let own = std::fs::read_link("/proc/self/ns/net").ok()?;
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(5) {
            if host.0.try_wait().ok()?.is_some() {
                return None;
            }
            let there = std::fs::read_link(host.netns()).ok()?;
            if there != own {
                return Some(host);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        None
    }

    fn netns(&self) -> PathBuf {
        format!("/proc/{}/ns/net", self.0.id()).into()
    }

    fn ip(&self, command: &str) {
        self.run("ip", command);
    }

    fn run(&self, program: &str, arguments: &str) {
        let inside = format!("--net={}", self.netns().display());
        let output =
            Command::new("nsenter").arg(inside).arg(program).args(arguments.split(' ')).output().unwrap();
        assert!(
            output.status.success(),
            "{program} {arguments}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Two hosts with a cable, or nothing where this process may not make namespaces.
fn pair() -> Option<[Host; 2]> {
    let Some(hosts) = Host::new().zip(Host::new()) else {
        eprintln!("skipped: this process may not make network namespaces (it takes CAP_SYS_ADMIN)");
        return None;
    };
    let hosts: [Host; 2] = hosts.into();
    hosts[0].ip(&format!("link add eth0 type veth peer name eth0 netns {}", hosts[1].0.id()));
    for (at, host) in hosts.iter().enumerate() {
        host.ip(&format!("address add 10.0.0.{}/8 dev eth0", at + 1));
        host.ip("link set eth0 up");
    }
    Some(hosts)
}

fn workload(hosts: &[Host; 2], flows: &[Value], congestion: &str) -> Workload {
    let hosts: Vec<Value> = hosts
        .iter()
        .enumerate()
        .map(|(n, host)| json!({"name": format!("h{n}"), "address": format!("10.0.0.{}", n + 1), "netns": host.netns()}))
        .collect();
    let text = json!({
        "hosts": hosts, "flows": flows, "congestion": congestion, "limit_ps": 20_000_000_000_000_u64,
    });
    Workload::read(text.to_string().as_bytes()).unwrap()
}

#[test]
fn two_hundred_flows_start_at_their_time_and_arrive_whole() {
    let Some(hosts) = pair() else { return };
    let mut flows: Vec<Value> = (0..200_u32)
        .map(|n| {
            flow(
                n,
                33_000 + (n * 37 % 20_000) as u16,
                5_001 + (n % 4) as u16,
                1 + u64::from(n * n) * 11,
                u64::from(n) * 3,
            )
        })
        .collect();
    for flow in flows.iter_mut().step_by(2) {
        (flow["src"], flow["dst"], flow["dscp"]) = (json!("h1"), json!("h0"), json!(10));
    }
    let (outcome, records) = send(&workload(&hosts, &flows, "reno"), &[]);
    assert_eq!((outcome.finished, outcome.failed, outcome.strangers), (200, 0, 0), "{records:?}");
    assert_eq!(outcome.bytes, flows.iter().map(|flow| flow["bytes"].as_u64().unwrap()).sum::<u64>());
    assert_eq!(outcome.congestion.iter().collect::<Vec<_>>(), ["reno"]);
    for (record, flow) in records.iter().zip(&flows) {
        let late = record["start_ps"].as_u64().unwrap() - flow["start_ps"].as_u64().unwrap();
        assert!(late <= outcome.lateness.max_ps, "{record}");
        assert!(record["end_ps"].as_u64() > record["start_ps"].as_u64(), "{record}");
    }
    assert!(outcome.lateness.p50_ps < 5_000_000_000, "{:?}", outcome.lateness);
    let again = send(&workload(&hosts, &flows, "reno"), &[]).0;
    assert_eq!(again.failed, 0, "ports of connections in TIME_WAIT are used again");
}

#[test]
fn what_a_narrow_link_drops_is_counted_by_the_kernel() {
    let Some(hosts) = pair() else { return };
    hosts[0].run("tc", "qdisc add dev eth0 root tbf rate 20mbit burst 3000 limit 15000");
    let flows: Vec<Value> = (0..4).map(|n| flow(n, 40_000 + n as u16, 5_001, 400_000, 0)).collect();
    let (outcome, records) = send(&workload(&hosts, &flows, "cubic"), &[]);
    assert_eq!((outcome.finished, outcome.failed), (4, 0), "{records:?}");
    let sum = |key: &str| records.iter().map(|record| record[key].as_u64().unwrap()).sum::<u64>();
    assert!(sum("retransmissions") > 0 && sum("out_of_order") > 0, "{records:?}");
    assert!(sum("packets_sent") > sum("segments_received"), "what was dropped did not arrive: {records:?}");
}

#[test]
fn a_namespace_that_is_not_there_is_named() {
    let text = json!({
        "hosts": [{"name": "h0", "address": "10.0.0.1", "netns": "/nowhere/net"}], "flows": [], "limit_ps": 1,
    });
    let workload = Workload::read(text.to_string().as_bytes()).unwrap();
    let error =
        weft_loadgen::Generator::open(&workload, vec![true], Vec::new(), weft_loadgen::Style::Quiet).err();
    assert!(error.unwrap().to_string().contains("/nowhere/net cannot be opened"));
}
