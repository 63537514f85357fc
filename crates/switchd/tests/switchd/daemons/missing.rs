//! Listed interfaces that do not exist when the daemon starts, and appear later.

use std::time::{Duration, Instant};

use weft_switchd::Mode;

use crate::daemons::pair::Pair;
use crate::daemons::switch::{LONG_CONFIRMED, LONG_HOLD, Places, Switch, refused, within};
use crate::daemons::traffic::{Connection, Stream, reaches};
use crate::net::{Netns, cable, host};
use crate::wait::{settle, wait_for};

const WARNING: &str = "there is no interface of this name: the switch starts without it";

/// A configuration with the ports `h1` to `h3`, each with the host of that number.
fn three_ports(mode: &str, has_routes: bool) -> String {
    let route =
        |host: u8| format!("[[route]]\nstation = \"02:00:00:00:00:0{host}\"\nports = [\"h{host}\"]\n");
    let routes: String = (1..=3).filter(|_| has_routes).map(route).collect();
    format!("mode = \"{mode}\"\nports = [\"h1\", \"h2\", \"h3\"]\n{routes}")
}

/// The index of a port's interface; `None` if there is none.
fn index(switch: &Switch<'_>, port: usize) -> Option<u64> {
    switch.show("ports")[port]["ifindex"].as_u64()
}

fn id(switch: &Switch<'_>) -> String {
    switch.show("status")["switch_id"].as_str().expect("an id").to_owned()
}

#[test]
#[ignore = "needs root and BPF"]
fn without_one_of_three_ports_the_others_forward_and_it_is_taken_when_it_appears() {
    for mode in Mode::all().filter(|mode| !mode.has_gates()) {
        within(Duration::from_secs(1), &format!("{mode}: a new interface becomes a host port"), || {
            let (netns, places) = (Netns::new(), Places::new());
            let hosts = [host(1, &netns, "h1"), host(2, &netns, "h2")];
            let config = three_ports(mode.word(), mode.routes());
            let switch = Switch::start(&netns, &places, "s", &config);
            let log = switch.log();
            let line = log.lines().find(|line| line.contains(WARNING)).unwrap_or_else(|| panic!("{log}"));
            assert!(line.contains("port=2") && line.contains("interface=h3"), "{line}");
            switch.wait_roles(&[("h1", "host"), ("h2", "host"), ("h3", "down")]);
            assert!(reaches(&hosts[0], &hosts[1], "10.0.0.2:7"), "{mode}: {}", switch.log());
            assert_eq!(index(&switch, 2), None);
            let text = String::from_utf8(switch.ctl("show ports").stdout).expect("text");
            let row = text.lines().find(|line| line.contains("h3")).unwrap_or_else(|| panic!("{text}"));
            assert!(row.contains("down: no interface"), "{row}");
            let third = host(3, &netns, "h3");
            let created = Instant::now();
            switch.wait_roles(&[("h3", "host")]);
            let took = created.elapsed();
            assert!(reaches(&hosts[0], &third, "10.0.0.3:7"), "{mode}: {}", switch.log());
            assert!(netns.output("ip -d link show h3").contains("promiscuity 1"));
            took
        });
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_port_that_appears_soon_after_the_start_waits_no_longer_than_the_others() {
    let hello = "[hello]\ninterval = \"1 s\"\nhold = 4";
    within(Duration::from_millis(2500), "it becomes a host port 4 s after the start", || {
        let (netns, places) = (Netns::new(), Places::new());
        let _first = host(1, &netns, "h1");
        let config = format!("mode = \"arp-path\"\nports = [\"h1\", \"h2\"]\n{hello}");
        let switch = Switch::start(&netns, &places, "s", &config);
        settle(Duration::from_secs(2));
        let _second = host(2, &netns, "h2");
        let created = Instant::now();
        switch.wait_roles(&[("h2", "host")]);
        created.elapsed()
    });
}

#[test]
#[ignore = "needs root and BPF"]
fn without_any_port_the_switch_waits_for_all_and_keeps_its_id() {
    for attach in ["tcx", "clsact"] {
        let (netns, places) = (Netns::new(), Places::new());
        let config = "mode = \"tcp-path\"\nports = [\"h1\", \"h2\"]";
        let mut switch = Switch::start_with(&netns, &places, "s", config, &["--attach", attach]);
        assert!(switch.log().contains("none of the ports exists and can be used"), "{}", switch.log());
        switch.wait_roles(&[("h1", "down"), ("h2", "down")]);
        let before = id(&switch);
        let hosts = [host(1, &netns, "h1"), host(2, &netns, "h2")];
        switch.wait_roles(&[("h1", "host"), ("h2", "host")]);
        assert!(reaches(&hosts[0], &hosts[1], "10.0.0.2:7"), "{attach}: {}", switch.log());
        switch.stop();
        switch.begin();
        assert_eq!(switch.show("status")["adopted"], true);
        assert_eq!(id(&switch), before, "{attach}: neighbours know the switch by its id");
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_port_that_vanishes_while_no_daemon_runs_is_forgotten_and_comes_back() {
    for attach in ["tcx", "clsact"] {
        let (netns, places) = (Netns::new(), Places::new());
        let hosts = [host(1, &netns, "h1"), host(2, &netns, "h2")];
        let third = host(3, &netns, "h3");
        // The first port gives the switch its id.
        let config = "mode = \"tcp-path\"\nports = [\"h3\", \"h1\", \"h2\"]\nfabric_ports = []";
        let mut switch = Switch::start_with(&netns, &places, "s", config, &["--attach", attach]);
        assert!(reaches(&third, &hosts[1], "10.0.0.2:7"), "{attach}");
        let stations = |switch: &Switch<'_>| switch.show("hosts").to_string();
        assert!(stations(&switch).contains("02:00:00:00:00:03"), "{}", stations(&switch));
        assert!(reaches(&hosts[0], &hosts[1], "10.0.0.2:7"), "{attach}");
        let (before, was) = (id(&switch), index(&switch, 0));
        let stream = Stream::start(&hosts[0], &hosts[1], "10.0.0.2:9", Duration::from_millis(1));
        stream.goes_on(100);
        switch.kill();
        netns.ip("link del dev h3");
        stream.goes_on(100);
        switch.begin();
        let outcome = stream.end();
        assert_eq!(outcome.received, outcome.sent, "{attach}: frames of other ports are lost");
        assert_eq!(switch.show("status")["adopted"], true);
        assert_eq!((switch.role("h3"), switch.role("h1")), ("down".to_owned(), "host".to_owned()));
        assert_eq!((id(&switch), index(&switch, 0)), (before.clone(), None));
        let log = switch.log();
        assert!(log.contains(WARNING), "{log}");
        let detached =
            |line: &str| line.contains("detached the program") && line.contains("interface=\"h3\"");
        assert!(log.lines().any(detached), "{log}");
        wait_for("the station is forgotten", || !stations(&switch).contains("02:00:00:00:00:03"));
        assert!(stations(&switch).contains("02:00:00:00:00:01"), "others are kept");
        let pins = places.pins.join("s").join(if attach == "tcx" { "links" } else { "filters" });
        assert_eq!(std::fs::read_dir(pins).expect("pins").count(), 2, "{attach}: the pin of h3 is left");
        let again = host(3, &netns, "h3");
        switch.wait_roles(&[("h3", "host")]);
        assert_ne!(index(&switch, 0), was);
        assert!(reaches(&again, &hosts[1], "10.0.0.2:7"), "{attach}: {}", switch.log());
        switch.kill();
        switch.begin();
        assert_eq!(id(&switch), before, "{attach}: the new interface has another address");
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn flows_move_off_a_link_that_vanishes_while_no_daemon_runs() {
    let pair = Pair::new(&["a", "b"]);
    let config = format!("mode = \"tcp-path\"\nfabric_ports = [\"a\", \"b\"]\n{LONG_CONFIRMED}{LONG_HOLD}");
    let [mut left, right] = pair.start(&config);
    let mut connection = Connection::open(&pair.hosts[0], &pair.hosts[1], "10.0.0.2:80");
    connection.send(1000);
    let used = left.show("paths")["paths"]
        .as_array()
        .expect("a list")
        .iter()
        .find_map(|path| path["interface"].as_str().filter(|name| *name != "h").map(str::to_owned));
    let used = used.expect("the link of the connection");
    left.kill();
    pair.left.ip(&format!("link del dev {used}"));
    right.wait_roles(&[(&used, "down")]);
    left.begin();
    connection.send(100_000);
    cable((&pair.left, &used), (&pair.right, &used));
    for switch in [&left, &right] {
        switch.wait_roles(&[("a", "fabric"), ("b", "fabric")]);
    }
    assert!(pair.reach(7));
}

#[test]
#[ignore = "needs root and BPF"]
fn check_warns_of_a_missing_interface_and_accepts_the_configuration() {
    let (netns, other, places) = (Netns::new(), Netns::new(), Places::new());
    cable((&netns, "eth1"), (&other, "eth1"));
    let config = "mode = \"tcp-path\"\nports = [\"eth1\", \"eth11\", \"wlan0\"]";
    let output = refused(&netns, &places, config, &["--check"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("3 ports, configuration OK"), "{output:?}");
    let text = String::from_utf8(output.stderr).expect("text");
    let warnings: Vec<&str> = text.lines().collect();
    let [first, second] = warnings[..] else { panic!("{text}") };
    for part in ["warning: there is no interface `eth11` now", "did you mean `eth1`?", "ip link"] {
        assert!(first.contains(part), "no `{part}` in {first}");
    }
    assert!(second.contains("`wlan0`") && second.contains("takes it when it appears"), "{second}");
}

#[test]
#[ignore = "needs root and BPF"]
fn an_interface_that_is_renamed_to_a_port_is_taken_once_it_is_outside_any_bridge() {
    let (netns, places) = (Netns::new(), Places::new());
    let hosts = [host(1, &netns, "h1"), host(2, &netns, "other")];
    netns.ip("link add name br0 up type bridge");
    netns.ip("link set dev other master br0");
    let switch = Switch::start(&netns, &places, "s", "mode = \"arp-path\"\nports = [\"h1\", \"h2\"]");
    switch.wait_roles(&[("h1", "host"), ("h2", "down")]);
    netns.ip("link set dev other down");
    netns.ip("link set dev other name h2");
    netns.ip("link set dev h2 up");
    let why = || switch.show("ports")[1]["unfit"].as_str().unwrap_or_default().to_owned();
    wait_for("it is refused", || why().contains("is part of `br0`"));
    // It belongs to the bridge: a program attached there would drop its frames.
    netns.ip("addr add 10.0.0.9/24 dev br0");
    assert!(reaches(&hosts[1], &netns, "10.0.0.9:7"), "{}", switch.log());
    netns.ip("link set dev h2 nomaster");
    switch.wait_roles(&[("h2", "host")]);
    assert_eq!(why(), "");
    assert!(reaches(&hosts[0], &hosts[1], "10.0.0.2:7"), "{}", switch.log());
}

#[test]
#[ignore = "needs root and BPF"]
fn an_interface_that_two_switches_wait_for_is_taken_by_one_and_then_by_the_other() {
    for attach in ["tcx", "clsact"] {
        let (netns, places) = (Netns::new(), Places::new());
        let start = |name: &str| {
            let config = "mode = \"tcp-path\"\nports = [\"h1\"]";
            Switch::start_with(&netns, &places, name, config, &["--attach", attach])
        };
        let switches = [start("first"), start("second")];
        let _host = host(1, &netns, "h1");
        let owner = || switches.iter().position(|switch| switch.role("h1") == "host");
        wait_for("one takes it", || owner().is_some());
        let owner = owner().expect("one has it");
        let (owner, other) = (&switches[owner], &switches[1 - owner]);
        let why = || other.show("ports")[0]["unfit"].as_str().unwrap_or_default().to_owned();
        let expected = format!("is already a port of the switch `{}`", owner.name);
        wait_for("the other is refused", || why().contains(&expected));
        // For three attempts to take it.
        settle(Duration::from_secs(3));
        assert_eq!(other.log().matches(&expected).count(), 1, "{attach}: logged once: {}", other.log());
        assert_eq!(other.role("h1"), "down");
        assert!(owner.ctl("down").status.success());
        other.wait_roles(&[("h1", "host")]);
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn in_a_mode_with_tags_a_link_is_taken_once_it_has_room_for_them() {
    let pair = Pair::new(&[]);
    let config = "mode = \"tag-forward\"\nports = [\"h\", \"a\"]\nfabric_ports = [\"a\"]\n";
    let [left, right] = pair.begin([config, config]);
    pair.set_gates();
    pair.set_rules();
    cable((&pair.left, "a"), (&pair.right, "a"));
    for switch in [&left, &right] {
        let why = || switch.show("ports")[1]["unfit"].as_str().unwrap_or_default().to_owned();
        wait_for("the MTU is too small", || why().contains("need at least 1508"));
    }
    for netns in [&pair.left, &pair.right] {
        netns.ip("link set dev a mtu 1508");
    }
    for switch in [&left, &right] {
        switch.wait_roles(&[("h", "host"), ("a", "fabric")]);
    }
    assert!(pair.reach(7), "{}", left.log());
}
