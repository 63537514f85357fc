//! Hellos with and without keys: which neighbours are accepted, and how soon silence is detected.

use std::time::Duration;

use crate::daemons::switch::{Places, Switch};
use crate::daemons::tap::Tap;
use crate::net::{Netns, cable};
use crate::wait::wait_for;

fn config(more: &str) -> String {
    format!("mode = \"tcp-path\"\nports = [\"a\"]\n{more}")
}

/// Two connected switches with these configurations.
fn pair(left: &str, right: &str, check: impl FnOnce(&Switch<'_>, &Switch<'_>)) {
    let (l, r, places) = (Netns::new(), Netns::new(), Places::new());
    cable((&l, "a"), (&r, "a"));
    let left = Switch::start(&l, &places, "l", &config(left));
    let right = Switch::start(&r, &places, "r", &config(right));
    check(&left, &right);
}

fn refused(switch: &Switch<'_>, reason: &str) -> u64 {
    switch.show("counters")["hello"]["refused"][reason].as_u64().unwrap_or(0)
}

fn key(byte: &str) -> String {
    format!("hello_key = \"{}\"", byte.repeat(16))
}

#[test]
#[ignore = "needs root and BPF"]
fn switches_with_one_key_believe_each_other_and_say_so() {
    pair(&key("a1"), &key("a1"), |left, right| {
        left.wait_roles(&[("a", "fabric")]);
        right.wait_roles(&[("a", "fabric")]);
        let neighbour = &left.show("neighbours")[0];
        assert_eq!(neighbour["authenticated"], true);
        assert_eq!(neighbour["switch_id"], right.show("status")["switch_id"]);
    });
}

#[test]
#[ignore = "needs root and BPF"]
fn other_keys_and_no_keys_are_not_believed_and_counted_by_reason() {
    pair(&key("a1"), &key("b2"), |left, right| {
        wait_for("a Hello is refused", || refused(left, "signature") > 2 && refused(right, "signature") > 2);
        assert_ne!(left.role("a"), "fabric");
    });
    pair(&key("a1"), "", |left, right| {
        wait_for("a Hello is refused", || refused(left, "unsigned") > 2);
        right.wait_roles(&[("a", "fabric")]);
        assert_ne!(left.role("a"), "fabric");
        let lines = left.log().lines().filter(|line| line.contains("refused")).count();
        assert_eq!(lines, 1, "expected one line for all refused Hellos: {}", left.log());
    });
}

#[test]
#[ignore = "needs root and BPF"]
fn a_port_that_may_not_become_a_fabric_port_does_not() {
    pair("fabric_ports = []", "", |left, right| {
        // It would be a fabric port at one end only.
        right.wait_roles(&[("a", "looped")]);
        left.wait_roles(&[("a", "host")]);
        wait_for("Hellos are dropped in the kernel", || left.dropped("untrusted") > 2);
    });
}

#[test]
#[ignore = "needs root and BPF"]
fn tiers_tell_which_way_a_port_leads() {
    pair("tier = 1", "tier = 2", |left, right| {
        left.wait_roles(&[("a", "fabric")]);
        right.wait_roles(&[("a", "fabric")]);
        assert_eq!(left.show("ports")[0]["way"], "up");
        assert_eq!(right.show("ports")[0]["way"], "down");
    });
}

#[test]
#[ignore = "needs root and BPF"]
fn a_switch_that_is_stopped_withdraws_its_adjacency_and_a_looped_port_is_reported() {
    let seldom = "[hello]\ninterval = \"10 s\"";
    pair(seldom, seldom, |left, right| {
        left.wait_roles(&[("a", "fabric")]);
        assert!(right.ctl("down").status.success());
        // Without a goodbye, the port would be silent.
        left.wait_roles(&[("a", "listening")]);
    });
    let (netns, places) = (Netns::new(), Places::new());
    cable((&netns, "a"), (&netns, "b"));
    let switch = Switch::start(&netns, &places, "s", "mode = \"tcp-path\"\nports = [\"a\", \"b\"]");
    switch.wait_roles(&[("a", "looped"), ("b", "looped")]);
    assert!(refused(&switch, "own") > 0);
}

#[test]
#[ignore = "needs root and BPF"]
fn hellos_leave_at_the_shortest_interval_and_silence_follows_only_from_a_gap() {
    const INTERVAL: Duration = Duration::from_millis(50);
    let quick = "[hello]\ninterval = \"50 ms\"";
    pair(quick, quick, |left, right| {
        let taps = [left, right].map(|hears| (hears, Tap::start(hears.netns, "a")));
        taps.iter().for_each(|(_, tap)| tap.wait_for_hellos(60));
        for (hears, tap) in taps {
            let is_silent = hears.log().contains("silent");
            let hellos = tap.hellos();
            let gaps = hellos.windows(2).map(|pair| pair[1].duration_since(pair[0]).unwrap_or_default());
            let longest = gaps.max().expect("Hello messages");
            println!("longest gap between Hellos {longest:?}, silent: {is_silent}");
            // A switch that is late by a quarter of the hold time extends it.
            assert!(!is_silent || longest >= 2 * INTERVAL, "{longest:?}: {}", hears.log());
        }
    });
}

#[test]
#[ignore = "needs root and BPF"]
fn a_start_warns_where_any_host_can_become_a_switch_and_names_the_two_ways_to_close_that() {
    let says = |more: &str| {
        let (netns, places) = (Netns::new(), Places::new());
        netns.ip("link add name a type veth peer name b");
        Switch::start(&netns, &places, "s", &config(more)).log()
    };
    let open = says("");
    let line =
        open.lines().find(|line| line.contains("WARN")).unwrap_or_else(|| panic!("no warning: {open}"));
    assert!(line.contains("`hello_key`") && line.contains("`fabric_ports`"), "{line}");
    for closed in [key("a1"), "fabric_ports = [\"a\"]".to_owned()] {
        assert!(!says(&closed).contains("WARN"), "{closed}");
    }
}
