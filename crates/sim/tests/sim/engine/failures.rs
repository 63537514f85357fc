//! Failures and restorations of links and nodes during a run.

use weft_fabric::{Fabric, FabricBuilder, build};
use weft_sim::engine::Progress;
use weft_sim::record::MemoryRecorder;
use weft_sim::run::run;
use weft_switching::{Descriptor, DropReason};
use weft_units::Duration;

use crate::common::{MS, Trial, US, gigabit, link, parsed, plan, routed, scheme};

/// h0, h1 on l0 and h2, h3 on l1, two spines between.
fn two_spines() -> Fabric {
    build::spine_leaf(2, 2, 2, &gigabit(US(5)), &gigabit(US(5))).unwrap()
}

/// After a handshake of 2 x 1.04 ms, its last ACK and the ten segments of the initial window leave back
/// to back in 0.13 ms and are on the middle link for 1 ms: at 2.5 ms all of them. The first
/// retransmission comes 2 round trips later.
#[test]
fn what_is_on_a_failing_link_is_lost_and_counted_and_sent_again() {
    let fabric = build::dumbbell(1, 1, &gigabit(US(20)), &gigabit(MS(1))).unwrap();
    let whole = Trial::linux(&fabric, "ecmp").flow(0, 1, 14_480, Duration::ZERO);
    let outcome = whole.clone().fail(US(2_500), "s0-s1").heal(MS(3), "s0-s1").run();
    assert_eq!(outcome.dropped(DropReason::LinkDown), 11);
    assert_eq!(outcome.flows[0].drops, 10);
    assert_eq!(outcome.report.flows_finished, 1);
    assert!(outcome.flows[0].retransmissions >= 10);
    assert!(outcome.fct(0) > whole.run().fct(0) * 2);
}

#[test]
fn a_link_that_is_down_refuses_packets_and_counts_them_as_such() {
    let fabric = build::dumbbell(1, 1, &gigabit(US(20)), &gigabit(US(20))).unwrap();
    let trial = Trial::linux(&fabric, "ecmp").flow(0, 1, 1_000, MS(1));
    let outcome = trial.limit(MS(3_500)).fail(MS(0), "h0-s0").run();
    // The first SYN and those after 1 s and 3 s.
    assert_eq!(outcome.dropped(DropReason::LinkDown), 3);
    assert_eq!(outcome.report.counters.packet_hops, 0);
    assert!(!outcome.link(link(&fabric, "h0-s0")).up && !outcome.link(link(&fabric, "s0-h0")).up);
}

#[test]
fn a_flow_without_a_path_waits_until_the_path_heals() {
    let fabric = build::dumbbell(1, 1, &gigabit(US(20)), &gigabit(US(20))).unwrap();
    let trial = Trial::linux(&fabric, "ecmp").flow(0, 1, 1_000, Duration::ZERO);
    let lone = trial.clone().run().fct(0);
    let outcome = trial.fail(MS(0), "s0-s1").heal(MS(500), "s0-s1").run();
    assert_eq!(outcome.dropped(DropReason::NoRoute), 1, "the first SYN finds no route at s0");
    assert_eq!(outcome.fct(0), lone + Duration::from_secs(1), "the second SYN goes through");
}

#[test]
fn every_scheme_goes_on_over_the_other_spine_and_comes_back_when_the_link_heals() {
    let fabric = two_spines();
    let (fail, heal, end) = (MS(20), MS(500), MS(900));
    // A flowcut of an endless flow does not end: it stays on the other spine.
    for name in routed().map(|known| known.name).filter(|name| *name != "flowcut") {
        // The failing link must have been in use: some of the eight flows cross it.
        let endless = |trial: Trial<'static>| {
            (0..8).fold(trial, |trial, i| trial.flow(i % 2, 2 + i % 2, 1 << 30, US(u64::from(i))))
        };
        let fabric: &'static Fabric = Box::leak(Box::new(fabric.clone()));
        let used = endless(Trial::linux(fabric, name).limit(fail)).run();
        let spines = ["s0", "s1"].map(|spine| link(fabric, &format!("{spine}-l1")));
        let busy = usize::from(used.packets(spines[1]) > used.packets(spines[0]));
        let cable = format!("s{busy}-l1");
        let (failed, other) = (spines[busy], spines[1 - busy]);
        let at = |limit: Duration| {
            let trial = endless(Trial::linux(fabric, name).limit(limit));
            trial.fail(fail, &cable).heal(heal, &cable).run()
        };
        let [before, between, after] = [fail, heal, end].map(at);
        let lost = between.dropped(DropReason::LinkDown);
        assert!(lost > 0, "{name}: the link was busy, so packets were on it");
        // Apart from packets accepted before the failure, nothing crosses a failed link.
        assert!(between.packets(failed) <= before.packets(failed) + 1, "{name}");
        let detour = between.packets(other) - before.packets(other);
        assert!(detour > 20_000, "{name}: {detour} packets over the other spine in 480 ms");
        let back = after.packets(failed) - between.packets(failed);
        assert!(back > 5_000, "{name}: {back} packets over the healed link in 400 ms");
    }
}

/// The path from h0 to h1 has three links, the other way round five.
#[test]
fn the_ideal_is_over_the_paths_that_there_are_when_the_flow_starts() {
    let fabric = build::ring(4, 1, &gigabit(MS(1)), &gigabit(MS(1))).unwrap();
    let trial = Trial::linux(&fabric, "ecmp").flow(0, 1, 5_000_000, MS(10));
    let ideal = |trial: &Trial| {
        let outcome = trial.run();
        assert_eq!(outcome.report.flows_finished, 1);
        (outcome.flows[0].hops, outcome.flows[0].ideal)
    };
    let (short, whole) = (ideal(&trial), ideal(&trial.clone().fail(MS(5), "s0-s1")));
    assert_eq!((short.0, whole.0), (3, 5));
    assert_eq!(ideal(&trial.clone().fail(MS(30), "s0-s1")), short, "fails during the flow");
    assert_eq!(
        ideal(&trial.clone().fail(MS(5), "s0-s1").heal(MS(30), "s0-s1")),
        whole,
        "heals during the flow"
    );
    assert_eq!(ideal(&trial.clone().fail(MS(10), "s0-s1")), whole, "fails at the moment of the start");
    let cut_off = trial.fail(MS(5), "h0-s0").heal(MS(30), "h0-s0");
    assert_eq!(ideal(&cut_off), (0, None), "there was no path");
}

/// Whether links are up at the end of a run on a k = 4 fat-tree with these events.
fn up_at_the_end(failed: &str, events: &[(&str, &str)], cables: &[&str]) -> Vec<bool> {
    let mut text = format!(
        "[fabric]\nkind = \"fat-tree\"\nk = 4\nfailed = [{failed}]\n[scheme]\nname = \"ecmp\"\n\
         [traffic]\nflow_list = [{{ src = \"h0\", dst = \"h15\", bytes = \"1 kB\", start = \"10 ms\" }}]\n"
    );
    for (i, (what, target)) in events.iter().enumerate() {
        text += &format!("[[event]]\nat = \"{} us\"\n{what} = \"{target}\"\n", i + 1);
    }
    let plan = plan(&parsed(&text), &[]);
    let report = run(&plan, &Progress::default(), &mut MemoryRecorder::default()).unwrap();
    cables.iter().map(|cable| report.links[link(&plan.fabric, cable).index()].up).collect()
}

#[test]
fn a_node_takes_its_cables_down_and_back_up() {
    let cables = ["a0-e0", "a0-e1", "a0-c0", "a0-c1", "a1-e0"];
    assert_eq!(up_at_the_end("", &[("fail_node", "a0")], &cables), [false, false, false, false, true]);
    assert_eq!(up_at_the_end("", &[("fail_node", "a0"), ("heal_node", "a0")], &cables), [true; 5]);
}

#[test]
fn a_node_that_comes_back_leaves_down_what_is_down_by_itself() {
    let (fail, heal) = (("fail_node", "a0"), ("heal_node", "a0"));
    for (what, failed, events, expected) in [
        ("a link that had failed", "", &[("fail", "e0-a0"), fail, heal][..], [false, true]),
        ("the other end is down", "", &[("fail_node", "e0"), fail, heal], [false, true]),
        ("a link down from the start", "\"e0-a0\"", &[fail, heal], [false, true]),
        ("a link of a node that is down", "", &[fail, ("heal", "e0-a0")], [false, false]),
        ("both have healed", "", &[("fail", "e0-a0"), fail, ("heal", "e0-a0"), heal], [true, true]),
    ] {
        assert_eq!(up_at_the_end(failed, events, &["e0-a0", "a0-e1"]), expected, "{what}");
    }
}

#[test]
fn two_cables_between_two_switches_fail_one_by_one() {
    let mut builder = FabricBuilder::new("twice");
    let hosts = ["h0", "h1"].map(|name| builder.add_host(name, 0, None).unwrap());
    let switches = ["s0", "s1"].map(|name| builder.add_switch(name, 1, None).unwrap());
    let spec = gigabit(US(5));
    for (host, switch) in hosts.iter().zip(&switches) {
        builder.connect(*host, *switch, &spec).unwrap();
    }
    let cables = [0, 1].map(|_| builder.connect(switches[0], switches[1], &spec).unwrap());
    let fabric = builder.build().unwrap();
    // CONGA, ConWeave and HULA are not defined on a fabric of one tier.
    let is_defined = |known: &&Descriptor| known.misfit_of(&scheme(known.name), &fabric).is_none();
    for name in routed().filter(is_defined).map(|known| known.name) {
        let trial = Trial::linux(&fabric, name).flow(0, 1, 5_000_000, Duration::ZERO);
        let outcome = trial.fail(MS(5), "s0-s1").run();
        assert_eq!(outcome.report.flows_finished, 1, "{name}");
        assert!(outcome.packets(cables[1]) > 1_000, "{name}: {:?}", cables.map(|id| outcome.packets(id)));
    }
}
