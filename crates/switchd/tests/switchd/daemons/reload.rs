//! Reloading the configuration: a change takes effect completely or not at all, and keys rotate under traffic.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use weft_switchd::layout::{Route, Settings};
use weft_switchd::pins::Pins;
use weft_switchd::{Mode, Plane};
use weft_switching::exploration::Exploration;

use crate::daemons::pair::Pair;
use crate::daemons::switch::{LONG_HOLD, Places, Switch, refused as refused_start};
use crate::daemons::traffic::{Stream, reaches};
use crate::net::{Netns, cable, host};
use crate::wait::{wait_for, wait_for_more};

/// Replaces a switch's configuration and reloads it; returns the changed keys.
fn reload(switch: &Switch<'_>, config: &str) -> Value {
    switch.write(config);
    switch.ask("reload")["changed"].clone()
}

/// The refused Hellos, by reason.
fn refused(switch: &Switch<'_>) -> Value {
    switch.show("counters")["hello"]["refused"].clone()
}

#[test]
#[ignore = "needs root and BPF"]
fn a_port_that_is_taken_from_the_fabric_becomes_a_host_port_and_a_fabric_port_again() {
    // One mode that explores, one with routes, one with gates.
    for mode in ["tcp-path", "ecmp", "tag-forward"] {
        let (left, right, places) = (Netns::new(), Netns::new(), Places::new());
        cable((&left, "a"), (&right, "a"));
        for side in [&left, &right] {
            side.ip("link set dev a mtu 1520");
        }
        let config = |ports: &str| format!("mode = \"{mode}\"\nports = [\"a\"]\nfabric_ports = {ports}");
        let switch = Switch::start(&left, &places, "l", &config("[\"a\"]"));
        let other = Switch::start(&right, &places, "r", &config("[\"a\"]"));
        switch.wait_roles(&[("a", "fabric")]);
        other.wait_roles(&[("a", "fabric")]);
        for round in 0..3 {
            assert_eq!(reload(&switch, &config("[]")), json!(["fabric_ports"]), "{mode} {round}");
            assert_ne!(switch.role("a"), "fabric", "{mode} {round}: must change at once");
            switch.wait_roles(&[("a", "host")]);
            assert_eq!(switch.show("neighbours"), json!([]), "{mode} {round}");
            assert_eq!(reload(&switch, &config("[\"a\"]")), json!(["fabric_ports"]), "{mode} {round}");
            switch.wait_roles(&[("a", "fabric")]);
        }
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_reload_that_fails_leaves_everything_as_it_was() {
    let (netns, places) = (Netns::new(), Places::new());
    let hosts = [host(1, &netns, "h1"), host(2, &netns, "h2")];
    let route =
        |station: &str, port: &str| format!("[[route]]\nstation = \"{station}\"\nports = [\"{port}\"]\n");
    let own = route("02:00:00:00:00:01", "h1") + &route("02:00:00:00:00:02", "h2");
    let config =
        |more: &str, routes: &str| format!("mode = \"ecmp\"\nports = [\"h1\", \"h2\"]\n{more}\n{routes}");
    let switch = Switch::start(&netns, &places, "s", &config("tier = 1", &own));
    switch.wait_roles(&[("h1", "host"), ("h2", "host")]);
    let works = || {
        hosts[0].ip("neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev eth0");
        hosts[1].ip("neigh replace 10.0.0.1 lladdr 02:00:00:00:00:01 dev eth0");
        reaches(&hosts[0], &hosts[1], "10.0.0.2:7")
    };
    assert!(works());
    let before = switch.show("status");
    let many: String = (0..65_537)
        .map(|n| route(&format!("02:00:00:{:02x}:{:02x}:{:02x}", n >> 16, (n >> 8) & 255, n & 255), "h2"))
        .collect();
    let cases = [
        (config("tier = 2\nhello_key = \"00\"", &own), "only 1 byte:"),
        (config("tier = 2\nmtu = 1400", &own), "mtu: needs a restart"),
        (config("tier = 2\nfabric_ports = []", &many), "65537 routes"),
        (config("tier = 2", &route("01:00:5e:00:00:01", "h1")), "a group address"),
    ];
    for (config, why) in cases {
        switch.write(&config);
        let output = switch.ctl("reload");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(why), "{why}: {text}");
        assert_eq!(text.matches("error:").count(), 1, "{text}");
        let after = switch.show("status");
        for key in ["tier", "hello_key", "hello_interval_ms", "ports"] {
            assert_eq!(after[key], before[key], "{why}: {key}");
        }
        assert_eq!(switch.show("ports")[0]["may_be_fabric"], true, "{why}");
        assert!(works(), "{why}");
    }
    let right = reload(&switch, &config("tier = 2", &own));
    assert_eq!(right, json!(["tier"]), "refused values must not become the current configuration");
}

#[test]
#[ignore = "needs root and BPF"]
fn routes_are_exchanged_as_a_whole_also_in_a_full_table_or_stay_as_they_were() {
    let places = Places::new();
    let pins = Pins::open(&places.pins, &"s".parse().expect("a name")).expect("needs root");
    let config = Exploration { stations: 4, ..Exploration::default() };
    let mut plane = Plane::load(Mode::Ecmp, &config, Settings::new(&config), &pins).expect("needs root");
    let routes = |stations: std::ops::Range<u64>, port: u16| -> Vec<(u64, Route)> {
        stations.map(|station| (station, Route::new([port]))).collect()
    };
    let mut steps = |wanted: Vec<(u64, Route)>, fits: bool| {
        let before = plane.routes().expect("needs root");
        assert_eq!(plane.set_routes(&wanted).is_ok(), fits, "{wanted:?}");
        let (mut now, mut expected) =
            (plane.routes().expect("needs root"), if fits { wanted } else { before });
        now.sort_by_key(|(station, _)| *station);
        expected.sort_by_key(|(station, _)| *station);
        assert_eq!(now, expected);
    };
    steps(routes(1..4, 0), true);
    steps(routes(3..8, 1), false);
    steps(routes(3..7, 1), true);
    // Four different stations, with room for four.
    steps(routes(11..15, 2), true);
    steps(routes(1..100, 3), false);
    steps(Vec::new(), true);
}

#[test]
fn keys_that_cannot_be_distinguished_or_are_too_many_are_refused_and_not_repeated() {
    let (netns, places) = (Netns::here(), Places::new());
    let (one, two, three) = ("0a".repeat(16), "1b".repeat(16), "2c".repeat(16));
    fs::write(places.run.join("k"), format!("{one}\n\n{two}\n{three}\n")).expect("a file");
    let key = format!("{one:?}");
    let cases = [
        (format!("hello_keys = [{key}, {key}]"), "key 2 is the same"),
        (format!("hello_keys = [{key}, {two:?}, {three:?}]"), "3 keys given, expected 1 or 2"),
        ("hello_keys = []".to_owned(), "0 keys given"),
        (format!("hello_keys = [\n  {key},\n  \"{}\",\n]", "zz".repeat(16)), "key 2: not whole bytes"),
        (format!("hello_keys = [\n  {key},\n  0a0b,\n]"), "invalid TOML"),
        (format!("hello_keys = [{key}, 987654321]"), "`hello_keys` is of the wrong type"),
        (format!("hello_key = {key}\nhello_keys = [{two:?}]"), "both `hello_key` and `hello_keys`"),
        ("hello_key_file = \"k\"".to_owned(), "3 keys given"),
    ];
    for (lines, why) in cases {
        let config = format!("mode = \"tcp-path\"\nports = [\"a\"]\n{lines}\n");
        let output = refused_start(&netns, &places, &config, &["--check"]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(why), "{why}: {text}");
        for secret in ["0a0a", "1b1b", "2c2c", "zzzz", "0a0b", "98765"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
    fs::write(places.run.join("k"), format!("{one}\n{two}\n")).expect("a file");
    let config = "mode = \"tcp-path\"\nports = [\"a\"]\nhello_key_file = \"k\"\n";
    assert!(refused_start(&netns, &places, config, &["--check"]).status.success());
}

#[test]
#[ignore = "needs root and BPF"]
fn a_key_is_rotated_on_two_switches_under_traffic_and_no_adjacency_is_lost() {
    let pair = Pair::new(&["a"]);
    let (old, new) = ("0a".repeat(32), "1b".repeat(32));
    let config = |keys: &[&str]| {
        format!("ports = [\"h\", \"a\"]\nmode = \"tcp-path\"\nhello_keys = {keys:?}\n{LONG_HOLD}")
    };
    let switches = pair.begin([&config(&[&old]), &config(&[&old])]);
    switches.iter().for_each(|switch| switch.wait_roles(&[("h", "host"), ("a", "fabric")]));
    assert!(pair.reach(7));
    let roles = |switch: &Switch<'_>| switch.log().matches("role of a port").count();
    let before = switches.each_ref().map(roles);
    let signed_by = |switch: &Switch<'_>| switch.show("neighbours")[0]["key"].clone();
    let stream = Stream::start(&pair.hosts[0], &pair.hosts[1], "10.0.0.2:9", Duration::from_micros(500));
    // The steps of docs/switchd.md.
    let steps: [(&[&str], u64); 3] = [(&[&old, &new], 1), (&[&new, &old], 1), (&[&new], 1)];
    for (step, (keys, place)) in steps.iter().enumerate() {
        for switch in &switches {
            assert_eq!(reload(switch, &config(keys)), json!(["hello_keys"]), "step {step}");
            for hears in &switches {
                let heard = || hears.show("counters")["hello"]["heard"].as_u64().unwrap_or(0);
                wait_for_more("Hellos are accepted", 3, heard);
            }
        }
        for switch in &switches {
            wait_for(&format!("{} receives Hellos with the first key, step {step}", switch.name), || {
                signed_by(switch) == json!(place)
            });
            assert_eq!(switch.role("a"), "fabric", "step {step}");
            assert_eq!(refused(switch), json!({}), "step {step}: {}", switch.name);
        }
    }
    let outcome = stream.end();
    assert_eq!(outcome.received, outcome.sent, "frames lost");
    assert_eq!(switches.each_ref().map(roles), before, "ports must not change their role");
    // The old key is no longer accepted.
    assert_eq!(reload(&switches[0], &config(&[&old])), json!(["hello_keys"]));
    wait_for("Hellos with the old key are refused", || refused(&switches[1])["signature"].as_u64() > Some(2));
    switches[1].wait_roles(&[("a", "silent")]);
}
