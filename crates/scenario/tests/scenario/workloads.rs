//! Flows that wait for others: collectives, training, inference and traces between ranks.

use weft_scenario::{Change, Plan, Scenario, pack};
use weft_traffic::{Began, Processor};
use weft_units::{Duration, Time};

/// The plan of a fat-tree with these keys of its traffic; every file that it names contains `file`.
fn plan(keys: &str, file: impl AsRef<[u8]>) -> Plan {
    let text =
        format!("[fabric]\nkind = \"fat-tree\"\nk = 4\n[scheme]\nname = \"ecmp\"\n[traffic]\n{keys}\n");
    let scenario = Scenario::parse(&text, "workloads.toml").unwrap_or_else(|error| panic!("{error}"));
    let plan = scenario.plan(&scenario.points()[0], &|_| Ok(file.as_ref().to_vec()));
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
fn a_trace_of_computations_is_a_run_without_flows_and_without_warnings() {
    let plan = plan("trace = \"a.goal\"", "num_ranks 2 rank 0 { calc 500 } rank 1 { calc 900 }");
    assert_eq!((plan.traffic.flows.len(), plan.warnings), (0, Vec::new()));
    let bound = &plan.traffic.jobs.list()[0].bound;
    assert_eq!((bound.time, bound.by.as_str()), (Duration::from_ns(900), "computations"));
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
fn training_has_a_job_for_each_step_and_its_messages_have_classes() {
    let keys = "start = \"1 ms\"\nconnections = \"persistent\"\n\
        training = { model = \"llama-7b\", layers = 4, tensor = 4, pipeline = 2, micro_batches = 3, steps = 2 }";
    let traffic = plan(keys, "").traffic;
    assert_eq!(traffic.classes, ["tensor", "pipeline", "data"]);
    let [first, second] = traffic.jobs.list() else { panic!("{:?}", traffic.jobs) };
    // Twice three micro-batches through stages of four replicas; 16 ranks have two replicas.
    let flows = 2 * 3 * 2 * 2 * 24 + 2 * 3 * 8 + 8 * 4;
    assert_eq!((first.kind, first.flows, second.round, second.flows), ("training", flows, 2, flows));
    // The forward pass of two layers by four GPUs, at half of the peak of an H100, before the first message.
    let layer = 2.0 * 4096.0 * (4.0 * 4096.0 * 4096.0 + 3.0 * 4096.0 * 11_008.0) + 4.0 * 4096.0_f64.powi(3);
    let lead = 2.0 * layer / 4.0 / (989e12 * 0.5);
    assert_eq!([first.began, second.began], [Began::First; 2]);
    // A computation of each rank for each pass of a micro-batch.
    let (table, jobs) = (&traffic.dependencies, &traffic.jobs);
    let steps = |job| table.works().filter(|node| jobs.of_step(node - table.flows()) == Some(job)).count();
    assert_eq!([steps(0), steps(1)], [16 * 3 * 2; 2]);
    assert!((traffic.flows[0].start.as_secs_f64() - 0.001 - lead).abs() < 1e-9);
    assert!(traffic.connections.last(0).is_some());
    let own = plan(&keys.replace("start", "class = \"llama\"\nstart"), "").traffic;
    assert_eq!(own.classes, ["llama"]);
}

#[test]
fn inference_has_a_job_for_each_request_from_its_arrival_on() {
    let keys = "start = \"1 s\"\nconnections = \"persistent\"\ninference = { model = \"llama-7b\", tensor = 4, \
        prefill = 3, decode = 1, requests = 6, requests_per_second = 1000, tokens_per_message = 64 }";
    let traffic = plan(keys, "").traffic;
    assert_eq!(traffic.classes, ["prefill", "kv", "decode"]);
    let jobs = traffic.jobs.list();
    assert!(jobs.len() == 6 && jobs.iter().all(|job| job.kind == "inference" && job.flows == 4 + 3 * 24));
    let arrivals: Vec<Began> = jobs.iter().map(|job| job.began).collect();
    assert!(matches!(arrivals[0], Began::At(at) if at.as_secs_f64() > 1.0));
    // All prompts have 1024 tokens of half a MiB: 32 layers of 2 x 4096 numbers of two bytes.
    let kv = traffic.flows.iter().filter(|flow| traffic.classes[flow.class as usize] == "kv");
    assert_eq!(kv.map(|flow| flow.bytes).sum::<u64>(), 6 * 1024 * 512 * 1024);
    assert!(jobs.iter().all(|job| job.bound == jobs[0].bound));
    // Each request has a prefill, and two computations of its answer, at four ranks; answers have processors of their own.
    let table = &traffic.dependencies;
    let mut works = [0; 6];
    for node in table.works() {
        works[traffic.jobs.of_step(node - table.flows()).expect("it is of a request")] += 1;
    }
    assert_eq!((works, table.processors()), ([4 * (1 + 2); 6], 16 + 6 * 4));
    // Tokens of several answers are generated at the same time, in an order that depends on the run.
    let open = |flow: &&weft_traffic::Flow| traffic.connections.last(flow.id.0).is_some();
    let decode = traffic.flows.iter().filter(|flow| traffic.classes[flow.class as usize] == "decode");
    assert_eq!((decode.filter(open).count(), traffic.flows.iter().filter(open).count()), (0, 6 * 28));
}

#[test]
fn a_tuner_s_table_is_a_file_of_a_collective() {
    let table = include_str!("../../../../fuzz/seeds/tuner/sizes");
    let keys =
        |bytes: &str| format!("collective = \"ring-all-reduce\"\nbytes = \"{bytes}\"\ntuner = \"nccl.csv\"");
    let kind = |bytes: &str| {
        let traffic = plan(&keys(bytes), table).traffic;
        (traffic.jobs.list()[0].kind, traffic.flows.len(), traffic.flows[0].bytes)
    };
    assert_eq!(kind("48 kB"), ("double-tree-all-reduce", 2 * 4 * 15, 2 * 12_000));
    assert_eq!(kind("96 kB"), ("ring-all-reduce", 4 * 16 * 30, 1_500));
    assert_eq!(kind("1920 kB"), ("ring-all-reduce", 16 * 30, 128_000));
    let own = plan("collective = \"all-to-all\"\nbytes = \"1920 kB\"\nprotocol = \"ll\"", "").traffic;
    assert_eq!(own.flows[0].bytes, 240_000);
}

#[test]
fn a_workload_of_simai_is_a_trace_between_ranks() {
    let text = include_str!("../../../../fuzz/seeds/trace_simai/layers");
    let traffic = plan("trace = \"a.txt\"\nplacement = \"striped\"", text).traffic;
    // Tensor ranks: an all-reduce and an all-gather in four groups; experts; replicas of all and of experts.
    assert_eq!(traffic.flows.len(), 4 * (4 + 2) + 4 * 2 + 2 * 12 + 4 * 4);
    // The first ones wait for a computation only, which is part of the job.
    let (first, table) = (&traffic.flows[0], &traffic.dependencies);
    assert_eq!((first.src.0, first.dst.0, first.bytes, table.needs(0)), (0, 2, 2048, 1));
    let work = table.works().next().expect("there is one");
    assert_eq!(table.work(work).map(|(_, takes)| takes.ps()), Some(1_000_000));
    assert_eq!(traffic.jobs.of_step(work - table.flows()), Some(0));
    let [job] = traffic.jobs.list() else { panic!("{:?}", traffic.jobs) };
    assert_eq!((job.kind, job.ranks), ("trace", 8));
}

#[test]
fn a_workload_of_simai_without_its_number_of_ranks_has_that_of_the_scenario() {
    let text = "MICRO\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 4096 1\n";
    let ranks = |keys: &str| plan(&format!("trace = \"a.txt\"\n{keys}"), text).traffic.jobs.list()[0].ranks;
    assert_eq!((ranks(""), ranks("ranks = 4"), ranks("skip = 6")), (16, 4, 10));
    assert_eq!(ranks("ranks = [\"h0\", \"h5\", \"h9\"]"), 3);
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
    ] {
        let warnings = plan(&format!("trace = \"{name}\""), file).warnings;
        assert_eq!(warnings, [format!("`{name}`: {warning}")], "{file}");
    }
}

#[test]
fn the_nic_of_a_goal_file_takes_the_time_of_its_messages_at_the_rate_of_the_host() {
    let goal = "num_ranks 2 rank 0 { send 5000b to 1 nic 3 send 7b to 1 nic 3 calc 9 } \
        rank 1 { recv 5000b from 0 recv 7b from 0 }";
    let dependencies = plan("trace = \"a.goal\"", goal).traffic.dependencies;
    // The default rate is 10 Gbps. The steps have the numbers after those of the flows.
    let takes: Vec<_> = [2, 3].map(|node| dependencies.work(node).unwrap()).to_vec();
    assert_eq!(takes.iter().map(|(_, takes)| takes.ps()).collect::<Vec<_>>(), [4_000_000, 5_600]);
    let first: Vec<u32> = dependencies.first_works().collect();
    assert_eq!(
        (dependencies.processors(), first),
        (2, vec![2, 3, 4]),
        "the calculation has a processor, too"
    );
    let kinds = [2, 4].map(|node| dependencies.kind(dependencies.work(node).unwrap().0));
    assert_eq!(kinds, [Processor::Interface, Processor::Compute]);
}

#[test]
fn processors_of_several_groups_are_different_ones() {
    let group = "[[traffic]]\ntrace = \"a.goal\"\n";
    let text = format!("{group}{group}[fabric]\nkind = \"fat-tree\"\nk = 4\n[scheme]\nname = \"ecmp\"\n");
    let goal = "num_ranks 2 rank 0 { c: calc 5 d: calc 6 s: send 5b to 1 s requires c s requires d }\n\
        rank 1 { recv 5b from 0 }";
    let scenario = Scenario::parse(&text, "workloads.toml").unwrap_or_else(|error| panic!("{error}"));
    let plan = scenario.plan(&scenario.points()[0], &|_| Ok(goal.into()));
    assert_eq!(plan.unwrap_or_else(|error| panic!("{error}")).traffic.dependencies.processors(), 2);
}

#[test]
fn the_files_of_all_ranks_are_one_trace_of_chakra() {
    // A broadcast of 5 bytes, as the message of a node: id, type 7, and its attributes.
    let attribute = |name: &[u8], value| [&[10, name.len() as u8], name, &[72, value]].concat();
    let attributes = [attribute(b"comm_type", 5), attribute(b"comm_size", 5)];
    let attributes = attributes.iter().flat_map(|of| [&[82, of.len() as u8], &of[..]].concat());
    let node: Vec<u8> = [8, 1, 24, 7].into_iter().chain(attributes).collect();
    let file = [&[0, node.len() as u8], &node[..]].concat();
    let of =
        |ranks| plan("trace = \"a.{rank}.et\"\nplacement = \"striped\"", pack(&vec![file.clone(); ranks]));
    assert_eq!(pairs(&of(3))[..2], [(0, 2), (2, 4)]);
    assert_eq!(of(3).traffic.jobs.list()[0].ranks, 3);
    let text = "[traffic]\ntrace = \"a.{rank}.et\"\ncommunicators = \"groups.json\"\n\
        [fabric]\nkind = \"fat-tree\"\nk = 4\n[scheme]\nname = \"ecmp\"\n";
    let scenario = Scenario::parse(text, "workloads.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(Vec::from_iter(scenario.files()), ["a.{rank}.et", "groups.json"]);
}
