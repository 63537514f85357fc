//! Fabrics from files and back: the meaning of the formats, errors with their positions, and lossless writing.

use crate::common::any_fabric;
use proptest::prelude::*;
use weft_fabric::{
    ClassSpec, Fabric, FabricError, Limit, LinkSpec, Overhead, Role, Scheduler, Shape, build, read, write,
};
use weft_units::{Duration, LinkId, Rate};

const JSON: &str = include_str!("../data/networkx_graph.json");
const GRAPHML: &str = include_str!("../data/networkx_graph.graphml");
const TOML: &str = include_str!("../data/office.toml");

fn parse(path: &str, text: &str) -> Result<Fabric, read::ReadError> {
    read::file(path, text.as_bytes(), &LinkSpec::default())
}

fn link(fabric: &Fabric, text: &str) -> weft_fabric::Link {
    fabric.link(fabric.link_named(text).unwrap()).clone()
}

#[test]
fn our_own_format_says_everything() {
    let fabric = parse("office.toml", TOML).unwrap();
    assert_eq!((fabric.name(), fabric.host_count(), fabric.switch_count()), ("office", 2, 1));
    assert_eq!(fabric.node(fabric.find("s0").unwrap()).pod, Some(7));
    let first = link(&fabric, "h-0-s0");
    assert_eq!((first.rate, first.delay), (Rate::from_gbps(1), Duration::from_us(5)));
    assert_eq!(
        (first.queue.limit, first.queue.ecn_threshold),
        (Limit::Bytes(150_000), Some(Limit::Bytes(30_000)))
    );
    let (forth, back) = (link(&fabric, "s0-h1"), link(&fabric, "h1-s0"));
    assert_eq!(forth.rate, Rate::from_bps(100_000_000));
    assert_eq!(back.rate, Rate::from_bps(20_000_000));
    assert_eq!((forth.overhead, back.overhead), (Overhead::Ppp, Overhead::Ppp));
    assert_eq!(back.queue.classes, [ClassSpec { weight: 4 }, ClassSpec { weight: 1 }]);
    assert_eq!((back.queue.scheduler, back.queue.ecn_threshold), (Scheduler::Drr, None));
}

#[test]
fn an_unknown_link_is_explained_by_its_unknown_node() {
    let fabric = parse("office.toml", TOML).unwrap();
    for (text, message) in [
        ("h1-s9", "there is no node `s9`; did you mean `s0`?"),
        ("warehouse - s0", "there is no node `warehouse`"),
        ("h-9-s0", "there is no node `h-9`; did you mean `h-0`?"),
        ("office-office", "there is no node `office`"),
        ("h1-h-0", "there is no link between `h1` and `h-0`"),
        ("s0", "`s0` does not name a link: write two nodes with a `-` between them, such as \"e0-a1\""),
        ("h1-", "`h1-` does not name a link"),
        ("h1-s0-h1", "`h1-s0-h1` does not name a link"),
        ("office-in-the-attic", "`office-in-the-attic` does not name a link"),
    ] {
        let said = fabric.link_named(text).unwrap_err().to_string();
        assert!(said.starts_with(message), "{said}");
        assert_eq!(said.contains("did you mean"), message.contains("did you mean"), "{said}");
    }
}

#[test]
fn what_networkx_writes_is_read() {
    for (path, text) in [
        ("a.json", JSON.to_owned()),
        ("links.json", JSON.replace("\"edges\"", "\"links\"")),
        ("a.graphml", GRAPHML.to_owned()),
    ] {
        let fabric = parse(path, &text).unwrap();
        assert_eq!((fabric.name(), fabric.host_count(), fabric.switch_count()), ("office", 2, 1), "{path}");
        let first = link(&fabric, "h0-1");
        assert_eq!((first.rate, first.delay), (Rate::from_gbps(1), Duration::from_us(5)), "{path}");
        assert_eq!(fabric.link(LinkId(2)).rate, LinkSpec::default().rate, "the caller's default");
        assert_eq!(fabric.shape(), Shape::Custom);
    }
    let json = parse("a.json", JSON).unwrap();
    assert_eq!(link(&json, "1-2,0").queue.classes.len(), 2);
    let graphml = parse("a.graphml", GRAPHML).unwrap();
    assert!(graphml.link(LinkId(3)).up && !graphml.link(LinkId(4)).up && !graphml.link(LinkId(5)).up);
}

#[test]
fn in_a_directed_graph_the_ways_may_differ() {
    let text = r#"{"directed": true, "nodes": [{"id": "a"}, {"id": "b"}], "links": [
        {"source": "a", "target": "b", "rate": "1 Gbps"}, {"source": "b", "target": "a", "rate": "2 Gbps"}]}"#;
    let fabric = parse("x.json", text).unwrap();
    assert_eq!(fabric.cable_count(), 1);
    assert_eq!(
        (link(&fabric, "a-b").rate, link(&fabric, "b-a").rate),
        (Rate::from_gbps(1), Rate::from_gbps(2))
    );
    let text = r#"<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/>
        <edge source="a" target="b"/><edge source="b" target="a"/></graph></graphml>"#;
    assert_eq!(parse("x.graphml", text).unwrap().cable_count(), 1);
}

#[test]
fn an_undirected_edge_may_have_attributes_of_its_way_back() {
    let json = r#"{"nodes": [{"id": "a"}, {"id": "b"}], "edges": [
        {"source": "a", "target": "b", "rate": "1 Gbps", "rate_back": "2 Gbps", "queue_back": "9 packets"}]}"#;
    let graphml = r#"<graphml><key id="r" attr.name="rate"/><key id="b" attr.name="rate_back"/>
        <key id="q" attr.name="queue_back"/><graph edgedefault="undirected"><node id="a"/><node id="b"/>
        <edge source="a" target="b"><data key="r">1 Gbps</data><data key="b">2 Gbps</data>
        <data key="q">{"limit": "9 packets"}</data></edge></graph></graphml>"#;
    for (path, text) in [("x.json", json), ("x.graphml", graphml)] {
        let fabric = parse(path, text).unwrap();
        let (forth, back) = (link(&fabric, "a-b"), link(&fabric, "b-a"));
        assert_eq!((forth.rate, back.rate), (Rate::from_gbps(1), Rate::from_gbps(2)), "{path}");
        assert_eq!((back.queue.limit, back.delay), (Limit::Packets(9), forth.delay), "{path}");
        assert_ne!(forth.queue.limit, Limit::Packets(9), "{path}");
    }
}

#[test]
fn a_default_for_all_elements_counts_where_it_means_something() {
    let text = |name: &str| {
        format!(
            "<graphml><key id=\"r\" attr.name=\"{name}\"><default>1 Gbps</default></key><graph><node id=\"a\"/>\
             <node id=\"b\"/><edge source=\"a\" target=\"b\"/></graph></graphml>"
        )
    };
    assert_eq!(link(&parse("x.graphml", &text("rate")).unwrap(), "a-b").rate, Rate::from_gbps(1));
    let error = parse("x.graphml", &text("bandwidth")).unwrap_err().to_string();
    assert!(error.contains("`bandwidth`"), "{error}");
}

#[test]
fn attributes_by_which_other_programs_draw_are_left_alone() {
    let text = r#"<graphml><key id="d0" for="node" yfiles.type="nodegraphics"/><key id="d1" attr.name="Latitude"/>
        <key id="d2" attr.name="label"/><graph edgedefault="undirected"><node id="a"><data key="d0"/>
        <data key="d1">52.5</data></node><node id="b"><data key="d2">Berlin</data></node>
        <edge source="a" target="b" id="e0"><data key="d2">fast</data></edge></graph></graphml>"#;
    assert_eq!(parse("x.graphml", text).unwrap().cable_count(), 1);
}

#[test]
fn a_name_that_xml_cannot_hold_is_refused_in_graphml_alone() {
    let mut builder = weft_fabric::FabricBuilder::new("any");
    let ends = [builder.add_host("a\u{ffff}", 0, None), builder.add_host("b", 0, None)];
    builder.connect(ends[0].clone().unwrap(), ends[1].clone().unwrap(), &LinkSpec::default()).unwrap();
    let fabric = builder.build().unwrap();
    assert!(write::graphml(&fabric).unwrap_err().contains("use TOML or JSON"));
    assert!(write::file("x.dot", &fabric).unwrap_err().contains(".toml, .graphml"));
    assert!(parse("x.json", &write::node_link(&fabric)).is_ok());
}

#[test]
fn without_roles_the_nodes_with_one_cable_are_hosts_and_tiers_follow() {
    let text = r#"{"nodes": [{"id": 0}, {"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}], "edges": [
        {"source": 0, "target": 1}, {"source": 1, "target": 2}, {"source": 2, "target": 3},
        {"source": 3, "target": 4}]}"#;
    let fabric = parse("line.json", text).unwrap();
    assert_eq!(fabric.name(), "line", "the file names it");
    let found: Vec<_> = fabric.nodes().iter().map(|node| (node.role, node.tier)).collect();
    let (host, switch) = (Role::Host, Role::Switch);
    assert_eq!(found, [(host, 0), (switch, 1), (switch, 2), (switch, 1), (host, 0)]);
}

#[test]
fn what_is_wrong_is_refused_at_its_place() {
    let edge = |attributes: &str| {
        format!(
            "{{\"nodes\": [{{\"id\": \"a\"}}, {{\"id\": \"b\"}}],\n \"edges\": [\n  {{\"source\": \"a\", {attributes}}}]}}"
        )
    };
    let tied = |attributes: &str| edge(&format!("\"target\": \"b\", {attributes}"));
    let node = |attributes: &str| format!("{{\"nodes\": [\n{{{attributes}}}], \"edges\": []}}");
    let xml = |inner: &str| {
        format!(
            "<graphml>\n<key id='r' attr.name='rate'/><key id='u' attr.name='up'/><graph>\n{inner}</graph></graphml>"
        )
    };
    let ends = "<node id='a'/><node id='b'/>\n";
    let data = |key: &str, value: &str| {
        xml(&format!("{ends}<edge source='a' target='b'><data key='{key}'>{value}</data></edge>"))
    };
    // With further keys of the whole graph.
    let graph = |text: String, keys: &str| text.replace("{\"nodes\"", &format!("{{{keys}, \"nodes\""));
    let cases = [
        ("x.toml", TOML.replace("100 Mbps", "100 Mbit"), "line 28, column 8: `100 Mbit` is not a rate"),
        (
            "x.toml",
            TOML.replace("\"100 Mbps\"", "100"),
            "line 28, column 8: invalid type: integer `100`, expected a rate",
        ),
        ("x.toml", TOML.replace("100 Mbps", "-1 Gbps"), "it is negative"),
        (
            "x.toml",
            TOML.replace("100 Mbps", "0 Gbps"),
            "line 26, column 1: link 2 (`s0` - `h1`): link `s0` -> `h1` has a rate of 0 bps",
        ),
        (
            "x.toml",
            TOML.replace("rate_back", "rate_bck"),
            "line 29, column 1: unknown key `rate_bck`: did you mean `rate_back`?",
        ),
        (
            "x.toml",
            TOML.replace("\"switch\"", "\"swich\""),
            "line 19, column 8: unknown variant `swich`, expected `host` or `switch`",
        ),
        ("x.toml", TOML.replace("\"leaf\"", "\"laef\""), "line 20, column 8: `laef` is not a tier"),
        (
            "x.toml",
            TOML.replace("\"s0-h1\"", "\"s0-h2\""),
            "line 26, column 1: link 2: there is no node `h2`; did you mean `h1`?",
        ),
        ("x.toml", TOML.replace("\"s0-h1\"", "3"), "expected the two ends of a link"),
        (
            "x.toml",
            TOML.replace("name = \"h1\"", "name = \"h-0\"").replace("s0-h1", "s0-h-0"),
            "line 13, column 1: node `h-0`: there are two nodes named `h-0`",
        ),
        ("x.toml", TOML.replace("[\"h-0\", \"s0\"]", "[\"s0\", \"s0\"]"), "a link connects `s0` to itself"),
        ("x.toml", TOML.replace("[\"h-0\", \"s0\"]", "[\"h-0\", \"h-0\"]"), "itself"),
        (
            "x.toml",
            TOML.replace("[[link]]\nbetween = \"s0-h1\"", "[spare]"),
            "unknown key `spare`, expected one of",
        ),
        ("x.toml", TOML.replace("weights = [4, 1]", "weights = [4, 0]"), "class 1 of the queue"),
        ("x.toml", TOML.replace("150 kB", "0 packets"), "less than one frame"),
        ("x.toml", "name = ".into(), "line 1, column 8"),
        ("x.toml", String::new(), "the fabric has no hosts"),
        (
            "x.json",
            edge("\"target\": \"b\"}, {\"source\": \"a\", \"target\": \"b\""),
            "an edge given twice is two links",
        ),
        ("x.json", edge("\"target\": \"c\""), "line 3, column 3: edge 1 (`a` - `c`): there is no node `c`"),
        (
            "x.json",
            tied("\"rate\": 10"),
            "line 3, column 3: edge 1: `rate` is invalid: `10` is not a rate such as \"10 Gbps\" or \"100 Mbps\": the unit is missing",
        ),
        ("x.json", tied("\"delay\": \"5 Gbps\""), "`5 Gbps` is not a time"),
        ("x.json", tied("\"overhead\": \"atm\""), "`atm` is none of ethernet, ppp, none"),
        ("x.json", tied("\"queue\": {\"size\": 3}"), "`queue` is invalid: unknown key `size`"),
        (
            "x.json",
            tied("\"bandwidth\": \"1 Gbps\""),
            "line 3, column 3: edge 1: unknown attribute `bandwidth`: did you mean `rate`?",
        ),
        ("x.json", tied("\"rate_bck\": 1"), "`rate_bck`: did you mean `rate_back`?"),
        ("x.json", tied("\"role\": 1"), "unknown attribute `role` of links: expected one of rate, delay"),
        (
            "x.json",
            graph(tied("\"rate_back\": \"1 Gbps\""), "\"directed\": true"),
            "edge 1: `rate_back` is for undirected edges",
        ),
        (
            "x.json",
            graph(edge("\"target\": \"b\""), "\"graph\": {\"rate\": \"1 Gbps\"}"),
            "`rate` of the whole graph is not supported",
        ),
        (
            "x.json",
            graph(edge("\"target\": \"b\""), "\"graph\": {\"bandwidth\": 1}"),
            "`bandwidth` of the whole graph is not supported",
        ),
        ("x.json", tied("\"rate_back\": 10"), "`rate_back` is invalid: `10` is not a rate"),
        ("x.json", tied("\"up\": 3"), "`3` is neither true nor false"),
        ("x.json", edge("\"target\": null"), "`null` names no node"),
        ("x.json", edge("\"rate\": \"1 Gbps\""), "`target` is missing"),
        ("x.json", edge("\"target\": \"a\""), "connects `a` to itself"),
        ("x.json", graph(edge("\"target\": \"b\""), "\"directed\": true"), "has no reverse edge"),
        (
            "x.json",
            node("\"id\": \"a\", \"role\": \"router\""),
            "line 2, column 1: node 1: `role` is invalid: `router` is neither host nor switch",
        ),
        ("x.json", node("\"id\": \"a\", \"role\": \"host\", \"tier\": 2"), "hosts have tier 0"),
        ("x.json", node("\"role\": \"host\""), "`id` is missing"),
        ("x.json", node("\"id\": \"\", \"role\": \"host\""), "is not a valid node name"),
        ("x.json", "{\"nodes\": [], \"edges\": [],\n \"links\": []}".into(), "both `edges` and `links`"),
        ("x.json", "{\"nodes\": []}".into(), "`edges` or `links`"),
        ("x.json", "{\"edges\": []}".into(), "`nodes`"),
        ("x.json", "{\n\"nodes\": [}".into(), "line 2, column 11: expected value"),
        ("x.json", "[]".into(), "line 1"),
        ("x.graphml", data("r", "1 Gbs"), "line 4, column 1: edge (`a` - `b`): `rate` is invalid: `1 Gbs`"),
        ("x.graphml", data("u", "maybe"), "neither true nor false"),
        ("x.graphml", data("q", "1"), "no `key` element declares the attribute `q`"),
        (
            "x.graphml",
            data("s", "1").replace("<graph>", "<key id='s' for='edge' attr.name='LinkSpeed'/><graph>"),
            "line 4, column 1: edge (`a` - `b`): `LinkSpeed` is invalid: `LinkSpeedUnits` is ``; expected K, M, G or T",
        ),
        ("x.graphml", xml(&format!("{ends}<edge source='a'/>")), "`target` is missing"),
        ("x.graphml", xml(&format!("{ends}<hyperedge/>")), "line 4, column 1: element `hyperedge`"),
        ("x.graphml", xml("<node/>"), "`id` is missing"),
        ("x.graphml", xml("<node id='a'/><node id='a'/>"), "two nodes named `a`"),
        ("x.graphml", xml("<node id='a'><graph/></node>"), "nested graphs"),
        ("x.graphml", xml("<node id='a'>"), "line 3, column 14: expected 'node' tag, not 'graph'"),
        ("x.graphml", "<graphml/>".into(), "the element `graph` is missing"),
        ("x.graphml", "<gexf/>".into(), "expected the root element"),
        ("x.graphml", "<!DOCTYPE a [<!ENTITY b 'c'>]><graphml/>".into(), "line 1"),
        (
            "x.csv",
            String::new(),
            "`x.csv` is not a fabric file: its name must end in .toml, .graphml, .xml, .json, .topo, .txt or .yaml",
        ),
    ];
    for (path, text, expected) in cases {
        let error = parse(path, &text).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}\nexpected: {expected}\n{text}");
    }
    let error = read::file("x.toml", b"name = \"a\"\n# \xff", &LinkSpec::default()).unwrap_err();
    assert_eq!(error.to_string(), "line 2, column 3: the file is not UTF-8 text");
}

#[test]
fn who_looks_at_switches_alone_needs_no_hosts() {
    let text = "[[node]]\nname = \"s1\"\nrole = \"switch\"\n[[node]]\nname = \"s2\"\nrole = \"switch\"\n\
                [[link]]\nbetween = [\"s1\", \"s2\"]\nrate = \"1 Gbps\"\n";
    assert!(matches!(parse("x.toml", text).unwrap_err().why, read::ErrorKind::Fabric(FabricError::NoHosts)));
    let network = |text: &str| read::network("x.toml", text.as_bytes(), &LinkSpec::default());
    let two = network(text).unwrap();
    assert_eq!((two.host_count(), two.switch_count(), two.links().len()), (0, 2, 2));
    for fabric in [two, network("").unwrap()] {
        assert_eq!(weft_fabric::layout::layout(&fabric).points.len(), fabric.nodes().len());
    }
}

#[test]
fn hosts_that_are_apart_are_named() {
    let text = TOML.replace("overhead = \"ppp\"", "up = false");
    let error = parse("x.toml", &text).unwrap_err();
    let apart = FabricError::Disconnected { a: "h-0".into(), b: "h1".into(), by_failure: true };
    assert_eq!(error.why, read::ErrorKind::Fabric(apart));
    assert_eq!(
        error.to_string(),
        "there is no path between hosts `h-0` and `h1`: failed links disconnect them"
    );
}

#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    for (path, open) in [
        ("x.json", "["),
        ("x.json", "{\"graph\":"),
        ("x.toml", "a=["),
        ("x.toml", "a.b={a="),
        ("x.graphml", "<a>"),
    ] {
        assert!(parse(path, &open.repeat(100_000)).is_err());
    }
    let nested = format!("<graphml>{}{}</graphml>", "<a>".repeat(100_000), "</a>".repeat(100_000));
    assert!(parse("x.graphml", &nested).is_err());
}

/// Asserts that a fabric written in any format is read back as the same fabric.
fn assert_survives(fabric: &Fabric) {
    for path in ["x.json", "x.toml", "x.graphml"] {
        let read = parse(path, &write::file(path, fabric).unwrap()).unwrap();
        assert_eq!(
            (read.name(), read.nodes(), read.links()),
            (fabric.name(), fabric.nodes(), fabric.links())
        );
    }
}

/// A text with one part replaced.
fn damaged(text: &'static str) -> impl Strategy<Value = String> {
    (0..text.len(), 0..12_usize, "\\PC{0,6}").prop_map(move |(at, length, instead)| {
        let mut bytes = text.as_bytes().to_vec();
        let end = (at + length).min(bytes.len());
        bytes.splice(at..end, instead.bytes());
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(fabric in any_fabric()) {
        assert_survives(&fabric);
    }

    #[test]
    fn names_of_any_letters_survive(name in "[^\\p{Cc}]{0,4}[^\\s\\p{Cc}][^\\p{Cc}]{0,4}") {
        // These two are not valid characters in XML.
        prop_assume!(!name.contains(['\u{fffe}', '\u{ffff}']));
        prop_assume!(name != "other" && name != "switch");
        let mut builder = weft_fabric::FabricBuilder::new("any");
        let ends = [builder.add_host(name.as_str(), 0, None), builder.add_host("other", 0, None)];
        let switch = builder.add_switch("switch", 1, None).unwrap();
        for end in ends {
            builder.connect(end.unwrap(), switch, &LinkSpec::default()).unwrap();
        }
        let fabric = builder.build().unwrap();
        assert_survives(&fabric);
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for path in ["x.json", "x.toml", "x.graphml", "x.topo", "x.txt", "x.yaml"] {
            let _ = read::file(path, &bytes, &LinkSpec::default());
        }
    }

    #[test]
    fn no_damage_makes_a_reader_panic(json in damaged(JSON), toml in damaged(TOML), graphml in damaged(GRAPHML)) {
        for (path, text) in [("x.json", json), ("x.toml", toml), ("x.graphml", graphml)] {
            if let Err(error) = parse(path, &text) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}

#[test]
fn a_built_fabric_is_read_back() {
    let spec = LinkSpec::default();
    let fabric = build::fat_tree(4, &spec, &spec).unwrap();
    assert_survives(&fabric);
    let text = write::toml(&fabric);
    assert!(
        text.contains("\n[[link]]\nbetween = [\"h0\", \"e0\"]\n\n[[link]]"),
        "defaults are said once:\n{text}"
    );
}
