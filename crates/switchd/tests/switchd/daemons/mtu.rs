//! Links with a smaller MTU than the frames of hosts.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crate::daemons::leaf_spine::LeafSpine;
use crate::daemons::switch::Places;
use crate::daemons::traffic::{Connection, lost, reaches};
use crate::net::Netns;
use crate::wait::{settle, wait_for, wait_for_more};

/// The hold time: 100 Hello intervals of 100 ms.
const HOLD: Duration = Duration::from_secs(10);

/// The number of 20 datagrams of 1472 bytes, in packets of 1500, that arrive at the address and port of a host.
fn long_datagrams(from: &Netns, to: &Netns, (address, port): (&'static str, u16)) -> usize {
    let echo = to.run(move || UdpSocket::bind((address, port)).expect("a socket"));
    echo.set_read_timeout(Some(Duration::from_secs(1))).expect("a time");
    let socket = from.run(|| UdpSocket::bind("0.0.0.0:0").expect("a socket"));
    for _ in 0..20 {
        socket.send_to(&[0; 1472], (address, port)).expect("it is sent");
    }
    (0..20).take_while(|_| echo.recv(&mut [0; 2000]).is_ok()).count()
}

/// One end of a fabric link gets an MTU of 1400 while connections use both spines: both ends leave the link at once, although
/// its carrier stays, until it takes full packets again.
fn is_left(mode: &str) {
    let (network, places) = (LeafSpine::new(), Places::new());
    let switches = network.start_as(&places, mode, "100 ms\"\nhold = 100 # \"", "", "");
    let [one, other] = &network.hosts;
    one.sh("ethtool -K eth0 tso off gso off");
    let mut connections: Vec<_> =
        (4000..4008).map(|port| Connection::open(one, other, &format!("10.0.0.2:{port}"))).collect();
    connections.iter_mut().for_each(|connection| connection.send(100_000));
    let streams = network.streams(2);
    streams.iter().for_each(|stream| stream.goes_on(50));
    network.leaves[0].ip("link set dev s0 mtu 1400");
    let changed = Instant::now();
    switches.leaves[0].wait_roles(&[("s0", "down")]);
    switches.spines[0].wait_roles(&[("l0", "listening")]);
    let left = changed.elapsed();
    connections.iter_mut().for_each(|connection| connection.send(100_000));
    let went_on = changed.elapsed();
    println!("{mode}: both ends left after {left:?}, connections went on after {went_on:?}");
    assert!(left < HOLD / 2, "{left:?}");
    assert_eq!(long_datagrams(one, other, ("10.0.0.2", 4100)), 20, "{mode}");
    let log = switches.leaves[0].log();
    assert!(log.contains("has an MTU of 1400, but hosts may send packets of 1500 bytes"), "{log}");
    network.leaves[0].ip("link set dev s0 mtu 1500");
    switches.leaves[0].wait_roles(&[("s0", "fabric")]);
    switches.spines[0].wait_roles(&[("l0", "fabric")]);
    // Larger frames than before pass as soon as all links and hosts take them.
    for (netns, port) in network.ports() {
        netns.ip(&format!("link set dev {port} mtu 9000"));
    }
    wait_for("jumbo frames pass", || {
        let mut ping = one.command("ping");
        let output = ping.args(["-c", "1", "-W", "1", "-M", "do", "-s", "8000", "10.0.0.2"]).output();
        output.expect("ping").status.success()
    });
    streams.iter().for_each(|stream| stream.goes_on(50));
    let lost = lost(streams, Duration::from_millis(2));
    println!("{mode}: datagrams were lost for {lost:?}");
    assert!(lost < HOLD / 4, "{mode}: {lost:?}");
}

#[test]
#[ignore = "needs root and BPF"]
fn a_link_that_gets_a_small_mtu_is_left_by_both_ends_at_once_under_tcp_path() {
    is_left("tcp-path");
}

#[test]
#[ignore = "needs root and BPF"]
fn a_link_that_gets_a_small_mtu_is_left_by_both_ends_at_once_under_ecmp() {
    is_left("ecmp");
}

/// The neighbour of the end with the small MTU does not take the link into use again when its hold time is over.
fn stays_left(mode: &str) {
    let (network, places) = (LeafSpine::new(), Places::new());
    let switches = network.start(&places, mode);
    let [one, other] = &network.hosts;
    assert!(reaches(one, other, "10.0.0.2:7"));
    network.leaves[0].ip("link set dev s0 mtu 1400");
    switches.leaves[0].wait_roles(&[("s0", "down")]);
    switches.spines[0].wait_roles(&[("l0", "host")]);
    // Flows of which some would take the spine in each direction.
    for port in 4200..4216 {
        assert_eq!(long_datagrams(one, other, ("10.0.0.2", port)), 20, "{mode}: {port}");
        assert_eq!(long_datagrams(other, one, ("10.0.0.1", port)), 20, "{mode}: {port}, back");
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_link_with_a_small_mtu_stays_left_after_the_hold_time_under_tcp_path() {
    stays_left("tcp-path");
}

#[test]
#[ignore = "needs root and BPF"]
fn a_link_with_a_small_mtu_stays_left_after_the_hold_time_under_ecmp() {
    stays_left("ecmp");
}

/// Switches whose links all have an MTU of 1400, as configured, between hosts that send larger packets: these are lost, as on a
/// Linux bridge, but counted and logged.
fn long_frames_are_counted(mode: &str) {
    let (network, places) = (LeafSpine::new(), Places::new());
    for leaf in &network.leaves {
        ["s0", "s1"].iter().for_each(|port| leaf.ip(&format!("link set dev {port} mtu 1400")));
    }
    let switches = network.start_as(&places, mode, "100 ms", "", "mtu = 1400");
    let [one, other] = &network.hosts;
    let mut connection = Connection::open(one, other, "10.0.0.2:4000");
    connection.send(100);
    let leaf = &switches.leaves[0];
    let too_long = || ["s0", "s1"].iter().map(|port| leaf.too_long(port)).sum::<u64>();
    assert_eq!(too_long(), 0);
    let forwarded = || leaf.show("counters")["forwarded"].as_u64().expect("a count");
    let before = forwarded();
    assert_eq!(long_datagrams(one, other, ("10.0.0.2", 4100)), 0, "{mode}");
    assert_eq!((too_long(), leaf.dropped("too_long")), (20, 20), "{mode}");
    // A flood that fits no link is dropped once, and counted by each of its ports.
    let socket = one.run(|| UdpSocket::bind("0.0.0.0:0").expect("a socket"));
    socket.set_broadcast(true).expect("an option");
    (0..20)
        .for_each(|_| assert_eq!(socket.send_to(&[0; 1472], "10.0.0.255:4100").expect("it is sent"), 1472));
    wait_for("each port counts its copies", || too_long() == 60);
    assert_eq!(leaf.dropped("too_long"), 40, "{mode}");
    assert!(forwarded() < before + 20, "{mode}: dropped frames count as forwarded");
    let text = |what: &str| String::from_utf8(leaf.ctl(what).stdout).expect("text");
    let (ports, counters) = (text("show ports"), text("show counters"));
    assert!(ports.lines().next().is_some_and(|head| head.ends_with("dropped  too long")), "{ports}");
    assert!(
        counters.lines().any(|line| line.split_whitespace().eq(["dropped.too_long", "40"])),
        "{counters}"
    );
    wait_for("a warning", || leaf.log().contains("frames longer than the MTU of the interface are dropped"));
    let metrics = places.metrics("l0");
    assert!(metrics.contains("weft_switchd_port_too_long_frames_total{port=\"s0\"} "), "{metrics}");
    // Hosts that send smaller packets are not affected.
    one.ip("link set dev eth0 mtu 1400");
    connection.send(100_000);
    wait_for_more("frames are sent", 1, || leaf.sent_bytes("s0") + leaf.sent_bytes("s1"));
    settle(Duration::from_millis(100));
    let before = too_long();
    connection.send(100_000);
    assert_eq!(too_long(), before, "{mode}");
}

#[test]
#[ignore = "needs root and BPF"]
fn frames_that_no_link_takes_are_counted_and_logged_under_tcp_path() {
    long_frames_are_counted("tcp-path");
}

#[test]
#[ignore = "needs root and BPF"]
fn frames_that_no_link_takes_are_counted_and_logged_under_ecmp() {
    long_frames_are_counted("ecmp");
}
