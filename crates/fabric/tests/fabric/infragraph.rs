//! Fabrics from InfraGraph's infrastructures.

use proptest::prelude::*;
use weft_fabric::{EqualCost, Fabric, Limit, LinkSpec, Role, SCALE_UP_TIER, read};
use weft_units::{Duration, Rate};

const RAILS: &str = include_str!("../data/infragraph.yaml");

fn parse(text: &str) -> Result<Fabric, read::ReadError> {
    read::file("x.yaml", text.as_bytes(), &LinkSpec::default())
}

fn error(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

/// The names of the neighbours of a node, in the order of its ports.
fn around(fabric: &Fabric, name: &str) -> Vec<String> {
    let ports = fabric.ports(fabric.find(name).unwrap());
    ports.iter().map(|link| fabric.node(fabric.link(*link).to).name.clone()).collect()
}

fn spec(fabric: &Fabric, link: &str) -> LinkSpec {
    fabric.link(fabric.link_named(link).unwrap()).spec()
}

/// An infrastructure of servers with these components, links and edges, and NICs on one leaf.
fn servers(components: &str, links: &str, edges: &str) -> String {
    format!(
        "devices:
- name: server
  components:
{components}
  links: [{links}]
  edges:
{edges}
- name: switch
  components: [{{name: port, choice: port, count: 64}}]
links: [{{name: net}}]
instances:
- {{name: host, device: server, count: 2}}
- {{name: leaf, device: switch, count: 1}}
edges:
- {{ep1: {{instance: host, component: nic}}, ep2: {{instance: leaf, component: port}}, scheme: one2one, link: net}}
"
    )
}

fn joined(a: &str, b: &str, link: &str) -> String {
    format!("  - {{ep1: {{component: '{a}'}}, ep2: {{component: '{b}'}}, scheme: many2many, link: {link}}}")
}

#[test]
fn gpus_are_hosts_with_the_nearest_card_and_a_domain_for_each_server() {
    let fabric = parse(RAILS).unwrap();
    assert_eq!((fabric.name(), fabric.host_count(), fabric.switch_count()), ("two rails", 8, 5));
    assert!(fabric.notes().is_empty(), "{:?}", fabric.notes());
    let names: Vec<&str> = fabric.nodes().iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names[..2], ["host.0.gpu.0", "host.0.gpu.1"]);
    assert_eq!(names[8..], ["leaf.0", "leaf.1", "spine.0", "host.0.nvswitch.0", "host.1.nvswitch.0"]);
    // Card 2 is on the bridge of GPU 2, on rail 0.
    assert_eq!(around(&fabric, "host.1.gpu.2"), ["leaf.0", "host.1.nvswitch.0"]);
    assert_eq!(
        around(&fabric, "leaf.0")[..4],
        ["host.0.gpu.0", "host.0.gpu.2", "host.1.gpu.0", "host.1.gpu.2"]
    );
    assert_eq!(around(&fabric, "spine.0"), ["leaf.0", "leaf.1"]);
    let tier = |name| fabric.node(fabric.find(name).unwrap()).tier;
    assert_eq!(["leaf.0", "spine.0", "host.0.nvswitch.0"].map(tier), [1, 2, SCALE_UP_TIER]);

    let access = LinkSpec::new(Rate::from_gbps(400), Duration::from_ns(500));
    assert_eq!(spec(&fabric, "host.0.gpu.0-leaf.0"), access);
    // Without a latency, the default.
    assert_eq!(
        spec(&fabric, "leaf.1-spine.0"),
        LinkSpec::new(Rate::from_gbps(800), LinkSpec::default().delay)
    );
    // Two links of 225 GB/s, one to each NVSwitch.
    let domain = spec(&fabric, "host.0.gpu.0-host.0.nvswitch.0");
    assert_eq!((domain.rate, domain.delay), (Rate::from_gbps(3_600), Duration::from_ns(200)));
    assert_eq!(domain.queue.limit, Limit::Unlimited);
    let paths = EqualCost::compute(&fabric);
    let distance = |a, b| paths.distance(weft_units::HostId(a), weft_units::HostId(b));
    assert_eq!([distance(0, 1), distance(0, 4), distance(0, 5)], [Some(2), Some(2), Some(4)]);
}

#[test]
fn json_and_a_table_named_infrastructure_are_read_too() {
    let nested: String = RAILS.lines().map(|line| format!("  {line}\n")).collect();
    let fabric = parse(&format!("infrastructure:\n{nested}")).unwrap();
    assert_eq!((fabric.name(), fabric.links().len()), ("two rails", parse(RAILS).unwrap().links().len()));
    let json = r#"{"devices": [{"name": "box", "components": [{"name": "nic", "choice": "nic", "count": 1}]},
        {"name": "sw", "components": [{"name": "port", "choice": "port", "count": 2}]}],
        "links": [{"name": "eth"}],
        "instances": [{"name": "h", "device": "box", "count": 2}, {"name": "s", "device": "sw", "count": 1}],
        "edges": [{"ep1": {"instance": "h", "component": "nic"}, "ep2": {"instance": "s", "component": "port"},
            "link": "eth", "scheme": "one2one"}]}"#;
    let fabric = parse(json).unwrap();
    assert_eq!(
        (fabric.name(), fabric.host_count(), around(&fabric, "s.0")),
        ("x", 2, vec!["h.0".into(), "h.1".into()])
    );
}

#[test]
fn the_example_of_the_documentation_is_read() {
    let page = include_str!("../../../../docs/fabrics.md");
    let text = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let fabric = parse(text).unwrap();
    assert_eq!((fabric.name(), fabric.host_count(), fabric.switch_count()), ("four GPUs", 4, 3));
    assert_eq!(around(&fabric, "host.1.gpu.0"), ["leaf.0", "host.1.nvswitch.0"]);
    assert!(fabric.notes().is_empty());
}

#[test]
fn servers_without_gpus_are_one_host_each_with_all_their_interfaces() {
    let text = servers(
        "  - {name: cpu, choice: cpu, count: 2}\n  - {name: nic, choice: nic, count: 2}",
        "",
        "    []",
    );
    let fabric = parse(&text).unwrap();
    assert_eq!((fabric.host_count(), fabric.switch_count()), (2, 1));
    assert_eq!(around(&fabric, "host.1"), ["leaf.0", "leaf.0"]);
    assert_eq!(fabric.node(fabric.find("host.0").unwrap()).role, Role::Host);
}

#[test]
fn gpus_linked_to_each_other_are_a_domain_with_the_sum_of_their_links() {
    let components = "  - {name: gpu, choice: xpu, count: 4}\n  - {name: nic, choice: nic, count: 4}";
    let links = "{name: pcie}, {name: xgmi, physical: {bandwidth: {gigabits_per_second: 512}}}";
    let pcie: Vec<String> =
        (0..4).map(|gpu| joined(&format!("gpu[{gpu}]"), &format!("nic[{gpu}]"), "pcie")).collect();
    let all = format!("{}\n{}", pcie.join("\n"), joined("gpu", "gpu", "xgmi"));
    let fabric = parse(&servers(components, links, &all)).unwrap();
    assert_eq!(spec(&fabric, "host.0.gpu.0-host.0.xgmi").rate, Rate::from_gbps(3 * 512));
    assert_eq!(
        fabric.notes(),
        [
            "x.yaml: links `xgmi` between xpus: they are read as one scale-up domain, with the sum of an xpu's links"
        ]
    );
    let three = joined("gpu[0:3]", "gpu[1:4]", "xgmi").replace("many2many", "one2one");
    let message = error(&servers(components, links, &format!("{}\n{three}", pcie.join("\n"))));
    let expected = "device `server`: its xpus have links to each other, but `gpu.0` has none to `gpu.2`";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn switches_of_gpus_alone_are_a_domain_of_the_rack() {
    // Each GPU has a link to each of two switches, beside its own card in the network.
    let components = "  - {name: gpu, choice: xpu, count: 2}\n  - {name: nic, choice: nic, count: 2}";
    let edges = joined("gpu[0]", "nic[0]", "pcie") + "\n" + &joined("gpu[1]", "nic[1]", "pcie");
    let text = servers(components, "{name: pcie}", &edges)
        .replace(
            "links: [{name: net}]",
            "links: [{name: net}, {name: nvl, physical: {bandwidth: {gigabytes_per_second: 50}}}]",
        )
        .replace(
            "edges:\n- {ep1: {instance",
            "- {name: nvs, device: switch, count: 2}\nedges:\n- {ep1: {instance",
        )
        + "- {ep1: {instance: host, component: gpu}, ep2: {instance: nvs, component: 'port[0]'}, scheme: many2many, \
           link: nvl}\n";
    let fabric = parse(&text).unwrap();
    assert_eq!((fabric.host_count(), fabric.switch_count()), (4, 2));
    assert_eq!(around(&fabric, "host.1.gpu.1"), ["leaf.0", "nvs.0"]);
    assert_eq!(spec(&fabric, "host.0.gpu.0-nvs.0").rate, Rate::from_gbps(800));
    assert!(fabric.node(fabric.find("nvs.0").unwrap()).is_scale_up());
    // Without cards, the same switches are the network.
    let network = text
        .replace("- {ep1: {instance: host, component: nic}", "- {ep1: {instance: host, component: 'gpu'}");
    let fabric = parse(&network).unwrap();
    assert_eq!((fabric.host_count(), fabric.switch_count()), (4, 3));
    assert_eq!(around(&fabric, "host.0.gpu.0"), ["leaf.0", "nvs.0", "nvs.1"]);
}

#[test]
fn domains_without_a_bandwidth_have_the_default_and_say_so() {
    let text = RAILS.replace("{choice: gigabytes_per_second, gigabytes_per_second: 225}", "~");
    let fabric = parse(&text).unwrap();
    assert_eq!(spec(&fabric, "host.0.gpu.0-host.0.nvswitch.0").rate, weft_fabric::build::SCALE_UP_RATE);
    assert_eq!(
        fabric.notes(),
        ["x.yaml: links `nvlink` in scale-up domains without a bandwidth: each xpu has 3600 Gbps"]
    );
    let extra = RAILS.replace("  description: GPUs", "  vendor: us\n  description: GPUs");
    assert_eq!(
        parse(&extra).unwrap().notes(),
        ["x.yaml: these attributes of devices have no effect: `vendor`"]
    );
}

#[test]
fn short_lists_of_one2one_edges_are_noted_if_a_host_has_another_link_and_refused_if_not() {
    let nics = "  - {name: cpu, choice: cpu, count: 2}\n  - {name: nic, choice: nic, count: 2}";
    let fewer = servers(nics, "", "    []").replace("component: port}", "component: 'port[0:3]'}");
    assert_eq!(
        parse(&fewer).unwrap().notes(),
        ["x.yaml: line 16: edge 1 joins 3 of 4 interfaces of hosts, one to one"]
    );
    let alone = fewer.replace("port[0:3]", "port[0:2]");
    assert_eq!(
        error(&alone),
        "line 16, column 3: edge 1: `one2one` joins 2 of the 4 endpoints of `ep1`, as `ep2` has no more: `host.1` gets no \
         link of this edge, and has none of another: select 4 endpoints in `ep2`, or fewer in `ep1`"
    );
    let gpu = error(&RAILS.replace("'port[0:4]'", "'port[0:3]'"));
    assert!(gpu.contains("`host.1.gpu.2` gets no link of this edge, and has none of another"), "{gpu}");
    let leaves = RAILS.replacen("'port[0:2]'", "'port[0:1]'", 1).replace("nvlink}", "pcie}");
    let message = error(&leaves);
    let expected = "line 71, column 3: edge 3: `one2one` joins 1 of the 2 endpoints of `ep1`, as `ep2` has no more: \
                    `leaf.1` gets no link of this edge, and there is no path between hosts";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn errors_name_the_line_the_element_and_what_to_write() {
    for (from, to, expected) in [
        (
            "count: 4}\n  - {name: bridge",
            "count: four}\n  - {name: bridge",
            "line 9, column 37: device `server`, component `gpu`: `count` is invalid: `four` is not a whole number \
             below 2^32",
        ),
        (
            "choice: xpu",
            "choice: gpu",
            "component `gpu`: `choice` is invalid: `gpu` is none of custom, device, cpu, xpu",
        ),
        ("choice: xpu, ", "", "component `gpu`: `choice` is missing"),
        (
            "choice: xpu, ",
            "type: xpu, ",
            "component `gpu`: `type` is of the drafts of InfraGraph; expected `choice`, and `edges` in the place of \
             `connections`",
        ),
        ("choice: xpu", "choise: xpu", "component `gpu`: unknown key `choise`: did you mean `choice`?"),
        ("name: bridge", "name: gpu", "component `gpu`: component 2 has this name, too"),
        (
            "{name: card, choice: device",
            "{name: cart, choice: device",
            "component `cart`: there is no device `cart`: did you mean `card`?",
        ),
        (
            "- {name: asic, choice: cpu, count: 1}",
            "- {name: server, choice: device, count: 1}",
            "component `server`: this device contains itself",
        ),
        (
            "device: 'card[0:2]'",
            "device: 'card[0:9]'",
            "device `server`, edge 4: `card[0:9]` is out of range: there are 4",
        ),
        (
            "{component: nvswitch}",
            "{component: nvswitsh}",
            "edge 6: there is no component of device `server` named `nvswitsh`: did you mean `nvswitch`?",
        ),
        (
            "{component: nvswitch}",
            "{component: card}",
            "edge 6: `card` is a device: name one of its components, after a dot",
        ),
        (
            "{component: nvswitch}",
            "{component: nvswitch.port}",
            "edge 6: `nvswitch.port` has something before `.port` that is no device",
        ),
        ("{component: nvswitch}", "{component: 'nvswitch['}", "edge 6: `nvswitch[` has no closing `]`"),
        (
            "link: nvlink",
            "link: nvlnk",
            "edge 6: `link` is invalid: there is no link `nvlnk`: did you mean `nvlink`?",
        ),
        (
            "device: server",
            "device: sever",
            "instance `host`: there is no device `sever`: did you mean `server`?",
        ),
        (
            "instance: 'leaf[0]'",
            "instance: 'lief[0]'",
            "edge 1: there is no instance `lief`: did you mean `leaf`?",
        ),
        ("instance: 'leaf[0]'", "instance: 'leaf[2]'", "edge 1: `leaf[2]` is out of range: there are 2"),
        ("instance: 'leaf[0]', ", "", "line 69, column 63: edge 1: `ep2`: `instance` is missing"),
        ("ep2: {instance: 'leaf[0]', component: 'port[0:4]'}, ", "", "edge 1: `ep2` is missing"),
        (
            "scheme: one2one, link: access",
            "scheme: ring, link: access",
            "edge 1: `scheme` is invalid: the schema does not say which endpoints a `ring` joins",
        ),
        (
            "scheme: one2one, link: access",
            "scheme: all, link: access",
            "`scheme` is invalid: `all` is neither one2one nor many2many",
        ),
        (
            "{choice: gigabits_per_second, gigabits_per_second: 400}",
            "{choice: gigabits, gigabits: 400}",
            "link `access`: `physical`: `bandwidth`: `choice` is invalid: `gigabits` is none of gigabits_per_second",
        ),
        (
            "gigabits_per_second: 400",
            "gigabits_per_second: .nan",
            "`gigabits_per_second` is invalid: `.nan` is not a number from 0",
        ),
        (
            "{choice: gigabits_per_second, gigabits_per_second: 400}",
            "{choice: gigatransfers_per_second, gigatransfers_per_second: 32}",
            "edge 1: link `access` has its bandwidth in gigatransfers_per_second, which give no rate",
        ),
        ("gigabits_per_second: 400", "gigabits_per_second: 0", "a rate of 0 bps"),
        (
            "gigabits_per_second: 400",
            "gigabits_per_second: 1e300",
            "line 59, column 67: link `access`: `physical`: `bandwidth`: `gigabits_per_second` is invalid: `1e300` is too \
             much: expected at most",
        ),
        ("us: 0.5", "us: 1e300", "`latency`: `us` is invalid: `1e300` is too much: expected at most"),
        (
            "choice: xpu, count: 4",
            "choice: xpu, count: 0",
            "line 9, column 37: device `server`, component `gpu`: `count` is invalid: it is 0: write at least 1",
        ),
        (
            "device: server, count: 2",
            "device: server, count: 0",
            "instance `host`: `count` is invalid: it is 0",
        ),
        (
            "device: 'card[2:4]'",
            "device: 'card[2:3]'",
            "device `server`: `card.3.port.0` has an edge of the infrastructure, but no edges of the device lead from it \
             to an xpu",
        ),
        ("instances:", "instances: {}\nother:", "`instances` is invalid: expected a list, not a table"),
        ("name: two rails", "name: [two]", "`name` is invalid: expected a single value, not a list"),
        (
            "device: server, count: 2",
            "device: server, count: 4000000000",
            "edge 1: 8000000042 endpoints of the file's edges are too many",
        ),
        (
            "choice: xpu, count: 4",
            "choice: xpu, count: 4000000000",
            "4000000001 components of a device are too many",
        ),
        (
            "component: 'card[0:4:2].port'",
            "component: 'card[0:1].port'",
            "device `server`: 3 components with edges of the infrastructure for 4 xpus: `gpu.3` has none",
        ),
        ("scheme: one2one, link: access", "link: access", "edge 1: `scheme` is missing"),
        (
            "choice: port, count: 16",
            "choice: port, cnt: 16",
            "component `port`: `count` is missing, and the key `cnt` is unknown",
        ),
    ] {
        assert!(RAILS.contains(from), "{from}");
        let message = error(&RAILS.replacen(from, to, 1));
        assert!(message.contains(expected), "{message}\nexpected: {expected}");
    }
    assert_eq!(error(""), "the table of the infrastructure is missing");
    assert!(error("- a").contains("line 1, column 1: expected a table of keys and values, not a list"));
    assert!(error("name: x").contains("the fabric has no hosts"));
    let draft = "`connections` is of the drafts of InfraGraph; expected `edges`";
    assert!(error("name: x\ntype: y\nconnections: []\n").contains(&format!("line 3, column 1: {draft}")));
    let device = error("devices: [{name: a, type: x, connections: []}]");
    assert!(device.contains(&format!("device `a`: {draft}")), "{device}");
}

#[test]
fn small_files_with_huge_counts_are_refused_at_once() {
    // Devices within devices: 1000 to the power of the depth.
    let mut devices =
        String::from("devices:\n- {name: d0, components: [{name: nic, choice: nic, count: 1000}]}\n");
    for depth in 1..40 {
        devices += &format!(
            "- {{name: d{depth}, components: [{{name: d{}, choice: device, count: 1000}}]}}\n",
            depth - 1
        );
    }
    assert!(error(&devices).contains("1000000000 components of a device are too many"));
    let shallow = devices.replace("1000", "1");
    assert!(error(&shallow).contains("devices are nested more than 32 levels deep"), "{}", error(&shallow));
    // Empty devices, twice at each level.
    let mut doubled = String::from("devices:\n- {name: a0, components: []}\n- {name: b0, components: []}\n");
    for depth in 1..31 {
        for name in ["a", "b"] {
            let below = depth - 1;
            doubled += &format!(
                "- {{name: {name}{depth}, components: [{{name: a{below}, choice: device, count: 1}}, \
                 {{name: b{below}, choice: device, count: 1}}]}}\n"
            );
        }
    }
    doubled += "instances: [{name: x, device: a30, count: 1}]\n";
    assert!(error(&doubled).contains("the fabric has no hosts"), "{}", error(&doubled));
    let square = RAILS
        .replacen("port, count: 16", "port, count: 100000", 1)
        .replace("scheme: one2one, link: uplink", "scheme: many2many, link: uplink")
        .replace("component: 'port[15]'", "component: port")
        .replace("component: 'port[0:2]'", "component: port");
    assert!(error(&square).contains("of the file's edges are too many"), "{}", error(&square));
}

proptest! {
    #[test]
    fn no_damage_makes_the_reader_panic(
        at in 0..RAILS.len(),
        length in 0_usize..40,
        with in "[-{}\\[\\]:,*&!'\"0-9a-z \n]{0,12}",
    ) {
        let rest = RAILS.bytes().skip(at + length);
        let damaged: Vec<u8> = RAILS.bytes().take(at).chain(with.bytes()).chain(rest).collect();
        if let Err(error) = read::file("x.yaml", &damaged, &LinkSpec::default()) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
