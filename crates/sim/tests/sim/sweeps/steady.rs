//! Whether a run was in a steady state: scenarios with their truth.

use serde_json::{Value, json};
use weft_sim::sweep::Event;

use crate::common::directory::{Scratch, json_in};
use crate::common::parsed;
use crate::sweeps::sweep::run;

/// 4 leaves of 4 hosts, 4 spines, all links 1 Gbps: a leaf's uplinks carry what its hosts do.
const FABRIC: &str = "name = \"steady\"\n[fabric]\nkind = \"spine-leaf\"\nspines = 4\nleaves = 4\nhosts_per_leaf = 4\n\
    rate = \"1 Gbps\"\ndelay = \"1 us\"\nqueue = \"200 packets\"\necn_threshold = \"20 packets\"\n\
    [transport]\nprofile = \"dctcp\"\n";
const SLOW: &str = "[[event]]\nat = \"0 s\"\nchange = \"l0-s1\"\nrate = 0.1\n";

fn load(sizes: &str, load: f64) -> String {
    format!("sizes = {sizes}\nload = {load}\nload_of = \"host-links\"\n")
}

fn small(share: f64) -> String {
    load("{ fixed = \"20 kB\" }", share)
}

fn steady(traffic: &str, scheme: &str, duration: &str, rest: &str) -> Value {
    let text = format!(
        "{FABRIC}[traffic]\n{traffic}[scheme]\nname = \"{scheme}\"\n[run]\nduration = \"{duration}\"\nlimit = \"20 s\"\n{rest}"
    );
    summary(&text)["steady"].clone()
}

/// The `summary.json` of the scenario's first run.
fn summary(text: &str) -> Value {
    let scenario = parsed(text);
    let scratch = Scratch::new("steady");
    run(&scenario, scratch.path(), 1, &mut |_: &Event<'_>| true).unwrap();
    json_in(&scratch.join("runs").join(&scenario.points()[0].id).join("summary.json"))
}

#[test]
fn each_scenario_is_judged_as_it_is() {
    let elephants = load("{ points = [[\"10 kB\", 0.9], [\"2 MB\", 1]] }", 0.5);
    let incast = "sizes = { fixed = \"20 kB\" }\nload = 0.1\nload_of = \"host-links\"\n\
        pairs = { incast = { fan_in = 8, receiver = \"h0\" } }\n";
    let at_once = "sizes = { fixed = \"200 kB\" }\npairs = \"permutation\"\narrivals = \"at-once\"\n";
    let listed = "flow_list = [{ src = \"h0\", dst = \"h15\", bytes = \"1 MB\", start = \"0 s\" }]\n";
    let ring = "collective = \"ring-all-reduce\"\nbytes = \"200 kB\"\n";
    let failed = "[[event]]\nat = \"10 ms\"\nfail = \"l0-s1\"\n[[event]]\nat = \"14 ms\"\nheal = \"l0-s1\"\n";
    // One of four uplinks is left, which does not carry a load of 0.4.
    let three = |at: &str, what: &str| -> String {
        (0..3).map(|spine| format!("[[event]]\nat = \"{at}\"\n{what} = \"l0-s{spine}\"\n")).collect()
    };
    let window = "[measure]\nwindow = [\"5 ms\", \"8 ms\"]\n";
    let most = three("2 ms", "fail") + &three("9.5 ms", "heal");
    let early = three("0 s", "fail") + &three("500 us", "heal") + window;
    let after = three("8.5 ms", "fail") + window;
    let late = "[[event]]\nat = \"9 ms\"\nfail = \"l0-s1\"\n[[event]]\nat = \"9.5 ms\"\nheal = \"l0-s1\"\n";
    let warm = "[measure]\nwindow = [\"10 ms\", \"20 ms\"]\n";
    for (what, traffic, scheme, duration, rest, state) in [
        ("small flows, short run", &*small(0.4), "ecmp", "10 ms", "", "steady"),
        ("few flows", &small(0.05), "ecmp", "5 ms", "", "steady"),
        ("a window after a warm-up", &small(0.5), "spray", "30 ms", warm, "steady"),
        ("more than hosts carry", &small(1.1), "conga", "10 ms", "", "overloaded"),
        ("a slow uplink, even split", &small(0.5), "ecmp", "10 ms", SLOW, "overloaded"),
        ("a slow uplink, every packet drawn", &small(0.5), "spray", "10 ms", SLOW, "overloaded"),
        ("a slow uplink, weighted", &small(0.4), "wcmp", "20 ms", SLOW, "steady"),
        ("a slow uplink, congestion seen", &small(0.4), "conga", "20 ms", SLOW, "steady"),
        ("one path for all", &small(0.5), "single_path", "10 ms", "", "overloaded"),
        ("flows longer than the run", &elephants, "ecmp", "10 ms", "", "too-short"),
        ("a failure that ends", &small(0.4), "ecmp", "30 ms", failed, "steady"),
        ("an outage that ends late", &small(0.4), "ecmp", "10 ms", &most, "overloaded"),
        ("an event too late to judge growth", &small(0.2), "ecmp", "10 ms", late, "not-judged"),
        ("an outage before the window", &small(0.4), "ecmp", "10 ms", &early, "steady"),
        ("an outage after the window", &small(0.4), "ecmp", "10 ms", &after, "steady"),
        ("bursts that a host cannot take", incast, "ecmp", "10 ms", "", "overloaded"),
        ("a permutation at once", at_once, "ecmp", "10 ms", "", "static"),
        ("one flow", listed, "ecmp", "10 ms", "", "static"),
        ("a collective", ring, "ecmp", "10 ms", "", "static"),
    ] {
        let found = steady(traffic, scheme, duration, rest);
        assert_eq!(found["state"], state, "{what}: {found}");
        let is_good = ["steady", "static"].contains(&state);
        assert_eq!(found["reasons"].as_array().unwrap().is_empty(), is_good, "{what}: {found}");
    }
}

/// No split is known of a scheme that reacts; 93 % of the load and acknowledgements are more than its links carry.
#[test]
fn backlog_that_grows_is_found_without_knowing_the_split() {
    let found = steady(&small(0.93), "conga", "60 ms", "");
    assert_eq!(found["state"], "growing", "{found}");
    let backlog: Vec<f64> =
        found["backlog_bytes"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    assert!(backlog.len() == 5 && backlog.is_sorted(), "{found}");
    assert!(found["arrived_share"].as_f64().unwrap() < 0.9, "{found}");
}

/// Flows of 50 kB over the one path from leaf 0 to leaf 3, one every so many microseconds.
fn list(flows: u32, apart: u32) -> String {
    let flow = |at: u32| {
        let (src, dst, start) = (at % 4, 12 + at % 4, apart * at);
        format!("{{ src = \"h{src}\", dst = \"h{dst}\", bytes = \"50 kB\", start = \"{start} us\" }}, ")
    };
    format!("flow_list = [{}]\n", (0..flows).map(flow).collect::<String>())
}

#[test]
fn lists_of_flows_that_arrive_over_time_are_judged() {
    // A flow takes 0.4 ms alone; the path carries one every 430 us.
    let brief = "[measure]\nwindow = [\"0 s\", \"3 ms\"]\n";
    for (what, flows, apart, rest, state) in [
        ("twice what the path carries", 300, 200, "", "growing"),
        ("half of it", 300, 800, "", "steady"),
        ("a third more, with few flows", 110, 320, "", "growing"),
        ("too few to judge", 90, 200, "", "static"),
        ("a burst, over before its largest flow could be", 300, 10, "", "static"),
        ("a window as short", 300, 200, brief, "static"),
    ] {
        let found = steady(&list(flows, apart), "single_path", "10 ms", rest);
        assert_eq!(found["state"], state, "{what}: {found}");
    }
}

#[test]
fn a_list_beside_flows_at_a_rate_hides_no_growth() {
    let sizes = small(0.93);
    for beside in [String::new(), format!("[[traffic]]\n{}", list(150, 2000))] {
        let text = format!(
            "{FABRIC}[scheme]\nname = \"conga\"\n[run]\nduration = \"60 ms\"\n[[traffic]]\n{sizes}{beside}"
        );
        let summary = summary(&text);
        assert_eq!(summary["steady"]["state"], "growing", "{}", summary["steady"]);
    }
}

#[test]
fn flows_of_a_list_count_whenever_they_start_unless_a_window_is_given() {
    for (rest, counted) in [("", 5), ("[measure]\nwindow = [\"0 s\", \"10 ms\"]\n", 3)] {
        let text = format!(
            "{FABRIC}[traffic]\n{}[scheme]\nname = \"ecmp\"\n[run]\nduration = \"10 ms\"\n{rest}",
            list(5, 4000)
        );
        let summary = summary(&text);
        let flows: u64 = summary["classes"]
            .as_object()
            .unwrap()
            .values()
            .map(|class| class["flows"].as_u64().unwrap())
            .sum();
        assert_eq!(flows, counted, "{rest}");
    }
}

#[test]
fn figures_are_those_of_the_flows_that_arrive_at_a_rate() {
    // Of two groups, the listed flow, which lasts to the end, does not count.
    let list =
        "[[traffic]]\nflow_list = [{ src = \"h0\", dst = \"h15\", bytes = \"10 MB\", start = \"0 s\" }]\n";
    let text = format!(
        "{FABRIC}[scheme]\nname = \"ecmp\"\n[run]\nduration = \"10 ms\"\n[[traffic]]\n{}{list}",
        small(0.3)
    );
    let summary = summary(&text);
    let found = &summary["steady"];
    assert_eq!(found["state"], "steady", "{found}");
    let offered = found["offered_bytes"].as_f64().unwrap();
    assert!(
        offered > 0.0 && offered <= summary["traffic"]["groups"][0]["bytes"].as_f64().unwrap(),
        "{found}"
    );
    assert!(found["longest_ideal_ps"].as_u64().unwrap() < 1_000_000_000, "{found}");
}

#[test]
fn more_rules_than_a_switch_installs_are_out_of_range() {
    let mptcp = "[transport]\nprofile = \"dctcp\"\nmptcp = \"ndiffports\"\nsubflows = 4\n";
    let text = |latency: &str, traffic: &str| {
        let fabric = FABRIC.split("[transport]").next().unwrap();
        format!(
            "{fabric}{mptcp}[traffic]\n{traffic}[scheme]\nname = \"smoc\"\nrule_latency = \"{latency}\"\n[run]\nduration = \"10 ms\"\n"
        )
    };
    let of = |latency: &str, traffic: &str| summary(&text(latency, traffic))["steady"].clone();
    let found = of("150 us", &small(0.2));
    assert_eq!(found["state"], "out-of-range", "{found}");
    let reason = found["reasons"][0].as_str().unwrap();
    assert!(reason.contains("a switch installs 6667 a second"), "{reason}");
    assert_ne!(of("100 ns", &small(0.2))["state"], "out-of-range");
    let at_once = "sizes = { fixed = \"200 kB\" }\npairs = \"permutation\"\narrivals = \"at-once\"\n";
    let listed = |apart: u32| -> String {
        let flow = |at: u32| {
            format!(
                "{{ src = \"h{at}\", dst = \"h{}\", bytes = \"9 kB\", start = \"{} us\" }}, ",
                15 - at,
                apart * at
            )
        };
        format!("flow_list = [{}]\n", (0..8).map(flow).collect::<String>())
    };
    let found = of("150 us", &listed(100));
    assert_eq!(found["state"], "out-of-range", "flows that do not arrive at a rate: {found}");
    // A burst: all start while the first ones still send, and the rules are late once.
    let within = format!("{at_once}jitter = \"1 ms\"\n");
    let many: String = (0..120)
        .map(|at: u32| {
            let (src, dst) = (at % 16, (at + 5) % 16);
            format!(
                "{{ src = \"h{src}\", dst = \"h{dst}\", bytes = \"1 MB\", start = \"{} us\" }}, ",
                10 * at
            )
        })
        .collect();
    let many = format!("flow_list = [{many}]\n");
    for burst in [at_once, &within, &listed(1), &many] {
        assert_eq!(of("150 us", burst), json!({ "state": "static", "reasons": [] }), "{burst}");
    }
}
