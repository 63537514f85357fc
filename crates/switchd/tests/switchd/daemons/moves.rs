//! Stations that move between ports of the same or different switches, and two stations with one address.

use std::time::{Duration, Instant};

use crate::daemons::hostile::probes::End;
use crate::daemons::hostile::send;
use crate::daemons::pair::Pair;
use crate::daemons::switch::{Places, Switch, wait_for, within};
use crate::daemons::traffic::reaches;
use crate::net::{Netns, host};

/// Longer than copies of a flood are in flight.
const SETTLED: Duration = Duration::from_millis(60);

/// A frame, padded.
fn frame(to: [u8; 6], from: [u8; 6], ethertype: [u8; 2], payload: &[u8]) -> Vec<u8> {
    let mut frame = [&to[..], &from, &ethertype, payload].concat();
    frame.resize(60, 0);
    frame
}

/// A gratuitous ARP Request.
fn gratuitous(from: [u8; 6], number: u8) -> Vec<u8> {
    let arp =
        [&[0, 1, 8, 0, 6, 4, 0, 1][..], &from, &[10, 0, 9, number], &[0; 6], &[10, 0, 9, number]].concat();
    frame([0xff; 6], from, [8, 6], &arp)
}

/// Sends a frame from one end; returns the time until it arrives at another.
fn passes(from: &End<'_>, to: &End<'_>, frame: &[u8]) -> Option<Duration> {
    let began = Instant::now();
    assert!(send(&from.socket, frame));
    to.sees(frame, began)
}

#[test]
#[ignore = "needs root and BPF"]
fn a_station_that_moves_is_reached_where_it_is_with_and_without_gratuitous_arp() {
    let pair = Pair::new(&["a", "b"]);
    let hosts = [host(3, &pair.left, "h2"), host(4, &pair.right, "h2")];
    let hosts: Vec<&Netns> = pair.hosts.iter().chain(&hosts).collect();
    for mode in ["arp-path", "tcp-path", "ecmp"] {
        let ports = "ports = [\"h\", \"h2\", \"a\", \"b\"]\nfabric_ports = [\"a\", \"b\"]";
        let config = format!("mode = \"{mode}\"\n{ports}");
        let switches = pair.begin([&config, &config]);
        for switch in &switches {
            switch.wait_roles(&[("a", "fabric"), ("b", "fabric"), ("h", "host"), ("h2", "host")]);
        }
        let ends: Vec<End<'_>> =
            (0x31..).zip(hosts.iter().copied()).map(|(side, host)| End::new(host, side)).collect();
        let (mover, others) = (ends[0].station(1), [ends[1].station(2), ends[2].station(3)]);
        for (other, end) in others.iter().zip(&ends[1..]) {
            assert!(passes(end, &ends[0], &gratuitous(*other, 7)).is_some(), "{mode}");
        }
        assert!(passes(&ends[0], &ends[2], &gratuitous(mover, 8)).is_some(), "{mode}");
        let mut frames = 0..;
        within(Duration::from_millis(100), &format!("{mode}: the station is reached after a move"), || {
            let mut longest = Duration::ZERO;
            // To another switch, to another port of that switch, and back.
            for (number, at) in [3, 1, 0, 3, 2, 0].into_iter().enumerate() {
                std::thread::sleep(SETTLED);
                let (with_arp, number) = (number < 3, frames.next().expect("an unbounded range"));
                let watched = if at == 2 { 0 } else { 2 };
                if with_arp {
                    let seen = passes(&ends[at], &ends[watched], &gratuitous(mover, 100 + number));
                    assert!(seen.is_some(), "{mode}: its gratuitous ARP from {at} did not arrive");
                } else {
                    let to = others[if at == 2 { 0 } else { 1 }];
                    let seen = passes(
                        &ends[at],
                        &ends[if at == 2 { 1 } else { 2 }],
                        &frame(to, mover, [0x88, 0xb5], &[number]),
                    );
                    assert!(seen.is_some(), "{mode}: its frame from {at} did not arrive");
                }
                for (other, end) in others.iter().zip([&ends[1], &ends[2]]) {
                    if std::ptr::eq(end, &ends[at]) {
                        continue;
                    }
                    let took =
                        passes(end, &ends[at], &frame(mover, *other, [0x88, 0xb5], &[number, other[2]]));
                    let took = took.unwrap_or_else(|| panic!("{mode}: it was not reached at {at}"));
                    longest = longest.max(took);
                }
            }
            longest
        });
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn two_hosts_with_one_address_are_named_in_the_log_and_harm_nobody_else() {
    let (netns, places) = (Netns::new(), Places::new());
    let hosts = [host(1, &netns, "h1"), host(2, &netns, "h2"), host(3, &netns, "h3"), host(4, &netns, "h4")];
    let switch = Switch::start(
        &netns,
        &places,
        "s",
        "mode = \"tcp-path\"\nports = [\"h1\", \"h2\", \"h3\", \"h4\"]\nfabric_ports = []",
    );
    switch.wait_roles(&[("h1", "host"), ("h2", "host"), ("h3", "host"), ("h4", "host")]);
    let ends = [End::new(&hosts[0], 0x41), End::new(&hosts[2], 0x41)];
    let both = ends[0].station(5);
    for number in 0..200 {
        let end = &ends[number % 2];
        assert!(send(&end.socket, &frame([2, 0, 0, 0, 0, 2], both, [0x88, 0xb5], &[number as u8])));
        std::thread::sleep(Duration::from_millis(2));
        if number % 20 == 0 {
            assert!(reaches(&hosts[1], &hosts[3], "10.0.0.4:7"), "other hosts must not be affected");
        }
    }
    let named = || {
        switch.log().lines().any(|line| {
            line.contains("02:00:41:00:00:05 moved") && line.contains("do two hosts have this address?")
        })
    };
    // The first line may report a single move, without the question; the next follows 10 s later.
    wait_for("the log names the address", 15, named);
    assert!(switch.log().matches("02:00:41:00:00:05 moved").count() <= 2, "{}", switch.log());
    assert!(switch.log().contains("between h"), "{}", switch.log());
}
