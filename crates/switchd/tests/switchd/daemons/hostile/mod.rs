//! A host that floods the switch with hostile frames while two others communicate: the others keep working,
//! memory stays bounded, every frame is accounted for, and logs stay short.
//!
//! It sends `WEFT_HOSTILE_FRAMES` frames (default 100 000); `make hostile` sends a million.

pub mod frames;
pub mod probes;

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::net::SendFlags;
use weft_switchd::Mode;

use crate::daemons::pair::Pair;
use crate::daemons::switch::{Places, Switch};
use crate::daemons::traffic::{Connection, Load, Outcome, Stream, reaches, send_datagrams};
use crate::net::{Netns, host};
use crate::wait::{Pace, wait_for};
use frames::Frames;
use probes::{Found, Probes, summary};

/// The number of frames that the hostile host sends.
fn frames_to_send() -> u64 {
    let count = std::env::var("WEFT_HOSTILE_FRAMES").ok().and_then(|count| count.parse().ok());
    count.unwrap_or(100_000)
}

/// Resident memory of the daemon, in KiB.
fn resident(switch: &Switch<'_>) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", switch.pid())).expect("procfs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    line.split_whitespace().next().and_then(|kib| kib.parse().ok()).expect("a number")
}

/// Sends a frame; returns whether the host's own kernel accepted it.
pub fn send(socket: &OwnedFd, frame: &[u8]) -> bool {
    rustix::net::send(socket, frame, SendFlags::empty()).is_ok()
}

/// Starts both switches, the left one with a third host, which is returned too.
fn with_third<'a>(pair: &'a Pair, config: &str) -> (Netns, [Switch<'a>; 2]) {
    let third = host(3, &pair.left, "h3");
    let [left, right] =
        ["h3\", \"h", "h"].map(|hosts| format!("ports = [\"{hosts}\", \"a\", \"b\"]\n{config}"));
    let switches = pair.begin([&left, &right]);
    switches[0].wait_roles(&[("h3", "host")]);
    for switch in &switches {
        switch.wait_roles(&[("a", "fabric"), ("b", "fabric"), ("h", "host")]);
    }
    assert!(pair.reach(7));
    (third, switches)
}

/// Frames received on all ports, and frames accounted for by the counters.
fn accounts(switch: &Switch<'_>) -> (u64, u64) {
    let ports = switch.show("ports");
    let rows = ports.as_array().expect("a list");
    let received = rows.iter().map(|row| row["received_frames"].as_u64().expect("a number")).sum();
    let counters = switch.show("counters");
    let dropped: u64 = counters["dropped"]
        .as_object()
        .expect("a table")
        .values()
        .filter_map(serde_json::Value::as_u64)
        .sum();
    let number = |name: &str| counters[name].as_u64().expect("a number");
    (received, dropped + number("consumed") + number("forwarded"))
}

#[test]
#[ignore = "needs root and BPF"]
fn two_hosts_keep_working_while_a_third_sends_whatever_it_likes() {
    let count = frames_to_send();
    let pair = Pair::new(&["a", "b"]);
    // A key protects against forged Hellos; without one, `fabric_ports` would.
    let key = "hello_key = \"00112233445566778899aabbccddeeff\"\n[exploration]\nflow_table = 65536\n";
    let (hostile, [l, r]) = with_third(&pair, &format!("mode = \"tcp-path\"\n{key}"));
    let ([first, second], socket) = (&pair.hosts, hostile.packets("eth0", None));
    let before = [resident(&l), resident(&r)];
    let mut frames = Frames::new(1);
    let (mut sent, mut reached) = (0, 0);
    let (began, load) = (Instant::now(), Load::start(Connection::open(first, second, "10.0.0.2:81")));
    while sent < count {
        sent += u64::from(send(&socket, &frames.next()));
        if sent % (count / 20).max(1) == 0 {
            reached += u64::from(pair.reach(7));
            load.goes_on();
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("{sent} frames in {seconds:.1} s; the others sent {} MB during the flood", load.arrived() >> 20);
    load.end();
    assert!(reached >= 19, "only {reached} of 20 datagrams were echoed during the flood");

    for (switch, before) in [&l, &r].into_iter().zip(before) {
        let grown = resident(switch).saturating_sub(before);
        println!("the daemon's memory grew by {grown} KiB; log {} bytes", switch.log().len());
        assert!(grown < 16 << 10, "{grown} KiB");
        let lines = switch.log().lines().count();
        assert!(lines < 100 + (seconds / 10.0) as usize * 10, "{lines} lines:\n{}", switch.log());
        assert!(!switch.log().contains("panicked"), "{}", switch.log());
    }
    let hellos = l.show("counters")["hello"]["refused"].to_string();
    println!("dropped: {}, Hellos refused: {hellos}", l.show("counters")["dropped"]);
    assert_eq!(l.role("h3"), "host", "a forged Hello must not create a fabric port");
    assert!(l.dropped("untrusted") > 0, "forged Path frames must be dropped");
    // Each received frame is forwarded, consumed or dropped with a reason.
    let (received, accounted) = accounts(&l);
    let off = received.abs_diff(accounted);
    assert!(off * 1000 < received, "{received} frames received, {accounted} accounted for");
    assert!(pair.reach(7));
    Connection::open(second, first, "10.0.0.1:82").send(1_000_000);
}

#[test]
#[ignore = "needs root and BPF"]
fn what_others_need_that_nobody_knows_yet_is_found_before_during_and_after_a_flood_of_forged_requests() {
    for mode in Mode::all().filter(|mode| mode.explores()) {
        probed(mode, frames_to_send());
    }
}

/// Has a third host send `count` frames of all kinds, every third a forged ARP Request, while two others probe for
/// unknown stations.
fn probed(mode: Mode, count: u64) {
    let pair = Pair::new(&["a", "b"]);
    let config = format!("mode = \"{mode}\"\nfabric_ports = [\"a\", \"b\"]\n");
    let (hostile, [l, r]) = with_third(&pair, &config);
    let mut probes = Probes::new(&pair.hosts[0], &pair.hosts[1]);
    let mut rounds = |go_on: &mut dyn FnMut(usize) -> bool| {
        let (mut found, mut round) = (Found::new(), 0);
        while go_on(round) {
            probes.round(&mut found);
            round += 1;
        }
        found
    };
    let before = rounds(&mut |round| round < 20);
    assert_eq!(
        l.dropped("rate_limited"),
        0,
        "{mode}: the probes themselves must stay within their port's rate limits"
    );
    let socket = hostile.packets("eth0", None);
    let began = Instant::now();
    let flood = std::thread::spawn(move || {
        let (mut frames, mut sent) = (Frames::new(3), 0);
        while sent < count {
            let frame = if sent % 3 == 0 { frames.forged_request() } else { frames.next() };
            sent += u64::from(send(&socket, &frame));
        }
        began.elapsed()
    });
    let during = rounds(&mut |_| !flood.is_finished());
    let seconds = flood.join().expect("the flood").as_secs_f64();
    let after = rounds(&mut |round| round < 20);
    println!("{mode}: {count} frames in {seconds:.1} s; rate-limited at l: {}", l.dropped("rate_limited"));
    for (what, tries) in &during {
        let [(was, at_first), (is, meanwhile), (will, at_last)] =
            [&before[what], tries, &after[what]].map(|tries| summary(tries));
        let count = tries.len();
        println!(
            "  {what}: {was:.0} % ({at_first:.1?}) before, {is:.1} % ({meanwhile:.1?}) of {count} during, \
             {will:.0} % ({at_last:.1?}) after"
        );
        assert!(was == 100.0 && will == 100.0, "{mode}: {what} fails without a flood");
        assert!(is >= 95.0, "{mode}: {what} fails during the flood");
    }
    assert!(l.dropped("rate_limited") > count / 10, "floods from one port must be rate-limited");
    let log = l.log();
    let named: Vec<_> = log.lines().filter(|line| line.contains("exceeds its rate limits")).collect();
    assert!(!named.is_empty() && named.iter().all(|line| line.contains("interface=h3")), "{mode}: {log}");
    assert!(
        named.len() as f64 <= seconds / 10.0 + 2.0,
        "{mode}: expected at most one line in 10 s: {named:#?}"
    );
    assert_eq!(r.dropped("rate_limited"), 0, "no other port may be rate-limited");
}

#[test]
#[ignore = "needs root and BPF"]
fn others_keep_their_traffic_while_a_host_floods_a_group_as_fast_as_it_can() {
    let count = frames_to_send();
    let pair = Pair::new(&["a", "b"]);
    let (hostile, [l, r]) = with_third(&pair, "mode = \"tcp-path\"\nfabric_ports = [\"a\", \"b\"]\n");
    let ([first, second], socket) = (&pair.hosts, hostile.packets("eth0", None));
    let frame = [&[1, 0, 0x5e, 1, 2, 3][..], &frames::OWN, &[8, 0], &[0; 1400]].concat();
    let stream = Stream::start(first, second, "10.0.0.2:83", Duration::from_millis(1));
    let (began, load) = (Instant::now(), Load::start(Connection::open(first, second, "10.0.0.2:81")));
    let (mut sent, mut reached) = (0, 0);
    while sent < count {
        sent += u64::from(send(&socket, &frame));
        if sent % (count / 20).max(1) == 0 {
            reached += u64::from(pair.reach(7));
            load.goes_on();
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let megabytes = load.arrived() >> 20;
    load.end();
    let Outcome { sent: datagrams, received } = stream.end();
    println!(
        "{sent} frames in {seconds:.1} s, {} rate-limited; the others sent {megabytes} MB, and {received} of {datagrams} \
         datagrams arrived",
        l.dropped("rate_limited")
    );
    assert_eq!(reached, 20, "datagrams echoed during the flood");
    assert!(received * 100 >= datagrams * 95, "{received} of {datagrams} datagrams");
    assert_eq!(r.dropped("rate_limited"), 0, "no other port may be rate-limited");
}

#[test]
#[ignore = "needs root and BPF"]
fn a_host_whose_address_is_taken_has_it_back_with_its_next_frame() {
    let (netns, places) = (Netns::new(), Places::new());
    let (first, second) = (host(1, &netns, "h1"), host(2, &netns, "h2"));
    let hostile = host(3, &netns, "h3");
    let switch = Switch::start(
        &netns,
        &places,
        "s",
        "mode = \"tcp-path\"\nports = [\"h1\", \"h2\", \"h3\"]\nfabric_ports = []",
    );
    switch.wait_roles(&[("h1", "host"), ("h2", "host"), ("h3", "host")]);
    assert!(reaches(&first, &second, "10.0.0.2:7"));
    let socket = hostile.packets("eth0", None);
    let mut frames = Frames::new(2);
    for _ in 0..5 {
        for _ in 0..50 {
            send(&socket, &frames.spoofed());
        }
        // As with any learning switch, an address is on the port that last used it. Each host's next frame,
        // even if lost, restores its own address.
        send_datagrams(&first, "10.0.0.2:7", 1);
        assert!(reaches(&second, &first, "10.0.0.1:7"));
        assert!(reaches(&first, &second, "10.0.0.2:7"));
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_host_that_comes_and_goes_as_a_switch_fills_neither_logs_nor_threads() {
    let (netns, places) = (Netns::new(), Places::new());
    let hostile = host(3, &netns, "h3");
    let _other = host(1, &netns, "h1");
    let config = "mode = \"tcp-path\"\nports = [\"h1\", \"h3\"]\nfabric_ports = \"any\"";
    let switch = Switch::start(&netns, &places, "s", config);
    switch.wait_roles(&[("h1", "host")]);
    let socket = hostile.packets("eth0", None);
    let threads = || std::fs::read_dir(format!("/proc/{}/task", switch.pid())).expect("procfs").count();
    let before = [threads(), switch.log().lines().count()];
    let heard = || switch.show("counters")["hello"]["heard"].as_u64().expect("a number");
    let (mut most, before_heard, began) = (0, heard(), Instant::now());
    let (mut sequence, mut pace) = (0, Pace::new(Duration::from_millis(5)));
    wait_for("a thousand Hellos are accepted", || {
        for _ in 0..20 {
            pace.turn();
            for _ in 0..64 {
                // One switch, another switch, a goodbye, and a hold time so short that it expires.
                let hold_ms = [60_000, 60_000, 0, 1][sequence as usize % 4];
                sequence += 1;
                send(&socket, &frames::hello(sequence % 2, hold_ms, sequence));
            }
            most = most.max(threads());
        }
        heard() > before_heard + 1000
    });
    let lines = switch.log().lines().count() - before[1];
    println!("{sequence} Hellos sent, {lines} lines, {most} threads");
    assert!(most <= before[0] + 4, "{most} threads, {} before", before[0]);
    let tens = 1 + began.elapsed().as_secs() as usize / 10;
    assert!(lines < 20 * tens, "{lines} lines:\n{}", switch.log());
}
