//! Mode `ecmp` with the routes of FRR (BGP unnumbered and BFD) on every switch.

mod fabric;
mod routers;

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::daemons::switch::{Places, one_of_three};
use crate::daemons::traffic::{Connection, Stream, reaches};
use crate::wait::wait_for;
use fabric::{Fabric, Running};

/// The time between two datagrams of a stream.
const EVERY: Duration = Duration::from_millis(2);
/// How long a failure is watched.
const WATCHED: Duration = Duration::from_millis(2000);
/// BFD sends at this interval, and gives up after three.
const BFD_MS: u32 = 50;
/// FRR alone: Hello messages withdraw nothing, and no failure is as long as their hold time.
const FRR_ALONE: &str = "interval = \"100 ms\"\nhold = 100\nreach = \"off\"";
const BOTH: &str = "interval = \"100 ms\"";

/// How the link between the first leaf and the first spine fails, and how it is repaired.
struct Failure {
    breaks: fn(&Fabric, &mut Running<'_>),
    heals: fn(&Fabric, &mut Running<'_>),
}

/// Both ends lose their carrier.
const CARRIER: Failure = Failure {
    breaks: |fabric, _| fabric.spines[0].ip("link set l0 down"),
    heals: |fabric, _| fabric.spines[0].ip("link set l0 up"),
};

/// Frames are lost in both directions, and both ends keep their carrier.
const SILENT: Failure = Failure {
    breaks: |fabric, _| {
        fabric.leaves[0].sh("tc qdisc replace dev s0 root blackhole");
        fabric.spines[0].sh("tc qdisc replace dev l0 root blackhole");
    },
    heals: |fabric, _| {
        fabric.leaves[0].sh("tc qdisc del dev s0 root");
        fabric.spines[0].sh("tc qdisc del dev l0 root");
    },
};

/// The first spine's bgpd crashes.
const DAEMON: Failure = Failure {
    breaks: |_, running| running.of_spine(0).kill("bgpd"),
    heals: |fabric, running| running.of_spine(0).begin(&fabric.spines[0], "bgpd"),
};

/// Flows of one direction between the hosts of the last and the first leaf, over both spines.
fn flows(fabric: &Fabric, is_to_first: bool) -> Vec<Stream> {
    let (from, to, number) = if is_to_first { (2, 0, 1) } else { (0, 2, 3) };
    let flow = |port: u16| {
        Stream::start(&fabric.hosts[from], &fabric.hosts[to], &format!("10.0.0.{number}:{port}"), EVERY)
    };
    (100..108).map(flow).collect()
}

/// For how long the worst of the flows lost its datagrams.
fn lost(flows: Vec<Stream>) -> Duration {
    let lost = Stream::end_all(flows).into_iter().map(|end| end.sent - end.received.min(end.sent));
    EVERY * lost.max().unwrap_or_default() as u32
}

/// For how long the worst flow to the first leaf, and the worst from there, lose datagrams when something happens.
fn watch(
    fabric: &Fabric,
    running: &mut Running<'_>,
    happens: fn(&Fabric, &mut Running<'_>),
) -> [Duration; 2] {
    let streams = [true, false].map(|is_to_first| flows(fabric, is_to_first));
    streams.iter().flatten().for_each(|stream| stream.goes_on(50));
    let began = Instant::now();
    happens(fabric, running);
    sleep(WATCHED.saturating_sub(began.elapsed()));
    streams.map(lost)
}

/// Waits until the last leaf sends over these ports to the first one.
fn wait_for_ports(running: &Running<'_>, ports: &[&str]) {
    wait_for("the last leaf has these next hops", || running.ports(&running.leaves[2], 0) == ports);
}

/// The failure withdraws the route over the first spine, and flows lose datagrams for no longer than `most`; when it heals, for
/// no longer than `again`. Routes that stay would lose all of them.
fn fails_and_heals(failure: &Failure, hello: &str, most: Duration, again: Duration) {
    if !routers::is_installed() {
        return;
    }
    let (fabric, places) = (Fabric::new(), Places::new());
    let mut running = fabric.start(&places, hello, BFD_MS);
    for [from, to] in [[0, 1], [1, 2], [2, 0]] {
        assert!(reaches(&fabric.hosts[from], &fabric.hosts[to], &format!("10.0.0.{}:7", to + 1)));
    }
    let mut connection = Connection::open(&fabric.hosts[2], &fabric.hosts[0], "10.0.0.1:80");
    connection.send(1_000_000);
    one_of_three("a failure under FRR", || {
        let failed = watch(&fabric, &mut running, failure.breaks);
        wait_for_ports(&running, &["s1"]);
        connection.send(100_000);
        let healed = watch(&fabric, &mut running, failure.heals);
        wait_for_ports(&running, &["s0", "s1"]);
        connection.send(100_000);
        let all = format!("lost to the leaf and from it: {failed:?}, when it heals {healed:?}");
        println!("{all}");
        let is_short = failed.iter().all(|lost| *lost <= most) && healed.iter().all(|lost| *lost <= again);
        if is_short { Ok(()) } else { Err(format!("{all}: expected {most:?}, then {again:?}")) }
    });
}

#[test]
#[ignore = "needs root and BPF"]
fn flows_leave_the_spine_that_loses_its_carrier_to_their_leaf_once_frr_says_so() {
    fails_and_heals(&CARRIER, FRR_ALONE, Duration::from_millis(1200), Duration::from_millis(200));
}

#[test]
#[ignore = "needs root and BPF"]
fn flows_leave_the_spine_whose_link_to_their_leaf_is_silent_once_bfd_says_so() {
    fails_and_heals(&SILENT, FRR_ALONE, Duration::from_millis(1200), Duration::from_millis(200));
}

#[test]
#[ignore = "needs root and BPF"]
fn flows_leave_the_spine_whose_bgpd_crashes_and_lose_nothing() {
    fails_and_heals(&DAEMON, FRR_ALONE, Duration::from_millis(200), Duration::from_millis(200));
}

#[test]
#[ignore = "needs root and BPF"]
fn hello_messages_withdraw_routes_of_frr_sooner_than_frr() {
    fails_and_heals(&CARRIER, BOTH, Duration::from_millis(100), Duration::from_millis(200));
}
