//! Overloads known before a run: hosts, uplinks, and single links by the scheme's split.

use weft_scenario::{Plan, Scenario};

/// 4 leaves of 8 hosts at 10 Gbps and 8 spines at 20 Gbps: 80 % of the host links are 64 Gbps a leaf, 68 with headers.
const LEAVES: &str = "[fabric]\nkind = \"spine-leaf\"\nspines = 8\nleaves = 4\nhosts_per_leaf = 8\nhost_rate = \"10 Gbps\"\n\
    fabric_rate = \"20 Gbps\"\n";
const FLOWS: &str = "[traffic]\nsizes = { fixed = \"100 kB\" }\nload = 0.8\nload_of = \"host-links\"\n";
const SLOW: &str = "[[event]]\nat = \"0 s\"\nchange = \"l0-s3\"\nrate = 0.2\n";

fn plan(text: &str) -> Plan {
    let text = format!("{text}\n[run]\nduration = \"1 ms\"\n");
    let scenario = Scenario::parse(&text, "overload.toml").unwrap_or_else(|error| panic!("{error}"));
    let plan = scenario.plan(&scenario.points()[0], &|_| Err("no file is expected".to_owned()));
    plan.unwrap_or_else(|error| panic!("{error}"))
}

/// The overloaded links, with the load in per cent.
fn found(text: &str) -> Vec<String> {
    let plan = plan(text);
    for overload in &plan.overloads {
        assert!(plan.warnings.contains(&overload.to_string()), "{overload}");
    }
    let percent = |offered: f64, capacity: f64| (offered / capacity * 100.0).round();
    plan.overloads
        .iter()
        .map(|of| format!("{} {}", of.at, percent(of.offered_bps, of.capacity_bps)))
        .collect()
}

fn under(scheme: &str, traffic: &str, rest: &str) -> Vec<String> {
    found(&format!("{LEAVES}{traffic}[scheme]\nname = \"{scheme}\"\n{rest}"))
}

#[test]
fn a_slow_uplink_overloads_the_schemes_that_divide_evenly() {
    for scheme in ["ecmp", "spray", "drb", "presto"] {
        // An eighth of 68 Gbps over a link of 4.
        assert_eq!(under(scheme, FLOWS, SLOW), ["link `l0->s3` 212"], "{scheme}");
        assert!(under(scheme, FLOWS, "").is_empty(), "{scheme}, symmetric");
    }
    for scheme in ["wcmp", "conga", "letflow", "drill"] {
        assert!(under(scheme, FLOWS, SLOW).is_empty(), "{scheme}");
    }
    for scheme in ["single_path", "spanning_tree"] {
        assert_eq!(under(scheme, FLOWS, "").len(), 1, "one spine carries everything under {scheme}");
    }
}

#[test]
fn hosts_that_react_to_a_path_change_what_a_hash_divides_but_not_what_a_switch_draws() {
    for (transport, schemes) in [
        ("[transport]\nmptcp = \"ndiffports\"\n", [("ecmp", 0), ("spray", 1)]),
        ("[transport]\nprotocol = \"uec\"\nentropy_choice = \"reps\"\n", [("ecmp", 0), ("spray", 1)]),
        ("[transport]\nprotocol = \"uec\"\nentropy_choice = \"oblivious\"\n", [("ecmp", 1), ("spray", 1)]),
        ("[transport]\nprotocol = \"roce\"\n", [("ecmp", 1), ("wcmp", 0)]),
    ] {
        for (scheme, count) in schemes {
            let found = under(scheme, FLOWS, &format!("{transport}{SLOW}"));
            assert_eq!(found.len(), count, "{scheme}, {transport}: {found:?}");
        }
    }
    let shared = format!("{LEAVES}{FLOWS}[scheme]\nname = \"ecmp\"\nhash_seed = \"shared\"\n{SLOW}");
    assert!(found(&shared).is_empty(), "a shared hash does not divide evenly");
}

#[test]
fn headers_count_and_so_does_each_direction() {
    let load = |share: &str| FLOWS.replace("0.8", share);
    assert!(under("conga", &load("0.94"), "").is_empty(), "1448 of 1538 bytes are payload: 99.8 %");
    // Of the hosts that are overloaded alike, the first is named.
    assert_eq!(under("conga", &load("0.95"), ""), ["the links of `h0` 101"]);
    let incast = "[traffic]\nsizes = { fixed = \"10 kB\" }\nload = 0.04\nload_of = \"host-links\"\n\
        pairs = { incast = { fan_in = 8, receiver = \"h0\" } }\n";
    // 12.8 Gbps of payload to one host of 10.
    assert_eq!(under("conga", incast, ""), ["the links to `h0` 136"]);
    let pairs = "[traffic]\nsizes = { fixed = \"10 kB\" }\nload = 0.01\nload_of = \"host-links\"\n\
        pairs = [[\"h0\", \"h8\"]]\n";
    assert!(under("single_path", pairs, "").is_empty(), "3.2 Gbps of one host");
}

#[test]
fn failures_and_changes_count_from_when_they_happen() {
    let fails = |at: &str, link: &str| format!("[[event]]\nat = \"{at}\"\nfail = \"{link}\"\n");
    let heavy = FLOWS.replace("0.8", "0.9").replace("100 kB", "1 MB");
    let five: String = (0..5).map(|spine| fails("0 s", &format!("l0-s{spine}"))).collect();
    // 72 Gbps of payload over three uplinks of 20.
    assert_eq!(under("conga", &heavy, &five), ["the uplinks of `l0` 127"]);
    let later: String = (0..5).map(|spine| fails("200 us", &format!("l0-s{spine}"))).collect();
    let plan = plan(&format!("{LEAVES}{heavy}[scheme]\nname = \"conga\"\n{later}"));
    assert_eq!(plan.overloads[0].since.ps(), 200_000_000);
    assert!(plan.overloads[0].to_string().contains(", from 200 us on:"), "{}", plan.overloads[0]);
    let healed = format!("{later}{}", later.replace("fail", "heal").replace("200 us", "290 us"));
    assert!(under("conga", &heavy, &healed).is_empty(), "an outage of 9 % of the run is no lasting overload");
    let last: String = (0..5).map(|spine| fails("950 us", &format!("l0-s{spine}"))).collect();
    assert!(under("conga", &heavy, &last).is_empty(), "nor is one as short as the last twentieth");
    assert!(under("ecmp", &heavy, &fails("200 us", "l0-s0")).is_empty(), "seven uplinks carry it");
}

/// An event for each of five of the eight uplinks of `l0`; the other three do not carry its load.
fn five(at: &str, what: &str) -> String {
    (0..5).map(|spine| format!("[[event]]\nat = \"{at}\"\n{what} = \"l0-s{spine}\"\n")).collect()
}

fn outage(fails: &str, heals: &str) -> String {
    five(fails, "fail") + &five(heals, "heal")
}

/// The overloads of a heavy load under `conga`, as text.
fn texts(rest: &str) -> Vec<String> {
    let heavy = FLOWS.replace("0.8", "0.9").replace("100 kB", "1 MB");
    let plan = plan(&format!("{LEAVES}{heavy}[scheme]\nname = \"conga\"\n{rest}"));
    plan.overloads.iter().map(ToString::to_string).collect()
}

#[test]
fn an_outage_that_ends_counts_if_it_lasts() {
    for (fails, heals) in [("200 us", "950 us"), ("200 us", "400 us"), ("0 s", "300 us")] {
        let found = texts(&outage(fails, heals));
        let during = format!(
            ", from {fails} to {heals}: overloaded during this time, so results depend on its length"
        );
        assert!(found.len() == 1 && found[0].contains(&during), "{found:?}");
    }
    // Events that do not change what links carry do not divide it.
    let idle = "[[event]]\nat = \"250 us\"\nchange = \"l1-s0\"\nloss = 0.1\n\
        [[event]]\nat = \"260 us\"\nheal = \"l2-s0\"\n";
    assert_eq!(texts(&(five("200 us", "fail") + idle + &five("320 us", "heal"))).len(), 1);
    let flap = "[[event]]\nflap = [\"l0-s0\", \"l0-s1\", \"l0-s2\", \"l0-s3\", \"l0-s4\"]\nat = \"100 us\"\n\
        down = \"250 us\"\nup = \"50 us\"\ntimes = 3\n";
    let found = texts(flap);
    assert!(found.len() == 1 && found[0].contains(", from 100 us to 350 us: "), "{found:?}");
}

#[test]
fn outages_outside_the_measurement_window_do_not_count() {
    let window = "[measure]\nwindow = [\"500 us\", \"900 us\"]\n";
    let of = |fails, heals| texts(&format!("{}{window}", outage(fails, heals)));
    assert!(of("0 s", "50 us").is_empty(), "healed before it");
    assert!(of("0 s", "530 us").is_empty(), "healed soon after its start");
    assert!(of("920 us", "950 us").is_empty(), "after its end");
    assert!(of("880 us", "990 us").is_empty(), "shortly before its end");
    let found = of("100 us", "600 us");
    assert!(found.len() == 1 && found[0].contains(", from 100 us to 600 us: "), "{found:?}");
    let found = of("600 us", "950 us");
    assert!(found.len() == 1 && found[0].contains(", from 600 us on: "), "{found:?}");
}

#[test]
fn hosts_on_one_link_have_no_uplinks() {
    let text = "[fabric]\nfile = \"pair.txt\"\n[traffic]\nsizes = { fixed = \"10 kB\" }\nload = 0.2\n\
        load_of = \"host-links\"\n[scheme]\nname = \"ecmp\"\n[run]\nduration = \"1 ms\"\n";
    for (load, expected) in [("0.2", None), ("0.97", Some("the links of `h0`"))] {
        let scenario = Scenario::parse(&text.replace("0.2", load), "pair.toml").unwrap();
        let plan =
            scenario.plan(&scenario.points()[0], &|_| Ok(b"2 0 1\n0 1 10Gbps 1us 0\n".to_vec())).unwrap();
        assert_eq!(plan.overloads.first().map(|found| found.at.as_str()), expected);
    }
}

#[test]
fn flows_that_all_start_at_once_overload_nothing() {
    let at_once =
        "[traffic]\nsizes = { fixed = \"10 MB\" }\npairs = \"permutation\"\narrivals = \"at-once\"\n";
    assert!(under("single_path", at_once, "").is_empty());
    let listed =
        "[traffic]\nflow_list = [{ src = \"h0\", dst = \"h8\", bytes = \"1 GB\", start = \"0 s\" }]\n";
    assert!(under("spanning_tree", listed, SLOW).is_empty());
}

/// A group of flows that arrive at 150 % of the host links, beside one of 20 %.
#[test]
fn a_group_counts_if_its_flows_arrive_for_a_tenth_of_the_window() {
    let beside = FLOWS.replace("0.8", "0.2").replace("[traffic]", "[[traffic]]");
    let of = |group: &str| {
        let small = "[[traffic]]\nsizes = { fixed = \"1 kB\" }\nload = 1.5\nload_of = \"host-links\"\n";
        under("conga", &format!("{beside}{small}{group}\n"), "").len()
    };
    assert!(of("") > 0);
    // 32 hosts send 60 flows of 1 kB in a microsecond at this load, and the run lasts for a millisecond.
    for (flows, is_found) in [(60, false), (5_000, false), (7_000, true)] {
        assert_eq!(of(&format!("flows = {flows}")) > 0, is_found, "{flows}");
    }
    assert_eq!(of("start = \"950 us\""), 0);
}

#[test]
fn each_scheme_of_a_sweep_is_warned_of_by_its_own_split() {
    let text = format!(
        "{LEAVES}{FLOWS}[scheme]\nname = \"ecmp\"\n{SLOW}[run]\nduration = \"1 ms\"\n\
         [sweep]\n\"scheme.name\" = [\"conga\", \"ecmp\", \"wcmp\", \"spray\"]\n"
    );
    let scenario = Scenario::parse(&text, "sweep.toml").unwrap();
    let warnings = scenario.check(&|_| Err("no file".to_owned())).unwrap();
    let of = |scheme: &str| warnings.iter().filter(|text| text.starts_with(&format!("{scheme}: "))).count();
    assert_eq!(["conga", "ecmp", "wcmp", "spray"].map(of), [0, 1, 0, 1], "{warnings:?}");
}

#[test]
fn warnings_are_in_the_order_of_the_points_and_each_is_there_once() {
    let text = format!(
        "{LEAVES}{FLOWS}[scheme]\nname = \"ecmp\"\n{SLOW}[run]\nduration = \"1 ms\"\n\
         [sweep]\n\"scheme.name\" = [\"ecmp\", \"spray\"]\n\"traffic.load\" = [0.7, 0.8, 0.9]\n"
    );
    let scenario = Scenario::parse(&text, "sweep.toml").unwrap();
    let warnings = scenario.check(&|_| Err("no file".to_owned())).unwrap();
    let labels: Vec<&str> = warnings.iter().filter_map(|text| text.split(": ").next()).collect();
    let expected: Vec<&str> = scenario.points().iter().map(|point| point.label.as_str()).collect();
    assert_eq!(labels, expected, "{warnings:?}");
}
