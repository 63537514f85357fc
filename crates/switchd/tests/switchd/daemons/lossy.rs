//! Links that lose some frames in one direction.

use std::time::Duration;

use crate::daemons::leaf_spine::LeafSpine;
use crate::daemons::pair::Pair;
use crate::daemons::switch::{Places, Switch};
use crate::daemons::traffic::{Connection, Flood, Load, Stream};
use crate::net::Netns;
use crate::wait::{DEADLINE, comes, settle, wait_for, wait_for_more};

/// A classic BPF program that loses 20 % of the frames: it compares a random number. The sender is not told (TC_ACT_STOLEN).
const FIFTH: &str = "4,32 0 0 4294963256,53 1 0 858993459,6 0 0 4,6 0 0 4294967295";

/// One that loses Hello messages; the kernel tells their sender (TC_ACT_SHOT).
const HELLOS: &str = "4,40 0 0 12,21 0 1 65392,6 0 0 2,6 0 0 4294967295";

/// Loses frames that leave a port.
fn lose(netns: &Netns, port: &str, places: &Places, program: &str) {
    let path = places.run.join("lose");
    std::fs::write(&path, program).expect("a file");
    netns.sh(&format!("tc qdisc add dev {port} clsact"));
    netns.sh(&format!("tc filter add dev {port} egress bpf da bytecode-file {}", path.display()));
}

/// How many of 20 new connections from the first host to the second leave the first leaf by each port.
fn opened(network: &LeafSpine, leaf: &Switch<'_>, first_port: u64) -> [usize; 2] {
    let [one, other] = &network.hosts;
    let ports = first_port..first_port + 20;
    let _open: Vec<_> =
        ports.clone().map(|port| Connection::open(one, other, &format!("10.0.0.2:{port}"))).collect();
    let paths = leaf.show("paths");
    let rows = paths["paths"].as_array().expect("a list");
    ["s0", "s1"].map(|interface| {
        let leaves_by = |row: &&serde_json::Value| {
            row["interface"] == interface
                && row["to"]["tcp_port"].as_u64().is_some_and(|to| ports.contains(&to))
        };
        rows.iter().filter(leaves_by).count()
    })
}

#[test]
#[ignore = "needs root and BPF"]
fn new_connections_avoid_a_link_that_loses_a_fifth_of_the_frames() {
    let (network, places) = (LeafSpine::new(), Places::new());
    let switches = network.start_as(&places, "tcp-path", "50 ms\"\nhold = 40 # \"", "", "");
    let leaf = &switches.leaves[0];
    println!("before: {:?}", opened(&network, leaf, 1000));
    lose(&network.leaves[0], "s0", &places, FIFTH);
    wait_for("the leaf knows", || leaf.is_last_resort("s0"));
    let [lossy, healthy] = opened(&network, leaf, 2000);
    println!("after: {lossy} and {healthy}");
    assert_eq!(lossy + healthy, 20);
    assert!(lossy <= 5, "{lossy} of 20");
}

/// The bytes that each connection delivers in three seconds: the sum, and how many have less than a fifth of their share.
fn goodput(loads: &[Load]) -> (u64, usize) {
    let arrived = || loads.iter().map(Load::arrived).collect::<Vec<_>>();
    let before = arrived();
    settle(Duration::from_secs(3));
    let delivered: Vec<u64> = arrived().iter().zip(before).map(|(now, before)| now - before).collect();
    let sum: u64 = delivered.iter().sum();
    (sum, delivered.iter().filter(|bytes| **bytes * 5 * (loads.len() as u64) < sum).count())
}

/// 20 connections from the first host to the second, at 40 Mbit/s in all, run before the link of the first leaf to a spine
/// begins to lose a fifth of its frames. They move to the other spine.
fn running_connections_leave(mode: &str) {
    let (network, places) = (LeafSpine::new(), Places::new());
    let switches = network.start_as(&places, mode, "50 ms\"\nhold = 40 # \"", "", "");
    let leaf = &switches.leaves[0];
    let [one, other] = &network.hosts;
    one.sh("sysctl -qw net.ipv4.tcp_congestion_control=reno");
    one.sh("tc qdisc add dev eth0 root tbf rate 40mbit burst 20000 limit 200000");
    let loads: Vec<_> = (3000..3020)
        .map(|port| Load::start(Connection::open(one, other, &format!("10.0.0.2:{port}"))))
        .collect();
    let before = goodput(&loads);
    lose(&network.leaves[0], "s0", &places, FIFTH);
    let lossy = goodput(&loads);
    wait_for("the leaf knows", || leaf.is_last_resort("s0"));
    // Hello messages alone are less than 2 kB.
    let moved = comes(DEADLINE / 2, || {
        let before = leaf.sent_bytes("s0");
        settle(Duration::from_millis(500));
        leaf.sent_bytes("s0") - before < 10_000
    });
    let after = goodput(&loads);
    println!(
        "{mode}: bytes in 3 s, starved: {before:?}, with the loss {lossy:?}, later {after:?}; moved: {moved}"
    );
    assert!(moved, "{}", leaf.log());
    loads.into_iter().for_each(Load::end);
}

#[test]
#[ignore = "needs root and BPF"]
fn running_connections_leave_a_link_that_begins_to_lose_frames_under_tcp_path() {
    running_connections_leave("tcp-path");
}

#[test]
#[ignore = "needs root and BPF"]
fn running_connections_leave_a_link_that_begins_to_lose_frames_under_ecmp() {
    running_connections_leave("ecmp");
}

#[test]
#[ignore = "needs root and BPF"]
fn a_link_that_loses_a_fifth_of_the_frames_in_one_direction_is_shown_at_both_ends_until_it_heals() {
    let (network, places) = (LeafSpine::new(), Places::new());
    // The hold time tolerates that many Hello messages in a row are lost.
    let mut switches = network.start_as(&places, "arp-path", "50 ms\"\nhold = 40 # \"", "", "");
    let [spine, healthy] = &switches.spines;
    let percent = |port| spine.loss(port).map(|loss| 100.0 * loss);
    wait_for("the loss of all links is known", || {
        ["l0", "l1"].map(|port| (spine.loss(port), healthy.loss(port))) == [(Some(0.0), Some(0.0)); 2]
    });
    lose(&network.leaves[0], "s0", &places, FIFTH);
    wait_for("the spine counts the loss", || percent("l0").is_some_and(|loss| (10.0..30.0).contains(&loss)));
    assert_eq!(percent("l1"), Some(0.0), "another link of the spine");
    assert_eq!(healthy.loss("l0"), Some(0.0), "another link of the leaf");
    assert_eq!(switches.leaves[0].loss("s0"), Some(0.0), "the other direction");
    wait_for("the leaf knows", || switches.leaves[0].is_missed("s0"));
    assert!(!switches.leaves[0].is_missed("s1") && !spine.is_missed("l0"));
    for (switch, lossy, other) in [(&switches.leaves[0], "s0", "s1"), (spine, "l0", "l1")] {
        assert!(switch.is_last_resort(lossy) && !switch.is_last_resort(other), "{}", switch.name);
    }
    let shown = String::from_utf8(switches.leaves[0].ctl("show ports").stdout).expect("text");
    assert!(shown.contains("fabric, loses frames to the neighbour"), "{shown}");
    let metrics = places.metrics("s0");
    let ratio = |port: &str| {
        let start = format!("weft_switchd_port_hello_loss_ratio{{port=\"{port}\"}} ");
        metrics.lines().find_map(|line| line.strip_prefix(&start)?.parse::<f64>().ok())
    };
    assert!(ratio("l0").is_some_and(|ratio| ratio > 0.05) && ratio("l1") == Some(0.0), "{metrics}");
    // A daemon that hangs or starts again has no gaps in its numbers. Messages that arrive while the program of a switch that
    // starts is attached may be lost.
    let lost = || {
        let metrics = places.metrics("s0");
        let start = "weft_switchd_port_hellos_lost_total{port=\"l1\"} ";
        metrics.lines().find_map(|line| line.strip_prefix(start)?.parse::<u64>().ok()).expect("a count")
    };
    let lost_before = lost();
    switches.leaves[1].pause();
    settle(Duration::from_millis(500));
    switches.leaves[1].resume();
    switches.leaves[1].kill();
    switches.leaves[1].begin();
    network.leaves[0].sh("tc qdisc del dev s0 clsact");
    let [spine, _] = &switches.spines;
    wait_for("the link is healthy again", || !switches.leaves[0].is_missed("s0"));
    assert!(!switches.leaves[0].is_last_resort("s0"));
    wait_for("all that were lost leave the window", || spine.loss("l0") == Some(0.0));
    assert_eq!(lost(), lost_before);
    for (switch, begins, ends) in [
        (spine, "the link loses Hello messages of", "the link loses hardly any Hello messages of"),
        (
            &switches.leaves[0],
            "the link loses Hello messages to",
            "the link loses hardly any Hello messages to",
        ),
    ] {
        let count = |text: &str| switch.log().lines().filter(|line| line.contains(text)).count();
        assert_eq!((count(begins), count(ends)), (1, 1), "{}", switch.log());
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_port_that_cannot_send_hellos_for_a_hold_time_is_the_last_resort_as_its_neighbour_sees_it() {
    let pair = Pair::new(&["a"]);
    // The hold time tolerates stalls of the stream.
    let [l, r] = pair.start("mode = \"arp-path\"\n[hello]\ninterval = \"100 ms\"\nhold = 30");
    assert!(pair.reach(7));
    assert_eq!((l.hellos_unsent("a"), l.is_last_resort("a")), (0, false));
    let every = Duration::from_millis(5);
    let stream = Stream::start(&pair.hosts[0], &pair.hosts[1], "10.0.0.2:9", every);
    lose(&pair.left, "a", &pair.places, HELLOS);
    wait_for_more("messages that cannot be sent are counted", 3, || l.hellos_unsent("a"));
    r.wait_roles(&[("a", "unheard")]);
    wait_for("the switch knows", || l.is_last_resort("a"));
    l.wait_roles(&[("a", "fabric")]);
    let shown = String::from_utf8(l.ctl("show ports").stdout).expect("text");
    assert!(shown.contains("fabric, cannot send Hello messages"), "{shown}");
    let metrics = pair.places.metrics("l");
    assert!(metrics.contains("weft_switchd_port_hellos_unsent_total{port=\"a\"} "), "{metrics}");
    stream.goes_on(50);
    pair.left.sh("tc qdisc del dev a clsact");
    r.wait_roles(&[("a", "fabric")]);
    wait_for("the port is as good as others again", || !l.is_last_resort("a"));
    stream.goes_on(50);
    stream.end();
}

/// Hello messages leave the left switch through this queue, which a stream overloads sixfold, until at least `refused` of them were
/// refused. Returns how many were, and how many the neighbour missed.
fn congested(queue: &[&str], refused: u64) -> [u64; 2] {
    let pair = Pair::new(&["a"]);
    // The hold time tolerates that many Hello messages in a row are lost.
    let [l, r] = pair.start("mode = \"arp-path\"\n[hello]\ninterval = \"50 ms\"\nhold = 100");
    assert!(pair.reach(7));
    queue.iter().for_each(|line| pair.left.sh(&format!("tc qdisc add dev a {line}")));
    wait_for("the loss of the link is known", || r.loss("a") == Some(0.0));
    let flood = Flood::start(&pair.hosts[0], "10.0.0.2:9");
    let sent = || l.hellos_sent();
    // A whole window of numbers.
    wait_for_more("Hello messages are sent", 2 * 150, sent);
    wait_for_more("Hello messages are refused", refused, || l.hellos_unsent("a"));
    let lost = pair.places.metrics("r");
    let start = "weft_switchd_port_hellos_lost_total{port=\"a\"} ";
    let lost = lost.lines().find_map(|line| line.strip_prefix(start)?.parse().ok()).expect("a count");
    let result = [l.hellos_unsent("a"), lost];
    println!("{queue:?}: unsent and lost {result:?}, loss {:?}", r.loss("a"));
    assert!(pair.left.output("tc -s qdisc show dev a").contains("dropped"), "a queue that drops");
    assert!(!l.is_last_resort("a") && !r.is_last_resort("a"), "{} {}", l.log(), r.log());
    flood.end();
    result
}

#[test]
#[ignore = "needs root and BPF"]
fn congestion_is_no_loss_of_the_link() {
    // One queue for all frames: it refuses Hello messages, too, and their sender knows.
    let rate = "root handle 1: tbf rate 1mbit burst 5000 limit 60000";
    let [_, lost] = congested(&[rate, "parent 1:1 handle 10: pfifo limit 40"], 20);
    assert_eq!(lost, 0);
    // A queue with bands, which sends Hello messages first.
    let banded = [rate, "parent 1:1 handle 10: pfifo_fast"];
    assert_eq!(congested(&banded, 0), [0, 0]);
}
