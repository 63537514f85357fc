//! Fabrics from files in a scenario.

use weft_scenario::Scenario;

/// The warning of keys of `[fabric]` without effect on two links, the first with a rate and a queue of its own.
fn without_effect(keys: &str, second: &str) -> Option<String> {
    noted(keys, ["rate = \"1 Gbps\"\nqueue = \"50 packets\"", second])
}

/// The same for any two links.
fn noted(keys: &str, [first, second]: [&str; 2]) -> Option<String> {
    let scenario = format!(
        "[fabric]\nfile = \"f.toml\"\n{keys}\n[scheme]\nname = \"ecmp\"\n\
         [traffic]\nflow_list = [{{ src = \"a\", dst = \"b\", bytes = \"1 B\" }}]\n"
    );
    let node = |name: &str, role: &str| format!("[[node]]\nname = \"{name}\"\nrole = \"{role}\"\n");
    let link = |ends: &str, more: &str| format!("[[link]]\nbetween = {ends}\n{more}\n");
    let file = [
        node("a", "host"),
        node("s", "switch"),
        node("b", "host"),
        link("[\"a\", \"s\"]", first),
        link("[\"s\", \"b\"]", second),
    ]
    .concat();
    let scenario = Scenario::parse(&scenario, "s.toml").unwrap_or_else(|error| panic!("{error}"));
    let warnings = scenario.check(&|_| Ok(file.clone().into_bytes()));
    let warnings = warnings.unwrap_or_else(|error| panic!("{error}"));
    warnings.into_iter().find(|text| text.contains("no effect"))
}

#[test]
fn keys_that_every_link_of_the_file_overrides_are_a_warning() {
    let own = "rate = \"2 Gbps\"\nqueue = \"60 packets\"";
    for (keys, named, replaced) in [
        (
            "rate = \"10 Gbps\"\necn_threshold = \"9 packets\"\ndelay = \"3 us\"",
            "`fabric.rate`, `fabric.ecn_threshold` have",
            "rate and queue, which replaces all keys about queues",
        ),
        (
            "queues = { weights = [1, 1] }",
            "`fabric.queues` has",
            "queue, which replaces all keys about queues",
        ),
        ("trim = true", "`fabric.trim` has", "queue, which replaces all keys about queues"),
        ("queue = \"9 packets\"\ndelay = \"3 us\"", "`fabric.queue` has", "queue"),
    ] {
        let expected = format!("{named} no effect: each link of `f.toml` has its own {replaced}");
        assert_eq!(without_effect(keys, own), Some(expected));
    }
    // Without a queue of its own, a link has the scenario's, but for the threshold.
    let threshold = "ecn_threshold = \"5 packets\"";
    assert_eq!(
        noted("queue = \"9 packets\"\necn_threshold = \"7 packets\"", [threshold; 2]).as_deref(),
        Some("`fabric.ecn_threshold` has no effect: each link of `f.toml` has its own ecn_threshold")
    );
    for (keys, second) in [
        ("rate = \"10 Gbps\"\nqueues = { weights = [1, 1] }", "delay = \"1 ms\""),
        ("delay = \"3 us\"\noverhead = \"none\"", own),
        ("", own),
    ] {
        assert_eq!(without_effect(keys, second), None, "{keys}");
    }
}
