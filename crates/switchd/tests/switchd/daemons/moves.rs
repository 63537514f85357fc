//! Stations that move between ports of the same or different switches, and two stations with one address.

use std::time::{Duration, Instant};

use weft_switchd::Mode;
use weft_switching::arp_path::SETTLE;

use crate::daemons::hostile::probes::End;
use crate::daemons::hostile::send;
use crate::daemons::pair::Pair;
use crate::daemons::switch::{LONG_HOLD, Places, Switch};
use crate::daemons::traffic::reaches;
use crate::net::{Netns, host};
use crate::wait::{DEADLINE, settle, wait_for};

/// Longer than [`SETTLE`], for which a switch expects copies of a flood, by the clock of its program.
const SETTLED: Duration = Duration::from_nanos(SETTLE.ps() / 1_000 + 10_000_000);

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

/// Sends a frame once from one end; returns whether it arrives at another.
fn passes(from: &End<'_>, to: &End<'_>, frame: &[u8]) -> bool {
    assert!(send(&from.socket, frame));
    to.sees(frame, Instant::now(), DEADLINE).is_some()
}

#[test]
#[ignore = "needs root and BPF"]
fn a_station_that_moves_is_reached_where_it_is_with_and_without_gratuitous_arp() {
    let pair = Pair::new(&["a", "b"]);
    let hosts = [host(3, &pair.left, "h2"), host(4, &pair.right, "h2")];
    let hosts: Vec<&Netns> = pair.hosts.iter().chain(&hosts).collect();
    for mode in Mode::all().filter(|mode| mode.explores()) {
        let ports = "ports = [\"h\", \"h2\", \"a\", \"b\"]\nfabric_ports = [\"a\", \"b\"]";
        // A neighbour whose daemon gets no CPU time for a while is not silent: each frame is sent once.
        let config = format!("mode = \"{mode}\"\n{ports}\n{LONG_HOLD}");
        let switches = pair.begin([&config, &config]);
        for switch in &switches {
            switch.wait_roles(&[("a", "fabric"), ("b", "fabric"), ("h", "host"), ("h2", "host")]);
        }
        let ends: Vec<End<'_>> =
            (0x31..).zip(hosts.iter().copied()).map(|(side, host)| End::new(host, side)).collect();
        let (mover, others) = (ends[0].station(1), [ends[1].station(2), ends[2].station(3)]);
        for (other, end) in others.iter().zip(&ends[1..]) {
            assert!(passes(end, &ends[0], &gratuitous(*other, 7)), "{mode}");
        }
        assert!(passes(&ends[0], &ends[2], &gratuitous(mover, 8)), "{mode}");
        // To another switch, to another port of that switch, and back.
        for (number, at) in (0..).zip([3, 1, 0, 3, 2, 0]) {
            settle(SETTLED);
            if number < 3 {
                let watched = if at == 2 { 0 } else { 2 };
                let seen = passes(&ends[at], &ends[watched], &gratuitous(mover, 100 + number));
                assert!(seen, "{mode}: its gratuitous ARP from {at} did not arrive");
            } else {
                let (to, watched) = if at == 2 { (others[0], 1) } else { (others[1], 2) };
                let seen = passes(&ends[at], &ends[watched], &frame(to, mover, [0x88, 0xb5], &[number]));
                assert!(seen, "{mode}: its frame from {at} did not arrive");
            }
            for (other, end) in others.iter().zip([&ends[1], &ends[2]]) {
                if !std::ptr::eq(end, &ends[at]) {
                    let frame = frame(mover, *other, [0x88, 0xb5], &[number, other[2]]);
                    assert!(passes(end, &ends[at], &frame), "{mode}: it was not reached at {at}");
                }
            }
        }
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
    let (began, mut number) = (Instant::now(), 0_u8);
    let mut send_from_both = || {
        for end in &ends {
            number = number.wrapping_add(1);
            assert!(send(&end.socket, &frame([2, 0, 0, 0, 0, 2], both, [0x88, 0xb5], &[number])));
        }
    };
    for _ in 0..10 {
        send_from_both();
        assert!(reaches(&hosts[1], &hosts[3], "10.0.0.4:7"), "other hosts must not be affected");
    }
    // The first line may report a single move, without the question; the next follows 10 s later.
    wait_for("the log names the address", || {
        send_from_both();
        switch.log().lines().any(|line| {
            line.contains("02:00:41:00:00:05 moved") && line.contains("do two hosts have this address?")
        })
    });
    let most = 1 + began.elapsed().as_secs() as usize / 10;
    assert!(switch.log().matches("02:00:41:00:00:05 moved").count() <= most, "{}", switch.log());
    assert!(switch.log().contains("between h"), "{}", switch.log());
}
