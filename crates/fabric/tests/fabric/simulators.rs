//! Fabrics in the formats of other simulators: htsim, conweave-ns3 and SimAI.

use proptest::prelude::*;
use weft_fabric::{Fabric, Limit, LinkSpec, Role, build, read};
use weft_units::{Duration, Rate};

fn parse(path: &str, text: &str) -> Result<Fabric, read::ReadError> {
    read::file(path, text.as_bytes(), &LinkSpec::default())
}

/// A file of htsim with `tiers` sections, each with the given lines.
fn topo(head: &str, tiers: &[&str]) -> String {
    let sections = tiers.iter().enumerate();
    let sections = sections.map(|(tier, lines)| {
        format!(
            "\nTier {tier}\nDownlink_speed_Gbps 100\nDownlink_Latency_ns 1000\n{}\n",
            lines.replace(", ", "\n")
        )
    });
    format!("# A fabric\n{head}\n{}", sections.collect::<String>()).replace("; ", "\n")
}

const FAT_TREE: &[&str] = &["Radix_Down 2, Radix_Up 2", "Radix_Down 2, Radix_Up 2", "Radix_Down 4"];

fn rated(gbps: u64) -> LinkSpec {
    LinkSpec::new(Rate::from_gbps(gbps), Duration::from_us(1))
}

/// Each link as the names of its ends and its properties, sorted.
fn links(fabric: &Fabric) -> Vec<(String, String, LinkSpec)> {
    let name = |node| fabric.node(node).name.clone();
    let mut links: Vec<_> =
        fabric.links().iter().map(|link| (name(link.from), name(link.to), link.spec())).collect();
    links.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    links
}

#[test]
fn a_fat_tree_of_htsim_has_the_nodes_and_pods_of_ours() {
    let read = parse("tree.topo", &topo("Nodes 16; Tiers 3; Podsize 4", FAT_TREE)).unwrap();
    let ours = build::fat_tree(4, &rated(100), &rated(100)).unwrap();
    assert_eq!((read.name(), read.nodes()), ("tree", ours.nodes()));
    // The cores of an aggregation switch are numbered in another way: every second one, not neighbours.
    let cores = |fabric: &Fabric, name: &str| {
        let ports =
            fabric.ports(fabric.find(name).unwrap()).iter().map(|&id| fabric.node(fabric.link(id).to));
        ports.filter(|node| node.tier == 3).map(|node| node.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        (cores(&ours, "a1"), cores(&read, "a1")),
        (["c2", "c3"].map(String::from).into(), ["c1", "c3"].map(String::from).into())
    );
    let below = |fabric| {
        links(fabric).into_iter().filter(|link| !link.0.starts_with('c') && !link.1.starts_with('c'))
    };
    assert!(below(&read).eq(below(&ours)));
    assert_eq!(read.cable_count(), ours.cable_count());
}

#[test]
fn two_tiers_of_htsim_are_leaves_and_spines() {
    let tiers = ["Radix_Down 8, Radix_Up 2, Oversubscribed 4", "Radix_Down 4"];
    let read = parse("x.topo", &topo("nodes 32; TIERS 2; Podsize 32", &tiers)).unwrap();
    let ours = build::spine_leaf(2, 4, 8, &rated(100), &rated(100)).unwrap();
    assert_eq!((read.nodes(), links(&read)), (ours.nodes(), links(&ours)));
}

#[test]
fn bundles_queues_and_latencies_of_htsim_reach_the_links() {
    let tiers = [
        "Radix_Down 2, Radix_Up 2, Queue_Up 5000, Queue_Down 4000, Switch_Latency_ns 500",
        "Radix_Down 2, Radix_Up 4, Queue_Up 7000, Queue_Down 6000, Switch_Latency_ns 300",
        "Radix_Down 4, Bundle 2, Queue_Down 8000",
    ];
    let read = parse("x.topo", &topo("Nodes 8; Tiers 3; Podsize 4", &tiers)).unwrap();
    assert_eq!((read.host_count(), read.switch_count(), read.cable_count()), (8, 12, 8 + 8 + 16));
    let default = LinkSpec::default().queue.limit;
    for (name, limit, delay) in [
        ("h0-e0", default, 1_500),
        ("e0-h0", Limit::Bytes(4_000), 1_000),
        ("e0-a0", Limit::Bytes(5_000), 1_300),
        ("a0-e0", Limit::Bytes(6_000), 1_500),
        ("a0-c0", Limit::Bytes(7_000), 1_000),
        ("c0-a0", Limit::Bytes(8_000), 1_300),
    ] {
        let link = read.link(read.link_named(name).unwrap());
        assert_eq!((link.queue.limit, link.delay), (limit, Duration::from_ns(delay)), "{name}");
    }
}

#[test]
fn contradictions_of_htsim_files_are_refused_at_their_line() {
    let three = "Nodes 16; Tiers 3; Podsize 4";
    let with = |place: usize, lines: &'static str| {
        let mut tiers = FAT_TREE.to_vec();
        tiers[place] = lines;
        topo(three, &tiers)
    };
    for (text, expected) in [
        (String::new(), "Nodes is missing"),
        (topo("Tiers 3; Podsize 4", FAT_TREE), "Nodes is missing"),
        (
            topo("Nodes 0; Tiers 3; Podsize 4", FAT_TREE),
            "line 2, column 1: `Nodes` is 0; expected at least 1",
        ),
        (topo("Nodes 16; Tiers 4; Podsize 4", FAT_TREE), "line 3, column 1: `Tiers` is 4; expected 2 or 3"),
        (
            topo("Nodes 16; Tiers 3; Podsize 5", FAT_TREE),
            "line 2, column 1: `Nodes` is 16, which is not a multiple of `Podsize`, 5",
        ),
        (with(2, "Radix_Down 4, Radix_Up 2"), "the top tier has no uplinks; remove `Radix_Up`"),
        (
            topo("Nodes 16; Tiers 2; Podsize 4", &["Radix_Down 2, Radix_Up 2", "Radix_Down 8"]),
            "with two tiers, all 16 hosts are in one pod",
        ),
        (topo(three, &FAT_TREE[..2]), "there is no section `Tier 2`, but there are 3 tiers"),
        (with(0, "Radix_Down 2"), "tier 0: Radix_Up is missing"),
        (with(0, "Radix_Down 2, Radix_Up 2, Bundle 2"), "`Bundle` of tier 0 must be 1"),
        (
            with(0, "Radix_Down 3, Radix_Up 2"),
            "`Podsize` is 4, which is not a multiple of `Radix_Down` of `Tier 0`, 3",
        ),
        (
            with(0, "Radix_Down 2, Radix_Up 2, Oversubscribed 2"),
            "tier 0: `Oversubscribed` is 2, but radices and speeds give 1.0000",
        ),
        (
            with(1, "Radix_Down 3, Radix_Up 2"),
            "tier 1: `Radix_Down` is 3; expected 2: 2 switches below, with `Bundle` 1",
        ),
        (with(2, "Radix_Down 3"), "tier 2: `Radix_Down` is 3; expected 4: 4 pods, with `Bundle` 1"),
        (with(1, "Radix_Down 2, Radix_Up 2, Radix_Up 2"), "`Radix_Up` is given twice"),
        (with(1, "Radix_Down 2, Radixup 2"), "unknown key `Radixup`: did you mean `Radix_Up`?"),
        (with(1, "Radix_Down two"), "expected `Radix_Down` and a whole number up to"),
        (with(1, "Radix_Down -2"), "expected `Radix_Down` and a whole number up to"),
        (with(1, "Radix_Down 2, Tier 1, Radix_Down 2"), "`Radix_Down` is given twice"),
        (with(1, "Radix_Down 2.0"), "expected `Radix_Down` and a whole number up to"),
        (topo("Node 16; Tiers 3; Podsize 4", FAT_TREE), "unknown key `Node`: did you mean `Nodes`?"),
        (with(1, "Tier 3"), "there is no tier 3; expected 0, 1 or 2"),
        (
            topo(
                "Nodes 1099511627776; Tiers 2; Podsize 1099511627776",
                &["Radix_Down 1, Radix_Up 1", "Radix_Down 1099511627776"],
            ),
            "too many",
        ),
    ] {
        let error = parse("x.topo", &text).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}\nexpected: {expected}\n{text}");
    }
}

#[test]
fn what_htsim_skips_has_no_effect_and_is_noted() {
    let top = [
        "Radix_Down 8, Radix_Up 2, Oversubscribed 4",
        "Radix_Down 4, Radix_Up 9, Queue_Up 7",
        "Radix_Down 3",
    ];
    let head = "Author somebody; Radix_Up 3; Nodes 32 hosts; Tiers 2; Podsize 32 # all";
    let read = parse("x.topo", &topo(head, &top).replace("Tier 1\n", "tier 0\nTIER 1\n")).unwrap();
    let ours = build::spine_leaf(2, 4, 8, &rated(100), &rated(100)).unwrap();
    assert_eq!((read.nodes(), links(&read)), (ours.nodes(), links(&ours)));
    let notes = [
        "x.topo: line 2: `Author` has no effect before the first `Tier` (and 1 more line like it)",
        "x.topo: line 4: words after the number have no effect",
        "x.topo: `Tier 2` has no effect: `Tiers` is 2",
        "x.topo: `Radix_Up` of tier 1 has no effect: the top tier has no uplinks",
        "x.topo: `Queue_Up` of tier 1 has no effect: the top tier has no uplinks",
    ];
    assert_eq!(read.notes(), notes);
}

#[test]
fn lines_without_effect_are_noted_once_with_their_number() {
    let text =
        topo("Nodes 16; Tiers 3; Podsize 4 hosts", FAT_TREE).replace("Radix_Down 2", "Radix_Down 2 ports");
    let read = parse("x.topo", &format!("{}{text}", "Author somebody\n".repeat(5_000))).unwrap();
    let notes = [
        "x.topo: line 1: `Author` has no effect before the first `Tier` (and 4999 more lines like it)",
        "x.topo: line 5004: words after the number have no effect (and 2 more lines like it)",
    ];
    assert_eq!(read.notes(), notes);
}

const CONWEAVE: &str =
    "5 2 4\n3 4 \n0 3 100Gbps 1000ns 0\n1 3 100Gbps 0.001ms 0.0\n2 4 40Gbps 1us 0\n3 4 400Gbps 2us 0\n";

#[test]
fn a_topology_of_conweave_is_read() {
    let read = parse("leaf.txt", CONWEAVE).unwrap();
    let nodes: Vec<_> = read.nodes().iter().map(|node| (node.name.as_str(), node.role, node.tier)).collect();
    let (host, switch) = (Role::Host, Role::Switch);
    assert_eq!(
        nodes,
        [("h0", host, 0), ("h1", host, 0), ("h2", host, 0), ("s3", switch, 1), ("s4", switch, 1)]
    );
    for (name, gbps, us) in [("h0-s3", 100, 1), ("s3-h1", 100, 1), ("s4-h2", 40, 1), ("s4-s3", 400, 2)] {
        let link = read.link(read.link_named(name).unwrap());
        assert_eq!((link.rate, link.delay), (Rate::from_gbps(gbps), Duration::from_us(us)), "{name}");
    }
}

#[test]
fn a_topology_of_conweave_is_words_and_ends_with_its_last_link() {
    let read = parse("leaf.txt", CONWEAVE).unwrap();
    let one_line = CONWEAVE.replace('\n', " ");
    let tabs = CONWEAVE.replace(' ', "\t").replace('\n', "\r\n\r\n");
    let split = CONWEAVE
        .replace("5 2 4", "5\n2\n4")
        .replace("3 4 \n", "3\n4\n")
        .replace("100Gbps 1000ns", "\n100Gb/s\n 1000ns");
    for text in [one_line, tabs, split] {
        let other = parse("leaf.txt", &text).unwrap();
        assert_eq!(
            (other.nodes(), links(&other), other.notes()),
            (read.nodes(), links(&read), &[][..]),
            "{text}"
        );
    }
    for rest in ["\n\nFirst line: nodes, switches, links\n", "4 9 25Gbps 1us 0\n", "# 1 2 3\n"] {
        let other = parse("leaf.txt", &format!("{CONWEAVE}{rest}")).unwrap();
        assert_eq!(links(&other), links(&read));
        let line = 7 + rest.len() - rest.trim_start().len();
        assert_eq!(
            other.notes(),
            [format!("leaf.txt: not read from line {line} on: the first line says 4 links")]
        );
    }
    let bare = parse("x.txt", "\n2 0 1\n\n0 1 10.0Gbps 0.5us 0.000000\n").unwrap();
    assert_eq!((bare.host_count(), bare.links()[0].rate), (2, Rate::from_gbps(10)));
}

#[test]
fn servers_of_a_topology_of_simai_are_scale_up_domains() {
    let text = include_str!("../data/simai_rails");
    // SimAI's script gives its files names without an ending.
    let fabric = parse("rails_4g_2gps_400Gbps_H100", text).unwrap();
    assert_eq!(links(&fabric), links(&parse("rails_4g_2gps_400Gbps_H100.txt", text).unwrap()));
    let names: Vec<(&str, Role, u8)> =
        fabric.nodes().iter().map(|node| (node.name.as_str(), node.role, node.tier)).collect();
    let expected = [
        ("h0", Role::Host, 0),
        ("h1", Role::Host, 0),
        ("h2", Role::Host, 0),
        ("h3", Role::Host, 0),
        ("n4", Role::Switch, 0),
        ("n5", Role::Switch, 0),
        ("s6", Role::Switch, 1),
        ("s7", Role::Switch, 1),
        ("s8", Role::Switch, 2),
    ];
    assert_eq!(names, expected);
    assert!(fabric.has_scale_up());
    let link = |from: &str, to: &str| {
        let (from, to) = (fabric.find(from).unwrap(), fabric.find(to).unwrap());
        fabric.links().iter().find(|link| (link.from, link.to) == (from, to)).unwrap().spec()
    };
    let (inside, outside) = (link("n4", "h1"), link("s8", "s6"));
    assert_eq!((inside.rate, inside.delay), (Rate::from_gbps(2_880), Duration::from_ns(25)));
    assert_eq!(inside.queue.limit, Limit::Unlimited);
    assert_eq!((outside.rate, outside.delay), (Rate::from_gbps(400), Duration::from_ns(500)));
    assert_eq!(outside.queue, LinkSpec::default().queue);
    for (from, to, expected) in [
        (
            "9 2 2 3 10 H100",
            "9 2 2 4 10 H100",
            "line 3, column 5: `2880Gbps` is not a node; expected a number below 9",
        ),
        ("9 2 2 3 10 H100", "9 2 99 3 10 H100", "line 3, column 3: switch 4 is listed twice"),
        ("9 2 2 3 10 H100", "9 2 2 3 11 H100", "there are 10 links; the first line says 11"),
    ] {
        let error = parse("rails", &text.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}, not {expected}");
    }
    assert!(
        parse("rails", "9 2 2 3 10 11").unwrap_err().to_string().contains("rails"),
        "no topology of SimAI"
    );
}

#[test]
fn errors_of_conweave_topologies_are_refused_at_their_line() {
    for (from, to, expected) in [
        (CONWEAVE, "", "the line with the numbers of nodes, switches and links is missing"),
        (
            "5 2 4",
            "5 2",
            "line 3, column 5: `100Gbps` is not a node; expected a number below 5 (the first line has 2 of the 3 numbers)",
        ),
        ("5 2 4", "5 two 4", "line 1, column 1: `5 two 4` is not three numbers: nodes, switches, links"),
        (
            "5 2 4",
            "\u{a0}5 2 4",
            "line 1, column 1: `\\u{a0}5 2 4` is not three numbers: nodes, switches, links",
        ),
        (CONWEAVE, "\u{a0}", "line 1, column 1: `\\u{a0}` is not three numbers: nodes, switches, links"),
        (CONWEAVE, "\n\u{b}", "line 2, column 1: `\\u{b}` is not three numbers: nodes, switches, links"),
        ("5 2 4", "5 2 1 2 4 A100", "line 3, column 5: `100Gbps` is not a node; expected a number below 5"),
        (
            "5 2 4",
            "5 3 4",
            "line 3, column 5: `100Gbps` is not a node; expected a number below 5 (the second line lists 2 switches; the \
             first line says 3)",
        ),
        ("5 2 4", "5 1 4", "the second line lists 2 switches; the first line says 1"),
        ("5 2 4", "5 2 5", "line 1, column 1: there are 4 links; the first line says 5"),
        (
            "0\n3 4 400Gbps 2us 0",
            "0\n3 4",
            "there are 4 links, the last of them incomplete: 2 of 5 words; the first line says 4",
        ),
        ("5 2 4", "99999999999 2 4", "line 1, column 1: 99999999999 nodes are too many"),
        (
            "5 2 4",
            "5 99999 4",
            "line 3, column 3: switch 3 is listed twice (the second line lists 2 switches",
        ),
        ("3 4 ", "3 7", "line 2, column 3: `7` is not a node; expected a number below 5"),
        ("3 4 ", "3\u{a0}4", "line 2, column 1: `3\\u{a0}4` is not a node; expected a number below 5"),
        ("3 4 ", "3 3", "switch 3 is listed twice"),
        ("0 3 100Gbps", "0 100Gbps", "line 3, column 3: `100Gbps` is not a node; expected a number below 5"),
        ("1000ns 0\n1", "1000ns\n1", "the first link has 4 of 5 words: two nodes, rate, delay, error rate"),
        ("0 3 100Gbps", "# 0 3 100Gbps", "line 3, column 1: `#` is not a node"),
        ("1000ns 0\n1", "1000ns 0.01\n1", "line 3, column 20: the error rate is `0.01`; expected 0"),
        ("1000ns 0\n1", "1000 0\n1", "line 3, column 13: `1000` is not a time"),
        ("40Gbps", "40Gbit", "line 5, column 5: `40Gbit` is not a rate"),
        ("40Gbps", "40GBps", "line 5, column 5: `40GBps` is not a rate"),
        ("40Gbps", "0Gbps", "link 3 (`h2` - `s4`): link `h2` -> `s4` has a rate of 0 bps"),
        ("2 4 40", "4 4 40", "a link connects `s4` to itself"),
        ("0 3 100", "3 4 100", "there is no path between hosts"),
    ] {
        let error = parse("x.txt", &CONWEAVE.replace(from, to)).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}\nexpected: {expected}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_these_readers_panic(
        topo in "(Nodes [0-9]{1,3}\n|Tiers [23]\n|Podsize [0-9]{1,2}\n|Tier [0-3]\n|Radix_(Up|Down) [0-9]\n|Bundle [0-9]\n){0,14}",
        text in "([ \n\u{a0}\u{b}]{0,2}[0-9]{1,2} [0-9] [0-9]{1,2})?[ \n\u{a0}\u{b}]{1,2}([0-9] ){0,4}\n([0-9] [0-9] 1[GM]bps 1ns 0\n){0,6}",
    ) {
        let _ = parse("x.topo", &topo);
        let _ = parse("x.txt", &text);
    }
}
