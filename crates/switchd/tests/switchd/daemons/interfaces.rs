//! Interfaces that disappear, come back, are renamed or reused while the switch runs.

use std::time::Duration;

use weft_switchd::daemon::ethtool;

use crate::daemons::switch::{Places, Switch, TwoHosts, one_of_three, refused};
use crate::daemons::traffic::reaches;
use crate::net::{Netns, cable, host};
use crate::wait::{DEADLINE, comes, settle, wait_for};

#[test]
#[ignore = "needs root and BPF"]
fn a_port_that_vanishes_is_down_and_comes_back_under_its_name() {
    let two = TwoHosts::new();
    let switch = two.switch("tcp-path", &[]);
    let first = &two.hosts[0];
    two.netns.ip("link del dev h2");
    switch.wait_roles(&[("h2", "down")]);
    let again = host(2, &two.netns, "h2");
    switch.wait_roles(&[("h2", "host")]);
    first.ip("neigh flush all");
    assert!(reaches(first, &again, "10.0.0.2:7"));
    assert!(switch.log().contains("gone"), "{}", switch.log());
}

#[test]
#[ignore = "needs root and BPF"]
fn a_port_to_a_switch_has_room_for_tags_or_carries_nothing_and_says_what_it_needs() {
    let (netns, places) = (Netns::new(), Places::new());
    let (other, elsewhere) = (Netns::new(), Places::new());
    let _host = host(1, &netns, "h1");
    cable((&netns, "f1"), (&other, "f1"));
    let config = "mode = \"tag-forward\"\nports = [\"h1\", \"f1\"]\n";
    let listed = format!("{config}fabric_ports = [\"f1\"]");
    let text = String::from_utf8(refused(&netns, &places, &listed, &["--check"]).stderr).expect("text");
    for part in [
        "the interface `f1`",
        "leads to a switch",
        "its MTU is 1500",
        "need at least 1508",
        "ip link set dev f1 mtu 1508",
        "`mtu = 1492`",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    netns.ip("link set dev f1 mtu 1508");
    other.ip("link set dev f1 mtu 1508");
    let hello = "[hello]\ninterval = \"50 ms\"";
    let switch = Switch::start(&netns, &places, "s", &format!("{config}{hello}"));
    let peer =
        Switch::start(&other, &elsewhere, "t", &format!("mode = \"tag-forward\"\nports = [\"f1\"]\n{hello}"));
    switch.wait_roles(&[("h1", "host"), ("f1", "fabric")]);
    // A port whose MTU becomes too small later.
    netns.ip("link set dev f1 mtu 1500");
    switch.wait_roles(&[("f1", "down")]);
    let why = switch.show("ports")[1]["unfit"].as_str().unwrap_or_default().to_owned();
    assert!(why.contains("need at least 1508"), "{why}");
    netns.ip("link set dev f1 mtu 1508");
    switch.wait_roles(&[("f1", "fabric")]);
    // A port that turns out to lead to a switch by a Hello.
    drop(peer);
    netns.ip("link del dev f1");
    switch.wait_roles(&[("f1", "down")]);
    cable((&netns, "f1"), (&other, "f1"));
    let _peer =
        Switch::start(&other, &elsewhere, "t", &format!("mode = \"tag-forward\"\nports = [\"f1\"]\n{hello}"));
    wait_for("the MTU is too small", || switch.show("ports")[1]["unfit"].is_string());
}

#[test]
#[ignore = "needs root and BPF"]
fn a_port_that_is_renamed_is_let_go_until_it_has_its_name_again() {
    for attach in ["tcx", "clsact"] {
        let two = TwoHosts::new();
        let switch = two.switch("arp-path", &["--attach", attach]);
        let netns = &two.netns;
        netns.ip("link set dev h2 down");
        switch.wait_roles(&[("h2", "down")]);
        netns.ip("link set dev h2 name other up");
        wait_for("the interface is released", || switch.show("ports")[1]["ifindex"].is_null());
        // The interface belongs to the machine again: a program left attached would drop all frames.
        netns.ip("addr add 10.0.0.9/24 dev other");
        assert!(reaches(&two.hosts[1], netns, "10.0.0.9:7"), "{attach}: {}", switch.log());
        netns.ip("addr del 10.0.0.9/24 dev other");
        netns.ip("link set dev other down");
        netns.ip("link set dev other name h2 up");
        switch.wait_roles(&[("h2", "host")]);
        assert!(two.reach(), "{attach}: {}", switch.log());
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_port_that_is_put_into_a_bridge_carries_nothing_and_says_why() {
    let two = TwoHosts::new();
    let switch = two.switch("arp-path", &[]);
    let netns = &two.netns;
    netns.ip("link add name br0 type bridge");
    netns.ip("link set dev h2 master br0");
    switch.wait_roles(&[("h2", "down")]);
    let why = switch.show("ports")[1]["unfit"].as_str().unwrap_or_default().to_owned();
    assert!(why.contains("part of `br0`"), "{why}");
    netns.ip("link set dev h2 nomaster");
    switch.wait_roles(&[("h2", "host")]);
    netns.ip("link set dev h2 mtu 1000");
    switch.wait_roles(&[("h2", "down")]);
    netns.ip("link set dev h2 mtu 1500");
    switch.wait_roles(&[("h2", "host")]);
}

#[test]
#[ignore = "needs root and BPF"]
fn a_carrier_that_is_lost_reaches_the_data_plane_long_before_the_kernel_reports_it() {
    // If the ends of a veth pair have different ifindexes, the kernel notifies at once, otherwise up to a second later,
    // and the daemon polls. The test counts its own polls meanwhile: they wait for CPUs and for the lock of all
    // interfaces (RTNL) as the daemon's do. Some take place before the daemon's answer; 12 take a quarter of a second.
    let (every, promised) = (Duration::from_millis(20), 12);
    for (way, others) in [("notified", 3), ("polled", 0)] {
        let (left, right, places) = (Netns::new(), Netns::new(), Places::new());
        (0..others)
            .for_each(|number| left.ip(&format!("link add name d{number} type veth peer name e{number}")));
        cable((&left, "a"), (&right, "a"));
        let switch = Switch::start(&left, &places, "l", "mode = \"tcp-path\"\nports = [\"a\"]");
        wait_for("it is up", || switch.role("a") != "down");
        let map = places.pins.join("l/maps/ports");
        let up = || {
            let data = aya::maps::MapData::from_pin(&map).expect("the map");
            let map = aya::maps::Map::Array(data);
            let ports = aya::maps::Array::<_, weft_switchd::layout::Port>::try_from(&map).expect("an array");
            ports.get(&0, 0).expect("a port").up
        };
        for _ in 0..5 {
            one_of_three(&format!("{way}: polls until the data plane sees the lost carrier"), || {
                wait_for("the data plane sees the carrier", || up() == 1);
                // The other end goes down: this one loses its carrier.
                right.ip("link set dev a down");
                let mut polls = 0;
                wait_for("the data plane sees the lost carrier", || {
                    settle(every);
                    assert!(!left.run(|| ethtool::carrier("a")).expect("the driver's answer"));
                    polls += 1;
                    up() == 0
                });
                right.ip("link set dev a up");
                if polls <= promised { Ok(()) } else { Err(format!("{polls}, expected at most {promised}")) }
            });
        }
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_host_is_heard_from_its_first_frame_wherever_it_is_plugged_in() {
    let (netns, places) = (Netns::new(), Places::new());
    let (here, there) = (host(1, &netns, "p1"), host(2, &netns, "p2"));
    there.ip("link set eth0 down");
    let config = "mode = \"arp-path\"\nports = [\"p1\", \"p2\"]\n[hello]\ninterval = \"2 s\"";
    let switch = Switch::start(&netns, &places, "s", config);
    switch.wait_roles(&[("p1", "host")]);
    let listens = here.run(|| std::net::UdpSocket::bind("10.0.0.1:9").expect("a socket"));
    listens.set_read_timeout(Some(DEADLINE)).expect("a timeout");
    // First a port that never had a host, then one whose host was away.
    for again in [false, true] {
        there.ip("link set eth0 down");
        switch.wait_roles(&[("p2", "down")]);
        there.ip("link set eth0 up");
        switch.wait_roles(&[("p2", "host")]);
        let says = there.run(|| std::net::UdpSocket::bind("10.0.0.2:0").expect("a socket"));
        says.send_to(b"here I am", "10.0.0.1:9").expect("sent");
        let mut data = [0; 16];
        assert_eq!(listens.recv(&mut data).expect("its first frame"), 9, "again: {again}");
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn a_switch_that_is_plugged_into_a_host_port_is_found_at_once() {
    let (l, r, places) = (Netns::new(), Netns::new(), Places::new());
    let config = |fabric_ports: &str| {
        format!(
            "mode = \"arp-path\"\nports = [\"a\"]\nfabric_ports = {fabric_ports}\n[hello]\ninterval = \"60 s\""
        )
    };
    cable((&l, "a"), (&r, "a"));
    // A cable between two host ports would be blocked.
    [&l, &r].into_iter().for_each(|netns| netns.sh("tc qdisc replace dev a root blackhole"));
    let switches =
        [("l", &l), ("r", &r)].map(|(name, netns)| Switch::start(netns, &places, name, &config("[]")));
    switches.iter().for_each(|switch| switch.wait_roles(&[("a", "host")]));
    l.ip("link set dev a down");
    [&l, &r].into_iter().for_each(|netns| netns.sh("tc qdisc del dev a root"));
    for switch in &switches {
        switch.wait_roles(&[("a", "down")]);
        switch.write(&config("[\"a\"]"));
        switch.ask("reload");
    }
    l.ip("link set dev a up");
    // The new link must trigger a Hello: the next one is due after 60 s.
    for switch in &switches {
        assert!(comes(DEADLINE / 2, || switch.role("a") == "fabric"), "{}", switch.log());
        assert!(switch.log().contains("role=Host"), "{}", switch.log());
        assert!(!switch.log().contains("role=Listening"), "a host port until then: {}", switch.log());
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn what_was_set_of_interfaces_is_set_back_when_the_switch_is_taken_down() {
    let (netns, places) = (Netns::new(), Places::new());
    let _host = host(1, &netns, "h1");
    let promiscuous = || netns.output("ip -d link show h1").contains("promiscuity 1");
    let ipv6 = || netns.output("cat /proc/self/net/if_inet6").contains("h1");
    wait_for("the interface has an IPv6 address", ipv6);
    let mut switch = Switch::start(&netns, &places, "s", "mode = \"arp-path\"\nports = [\"h1\"]");
    assert!(promiscuous());
    assert!(!ipv6());
    switch.kill();
    assert!(promiscuous(), "a killed daemon must leave the port promiscuous");
    switch.begin();
    assert!(switch.ctl("down").status.success());
    wait_for("the settings are restored", || !promiscuous() && ipv6());
}

#[test]
#[ignore = "needs root and BPF"]
fn only_ports_that_may_be_fabric_ports_limit_how_long_an_explored_syn_may_be() {
    let (left, right, places) = (Netns::new(), Netns::new(), Places::new());
    cable((&left, "a"), (&right, "a"));
    left.ip("link set dev a mtu 1520");
    let _host = host(1, &left, "h1");
    for (fabric_ports, is_limited) in [("[\"a\"]", false), ("\"any\"", true)] {
        let config = format!("mode = \"tcp-path\"\nports = [\"a\", \"h1\"]\nfabric_ports = {fabric_ports}");
        let mut switch = Switch::start(&left, &places, "s", &config);
        let log = switch.log();
        assert_eq!(log.contains("too long for a Path Request"), is_limited, "{fabric_ports}: {log}");
        switch.stop();
        std::fs::remove_file(places.run.join("s.log")).expect("a log");
    }
}
