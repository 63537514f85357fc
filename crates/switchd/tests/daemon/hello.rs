//! Hellos with and without keys: which neighbours are believed, and how soon silence is noticed.

use std::time::{Duration, SystemTime};

use crate::net::{Netns, cable};
use crate::or_skip;
use crate::switch::{Places, Switch, wait_for};
use crate::tap::Tap;

fn config(more: &str) -> String {
    format!("mode = \"tcp-path\"\nports = [\"a\"]\n{more}")
}

/// Two switches with a cable between them, each told what is given.
fn pair(left: &str, right: &str, check: impl FnOnce(&Switch<'_>, &Switch<'_>)) {
    let (l, r, places) = (Netns::new(), Netns::new(), Places::new());
    cable((&l, "a"), (&r, "a"));
    let left = Switch::start(&l, &places, "l", &config(left));
    let right = Switch::start(&r, &places, "r", &config(right));
    check(&left, &right);
}

fn refused(switch: &Switch<'_>, reason: &str) -> u64 {
    switch.ask("show counters")["hello"]["refused"][reason].as_u64().unwrap_or(0)
}

fn key(byte: &str) -> String {
    format!("hello_key = \"{}\"", byte.repeat(16))
}

#[test]
fn switches_with_one_key_believe_each_other_and_say_so() {
    or_skip!();
    pair(&key("a1"), &key("a1"), |left, right| {
        left.wait_roles(&[("a", "fabric")]);
        right.wait_roles(&[("a", "fabric")]);
        let neighbour = &left.ask("show neighbours")[0];
        assert_eq!(neighbour["authenticated"], true);
        assert_eq!(neighbour["switch_id"], right.ask("show status")["switch_id"]);
    });
}

#[test]
fn other_keys_and_no_keys_are_not_believed_and_counted_by_reason() {
    or_skip!();
    pair(&key("a1"), &key("b2"), |left, right| {
        wait_for("a Hello is refused", 5, || {
            refused(left, "signature") > 2 && refused(right, "signature") > 2
        });
        assert_ne!(left.role("a"), "fabric");
    });
    pair(&key("a1"), "", |left, right| {
        wait_for("a Hello is refused", 5, || refused(left, "unsigned") > 2);
        right.wait_roles(&[("a", "fabric")]);
        assert_ne!(left.role("a"), "fabric");
        let lines = left.log().lines().filter(|line| line.contains("refused")).count();
        assert_eq!(lines, 1, "one line, however many Hellos: {}", left.log());
    });
}

#[test]
fn a_port_that_may_not_become_a_fabric_port_does_not() {
    or_skip!();
    pair("fabric_ports = []", "", |left, right| {
        right.wait_roles(&[("a", "fabric")]);
        left.wait_roles(&[("a", "host")]);
        wait_for("they are dropped in the kernel", 5, || left.dropped("untrusted") > 2);
    });
}

#[test]
fn tiers_tell_which_way_a_port_leads() {
    or_skip!();
    pair("tier = 1", "tier = 2", |left, right| {
        left.wait_roles(&[("a", "fabric")]);
        right.wait_roles(&[("a", "fabric")]);
        assert_eq!(left.ask("show ports")[0]["way"], "up");
        assert_eq!(right.ask("show ports")[0]["way"], "down");
    });
}

#[test]
fn a_switch_that_is_taken_down_says_so_and_one_that_loops_back_is_told() {
    or_skip!();
    pair("[hello]\ninterval = \"10 s\"", "[hello]\ninterval = \"10 s\"", |left, right| {
        left.wait_roles(&[("a", "fabric")]);
        assert!(right.ctl("down").status.success());
        let took = wait_for("it is heard at once", 5, || left.role("a") != "fabric");
        assert!(took < Duration::from_secs(2), "a hold is 30 s: {took:?}");
    });
    let (netns, places) = (Netns::new(), Places::new());
    cable((&netns, "a"), (&netns, "b"));
    let switch = Switch::start(&netns, &places, "s", "mode = \"tcp-path\"\nports = [\"a\", \"b\"]");
    switch.wait_roles(&[("a", "looped"), ("b", "looped")]);
    assert!(refused(&switch, "own") > 0);
}

#[test]
fn hellos_leave_on_time_at_the_shortest_interval() {
    or_skip!();
    let quick = "[hello]\ninterval = \"50 ms\"";
    pair(quick, quick, |left, right| {
        left.wait_roles(&[("a", "fabric")]);
        // 38 to 43 in 2 s, of 40. A daemon that has no processor for a while sends late, and does not make up for it: then
        // it is not so in all of the time, but between any two such times.
        let promised = Duration::from_secs(1) * 40 / 43..=Duration::from_secs(1) * 40 / 38;
        let between = |pair: [SystemTime; 2]| pair[1].duration_since(pair[0]).unwrap_or_default();
        let silent = |switch: &Switch<'_>| switch.log().matches("silent").count();
        let mut seen = Vec::new();
        let on_time = (0..3).any(|_| {
            let watched = [left, right].map(|switch| (switch, silent(switch), Tap::start(switch.netns, "a")));
            std::thread::sleep(Duration::from_secs(3));
            watched.map(|(switch, before, tap)| {
                let times = tap.hellos();
                let longest = times.windows(2).map(|pair| between([pair[0], pair[1]])).max();
                // Two intervals of a hold of three.
                if longest < Some(Duration::from_millis(100)) {
                    assert_eq!(silent(switch), before, "{longest:?}: {}", switch.log());
                }
                let twenty: Vec<_> = times.windows(21).map(|times| between([times[0], times[20]])).collect();
                let is_on_time = twenty.iter().any(|took| promised.contains(took));
                seen.push((longest, twenty.iter().min().copied()));
                is_on_time
            }) == [true; 2]
        });
        assert!(on_time, "the longest between two, and the shortest for twenty: {seen:?}");
    });
}

#[test]
fn a_start_warns_where_any_host_can_become_a_switch_and_names_the_two_ways_to_close_that() {
    or_skip!();
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
