//! From a scenario to its runs: sweeps, seeds and `--set`.

use weft_fabric::{Limit, QueueSpec};
use weft_scenario::{Cables, Change, Scenario};
use weft_switching::ParamValue;
use weft_transport::Protocol;
use weft_units::{Duration, LinkId};

const GOOD: &str = r#"
[fabric]
kind = "fat-tree"
k = 4
rate = "1 Gbps"
[traffic]
sizes = "web-search"
load = 0.4
[scheme]
name = "ecmp"
[run]
duration = "100 ms"
"#;

pub fn no_files(path: &str) -> Result<Vec<u8>, String> {
    Err(format!("{path} is not expected to be read"))
}

pub fn scenario(more: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    Scenario::parse_with(&format!("{GOOD}{more}"), "dir/good.toml", &sets)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn labels(scenario: &Scenario) -> Vec<&str> {
    let mut labels: Vec<&str> = scenario.points().iter().map(|point| point.label.as_str()).collect();
    labels.dedup();
    labels
}

#[test]
fn a_scenario_without_a_sweep_is_one_run_named_by_its_scheme() {
    let scenario = scenario("", &[]);
    assert_eq!((scenario.name(), labels(&scenario)), ("good", vec!["ecmp"]));
    let [point] = scenario.points() else { panic!() };
    assert_eq!((point.seed, point.overrides.len()), (1, 0));
    assert_eq!(point.id, "ecmp-seed1-6b86b273", "ids are stable: results of older versions are found again");
}

#[test]
fn a_sweep_goes_through_every_value_with_every_other_in_the_order_of_the_file() {
    let sweep =
        "seeds = [7, 3]\n[sweep]\n\"traffic.load\" = [0.4, 0.2]\nscheme.name = [\"spray\", \"ecmp\"]\n";
    let scenario = scenario(sweep, &[]);
    assert_eq!(labels(&scenario), ["load=0.4, spray", "load=0.4, ecmp", "load=0.2, spray", "load=0.2, ecmp"]);
    let seeds: Vec<u64> = scenario.points().iter().map(|point| point.seed).collect();
    assert_eq!(seeds, [7, 3, 7, 3, 7, 3, 7, 3]);
    assert_eq!(
        serde_json::to_value(&scenario.points()[5].overrides).unwrap(),
        serde_json::json!({"scheme.name": "spray", "traffic.load": 0.2})
    );
}

#[test]
fn keys_that_end_alike_are_distinguished_in_labels() {
    let sweep = "[sweep]\n\"fabric.rate\" = [\"1 Gbps\"]\n\"traffic.flows\" = [5]\n\"fabric.k\" = [4]\n";
    assert_eq!(labels(&scenario(sweep, &[])), ["rate=1 Gbps, flows=5, k=4"]);
    let groups = "[[traffic]]\nclass = \"a\"\nsizes = \"web-search\"\n[[traffic]]\nclass = \"b\"\nsizes = \"web-search\"\n\
                  [fabric]\nkind = \"ring\"\nswitches = 3\nhosts_per_switch = 2\n[scheme]\nname = \"ecmp\"\n\
                  [sweep]\ntraffic.a.flows = [1]\ntraffic.b.flows = [2]\n";
    let scenario = Scenario::parse(groups, "x").unwrap();
    assert_eq!(labels(&scenario), ["traffic.a.flows=1, traffic.b.flows=2"]);
}

#[test]
fn a_set_key_is_as_if_written_and_is_swept_no_longer() {
    let sweep = "[sweep]\n\"traffic.load\" = [0.4, 0.2]\nscheme.name = [\"spray\", \"ecmp\"]\n";
    for (sets, expected) in [
        (&["traffic.load=0.3"][..], vec!["spray", "ecmp"]),
        (&["scheme.name=single_path"], vec!["load=0.4", "load=0.2"]),
        (&["scheme.name=spray", "traffic.load=0.3"], vec!["spray"]),
        (&["sweep.traffic.load=[0.1]"], vec!["spray, load=0.1", "ecmp, load=0.1"]),
        (&["sweep.scheme.name=[\"ecmp\"]"], vec!["load=0.4, ecmp", "load=0.2, ecmp"]),
        (
            &["fabric.rate=2 Gbps"],
            vec!["load=0.4, spray", "load=0.4, ecmp", "load=0.2, spray", "load=0.2, ecmp"],
        ),
    ] {
        assert_eq!(labels(&scenario(sweep, sets)), expected, "{sets:?}");
    }
    let plain = scenario("", &[]);
    let seeds = scenario("", &["run.seeds=[5]"]);
    assert_eq!(plain.fingerprint(), seeds.fingerprint(), "more seeds are more of the same");
    let set = scenario("", &["run.seeds=[5]", "fabric.rate = 2 Gbps"]);
    assert_ne!(seeds.fingerprint(), set.fingerprint());
    assert_ne!(seeds.points()[0].id, set.points()[0].id);
    let plan = set.plan(&set.points()[0], &no_files).unwrap();
    assert_eq!((plan.seed, plan.fabric.links()[0].rate.bps()), (5, 2_000_000_000));
}

#[test]
fn a_run_is_found_by_its_id() {
    let scenario = scenario("", &["run.seeds=3"]);
    for point in scenario.points() {
        assert_eq!(scenario.point(&point.id).unwrap().seed, point.seed);
    }
    let first = &scenario.points()[0].id;
    assert_eq!(
        scenario.point("none").unwrap_err(),
        format!("the scenario has no run `none`: its first run is `{first}`")
    );
}

#[test]
fn a_parameter_of_one_swept_scheme_is_no_error_of_another() {
    let more = "[sweep]\n\"scheme.name\" = [\"spanning_tree\", \"spray\"]\n";
    let scenario = scenario(more, &["scheme.ageing=10 s"]);
    let plans: Vec<_> =
        scenario.points().iter().map(|point| scenario.plan(point, &no_files).unwrap().scheme).collect();
    assert!(matches!(plans[0].params["ageing"], ParamValue::Duration(_)));
    assert!(plans[1].params.is_empty());
}

#[test]
fn whole_tables_can_be_swept() {
    let more = "[sweep]\nscheme = [{ name = \"spray\" }, { name = \"spanning_tree\", ageing = \"5 s\" }]\n";
    assert_eq!(labels(&scenario(more, &[])), ["spray", "spanning_tree ageing=5 s"]);
}

#[test]
fn a_load_that_cannot_be_carried_is_a_warning() {
    let heavy = scenario("[sweep]\n\"traffic.load\" = [0.5, 1.5]\n", &[]);
    let warnings = heavy.check(&no_files).unwrap();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings[0]
            .starts_with("load=1.5: offered load on the uplinks of `e0` (and 15 more like it) is 159.3 % of their capacity (2 Gbps)"),
        "{warnings:?}"
    );
}

#[test]
fn what_can_make_no_difference_is_a_warning() {
    let of = |changes: &[&str]| {
        let sets: Vec<String> = changes.iter().map(|set| (*set).to_owned()).collect();
        let text = "[fabric]\nkind = \"spine-leaf\"\nspines = 2\nleaves = 2\nhosts_per_leaf = 2\nrate = \"1 Gbps\"\n\
            [traffic]\nsizes = \"web-search\"\nload = 0.3\n[scheme]\nname = \"tfe\"\n[run]\nduration = \"1 s\"\n";
        Scenario::parse_with(text, "text", &sets).unwrap().check(&no_files).unwrap()
    };
    let [unmarked] = &of(&[])[..] else { panic!("{:?}", of(&[])) };
    assert!(unmarked.contains("no flow has the ports 3500 to 4500"), "{unmarked}");
    assert!(of(&["traffic.elephant_ports=[3500, 4500]"]).is_empty());
    assert!(of(&["scheme.classifier=auto"]).is_empty());
    let ports = |first, last| {
        of(&[&format!("scheme.first_port={first}"), &format!("scheme.last_port={last}")]).join("")
    };
    assert!(ports(5001, 5002).contains("the same as `tcp_path`"), "{}", ports(5001, 5002));
    assert!(ports(30_000, 40_000).contains("ordinary flows"), "{}", ports(30_000, 40_000));
    let tree = of(&["fabric.spines=1", "scheme.classifier=auto"]);
    assert!(tree.len() == 1 && tree[0].contains("there is nothing to choose"), "{tree:?}");
}

#[test]
fn keys_of_subflows_that_there_are_not_are_warned_of() {
    let of = |more: &str, sets: &[&str]| scenario(more, sets).check(&no_files).unwrap();
    let given = "[transport]\nsubflows = 8\nmptcp_version = 0\nmptcp_congestion = \"olia\"\n";
    let off = of(given, &[]);
    assert_eq!(
        off,
        [
            "ecmp: `transport.subflows`, `transport.mptcp_version`, `transport.mptcp_congestion` have no effect while \
          transport.mptcp is \"off\": set it to \"ndiffports\" or \"fullmesh\""
        ]
    );
    assert_eq!(of("", &["transport.mptcp=off"]), [""; 0]);
    assert_eq!(of(given, &["transport.mptcp=ndiffports"]), [""; 0]);
    let swept = "[transport]\nsubflows = 8\n[sweep]\ntransport.mptcp = [\"off\", \"ndiffports\"]\n";
    assert_eq!(of(swept, &[]), [""; 0], "they are for the other points");
    let counts = of("[sweep]\ntransport.subflows = [2, 4]\n", &[]);
    assert!(counts.len() == 2 && counts[0].contains("`transport.subflows` has no effect"), "{counts:?}");

    let mesh = of(given, &["transport.mptcp=fullmesh"]);
    let [single, unread] = &mesh[..] else { panic!("{mesh:?}") };
    assert!(single.contains("every host has one"), "{single}");
    assert!(
        unread.contains("`transport.subflows` has no effect while transport.mptcp is \"fullmesh\""),
        "{unread}"
    );
    // Two hosts with two links each.
    let text = "[fabric]\nfile = \"two.toml\"\n[traffic]\nsizes = \"web-search\"\nload = 0.1\nload_of = \"host-links\"\npairs = \"random\"\n[scheme]\nname = \"ecmp\"\n\
        [transport]\nmptcp = \"fullmesh\"\n[run]\nduration = \"1 s\"\n";
    let links = ["h0-a", "h0-b", "h1-a", "h1-b"].map(|cable| {
        let (host, switch) = cable.split_once('-').unwrap();
        format!("[[link]]\nbetween = [\"{host}\", \"{switch}\"]\nrate = \"1 Gbps\"\n")
    });
    let nodes = ["h0", "h1", "a", "b"].map(|name| {
        let role = if name.starts_with('h') { "host" } else { "switch" };
        format!("[[node]]\nname = \"{name}\"\nrole = \"{role}\"\n")
    });
    let fabric = [nodes.concat(), links.concat()].concat();
    let two = Scenario::parse_with(text, "two-homed.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let warnings = two.check(&|_| Ok(fabric.clone().into_bytes()));
    assert_eq!(warnings.unwrap_or_else(|error| panic!("{error}")), [""; 0]);
}

#[test]
fn keys_that_another_key_leaves_without_effect_are_warned_of() {
    let of = |given: &str, sets: &[&str]| {
        let more = ["fabric.ecn_threshold=100 kB", "fabric.rate=400 Gbps", "traffic.load=0.1"];
        let scenario = scenario(given, &[&more[..], sets].concat());
        let mut warnings = scenario.check(&no_files).unwrap_or_else(|error| panic!("{error}"));
        // Some of the protocols have no use for the threshold, and TIMELY's default step is for slower links.
        let others = ["no packet is ECN-capable", "a default for links of 10 Gbps"];
        warnings.retain(|warning| !others.iter().any(|other| warning.contains(other)));
        warnings
    };
    let trim = "fabric.trim=true";
    let two = "fabric.queues={ weights = [1, 1] }";
    for (given, no, yes) in [
        ("protocol = \"uec\"\nentropy_choice = \"reps\"", "scheme.name=spray", "scheme.name=ecmp"),
        ("protocol = \"uec\"\nentropies = 8", "scheme.name=single_path", "scheme.name=letflow"),
        ("protocol = \"uec\"\nwindow = 9", "transport.congestion=nscc", "transport.congestion=fixed"),
        (
            "protocol = \"uec\"\nbase_rtt = \"9 us\"",
            "transport.congestion=fixed",
            "transport.congestion=nscc",
        ),
        ("protocol = \"udp\"\nmean_on = \"1 ms\"", "transport.pattern=constant", "transport.pattern=on-off"),
        (
            "protocol = \"roce\"\nrto_low = \"9 us\"",
            "transport.loss_recovery=go-back-n",
            "transport.loss_recovery=selective-repeat",
        ),
        (
            "protocol = \"roce\"\nretransmission_timeout = \"9 us\"",
            "transport.loss_recovery=selective-repeat",
            "transport.loss_recovery=go-back-n",
        ),
        (
            "protocol = \"roce\"\nmin_rate = \"1 Gbps\"",
            "transport.congestion_control=off",
            "transport.congestion_control=dcqcn",
        ),
        (
            "protocol = \"roce\"\nalpha_gain = 0.5",
            "transport.congestion_control=swift",
            "transport.congestion_control=dcqcn",
        ),
        (
            "protocol = \"roce\"\nhpcc_eta = 0.9",
            "transport.congestion_control=dcqcn",
            "transport.congestion_control=hpcc",
        ),
        (
            "protocol = \"roce\"\ntimely_low = \"9 us\"",
            "transport.congestion_control=hpcc",
            "transport.congestion_control=timely",
        ),
        (
            "protocol = \"roce\"\nswift_beta = 0.5",
            "transport.congestion_control=timely",
            "transport.congestion_control=swift",
        ),
        (
            "protocol = \"roce\"\nbase_rtt = \"9 us\"",
            "transport.congestion_control=dcqcn",
            "transport.congestion_control=timely",
        ),
        (
            "protocol = \"roce\"\nack_every = 4",
            "transport.congestion_control=hpcc",
            "transport.congestion_control=timely",
        ),
    ] {
        let given = format!("[transport]\n{given}\n");
        let (decides, value) = no.split_once('=').unwrap();
        let warnings = of(&given, &[no]);
        let expected = format!("has no effect while {decides} is \"{value}\"");
        assert!(warnings.len() == 1 && warnings[0].contains(&expected), "{given}: {warnings:?}");
        assert_eq!(of(&given, &[yes]), [""; 0], "{given}");
        let (_, other) = yes.split_once('=').unwrap();
        let swept = format!("{given}[sweep]\n{decides} = [\"{value}\", \"{other}\"]\n");
        assert_eq!(of(&swept, &[]), [""; 0], "{given}: it is for the other point");
    }
    let warnings = of("", &[trim, two]);
    assert!(warnings.len() == 1 && warnings[0].contains("`trim` has no effect"), "{warnings:?}");
    assert_eq!(of("", &[trim, two, "transport.protocol=uec"]), [""; 0]);
    let own = "fabric.trim_queue=200 kB";
    assert_eq!(of("", &[trim, two, own, "transport.protocol=uec"]), [""; 0]);
    let warnings = of("", &[two, own, "transport.protocol=uec"]);
    assert!(warnings.len() == 1 && warnings[0].contains("`trim_queue` has no effect"), "{warnings:?}");
    assert_eq!(of("[sweep]\nfabric.trim = [true, false]\n", &[two, own, "transport.protocol=uec"]), [""; 0]);
    assert_eq!(of("[sweep]\ntransport.protocol = [\"tcp\", \"uec\"]\n", &[trim, two]), [""; 0]);
}

#[test]
fn a_full_mesh_of_one_link_into_the_network_is_warned_of() {
    let text = "[fabric]\nkind = \"spine-leaf\"\nspines = 1\nleaves = 2\nhosts_per_leaf = 2\n[traffic]\nsizes = { fixed = \"1 MB\" }\n\
        load = 0.1\nload_of = \"host-links\"\npairs = \"random\"\n[scheme]\nname = \"ecmp\"\n[transport]\nmptcp = \"fullmesh\"\n[run]\nduration = \"1 s\"\n";
    // A link into a scale-up domain is none of them.
    for (set, is_warned) in [("fabric.tors=1", true), ("fabric.scale_up=2", true), ("fabric.tors=2", false)] {
        let scenario = Scenario::parse_with(text, "mesh.toml", &[set.to_owned()]);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        let warnings = scenario.check(&no_files).unwrap_or_else(|error| panic!("{error}"));
        let is_single = |warning: &String| warning.contains("opens one subflow only");
        assert_eq!(warnings.iter().any(is_single), is_warned, "{set}: {warnings:?}");
    }
}

#[test]
fn smoc_without_subflows_is_warned_of_wherever_it_is_in_a_sweep() {
    let of = |more: &str, sets: &[&str]| scenario(more, sets).check(&no_files).unwrap();
    let expected = "smoc: `smoc` only puts plain TCP on the shortest path: set transport.mptcp = \
                    \"ndiffports\" or \"fullmesh\"";
    assert_eq!(of("", &["scheme.name=smoc"]), [expected]);
    for order in ["[\"ecmp\", \"smoc\"]", "[\"smoc\", \"ecmp\"]"] {
        let sweep = format!("[sweep]\nscheme.name = {order}\n");
        assert_eq!(of(&sweep, &[]), [expected]);
        assert_eq!(of(&sweep, &["transport.mptcp=ndiffports"]), [""; 0]);
    }
}

#[test]
fn a_host_scheme_without_effect_is_warned_of() {
    let of = |sets: &[&str]| scenario("", sets).check(&no_files).unwrap();
    assert_eq!(of(&["scheme.name=plb"]), [""; 0]);
    for (over, expected) in [("spray", 1), ("drill", 1), ("ecmp", 0), ("letflow", 0)] {
        let warnings = of(&["scheme.name=plb", &format!("scheme.over={over}")]);
        assert_eq!(warnings.len(), expected, "{over}: {warnings:?}");
        let names_both = |text: &String| text.contains(&format!("`plb` has no effect over `{over}`"));
        assert!(warnings.iter().all(names_both), "{over}: {warnings:?}");
    }
    let multipath = of(&["scheme.name=presto", "transport.mptcp=ndiffports"]);
    assert!(
        multipath.len() == 1 && multipath[0].contains("`presto` chooses paths for plain TCP"),
        "{multipath:?}"
    );
}

#[test]
fn events_that_change_nothing_are_warned_of() {
    let of = |events: &str| scenario(events, &[]).check(&no_files).unwrap();
    let late = of("[[event]]\nat = \"10 h\"\nfail = \"e0-a0\"\n");
    assert!(late.len() == 1 && late[0].contains("after the end of the run"), "{late:?}");
    let up = of("[[event]]\nat = \"1 ms\"\nheal = \"e0-a0\"\n");
    assert!(up.len() == 1 && up[0].contains("changes nothing"), "{up:?}");
    let fail = "[[event]]\nat = \"1 ms\"\nfail = \"e0-a0\"\n";
    let twice = of(&format!("{fail}{fail}"));
    assert!(twice.len() == 1 && twice[0].contains("is down"), "{twice:?}");
    // A run ends after 10 s.
    let flap =
        "[[event]]\nat = \"9.9 s\"\nflap = \"e0-a0\"\ndown = \"50 ms\"\nup = \"50 ms\"\ntimes = 10000\n";
    let late = of(flap);
    assert_eq!(late[0], "ecmp: 19997 events, from 10.05 s on, are after the end of the run, 10 s");
    assert!(late[1].contains("3 events, from 9.9 s on, come after the last flow starts, 100 ms"), "{late:?}");
    let at = |ms: u32| fail.replace("1 ms", &format!("{ms} ms"));
    let idle = of(&(1..=100).map(at).collect::<String>());
    assert_eq!(idle.len(), 6, "{idle:?}");
    assert_eq!(idle[5], "ecmp: 94 more events change nothing");
}

#[test]
fn intervals_that_sample_too_often_or_never_are_warned_of() {
    let of =
        |interval: &str| scenario("", &[&format!("measure.interval={interval}")]).check(&no_files).unwrap();
    assert!(
        of("1 ns")[0].contains("measure.interval is 1 ns: if the run lasts for 100 ms, 100000000 samples"),
        "{:?}",
        of("1 ns")
    );
    assert!(of("1 s")[0].contains("longer than run.duration, 100 ms"), "{:?}", of("1 s"));
    assert!(of("1 ms").is_empty());
}

#[test]
fn events_are_found_in_the_fabric_and_a_cut_is_a_warning() {
    let events = "[[event]]\nat = \"10 ms\"\nfail = \"e0-a0\"\n[[event]]\nat = \"50 ms\"\nheal = \"a0-e0\"\n";
    let one = scenario(events, &[]);
    let plan = one.plan(&one.points()[0], &no_files).unwrap();
    let link = plan.fabric.link_named("e0-a0").unwrap();
    let cables =
        |label: &str| Cables { links: [LinkId(link.0 & !1)].into(), label: label.into(), drawn: false };
    let changes: Vec<Change> = plan.events.iter().map(|event| event.change.clone()).collect();
    assert_eq!(changes, [Change::FailCables(cables("e0-a0")), Change::HealCables(cables("a0-e0"))]);
    assert!(plan.warnings.is_empty());
    let (fail, heal) = events.split_at(events.rfind("[[event]]").unwrap());
    let both = scenario(&format!("{fail}[[event]]\nat = \"20 ms\"\nfail = \"e0-a1\"\n{heal}"), &[]);
    let warnings = both.check(&no_files).unwrap();
    assert!(warnings[0].contains("the uplinks of `e0`"), "{warnings:?}");
    assert!(warnings[1].contains("from 20 ms on there is no path between `h0` and `h2`"), "{warnings:?}");
}

#[test]
fn links_differ_where_the_scenario_says_so() {
    let more = "[[fabric.link]]\nbetween = \"a1-e0\"\nrate = \"10 Mbps\"\nrate_back = \"20 Mbps\"\ndelay = \"3 us\"\n\
                delay_back = \"4 us\"\nqueue = \"9 packets\"\n";
    let scenario = scenario(more, &["fabric.failed=[\"a7-c3\"]", "fabric.ecn_threshold=5 packets"]);
    let fabric = scenario.plan(&scenario.points()[0], &no_files).unwrap().fabric;
    let link = |name: &str| fabric.link(fabric.link_named(name).unwrap());
    let shown = |name: &str| (link(name).rate.to_string(), link(name).delay.to_string());
    assert_eq!(shown("a1-e0"), ("10 Mbps".into(), "3 us".into()));
    assert_eq!(shown("e0-a1"), ("20 Mbps".into(), "4 us".into()));
    assert_eq!(link("e0-a1").queue.limit.to_string(), "9 packets");
    assert_eq!(link("e0-a1").queue.ecn_threshold, Some(Limit::Packets(5)));
    assert_eq!(link("e0-h0").queue.ecn_threshold, Some(Limit::Packets(5)));
    assert_eq!(link("h0-e0").queue, QueueSpec::fifo(Limit::Unlimited), "a host neither drops nor marks");
    assert!(!link("c3-a7").up && link("c3-a5").up);
}

#[test]
fn the_flows_of_lists_and_traces_are_taken_as_they_are() {
    let group = |keys: &str| {
        let text = GOOD.replace("sizes = \"web-search\"\nload = 0.4\n", keys);
        let scenario = Scenario::parse(&text, "x.toml").unwrap_or_else(|error| panic!("{error}"));
        let trace = b"src,dst,bytes,start,class\nh3,h4,1 MB,2 ms,long\nh1,h2,5 kB,1 ms,\n".to_vec();
        scenario.plan(&scenario.points()[0], &|_| Ok(trace.clone())).unwrap().traffic
    };
    let listed = group(
        "class = \"other\"\nflow_list = [{ src = \"h3\", dst = \"h4\", bytes = \"1 MB\", start = \"2 ms\", class = \
         \"long\" }, { src = \"h1\", dst = \"h2\", bytes = \"5 kB\", start = \"1 ms\" }]\n",
    );
    let traced = group("class = \"other\"\ntrace = \"flows.csv\"\n");
    assert_eq!(listed.flows, traced.flows);
    assert_eq!(traced.classes, ["long", "other"]);
    assert_eq!(traced.flows.iter().map(|flow| flow.bytes).collect::<Vec<_>>(), [5_000, 1_000_000]);
}

#[test]
fn queues_that_a_transport_can_do_nothing_with_are_a_warning() {
    let sweep = "[transport]\nprofile = \"linux\"\n[sweep]\ntransport.profile = [\"linux\", \"dctcp\"]\n";
    let warnings = scenario(sweep, &[]).check(&no_files).unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("profile=dctcp: no queue marks packets"), "{warnings:?}");
    let marking = scenario(sweep, &["fabric.ecn_threshold=65 packets"]);
    assert_eq!(marking.check(&no_files).unwrap(), [""; 0]);

    let warnings = scenario("", &["fabric.queue=1537 B"]).check(&no_files).unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].contains("holds 1.537 kB, less than a full frame: 1.538 kB are needed"),
        "{warnings:?}"
    );
    assert_eq!(scenario("", &["fabric.queue=1538 B"]).check(&no_files).unwrap(), [""; 0]);
    let short = ["fabric.queue=1537 B", "transport.mss=1447"];
    assert_eq!(scenario("", &short).check(&no_files).unwrap(), [""; 0]);
}

#[test]
fn paths_longer_than_the_room_for_telemetry_are_a_warning() {
    let of = |sets: &[&str]| {
        let hpcc = ["transport.protocol=roce", "transport.congestion_control=hpcc"];
        scenario("", &[&hpcc[..], sets].concat()).check(&no_files).unwrap_or_else(|error| panic!("{error}"))
    };
    assert_eq!(of(&[]), [""; 0]);
    assert_eq!(of(&["transport.hpcc_hops=5"]), [""; 0]);
    assert_eq!(of(&["transport.hpcc_hops=4", "transport.congestion_control=timely"]).len(), 1);
    let warnings = of(&["transport.hpcc_hops=4"]);
    let expected = "transport.hpcc_hops is 4, but the longest path has 5 switches, and HPCC does not react to \
                    queues beyond that: set transport.hpcc_hops = 5";
    assert!(warnings.len() == 1 && warnings[0].ends_with(expected), "{warnings:?}");
}

#[test]
fn flow_control_that_protects_nothing_is_a_warning() {
    let of = |sets: &[&str]| {
        let roce = ["transport.protocol=roce", "fabric.ecn_threshold=100 kB"];
        scenario("", &[&roce[..], sets].concat()).check(&no_files).unwrap_or_else(|error| panic!("{error}"))
    };
    let two = "fabric.queues={ weights = [1, 1] }";
    let large = "transport.mtu=65000";
    let more = "fabric.queue=2 MB";
    for sets in [
        &["fabric.pfc={}"][..],
        &[two, "fabric.pfc={ queues = [1] }"],
        &[two, "fabric.pfc={ queues = [0] }", "traffic.dscp=8"],
        &["fabric.pfc={ headroom = \"5 kB\" }"],
        &[more, large, "fabric.pfc={ headroom = \"250 kB\" }"],
    ] {
        assert_eq!(of(sets), [""; 0], "{sets:?}");
    }
    for (sets, parts) in [
        (&["fabric.pfc={ headroom = \"2 kB\" }"][..], ["its headroom is 2 kB, and", "up to 3.582 kB arrive"]),
        (
            &[more, large, "fabric.pfc={}"],
            ["its headroom is 28.098 kB, computed for packets of 9.254 kB", "195.582 kB"],
        ),
        (
            &[two, "fabric.pfc={ queues = [0] }"],
            ["no flow is in a lossless queue", "DSCP 0 waits in queue 1 of 0 to 1"],
        ),
    ] {
        let warnings = of(sets);
        assert!(warnings.len() == 1 && parts.iter().all(|part| warnings[0].contains(part)), "{warnings:?}");
    }
}

#[test]
fn a_timeout_that_queues_outlast_is_a_warning() {
    let of = |sets: &[&str]| {
        let uec = ["transport.protocol=uec", "fabric.ecn_threshold=50 kB"];
        scenario("", &[&uec[..], sets].concat()).check(&no_files).unwrap_or_else(|error| panic!("{error}"))
    };
    // Six links of 1 us and 4198 B at 1 Gbps, and back with 84 B; a queue of 100 kB takes 800 us.
    let warnings = of(&["fabric.queue=100 kB"]);
    let parts = ["transport.rto is 435", "may take 1.018 ms", "218 us over", "800 us in a full queue"];
    assert!(warnings.len() == 1 && parts.iter().all(|part| warnings[0].contains(part)), "{warnings:?}");
    assert_eq!(of(&["fabric.queue=100 kB", "transport.rto=1.1 ms"]), [""; 0]);
    let warnings = of(&["fabric.queue=unlimited"]);
    let parts = ["transport.rto is 435", "in a queue without a limit", "Set a limit (fabric.queue)"];
    assert!(warnings.len() == 1 && parts.iter().all(|part| warnings[0].contains(part)), "{warnings:?}");
    assert_eq!(of(&["fabric.queue=unlimited", "fabric.rate=100 Gbps", "fabric.buffer=1 MB"]), [""; 0]);
    assert_eq!(of(&["fabric.queue=136 kB", "fabric.rate=100 Gbps"]), [""; 0]);
    let shared = ["fabric.rate=100 Gbps", "fabric.queue=50 MB", "fabric.buffer=1 MB"];
    assert_eq!(of(&shared), [""; 0], "half of a shared buffer");
}

#[test]
fn a_timeout_that_the_longest_path_outlasts_is_an_error() {
    let of = |sets: &[&str]| {
        let uec = ["transport.protocol=uec", "fabric.delay=30 us", "fabric.rate=100 Gbps"];
        let one = scenario("", &[&uec[..], sets].concat());
        one.plan(&one.points()[0], &no_files).map(|plan| plan.transport.protocol)
    };
    // Six links of 30 us each way.
    let Ok(Protocol::Uec(config)) = of(&[]) else { panic!("no plan") };
    assert_eq!(
        (config.base_rtt, config.rto),
        (Some(Duration::from_ps(362_055_360)), Some(config.base_rtt.unwrap() * 2))
    );
    let error = of(&["transport.rto=100 us"]).unwrap_err().to_string();
    let parts = ["`transport.rto` is 100 us", "round-trip time of 362.05536 us", "expected more than"];
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    assert!(of(&["transport.rto=400 us"]).is_ok());
}

#[test]
fn the_base_round_trip_of_ultra_ethernet_is_that_of_the_fabric() {
    let of = |sets: &[&str]| {
        let uec = ["transport.protocol=uec", "transport.rto=9 ms", "fabric.queues={ weights = [1, 1] }"];
        let scenario = scenario("", &[&uec[..], sets].concat());
        let plan = scenario.plan(&scenario.points()[0], &no_files).unwrap_or_else(|error| panic!("{error}"));
        let Protocol::Uec(config) = plan.transport.protocol else { panic!("another protocol") };
        (config.base_rtt.unwrap(), config.target_delay.unwrap())
    };
    // Six links of 1 us each way, 4198 B at 100 Gbps there and 84 B back: 335.84 and 6.72 ns each.
    let longest = Duration::from_ps(6 * (2_000_000 + 335_840 + 6_720));
    assert_eq!(of(&["fabric.rate=100 Gbps"]), (longest, longest));
    assert_eq!(of(&["fabric.rate=100 Gbps", "fabric.trim=true"]), (longest, longest * 3 / 4));
    let us = Duration::from_us;
    assert_eq!(of(&["fabric.trim=true", "transport.base_rtt=20 us"]), (us(20), us(15)));
    assert_eq!(of(&["fabric.trim=true", "transport.target_delay=5 us"]).1, us(5));
}

#[test]
fn flows_that_no_summary_counts_are_a_warning() {
    let late = "[measure]\nwindow = [\"0 s\", \"1 ns\"]\n";
    let warnings = scenario(late, &[]).check(&no_files).unwrap();
    assert_eq!(warnings, ["ecmp: no flow starts in the window from 0 s to 1 ns: summaries are empty"]);
    let sets = ["traffic={ flow_list = [{ src = \"h0\", dst = \"h1\", bytes = \"1 B\", start = \"1 h\" }] }"];
    let warnings = scenario("", &sets).check(&no_files).unwrap();
    assert_eq!(warnings, ["ecmp: 1 of 1 flow starts after the end of the run, 10 s"]);
}

#[test]
fn what_makes_another_scenario_of_one_is_listed_by_key() {
    let before = "[fabric]\nkind = \"fat-tree\"\nk = 4\n[scheme]\nname = \"ecmp\"\n[[traffic]]\nclass = \"a\"\nload = 0.2\n\
        sizes = \"web-search\"\n[[traffic]]\nclass = \"b\"\nload = 0.1\nsizes = \"web-search\"\n";
    let now = |text: &str, sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        Scenario::parse_with(text, "text", &sets).unwrap()
    };
    let since = |scenario: &Scenario, sets: &[String]| scenario.changes_since(before, sets);
    assert_eq!(since(&now(before, &["measure.baseline=ecmp"]), &[]), [""; 0], "it changes no result");
    assert_eq!(
        since(&now(before, &[]), &["measure.interval=1 ms".into()]),
        ["measure.interval (1 ms -> none)"]
    );
    assert_eq!(since(&now(before, &["traffic.b.load=0.3"]), &[]), ["traffic.1.load (0.1 -> 0.3)"]);
    assert_eq!(
        since(&now(&before.replace("k = 4", "k = 6"), &["sweep.scheme.name=[\"ecmp\", \"spray\"]"]), &[]),
        ["fabric.k (4 -> 6)", "sweep.scheme.name (none -> [\"ecmp\",\"spray\"])"]
    );
    assert_eq!(since(&now(&format!("# a comment\n{before}"), &["run.seeds=[7]"]), &[]), [""; 0]);
}

#[test]
fn a_comparison_in_which_only_some_schemes_resolve_addresses_is_a_warning() {
    let warned = |names: &str, start: &[&str]| {
        let sets: Vec<String> = std::iter::once(format!("sweep.scheme.name=[{names}]"))
            .chain(start.iter().map(ToString::to_string))
            .collect();
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let warnings = scenario("", &sets).check(&no_files).unwrap();
        warnings.iter().any(|warning| warning.contains("set run.warm = true"))
    };
    assert!(warned("\"ecmp\", \"tcp_path\"", &[]));
    assert!(!warned("\"ecmp\", \"spray\"", &[]) && !warned("\"arp_path\", \"tcp_path\"", &[]));
    assert!(!warned("\"ecmp\", \"tcp_path\"", &["scheme.over=ecmp"]), "computed routes need no ARP");
    assert!(warned("\"ecmp\", \"tcp_path\"", &["scheme.over=spanning_tree"]), "a tree floods it");
    for start in ["run.warm=true", "run.warm=false"] {
        assert!(!warned("\"ecmp\", \"tcp_path\"", &[start]), "{start}");
    }
}

const VARIANTS: &str = "[variant.tcp]\ntransport.profile = \"linux\"\n\
    [variant.uec]\ntransport.protocol = \"uec\"\nscheme = { name = \"spray\" }\nfabric.rate = \"2 Gbps\"\n";

#[test]
fn a_variant_sets_keys_of_several_sections() {
    let scenario = scenario(VARIANTS, &[]);
    assert_eq!(labels(&scenario), ["tcp", "uec"]);
    let names = |at: usize| {
        let plan = scenario.plan(&scenario.points()[at], &no_files).unwrap();
        (plan.descriptor.name, plan.transport.protocol.name(), plan.fabric.links()[0].rate.bps())
    };
    assert_eq!((names(0), names(1)), (("ecmp", "tcp", 1_000_000_000), ("spray", "uec", 2_000_000_000)));
    let point = &scenario.points()[1];
    assert!(point.id.starts_with("uec-seed1-"), "{}", point.id);
    assert_eq!(serde_json::json!(point.overrides), serde_json::json!({"variant": "uec"}));
    assert_eq!(scenario.schemes().iter().map(|scheme| scheme.name).collect::<Vec<_>>(), ["ecmp", "spray"]);
}

#[test]
fn variants_are_combined_with_the_sweep_and_chosen() {
    let sweep = format!("{VARIANTS}[sweep]\n\"traffic.load\" = [0.2, 0.4]\n");
    for (sets, expected) in [
        (&[][..], vec!["tcp, load=0.2", "tcp, load=0.4", "uec, load=0.2", "uec, load=0.4"]),
        (&["traffic.load=0.3"], vec!["tcp", "uec"]),
        (&["variant=uec"], vec!["uec, load=0.2", "uec, load=0.4"]),
        (&["variant=uec", "traffic.load=0.3"], vec!["uec"]),
        (&["sweep.variant=[\"uec\", \"tcp\"]", "traffic.load=0.3"], vec!["uec", "tcp"]),
    ] {
        assert_eq!(labels(&scenario(&sweep, sets)), expected, "{sets:?}");
    }
    let set = scenario(VARIANTS, &["variant.uec.scheme.name=ecmp", "variant.uec.fabric.rate=4 Gbps"]);
    let plan = set.plan(&set.points()[1], &no_files).unwrap();
    assert_eq!((plan.descriptor.name, plan.fabric.links()[0].rate.bps()), ("ecmp", 4_000_000_000));
    let schemes = "[variant.a]\nfabric.rate = \"1 Gbps\"\n[variant.b]\nfabric.rate = \"2 Gbps\"\n\
        [sweep]\nscheme.name = [\"ecmp\", \"spray\"]\n[measure]\nbaseline = \"b ecmp\"\n";
    assert_eq!(labels(&scenario(schemes, &[])), ["a, ecmp", "a, spray", "b, ecmp", "b, spray"]);
}

#[test]
fn a_variant_sets_a_group_of_flows_by_class_and_replaces_tables() {
    let text = "[[traffic]]\nclass = \"a\"\nsizes = { fixed = \"1 kB\" }\nflows = 1\n[[traffic]]\nclass = \"b\"\n\
        sizes = \"web-search\"\nflows = 2\n[fabric]\nkind = \"ring\"\nswitches = 3\nhosts_per_switch = 2\n\
        [scheme]\nname = \"ecmp\"\n[variant.x]\ntraffic.a.sizes = { uniform = [\"2 kB\", \"3 kB\"] }\ntraffic.b.flows = 7\n";
    let scenario = Scenario::parse(text, "x").unwrap();
    let plan = scenario.plan(&scenario.points()[0], &no_files).unwrap();
    assert_eq!(plan.traffic.flows.len(), 8);
}

#[test]
fn the_baseline_and_comments_make_no_other_experiment() {
    let plain = scenario("", &[]);
    for (more, sets) in [
        ("", &["measure.baseline=ecmp"][..]),
        ("# a comment\n", &[]),
        ("[measure]\nbaseline = \"ecmp\"\n", &[]),
        ("\n[measure]\n\n", &[]),
    ] {
        let other = scenario(more, sets);
        assert_eq!(plain.fingerprint(), other.fingerprint(), "{more} {sets:?}");
        assert_eq!(plain.points()[0].id, other.points()[0].id, "{more} {sets:?}");
    }
    assert_ne!(plain.fingerprint(), scenario("[measure]\ninterval = \"1 ms\"\n", &[]).fingerprint());
}

#[test]
fn an_empty_table_is_a_value_but_an_empty_section_is_not() {
    let pfc = |more: &str, sets: &[&str]| scenario(&format!("[variant.x]\n{more}"), sets);
    let plain = pfc("fabric.rate = \"1 Gbps\"\n", &[]);
    for (more, sets) in [
        ("fabric.rate = \"1 Gbps\"\n", &["fabric.pfc={}"][..]),
        ("fabric.rate = \"1 Gbps\"\nfabric.pfc = {}\n", &[]),
    ] {
        let other = pfc(more, sets);
        assert_ne!(plain.fingerprint(), other.fingerprint(), "{more} {sets:?}");
        let before = format!("{GOOD}[variant.x]\nfabric.rate = \"1 Gbps\"\n");
        let key = if sets.is_empty() { "variant.x.fabric.pfc" } else { "fabric.pfc" };
        assert_eq!(other.changes_since(&before, &[]), [format!("{key} (none -> {{}})")]);
    }
    let link = |pfc: &str| {
        let more = format!("[[fabric.link]]\nbetween = \"e0-a1\"\n{pfc}");
        scenario(&more, &[]).fingerprint().to_owned()
    };
    assert_ne!(link(""), link("pfc = {}\n"));
    assert_eq!(scenario("[measure]\n", &[]).fingerprint(), scenario("", &[]).fingerprint());
}

#[test]
fn a_baseline_is_a_label_or_a_value_of_a_swept_key() {
    let sizes = "[sweep]\ntraffic.sizes = [{ fixed = \"1 kB\" }, { fixed = \"2 kB\" }]\n";
    let queues =
        "[sweep]\nfabric.queue = [\"9 kB\", \"99 kB\"]\nfabric.ecn_threshold = [\"9 kB\", \"8 kB\"]\n";
    let gaps = "[variant.a]\nfabric.rate = \"1 Gbps\"\n[variant.b]\nfabric.rate = \"2 Gbps\"\n\
        [sweep]\nscheme = [{ name = \"letflow\", gap = \"100 us\" }, { name = \"letflow\", gap = \"50 us\" }]\n";
    let parameter = "[variant.a]\nfabric.rate = \"1 Gbps\"\n[sweep]\nscheme.gap = [\"100 us\", \"50 us\"]\n";
    let profiles = "[variant.a]\nfabric.rate = \"1 Gbps\"\n[variant.b]\nfabric.rate = \"2 Gbps\"\n\
        [sweep]\ntransport.profile = [\"linux\", \"ns3-3.37\"]\n";
    let loads = "[sweep]\ntraffic.load = [0.5, 1.0]\n";
    let flowlets = "[sweep]\nscheme = [{ name = \"ecmp\" }, { name = \"letflow\", gap = \"50 us\" }]\n";
    let both = "[sweep]\nscheme.name = [\"ecmp\", \"spray\"]\ntraffic.load = [0.5, 1.0]\n";
    let letflow = &["scheme.name=letflow"][..];
    let one = &["variant=a"][..];
    for (sweep, sets, baseline, fits) in [
        (loads, &[][..], "1", true),
        (loads, &[], "1.0", true),
        (loads, &[], "load=1", true),
        (loads, &[], "traffic.load=1.0", true),
        (loads, &[], "ecmp", true),
        (loads, &[], "ecmp load=0.5", true),
        (loads, &[], "spray load=0.5", false),
        (loads, &[], "ad=0.5", false),
        (loads, &[], "0.3", false),
        (loads, &["traffic.load=0.5"], "0.5", false),
        (queues, &[], "fabric.queue=9 kB", true),
        (queues, &[], "ecn_threshold=9 kB", true),
        (queues, &[], "ecn_threshold=99 kB", false),
        (sizes, &[], "sizes={\"fixed\": \"1 kB\"}", true),
        (sizes, &[], "{\"fixed\": \"1 kB\"}", true),
        (profiles, one, "linux", true),
        (profiles, one, "transport.profile=linux", true),
        (profiles, one, "a profile=linux", true),
        (profiles, one, "a", true),
        (profiles, &[], "linux", true),
        (profiles, &[], "b profile=linux", true),
        (profiles, &[], "c profile=linux", false),
        (profiles, &[], "b", true),
        (gaps, &[], "a letflow gap=100 us", true),
        (gaps, &[], "a letflow", true),
        (gaps, &[], "b", true),
        (gaps, &[], "letflow", false),
        (parameter, letflow, "a gap=50 us", true),
        (parameter, letflow, "a", true),
        (parameter, letflow, "letflow", false),
        (flowlets, &[], "letflow gap=50 us", true),
        (flowlets, &[], "letflow", true),
        (flowlets, &[], "let", false),
        (both, &[], "0.5", true),
        (both, &[], "load=1", true),
        (both, &[], "spray load=1", true),
        (both, &[], "drb load=1", false),
        (both, &[], "0.3", false),
    ] {
        let set = format!("measure.baseline={}", serde_json::json!(baseline));
        let sets: Vec<String> = sets.iter().copied().chain([set.as_str()]).map(str::to_owned).collect();
        let read = Scenario::parse_with(&format!("{GOOD}{sweep}"), "good.toml", &sets);
        let shown = read.as_ref().map(|_| ()).map_err(ToString::to_string);
        assert_eq!(read.is_ok(), fits, "{baseline} in {sweep}: {shown:?}");
        if let Ok(scenario) = read {
            assert_eq!(scenario.baseline(), Some(baseline));
        }
    }
}
