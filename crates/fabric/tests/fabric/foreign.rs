//! GraphML and JSON as other programs write them: what has no effect is noted once, what may mean something else is refused.

use weft_fabric::{Fabric, LinkSpec, Role, read};
use weft_units::{Duration, Rate};

fn parse(path: &str, text: &str) -> Result<Fabric, read::ReadError> {
    read::file(path, text.as_bytes(), &LinkSpec::default())
}

/// Names of the hosts.
fn hosts(fabric: &Fabric) -> Vec<&str> {
    let hosts = fabric.nodes().iter().filter(|node| node.role == Role::Host);
    hosts.map(|node| node.name.as_str()).collect()
}

/// The ends of each cable.
fn ends(fabric: &Fabric) -> Vec<(&str, &str)> {
    let name = |node| fabric.node(node).name.as_str();
    fabric.links().iter().step_by(2).map(|link| (name(link.from), name(link.to))).collect()
}

/// GraphML of the line a - s - b, with keys and further data of nodes and edges: lists of name and value.
fn line(nodes: &[(&str, &str)], first_edge: &[(&str, &str)]) -> String {
    let keys =
        nodes.iter().chain(first_edge).map(|(name, _)| format!("<key id='{name}' attr.name='{name}'/>"));
    let data = |all: &[(&str, &str)]| {
        let data = all.iter().map(|(name, value)| format!("<data key='{name}'>{value}</data>"));
        data.collect::<String>()
    };
    format!(
        "<graphml>{}<graph edgedefault='undirected'><node id='a'>{}</node><node id='s'/><node id='b'/>\
         <edge source='a' target='s'>{}</edge><edge source='s' target='b'/></graph></graphml>",
        keys.collect::<String>(),
        data(nodes),
        data(first_edge)
    )
}

#[test]
fn descriptions_of_the_topology_zoo_change_nothing() {
    for value in ["Green Circle", "PoP", "Switch", "Router", ""] {
        let read = parse("z.graphml", &line(&[("type", value), ("label", "Aville")], &[])).unwrap();
        assert_eq!((hosts(&read), read.switch_count()), (["a", "b"].into(), 1), "{value}");
        let note = "z.graphml: these attributes of nodes have no effect: `type`";
        assert_eq!(read.notes(), if value.is_empty() { vec![] } else { vec![note.to_owned()] });
    }
    let drawn = [("Internal", "1"), ("Country", "X"), ("hyperedge", "1"), ("asn", "9"), ("geocode_id", "3")];
    let labels =
        [("LinkLabel", "&lt; 2 G"), ("LinkNote", "lit"), ("LinkType", "Fibre"), ("key", "0"), ("id", "e1")];
    assert!(parse("z.graphml", &line(&drawn, &labels)).unwrap().notes().is_empty());
}

#[test]
fn attributes_without_effect_are_noted_once_and_those_that_seem_meant_are_refused() {
    let read =
        parse("g.graphml", &line(&[("zone", "1"), ("state", "up")], &[("weight", "3"), ("LinkStatus", "x")]));
    let said = [
        "g.graphml: these attributes of links have no effect: `LinkStatus`, `weight`",
        "g.graphml: these attributes of nodes have no effect: `state`, `zone`",
    ];
    assert_eq!(read.unwrap().notes(), said);
    for (nodes, edge, expected) in [
        (vec![("type", "host")], vec![], "unknown attribute `type`: did you mean `role`?"),
        (vec![("kind", "Server")], vec![], "unknown attribute `kind`: did you mean `role`?"),
        (vec![("layer", "core")], vec![], "unknown attribute `layer`: did you mean `tier`?"),
        (vec![("roles", "host")], vec![], "unknown attribute `roles`: did you mean `role`?"),
        (
            vec![("rate", "1 Gbps")],
            vec![],
            "unknown attribute `rate` of nodes: expected one of role, tier, pod",
        ),
        (vec![], vec![("tier", "1")], "unknown attribute `tier` of links: expected one of rate, delay"),
        (vec![], vec![("rate_bps", "1e9")], "unknown attribute `rate_bps`: did you mean `rate`?"),
        (vec![], vec![("bw", "10")], "unknown attribute `bw`: did you mean `rate`?"),
        (vec![], vec![("linkCapacity", "10")], "unknown attribute `linkCapacity`: did you mean `rate`?"),
        (vec![], vec![("delay_s", "0.1")], "unknown attribute `delay_s`: did you mean `delay`?"),
        (vec![], vec![("max_queue_size", "10")], "unknown attribute `max_queue_size`: did you mean `queue`?"),
    ] {
        let error = parse("g.graphml", &line(&nodes, &edge)).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}\nexpected: {expected}");
    }
}

#[test]
fn a_speed_of_the_topology_zoo_is_the_rate() {
    let raw = ("LinkSpeedRaw", "155000000.0");
    let speed = [("LinkSpeed", "2.5"), ("LinkSpeedUnits", "G")];
    for (edge, bps) in [
        (vec![raw], 155_000_000),
        (vec![raw, speed[0], speed[1]], 155_000_000),
        (speed.to_vec(), 2_500_000_000),
        (vec![("LinkSpeedRaw", "1.0E10")], 10_000_000_000),
        (vec![("LinkSpeedRaw", "2.5e+9")], 2_500_000_000),
        (vec![raw, ("rate", "3 Mbps")], 3_000_000),
    ] {
        let read = parse("z.graphml", &line(&[], &edge)).unwrap();
        let link = read.link(read.link_named("s-a").unwrap());
        assert_eq!(link.rate, Rate::from_bps(bps), "{edge:?}");
        let note = "z.graphml: 1 of 2 links have a speed (`LinkSpeedRaw` or `LinkSpeed`); the others without `rate` \
                    get the default rate";
        let is_partial = edge.iter().all(|(name, _)| *name != "rate");
        assert_eq!(read.notes(), if is_partial { vec![note.to_owned()] } else { vec![] });
    }
    for (edge, expected) in [
        (vec![speed[0]], "`LinkSpeed` is invalid: `LinkSpeedUnits` is ``; expected K, M, G or T"),
        (vec![("LinkSpeedRaw", "fast")], "`LinkSpeedRaw` is invalid: `fast bps` is not a rate"),
        (vec![("LinkSpeed", "OC-3"), speed[1]], "`LinkSpeed` is invalid: `OC-3 Gbps` is not a rate"),
    ] {
        let error = parse("z.graphml", &line(&[], &edge)).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}\nexpected: {expected}");
    }
}

#[test]
fn empty_data_sets_nothing() {
    let text = line(&[("role", ""), ("tier", " ")], &[("rate", ""), ("up", "1")]);
    let read = parse("x.graphml", &text).unwrap();
    assert_eq!(hosts(&read), ["a", "b"]);
    assert_eq!(read.link(read.link_named("a-s").unwrap()).rate, LinkSpec::default().rate);
}

#[test]
fn arrows_of_yed_tell_whether_an_edge_has_a_direction() {
    let text = |arrows: &str| {
        line(&[], &[])
            .replace("undirected", "directed")
            .replace("'/>", "'></edge>")
            .replace("id='s'></edge>", "id='s'/>")
            .replace("id='b'></edge>", "id='b'/>")
            .replace("</edge>", &format!("<data key='d'><P><Arrows {arrows}/></P></data></edge>"))
            .replace("<graph ", "<key id='d' for='edge' yfiles.type='edgegraphics'/><graph ")
    };
    for arrows in ["source='none' target='none'", "source='standard' target='delta'"] {
        assert_eq!(ends(&parse("y.graphml", &text(arrows)).unwrap()), [("a", "s"), ("s", "b")], "{arrows}");
    }
    for arrows in ["source='none' target='standard'", ""] {
        let error = parse("y.graphml", &text(arrows)).unwrap_err().to_string();
        assert!(error.contains("the directed edge `a` -> `s` has no reverse edge"), "{error}");
    }
}

#[test]
fn graphml_beyond_plain_graphs_is_noted_or_refused() {
    let ports = line(&[], &[]).replace("<node id='s'/>", "<node id='s'><port name='p'/></node>");
    let read = parse("x.graphml", &ports).unwrap();
    assert_eq!(read.notes(), ["x.graphml: these attributes of nodes have no effect: `port`"]);
    for (from, to) in
        [("<node id='s'/>", "<node id='s'><graph/></node>"), ("target='b'/>", "target='b'><graph/></edge>")]
    {
        let error = parse("x.graphml", &line(&[], &[]).replace(from, to)).unwrap_err().to_string();
        assert!(error.contains("nested graphs are not supported"), "{error}");
    }
}

/// JSON of three nodes and two links, with keys of the whole graph, the nodes and the ends of the links.
fn json(keys: &str, nodes: [&str; 3], links: &[&str]) -> String {
    let all = |items: &[&str]| items.iter().map(|item| format!("{{{item}}}")).collect::<Vec<_>>().join(", ");
    format!("{{{keys}\"nodes\": [{}], \"links\": [{}]}}", all(&nodes), all(links))
}

#[test]
fn numbers_of_python_that_are_not_json_are_read() {
    let nodes = [
        "\"id\": \"NaN\", \"Latitude\": NaN",
        "\"id\": \"s\", \"x\": [-Infinity, Infinity]",
        "\"id\": \"b\"",
    ];
    let links =
        ["\"source\": \"NaN\", \"target\": \"s\"", "\"source\": \"s\", \"target\": \"b\", \"weight\": NaN"];
    let text = json("\"graph\": {\"bound\": Infinity}, ", nodes, &links);
    assert_eq!(hosts(&parse("n.json", &text).unwrap()), ["NaN", "b"]);
    for (attribute, expected) in [
        ("\"rate\": NaN", "line 1, column 173: link 2: `rate` is invalid: `NaN` is not a rate"),
        ("\"delay\": -Infinity", "`delay` is invalid: `-Infinity` is not a time"),
        ("\"queue\": {\"limit\": NaN}", "`queue` is invalid"),
        ("\"up\": NaN", "`up` is invalid: `NaN` is neither true nor false"),
        ("\"weight\": nan", "expected ident"),
    ] {
        let error =
            parse("n.json", &text.replace("\"weight\": NaN", attribute)).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}\nexpected: {expected}");
    }
}

#[test]
fn positions_in_nodes_are_followed_where_the_writer_wrote_positions() {
    let numbered = ["\"id\": 2", "\"id\": 0", "\"id\": 1"];
    let in_order = ["\"id\": 0", "\"id\": 1", "\"id\": 2"];
    let named = ["\"id\": \"x\"", "\"id\": \"y\"", "\"id\": \"z\""];
    let of_d3 = ["\"name\": \"x\", \"group\": 1", "\"name\": \"y\"", "\"name\": \"z\""];
    let links = ["\"source\": 0, \"target\": 1, \"value\": 1", "\"source\": 1, \"target\": 2"];
    let list = "\"graph\": [[\"name\", \"old\"]], ";
    for (keys, nodes, expected, is_noted) in [
        (list, numbered, [("2", "0"), ("0", "1")], false),
        // NetworkX 1.11 means positions, newer versions ids.
        ("\"graph\": {}, ", numbered, [("0", "1"), ("1", "2")], true),
        ("\"graph\": {}, ", in_order, [("0", "1"), ("1", "2")], false),
        (list, named, [("x", "y"), ("y", "z")], false),
        ("", named, [("x", "y"), ("y", "z")], true),
        ("", of_d3, [("x", "y"), ("y", "z")], true),
        ("", ["\"group\": 1", "", ""], [("0", "1"), ("1", "2")], true),
    ] {
        let read = parse("o.json", &json(keys, nodes, &links)).unwrap();
        assert_eq!(ends(&read), expected, "{keys} {nodes:?}");
        assert_eq!(read.name(), if keys == list { "old" } else { "o" });
        assert_eq!(read.notes().iter().any(|note| note.contains("positions in `nodes`")), is_noted);
    }
    for (nodes, links, expected) in [
        (
            numbered,
            ["\"source\": 0, \"target\": 3"],
            "link 1: `target` is invalid: `3` is not a position in `nodes`",
        ),
        (
            numbered,
            ["\"source\": 0, \"target\": -1"],
            "`-1` is not a position in `nodes`; expected a number below 3",
        ),
        (named, ["\"source\": \"x\", \"target\": 1"], "`\"x\"` is not a position in `nodes`"),
        (named, ["\"source\": 1"], "`target` is missing"),
    ] {
        let error = parse("o.json", &json(list, nodes, &links)).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}\nexpected: {expected}");
    }
    let huge = ["\"id\": 123456789012345678901234567890", "\"id\": 0", "\"id\": 1"];
    let error = parse("o.json", &json("", huge, &links)).unwrap_err().to_string();
    assert!(error.contains("`id` is invalid: `1.2345678901234568e+29` is too large for a number"), "{error}");
    let mixed = ["\"source\": 0, \"target\": \"y\""];
    assert!(
        parse("o.json", &json("", named, &mixed)).unwrap_err().to_string().contains("there is no node `0`")
    );
}

#[test]
fn a_simple_graph_has_each_link_once() {
    let nodes = ["\"id\": \"a\"", "\"id\": \"s\"", "\"id\": \"b\""];
    let links = |second: &str| {
        json(
            "\"multigraph\": false, ",
            nodes,
            &[
                "\"source\": \"a\", \"target\": \"s\", \"rate\": \"1 Gbps\"",
                second,
                "\"source\": \"s\", \"target\": \"b\"",
            ],
        )
    };
    for same in ["\"source\": \"a\", \"target\": \"s\"", "\"source\": \"s\", \"target\": \"a\""] {
        let read = parse("m.json", &links(&format!("{same}, \"rate\": \"1 Gbps\""))).unwrap();
        assert_eq!((read.cable_count(), hosts(&read)), (2, vec!["a", "b"]));
        let note =
            "m.json: 1 edges repeat others and are not links of their own, because `multigraph` is false";
        assert_eq!(read.notes(), [note]);
        let error = parse("m.json", &links(same)).unwrap_err().to_string();
        assert!(
            error.contains("given twice with different attributes, but `multigraph` is false"),
            "{error}"
        );
    }
}

#[test]
fn other_forms_of_graphs_in_json_are_named() {
    for (text, form) in [
        (
            r#"{"directed": false, "graph": [], "nodes": [{"id": 0}], "adjacency": [[]]}"#,
            "networkx.adjacency_data",
        ),
        (r#"{"data": [], "elements": {"nodes": [], "edges": []}}"#, "networkx.cytoscape_data"),
        (r#"{"id": 1, "children": [{"id": 2}]}"#, "networkx.tree_data"),
        (r#"{"graph": {"nodes": {}, "edges": []}}"#, "the JSON Graph Format"),
    ] {
        let error = parse("x.json", text).unwrap_err().to_string();
        assert!(
            error.contains(form) && error.contains("expected that of networkx.node_link_data"),
            "{error}"
        );
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_file() {
    let topo = "Nodes 2\nTiers 2\nPodsize 2\nTier 0\nDownlink_speed_Gbps 10\nRadix_Down 2\nRadix_Up 1\n\
                Downlink_Latency_ns 1\nTier 1\nDownlink_speed_Gbps 10\nRadix_Down 1\nDownlink_Latency_ns 1\n";
    let toml = "[[node]]\nname = \"a\"\nrole = \"host\"\n[[node]]\nname = \"b\"\nrole = \"host\"\n\
                [[link]]\nbetween = \"a-b\"\n";
    let node_link = r#"{"nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 0, "target": 1}]}"#;
    for (path, text) in [
        ("x.topo", topo),
        ("x.txt", "2 0 1 0 1 1Gbps 2us 0"),
        ("x.json", node_link),
        ("x.toml", toml),
        ("x.graphml", &line(&[], &[])),
    ] {
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let read = parse(path, &format!("\u{feff}{text}")).unwrap();
            assert_eq!((read.host_count(), read.notes().len()), (2, 0), "{path}");
        }
    }
    let read = parse("x.txt", "2 0 1 0 1 1Gbps 2us 0").unwrap();
    assert_eq!(read.links()[0].delay, Duration::from_us(2));
}
