//! Links that work in one direction only: the carrier stays, and the Hello messages of one end still arrive.

use std::time::{Duration, Instant};

use crate::daemons::leaf_spine::LeafSpine;
use crate::daemons::pair::Pair;
use crate::daemons::switch::{Places, within};
use crate::daemons::traffic::{Connection, Stream, reaches};
use crate::wait::wait_for;

/// The interval of Hello messages; the hold time is three of them.
const INTERVAL: Duration = Duration::from_millis(100);
const HOLD: Duration = Duration::from_millis(300);

/// The frames of a leaf to the spine over which a connection goes are lost; later, the link heals. Meanwhile, everything goes
/// over the other spine.
fn breaks_and_heals(mode: &str) {
    let (network, places) = (LeafSpine::new(), Places::new());
    let switches = network.start(&places, mode);
    let [one, other] = &network.hosts;
    assert!(reaches(one, other, "10.0.0.2:7"), "{mode}");
    let mut connection = Connection::open(one, other, "10.0.0.2:80");
    connection.send(10_000);
    let streams = network.streams(2);
    // A retransmission timeout starts at 200 ms and doubles, and the daemons may be late. It was 26 s.
    within(10 * HOLD, &format!("{mode}: TCP goes on over the other spine"), || {
        // The connection uses the spine that receives more bytes.
        let received = |at: usize| switches.spines[at].received_bytes("l0");
        let before = [0, 1].map(received);
        connection.send(1_000_000);
        let [first, second] = [0, 1].map(|at| received(at) - before[at]);
        let busy = usize::from(second > first);
        let port = format!("s{busy}");
        streams[0].goes_on(50);
        network.leaves[0].sh(&format!("tc qdisc replace dev {port} root blackhole"));
        let broken = Instant::now();
        // Sent into the broken link, repeated by TCP, and over the other spine in the end.
        connection.send(100_000);
        let stall = broken.elapsed();
        switches.leaves[0].wait_roles(&[(&port, "one-way")]);
        switches.spines[busy].wait_roles(&[("l0", "silent")]);
        streams[0].goes_on(100);
        streams[1].goes_on(100);
        assert!(switches.leaves[0].log().contains("the link works in one direction only"), "{mode}");
        // A spine that did not run for a while hears its neighbour for another hold time.
        wait_for("the port is shown as one-way", || {
            String::from_utf8(switches.leaves[0].ctl("show ports").stdout).expect("text").contains("one-way")
        });
        network.leaves[0].sh(&format!("tc qdisc del dev {port} root"));
        switches.leaves[0].wait_roles(&[(&port, "fabric")]);
        switches.spines[busy].wait_roles(&[("l0", "fabric")]);
        stall
    });
    connection.send(100_000);
    let _ = streams.map(Stream::end);
}

#[test]
#[ignore = "needs root and BPF"]
fn a_connection_goes_on_within_a_hold_time_and_a_retransmission_under_tcp_path() {
    breaks_and_heals("tcp-path");
}

#[test]
#[ignore = "needs root and BPF"]
fn a_connection_goes_on_within_a_hold_time_and_a_retransmission_under_arp_path() {
    breaks_and_heals("arp-path");
}

#[test]
#[ignore = "needs root and BPF"]
fn a_connection_goes_on_within_a_hold_time_and_a_retransmission_under_ecmp() {
    breaks_and_heals("ecmp");
}

#[test]
#[ignore = "needs root and BPF"]
fn a_link_that_works_in_one_direction_from_the_start_is_used_once_it_heals() {
    let config = format!(
        "mode = \"arp-path\"\nports = [\"a\", \"h\"]\n[hello]\ninterval = \"{} ms\"",
        INTERVAL.as_millis()
    );
    let pair = Pair::new(&["a"]);
    pair.left.sh("tc qdisc replace dev a root blackhole");
    let [l, r] = pair.begin([&config, &config]);
    l.wait_roles(&[("a", "one-way"), ("h", "host")]);
    r.wait_roles(&[("a", "host"), ("h", "host")]);
    pair.left.sh("tc qdisc del dev a root");
    l.wait_roles(&[("a", "fabric")]);
    r.wait_roles(&[("a", "fabric")]);
    wait_for("the hosts reach each other", || reaches(&pair.hosts[0], &pair.hosts[1], "10.0.0.2:7"));
}

#[test]
#[ignore = "needs root and BPF"]
fn a_one_way_link_that_fails_in_the_other_direction_as_well_is_silent() {
    let (network, places) = (LeafSpine::new(), Places::new());
    let switches = network.start(&places, "arp-path");
    network.leaves[0].sh("tc qdisc replace dev s0 root blackhole");
    switches.leaves[0].wait_roles(&[("s0", "one-way")]);
    network.spines[0].sh("tc qdisc replace dev l0 root blackhole");
    switches.leaves[0].wait_roles(&[("s0", "silent")]);
    network.leaves[0].sh("tc qdisc del dev s0 root");
    network.spines[0].sh("tc qdisc del dev l0 root");
    switches.leaves[0].wait_roles(&[("s0", "fabric")]);
}

#[test]
#[ignore = "needs root and BPF"]
fn a_daemon_that_goes_on_after_a_pause_does_not_believe_what_neighbours_said_meanwhile() {
    let (network, places) = (LeafSpine::new(), Places::new());
    let mut switches = network.start(&places, "arp-path");
    switches.leaves[0].pause();
    for spine in &switches.spines {
        spine.wait_roles(&[("l0", "silent")]);
    }
    std::thread::sleep(2 * INTERVAL);
    switches.leaves[0].resume();
    for spine in &switches.spines {
        spine.wait_roles(&[("l0", "fabric")]);
    }
    std::thread::sleep(2 * HOLD);
    let log = switches.leaves[0].log();
    assert!(!log.contains("one direction only") && !log.contains("OneWay"), "{log}");
}
