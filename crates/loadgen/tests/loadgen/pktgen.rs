//! `weft-pktgen` between two hosts in their own network namespaces.

use std::process::{Command, Output};

use crate::hosts::{Host, pair};
use serde_json::{Value, json};

fn pktgen(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_weft-pktgen")).args(arguments).output().unwrap()
}

fn found(arguments: &[&str]) -> Value {
    let output = pktgen(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Packets received on a host's `eth0`.
fn received(host: &Host) -> u64 {
    let file = format!("--net={}", host.netns().display());
    let output = Command::new("nsenter").args([&file, "cat", "/proc/self/net/dev"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.trim().strip_prefix("eth0:")).unwrap().to_owned();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
#[ignore = "needs root"]
fn echoes_of_every_size_come_back_and_what_nobody_answers_is_lost() {
    let hosts = pair();
    let netns = hosts[0].netns();
    let netns = netns.to_str().unwrap();
    for size in ["28", "64", "1500", "8192"] {
        let echoes =
            found(&["echo", "10.0.0.2", "--netns", netns, "--size", size, "--count", "5", "--warm", "2"]);
        let times = echoes["rtt_ns"].as_array().unwrap();
        assert_eq!((times.len(), &echoes["lost"]), (5, &json!(0)), "{size}: {echoes}");
        assert!(times.iter().all(|time| time.as_u64().unwrap() >= 500), "{echoes}");
    }
    hosts[0].ip("neighbour replace 10.0.0.9 lladdr 02:00:00:00:00:09 dev eth0");
    let echoes = found(&["echo", "10.0.0.9", "--netns", netns, "--count", "2", "--patience", "20"]);
    assert_eq!(echoes, json!({"rtt_ns": [], "lost": 2}));
    let output = pktgen(&["echo", "192.0.2.1", "--netns", netns]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("192.0.2.1: Network is unreachable"));
}

#[test]
#[ignore = "needs root"]
fn a_load_comes_at_its_rate_and_whole() {
    let hosts = pair();
    let load = json!({
        "senders": [{"netns": hosts[0].netns(), "interface": "eth0", "mac": "02:00:00:00:00:01"}],
        "flows": (0..100).map(|n| json!({
            "sender": 0, "source": "192.0.2.1", "destination": format!("198.51.100.{n}"), "sport": 1000, "dport": 9,
        })).collect::<Vec<_>>(),
        "to_mac": "02:00:00:00:00:02", "size": 64, "packets_per_s": 20_000.0, "seconds": 0.5,
    });
    let file = std::env::temp_dir().join(format!("weft-pktgen-{}.json", std::process::id()));
    std::fs::write(&file, load.to_string()).unwrap();
    let before = received(&hosts[1]);
    let sent = found(&["load", file.to_str().unwrap()]);
    std::fs::remove_file(&file).unwrap();
    let count = sent["sent"][0].as_u64().unwrap();
    // In batches of 32. If the machine stalls at the end, fewer are sent.
    assert!((1..=10_032).contains(&count), "{sent}");
    assert!(sent["seconds"].as_f64().unwrap() >= 0.5, "{sent}");
    let arrived = received(&hosts[1]) - before;
    assert!((count..count + 20).contains(&arrived), "{arrived} of {sent}");
}

#[test]
fn a_file_that_is_no_load_is_named() {
    let output = pktgen(&["load", "/nowhere/load.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot read /nowhere/load.json"));
}
