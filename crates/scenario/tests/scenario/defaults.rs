//! Defaults that the schema shows are those that the reader uses: a scenario that spells one out has the same plan.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use weft_scenario::{Plan, Scenario, schema};
use weft_switching::{Schemes, registry};
use weft_transport::Protocol;

/// Scenarios in which every key with a default has its place.
const SCENARIOS: [&str; 5] = [
    r#"
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 2
buffer = "9 MB"
red = { kmin = "100 kB", kmax = "400 kB" }
queues = { weights = [1, 1] }
[traffic]
sizes = { fixed = "30 kB" }
load = 0.0001
[scheme]
name = "ecmp"
"#,
    r#"
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 2
[traffic]
collective = "pipeline"
bytes = "100 kB"
[scheme]
name = "ecmp"
"#,
    r#"
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 2
[traffic]
training = { model = "llama-7b", layers = 2 }
[scheme]
name = "ecmp"
"#,
    r#"
[fabric]
kind = "spine-leaf"
spines = 1
leaves = 2
hosts_per_leaf = 1
[traffic]
inference = { model = "llama-7b", requests_per_second = 3 }
[scheme]
name = "ecmp"
"#,
    r#"
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 2
[traffic]
flow_list = [
    { src = "h0", dst = "h2", bytes = "1 kB", id = "first" },
    { src = "h0", dst = "h2", bytes = "1 kB", after_received = ["first"] },
]
[scheme]
name = "ecmp"
"#,
];

/// Keys whose default depends on others.
const COMPUTED: [&str; 18] = [
    "fabric.fabric_rate",
    "fabric.host_rate",
    "fabric.pfc.headroom",
    "fabric.pfc.queues",
    "fabric.pfc.xon",
    "measure.interval",
    "measure.window",
    "run.limit",
    "traffic.class",
    "traffic.connections",
    "traffic.flow_list.1.class",
    "traffic.flow_list.1.dscp",
    "traffic.flow_list.1.interfaces",
    "traffic.inference.layers_per_message",
    "traffic.inference.tokens_per_message",
    "traffic.ranks",
    "traffic.training.data",
    "traffic.training.layers_per_message",
];

/// A change for `--set`.
fn set(key: &str, value: &str) -> String {
    let is_bare = value.parse::<f64>().is_ok() || ["true", "false"].contains(&value);
    if is_bare { format!("{key}={value}") } else { format!("{key}=\"{value}\"") }
}

/// The plan of the only run, without its name, which depends on the text.
fn plan(text: &str, sets: &[String]) -> Option<Plan> {
    let scenario = Scenario::parse_with(text, "defaults.toml", sets).ok()?;
    let plan = scenario.plan(&scenario.points()[0], &|_| Err("no file is read".to_owned())).ok()?;
    // Beside no stragglers, any factor has no effect, and a warning says so.
    let mut warnings = plan.warnings;
    warnings.retain(|warning| !warning.contains("`traffic.straggler_factor` has no effect"));
    Some(Plan { id: String::new(), warnings, ..plan })
}

/// The keys below `path` with their defaults, if they have one.
fn defaults(path: &str, schema: &Json, found: &mut Vec<(String, String)>) {
    for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{key}");
        let description = schema["description"].as_str().unwrap_or_default();
        if let Some((_, default)) = description.split_once(" (default: ") {
            found.push((path.clone(), default.trim_end_matches(')').to_owned()));
        }
        defaults(&path, schema, found);
        if key == "flow_list" {
            defaults(&format!("{path}.1"), &schema["items"], found);
        }
    }
}

/// The schema of the section `name`: that of the variant that `is` accepts, if it has several.
fn section(name: &str, is: impl Fn(&Json) -> bool) -> Json {
    let schema = schema(&Schemes::default()).to_value();
    let section = &schema["properties"][name];
    let several = ["oneOf", "anyOf"].iter().find_map(|key| section[key].as_array());
    several.map_or(section, |all| all.iter().find(|one| is(one)).expect("one of them is it")).clone()
}

#[test]
fn the_default_of_a_key_spelled_out_changes_nothing() {
    let mut found = Vec::new();
    let is_spine_leaf = |one: &Json| one["properties"]["kind"]["const"] == "spine-leaf";
    defaults("fabric", &section("fabric", is_spine_leaf), &mut found);
    for name in ["traffic", "run", "measure"] {
        defaults(name, &section(name, |_| true), &mut found);
    }
    let mut used = BTreeSet::new();
    for text in SCENARIOS {
        // Whether `run.warm` was given only silences a warning.
        let shown = |plan: Plan| format!("{plan:?}").replace("start_is_given: true", "start_is_given: false");
        let without = shown(plan(text, &[]).expect("the scenario is good"));
        for (key, value) in found.iter().filter(|(key, _)| !COMPUTED.contains(&key.as_str())) {
            if let Some(plan) = plan(text, &[set(key, value)]) {
                assert!(shown(plan) == without, "{key} = {value}");
                used.insert(key);
            }
        }
    }
    let left = found.iter().map(|(key, _)| key).filter(|key| !used.contains(key));
    let left: Vec<&String> = left.filter(|key| !COMPUTED.contains(&key.as_str())).collect();
    assert_eq!(left, Vec::<&String>::new(), "these keys have no place in the scenarios");
}

#[test]
fn connections_between_ranks_stay_open_by_default_unless_they_are_those_of_tcp() {
    let collective = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let text = "[fabric]\nkind = \"spine-leaf\"\nspines = 1\nleaves = 1\nhosts_per_leaf = 4\n\
                    [traffic]\nbytes = \"1 MB\"\n\
                    collective = \"all-gather\"\n[scheme]\nname = \"ecmp\"\n[run]\nlimit = \"1 s\"\n";
        let plan = plan(text, &sets).expect("the scenario is good");
        (plan.traffic.flows.len(), plan.traffic.connections.firsts().count(), plan.traffic.parts.len())
    };
    let (open, each) = ((4, 4, 4), (12, 0, 0));
    for (protocol, expected) in [("tcp", each), ("roce", open), ("uec", open)] {
        let protocol = format!("transport.protocol={protocol}");
        assert_eq!(collective(&[protocol.as_str()]), expected, "{protocol}");
        assert_eq!(collective(&[protocol.as_str(), "traffic.connections=persistent"]), open, "{protocol}");
        assert_eq!(collective(&[protocol.as_str(), "traffic.connections=per-message"]), each, "{protocol}");
        // A single message between any two ranks is sent alike on either.
        assert_eq!(collective(&[protocol.as_str(), "traffic.collective=all-to-all"]), each, "{protocol}");
    }
}

#[test]
fn the_default_of_a_scheme_s_parameter_spelled_out_changes_nothing() {
    for scheme in registry() {
        let text = SCENARIOS[1].replace("\"ecmp\"", &format!("\"{}\"", scheme.name));
        let text = match scheme.name {
            "tag_forward" => text.replace(
                "kind = \"spine-leaf\"\nspines = 2\nleaves = 2\nhosts_per_leaf = 2",
                "kind = \"fat-tree\"\nk = 4",
            ),
            _ => text,
        };
        let mut sets = Vec::new();
        let of_scheme = section("scheme", |one| one["properties"]["name"]["const"] == scheme.name);
        defaults("scheme", &of_scheme, &mut sets);
        assert_eq!(sets.len(), scheme.params.len(), "{}", scheme.name);
        let sets: Vec<String> = sets.iter().map(|(key, value)| set(key, value)).collect();
        let export = |sets: &[String]| {
            let plan = plan(&text, sets).unwrap_or_else(|| panic!("{} with {sets:?}", scheme.name));
            serde_json::to_value(plan.export()).unwrap()
        };
        assert_eq!(export(&sets), export(&[]), "{}", scheme.name);
    }
}

#[test]
fn the_default_of_a_protocol_s_parameter_spelled_out_changes_nothing() {
    for protocol in Protocol::all() {
        let name = protocol.name();
        let mut found = Vec::new();
        let of_protocol = section("transport", |one| one["properties"]["protocol"]["const"] == name);
        defaults("transport", &of_protocol, &mut found);
        found.retain(|(key, _)| key != "transport.profile");
        // Each protocol also has `interfaces`.
        assert_eq!(found.len(), protocol.parameters().len() + 1, "{name}");
        let given = found.iter().filter(|(_, value)| value != "computed");
        let given = given.map(|(key, value)| set(key, value.trim_end_matches(" in `linux`")));
        let chosen = [format!("transport.protocol={name}")];
        let all: Vec<String> = chosen.iter().cloned().chain(given).collect();
        let transport = |sets: &[String]| plan(SCENARIOS[0], sets).map(|plan| plan.transport);
        assert!(transport(&all).is_some() && transport(&all) == transport(&chosen), "{name}");
    }
}
