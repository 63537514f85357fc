//! Flows that wait for others: collectives and traces between ranks.

use weft_scenario::{Change, Plan, Scenario};
use weft_units::Time;

/// The plan of a fat-tree with these keys of its traffic; every file that it names contains `file`.
fn plan(keys: &str, file: &str) -> Plan {
    let text =
        format!("[fabric]\nkind = \"fat-tree\"\nk = 4\n[scheme]\nname = \"ecmp\"\n[traffic]\n{keys}\n");
    let scenario = Scenario::parse(&text, "workloads.toml").unwrap_or_else(|error| panic!("{error}"));
    let plan = scenario.plan(&scenario.points()[0], &|_| Ok(file.as_bytes().to_vec()));
    plan.unwrap_or_else(|error| panic!("{error}"))
}

fn pairs(plan: &Plan) -> Vec<(u32, u32)> {
    plan.traffic.flows.iter().map(|flow| (flow.src.0, flow.dst.0)).collect()
}

#[test]
fn ranks_of_collectives_and_traces_are_placed_on_hosts() {
    let pipeline = "collective = \"pipeline\"\nbytes = \"1 MB\"\nstart = \"2 ms\"\nranks";
    assert_eq!(pairs(&plan(&format!("{pipeline} = 3"), "")), [(0, 1), (1, 2)]);
    assert_eq!(pairs(&plan(&format!("{pipeline} = 3\nplacement = \"striped\""), "")), [(0, 2), (2, 4)]);
    let listed = plan(&format!("{pipeline} = [\"h9\", \"h3\"]"), "");
    assert_eq!((pairs(&listed), listed.traffic.flows[0].start.ps()), (vec![(9, 3)], 2_000_000_000));
    let goal = "num_ranks 2 rank 0 { send 5b to 1 } rank 1 { recv 5b from 0 }";
    assert_eq!(pairs(&plan("trace = \"a.goal\"\nplacement = \"striped\"", goal)), [(0, 2)]);
    let random = plan("trace = \"a.goal\"\nplacement = \"random\"", goal);
    assert_eq!(pairs(&random), pairs(&plan("trace = \"a.goal\"\nplacement = \"random\"", goal)));
}

#[test]
fn a_collective_waits_and_has_a_bound_for_each_round() {
    let keys = "collective = \"ring-all-reduce\"\nbytes = \"16 kB\"\nrepeats = 3";
    let traffic = plan(keys, "").traffic;
    assert_eq!((traffic.flows.len(), traffic.jobs.list().len()), (3 * 16 * 30, 3));
    assert_eq!(traffic.dependencies.waiting(), traffic.flows.len() - 16);
    let of: Vec<_> = [0, 479, 480, 1_439].map(|flow| traffic.jobs.of(flow)).to_vec();
    assert_eq!(of, [Some(0), Some(0), Some(1), Some(2)]);
    // 30 steps of 1 kB at the default rate of 10 Gbps and twice the default delay of 1 us.
    assert_eq!(traffic.jobs.list()[0].bound.time.ps(), 30 * (800_000 + 2_000_000));
}

#[test]
fn failures_of_a_connection_matrix_are_events_at_the_start() {
    let matrix = "Nodes 16\nConnections 1\nFailures 1\n0->13 start 0 size 2000000\n\
        failure switch_type AGG switch_id 3 link_id 1\n";
    let plan = plan("trace = \"a.cm\"", matrix);
    let [event] = &plan.events[..] else { panic!("{:?}", plan.events) };
    let Change::FailCables(cables) = &event.change else { panic!("{event:?}") };
    assert_eq!((event.at, &*cables.label), (Time::ZERO, "a3-c3"));
}

#[test]
fn what_a_trace_says_and_weft_ignores_is_a_warning() {
    for (name, file, warning) in [
        ("a.txt", "1\n0 5 3 7 100 0.2\nsrc dst\n", "line 1 says 1 flow; the file from line 3 on is ignored"),
        (
            "a.cm",
            "Nodes 16\nConnections 1\n0->13 start 0 size 2000000 prio 3\n",
            "`prio` of the connections is ignored",
        ),
        (
            "a.goal",
            "num_ranks 2 rank 0 { send 5b to 1 cpu 1 } rank 1 { recv 5b from 0 }",
            "`cpu` and `nic` are ignored: operations of a rank overlap unless they require each other",
        ),
        (
            "b.goal",
            "num_ranks 2 rank 0 { a: calc 5 b: calc 5 c: send 5b to 1 c requires a c requires b } \
             rank 1 { recv 5b from 0 }",
            "calculations of a rank overlap unless one requires the other; LogGOPSim runs them one after another",
        ),
    ] {
        let warnings = plan(&format!("trace = \"{name}\""), file).warnings;
        assert_eq!(warnings, [format!("`{name}`: {warning}")], "{file}");
    }
    let one_after_another = "num_ranks 2 rank 0 { a: calc 5 b: calc 5 c: send 5b to 1 b requires a c requires b } \
        rank 1 { d: recv 5b from 0 e: calc 7 e requires d }";
    assert!(plan("trace = \"c.goal\"", one_after_another).warnings.is_empty());
}
