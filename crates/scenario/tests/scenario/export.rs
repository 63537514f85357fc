//! A plan as JSON contains everything needed to run it.

use serde_json::{Value, json};
use weft_scenario::{Plan, Scenario};

const RING: &str = r#"
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 2
rate = "10 Mbps"
delay = "5 us"
queue = "100 packets"
failed = ["l1-s1"]
[traffic]
sizes = { fixed = "30 kB" }
load = 0.3
dscp = 10
[scheme]
name = "SCHEME"
[run]
duration = "2 s"
seeds = [7]
[[event]]
at = "100 ms"
fail = "l0-s0"
[[event]]
at = "200 ms"
fail_node = "s0"
[[event]]
at = "300 ms"
heal_node = "s0"
"#;

fn plan(scheme: &str) -> Plan {
    let scenario = Scenario::parse(&RING.replace("SCHEME", scheme), "ring.toml");
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let no_files = |path: &str| Err(format!("{path} is not expected to be read"));
    scenario.plan(&scenario.points()[0], &no_files).unwrap_or_else(|error| panic!("{error}"))
}

fn export(scheme: &str) -> Value {
    serde_json::to_value(plan(scheme).export()).unwrap()
}

#[test]
fn hosts_have_the_addresses_of_the_simulation_and_cables_their_ports_at_both_ends() {
    let export = export("ecmp");
    assert_eq!(
        export["hosts"][3],
        json!({"name": "h3", "mac": "02:00:00:00:00:03", "address": "10.0.0.4", "prefix": 8})
    );
    assert_eq!(
        export["switches"][0],
        json!({"name": "l0", "id": "b6bf613dbebb45db", "tier": 1, "pod": null, "ports": 4})
    );
    let links = export["links"].as_array().unwrap();
    assert_eq!(links.len(), 8);
    let named =
        |link: &Value| [&link["a"]["node"], &link["b"]["node"]].map(|node| node.as_str().unwrap().to_owned());
    let uplink = links.iter().find(|&link| named(link) == ["l0", "s1"]).unwrap();
    assert_eq!(
        uplink["a"],
        json!({
            "node": "l0", "port": 3, "rate_bps": 10_000_000, "delay_ps": 5_000_000, "queue_packets": 100,
            "queue_bytes": null, "queue": "100 packets", "overhead": "ethernet",
        })
    );
    assert_eq!((&uplink["b"]["port"], &uplink["up"]), (&json!(0), &json!(true)));
    let down = links.iter().filter(|link| link["up"] == json!(false)).map(named);
    assert_eq!(down.collect::<Vec<_>>(), [["l1", "s1"]]);
}

#[test]
fn flows_are_those_of_the_plan_with_names_for_numbers() {
    let (plan, export) = (plan("ecmp"), export("ecmp"));
    let flows = export["flows"].as_array().unwrap();
    assert!(flows.len() > 20 && flows.len() == plan.traffic.flows.len());
    for (flow, drawn) in flows.iter().zip(&plan.traffic.flows) {
        let expected = json!({
            "flow": drawn.id.0, "src": format!("h{}", drawn.src.0), "dst": format!("h{}", drawn.dst.0),
            "sport": drawn.sport, "dport": drawn.dport, "bytes": drawn.bytes, "dscp": 10, "class": "rabbit",
            "start_ps": drawn.start.ps(),
        });
        assert_eq!(*flow, expected);
    }
}

#[test]
fn parameters_are_there_with_their_defaults() {
    let export = export("tfe\"\nlock = \"2 s\"\nflow_table = 77\non_miss = \"default-forwarding");
    let params = &export["scheme"]["params"];
    for (name, value) in [("lock", json!("2 s")), ("flow_table", json!(77)), ("dscp", json!(10))] {
        assert_eq!(params[name], value, "{name} of {params}");
    }
    assert_eq!(params["classifier"], json!("ports"));
    assert_eq!(params["learnt"], json!("300 s"));
    assert_eq!(export["transport"]["congestion"], json!("cubic"));
    assert_eq!(
        export["run"],
        json!({"duration_ps": 2e12 as u64, "limit_ps": 20e12 as u64, "seed": 7, "warm": false})
    );
    assert_eq!(export["routes"], Value::Null, "a scheme that explores has no next hops");
}

#[test]
fn events_say_which_cables_are_then_down_or_up() {
    let export = export("ecmp");
    let links = export["links"].as_array().unwrap();
    let names = |event: &Value| {
        let cables =
            event["links"].as_array().unwrap().iter().map(|at| &links[at.as_u64().unwrap() as usize]);
        cables
            .map(|c| format!("{}-{}", c["a"]["node"].as_str().unwrap(), c["b"]["node"].as_str().unwrap()))
            .collect()
    };
    let events: Vec<(Value, Value, Vec<String>)> = export["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| (event["change"].clone(), event["up"].clone(), names(event)))
        .collect();
    let cables = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    assert_eq!(
        events,
        [
            (json!("fail"), json!(false), cables(&["l0-s0"])),
            (json!("fail_node"), json!(false), cables(&["l0-s0", "l1-s0"])),
            (json!("heal_node"), json!(true), cables(&["l1-s0"])),
        ]
    );
    assert_eq!(export["events"][0]["target"], json!("l0-s0"));
    let at_ms = |at: usize| export["reroutes"][at]["at_ps"].as_u64().unwrap() / 1_000_000_000;
    assert_eq!([0, 1, 2].map(at_ms), [110, 210, 310], "after the reaction");
    let routes = |at: usize, switch: &str| export["reroutes"][at]["routes"][switch]["h3"].clone();
    assert_eq!((routes(0, "l0"), routes(0, "s0")), (json!(null), json!([1])), "l0-s0 and l1-s1 are down");
    assert_eq!((routes(2, "s0"), routes(2, "s1")), (json!([1]), json!(null)));
}

#[test]
fn next_hops_follow_the_cables_that_are_down() {
    let (plan, export) = (plan("spray"), export("spray"));
    assert_eq!(export["routes"]["l0"], json!({"h0": [0], "h1": [1], "h2": [2], "h3": [2]}), "l1-s1 is down");
    let all = serde_json::to_value(plan.routes(&[])).unwrap();
    assert_eq!(all["l0"]["h3"], json!([2, 3]));
    let uplink = |name: &str| {
        let cable = plan.fabric.link_named(name).unwrap();
        cable.index() / 2
    };
    let cut = serde_json::to_value(plan.routes(&[uplink("l0-s0"), uplink("l0-s1")])).unwrap();
    assert_eq!(cut["l0"], json!({"h0": [0], "h1": [1]}), "what cannot be reached is left out");
}

#[test]
fn a_single_path_is_the_next_hop_with_the_lowest_number() {
    let routes = |scheme| serde_json::to_value(plan(scheme).routes(&[])).unwrap()["l0"]["h3"].clone();
    let (all, single) = (routes("ecmp"), routes("single_path"));
    assert_eq!(all.as_array().unwrap().len(), 2);
    assert_eq!(single, json!([all[0]]));
}

#[test]
fn switches_hash_as_simulated_ones() {
    let export = export("ecmp");
    let ids: Vec<_> =
        export["switches"].as_array().unwrap().iter().map(|switch| switch["id"].clone()).collect();
    let fabric = plan("ecmp").fabric;
    let wanted = fabric.switches().map(|node| weft_switching::ecmp::hash_id(plan("ecmp").seed, node));
    assert_eq!(ids, wanted.map(|id| json!(format!("{id:016x}"))).collect::<Vec<_>>());
}

#[test]
fn weights_are_in_the_order_of_the_next_hops() {
    let slow = "wcmp\"\n[[fabric.link]]\nbetween = \"l0-s1\"\nrate = \"2500 kbps\"\n#";
    let text = RING.replace("failed = [\"l1-s1\"]\n", "").replace("SCHEME\"", slow);
    let scenario = Scenario::parse(&text, "unequal.toml").unwrap_or_else(|error| panic!("{error}"));
    let plan = scenario.plan(&scenario.points()[0], &|path| Err(path.to_owned())).unwrap();
    let export = serde_json::to_value(plan.export()).unwrap();
    assert_eq!(
        (&export["routes"]["l0"]["h3"], &export["weights"]["l0"]["h3"]),
        (&json!([2, 3]), &json!([4, 1]))
    );
    assert_eq!(export["weights"]["l0"]["h1"], json!([1]));
    assert_eq!(self::export("ecmp").get("weights"), None);
}
