//! Collectives whose messages share connections that stay open.

use std::collections::BTreeMap;

use weft_sim::columns::FlowRecord;
use weft_sim::sample::{Metric, Sample};
use weft_units::Duration;

use super::{leaf_spine, planned, run, run_with_threads};

/// Hosts, with windows as large as the data.
const TCP: &str = "profile = \"linux\"\ninitial_window = 400";
const MULTIPATH: &str = "profile = \"linux\"\ninitial_window = 400\nmptcp = \"ndiffports\"\nsubflows = 2";
const ROCE: &str = "protocol = \"roce\"\ncongestion_control = \"off\"";
const UEC: &str = "protocol = \"uec\"\ncongestion = \"fixed\"\nwindow = 256";

/// A collective on connections that stay open.
fn persistent(keys: &str) -> String {
    format!("collective = {keys}\nconnections = \"persistent\"")
}

/// The messages by their connection, in order.
fn by_connection(flows: &[FlowRecord]) -> BTreeMap<(u32, u32), Vec<&FlowRecord>> {
    let mut all: BTreeMap<_, Vec<&FlowRecord>> = BTreeMap::new();
    for record in flows {
        all.entry((record.flow.src.0, record.flow.dst.0)).or_default().push(record);
    }
    all
}

#[test]
fn rounds_on_open_connections_take_their_closed_form_time_without_handshake_and_slow_start() {
    const ROUNDS: u64 = 18;
    for (transport, handshake) in [(TCP, true), (MULTIPATH, true), (ROCE, false), (UEC, false)] {
        // 200 full segments of TCP in each round, among the hosts of one switch.
        let traffic = persistent("\"send-recv\"\nranks = 4\nbytes = \"289600 B\"\nrepeats = 18");
        let plan = leaf_spine("queue = \"10 MB\"", &traffic, transport, "limit = \"1 s\"");
        let (report, kept) = run(&plan, 1);
        assert_eq!(report.flows_finished, 4 * ROUNDS, "{transport}");
        let connections = by_connection(&kept.flows);
        assert_eq!(connections.len(), 4);
        let packets = plan.transport.protocol.framing().packets(289_600).0;
        let (all, data) = (4 * ROUNDS * packets, report.counters.data_packets);
        // Multipath TCP cuts data between its subflows.
        assert!(
            data == all || transport == MULTIPATH && data.abs_diff(all) < all / 20,
            "{transport}: {data}, not {all}"
        );
        for messages in connections.values() {
            assert_eq!(messages.len(), ROUNDS as usize);
            let (first, others) = messages.split_first().unwrap();
            assert_eq!(
                first.ideal > others[0].ideal,
                handshake,
                "{transport}: an open connection has no handshake"
            );
            assert!(others.iter().all(|message| message.ideal == others[0].ideal));
            assert!(messages.iter().all(|message| message.flow.sport == first.flow.sport));
            let sent: u64 = messages.iter().map(|message| message.packets_sent).sum();
            let all = ROUNDS * packets;
            let slack = if transport == MULTIPATH { all / 20 } else { 0 };
            assert!((all..=all + slack).contains(&sent), "{transport}: {sent}, not {all}");
            // Each message has a path, with Multipath TCP that of any subflow.
            assert!(messages.iter().all(|message| !message.path.is_empty()), "{transport}");
            let is_same = |message: &&FlowRecord| transport == MULTIPATH || message.path == first.path;
            assert!(messages.iter().all(is_same), "{transport}");
            assert!(
                others
                    .iter()
                    .all(|message| message.end.unwrap() - message.flow.start >= message.ideal.unwrap())
            );
        }
        // A ring sends as much in each step, in flows of six parts.
        let step = kept.flows.last().expect("there are flows").ideal.unwrap();
        let traffic = persistent("\"ring-all-reduce\"\nranks = 4\nbytes = \"1158400 B\"\nrepeats = 3");
        let plan = leaf_spine("queue = \"10 MB\"", &traffic, transport, "limit = \"1 s\"");
        let (report, kept) = run_with_threads(&plan);
        assert_eq!((report.flows_finished, kept.flows.len()), (12, 12), "{transport}");
        for (round, job) in report.jobs.iter().enumerate().skip(1) {
            let took = (job.end.unwrap() - job.start.unwrap()).as_secs_f64() / (step * 6).as_secs_f64();
            // Acknowledgements take their turn: one of at most 90 bytes for two segments of 1 538 bytes or one packet of 1 082.
            assert!((1.0..1.09).contains(&took), "{transport}, round {round}: {took} times {step}");
        }
        for record in &kept.flows {
            assert_eq!(
                (record.flow.bytes, record.ideal, record.path.len()),
                (6 * 289_600, None, 2),
                "{transport}"
            );
            let slack = if plan.transport.protocol.tcp().is_some() { packets / 3 } else { 0 };
            assert!(
                record.packets_sent.abs_diff(6 * packets) <= slack,
                "{transport}: {}",
                record.packets_sent
            );
        }
    }
}

/// Windows of a few packets, and messages that end with a short one.
#[test]
fn ultra_ethernet_fills_slow_and_short_links() {
    for (rate, delay) in
        [("1 Gbps", "1 us"), ("10 Gbps", "1 us"), ("25 Gbps", "100 ns"), ("400 Gbps", "100 ns")]
    {
        let of = |traffic: &str| {
            let text = format!(
                "[fabric]\nkind = \"spine-leaf\"\nspines = 4\nleaves = 2\nhosts_per_leaf = 4\nrate = \"{rate}\"\n\
                 delay = \"{delay}\"\nqueue = \"2 MB\"\necn_threshold = \"65 packets\"\n[traffic]\n{traffic}\n\
                 [scheme]\nname = \"ecmp\"\n[transport]\nprotocol = \"uec\"\n[run]\nduration = \"1 s\"\nlimit = \"5 s\"\n"
            );
            planned(&text, "")
        };
        for dst in ["h1", "h5"] {
            let flow = format!("flow_list = [{{ src = \"h0\", dst = \"{dst}\", bytes = \"4 MB\" }}]");
            let record = run(&of(&flow), 1).1.flows.remove(0);
            let slowdown =
                (record.end.unwrap() - record.flow.start).as_secs_f64() / record.ideal.unwrap().as_secs_f64();
            assert!((1.0..1.01).contains(&slowdown), "{rate} {delay} {dst}: {slowdown}");
        }
        let plan = of("collective = \"ring-all-reduce\"\nbytes = \"4 MB\"");
        let (job, bound) = (run(&plan, 1).0.jobs[0], plan.traffic.jobs.list()[0].bound.time);
        let ratio = (job.end.unwrap() - job.start.unwrap()).as_secs_f64() / bound.as_secs_f64();
        assert!((1.0..1.25).contains(&ratio), "{rate} {delay}: {ratio}");
    }
}

#[test]
fn a_connection_of_its_own_for_each_message_costs_tcp_a_handshake_in_every_step() {
    let took = |connections: &str| {
        let traffic = format!(
            "collective = \"ring-all-reduce\"\nranks = 4\nbytes = \"1158400 B\"\nrepeats = 2\n\
             connections = \"{connections}\""
        );
        let plan = leaf_spine("queue = \"10 MB\"", &traffic, "profile = \"linux\"", "limit = \"1 s\"");
        let (report, _) = run(&plan, 1);
        let job = report.jobs[1];
        job.end.unwrap() - job.start.unwrap()
    };
    let (alone, open) = (took("per-message"), took("persistent"));
    // Six steps, each with a round trip of at least 4 us. The initial window outlasts one, so slow start costs nothing.
    assert!(alone > open + Duration::from_us(6 * 4), "{alone} and {open}");
}

#[test]
fn messages_that_lose_packets_end_in_order_and_say_the_same_with_any_number_of_threads() {
    for transport in [
        "profile = \"linux\"",
        "profile = \"dctcp\"",
        "profile = \"linux\"\nmptcp = \"ndiffports\"\nsubflows = 2",
        "protocol = \"roce\"",
        "protocol = \"roce\"\nloss_recovery = \"selective-repeat\"",
        "protocol = \"uec\"",
        "protocol = \"uec\"\nentropy_choice = \"oblivious\"",
        "protocol = \"uec\"\ncongestion = \"rccc\"",
        "protocol = \"uec\"\ncongestion = \"nscc+rccc\"\nloss_detection = \"distance\"",
    ] {
        for (keys, flows) in [
            ("\"ring-all-reduce\"\nbytes = \"401 kB\"\nrepeats = 2\nplacement = \"random\"", 2 * 8),
            ("\"all-gather\"\nbytes = \"401 kB\"\nrepeats = 2\ncompute = \"3 us\"", 2 * 8),
            ("\"tree-all-reduce\"\nbytes = \"301 kB\"\nchunks = 3\nrepeats = 2", 2 * 3 * 14),
            ("\"pipeline\"\nbytes = \"301 kB\"\nchunks = 9\ncompute = \"1 us\"", 9 * 7),
            ("\"all-to-all\"\nbytes = \"801 kB\"\nrepeats = 3", 3 * 56),
        ] {
            let fabric = "queue = \"30 kB\"\necn_threshold = \"15 kB\"\nfabric_rate = \"5 Gbps\"";
            let change =
                "[[event]]\nat = \"300 us\"\nfail = \"l0-s0\"\n[[event]]\nat = \"900 us\"\nheal = \"l0-s0\"";
            let rest = format!("limit = \"5 s\"\n{change}");
            let plan = leaf_spine(fabric, &persistent(keys), transport, &rest);
            let (report, kept) = run_with_threads(&plan);
            let name = format!("{transport}, {keys}");
            assert_eq!((report.flows_finished, kept.flows.len()), (flows, flows as usize), "{name}");
            let framing = plan.transport.protocol.framing();
            let mut sent = [0; 2];
            for messages in by_connection(&kept.flows).values() {
                assert!(messages.is_sorted_by_key(|message| message.end), "{name}");
                for message in messages {
                    sent[0] += message.packets_sent - message.retransmissions;
                    let sizes = plan.traffic.parts.sizes(message.flow.id.0, message.flow.bytes);
                    sent[1] += sizes.map(|(bytes, count)| framing.packets(bytes).0 * count).sum::<u64>();
                }
            }
            // TCP may send the end of one message and the start of the next in one segment, and Multipath TCP cuts data
            // between its subflows.
            let slack = if plan.transport.protocol.tcp().is_some() { sent[1] / 10 } else { 0 };
            assert!(sent[0].abs_diff(sent[1]) <= slack, "{name}: {sent:?}");
        }
    }
}

#[test]
fn a_run_that_ends_early_records_each_message_that_has_started_once() {
    for transport in [TCP, MULTIPATH, ROCE, UEC] {
        let traffic = persistent("\"all-gather\"\nbytes = \"16 MB\"\nrepeats = 2\nchannels = 2");
        let plan = leaf_spine("queue = \"10 MB\"", &traffic, transport, "limit = \"20 ms\"");
        let (report, kept) = run_with_threads(&plan);
        let ids: Vec<u32> = kept.flows.iter().map(|record| record.flow.id.0).collect();
        assert_eq!(ids.len() as u64, report.flows_started, "{transport}");
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{transport}: {ids:?}");
        let unfinished = kept.flows.iter().filter(|record| record.end.is_none());
        assert!(report.flows_finished > 8 && unfinished.count() > 0, "{transport}");
        assert!(kept.flows.iter().all(|record| record.packets_sent > 0), "{transport}");
    }
}

#[test]
fn connections_that_nobody_can_use_end_their_messages() {
    // The only link of a host fails for good: TCP gives up, and what waits for its messages never starts.
    let traffic = persistent("\"pipeline\"\nranks = 3\nbytes = \"3 MB\"\nchunks = 3");
    let change =
        "limit = \"10 s\"\n[[event]]\nat = \"200 us\"\nfail = \"h1-l0\"\n[measure]\ninterval = \"100 ms\"";
    let hosts = "profile = \"linux\"\ndata_retries = 3";
    let (report, kept) = run(&leaf_spine("queue = \"1 MB\"", &traffic, hosts, change), 1);
    assert_eq!((report.flows_started as usize, report.flows_finished), (kept.flows.len(), 0));
    assert!(kept.flows.iter().any(|record| record.timeouts > 0));
    let active = |sample: &&Sample| sample.metric == Metric::ActiveFlows;
    let active: Vec<f64> = kept.samples.iter().filter(active).map(|sample| sample.value).collect();
    // Retries after 0.2, 0.4 and 0.8 s: soon afterwards no message is left.
    assert!(active[0] > 0.0 && active[50..].iter().all(|count| *count == 0.0), "{active:?}");
}

#[test]
fn what_the_subflows_of_the_first_message_lose_counts_for_it() {
    let traffic = persistent("\"pipeline\"\nranks = 2\nbytes = \"6 MB\"\nchunks = 3");
    let hosts = "profile = \"linux\"\nmptcp = \"ndiffports\"\nsubflows = 4\ninitial_window = 100";
    // The first window of four subflows finds room for a few packets at the slower link.
    let fabric = "queue = \"8 packets\"\nfabric_rate = \"1 Gbps\"";
    let plan = leaf_spine(fabric, &format!("{traffic}\nplacement = \"random\""), hosts, "limit = \"5 s\"");
    let (report, kept) = run(&plan, 1);
    assert_eq!((report.flows_finished, kept.flows.len()), (3, 3));
    let drops: Vec<u64> = kept.flows.iter().map(|message| message.drops).collect();
    let (known, all) = (drops.iter().sum::<u64>(), report.counters.packets_dropped.iter().sum::<u64>());
    // Slow start loses most. Acknowledgements between two messages count for none.
    assert!(drops[0] > drops[1] + drops[2] && all - known <= all / 50, "{drops:?} of {all}");
    let repeated: Vec<u64> = kept.flows.iter().map(|message| message.retransmissions).collect();
    for (drops, repeated) in drops.iter().zip(&repeated) {
        assert_eq!(*drops > 0, *repeated > 0, "{drops:?} and {repeated:?}");
    }
}

/// Chunks wait behind each other on a connection, and each has the path of the connection and recovers from events.
#[test]
fn messages_that_wait_behind_others_have_the_path_of_their_connection() {
    let traffic =
        persistent("\"pipeline\"\nranks = 2\nplacement = \"striped\"\nbytes = \"8 MB\"\nchunks = 8");
    let event = "limit = \"10 s\"\n[[event]]\nat = \"3 ms\"\nfail = \"l0-s0\"";
    let plan = leaf_spine("queue = \"1 MB\"", &traffic, "profile = \"linux\"", event);
    let (report, kept) = run(&plan, 1);
    assert_eq!(report.flows_finished, 8);
    assert!(kept.flows.iter().all(|message| !message.path.is_empty()), "{:?}", kept.flows);
}

/// Relays pass messages on in the order in which these arrive, which is not that of their connections.
#[test]
fn messages_that_start_before_earlier_ones_of_their_connection_leave_them_paths_and_losses() {
    for transport in [TCP, ROCE, UEC] {
        let text = format!(
            "[fabric]\nkind = \"rail-optimised\"\npods = 2\nservers_per_pod = 2\ngpus = 4\nspines = 2\nrate = \"10 Gbps\"\n\
             delay = \"1 us\"\nqueue = \"8 kB\"\n[traffic]\ncollective = \"all-to-all\"\nbytes = \"4 MB\"\nrelay = \"pxn\"\n\
             connections = \"persistent\"\nrepeats = 3\n[scheme]\nname = \"ecmp\"\n[transport]\n{transport}\n\
             [run]\nduration = \"10 ms\"\nlimit = \"10 s\"\n"
        );
        let plan = planned(&text, "");
        let (report, kept) = run_with_threads(&plan);
        assert_eq!(report.flows_finished, kept.flows.len() as u64, "{transport}");
        let (fabric, mut early) = (&plan.fabric, 0);
        for messages in by_connection(&kept.flows).values() {
            early += messages.windows(2).filter(|pair| pair[1].flow.start < pair[0].flow.start).count();
            for message in messages {
                let ends = [message.path.first(), message.path.last()].map(|link| *link.unwrap());
                let (from, to) = (fabric.link(ends[0]).from, fabric.link(ends[1]).to);
                let hosts = [message.flow.src, message.flow.dst].map(|host| fabric.host_node(host));
                assert_eq!([from, to], hosts, "{transport}: {message:?}");
            }
        }
        assert!(early > 10, "{transport}: {early} start before an earlier one");
        // RoCE goes back to a lost packet after it has sent the next message, too.
        let are_alike = |one: &FlowRecord| (one.drops > 0) == (one.retransmissions > 0);
        assert!(transport != TCP || kept.flows.iter().all(are_alike), "{:?}", kept.flows);
        let known: u64 = kept.flows.iter().map(|message| message.drops).sum();
        let all: u64 = report.counters.packets_dropped.iter().sum();
        assert!(known > all / 2, "{transport}: {known} of {all}, with acknowledgements");
    }
}

/// With random delays and slow ranks, messages of later rounds stay behind those of earlier ones on their connections.
#[test]
fn rounds_end_with_jitter_and_stragglers_on_open_connections() {
    for more in [
        "jitter = \"30 us\"",
        "stragglers = 1\nstraggler_factor = 20.0\ncompute = \"100 us\"",
        "stragglers = 1\nstraggler_factor = 20.0\ncompute = \"100 us\"\njitter = \"30 us\"",
    ] {
        for transport in [TCP, ROCE, UEC] {
            for seed in 1..4 {
                let traffic = persistent(&format!(
                    "\"hierarchical-all-reduce\"\nbytes = \"2 MB\"\nrepeats = 3\n{more}"
                ));
                let fabric = "queue = \"1 MB\"\nscale_up = 2";
                let (report, _) = run(&leaf_spine(fabric, &traffic, transport, "limit = \"5 s\""), seed);
                assert_eq!(report.flows_finished, report.flows_started, "{more} {transport} {seed}");
                assert!(report.jobs.iter().all(|job| job.time.is_some()), "{more} {transport} {seed}");
            }
        }
    }
}
