//! Learning, ageing and flooding of an ordinary Ethernet switch.

use crate::common::{End, Network, SEED, frame, network, routes, scheme, scheme_with};
use weft_fabric::{LinkSpec, build};
use weft_switching::{Action, DropReason, Header, Mac, ParamValue, SchemeSpec};
use weft_units::{Duration, HostId, LinkId, NodeId, PortId, Time};

fn secs(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

/// Runs a test under a scheme on a star: one switch with hosts h0 to h4 on its ports 0 to 4, and a spine on port 5.
fn at_a_star(scheme: &SchemeSpec, test: impl FnOnce(&mut dyn Network, NodeId)) {
    let fabric = build::spine_leaf(1, 1, 5, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    network(&fabric, scheme, SEED, |net| test(net, fabric.find("l0").unwrap()));
}

/// The egress ports of a frame at the switch of a star, in order.
fn ports(net: &mut dyn Network, at: NodeId, now: Time, ingress: u16, header: &Header) -> Vec<u16> {
    let actions = net.receive(now, at, PortId(ingress), header);
    let mut ports: Vec<u16> = actions
        .iter()
        .map(|action| match action {
            Action::Send(port) => port.0,
            other => panic!("not sent: {other:?}"),
        })
        .collect();
    ports.sort_unstable();
    ports
}

#[test]
fn a_switch_floods_until_it_has_heard_of_an_address() {
    at_a_star(&scheme("spanning_tree"), |net, at| {
        assert_eq!(ports(net, at, secs(0), 0, &frame(0, 1, 1, 1)), [1, 2, 3, 4, 5]);
        assert_eq!(ports(net, at, secs(0), 1, &frame(1, 0, 1, 1)), [0], "h0 is known");
        assert_eq!(ports(net, at, secs(0), 0, &frame(0, 1, 1, 1)), [1]);
        assert_eq!(net.entries(at).stations, 2);
    });
}

#[test]
fn a_group_address_is_flooded_and_never_learnt() {
    at_a_star(&scheme("spanning_tree"), |net, at| {
        for _ in 0..2 {
            let broadcast = Header { dst: Mac::BROADCAST, ..frame(2, 0, 1, 1) };
            assert_eq!(ports(net, at, secs(0), 2, &broadcast), [0, 1, 3, 4, 5]);
        }
        let forged = Header { src: Mac::BROADCAST, ..frame(3, 2, 1, 1) };
        assert_eq!(ports(net, at, secs(0), 3, &forged), [2]);
        assert_eq!(net.entries(at).stations, 1);
    });
}

#[test]
fn an_address_lasts_for_the_ageing_time_from_when_it_was_last_heard() {
    let ageing = ParamValue::Duration(Duration::from_secs(10));
    at_a_star(&scheme_with("spanning_tree", "ageing", ageing), |net, at| {
        ports(net, at, secs(0), 1, &frame(1, 0, 1, 1));
        assert_eq!(ports(net, at, secs(9), 0, &frame(0, 1, 1, 1)), [1]);
        assert_eq!(ports(net, at, secs(10), 0, &frame(0, 1, 1, 1)), [1, 2, 3, 4, 5], "10 s have passed");
        ports(net, at, secs(15), 1, &frame(1, 0, 1, 1));
        assert_eq!(ports(net, at, secs(24), 0, &frame(0, 1, 1, 1)), [1]);
    });
}

#[test]
fn a_host_that_moves_is_found_at_its_new_port() {
    at_a_star(&scheme("spanning_tree"), |net, at| {
        ports(net, at, secs(0), 1, &frame(1, 0, 1, 1));
        ports(net, at, secs(1), 4, &frame(1, 0, 1, 1));
        assert_eq!(ports(net, at, secs(1), 0, &frame(0, 1, 1, 1)), [4]);
        assert_eq!(net.entries(at).stations, 2);
    });
}

#[test]
fn a_full_table_floods_what_it_has_no_room_for() {
    at_a_star(&scheme_with("spanning_tree", "table_size", ParamValue::Count(2)), |net, at| {
        for host in 0..4 {
            ports(net, at, secs(0), host, &frame(host.into(), 4, 1, 1));
        }
        assert_eq!(net.entries(at).stations, 2);
        assert_eq!(ports(net, at, secs(0), 4, &frame(4, 1, 1, 1)), [1]);
        assert_eq!(ports(net, at, secs(0), 4, &frame(4, 2, 1, 1)), [0, 1, 2, 3, 5]);
    });
}

#[test]
fn a_frame_for_its_own_side_is_dropped() {
    at_a_star(&scheme("spanning_tree"), |net, at| {
        ports(net, at, secs(0), 5, &frame(3, 0, 1, 1));
        let actions = net.receive(secs(0), at, PortId(5), &frame(2, 3, 1, 1));
        assert_eq!(actions, [Action::Drop(DropReason::SamePort)]);
    });
}

#[test]
fn what_comes_in_outside_the_tree_is_dropped() {
    let fabric = build::ring(3, 1, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    // s0 is the root, so s1-s2 is the link outside the tree.
    let spare = fabric.link(fabric.link_named("s1-s2").unwrap());
    network(&fabric, &scheme("spanning_tree"), SEED, |net| {
        let actions = net.receive(secs(0), spare.to, spare.to_port, &frame(1, 2, 1, 1));
        assert_eq!(actions, [Action::Drop(DropReason::NoRoute)]);
        assert_eq!(net.entries(spare.to).stations, 0);
    });
}

fn delivered(ends: &[End], host: u32) -> Option<&[LinkId]> {
    let mut paths = ends.iter().filter_map(|end| match end {
        End::Host(HostId(at), path) if *at == host => Some(path.as_slice()),
        _ => None,
    });
    let path = paths.next();
    assert!(paths.next().is_none(), "two copies for h{host}: {ends:?}");
    path
}

#[test]
fn another_tree_takes_over_after_a_failure_and_what_was_learnt_is_forgotten() {
    let fabric = build::ring(4, 1, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    network(&fabric, &scheme("spanning_tree"), SEED, |net| {
        for (src, dst) in [(0, 1), (1, 0), (0, 1)] {
            net.send(secs(0), &frame(src, dst, 1, 1));
        }
        let down = fabric.link_named("s0-s1").unwrap();
        let path = net.send(secs(0), &frame(0, 1, 1, 1));
        assert!(
            path.len() == 1 && delivered(&path, 1).unwrap().contains(&down),
            "learnt, on the direct link"
        );
        net.reroute(&routes(&fabric, &[down, down.reverse()]));
        assert!(fabric.switches().all(|switch| net.entries(switch).stations == 0));
        let ends = net.send(secs(1), &frame(0, 1, 1, 1));
        let path = delivered(&ends, 1).expect("the other way round");
        assert_eq!(path.len(), 5);
        assert!((2..4).all(|host| delivered(&ends, host).is_some()), "flooded: {ends:?}");
        // A change that leaves the tree unchanged keeps learnt addresses.
        net.send(secs(1), &frame(1, 0, 1, 1));
        let known = net.entries(fabric.find("s0").unwrap()).stations;
        net.reroute(&routes(&fabric, &[down, down.reverse()]));
        assert_eq!(net.entries(fabric.find("s0").unwrap()).stations, known);
    });
}
