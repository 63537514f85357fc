//! Measurements of runs with exploring schemes: paths, explorations, floods, tables, and the cost of
//! events.

use weft_fabric::{Fabric, build};
use weft_sim::sample::Metric;
use weft_switching::{DropReason, ParamValue};
use weft_units::{Bytes, Duration, LinkId, NodeId, Time};

use crate::common::{
    MS, Outcome, Trial, US, exploring, gigabit, link, profile, scheme_of, scheme_with, word,
};
use crate::engine::exploration::fabric;

/// The names of the switches on a flow's path.
fn path(fabric: &Fabric, outcome: &Outcome, flow: usize) -> Vec<String> {
    let links = &outcome.flows[flow].path;
    links.iter().skip(1).map(|id| fabric.node(fabric.link(*id).from).name.clone()).collect()
}

#[test]
fn the_path_of_a_flow_is_the_one_that_its_bytes_took() {
    let fabric = fabric();
    // Schemes that keep a flow on one path.
    for name in ["ecmp", "single_path", "spanning_tree"].into_iter().chain(exploring()) {
        let outcome = Trial::linux(&fabric, name).flow(0, 2, 1 << 20, MS(1)).run();
        let found = path(&fabric, &outcome, 0);
        assert_eq!((found.len(), &*found[0], &*found[2]), (3, "l0", "l1"), "{name}: {found:?}");
        let up = outcome.link(link(&fabric, &format!("l0-{}", found[1])));
        assert!(up.counters.wire_bytes > 1 << 20, "{name}: {found:?}");
    }
}

#[test]
fn an_exploration_lasts_as_long_as_its_request_and_its_reply_are_on_their_way() {
    let fabric = fabric();
    // Nothing else is on the links: without announcement of the destination.
    let alone = scheme_with("tcp_path", "announce", word("off"));
    let explored = Trial::new(&fabric, alone, profile("linux")).flow(0, 2, 1_000, MS(1)).run().flows;
    // From the edge: two links with the request, one to the host and back with plain SYN and SYN+ACK
    // (60 bytes of IP), two with the reply; wrapping adds 20 bytes. Each frame has 38 bytes of overhead.
    let wrapped = 4 * (US(1).ps() + (60 + 20 + 38) * 8_000);
    let plain = 2 * (US(1).ps() + (60 + 38) * 8_000);
    let found = explored[0].exploration.unwrap().ps();
    assert!(found.abs_diff(wrapped + plain) < 1_000, "{found} and {}", wrapped + plain);
    // The address resolution before it: four links each way, 84 bytes per frame.
    let asked = explored[0].resolution.ps();
    assert!(asked.abs_diff(8 * (US(1).ps() + 84 * 8_000)) < 1_000, "{asked}");
    let hashed = Trial::linux(&fabric, "ecmp").flow(0, 2, 1_000, MS(1)).run().flows;
    assert_eq!((hashed[0].exploration, hashed[0].resolution), (None, Duration::ZERO));
}

#[test]
fn a_valley_free_exploration_reaches_every_other_leaf_once_from_every_spine() {
    let fabric = fabric();
    let [outcome, full] = ["valley-free", "full"].map(|scope| {
        let scheme = scheme_of("tcp_path", [("exploration", word(scope)), ("announce", word("off"))]);
        Trial::new(&fabric, scheme, profile("linux")).flow(0, 2, 1_000, MS(1)).run()
    });
    assert!(outcome.report.counters.packets_copied < full.report.counters.packets_copied);
    let into = |leaf: &str| {
        let links = outcome.report.links.iter();
        let into = links.filter(|link| {
            let of = fabric.link(link.id);
            fabric.node(of.to).name == leaf && !fabric.node(of.from).is_host()
        });
        into.map(|link| [link.floods.broadcasts, link.floods.explorations])
            .fold([0, 0], |[a, b], [c, d]| [a + c, b + d])
    };
    // Two floods, the ARP Request and the Path Request: N_S copies each at every leaf except the first.
    assert_eq!(["l0", "l1", "l2", "l3"].map(into), [[0, 0], [4, 4], [4, 4], [4, 4]]);
    // Path Requests end at the other leaves, the ARP Request at their hosts: of four copies, three are
    // late.
    let late = outcome.dropped(DropReason::LateCopy);
    assert_eq!(late, 2 * 3 * 3);
}

#[test]
fn tables_are_sampled_and_hold_two_entries_a_flow_on_its_path() {
    let fabric = fabric();
    let trial = Trial::linux(&fabric, "tcp_path").sampled(MS(5));
    let outcome = trial.flow(0, 2, 4_000_000, MS(1)).flow(1, 4, 4_000_000, MS(1)).run();
    let at = |name: &str, metric: Metric| {
        let node = fabric.find(name).unwrap();
        let mine = outcome.samples.iter().filter(move |sample| sample.metric == metric);
        mine.filter(|sample| NodeId(sample.entity) == node).map(|sample| sample.value).collect::<Vec<_>>()
    };
    // Locks from spines that lost the race count as flow entries for three seconds.
    assert_eq!(at("l0", Metric::FlowEntries).first(), Some(&4.0));
    assert_eq!(at("l1", Metric::FlowEntries).first(), Some(&3.0));
    assert!(at("l0", Metric::StationEntries)[0] >= 4.0);
    let hashed = Trial::linux(&fabric, "ecmp").sampled(MS(5));
    let hashed = hashed.flow(0, 2, 4_000_000, MS(1)).run();
    assert!(hashed.samples.iter().all(|sample| sample.metric != Metric::FlowEntries));
}

#[test]
fn an_event_says_what_it_cost() {
    let fabric = fabric();
    let long = Trial::linux(&fabric, "tcp_path").flow(0, 2, 20_000_000, MS(1));
    let spine = path(&fabric, &long.run(), 0)[1].clone();
    let [near, far] = [format!("l0-{spine}"), format!("{spine}-l1")];
    for cable in [&near, &far] {
        let outcome = long.clone().fail(MS(50), cable).heal(MS(120), cable).run();
        let [failed, healed] = outcome.report.events[..] else { panic!("two events") };
        assert_eq!((failed.at, healed.at), (Time::ZERO + MS(50), Time::ZERO + MS(120)));
        assert_eq!((failed.paths_broken, failed.recovered.count), (1, 1), "{cable}");
        assert!(failed.frames_lost > 0 && failed.flows_hit == 1, "{failed:?}");
        assert!(failed.recovered.mean().unwrap() < MS(1), "{failed:?}");
        assert!(failed.recovery().unwrap() < MS(1), "{failed:?}");
        assert_eq!((failed.resumed.count, failed.resumed.longest()), (1, failed.resumed.mean()));
        assert!(failed.resumed.longest().unwrap() >= failed.recovered.longest().unwrap(), "{failed:?}");
        assert_eq!((healed.frames_lost, healed.paths_broken), (0, 0), "{healed:?}");
        assert_eq!(outcome.flows[0].moves, 1);
        let moved = path(&fabric, &outcome, 0);
        assert!(moved.len() == 3 && moved[1] != spine, "{moved:?}");
    }
    // With immediate rerouting no switch recovers a path itself, and yet data arrives again.
    let hashed = Trial::linux(&fabric, "ecmp").flow(0, 2, 20_000_000, MS(1));
    let spine = path(&fabric, &hashed.run(), 0)[1].clone();
    let failed = hashed.fail(MS(50), &format!("l0-{spine}")).run().report.events[0];
    assert_eq!((failed.paths_broken, failed.recovered.count, failed.resumed.count), (1, 0, 1));
    let elsewhere = long.fail(MS(50), "l2-s0").run().report.events[0];
    assert_eq!((elsewhere.frames_lost, elsewhere.paths_broken, elsewhere.recovery()), (0, 0, None));
}

#[test]
fn a_flow_that_tfe_moves_is_counted_with_the_segments_that_the_move_reordered() {
    let fabric = fabric();
    let auto = |bytes| {
        let megabyte = ParamValue::Bytes(Bytes(1_000_000));
        let spec = scheme_of("tfe", [("classifier", word("auto")), ("elephant_bytes", megabyte)]);
        let trial = Trial::new(&fabric, spec, profile("linux"));
        // Two more flows into `l1`, one of them from `l0`, so that queues differ when the flow changes its path.
        trial.flow(1, 3, 50_000_000, US(900)).flow(6, 2, 50_000_000, US(950)).flow(0, 2, bytes, MS(1)).run()
    };
    let grown = auto(20_000_000);
    let flow = grown.flows.iter().find(|record| record.flow.bytes == 20_000_000).unwrap();
    assert!(flow.exploration.is_some(), "explored for once it had grown");
    assert!(
        flow.moves == 1 && flow.out_of_order > 0,
        "{} moves, {} out of order",
        flow.moves,
        flow.out_of_order
    );
    let small = auto(900_000);
    let flow = small.flows.iter().find(|record| record.flow.bytes == 900_000).unwrap();
    assert_eq!((flow.moves, flow.out_of_order), (0, 0), "without a path change nothing is reordered");
}

#[test]
fn an_exploration_that_finds_the_same_path_moves_nothing() {
    let one_path = build::spine_leaf(1, 2, 1, &gigabit(US(1)), &gigabit(US(1))).unwrap();
    let refreshed = scheme_with("tcp_path", "refresh_after", ParamValue::Duration(MS(5)));
    let outcome = Trial::new(&one_path, refreshed, profile("linux")).flow(0, 1, 20_000_000, MS(1)).run();
    assert!(outcome.report.links.iter().any(|link| link.floods.explorations > 5));
    assert_eq!((outcome.flows[0].moves, outcome.flows[0].out_of_order), (0, 0));
}

#[test]
fn what_is_for_a_switch_is_delivered_there() {
    let fabric = fabric();
    let outcome = Trial::linux(&fabric, "tcp_path").flow(0, 2, 1_000, MS(1)).run();
    let counters = &outcome.report.counters;
    // Every switch sends Hello messages on all its ports; the flow's packets and the ARP Request reach hosts.
    assert!(counters.packets_of_switches > 0 && counters.is_conserved());
    assert_eq!(outcome.dropped(DropReason::NoRoute), 0);
}

#[test]
fn what_is_seen_of_a_run_changes_nothing_in_it() {
    let fabric = fabric();
    let trial = Trial::linux(&fabric, "tcp_path").flow(0, 2, 4_000_000, MS(1));
    let hops = |trial: &Trial<'_>| trial.run().report.counters.packet_hops;
    assert_eq!(hops(&trial), hops(&trial.clone().sampled(MS(1))));
    let link = trial.run().link(LinkId(0)).clone();
    let (floods, bytes) = (link.floods, link.counters.wire_bytes);
    assert!(floods.broadcasts == 1 && bytes > floods.broadcast_bytes + floods.exploration_bytes);
}
