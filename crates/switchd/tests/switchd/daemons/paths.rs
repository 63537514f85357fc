//! Hosts reach each other through switches, also after the loss of a link.

use std::time::Duration;

use crate::net::{Netns, cable, host};
use serde_json::Value;
use weft_switchd::Mode;

use crate::daemons::pair::Pair;
use crate::daemons::switch::{LONG_CONFIRMED, LONG_HOLD, Places, Switch};
use crate::daemons::traffic::{Connection, Load, Stream, never_retransmits, reaches};
use crate::wait::wait_for;

/// Three switches in a ring, with a host each.
struct Ring {
    switches: [Netns; 3],
    hosts: [Netns; 3],
}

impl Ring {
    fn new() -> Self {
        let switches = [(); 3].map(|()| Netns::new());
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            cable((&switches[a], &format!("to{b}")), (&switches[b], &format!("to{a}")));
        }
        let hosts = [0, 1, 2].map(|at| host(at as u8 + 1, &switches[at], "host"));
        Self { switches, hosts }
    }

    fn start<'a>(&'a self, places: &'a Places, more: &str) -> [Switch<'a>; 3] {
        let started = [0, 1, 2].map(|at| {
            let others = [(at + 1) % 3, (at + 2) % 3];
            let fabric = format!("\"to{}\", \"to{}\"", others[0], others[1]);
            let config = format!("ports = [\"host\", {fabric}]\nfabric_ports = [{fabric}]\n{more}");
            Switch::start(&self.switches[at], places, &format!("s{at}"), &config)
        });
        for (at, switch) in started.iter().enumerate() {
            let others = [(at + 1) % 3, (at + 2) % 3].map(|other| format!("to{other}"));
            switch.wait_roles(&[(&others[0], "fabric"), (&others[1], "fabric"), ("host", "host")]);
        }
        started
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn hosts_of_a_ring_reach_each_other_over_ipv4_ipv6_and_tcp_in_every_mode_that_explores() {
    for mode in Mode::all().filter(|mode| mode.scheme().explores.is_some()) {
        let (ring, places) = (Ring::new(), Places::new());
        let _switches = ring.start(&places, &format!("mode = \"{mode}\""));
        for (from, to) in [(0, 1), (1, 2), (2, 0), (0, 2)] {
            let (source, destination) = (&ring.hosts[from], &ring.hosts[to]);
            assert!(
                reaches(source, destination, &format!("10.0.0.{}:7", to + 1)),
                "{mode}: IPv4 {from} to {to}"
            );
            assert!(
                reaches(source, destination, &format!("[fd00::{}]:7", to + 1)),
                "{mode}: IPv6 {from} to {to}"
            );
            let mut connection = Connection::open(source, destination, &format!("10.0.0.{}:80", to + 1));
            connection.send(3_000_000);
            let mut connection = Connection::open(source, destination, &format!("[fd00::{}]:81", to + 1));
            connection.send(300_000);
        }
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn hosts_reach_each_other_by_routes_in_modes_that_go_by_them() {
    for mode in Mode::all().filter(|mode| mode.routes()) {
        let pair = Pair::new(&["a", "b"]);
        let config = |own: u8, other: u8| {
            format!(
                "mode = \"{mode}\"\nports = [\"h\", \"a\", \"b\"]\n[[route]]\nstation = \"02:00:00:00:00:0{own}\"\n\
                 ports = [\"h\"]\n[[route]]\nstation = \"02:00:00:00:00:0{other}\"\nports = [\"a\", \"b\"]\n"
            )
        };
        let switches = pair.begin([&config(1, 2), &config(2, 1)]);
        for switch in &switches {
            switch.wait_roles(&[("h", "host"), ("a", "fabric"), ("b", "fabric")]);
        }
        Connection::open(&pair.hosts[0], &pair.hosts[1], "10.0.0.2:80").send(1_000_000);
        assert!(reaches(&pair.hosts[1], &pair.hosts[0], "10.0.0.1:7"), "{mode}");
    }
}

/// The path entries of a switch.
fn paths(switch: &Switch<'_>) -> Vec<Value> {
    switch.show("paths")["paths"].as_array().expect("a list").clone()
}

/// The fabric ports of the first switch: the one by which a flow leaves it, and the other.
fn cables_of(switch: &Switch<'_>) -> [&'static str; 2] {
    let paths = paths(switch);
    let leaves = |port: &str| paths.iter().any(|row| row["interface"] == port);
    match [leaves("to1"), leaves("to2")] {
        [true, _] => ["to1", "to2"],
        [_, true] => ["to2", "to1"],
        _ => panic!("no flow leaves the switch: {paths:?}"),
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_connection_under_load_goes_on_when_its_cable_loses_the_carrier() {
    let (ring, places) = (Ring::new(), Places::new());
    // The hold time, 3 minutes, is no part of this.
    let switches =
        ring.start(&places, &format!("mode = \"tcp-path\"\n{LONG_CONFIRMED}[hello]\ninterval = \"1 min\""));
    let mut connection = Connection::open(&ring.hosts[0], &ring.hosts[1], "10.0.0.2:80");
    connection.send(100_000);
    let [port, _] = cables_of(&switches[0]);
    let load = Load::start(connection);
    load.goes_on();
    ring.switches[0].ip(&format!("link set dev {port} down"));
    load.goes_on();
    load.end();
    assert_eq!(switches[0].role(port), "down");
}

#[test]
#[ignore = "needs root and BPF"]
fn an_idle_connection_has_another_path_before_it_sends_again() {
    let (ring, places) = (Ring::new(), Places::new());
    // Daemons that wait for a processor stay neighbours: the search for a path is not repeated.
    let switches = ring.start(&places, &format!("mode = \"tcp-path\"\n{LONG_CONFIRMED}{LONG_HOLD}"));
    never_retransmits(&ring.hosts[0]);
    let mut connection = Connection::open(&ring.hosts[0], &ring.hosts[1], "10.0.0.2:80");
    connection.send(1000);
    let [port, other] = cables_of(&switches[0]);
    ring.switches[0].ip(&format!("link set dev {port} down"));
    wait_for("the flow is confirmed over the other link", || {
        let row = |row: &Value| row["interface"] == other && row["class"] == "confirmed";
        paths(&switches[0]).iter().any(row)
    });
    connection.send(1000);
}

#[test]
#[ignore = "needs root and BPF"]
fn a_neighbour_that_says_nothing_is_left_and_used_again_when_it_speaks() {
    let (ring, places) = (Ring::new(), Places::new());
    let mut switches = ring.start(&places, "mode = \"tcp-path\"");
    let mut connection = Connection::open(&ring.hosts[0], &ring.hosts[1], "10.0.0.2:80");
    connection.send(1000);
    // Its data plane stays; only Hellos stop, as with a daemon that stays dead.
    switches[2].kill();
    switches[0].wait_roles(&[("to2", "silent")]);
    assert!(reaches(&ring.hosts[0], &ring.hosts[1], "10.0.0.2:7"));
    connection.send(100_000);
    switches[2].begin();
    switches[0].wait_roles(&[("to2", "fabric")]);
    assert!(reaches(&ring.hosts[0], &ring.hosts[2], "10.0.0.3:7"));
}

#[test]
#[ignore = "needs root and BPF"]
fn a_port_that_drains_is_empty_of_flows_and_can_go_without_loss() {
    let (ring, places) = (Ring::new(), Places::new());
    let switches = ring.start(&places, &format!("mode = \"tcp-path\"\n{LONG_CONFIRMED}"));
    never_retransmits(&ring.hosts[0]);
    let mut connection = Connection::open(&ring.hosts[0], &ring.hosts[1], "10.0.0.2:80");
    connection.send(100_000);
    let [port, other] = cables_of(&switches[0]);
    for port in [port, other] {
        switches[0].ask(&format!("drain {port}"));
        let on_port = |row: &Value| row["interface"] == port && row["class"] == "confirmed";
        wait_for("no flow is left on the port", || !paths(&switches[0]).iter().any(on_port));
        connection.send(1000);
        ring.switches[0].ip(&format!("link set dev {port} down"));
        connection.send(1000);
        ring.switches[0].ip(&format!("link set dev {port} up"));
        switches[0].ask(&format!("drain {port} --undo"));
        switches[0].wait_roles(&[(port, "fabric")]);
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn datagrams_that_cross_a_ring_come_once() {
    let (ring, places) = (Ring::new(), Places::new());
    let _switches = ring.start(&places, "mode = \"arp-path\"");
    assert!(reaches(&ring.hosts[0], &ring.hosts[2], "10.0.0.3:7"));
    let stream = Stream::start(&ring.hosts[0], &ring.hosts[2], "10.0.0.3:9", Duration::from_millis(1));
    stream.goes_on(300);
    let outcome = stream.end();
    assert_eq!(outcome.received, outcome.sent);
}
