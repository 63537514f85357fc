//! Where the schemes send frames: delivery on every fabric, shortest paths, their distribution, and changes after link
//! failures.

use crate::common::{End, Network, SEED, frame, is_even, network, routes, scheme, scheme_with};
use proptest::prelude::*;
use weft_fabric::build::{self, ThreeLayer};
use weft_fabric::{EqualCost, Fabric, FabricBuilder, LinkSpec};
use weft_switching::{Action, Descriptor, DropReason, Header, Mac, Need, ParamValue, registry};
use weft_units::{HostId, LinkId, NodeId, PortId, Time};

const NOW: Time = Time::ZERO;

fn fabrics() -> Vec<Fabric> {
    let link = LinkSpec::default();
    let layers = ThreeLayer { pods: 2, tors_per_pod: 3, planes: 2, spines_per_plane: 2, hosts_per_tor: 2 };
    vec![
        build::fat_tree(4, &link, &link).unwrap(),
        build::spine_leaf(3, 4, 2, &link, &link).unwrap(),
        build::three_layer(&layers, &link, &link, &link).unwrap(),
        build::dumbbell(3, 4, &link, &link).unwrap(),
        build::ring(5, 2, &link, &link).unwrap(),
        build::mesh(4, 2, &link, &link).unwrap(),
    ]
}

fn hosts(fabric: &Fabric) -> impl Iterator<Item = u32> + Clone + use<> {
    0..fabric.host_count() as u32
}

fn labels(fabric: &Fabric, path: &[LinkId]) -> Vec<String> {
    path.iter().map(|&link| fabric.link_label(link)).collect()
}

/// Schemes with precomputed routes that run on `fabric`; exploring schemes are tested in `explore`, those with a central
/// controller with the simulator.
fn routed(fabric: &Fabric) -> Vec<&'static Descriptor> {
    let fits =
        |info: &&Descriptor| info.misfit.is_none_or(|misfit| misfit(&scheme(info.name), fabric).is_none());
    alone().filter(fits).collect()
}

/// Schemes with precomputed routes that run on some fabrics only.
fn choosy() -> Vec<&'static str> {
    alone().filter(|info| info.is_choosy()).map(|info| info.name).collect()
}

fn alone() -> impl Iterator<Item = &'static Descriptor> {
    registry().iter().filter(|info| info.explores.is_none() && !info.needs.contains(&Need::Controller))
}

#[test]
fn every_scheme_brings_a_frame_from_every_host_to_every_other_exactly_once() {
    for fabric in fabrics() {
        for info in routed(&fabric) {
            network(&fabric, &scheme(info.name), SEED, |net| {
                let distances = EqualCost::compute(&fabric);
                for src in hosts(&fabric) {
                    for dst in hosts(&fabric).filter(|dst| *dst != src) {
                        let ends = net.send(NOW, &frame(src, dst, 1_000, 80));
                        let at = |host: u32| {
                            ends.iter().filter(|end| matches!(end, End::Host(at, _) if at.0 == host)).count()
                        };
                        let name = format!("{} on {}, h{src} to h{dst}", info.name, fabric.name());
                        assert_eq!((at(dst), at(src)), (1, 0), "{name}: {ends:?}");
                        assert!(hosts(&fabric).all(|host| at(host) <= 1), "{name}: a second copy: {ends:?}");
                        if info.name == "spanning_tree" {
                            continue;
                        }
                        let [End::Host(_, path)] = ends.as_slice() else {
                            panic!("{name}: copies: {ends:?}")
                        };
                        let shortest = distances.distance(HostId(src), HostId(dst));
                        assert_eq!(Some(path.len() as u32), shortest, "{name}: {:?}", labels(&fabric, path));
                    }
                }
            });
        }
    }
}

#[test]
fn single_path_takes_the_next_hop_of_the_lowest_node() {
    for fabric in fabrics() {
        let routes = EqualCost::compute(&fabric);
        network(&fabric, &scheme("single_path"), SEED, |net| {
            for at in fabric.switches() {
                for dst in hosts(&fabric) {
                    let behind = |port: &PortId| fabric.link(fabric.ports(at)[port.index()]).to;
                    let lowest = routes.next_hops(at, HostId(dst)).iter().min_by_key(|port| behind(port));
                    for sport in 0..4 {
                        let actions = net.receive(NOW, at, PortId(0), &frame(0, dst, sport, 80));
                        assert_eq!(actions, [Action::Send(*lowest.unwrap())], "at {at} to h{dst}");
                    }
                }
            }
        });
    }
}

/// Node order and port order differ here: s1 is connected to s0 before s2, but has the higher number.
#[test]
fn the_lowest_node_counts_and_not_the_lowest_port() {
    let mut builder = FabricBuilder::new("crossed");
    let hosts = ["h0", "h1"].map(|name| builder.add_host(name, 0, None).unwrap());
    let [s0, low, high, s3] = ["s0", "low", "high", "s3"].map(|n| builder.add_switch(n, 1, None).unwrap());
    for (a, b) in [(hosts[0], s0), (hosts[1], s3), (s0, high), (s0, low), (high, s3), (low, s3)] {
        builder.connect(a, b, &LinkSpec::default()).unwrap();
    }
    let fabric = builder.build().unwrap();
    let ends = network(&fabric, &scheme("single_path"), SEED, |net| net.send(NOW, &frame(0, 1, 1, 2)));
    let [End::Host(_, path)] = ends.as_slice() else { panic!("{ends:?}") };
    assert_eq!(labels(&fabric, path), ["h0->s0", "s0->low", "low->s3", "s3->h1"]);
}

#[test]
fn ecmp_keeps_a_flow_on_its_path_whatever_its_packets_look_like() {
    let fabric = build::fat_tree(8, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    network(&fabric, &scheme("ecmp"), SEED, |net| {
        for sport in 0..200 {
            let syn = frame(3, 77, sport, 80);
            let path = net.send(NOW, &syn);
            for (flags, class, bytes) in [(16, 0, 52), (24, 3, 1_500), (17, 184, 9_000)] {
                let packet = Header { tcp_flags: flags, traffic_class: class, ip_bytes: bytes, ..syn };
                assert_eq!(net.send(Time::from_ps(u64::from(bytes)), &packet), path, "source port {sport}");
            }
        }
        // Another flow label may select another path.
        let moved = (0..200).filter(|&entropy| {
            let mut labelled = frame(3, 77, 1, 80);
            labelled.entropy = 0x9e37_79b9_u32.wrapping_mul(entropy);
            net.send(NOW, &labelled) != net.send(NOW, &frame(3, 77, 1, 80))
        });
        assert!((160..200).contains(&moved.count()), "15 of 16 labels select another path");
    });
}

/// Flows by core, in a k = 8 fat-tree with 4 aggregation switches per pod and 4 cores per aggregation switch.
fn flows_by_core(hash_seed: &str, seed: u64) -> Vec<u64> {
    let fabric = build::fat_tree(8, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    let spec = scheme_with("ecmp", "hash_seed", ParamValue::Text(hash_seed.to_owned()));
    network(&fabric, &spec, seed, |net| {
        let mut flows = vec![0; 16];
        for i in 0..8_000_u32 {
            let (src, dst) = (i % 16, 16 + i * 31 % 112);
            let ends = net.send(NOW, &frame(src, dst, (i / 16) as u16, 80));
            let [End::Host(_, path)] = ends.as_slice() else { panic!("{ends:?}") };
            let core = fabric.node(fabric.link(path[2]).to);
            flows[core.name[1..].parse::<usize>().unwrap()] += 1;
        }
        flows
    })
}

#[test]
fn ecmp_spreads_flows_evenly_over_all_paths() {
    for seed in [1, 2, 3, 4, 5] {
        is_even(&format!("flows by core, seed {seed}"), &flows_by_core("per-switch", seed));
    }
}

/// With one key for all switches, the flows that the edge sends to its j-th aggregation switch are those that this
/// switch sends to its j-th core: of 16 cores, 4 carry everything.
#[test]
fn a_shared_hash_seed_polarizes() {
    for seed in [1, 2, 3, 4, 5] {
        let flows = flows_by_core("shared", seed);
        let used: Vec<usize> = (0..16).filter(|&core| flows[core] > 0).collect();
        assert_eq!(used, [0, 5, 10, 15], "seed {seed}: {flows:?}");
        is_even(&format!("flows by core, shared, seed {seed}"), &[0, 5, 10, 15].map(|core| flows[core]));
    }
}

#[test]
fn spraying_draws_ports_evenly_and_each_draw_is_its_own() {
    let fabric = build::spine_leaf(5, 2, 1, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    let leaf = fabric.find("l0").unwrap();
    for seed in [1, 2, 3] {
        network(&fabric, &scheme("spray"), seed, |net| {
            let mut ports = Vec::new();
            for _ in 0..20_000 {
                let actions = net.receive(NOW, leaf, PortId(0), &frame(0, 1, 1, 80));
                let [Action::Send(port)] = actions.as_slice() else { panic!("{actions:?}") };
                ports.push(port.index() - 1);
            }
            let (mut counts, mut pairs) = (vec![0; 5], vec![0; 25]);
            ports.iter().for_each(|&port| counts[port] += 1);
            ports.windows(2).for_each(|pair| pairs[pair[0] * 5 + pair[1]] += 1);
            is_even(&format!("ports, seed {seed}"), &counts);
            is_even(&format!("successive ports, seed {seed}"), &pairs);
        });
    }
}

#[test]
fn two_cables_to_one_host_or_switch_are_both_used() {
    let mut builder = FabricBuilder::new("bundles");
    let hosts = ["h0", "h1"].map(|name| builder.add_host(name, 0, None).unwrap());
    let switches = ["s0", "s1"].map(|name| builder.add_switch(name, 1, None).unwrap());
    for (a, b) in [(hosts[0], switches[0]), (switches[0], switches[1]), (switches[1], hosts[1])] {
        for _ in 0..2 {
            builder.connect(a, b, &LinkSpec::default()).unwrap();
        }
    }
    let fabric = builder.build().unwrap();
    // One scheme that divides flows evenly, and one that divides frames.
    for name in ["ecmp", "spray"] {
        network(&fabric, &scheme(name), SEED, |net| {
            let mut used = vec![0; fabric.links().len()];
            for sport in 0..1_000 {
                for end in net.send(NOW, &frame(0, 1, sport, 80)) {
                    let End::Host(_, path) = end else { panic!("{end:?}") };
                    path.iter().for_each(|link| used[link.index()] += 1);
                }
            }
            is_even(&format!("{name}, links between switches"), &[used[4], used[6]]);
            is_even(&format!("{name}, links to the host"), &[used[8], used[10]]);
        });
    }
}

#[test]
fn a_frame_to_nowhere_is_dropped_for_want_of_a_route() {
    let fabric = build::fat_tree(4, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    let edge = fabric.find("e0").unwrap();
    // A spanning tree floods a frame to an unknown station, as bridges do.
    for Descriptor { name, .. } in routed(&fabric).into_iter().filter(|info| info.name != "spanning_tree") {
        network(&fabric, &scheme(name), SEED, |net| {
            let unknown = [Mac::of_host(16), Mac::of_host(u32::MAX), Mac::BROADCAST, Mac([8; 6])];
            for dst in unknown {
                let header = Header { dst, ..frame(0, 1, 1, 1) };
                assert_eq!(
                    net.receive(NOW, edge, PortId(0), &header),
                    [Action::Drop(DropReason::NoRoute)],
                    "{name}"
                );
            }
        });
    }
}

#[test]
fn flows_leave_a_failed_cable_and_come_back_to_their_paths_when_it_heals() {
    let fabric = build::fat_tree(4, &LinkSpec::default(), &LinkSpec::default()).unwrap();
    let down = fabric.link_named("e0-a1").unwrap();
    // Schemes whose choice depends on nothing but the flow and the routes.
    for name in ["ecmp", "single_path"] {
        network(&fabric, &scheme(name), SEED, |net| {
            let all = |net: &mut dyn Network| -> Vec<Vec<End>> {
                (0..100).map(|sport| net.send(NOW, &frame(0, 15, sport, 80))).collect()
            };
            let before = all(net);
            net.reroute(&routes(&fabric, &[down, down.reverse()]));
            for ends in all(net) {
                let [End::Host(HostId(15), path)] = ends.as_slice() else { panic!("{name}: {ends:?}") };
                assert!(path.len() == 6 && !path.contains(&down), "{name}: {:?}", labels(&fabric, path));
            }
            net.reroute(&routes(&fabric, &[]));
            assert_eq!(all(net), before, "{name}");
        });
    }
}

/// Three numbers that choose a flow: its source, its destination and a port.
type Chosen = (u16, u16, u16);

/// With links down, reachable hosts are reached over a shortest path or (spanning tree) without a loop; other frames are
/// dropped, and every switch decides.
fn leaves_no_loop(
    fabric: &Fabric,
    name: &str,
    down: &[prop::sample::Index],
    flows: &[Chosen],
    seed: u64,
) -> Result<(), TestCaseError> {
    // Hosts keep their links, so that a frame can leave.
    let is_host = |node: NodeId| fabric.node(node).is_host();
    let is_trunk = |id: &LinkId| !is_host(fabric.link(*id).from) && !is_host(fabric.link(*id).to);
    let trunks: Vec<LinkId> = (0..fabric.links().len() as u32).map(LinkId).filter(is_trunk).collect();
    let down = down.iter().filter(|_| !trunks.is_empty()).map(|at| *at.get(&trunks));
    let down: Vec<LinkId> = down.flat_map(|id| [id, id.reverse()]).collect();
    let distances = EqualCost::compute_where(fabric, |link| !down.contains(&link));
    let count = fabric.host_count() as u16;
    network(fabric, &scheme(name), seed, |net| {
        net.reroute(&routes(fabric, &down));
        for (src, dst, sport) in flows {
            let (src, dst) = (u32::from(src % count), u32::from(dst % count));
            if src == dst {
                continue;
            }
            let ends = net.send(NOW, &frame(src, dst, *sport, 80));
            let paths = ends.iter().filter_map(|end| match end {
                End::Host(HostId(at), path) if *at == dst => Some(path),
                _ => None,
            });
            let paths: Vec<_> = paths.collect();
            let distance = distances.distance(HostId(src), HostId(dst));
            prop_assert_eq!(paths.len(), usize::from(distance.is_some()), "{:?}", ends);
            for path in paths {
                prop_assert!(path.iter().all(|link| !down.contains(link)));
                let shortest = distance == Some(path.len() as u32);
                prop_assert!(shortest || name == "spanning_tree");
            }
        }
        Ok(())
    })
}

/// A leaf-spine fabric with this many cables from each leaf to each spine.
fn leaf_spine(leaves: usize, hosts: u32, cables: &[u8]) -> Fabric {
    let mut builder = FabricBuilder::new("leaf-spine");
    let link = LinkSpec::default();
    let mut switches = |letter, tier, count| -> Vec<NodeId> {
        (0..count).map(|i| builder.add_switch(format!("{letter}{i}"), tier, None).unwrap()).collect()
    };
    let (leaves, spines) = (switches('l', 1, leaves), switches('s', 2, cables.len() / leaves));
    for (leaf, host) in
        (0..).zip(&leaves).flat_map(|(place, leaf)| (0..hosts).map(move |i| (leaf, place * hosts + i)))
    {
        let host = builder.add_host(format!("h{host}"), 0, None).unwrap();
        builder.connect(host, *leaf, &link).unwrap();
    }
    for (number, count) in cables.iter().enumerate() {
        // All leaves reach the first spine.
        for _ in 0..(*count).max(u8::from(number < leaves.len())) {
            builder.connect(leaves[number % leaves.len()], spines[number / leaves.len()], &link).unwrap();
        }
    }
    builder.build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn failures_anywhere_leave_no_loop_and_cut_off_only_what_has_no_path(
        which in 0_usize..6,
        number in any::<prop::sample::Index>(),
        down in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        flows in prop::collection::vec((any::<u16>(), any::<u16>(), any::<u16>()), 20),
        seed in any::<u64>(),
    ) {
        let fabric = fabrics().swap_remove(which);
        let name = number.get(&routed(&fabric)).name;
        leaves_no_loop(&fabric, name, &down, &flows, seed)?;
    }
    /// Some of their fabrics are partly connected, or have several cables between two switches.
    #[test]
    fn failures_on_random_leaf_spines_leave_no_loop_under_the_schemes_that_do_not_run_everywhere(
        (leaves, cables) in (1_usize..5, 1_usize..5).prop_flat_map(|(leaves, spines)| {
            (Just(leaves), prop::collection::vec(0_u8..3, leaves * spines))
        }),
        hosts in 1_u32..4,
        name in prop::sample::select(choosy()),
        down in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        flows in prop::collection::vec((any::<u16>(), any::<u16>(), any::<u16>()), 20),
        seed in any::<u64>(),
    ) {
        leaves_no_loop(&leaf_spine(leaves, hosts, &cables), name, &down, &flows, seed)?;
    }
}
