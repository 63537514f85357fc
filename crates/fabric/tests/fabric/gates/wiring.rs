//! Fat-trees in any order are recognised; misplaced cables are named; other fabrics are rejected.

use proptest::prelude::*;
use weft_fabric::gates::{FatTree, GateError, GatePlan, Numbering, WiringMistake};
use weft_fabric::{Fabric, FabricBuilder, LinkSpec, build, read, write};
use weft_units::{HostId, NodeId};

use crate::gates::walk::{all_arrive, arrives, fat_tree, paper, plan_of};

/// A fabric as a user may describe it.
#[derive(Clone, Debug)]
struct Drawing {
    /// Name, whether it is a host, tier, pod.
    nodes: Vec<(String, bool, u8, Option<u32>)>,
    /// Indices in `nodes`.
    cables: Vec<(usize, usize)>,
}

impl Drawing {
    /// A fat-tree with the paper's switch names, `es1`, `as1`, `cs1` and so on.
    fn fat_tree(k: u32, routers: u32) -> Self {
        let fabric = fat_tree(k, routers);
        let name = |name: &str| match name.split_at(1) {
            (layer @ ("e" | "a" | "c"), number) => format!("{layer}s{}", number.parse::<u32>().unwrap() + 1),
            _ => name.to_owned(),
        };
        let nodes = fabric.nodes().iter().map(|node| (name(&node.name), node.is_host(), node.tier, node.pod));
        let cables = fabric.links().iter().step_by(2).map(|link| (link.from.index(), link.to.index()));
        Self { nodes: nodes.collect(), cables: cables.collect() }
    }

    fn place(&self, name: &str) -> usize {
        self.nodes.iter().position(|node| node.0 == name).unwrap()
    }

    /// Moves the cable from `a`-`b` to `a`-`c`, in place, so that ports stay.
    fn move_cable(&mut self, a: &str, b: &str, c: &str) {
        let (a, b, c) = (self.place(a), self.place(b), self.place(c));
        let cable = self.cables.iter_mut().find(|cable| **cable == (a, b) || **cable == (b, a)).unwrap();
        *cable = (a, c);
    }

    /// Swaps the upper ends of two cables.
    fn swap(&mut self, (a, b): (&str, &str), (c, d): (&str, &str)) {
        // Via a placeholder, so that the same cable is not found twice.
        self.move_cable(a, b, a);
        self.move_cable(c, d, b);
        self.move_cable(a, a, d);
    }

    fn without_tiers(mut self) -> Self {
        for node in self.nodes.iter_mut().filter(|node| !node.1) {
            (node.2, node.3) = (1, None);
        }
        self
    }

    fn build(&self) -> Fabric {
        let mut builder = FabricBuilder::new("drawn");
        for (name, is_host, tier, pod) in &self.nodes {
            match is_host {
                true => builder.add_host(name, *tier, *pod).unwrap(),
                false => builder.add_switch(name, *tier, *pod).unwrap(),
            };
        }
        for &(a, b) in &self.cables {
            builder.connect(NodeId(a as u32), NodeId(b as u32), &LinkSpec::default()).unwrap();
        }
        builder.build().unwrap()
    }

    /// Its mistakes, as text.
    fn mistakes(&self) -> Vec<String> {
        match FatTree::find(&self.build()) {
            Ok(_) => Vec::new(),
            Err(GateError::Wiring { mistakes, .. }) => {
                mistakes.0.iter().map(WiringMistake::to_string).collect()
            }
            Err(other) => panic!("{other}"),
        }
    }
}

/// A drawing with shuffled nodes and cables and renamed switches, without tiers and pods.
fn shuffled(k: u32, routers: u32) -> impl Strategy<Value = Drawing> {
    let drawing = Drawing::fat_tree(k, routers);
    let order = Just((0..drawing.nodes.len()).collect::<Vec<_>>()).prop_shuffle();
    let cables = Just(drawing.cables.clone()).prop_shuffle();
    (order, cables, any::<u64>()).prop_map(move |(order, cables, ends)| {
        let mut at = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &node)| at[node] = place);
        let nodes = order.iter().enumerate().map(|(place, &node)| {
            let (name, is_host, ..) = &drawing.nodes[node];
            let name = if *is_host { name.clone() } else { format!("s{place}") };
            (name, *is_host, u8::from(!is_host), None)
        });
        let cables = cables
            .iter()
            .enumerate()
            .map(|(i, &(a, b))| if ends >> (i % 64) & 1 == 0 { (at[a], at[b]) } else { (at[b], at[a]) });
        Drawing { nodes: nodes.collect(), cables: cables.collect() }
    })
}

fn planned(drawing: &Drawing) -> (Fabric, GatePlan) {
    let fabric = drawing.build();
    let plan = plan_of(&fabric);
    assert_eq!(plan.check(), Ok(()));
    (fabric, plan)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_fat_tree_is_one_in_any_order_and_under_any_names(drawing in shuffled(4, 1)) {
        let (fabric, plan) = planned(&drawing);
        all_arrive(&fabric, &plan);
    }

    #[test]
    fn so_is_a_larger_one(drawing in shuffled(8, 0), pairs in prop::collection::vec((0..128_u32, 0..128_u32), 8)) {
        let (fabric, plan) = planned(&drawing);
        for (source, destination) in pairs {
            arrives(&fabric, &plan, HostId(source), HostId(destination));
        }
    }

    #[test]
    fn two_swapped_cables_are_two_mistakes_whatever_the_order(
        mut drawing in shuffled(6, 0),
        one in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
    ) {
        let switches: Vec<usize> =
            (0..drawing.cables.len()).filter(|&i| !drawing.nodes[drawing.cables[i].0].1 && !drawing.nodes[drawing.cables[i].1].1).collect();
        let (one, other) = (switches[one.index(switches.len())], switches[other.index(switches.len())]);
        let ((a, b), (c, d)) = (drawing.cables[one], drawing.cables[other]);
        let joined = |x, y| drawing.cables.contains(&(x, y)) || drawing.cables.contains(&(y, x));
        prop_assume!([a, b].iter().all(|end| *end != c && *end != d) && !joined(a, d) && !joined(c, b));
        drawing.cables[one] = (a, d);
        drawing.cables[other] = (c, b);
        // A cable within a layer: both ends lack the right one.
        let named = drawing.mistakes();
        prop_assert!((2..=4).contains(&named.len()), "{named:?}");
    }

    #[test]
    fn no_fabric_makes_a_search_panic(fabric in crate::common::any_fabric()) {
        if let Ok(tree) = FatTree::find(&fabric) {
            prop_assert_eq!(tree.pods().len(), tree.k() as usize);
        }
        let _ = GatePlan::of(&fabric, &Numbering::default());
    }
}

#[test]
fn strided_cores_are_a_fat_tree_too() {
    // As drawn in some papers: aggregation i of a pod goes to cores i, i + k/2, and so on.
    for k in [4_usize, 6, 8] {
        let mut drawing = Drawing::fat_tree(k as u32, 0);
        let half = k / 2;
        let first = drawing.place("cs1");
        for cable in drawing.cables.iter_mut().filter(|cable| cable.1 >= first) {
            let core = cable.1 - first;
            cable.1 = first + core % half * half + core / half;
        }
        let (fabric, plan) = planned(&drawing);
        assert_eq!(arrives(&fabric, &plan, HostId(0), HostId(fabric.host_count() as u32 - 1)), half * half);
    }
}

#[test]
fn what_a_file_says_is_a_fat_tree_without_its_tiers() {
    let fabric = paper();
    let text = write::toml(&fabric);
    // Only the hosts are known: a core is as near to a host as an edge.
    let kept = |line: &&str| !line.starts_with("tier") && !line.starts_with("pod");
    let text: String = text.lines().filter(kept).map(|line| format!("{line}\n")).collect();
    let read = read::toml(&text, "plain", &LinkSpec::default()).unwrap();
    assert_eq!(read.node(read.find("c0").unwrap()).tier, 1);
    let plan = plan_of(&read);
    let own = plan_of(&fabric);
    assert!(plan.switches().eq(own.switches()), "the same gates");
}

#[test]
fn swapped_cables_are_named_by_switch_port_and_what_was_expected() {
    let mut drawing = Drawing::fat_tree(4, 0);
    drawing.swap(("as3", "cs1"), ("as4", "cs4"));
    let expected = ["as3-eth2 goes to cs4, expected cs1", "as4-eth3 goes to cs1, expected cs4"];
    assert_eq!(drawing.mistakes(), expected);
    assert_eq!(drawing.clone().without_tiers().mistakes(), expected);
    let error = GatePlan::of(&drawing.build(), &Numbering::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the fat-tree (k = 4) is wired wrongly: as3-eth2 goes to cs4, expected cs1; as4-eth3 goes to cs1, expected cs4"
    );

    let mut drawing = Drawing::fat_tree(4, 0);
    drawing.swap(("es1", "as2"), ("es3", "as3"));
    let expected = ["es1-eth3 goes to as3, expected as2", "es3-eth2 goes to as2, expected as3"];
    assert_eq!(drawing.mistakes(), expected);
    assert_eq!(drawing.without_tiers().mistakes(), expected);
}

#[test]
fn cables_that_are_missing_too_many_or_within_a_layer_are_named() {
    let cable = |drawing: &Drawing, a, b| (drawing.place(a), drawing.place(b));
    let mut drawing = Drawing::fat_tree(4, 0);
    let missing = cable(&drawing, "as3", "cs2");
    drawing.cables.retain(|cable| *cable != missing);
    assert_eq!(drawing.mistakes(), ["as3 has no link to cs2"]);

    let mut drawing = Drawing::fat_tree(4, 0);
    let (one, two, three) =
        (cable(&drawing, "es1", "as1"), cable(&drawing, "es5", "es6"), cable(&drawing, "cs1", "cs4"));
    drawing.cables.extend([one, two, three]);
    let expected = [
        "es1-eth4 goes to as1, expected no link",
        "es5-eth4 goes to es6, expected no link",
        "es6-eth4 goes to es5, expected no link",
        "cs1-eth4 goes to cs4, expected no link",
    ];
    assert_eq!(drawing.mistakes(), expected);

    let mut drawing = Drawing::fat_tree(4, 0);
    drawing.move_cable("es2", "as1", "cs4");
    assert_eq!(drawing.mistakes(), ["es2-eth2 goes to cs4, expected as1"]);
}

#[test]
fn a_message_names_twelve_mistakes_and_counts_the_others() {
    let mut drawing = Drawing::fat_tree(8, 0);
    for pod in 1..=8 {
        let (first, second) = (format!("as{}", 4 * pod - 3), format!("as{}", 4 * pod - 2));
        drawing.swap((&first, "cs1"), (&second, "cs5"));
    }
    // All pods alike: another order of cores, which is valid.
    assert_eq!(drawing.mistakes(), [""; 0]);
    let mut drawing = Drawing::fat_tree(8, 0);
    for pod in 1..=8 {
        let ends = [format!("as{}", 4 * pod - 3), format!("as{}", 4 * pod - 2)];
        drawing.swap((&ends[0], &format!("cs{}", 1 + pod % 4)), (&ends[1], &format!("cs{}", 5 + pod % 3)));
    }
    let named = drawing.mistakes();
    assert_eq!(named.len(), 16, "{named:?}");
    let text = FatTree::find(&drawing.build()).unwrap_err().to_string();
    assert!(text.ends_with("; and 4 more"), "{text}");
    assert_eq!(text.matches(" goes to ").count(), 12);
}

#[test]
fn what_is_no_fat_tree_is_refused_with_the_reason() {
    let link = LinkSpec::default();
    let refused = |fabric: &Fabric| GatePlan::of(fabric, &Numbering::default()).unwrap_err();
    let spine_leaf = build::spine_leaf(4, 4, 4, &link, &link).unwrap();
    assert_eq!(
        refused(&spine_leaf).to_string(),
        "this is not a fat-tree: it has 8 switches, and a k-ary fat-tree has 5k²/4 of them, for even k: 5 for k = 2, 20 for k = 4"
    );
    let ring = build::ring(20, 1, &link, &link).unwrap();
    let error = refused(&ring);
    assert!(matches!(&error, GateError::Cables { k: 4, cables: 32, .. }), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("this is not a fat-tree: for k = 4, "), "{text}");
    let one = build::mesh(2, 1, &link, &link).unwrap();
    assert!(matches!(refused(&one), GateError::Switches { switches: 2, below: 2 }));
}

#[test]
fn hosts_where_a_fat_tree_has_none_are_refused() {
    let refused =
        |drawing: &Drawing| GatePlan::of(&drawing.build(), &Numbering::default()).unwrap_err().to_string();
    let hang = |host: &str, switches: &[&str]| {
        let mut drawing = Drawing::fat_tree(4, 0);
        drawing.nodes.push((host.to_owned(), true, 0, None));
        let place = drawing.nodes.len() - 1;
        let cables = switches.iter().map(|switch| (place, drawing.place(switch))).collect::<Vec<_>>();
        drawing.cables.extend(cables);
        drawing
    };
    assert_eq!(
        refused(&hang("x", &["as3"])),
        "`x` is attached to `as3`, an aggregation switch of the fat-tree: expected servers on edge switches, external \
         routers on cores"
    );
    assert_eq!(
        refused(&hang("x", &["es2"])),
        "`es2` has 3 servers: an edge switch of a fat-tree (k = 4) has at most 2"
    );
    let mut twice = Drawing::fat_tree(4, 0);
    let moved = twice.place("h2");
    twice.cables.iter_mut().filter(|cable| cable.0 == moved).for_each(|cable| cable.0 = 0);
    let edge = twice.place("es4");
    twice.cables.push((moved, edge));
    assert_eq!(
        refused(&twice),
        "server `h0` has 2 links to switches: expected one, since a gate plan has one gate per server"
    );
    let both = refused(&hang("x", &["cs1", "es2"]));
    assert!(both.starts_with("server `x` has 2 links"), "{both}");
}
