//! Flowcut switching: hand-made cases on a leaf-spine fabric and a fat-tree.

use weft_fabric::build::{fat_tree, spine_leaf};
use weft_fabric::{Fabric, LinkSpec};
use weft_switching::{Header, Kind, ParamValue};
use weft_units::{Duration, LinkId, PortId, Time};

use crate::common::{End, Network, SEED, frame, network, routes, scheme, scheme_with};

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

fn syn(header: Header) -> Header {
    Header { tcp_flags: Header::SYN, ..header }
}

/// The links of the path that a frame takes to its host.
fn path(net: &mut dyn Network, now: Time, header: &Header) -> Vec<LinkId> {
    match net.send(now, header).pop() {
        Some(End::Host(_, path)) => path,
        other => panic!("it does not arrive: {other:?}"),
    }
}

/// Sets the queues of the first host's leaf so that only uplink `free` of `uplinks` is empty.
fn leave_free(net: &mut dyn Network, fabric: &Fabric, uplinks: u16, free: u16) {
    let leaf = fabric.edge_switch(weft_units::HostId(0)).unwrap();
    let hosts = fabric.ports(leaf).len() as u16 - uplinks;
    let queue = |up: u16| (PortId(hosts + up), if up == free { 0 } else { 9_000 });
    net.set_queues(leaf, (0..uplinks).map(queue).collect());
}

#[test]
fn a_flow_moves_to_the_shortest_queue_only_after_its_last_packet_is_acknowledged() {
    let fabric = spine_leaf(4, 2, 2, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    for (kind, flags) in [(Kind::Tcp, Header::SYN), (Kind::Other, 0)] {
        let of = |header: Header| Header { kind, ..header };
        let (there, back) = (of(frame(0, 2, 7, 80)), of(frame(2, 0, 80, 7)));
        network(&fabric, &scheme("flowcut"), SEED, |net| {
            let up = |net: &mut dyn Network, header: &Header| {
                fabric.link(path(net, ms(0), header)[1]).from_port.0 - 2
            };
            for free in 0..4 {
                leave_free(net, &fabric, 4, free);
                let other = of(frame(0, 2, 100 + free, 80));
                assert_eq!(
                    up(net, &Header { tcp_flags: flags, ..other }),
                    free,
                    "{kind:?}: the first flowcut"
                );
            }
            leave_free(net, &fabric, 4, 3);
            assert_eq!(up(net, &Header { tcp_flags: flags, ..there }), 3, "{kind:?}: the first flowcut");
            leave_free(net, &fabric, 4, 1);
            assert_eq!(up(net, &there), 3, "{kind:?}: packets are in flight");
            path(net, ms(0), &of(frame(2, 0, 80, 8)));
            assert_eq!(up(net, &there), 3, "{kind:?}: a packet of another flow acknowledges nothing");
            path(net, ms(0), &back);
            assert_eq!(up(net, &there), 1, "{kind:?}");
            leave_free(net, &fabric, 4, 2);
            assert_eq!(up(net, &there), 1, "{kind:?}");
        });
    }
}

#[test]
fn a_packet_without_an_acknowledgement_counts_as_in_flight_until_the_timeout() {
    let fabric = spine_leaf(4, 2, 2, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    let there = frame(0, 2, 7, 80);
    network(&fabric, &scheme("flowcut"), SEED, |net| {
        leave_free(net, &fabric, 4, 3);
        let first = path(net, ms(0), &syn(there));
        leave_free(net, &fabric, 4, 1);
        assert_eq!(path(net, ms(99), &there), first);
        assert_eq!(path(net, ms(198), &there), first);
        assert_ne!(path(net, ms(298), &there), first);
    });
}

#[test]
fn a_flow_leaves_a_port_that_no_longer_leads_to_its_destination() {
    let fabric = spine_leaf(4, 2, 2, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    network(&fabric, &scheme("flowcut"), SEED, |net| {
        let first = path(net, ms(0), &syn(frame(0, 2, 7, 80)));
        net.reroute(&routes(&fabric, &[first[1], first[1].reverse()]));
        assert_ne!(path(net, ms(0), &frame(0, 2, 7, 80))[1], first[1]);
    });
}

#[test]
fn a_flowcut_keeps_one_path_through_all_tiers_and_flowcuts_use_all_paths() {
    let fabric = fat_tree(4, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    let (there, back) = (frame(0, 15, 7, 80), frame(15, 0, 80, 7));
    network(&fabric, &scheme("flowcut"), SEED, |net| {
        let mut paths = Vec::new();
        for _ in 0..100 {
            let first = path(net, ms(0), &there);
            (0..5).for_each(|_| assert_eq!(path(net, ms(0), &there), first));
            path(net, ms(0), &back);
            paths.push(first);
        }
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), 4);
    });
}

#[test]
fn flows_without_an_entry_keep_their_path() {
    let fabric = spine_leaf(4, 2, 2, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    let small = scheme_with("flowcut", "flow_table", ParamValue::Count(1));
    network(&fabric, &small, SEED, |net| {
        path(net, ms(0), &syn(frame(0, 2, 7, 80)));
        for sport in 100..150 {
            let first = path(net, ms(0), &syn(frame(0, 2, sport, 80)));
            leave_free(net, &fabric, 4, sport % 4);
            path(net, ms(0), &frame(2, 0, 80, sport));
            assert_eq!(path(net, ms(0), &frame(0, 2, sport, 80)), first, "{sport}");
        }
    });
}
