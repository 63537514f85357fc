//! The scenarios that come with Weft: each is valid at every point of its sweep and does what its comments
//! state.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use weft_scenario::{Plan, Scenario};

fn starters() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    paths
}

fn load(name: &str) -> Scenario {
    let path = starters().into_iter().find(|path| path.ends_with(format!("{name}.toml"))).unwrap();
    Scenario::parse(&fs::read_to_string(&path).unwrap(), &path.to_string_lossy()).unwrap()
}

/// Files that starters read are in the same directory.
fn beside(path: &str) -> Result<Vec<u8>, String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(path);
    fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))
}

fn plans(scenario: &Scenario) -> Vec<Plan> {
    scenario.points().iter().map(|point| scenario.plan(point, &beside).unwrap()).collect()
}

#[test]
fn every_starter_plans_at_every_point_without_a_warning() {
    let paths = starters();
    assert!(paths.len() >= 5);
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let scenario =
            Scenario::parse(&text, &path.to_string_lossy()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Some(scenario.name()), path.file_stem().and_then(|stem| stem.to_str()));
        assert!(!scenario.description().is_empty());
        let mut warnings = scenario.check(&beside).unwrap_or_else(|error| panic!("{error}"));
        // One path is there to be too little.
        warnings
            .retain(|text| !text.contains("under `single_path`") && !text.contains("under `spanning_tree`"));
        assert_eq!(warnings, [""; 0], "{}", path.display());
    }
}

#[test]
fn every_scheme_sees_the_same_flows_and_every_seed_others() {
    let plans = plans(&load("quickstart"));
    assert_eq!(plans.len(), 18);
    let flows = |label: &str, seed: u64| {
        &plans.iter().find(|plan| plan.label == label && plan.seed == seed).unwrap().traffic.flows
    };
    assert_eq!(flows("single_path, load=0.2", 1), flows("spray, load=0.2", 1));
    assert_ne!(flows("spray, load=0.2", 1), flows("spray, load=0.2", 2));
    assert!(flows("spray, load=0.5", 1).len() > 2 * flows("spray, load=0.2", 1).len());
    let mut ids: Vec<&str> = plans.iter().map(|plan| plan.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 18);
    for plan in &plans {
        let asked = plan.traffic.groups[0].asked_load.unwrap();
        assert!((plan.traffic.offered_load.unwrap() / asked - 1.0).abs() < 0.15, "{}", plan.label);
    }
}

#[test]
fn the_static_scenario_is_the_papers() {
    let scenario = load("packet-spraying-static");
    let labels: BTreeSet<_> = scenario.points().iter().map(|point| &point.label).collect();
    assert_eq!(labels.len(), 12);
    let plan =
        plans(&scenario).into_iter().find(|plan| plan.label == "spray, flows=3" && plan.seed == 4).unwrap();
    let name = |host| plan.fabric.host_name(host);
    let mut flows: Vec<(&str, &str, u64, &str)> = plan
        .traffic
        .flows
        .iter()
        .map(|flow| {
            (name(flow.src), name(flow.dst), flow.bytes, plan.traffic.classes[flow.class as usize].as_str())
        })
        .collect();
    flows.sort_unstable();
    assert_eq!(
        flows,
        [
            ("h0", "h15", 200_000, "short"),
            ("h0", "h15", 10_000_000, "long"),
            ("h1", "h15", 10_000_000, "long"),
            ("h2", "h15", 10_000_000, "long"),
        ]
    );
    assert_eq!(
        (plan.transport.profile.as_str(), plan.transport.protocol.tcp().unwrap().mss),
        ("ns3-3.23", 1448)
    );
}

#[test]
fn an_incast_brings_its_flows_together() {
    for plan in plans(&load("incast")) {
        let fan_in = plan.overrides["traffic.pairs.incast.fan_in"].as_u64().unwrap() as usize;
        let first = &plan.traffic.flows[..fan_in];
        assert!(
            first.iter().all(|flow| (flow.dst, flow.start) == (first[0].dst, first[0].start)),
            "{fan_in}"
        );
    }
}
