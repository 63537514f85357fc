//! The events of a plan: links by share, changes of links, flaps.

use weft_scenario::{Cables, Change, Event, LinkChange, NewRate, Plan, Scenario};
use weft_units::{Duration, LinkId, Rate, Time};

/// The plan of the run with this seed of a spine-leaf fabric with 32 uplinks.
fn plan(events: &str, seed: u64) -> Plan {
    let text = format!(
        "[fabric]\nkind = \"spine-leaf\"\nspines = 4\nleaves = 8\nhosts_per_leaf = 1\n[scheme]\nname = \"ecmp\"\n\
         [traffic]\nflow_list = [{{ src = \"h0\", dst = \"h7\", bytes = \"1 kB\", start = \"0 s\" }}]\n\
         [run]\nseeds = [{seed}]\n{events}"
    );
    let scenario = Scenario::parse(&text, "events.toml").unwrap_or_else(|error| panic!("{error}"));
    let plan = scenario.plan(&scenario.points()[0], &|_| Err("no file is expected".to_owned()));
    plan.unwrap_or_else(|error| panic!("{error}"))
}

fn cables(event: &Event) -> &Cables {
    match &event.change {
        Change::FailCables(cables) | Change::HealCables(cables) | Change::ChangeCables(cables, _) => cables,
        other => panic!("{other:?}"),
    }
}

fn failed(share: f64, seed: u64) -> Vec<LinkId> {
    let plan = plan(&format!("[[event]]\nat = \"0 s\"\nfail = {{ share = {share} }}\n"), seed);
    cables(&plan.events[0]).links.to_vec()
}

#[test]
fn a_share_draws_the_nearest_number_of_uplinks_but_at_least_one() {
    for (share, count) in [(0.001, 1), (0.2, 6), (0.25, 8), (0.5, 16), (0.99, 32), (1.0, 32)] {
        let links = failed(share, 1);
        assert_eq!(links.len(), count, "{share}");
        assert!(links.is_sorted_by(|a, b| a < b), "each once: {links:?}");
    }
}

#[test]
fn a_share_draws_the_same_uplinks_with_the_same_seed_and_a_smaller_share_some_of_them() {
    let [few, many] = [0.2, 0.5].map(|share| failed(share, 7));
    assert_eq!(few, failed(0.2, 7));
    assert!(few.iter().all(|link| many.contains(link)), "{few:?} {many:?}");
    assert!((1..20).any(|seed| failed(0.2, seed) != few));
    let twice = plan(
        "[[event]]\nat = \"1 ms\"\nfail = { share = 0.3 }\n[[event]]\nat = \"2 ms\"\nheal = { share = 0.3 }\n",
        3,
    );
    assert_eq!(cables(&twice.events[0]).links, cables(&twice.events[1]).links);
    assert!(twice.warnings.is_empty(), "{:?}", twice.warnings);
}

#[test]
fn only_uplinks_of_leaves_are_drawn() {
    let fabric = plan("", 1).fabric;
    for link in failed(1.0, 1) {
        let ends = [fabric.link(link).from, fabric.link(link).to];
        let mut tiers = ends.map(|node| fabric.node(node).tier);
        tiers.sort_unstable();
        assert_eq!(tiers, [1, 2]);
    }
}

#[test]
fn a_change_has_its_links_and_properties() {
    let plan = plan(
        "[[event]]\nat = \"10 ms\"\nchange = [\"l0-s0\", \"s2-l1\"]\nrate = 0.2\nloss = 0.01\n\
         [[event]]\nat = \"11 ms\"\nchange = \"l0-s0\"\nrate = \"2 Gbps\"\nblackhole = 1\n",
        1,
    );
    let [first, second] = &plan.events[..] else { panic!("{:?}", plan.events) };
    let given = LinkChange { rate: Some(NewRate::Fraction(0.2)), loss: Some(0.01), blackhole: None };
    assert!(
        matches!(&first.change, Change::ChangeCables(cables, change) if cables.links.len() == 2 && *change == given)
    );
    assert_eq!(first.change.target(&plan.fabric), "l0-s0, s2-l1 (rate 0.2, loss 0.01)");
    assert_eq!(second.change.target(&plan.fabric), "l0-s0 (rate 2 Gbps, blackhole 1)");
    assert_eq!(NewRate::Fraction(0.2).of(Rate::from_gbps(10)), Rate::from_gbps(2));
    assert_eq!(
        plan.reroutes_at(first),
        Some(Time::ZERO + Duration::from_ms(20)),
        "10 ms is the default reaction"
    );
}

#[test]
fn a_flap_is_a_sequence_of_failures_and_recoveries_among_the_other_events() {
    let plan = plan(
        "[[event]]\nat = \"20 ms\"\nflap = \"l0-s0\"\ndown = \"1 ms\"\nup = \"5 ms\"\ntimes = 3\n\
         [[event]]\nat = \"22 ms\"\nfail = \"l1-s1\"\n",
        1,
    );
    let steps: Vec<(u64, &str, String)> = plan
        .events
        .iter()
        .map(|event| (event.at.ps() / 1_000_000_000, event.change.name(), event.change.target(&plan.fabric)))
        .collect();
    let flap = |ms, name| (ms, name, "l0-s0".to_owned());
    let expected = [flap(20, "fail"), flap(21, "heal"), (22, "fail", "l1-s1".to_owned())];
    assert_eq!(steps[..3], expected);
    assert_eq!(steps[3..], [flap(26, "fail"), flap(27, "heal"), flap(32, "fail"), flap(33, "heal")]);
}
