//! Mode `ecmp`: a link of another leaf fails. Flows to that leaf leave the spine that has lost it, and come back.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::daemons::leaf_spine::{LeafSpine, Switches};
use crate::daemons::pair::Pair;
use crate::daemons::switch::{Places, one_of_three};
use crate::daemons::traffic::{Stream, lost, reaches};
use crate::wait::{comes, wait_for, wait_for_more};

const INTERVAL: Duration = Duration::from_millis(100);
const HOLD: Duration = Duration::from_millis(300);
/// The time between two datagrams of a stream.
const EVERY: Duration = Duration::from_millis(2);
/// How long a failure is watched.
const WATCHED: Duration = Duration::from_millis(1500);

/// How the link between the first leaf and the first spine fails, and how it is repaired.
struct Failure {
    breaks: fn(&LeafSpine),
    heals: fn(&LeafSpine),
}

/// Both ends lose their carrier.
const CARRIER: Failure = Failure {
    breaks: |network| network.spines[0].ip("link set l0 down"),
    heals: |network| network.spines[0].ip("link set l0 up"),
};

/// Frames are lost in both directions, and both ends keep their carrier.
const SILENT: Failure = Failure {
    breaks: |network| {
        network.leaves[0].sh("tc qdisc replace dev s0 root blackhole");
        network.spines[0].sh("tc qdisc replace dev l0 root blackhole");
    },
    heals: |network| {
        network.leaves[0].sh("tc qdisc del dev s0 root");
        network.spines[0].sh("tc qdisc del dev l0 root");
    },
};

/// The flows of one direction, of which the switches take some over each spine.
fn flows(network: &LeafSpine, from: usize) -> Vec<Stream> {
    let [one, other] = [from, 1 - from].map(|at| &network.hosts[at]);
    let port = 100 * (from + 1);
    let flow = |number| Stream::start(one, other, &format!("10.0.0.{}:{}", 2 - from, port + number), EVERY);
    (0..8).map(flow).collect()
}

/// For how long the worst flow to the leaf that loses a link, and the worst flow from there, lose datagrams while something
/// happens and for a while after.
fn watch(
    network: &LeafSpine,
    switches: &mut Switches<'_>,
    happens: impl FnOnce(&mut Switches<'_>),
) -> [Duration; 2] {
    let streams = [1, 0].map(|from| flows(network, from));
    streams.iter().flatten().for_each(|stream| stream.goes_on(50));
    let (began, before) = (Instant::now(), switches.leaves[1].withdrawn("s0"));
    happens(switches);
    let is_changed = comes(WATCHED, || switches.leaves[1].withdrawn("s0") != before);
    let reaction = is_changed.then(|| began.elapsed());
    sleep(WATCHED.saturating_sub(began.elapsed()));
    let [to, from] = streams.map(|flows| lost(flows, EVERY));
    println!(
        "flows lost datagrams for {to:?} to the leaf, and for {from:?} from there; routes changed after {reaction:?}"
    );
    [to, from]
}

/// The bytes that the second leaf has sent to each spine.
fn divided(switches: &Switches<'_>) -> [u64; 2] {
    [0, 1].map(|spine| switches.spines[spine].received_bytes("l1"))
}

/// Waits until flows of the second leaf take both spines, or only the second one. They are others each time: by chance, all
/// may take the same.
fn wait_until_first_spine(network: &LeafSpine, switches: &Switches<'_>, is_used: bool) {
    wait_for("the flows take their spines", || {
        let streams = flows(network, 1);
        let before = divided(switches);
        let flow = comes(HOLD * 10, || divided(switches)[1] > before[1] + 10_000);
        let [first, second] = [0, 1].map(|spine| divided(switches)[spine] - before[spine]);
        let _ = lost(streams, EVERY);
        // One flow of eight has a seventh of what the others have; Hello messages take less than a tenth, if it does not take
        // long.
        flow && (10 * first > second) == is_used
    });
}

/// A link fails and heals; flows to and from its leaf lose datagrams for no longer than `most`, which leaves time for a busy
/// machine. Without announcements, they lose all of them.
fn fails_and_heals(failure: &Failure, most: Duration) {
    let (network, places) = (LeafSpine::new(), Places::new());
    let mut switches = network.start(&places, "ecmp");
    assert!(reaches(&network.hosts[0], &network.hosts[1], "10.0.0.2:7"));
    wait_until_first_spine(&network, &switches, true);
    one_of_three("a link of another leaf", || {
        let [to, from] = watch(&network, &mut switches, |_| (failure.breaks)(&network));
        wait_until_first_spine(&network, &switches, false);
        let [to_again, from_again] = watch(&network, &mut switches, |_| (failure.heals)(&network));
        wait_until_first_spine(&network, &switches, true);
        let all =
            format!("{to:?} to the leaf, {from:?} from it, {to_again:?} and {from_again:?} when it heals");
        let is_short = to.max(from) <= most && to_again.max(from_again) <= INTERVAL;
        if is_short { Ok(()) } else { Err(format!("{all}: expected {most:?}, then {INTERVAL:?}")) }
    });
}

#[test]
#[ignore = "needs root and BPF"]
fn flows_leave_a_spine_that_is_taken_down_for_good() {
    let (network, places) = (LeafSpine::new(), Places::new());
    let mut switches = network.start(&places, "ecmp");
    assert!(reaches(&network.hosts[0], &network.hosts[1], "10.0.0.2:7"));
    wait_until_first_spine(&network, &switches, true);
    let [to, from] = watch(&network, &mut switches, |switches| {
        switches.spines[0].take_down();
        // Its ports keep their carrier, and nothing says that they lead to a switch.
        switches.leaves.iter().for_each(|leaf| leaf.wait_roles(&[("s0", "host")]));
    });
    assert!(to.max(from) <= HOLD, "{to:?}, {from:?}");
    // Its machine starts again, without the daemon.
    let spine = &network.spines[0];
    let [to, from] = watch(&network, &mut switches, |switches| {
        ["l0", "l1"].iter().for_each(|port| spine.ip(&format!("link set {port} down")));
        switches.leaves.iter().for_each(|leaf| leaf.wait_roles(&[("s0", "down")]));
        ["l0", "l1"].iter().for_each(|port| spine.ip(&format!("link set {port} up")));
        switches.leaves.iter().for_each(|leaf| leaf.wait_roles(&[("s0", "host")]));
    });
    assert!(to.max(from) <= HOLD, "{to:?}, {from:?}, after a reboot of the spine");
    // The next daemons of the leaves know it, too.
    let [to, from] = watch(&network, &mut switches, |switches| {
        for leaf in &mut switches.leaves {
            leaf.stop();
            leaf.begin();
        }
    });
    assert!(to.max(from) <= HOLD, "{to:?}, {from:?}, after a restart of the leaves");
    switches.spines[0].begin();
    wait_until_first_spine(&network, &switches, true);
}

#[test]
#[ignore = "needs root and BPF"]
fn a_leaf_that_starts_beside_a_dead_spine_does_not_use_it() {
    let (network, places) = (LeafSpine::new(), Places::new());
    let mut switches = network.start_as(&places, "ecmp", "100 ms", "", "fabric_ports = [\"s0\", \"s1\"]");
    switches.spines[0].take_down();
    for leaf in &mut switches.leaves {
        leaf.take_down();
        leaf.begin();
        leaf.wait_roles(&[("s0", "host"), ("s1", "fabric")]);
    }
    let [to, from] = watch(&network, &mut switches, |_| ());
    assert_eq!(to.max(from), Duration::ZERO);
    switches.spines[0].begin();
    wait_until_first_spine(&network, &switches, true);
}

#[test]
#[ignore = "needs root and BPF"]
fn flows_leave_the_spine_at_once_when_it_loses_its_carrier_to_their_leaf() {
    fails_and_heals(&CARRIER, HOLD);
}

#[test]
#[ignore = "needs root and BPF"]
fn flows_leave_the_spine_after_the_hold_time_when_it_no_longer_hears_their_leaf() {
    fails_and_heals(&SILENT, 2 * HOLD);
}

#[test]
#[ignore = "needs root and BPF"]
fn daemons_that_restart_do_not_use_the_spine_that_has_lost_the_leaf() {
    let (network, places) = (LeafSpine::new(), Places::new());
    let mut switches = network.start(&places, "ecmp");
    assert!(reaches(&network.hosts[0], &network.hosts[1], "10.0.0.2:7"));
    (CARRIER.breaks)(&network);
    wait_until_first_spine(&network, &switches, false);
    one_of_three("daemons restart", || {
        let lost = watch(&network, &mut switches, |Switches { leaves: [_, leaf], spines: [spine, _] }| {
            for switch in [leaf, spine] {
                switch.kill();
                switch.begin();
                switch.wait_roles(&[(if switch.name == "l1" { "s0" } else { "l1" }, "fabric")]);
            }
        });
        if lost.iter().all(|lost| *lost < INTERVAL / 2) { Ok(()) } else { Err(format!("{lost:?}")) }
    });
}

#[test]
#[ignore = "needs root and BPF"]
fn a_neighbour_that_does_not_say_what_it_reaches_reaches_everything() {
    let pair = Pair::new(&["a", "b"]);
    let config = |mode: &str| format!("mode = \"{mode}\"\nports = [\"h\", \"a\", \"b\"]\n");
    let route = "[[route]]\nstation = \"02:00:00:00:00:02\"\nports = [\"a\", \"b\"]\n";
    let [l, _r] = pair.begin([&format!("{}{route}", config("ecmp")), &config("arp-path")]);
    l.wait_roles(&[("a", "fabric"), ("b", "fabric"), ("h", "host")]);
    wait_for("both neighbours have spoken often", || {
        l.show("counters")["hello"]["heard"].as_u64() >= Some(20)
    });
    for port in ["a", "b"] {
        wait_for("the neighbour is believed", || l.withdrawn(port) == 0);
    }
    assert!(pair.reach(7));
}

#[test]
#[ignore = "needs root and BPF"]
fn announcements_that_are_turned_off_at_one_end_withdraw_routes_at_neither_end() {
    let pair = Pair::new(&["a"]);
    let config = |reach, ports: [&str; 2]| {
        let route = |(number, port)| {
            format!("[[route]]\nstation = \"02:00:00:00:00:0{number}\"\nports = [\"{port}\"]\n")
        };
        let routes: String = (1..).zip(ports).map(route).collect();
        format!(
            "mode = \"ecmp\"\nports = [\"h\", \"a\"]\n[hello]\ninterval = \"100 ms\"\nreach = \"{reach}\"\n{routes}"
        )
    };
    let of_left = |reach| config(reach, ["h", "a"]);
    let [l, r] = pair.begin([&of_left("off"), &config("on", ["a", "h"])]);
    let withdrawn = || [l.withdrawn("a"), r.withdrawn("a")];
    [&l, &r].iter().for_each(|switch| switch.wait_roles(&[("a", "fabric"), ("h", "host")]));
    wait_for("both neighbours are believed to reach everything", || withdrawn() == [0, 0]);
    assert!(pair.reach(7));
    [&pair.left, &pair.right].iter().for_each(|netns| netns.ip("link set dev h down"));
    for switch in [&l, &r] {
        switch.wait_roles(&[("h", "down")]);
        wait_for_more("the neighbour has spoken often", 10, || {
            switch.show("counters")["hello"]["heard"].as_u64().expect("a count")
        });
    }
    assert_eq!(withdrawn(), [0, 0]);
    for (reach, expected) in [("on", [1, 1]), ("off", [0, 0])] {
        l.write(&of_left(reach));
        assert_eq!(l.ask("reload")["changed"][0], "[hello]");
        wait_for("both ends follow", || withdrawn() == expected);
    }
}
