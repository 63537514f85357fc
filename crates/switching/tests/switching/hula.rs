//! HULA: hand-made probes at single switches.

use weft_fabric::build::{self, fat_tree, spine_leaf};
use weft_fabric::{Fabric, FabricBuilder, LinkSpec};
use weft_switching::{Action, DropReason, Header, Kind, Mac, ParamValue, descriptor};
use weft_units::{Duration, HostId, PortId, Time};

use crate::common::{Network, SEED, frame, is_even, network, routes, scheme, scheme_with};

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// A probe of ToR switch `tor` that has met this utilisation, of 255.
fn probe(tor: u8, level: u8) -> Header {
    let overlay = [0, tor, level, 0, 0, 0, 0, 0];
    Header { dst: Mac::HELLO, kind: Kind::Probe, overlay, ip_bytes: 46, ..Header::default() }
}

/// The port of `from` to `to`.
fn port(fabric: &Fabric, from: &str, to: &str) -> PortId {
    fabric.link(fabric.link_named(&format!("{from}-{to}")).unwrap()).from_port
}

/// Passes a probe to switch `at`, from its neighbour `from`, and returns the names of the neighbours that get it, with its
/// utilisation.
fn passed(
    net: &mut dyn Network,
    fabric: &Fabric,
    now: Time,
    [from, at]: [&str; 2],
    probe: Header,
) -> Vec<(String, u8)> {
    let node = fabric.find(at).unwrap();
    let name = |port: PortId| fabric.node(fabric.link(fabric.ports(node)[port.index()]).to).name.clone();
    let actions = net.receive(now, node, port(fabric, at, from), &probe);
    let copy = |action| match action {
        Action::SendWith(port, overlay) => Some((name(port), overlay[2])),
        Action::Consume => None,
        other => panic!("{other:?}"),
    };
    actions.into_iter().filter_map(copy).collect()
}

fn names(passed: Vec<(String, u8)>) -> Vec<String> {
    passed.into_iter().map(|(name, _)| name).collect()
}

/// The uplinks that `count` new flows from host 0 to host `dst` take, counted.
fn uplinks(net: &mut dyn Network, fabric: &Fabric, now: Time, dst: u32, count: u16) -> Vec<u64> {
    let leaf = fabric.edge_switch(HostId(0)).unwrap();
    let mut counts = vec![0; fabric.ports(leaf).len()];
    for sport in 0..count {
        match net.receive(now, leaf, PortId(0), &frame(0, dst, sport, 80))[..] {
            [Action::Send(port)] => counts[port.index()] += 1,
            ref other => panic!("{other:?}"),
        }
    }
    counts
}

#[test]
fn a_probe_from_below_goes_everywhere_else_and_one_from_above_only_down() {
    let fabric = fat_tree(4, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    network(&fabric, &scheme("hula"), SEED, |net| {
        // e0 and e1 are below a0 and a1 in the first pod; e2 is in the second.
        assert_eq!(names(passed(net, &fabric, us(0), ["e0", "a0"], probe(0, 0))), ["c0", "c1", "e1"]);
        assert_eq!(names(passed(net, &fabric, us(0), ["a0", "c0"], probe(0, 0))), ["a2", "a4", "a6"]);
        assert_eq!(names(passed(net, &fabric, us(0), ["c0", "a2"], probe(0, 0))), ["e2", "e3"]);
        assert!(passed(net, &fabric, us(0), ["a2", "e2"], probe(0, 0)).is_empty());
    });
}

#[test]
fn a_switch_passes_on_only_the_probes_that_set_its_best_next_hop() {
    let fabric = fat_tree(4, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    network(&fabric, &scheme("hula"), SEED, |net| {
        let mut pass = |us_, from, level| passed(net, &fabric, us(us_), [from, "a2"], probe(0, level));
        let copies = |level| vec![("e2".to_owned(), level), ("e3".to_owned(), level)];
        assert_eq!(pass(0, "c0", 90), copies(90));
        assert_eq!(pass(1, "c1", 90), []);
        assert_eq!(pass(2, "c1", 40), copies(40));
        assert_eq!(pass(3, "c1", 80), copies(80));
        assert_eq!(pass(4, "c0", 90), []);
    });
}

#[test]
fn a_probe_takes_the_utilisation_of_the_link_towards_its_switch() {
    let fabric = spine_leaf(2, 3, 2, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    network(&fabric, &scheme("hula"), SEED, |net| {
        // 100 packets of 1538 bytes on the wire at once, of the 500 kB of 400 us at 10 Gbps: 78 of 255.
        let spine = fabric.find("s0").unwrap();
        for _ in 0..100 {
            net.receive(us(0), spine, port(&fabric, "s0", "l1"), &frame(2, 0, 7, 80));
        }
        let level = |net: &mut dyn Network, now, from, tor, level| {
            passed(net, &fabric, now, [from, "s0"], probe(tor, level))[0].1
        };
        assert_eq!(level(net, us(0), "l0", 0, 10), 78);
        assert_eq!(level(net, us(0), "l0", 0, 80), 80);
        assert_eq!(level(net, us(0), "l2", 2, 10), 10, "another link");
        assert_eq!(level(net, us(200), "l0", 0, 10), 39);
    });
}

#[test]
fn flowlets_take_the_best_next_hop_until_it_has_aged() {
    let fabric = spine_leaf(4, 2, 2, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    network(&fabric, &scheme("hula"), SEED, |net| {
        is_even("uplinks without probes", &uplinks(net, &fabric, us(0), 2, 2_000)[2..]);
        for (spine, level) in [("s0", 90), ("s1", 70), ("s2", 30), ("s3", 80)] {
            passed(net, &fabric, us(1_000), [spine, "l0"], probe(1, level));
        }
        assert_eq!(uplinks(net, &fabric, us(1_000), 2, 100)[4], 100);
        // The flow of source port 0 is in a flowlet; the others start new ones.
        passed(net, &fabric, us(1_050), ["s0", "l0"], probe(1, 5));
        assert_eq!(uplinks(net, &fabric, us(1_099), 2, 1)[4], 1);
        assert_eq!(uplinks(net, &fabric, us(1_300), 2, 100)[2], 100);
        is_even("uplinks after aging", &uplinks(net, &fabric, us(2_050), 2, 2_000)[2..]);
    });
}

#[test]
fn a_best_next_hop_without_a_path_is_not_used() {
    let fabric = spine_leaf(4, 2, 2, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    network(&fabric, &scheme("hula"), SEED, |net| {
        passed(net, &fabric, us(0), ["s2", "l0"], probe(1, 0));
        let cut = fabric.link_named("s2-l1").unwrap();
        net.reroute(&routes(&fabric, &[cut, cut.reverse()]));
        assert_eq!(uplinks(net, &fabric, us(1), 2, 100)[4], 0);
        let leaf = fabric.find("l0").unwrap();
        let late = net.receive(us(2), leaf, port(&fabric, "l0", "s2"), &probe(1, 0));
        assert_eq!(late, [Action::Consume]);
    });
}

#[test]
fn probes_of_hosts_and_of_unknown_switches_are_dropped_and_a_switch_ignores_its_own() {
    let fabric = spine_leaf(4, 2, 2, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    let leaf = fabric.find("l0").unwrap();
    let up = port(&fabric, "l0", "s0");
    network(&fabric, &scheme("hula"), SEED, |net| {
        for (port, tor, action) in [
            (PortId(0), 1, Action::Drop(DropReason::Untrusted)),
            (up, 9, Action::Drop(DropReason::Stale)),
            (up, 0, Action::Consume),
        ] {
            let actions = net.receive(us(0), leaf, port, &probe(tor, 0));
            assert_eq!(actions, [action], "of switch {tor}");
        }
    });
}

#[test]
fn hula_says_why_a_fabric_or_an_interval_does_not_fit() {
    let link = LinkSpec::default();
    let mut builder = FabricBuilder::new("two-homed");
    let hosts = ["h0", "h1"].map(|name| builder.add_host(name, 0, None).unwrap());
    let switches = ["s0", "s1"].map(|name| builder.add_switch(name, 1, None).unwrap());
    for (a, b) in [(hosts[0], switches[0]), (hosts[0], switches[1]), (hosts[1], switches[0])] {
        builder.connect(a, b, &link).unwrap();
    }
    let misfit = descriptor("hula").unwrap().misfit.unwrap();
    for (fabric, expected) in [
        (build::ring(5, 2, &link, &link).unwrap(), "of one tier are connected"),
        (build::dumbbell(3, 4, &link, &link).unwrap(), "of one tier are connected"),
        (builder.build().unwrap(), "host `h0` is connected to several switches"),
    ] {
        let found = misfit(&scheme("hula"), &fabric).expect("it does not fit");
        assert!(found.message.contains(expected), "{}", found.message);
    }
    let fabric = spine_leaf(2, 2, 2, &link, &link).unwrap();
    assert_eq!(misfit(&scheme("hula"), &fabric), None);
    for (param, value) in [("probe_interval", Duration::ZERO), ("aging", Duration::from_us(200))] {
        let spec = scheme_with("hula", param, ParamValue::Duration(value));
        assert_eq!(descriptor("hula").unwrap().contradiction_of(&spec).map(|wrong| wrong.param), Some(param));
    }
}
