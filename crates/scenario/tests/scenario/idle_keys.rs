//! Warnings of keys of [traffic] and [transport] that have no effect, and the start of traces.

use weft_scenario::Scenario;
use weft_units::{Duration, Time};

/// A scenario of eight hosts with these sections.
fn scenario(sections: &str, sets: &[&str]) -> Scenario {
    let text = format!(
        "[fabric]\nkind = \"spine-leaf\"\nspines = 2\nleaves = 2\nhosts_per_leaf = 4\n\
         [scheme]\nname = \"ecmp\"\n[run]\nduration = \"1 s\"\n{sections}"
    );
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::parse_with(&text, "idle.toml", &sets).unwrap_or_else(|error| panic!("{error}"))
}

const TABLE: &str = "allreduce,0,65536,tree,ll,2,-1,-1\nallreduce,65537,4294967295,ring,ll128,-1,-1,-1\n";

fn warnings(sections: &str, sets: &[&str]) -> Vec<String> {
    let loader = |_: &str| Ok(TABLE.as_bytes().to_vec());
    scenario(sections, sets).check(&loader).unwrap_or_else(|error| panic!("{error}"))
}

const RING: &str = "[traffic]\ncollective = \"ring-all-reduce\"\nbytes = \"1 MB\"\n";

#[test]
fn keys_of_collectives_without_effect_are_warned_of() {
    assert_eq!(warnings(RING, &[]), [""; 0]);
    let factor = warnings(RING, &["traffic.straggler_factor=3.0"]);
    assert_eq!(factor, ["ecmp: `traffic.straggler_factor` has no effect without `stragglers`"]);
    let slow = ["traffic.straggler_factor=3.0", "traffic.stragglers=1", "traffic.compute=\"1 us\""];
    assert_eq!(warnings(RING, &slow), [""; 0]);
    let swept =
        format!("{RING}straggler_factor = 3.0\ncompute = \"1 us\"\n[sweep]\ntraffic.stragglers = [0, 1]\n");
    assert_eq!(warnings(&swept, &[]), [""; 0], "it is for the other point");
    let relay = warnings(RING, &["traffic.relay=\"pxn\""]);
    assert_eq!(
        relay,
        [
            "ecmp: `traffic.relay` has no effect: the fabric has no scale-up domains; set `fabric.scale_up`, or \
          remove it"
        ]
    );
    let all_to_all = "[traffic]\ncollective = \"all-to-all\"\nbytes = \"1 MB\"\ncompute = \"1 us\"\n";
    let idle = warnings(all_to_all, &[]);
    assert!(idle[0].contains("`traffic.compute` has no effect in one round of `all-to-all`"), "{idle:?}");
    assert_eq!(warnings(all_to_all, &["traffic.repeats=2"]), [""; 0]);
}

#[test]
fn a_step_of_timely_for_slow_links_is_warned_of_if_hosts_have_fast_ones() {
    let timely = ["transport.protocol=roce", "transport.congestion_control=timely"];
    let of = |sets: &[&str]| {
        warnings("[traffic]\nsizes = \"web-search\"\nload = 0.1\n", &[&timely[..], sets].concat())
    };
    assert_eq!(of(&["fabric.rate=25 Gbps"]), [""; 0]);
    assert_eq!(of(&["fabric.fabric_rate=100 Gbps"]), [""; 0], "hosts have 10 Gbps");
    assert_eq!(
        of(&["fabric.rate=100 Gbps"]),
        [
            "ecmp: transport.timely_step is 10 Mbps, a default for links of 10 Gbps, but hosts have links of 100 Gbps: rates \
          recover slowly after a queue; set transport.timely_step in proportion, such as \"100 Mbps\""
        ]
    );
    for other in [
        "transport.timely_step=100 Mbps",
        "transport.timely_step=10 Mbps",
        "transport.congestion_control=swift",
    ] {
        assert_eq!(of(&["fabric.rate=100 Gbps", other]), [""; 0], "{other}");
    }
}

#[test]
fn a_size_of_packets_in_scale_up_domains_needs_some() {
    let roce = format!("[transport]\nprotocol = \"roce\"\nscale_up_mtu = 9000\n{RING}");
    let found = warnings(&roce, &[]);
    let said = "`transport.scale_up_mtu` has no effect: the fabric has no scale-up domains";
    assert!(found.iter().any(|warning| warning.contains(said)), "{found:?}");
    let text = format!(
        "[fabric]\nkind = \"rail-optimised\"\npods = 1\nservers_per_pod = 2\ngpus = 4\nspines = 1\n\
         [scheme]\nname = \"ecmp\"\n[run]\nduration = \"1 s\"\n{roce}"
    );
    let rails = Scenario::parse_with(&text, "rails.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let with = rails.check(&|_| Ok(Vec::new())).unwrap_or_else(|error| panic!("{error}"));
    assert!(!with.iter().any(|warning| warning.contains("scale_up_mtu")), "{with:?}");
}

#[test]
fn keys_that_the_table_of_a_tuner_overrides_are_warned_of() {
    let tuned = format!("{RING}tuner = \"tuner.csv\"\n");
    assert_eq!(warnings(&tuned, &[]), [""; 0], "no key is overridden");
    assert_eq!(
        warnings(&tuned, &["traffic.protocol=\"simple\"", "traffic.channels=3"]),
        [
            "ecmp: `traffic.protocol` has no effect: line 2 of the tuner's table chooses `ring-all-reduce` with protocol \
             `ll128` and 3 channels"
        ]
    );
    assert_eq!(warnings(&tuned, &["traffic.protocol=\"ll128\""]), [""; 0]);
    let small = warnings(&tuned, &["traffic.bytes=\"8 kB\"", "traffic.channels=3"]);
    assert!(small[0].contains("`traffic.channels` has no effect: line 1"), "{small:?}");
    let large = warnings(&tuned, &["traffic.bytes=\"8 GB\""]);
    let none = "`traffic.tuner` has no effect: no line of the table fits 8 GB of `ring-all-reduce` among these ranks";
    assert!(large[0].contains(none), "{large:?}");
    let swept = format!("{tuned}protocol = \"simple\"\n[sweep]\ntraffic.bytes = [\"8 kB\", \"8 GB\"]\n");
    assert_eq!(warnings(&swept, &[]), [""; 0], "the key is for sizes without a line");
}

#[test]
fn a_trace_starts_when_its_group_says() {
    let goal = "num_ranks 2\nrank 0 {\nl1: send 1000b to 1 tag 0\nl2: calc 100\nl2 requires l1\n}\n\
                rank 1 {\nl1: recv 1000b from 0 tag 0\n}\n";
    let csv = "src,dst,bytes,start_s\nh0,h1,1000,0\nh0,h5,1000,0.001\n";
    for (file, text) in [("t.goal", goal), ("t.csv", csv)] {
        let starts = |start: &str| {
            let of = scenario(&format!("[traffic]\ntrace = \"{file}\"\nstart = \"{start}\"\n"), &[]);
            let plan = of.plan(&of.points()[0], &|_| Ok(text.as_bytes().to_vec()));
            let traffic = plan.unwrap_or_else(|error| panic!("{error}")).traffic;
            let flows: Vec<Time> = traffic.flows.iter().map(|flow| flow.start).collect();
            let steps: Vec<Time> = traffic.dependencies.steps().iter().map(|step| step.start).collect();
            [flows, steps].concat()
        };
        let (now, later) = (starts("0 s"), starts("3 ms"));
        let moved: Vec<Time> = now.iter().map(|at| *at + Duration::from_ms(3)).collect();
        assert!(!now.is_empty() && later == moved, "{file}: {now:?}, {later:?}");
    }
}

#[test]
fn steps_of_rings_that_are_not_recorded_are_warned_of() {
    let steps = "measure.ring_steps=true";
    let none = "ecmp: `measure.ring_steps` has no effect, as no ring is sent in parts: choose an algorithm \
                with rings and `traffic.connections = \"persistent\"`, without `traffic.relay`, or remove it";
    assert_eq!(warnings(RING, &[steps]), [none]);
    assert_eq!(warnings(RING, &[steps, "traffic.connections=\"persistent\""]), [""; 0]);
    let many = [steps, "traffic.connections=\"persistent\"", "traffic.repeats=10000"];
    let cut = "ecmp: `measure.ring_steps` records at most 1048576 of 1120000 steps of rings: those of the first flows";
    assert_eq!(warnings(RING, &many), [cut]);
}
