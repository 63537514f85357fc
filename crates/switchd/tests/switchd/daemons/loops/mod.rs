//! Loops outside the fabric: host ports of two leaves that are connected by a cable or behind a bridge.

mod forged;

use std::time::{Duration, Instant};

use crate::daemons::leaf_spine::{LeafSpine, Switches};
use crate::daemons::switch::{Places, Switch, within};
use crate::daemons::traffic::{Stream, reaches};
use crate::net::{Netns, cable};
use crate::wait::{DEADLINE, comes, settle, wait_for};

/// Host ports are listed, as in docs/deploy.md: a cable between them is no fabric link.
const GUARDED: &str = "fabric_ports = [\"s0\", \"s1\"]";
/// How long a port is blocked after the last probe, and the time between two probes.
const HOLD: Duration = Duration::from_secs(10);
const INTERVAL: Duration = Duration::from_millis(60);
/// Hello messages, probes and floods of both ends together are fewer frames a second. A loop has 550 000.
const QUIET: u64 = 200;

/// Two leaves with a port `x` for hosts each, which nothing or a host is connected to.
struct Loop {
    network: LeafSpine,
    places: Places,
}

impl Loop {
    fn new() -> Self {
        Self { network: LeafSpine::new(), places: Places::new() }
    }

    /// A cable from `x` to `x`, not plugged in yet.
    fn with_cable() -> Self {
        let new = Self::new();
        let [one, other] = &new.network.leaves;
        cable((one, "x"), (other, "x"));
        new.plug("down");
        new
    }

    fn plug(&self, state: &str) {
        self.network.leaves.iter().for_each(|leaf| leaf.ip(&format!("link set dev x {state}")));
    }

    fn start(&self, mode: &str, keys: &str) -> Switches<'_> {
        self.network.start_as(&self.places, mode, "100 ms", ", \"x\"", keys)
    }

    /// Whether the hosts reach one another with and without known addresses.
    fn reach(&self) -> bool {
        let [one, other] = &self.network.hosts;
        [one, other].into_iter().for_each(|host| host.ip("neigh flush all"));
        reaches(one, other, "10.0.0.2:7")
            && reaches(other, one, "10.0.0.1:8")
            && reaches(one, other, "10.0.0.2:10")
    }
}

fn is_blocked(leaf: &Switch<'_>) -> bool {
    leaf.role("x") == "looped"
}

/// The frames that arrive at both ends of the loop in a second.
fn frames_in_a_second(leaves: &[Switch<'_>; 2]) -> u64 {
    let count = || leaves.iter().map(|leaf| leaf.received("x")).sum::<u64>();
    let before = count();
    settle(Duration::from_secs(1));
    count() - before
}

/// Waits until one of both leaves blocks its port; returns the time that it took.
fn until_blocked(leaves: &[Switch<'_>; 2]) -> Duration {
    let began = Instant::now();
    let blocks = comes(DEADLINE, || leaves.iter().any(is_blocked));
    let took = began.elapsed();
    assert!(blocks, "nobody blocks, {} frames circle in a second", frames_in_a_second(leaves));
    took
}

/// Exactly one leaf blocks its port, both say so once in ten seconds, and other hosts reach one another. There may have been
/// several `loops`.
fn is_contained(network: &Loop, leaves: &[Switch<'_>; 2], loops: u64) {
    let [one, other] =
        leaves.each_ref().map(|leaf| leaf.show("status")["switch_id"].as_str().expect("an id").to_owned());
    wait_for("the greater id blocks", || leaves.each_ref().map(is_blocked) == [one > other, other > one]);
    assert!(network.reach(), "{}", leaves[0].log());
    let frames = frames_in_a_second(leaves);
    assert!(frames <= QUIET, "{frames} frames circle in a second");
    assert_eq!(leaves.each_ref().map(is_blocked), [one > other, other > one]);
    for leaf in leaves {
        let log = leaf.log();
        let lines: Vec<&str> = log.lines().filter(|line| line.contains("a loop:")).collect();
        assert!((1..=loops as usize).contains(&lines.len()), "{loops}: {log}");
        let names = [&one, &other].iter().all(|id| lines[0].contains(*id));
        assert!(lines[0].contains("WARN") && names && lines[0].contains("interface=x"), "{log}");
        let found = leaf.show("status")["loops_found"].as_u64().expect("a number");
        assert!((1..=loops).contains(&found), "{found} of {loops}");
        let metrics = network.places.metrics(&leaf.name);
        assert!(metrics.contains(&format!("weft_switchd_loops_found_total {found}")), "{metrics}");
        let shown = String::from_utf8(leaf.ctl("show ports").stdout).expect("text");
        assert!(shown.contains("loop to port 3 of"), "{shown}");
    }
}

/// A machine that is busy stalls daemons: with idle processors it takes 3 to 18 ms.
const CABLE: Duration = Duration::from_secs(1);

/// A cable between two leaves is plugged in while other hosts exchange datagrams.
fn cable_is_contained(mode: &str) {
    let network = Loop::with_cable();
    let switches = network.start(mode, GUARDED);
    assert!(network.reach());
    let streams = network.network.streams(5);
    streams[0].goes_on(20);
    let mut loops = 0;
    let took = within(CABLE, &format!("{mode}: carrier to block"), || {
        loops += 1;
        network.plug("down");
        for leaf in &switches.leaves {
            leaf.wait_roles(&[("x", "down")]);
        }
        network.network.leaves[0].ip("link set dev x up");
        let began = Instant::now();
        network.network.leaves[1].ip("link set dev x up");
        until_blocked(&switches.leaves);
        began.elapsed()
    });
    println!("{mode}: blocked {took:?} after the carrier came up");
    is_contained(&network, &switches.leaves, loops);
    streams.iter().for_each(|stream| stream.goes_on(50));
    for outcome in streams.map(Stream::end) {
        println!("{mode}: {} of {} datagrams of others lost", outcome.sent - outcome.received, outcome.sent);
        assert!(outcome.received * 10 >= outcome.sent * 9, "{} of {}", outcome.received, outcome.sent);
    }
    network.plug("down");
    for leaf in &switches.leaves {
        leaf.wait_roles(&[("x", "down")]);
    }
    assert!(network.reach());
}

#[test]
#[ignore = "needs root and BPF"]
fn a_cable_between_host_ports_of_two_leaves_is_blocked_at_once_under_arp_path() {
    cable_is_contained("arp-path");
}

#[test]
#[ignore = "needs root and BPF"]
fn a_cable_between_host_ports_of_two_leaves_is_blocked_at_once_under_tcp_path_and_tfe() {
    cable_is_contained("tcp-path");
    cable_is_contained("tfe");
}

#[test]
#[ignore = "needs root and BPF"]
fn a_cable_between_host_ports_of_two_leaves_is_blocked_at_once_under_ecmp() {
    cable_is_contained("ecmp");
}

/// A machine that is busy stalls daemons: with idle processors it takes up to 90 ms.
const BRIDGE: Duration = Duration::from_millis(400);

/// The ports `x` of both leaves lead to one Linux bridge without STP, whose second port joins it later.
fn bridge_is_contained(keys: &str, patience: Duration) {
    let (network, bridge) = (Loop::new(), Netns::new());
    bridge.ip("link add br0 type bridge stp_state 0");
    for (l, leaf) in network.network.leaves.iter().enumerate() {
        cable((leaf, "x"), (&bridge, &format!("b{l}")));
    }
    bridge.ip("link set dev br0 up");
    bridge.ip("link set dev b0 master br0");
    let switches = network.start("arp-path", keys);
    for leaf in &switches.leaves {
        leaf.wait_roles(&[("x", "host")]);
    }
    assert!(network.reach());
    let streams = network.network.streams(5);
    let mut loops = 0;
    let took = within(patience, "loop through a bridge to block", || {
        loops += 1;
        bridge.ip("link set dev b1 nomaster");
        wait_for("no port is blocked", || !switches.leaves.iter().any(is_blocked));
        streams[0].goes_on(20);
        bridge.ip("link set dev b1 master br0");
        until_blocked(&switches.leaves)
    });
    println!("blocked {took:?} after the bridge closed the loop");
    is_contained(&network, &switches.leaves, loops);
    bridge.ip("link set dev b1 nomaster");
    let gone = Instant::now();
    for leaf in &switches.leaves {
        leaf.wait_roles(&[("x", "host")]);
    }
    let healed = gone.elapsed();
    println!("healed after {healed:?}");
    for outcome in streams.map(Stream::end) {
        println!("{} of {} datagrams of others lost", outcome.sent - outcome.received, outcome.sent);
    }
    assert!(healed > HOLD / 2, "{healed:?}");
    assert!(network.reach());
}

#[test]
#[ignore = "needs root and BPF"]
fn a_loop_through_a_bridge_is_blocked_and_heals_when_the_bridge_opens_it() {
    bridge_is_contained(GUARDED, BRIDGE);
}

#[test]
#[ignore = "needs root and BPF"]
fn a_loop_through_a_bridge_is_blocked_where_every_port_may_become_a_fabric_port() {
    bridge_is_contained("", BRIDGE);
}

#[test]
#[ignore = "needs root and BPF"]
fn a_blocked_port_stays_blocked_while_daemons_hang_and_restart() {
    let network = Loop::with_cable();
    let mut switches = network.start("arp-path", GUARDED);
    network.plug("up");
    until_blocked(&switches.leaves);
    let blocked = usize::from(is_blocked(&switches.leaves[1]));
    switches.leaves[1 - blocked].pause();
    settle(HOLD / 2);
    assert!(is_blocked(&switches.leaves[blocked]));
    switches.leaves[1 - blocked].resume();
    assert!(network.reach());
    let received = |switches: &Switches<'_>| switches.leaves[1 - blocked].received("x");
    for at in [blocked, 1 - blocked] {
        let before = received(&switches);
        switches.leaves[at].stop();
        switches.leaves[at].begin();
        switches.leaves[blocked].wait_roles(&[("x", "looped")]);
        assert!(network.reach());
        let frames = received(&switches) - before;
        assert!(frames <= 10 * QUIET, "{frames} frames circled");
        assert_eq!(switches.leaves[1 - blocked].role("x"), "host");
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_cable_between_two_ports_that_may_be_fabric_ports_is_a_fabric_link_and_no_loop() {
    let network = Loop::with_cable();
    let switches = network.start("arp-path", "");
    network.plug("up");
    for leaf in &switches.leaves {
        leaf.wait_roles(&[("x", "fabric")]);
    }
    assert!(network.reach());
    settle(6 * INTERVAL);
    let log = switches.log();
    assert!(!log.contains("a loop:"), "{log}");
}

#[test]
#[ignore = "needs root and BPF"]
fn a_link_that_is_for_hosts_only_at_one_end_is_blocked_at_the_other() {
    let network = Loop::with_cable();
    let switches = network.start("arp-path", GUARDED);
    switches.leaves[0].write(
        "mode = \"arp-path\"\nports = [\"host\", \"s0\", \"s1\", \"x\"]\n[hello]\ninterval = \"100 ms\"",
    );
    assert!(switches.leaves[0].ctl("reload").status.success());
    network.plug("up");
    switches.leaves[0].wait_roles(&[("x", "looped")]);
    settle(6 * INTERVAL);
    assert_eq!(switches.leaves.each_ref().map(|leaf| leaf.role("x")), ["looped", "host"]);
    assert!(network.reach());
    switches.leaves[1].write(
        "mode = \"arp-path\"\nports = [\"host\", \"s0\", \"s1\", \"x\"]\n[hello]\ninterval = \"100 ms\"",
    );
    assert!(switches.leaves[1].ctl("reload").status.success());
    for leaf in &switches.leaves {
        leaf.wait_roles(&[("x", "fabric")]);
    }
}
