//! Mode `ecmp` with the routes of FRR (BGP unnumbered and BFD) on every switch.

mod fabric;
mod routers;

use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::daemons::switch::{Places, one_of_three, within};
use crate::daemons::traffic::{Connection, Stream, lost, reaches, send_datagrams};
use crate::net::Netns;
use crate::wait::{wait_for, wait_for_more};
use fabric::{Fabric, Running};
use routers::Routers;

/// The time between two datagrams of a stream.
const EVERY: Duration = Duration::from_millis(2);
/// How long a failure is watched.
const WATCHED: Duration = Duration::from_secs(4);
/// BFD sends at this interval, and gives up after three: more than a busy machine keeps its daemon waiting.
/// `WEFT_FRR_BFD_MS` sets another one, for measurements.
const BFD_MS: u32 = 300;
/// FRR alone: Hello messages withdraw nothing, and no failure is as long as their hold time.
const FRR_ALONE: &str = "interval = \"100 ms\"\nhold = 100\nreach = \"off\"";
const BOTH: &str = "interval = \"100 ms\"\nhold = 100";
/// The most that flows may lose when all is well again.
const HEALED: Duration = Duration::from_millis(1000);

/// A fabric with FRR is 20 programs: one at a time.
static ALONE: Mutex<()> = Mutex::new(());

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
    streams.map(|flows| lost(flows, EVERY))
}

/// Waits until the last leaf sends over these ports to the first one.
fn wait_for_ports(running: &Running<'_>, ports: &[&str]) {
    wait_for("the last leaf has these next hops", || running.ports(&running.leaves[2], 0) == ports);
}

/// The failure withdraws the route over the first spine, and flows lose datagrams for no longer than `most`. Routes that stay
/// would lose all of them.
fn fails_and_heals(failure: &Failure, most: Duration) {
    if !routers::is_installed() {
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (fabric, places) = (Fabric::new(), Places::new());
    let bfd_ms = std::env::var("WEFT_FRR_BFD_MS").ok().and_then(|ms| ms.parse().ok()).unwrap_or(BFD_MS);
    let mut running = fabric.start(&places, FRR_ALONE, bfd_ms);
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
        let is_short = failed.iter().all(|lost| *lost <= most) && healed.iter().all(|lost| *lost <= HEALED);
        if is_short { Ok(()) } else { Err(format!("{all}: expected {most:?}, then {HEALED:?}")) }
    });
}

#[test]
#[ignore = "needs root and BPF"]
fn flows_leave_the_spine_that_loses_its_carrier_to_their_leaf_once_frr_says_so() {
    fails_and_heals(&CARRIER, WATCHED / 2);
}

#[test]
#[ignore = "needs root and BPF"]
fn flows_leave_the_spine_whose_link_to_their_leaf_is_silent_once_bfd_says_so() {
    fails_and_heals(&SILENT, WATCHED * 3 / 4);
}

#[test]
#[ignore = "needs root and BPF"]
fn flows_leave_the_spine_whose_bgpd_crashes() {
    fails_and_heals(&DAEMON, WATCHED / 2);
}

#[test]
#[ignore = "needs root and BPF"]
fn hello_messages_withdraw_routes_of_frr_without_frr() {
    if !routers::is_installed() {
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (fabric, places) = (Fabric::new(), Places::new());
    let mut running = fabric.start(&places, BOTH, BFD_MS);
    assert!(reaches(&fabric.hosts[2], &fabric.hosts[0], "10.0.0.1:7"));
    running.routers.iter().for_each(Routers::pause);
    let failed = watch(&fabric, &mut running, CARRIER.breaks);
    println!("lost to the leaf and from it: {failed:?}");
    assert!(failed.iter().all(|lost| *lost <= WATCHED / 2), "{failed:?}");
    assert_eq!(running.ports(&running.leaves[2], 0), ["s0", "s1"], "the route of FRR stays");
    assert!(running.leaves[2].withdrawn("s0") > 0);
}

#[test]
#[ignore = "needs root and BPF"]
fn a_switch_that_restarts_has_the_routes_of_frr_before_it_forwards() {
    if !routers::is_installed() {
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (fabric, places) = (Fabric::new(), Places::new());
    let mut running = fabric.start(&places, FRR_ALONE, BFD_MS);
    assert!(reaches(&fabric.hosts[2], &fabric.hosts[0], "10.0.0.1:7"));
    // From now on, no route changes.
    running.routers.iter().for_each(Routers::pause);
    let streams = [true, false].map(|is_to_first| flows(&fabric, is_to_first));
    let Running { leaves, spines, .. } = &mut running;
    for switch in [&mut leaves[2], &mut spines[0]] {
        let before = switch.dropped("no_route");
        for _ in 0..3 {
            switch.kill();
            switch.begin();
            streams.iter().flatten().for_each(|stream| stream.goes_on(50));
        }
        assert_eq!(switch.dropped("no_route"), before, "{}", switch.name);
    }
    println!("lost to the leaf and from it: {:?}", streams.map(|flows| lost(flows, EVERY)));
}

#[test]
#[ignore = "needs root and BPF"]
fn a_leaf_without_a_route_is_shown_and_a_host_does_not_reach_frr() {
    if !routers::is_installed() {
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (fabric, places) = (Fabric::new(), Places::new());
    let mut running = fabric.start(&places, FRR_ALONE, BFD_MS);
    // A host sends to BGP at the leaf's fabric port, and as the spine's port to all routers.
    let address = |netns: &Netns, port: &str| {
        let shown = netns.output(&format!("ip -o link show dev {port}"));
        shown
            .split_whitespace()
            .skip_while(|word| *word != "link/ether")
            .nth(1)
            .expect("an address")
            .to_owned()
    };
    let (own, peer) = (address(&fabric.leaves[0], "s0"), address(&fabric.spines[0], "l0"));
    let before = (running.leaves[0].dropped("untrusted"), running.spines[0].dropped("untrusted"));
    fabric.hosts[0].ip(&format!("neigh replace 10.0.0.99 lladdr {own} dev eth0"));
    send_datagrams(&fabric.hosts[0], "10.0.0.99:3784", 5);
    wait_for("frames to the leaf's machine are refused", || {
        running.leaves[0].dropped("untrusted") >= before.0 + 5
    });
    fabric.hosts[2].ip(&format!("link set eth0 address {peer}"));
    let mut ping = fabric.hosts[2].command("ping");
    // Nobody answers.
    let _ = ping.args(["-c", "3", "-W", "1", "-b", "10.0.0.255"]).output().expect("ping");
    wait_for("frames with the spine's address are refused there", || {
        running.spines[0].dropped("untrusted") > before.1
    });
    // No route is left.
    (0..fabric::SPINES).for_each(|at| running.of_spine(at).kill("bgpd"));
    wait_for("the routes are gone", || running.ports(&running.leaves[0], 1).is_empty());
    let shown = String::from_utf8(running.leaves[0].ctl("show leaves").stdout).expect("text");
    assert!(shown.contains("none: frames are dropped") && shown.contains("this switch"), "{shown}");
    let routes = running.leaves[0].ask("show routes");
    assert!(
        routes["routes"].as_array().expect("a list").iter().all(|row| row["from"] == "kernel"),
        "{routes}"
    );
    assert!(places.metrics("l0").contains("weft_switchd_leaves_without_route 2"));
    let lost = running.leaves[0].dropped("no_route");
    fabric.hosts[0].ip("neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev eth0");
    send_datagrams(&fabric.hosts[0], "10.0.0.2:9", 5);
    wait_for("frames without a route are counted", || running.leaves[0].dropped("no_route") >= lost + 5);
    assert!(running.leaves[0].log().contains("the kernel has no route to these leaves"));
    // The kernel removes routes of an interface that goes down without a message about them. Without one, they are read 5 s
    // after the last change.
    within(Duration::from_secs(1), "the end of a route whose interface goes down", || {
        fabric.leaves[0].ip("route add 10.1.0.2/32 dev s0");
        wait_for("the route is used", || running.ports(&running.leaves[0], 1) == ["s0"]);
        let began = Instant::now();
        fabric.leaves[0].ip("link set s0 down");
        wait_for("the route is gone", || running.ports(&running.leaves[0], 1).is_empty());
        let took = began.elapsed();
        fabric.leaves[0].ip("link set s0 up");
        running.leaves[0].wait_roles(&[("s0", "fabric")]);
        took
    });
    // Ports with one address are named, once.
    let spine = (&fabric.spines[0], &running.spines[0]);
    let twin = address(spine.0, "l0");
    let set = |port: &str, mac: &str| spine.0.ip(&format!("link set dev {port} address {mac}"));
    let warnings = |of: &str| {
        spine.1.log().lines().filter(|line| line.contains("one MAC address") && line.contains(of)).count()
    };
    set("l1", &twin);
    wait_for("two ports with one address are named", || warnings("ports=\"l0, l1\"") == 1);
    set("l2", "02:00:00:00:ff:01");
    // The program gets other addresses with the next Hello that arrives.
    let heard = || spine.1.show("counters")["hello"]["heard"].as_u64().expect("a count");
    wait_for_more("Hello messages are heard", 20, heard);
    set("l2", &twin);
    wait_for("three ports with one address are named", || warnings("ports=\"l0, l1, l2\"") == 1);
    assert_eq!((warnings("the last one only, l2"), warnings("")), (1, 2), "{}", spine.1.log());
    // A route by hand, over a port that leads to no switch, and then over one that does, with weights.
    fabric.leaves[0].ip("route add 10.1.0.2/32 dev host");
    wait_for("the route is shown as ignored", || {
        running.leaves[0].ask("show leaves")[1]["ignored"][0] == "host"
    });
    fabric.leaves[0].ip("route replace 10.1.0.2/32 nexthop via inet6 fe80::1 dev s0 weight 3 nexthop via inet6 fe80::2 dev s1");
    wait_for("the route is used", || running.ports(&running.leaves[0], 1) == ["s0", "s1"]);
    assert_eq!(running.leaves[0].ask("show leaves")[1]["weights"], serde_json::json!([3, 1]));
    // A group of next hops that changes while its route stays.
    fabric.leaves[0].ip("route del 10.1.0.2/32");
    for (id, port) in [(1, "s0"), (2, "s1")] {
        fabric.leaves[0].ip(&format!("nexthop add id {id} via fe80::{id} dev {port}"));
    }
    fabric.leaves[0].ip("nexthop add id 10 group 1/2");
    fabric.leaves[0].ip("route add 10.1.0.2/32 nhid 10");
    wait_for("the group is used", || running.ports(&running.leaves[0], 1) == ["s0", "s1"]);
    fabric.leaves[0].ip("nexthop del id 1");
    wait_for("the group is smaller", || running.ports(&running.leaves[0], 1) == ["s1"]);
}
