//! Listed interfaces that exist when the daemon starts but cannot be ports: the switch starts without them.

use std::time::Duration;

use weft_switchd::Mode;

use crate::daemons::switch::{Places, Switch, refused};
use crate::daemons::traffic::{Stream, reaches};
use crate::net::{Netns, cable, host};
use crate::wait::wait_for;

/// Why a port is not used.
fn why(switch: &Switch<'_>, port: usize) -> String {
    switch.show("ports")[port]["unfit"].as_str().unwrap_or_default().to_owned()
}

/// The first line of the log with `text`.
fn line(switch: &Switch<'_>, text: &str) -> String {
    let log = switch.log();
    log.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("no {text:?}: {log}")).to_owned()
}

#[test]
#[ignore = "needs root and BPF"]
fn a_host_port_with_a_small_mtu_at_the_start_is_left_out_until_its_mtu_is_raised() {
    for mode in Mode::all().filter(|mode| !mode.has_gates()) {
        let (netns, places) = (Netns::new(), Places::new());
        let hosts = [host(1, &netns, "h1"), host(2, &netns, "h2"), host(3, &netns, "h3")];
        netns.ip("link set dev h3 mtu 1400");
        let route =
            |host| format!("[[route]]\nstation = \"02:00:00:00:00:0{host}\"\nports = [\"h{host}\"]\n");
        let routes: String = (1..=3).filter(|_| mode.routes()).map(route).collect();
        let config = format!(
            "mode = \"{}\"\nports = [\"h1\", \"h2\", \"h3\"]\nfabric_ports = []\n{routes}",
            mode.word()
        );
        let mut switch = Switch::start(&netns, &places, "s", &config);
        switch.wait_roles(&[("h1", "host"), ("h2", "host"), ("h3", "down")]);
        assert!(reaches(&hosts[0], &hosts[1], "10.0.0.2:7"), "{mode}: {}", switch.log());
        let (said, reason) =
            (line(&switch, "the port is not used until this is mended"), "has an MTU of 1400");
        for part in ["port=2", "interface=h3", reason, "ip link set dev h3 mtu 1500,"] {
            assert!(said.contains(part), "{mode}: no {part:?} in {said}");
        }
        let text = String::from_utf8(switch.ctl("show ports").stdout).expect("text");
        let row = text.lines().find(|line| line.contains("h3")).unwrap_or_else(|| panic!("{text}"));
        assert!(row.contains("down: has an MTU of 1400"), "{row}");
        netns.ip("link set dev h3 mtu 1500");
        switch.wait_roles(&[("h3", "host")]);
        assert_eq!(why(&switch, 2), "");
        assert!(reaches(&hosts[0], &hosts[2], "10.0.0.3:7"), "{mode}: {}", switch.log());
        // The next daemon takes over the other ports without a loss.
        let stream = Stream::start(&hosts[0], &hosts[1], "10.0.0.2:9", Duration::from_millis(1));
        stream.goes_on(100);
        switch.stop();
        netns.ip("link set dev h3 mtu 1400");
        switch.begin();
        stream.goes_on(100);
        let outcome = stream.end();
        assert_eq!(outcome.received, outcome.sent, "{mode}: frames of other ports are lost");
        assert!(why(&switch, 2).contains(reason), "{mode}");
        netns.ip("link set dev h3 mtu 1500");
        switch.wait_roles(&[("h3", "host")]);
        assert!(reaches(&hosts[0], &hosts[2], "10.0.0.3:7"), "{mode}: {}", switch.log());
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn interfaces_that_cannot_be_ports_are_left_out_with_what_to_do() {
    let (netns, other, places) = (Netns::new(), Netns::new(), Places::new());
    for name in ["eth1", "eth2", "small"] {
        cable((&netns, name), (&other, name));
    }
    netns.ip("link set dev small mtu 1400");
    netns.ip("link add name br0 up type bridge");
    netns.ip("link set dev eth2 master br0");
    let ports = ["lo", "eth2", "br0", "small"];
    let expected: [&[&str]; 4] = [
        &["is not an Ethernet interface"],
        &["is part of `br0`", "ip link set dev eth2 nomaster"],
        &["is a bridge"],
        &["MTU of 1400", "1500 bytes", "ip link set dev small mtu 1520", "mtu = 1400"],
    ];
    let config = format!("mode = \"tcp-path\"\nports = {ports:?}");
    let checked = refused(&netns, &places, &config, &["--check"]);
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    let warnings = String::from_utf8(checked.stderr).expect("text");
    assert_eq!(warnings.lines().count(), ports.len(), "{warnings}");
    let switch = Switch::start(&netns, &places, "s", &config);
    assert!(switch.log().contains("none of the ports exists and can be used"), "{}", switch.log());
    for (number, (name, parts)) in ports.iter().zip(expected).enumerate() {
        let warning = warnings.lines().find(|line| line.contains(&format!("the interface `{name}`")));
        let warning = warning.unwrap_or_else(|| panic!("nothing about {name}: {warnings}"));
        let said = line(&switch, &format!("interface={name}"));
        for part in parts {
            for text in [warning, &said, &why(&switch, number)] {
                assert!(text.contains(part), "{name}: no {part:?} in {text}");
            }
        }
    }
    // The bridge keeps its frames: nothing is attached to its port.
    assert!(
        !netns.output("ip -d link show dev eth2").contains("promiscuity 2"),
        "it is promiscuous for the bridge only"
    );
    netns.ip("link set dev eth2 nomaster");
    netns.ip("link set dev small mtu 1520");
    wait_for("the interfaces are taken", || ["eth2", "small"].iter().all(|port| switch.role(port) != "down"));
    // With smaller packets of hosts, the MTU is enough.
    netns.ip("link set dev small mtu 1400");
    let accepted = refused(
        &netns,
        &places,
        "mtu = 1400\nname = \"s\"\nmode = \"tcp-path\"\nports = [\"small\"]",
        &["--check"],
    );
    assert!(accepted.status.success() && accepted.stderr.is_empty(), "{accepted:?}");
}

#[test]
#[ignore = "needs root and BPF"]
fn a_configuration_is_reloaded_beside_a_port_without_room_for_tags_which_is_taken_as_a_host_port() {
    let (netns, other, places) = (Netns::new(), Netns::new(), Places::new());
    let _host = host(1, &netns, "h1");
    cable((&netns, "f1"), (&other, "f1"));
    let config =
        |fabric: &str| format!("mode = \"tag-forward\"\nports = [\"h1\", \"f1\"]\nfabric_ports = {fabric}");
    let switch = Switch::start(&netns, &places, "s", &config("[\"f1\"]"));
    assert!(why(&switch, 1).contains("need at least 1508"), "{}", why(&switch, 1));
    switch.write(&format!("tier = 1\n{}", config("[\"f1\"]")));
    assert_eq!(switch.ask("reload")["changed"][0], "tier");
    switch.write(&format!("tier = 1\n{}", config("[]")));
    assert_eq!(switch.ask("reload")["changed"][0], "fabric_ports");
    switch.wait_roles(&[("f1", "host")]);
}
