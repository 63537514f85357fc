//! Every size that fits a tag, servers and external links, and the rejection of larger ones.

use std::collections::BTreeSet;

use proptest::prelude::*;
use weft_fabric::LinkSpec;
use weft_fabric::gates::{Direction, GateError, GatePlan, Layer, Numbering, SwitchGates, TagWidth};
use weft_units::HostId;

use crate::gates::walk::{all_arrive, arrives, fat_tree, pairs, plan_of};

fn wide() -> Numbering {
    Numbering { width: TagWidth::Wide, ..Numbering::default() }
}

/// Evenly spread pairs of hosts, including the last host.
fn some_pairs(hosts: u32, count: u32) -> impl Iterator<Item = (HostId, HostId)> {
    (0..count).map(move |i| (HostId(i * 7919 % hosts), HostId(hosts - 1 - i * 104_729 % hosts)))
}

#[test]
fn every_size_has_the_properties_and_the_greatest_number_is_half_the_cube() {
    for k in (2..=24).step_by(2) {
        let fabric = fat_tree(k, 0);
        let plan = plan_of(&fabric);
        assert_eq!(plan.check(), Ok(()), "k = {k}");
        assert_eq!((plan.k(), plan.gate_count() as u32), (k, 5 * k.pow(3) / 4));
        let half = k / 2;
        let down = plan.switches().map(|(_, switch)| (switch.layer, switch.down_divisor));
        for (layer, divisor) in down {
            let expected = match layer {
                Layer::Edge => 2,
                Layer::Aggregation => k,
                Layer::Core => k * half,
            };
            assert_eq!(divisor, expected);
        }
        let gates = (0..fabric.host_count() as u32).flat_map(|host| plan.gates_of(HostId(host)));
        let numbers: Vec<u32> = gates.map(|(_, gate)| gate.gate.0).collect();
        let expected: Vec<u32> = (1..=k.pow(3) / 4).map(|server| 2 * server).collect();
        assert_eq!(numbers, expected, "k = {k}");
        for (source, destination) in some_pairs(fabric.host_count() as u32, 40) {
            arrives(&fabric, &plan, source, destination);
        }
    }
}

/// The numbers of a switch in a direction, in order.
fn numbers(switch: &SwitchGates, direction: Direction) -> Vec<u32> {
    let mut numbers: Vec<u32> = switch.toward(direction).map(|gate| gate.gate.0).collect();
    numbers.sort_unstable();
    numbers
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// By the text of section III-B, if every place has a link.
    #[test]
    fn the_four_properties_hold_as_the_paper_words_them(half in 1..7_u32, routers in 1..5_u32) {
        let numbering = Numbering { width: TagWidth::Narrow, external_places: Some(routers) };
        let plan = GatePlan::of(&fat_tree(2 * half, routers), &numbering).unwrap();
        let of = |layer| plan.switches().filter(move |(_, switch)| switch.layer == layer);
        for (direction, layers) in [
            (Direction::Down, [Layer::Edge, Layer::Aggregation, Layer::Core]),
            (Direction::Up, [Layer::Core, Layer::Aggregation, Layer::Edge]),
        ] {
            let sets = layers.map(|layer| {
                of(layer).flat_map(|(_, switch)| numbers(switch, direction)).collect::<BTreeSet<u32>>()
            });
            // P1.
            let first: Vec<u32> = sets[0].iter().copied().collect();
            prop_assert!(first[0] > 0 && first[0].is_multiple_of(2));
            prop_assert!(first.windows(2).all(|pair| pair[1] - pair[0] == 2));
            let gates: usize = of(layers[0]).map(|(_, switch)| numbers(switch, direction).len()).sum();
            prop_assert_eq!(first.len(), gates);
            // P3.
            prop_assert!(sets[0].is_superset(&sets[1]) && sets[1].is_superset(&sets[2]));
            for (node, switch) in plan.switches() {
                for gate in switch.toward(direction) {
                    if let Some(next) = plan.switch(plan.peer(node, gate.port).unwrap()) {
                        prop_assert_eq!(numbers(next, direction).last().copied(), Some(gate.gate.0));
                    }
                }
            }
            // P4.
            for layer in layers {
                let steps: BTreeSet<u32> = of(layer)
                    .flat_map(|(_, switch)| {
                        let numbers = numbers(switch, direction);
                        numbers.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
                    })
                    .collect();
                prop_assert!(steps.len() <= 1);
                prop_assert!(of(layer).all(|(_, switch)| steps.iter().all(|d| *d == switch.divisor(direction))));
            }
        }
        // P2.
        for (_, switch) in plan.switches() {
            let numbers: BTreeSet<u32> = switch.gates.iter().map(|gate| gate.gate.0).collect();
            prop_assert_eq!(numbers.len(), switch.gates.len());
        }
    }
}

#[test]
fn every_pair_of_hosts_is_joined_by_as_many_ways_as_the_fabric_has() {
    for (k, routers) in [(2, 1), (4, 2), (6, 1), (6, 5)] {
        let fabric = fat_tree(k, routers);
        let plan = plan_of(&fabric);
        assert_eq!(plan.check(), Ok(()));
        let (half, servers) = (k as usize / 2, (k.pow(3) / 4) as usize);
        for (source, destination) in pairs(&fabric) {
            let (a, b) = (source.index(), destination.index());
            let expected = match () {
                () if a == b || a >= servers && b >= servers => 0,
                () if a >= servers || b >= servers || a / half == b / half => 1,
                () if a / half / half == b / half / half => half,
                () => half * half,
            };
            assert_eq!(arrives(&fabric, &plan, source, destination), expected, "{a} to {b}, k = {k}");
        }
    }
}

#[test]
fn a_router_at_several_cores_is_reached_over_each() {
    let link = LinkSpec::default();
    let plain = fat_tree(4, 0);
    let mut builder = plain.edit();
    let router = builder.add_host("internet", 0, None).unwrap();
    for core in ["c0", "c2", "c3"] {
        builder.connect(router, builder.find(core).unwrap(), &link).unwrap();
    }
    let fabric = builder.build().unwrap();
    let plan = plan_of(&fabric);
    let router = fabric.host_named("internet").unwrap();
    for host in (0..16).map(HostId) {
        assert_eq!(arrives(&fabric, &plan, host, router), 3);
        assert_eq!(arrives(&fabric, &plan, router, host), 3);
    }
    let gates: Vec<u32> = plan.gates_of(router).map(|(_, gate)| gate.gate.0).collect();
    assert_eq!(gates, [42, 50, 54]);
}

#[test]
fn servers_may_be_missing_and_keep_their_numbers_free() {
    let link = LinkSpec::default();
    let full = fat_tree(4, 0);
    let mut builder = weft_fabric::FabricBuilder::new("sparse");
    let left_out = ["h1", "h4", "h5", "h15"];
    let kept = |id| !left_out.contains(&full.node(id).name.as_str());
    for (id, node) in (0..).map(weft_units::NodeId).zip(full.nodes()).filter(|(id, _)| kept(*id)) {
        match node.is_host() {
            true => builder.add_host(&node.name, 0, node.pod).unwrap(),
            false => builder.add_switch(&node.name, node.tier, node.pod).unwrap(),
        };
        assert!(kept(id));
    }
    for cable in full.links().iter().step_by(2).filter(|link| kept(link.from)) {
        let end = |id| builder.find(&full.node(id).name).unwrap();
        let (a, b) = (end(cable.from), end(cable.to));
        builder.connect(a, b, &link).unwrap();
    }
    let fabric = builder.build().unwrap();
    let plan = plan_of(&fabric);
    assert_eq!(plan.check(), Ok(()));
    all_arrive(&fabric, &plan);
    let gate = |host| plan.gates_of(fabric.host_named(host).unwrap()).next().unwrap().1.gate.0;
    assert_eq!([gate("h0"), gate("h2"), gate("h6"), gate("h14")], [2, 6, 14, 30]);
}

#[test]
fn what_the_paper_s_tag_does_not_hold_is_refused_and_the_wide_one_holds_it() {
    let refused = GatePlan::fat_tree(26, &Numbering::default()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a fat-tree of k = 26 needs DOWN numbers up to 8788 (two for each of k³/4 servers), but the 13 bits of a narrow \
         tag hold at most 8191, enough for k up to 24: use the wide tag (`--width wide`) on all switches"
    );
    for k in [26, 32, 48] {
        assert!(matches!(GatePlan::fat_tree(k, &Numbering::default()), Err(GateError::Bits { .. })));
        let fabric = fat_tree(k, 1);
        let plan = GatePlan::of(&fabric, &wide()).unwrap();
        assert_eq!(plan.check(), Ok(()));
        for (source, destination) in some_pairs(fabric.host_count() as u32, 8) {
            arrives(&fabric, &plan, source, destination);
        }
    }
}

#[test]
fn numbers_for_external_links_are_as_many_as_asked_for() {
    let of = |places, routers| {
        GatePlan::of(
            &fat_tree(4, routers),
            &Numbering { external_places: Some(places), ..Numbering::default() },
        )
    };
    for (places, routers) in [(0, 0), (1, 1), (3, 1), (7, 7), (1000, 2)] {
        let plan = of(places, routers).unwrap();
        assert_eq!(plan.check(), Ok(()));
        assert_eq!(plan.switch_named("a0").unwrap().up_divisor, 2 * places.max(1));
    }
    let refused = of(2, 3).unwrap_err().to_string();
    assert_eq!(refused, "`c3` has 3 external links, but 2 places per core were requested");
    let refused = of(u32::MAX, 0).unwrap_err();
    assert!(matches!(refused, GateError::External { .. }), "{refused}");
}
