//! Links that lose packets, change their rate or flap, and the time until routes react.

use weft_fabric::{Fabric, build};
use weft_scenario::{LinkChange, NewRate};
use weft_sim::engine::Progress;
use weft_sim::record::MemoryRecorder;
use weft_sim::run::run;
use weft_sim::sample::Metric;
use weft_switching::DropReason;
use weft_units::{Duration, Rate};

use super::threads::{busy, same_with_threads};
use crate::common::{
    MS, Outcome, Trial, US, at, exploring, gigabit, link, parsed, plan, routed, running_on, scheme,
};

fn loss(loss: f64) -> LinkChange {
    LinkChange { loss: Some(loss), ..LinkChange::default() }
}

fn blackhole(share: f64) -> LinkChange {
    LinkChange { blackhole: Some(share), ..LinkChange::default() }
}

/// A change of a link's rate to this fraction.
pub fn rate(fraction: f64) -> LinkChange {
    LinkChange { rate: Some(NewRate::Fraction(fraction)), ..LinkChange::default() }
}

fn dumbbell() -> Fabric {
    build::dumbbell(1, 1, &gigabit(US(20)), &gigabit(US(20))).expect("the sizes are positive")
}

fn two_spines() -> Fabric {
    build::spine_leaf(2, 2, 2, &gigabit(US(5)), &gigabit(US(5))).expect("the sizes are positive")
}

/// Packets offered to the middle link, in both directions, and packets lost on it.
fn offered(outcome: &Outcome, fabric: &Fabric, reason: DropReason) -> (u64, u64) {
    let there = link(fabric, "s0-s1");
    let accepted = outcome.packets(there) + outcome.packets(there.reverse());
    (accepted + outcome.dropped(reason), outcome.dropped(reason))
}

#[test]
fn a_link_loses_its_share_of_packets_at_random() {
    let fabric = dumbbell();
    for share in [0.001, 0.01, 0.1] {
        let trial = (0..40_u64).fold(Trial::linux(&fabric, "ecmp").limit(MS(3_000)), |trial, number| {
            trial.flow(0, 1, 3_000_000, MS(number))
        });
        let outcome = trial.change(MS(0), "s0-s1", loss(share)).run();
        let (offered, lost) = offered(&outcome, &fabric, DropReason::LinkLoss);
        assert!(offered > 5_000, "{share}: {offered} packets");
        let (mean, deviation) = (offered as f64 * share, (offered as f64 * share * (1.0 - share)).sqrt());
        assert!((lost as f64 - mean).abs() < 4.0 * deviation, "{share}: {lost} of {offered} lost");
        let noted = outcome.report.events[0].frames_lost;
        assert!(noted > 0 && noted <= lost, "{noted} of {lost} count for the event");
        assert_eq!(outcome.dropped(DropReason::LinkDown) + outcome.dropped(DropReason::NoRoute), 0);
    }
}

#[test]
fn silent_losses_count_for_the_event_that_caused_them() {
    let fabric = two_spines();
    let trial = (0..8).fold(Trial::linux(&fabric, "ecmp").limit(MS(60)), |trial, number| {
        trial.flow(number % 2, 2 + number % 2, 1 << 30, US(u64::from(number)))
    });
    let trial = trial
        .change(MS(5), "l0-s0", loss(0.02))
        .change(MS(6), "l0-s0", blackhole(0.0))
        .change(MS(7), "l0-s1", loss(0.02))
        .change(MS(8), "l1-s1", loss(0.0));
    let outcome = trial.clone().run();
    let noted: Vec<u64> = outcome.report.events.iter().map(|event| event.frames_lost).collect();
    assert!(noted[0] > 0 && noted[2] > 0, "{noted:?}");
    assert_eq!((noted[1], noted[3]), (0, 0), "{noted:?}");
    assert_eq!(noted.iter().sum::<u64>(), outcome.dropped(DropReason::LinkLoss));
}

#[test]
fn losses_end_when_they_are_set_to_zero() {
    let fabric = dumbbell();
    let lossy = Trial::linux(&fabric, "ecmp").flow(0, 1, 5_000_000, MS(1)).change(MS(0), "s0-s1", loss(0.2));
    assert!(lossy.clone().run().dropped(DropReason::LinkLoss) > 0);
    let healed = lossy.change(MS(0), "s0-s1", loss(0.0)).run();
    let healthy = Trial::linux(&fabric, "ecmp").flow(0, 1, 5_000_000, MS(1)).run();
    assert_eq!(healed.dropped(DropReason::LinkLoss), 0);
    assert_eq!(healed.fct(0), healthy.fct(0));
}

#[test]
fn a_blackhole_takes_all_packets_of_some_flows_and_none_of_the_others() {
    let fabric = dumbbell();
    let flows = 200_u64;
    let trial = (0..flows).fold(Trial::linux(&fabric, "ecmp").limit(MS(30_000)), |trial, number| {
        trial.flow(0, 1, 20_000, MS(number))
    });
    let outcome = trial.clone().change(MS(0), "s0-s1", blackhole(0.25)).run();
    let stuck: Vec<bool> = outcome.flows.iter().map(|flow| flow.end.is_none()).collect();
    let count = stuck.iter().filter(|stuck| **stuck).count() as f64;
    // A flow gets through if neither direction is lost.
    let (share, flows) = (1.0 - 0.75_f64 * 0.75, flows as f64);
    let deviation = (flows * share * (1.0 - share)).sqrt();
    assert!((count - flows * share).abs() < 4.0 * deviation, "{count} of {flows} flows are stuck");
    for (flow, stuck) in outcome.flows.iter().zip(&stuck) {
        assert!(*stuck || (flow.retransmissions == 0 && flow.drops == 0), "{flow:?}");
    }
    assert!(outcome.dropped(DropReason::Blackhole) > 0);
    let all = trial.change(MS(0), "s0-s1", blackhole(1.0)).run();
    assert_eq!(all.report.flows_finished, 0);
}

#[test]
fn gray_failures_change_no_route() {
    let fabric = two_spines();
    let trial = (0..8).fold(Trial::linux(&fabric, "ecmp").limit(MS(50)), |trial, number| {
        trial.flow(number % 2, 2 + number % 2, 1 << 30, US(u64::from(number)))
    });
    let lossy = trial.clone().change(MS(5), "s0-l1", loss(0.001)).run();
    for spine in ["s0", "s1"] {
        let used = link(&fabric, &format!("{spine}-l1"));
        assert!(lossy.packets(used) > 300, "{spine}: {}", lossy.packets(used));
    }
    let spine = link(&fabric, "l0-s0");
    let trial = trial.limit(MS(600));
    let all = trial.clone().change(MS(5), "s0-l1", loss(1.0)).run();
    let failed = trial.reacts_after(US(10)).fail(MS(5), "s0-l1").run();
    let resent = |outcome: &Outcome| outcome.flows.iter().map(|flow| flow.timeouts).sum::<u64>();
    assert!(all.dropped(DropReason::LinkLoss) > 0);
    assert!(resent(&all) > resent(&failed), "flows stay on the path that loses their packets");
    assert_eq!(failed.dropped(DropReason::LinkLoss), 0);
    assert!(failed.packets(spine) < all.packets(spine), "routes leave a link that has failed");
}

#[test]
fn half_the_rate_is_half_the_throughput() {
    let fabric = dumbbell();
    let trial = Trial::linux(&fabric, "ecmp").limit(MS(400)).sampled(MS(1)).flow(0, 1, 1 << 30, MS(0));
    let outcome = trial.change(MS(200), "s0-s1", rate(0.5)).run();
    let mean = |from: u64, to: u64| {
        let within = |time| time > at(MS(from)) && time <= at(MS(to));
        let samples = outcome.samples.iter().filter(|sample| sample.metric == Metric::Throughput);
        let values: Vec<f64> =
            samples.filter(|sample| within(sample.time)).map(|sample| sample.value).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let ratio = mean(250, 400) / mean(100, 200);
    assert!((ratio - 0.5).abs() < 0.01, "{ratio}");
}

/// Four hosts send their initial windows at once: 40 packets, of which a queue builds up before the middle link. At
/// 300 us all of them have been accepted there, and about half are still waiting.
#[test]
fn what_is_queued_is_sent_at_the_new_rate() {
    let fabric = build::dumbbell(4, 1, &gigabit(US(20)), &gigabit(US(20))).expect("the sizes are positive");
    let trial = (0..4).fold(Trial::linux(&fabric, "ecmp"), |trial, host| trial.flow(host, 4, 14_480, MS(0)));
    let last = |outcome: &Outcome| (0..4).map(|flow| outcome.fct(flow)).max().expect("there are four flows");
    let left = |outcome: &Outcome| (last(outcome) - US(300)).ps() as f64;
    let full = trial.clone().run();
    let slow = trial.clone().change(US(300), "s0-s1", rate(0.1)).run();
    let middle = link(&fabric, "s0-s1");
    assert_eq!(full.packets(middle), slow.packets(middle), "nothing is sent again");
    let ratio = left(&slow) / left(&full);
    assert!((6.0..10.0).contains(&ratio), "{ratio}: only the way behind the queue takes as long as before");
    let back = trial.change(MS(0), "s0-s1", rate(0.1)).change(US(1), "s0-s1", rate(1.0)).run();
    assert_eq!(last(&back), last(&full));
}

#[test]
fn capacities_follow_a_rate_after_the_reaction() {
    let fabric = two_spines();
    let share = |reaction: Duration| {
        let trial = Trial::linux(&fabric, "wcmp").limit(MS(400)).reacts_after(reaction);
        let trial = (0..300_u64).fold(trial, |trial, number| {
            trial.flow(number as u32 % 2, 2 + number as u32 % 2, 5_000, MS(10) + US(number * 100))
        });
        let trial = trial.change(
            US(1),
            "l0-s0",
            LinkChange { rate: Some(NewRate::To(Rate::from_bps(100_000_000))), ..LinkChange::default() },
        );
        let outcome = trial.run();
        let [slow, fast] = ["l0-s0", "l0-s1"].map(|name| outcome.packets(link(&fabric, name)) as f64);
        slow / (slow + fast)
    };
    let (known, unknown) = (share(MS(5)), share(MS(300)));
    assert!(known < 0.2, "{known}: one share of eleven");
    assert!(unknown > 0.4, "{unknown}: still half");
}

#[test]
fn packets_are_lost_until_routes_react_and_not_after() {
    let fabric = two_spines();
    for name in routed().map(|known| known.name) {
        let lost = |cable: &str, limit: Duration| {
            let trial = Trial::linux(&fabric, name).limit(limit).reacts_after(MS(10));
            // One SYN per flow every 0.1 ms.
            let trial = (0..600_u64).fold(trial, |trial, number| {
                trial.flow(number as u32 % 2, 2 + number as u32 % 2, 600, US(number * 100))
            });
            trial.fail(MS(20), cable).run().dropped(DropReason::LinkDown)
        };
        let at = |limit| ["l0-s0", "l0-s1"].map(|cable| lost(cable, limit)).into_iter().sum::<u64>();
        let [early, reacted, late] = [US(25_000), US(30_050), US(59_000)].map(at);
        assert!(early > 0 && reacted > early, "{name}: {early} {reacted}: lost until the routes react");
        assert_eq!(late, reacted, "{name}: none is lost after");
    }
}

#[test]
fn exploring_schemes_do_not_wait_for_routes() {
    let text = |scheme: &str, reaction: &str| {
        format!(
            "[fabric]\nkind = \"spine-leaf\"\nspines = 2\nleaves = 2\nhosts_per_leaf = 2\nrate = \"1 Gbps\"\n\
             reaction = \"{reaction}\"\n[scheme]\nname = \"{scheme}\"\n[traffic]\n\
             flow_list = [{{ src = \"h0\", dst = \"h3\", bytes = \"9 MB\", start = \"0 s\" }}]\n\
             [[event]]\nat = \"20 ms\"\nfail = \"l0-s0\"\n[[event]]\nat = \"40 ms\"\nheal = \"l0-s0\"\n"
        )
    };
    let ends = |name, reaction| {
        ["l0-s0", "l0-s1"].map(|cable| {
            let mut kept = MemoryRecorder::default();
            let text = text(name, reaction).replace("l0-s0", cable);
            run(&plan(&parsed(&text), &[]), &Progress::default(), &mut kept).expect("a known scheme");
            kept.flows[0].end
        })
    };
    for name in exploring() {
        let [prompt, slow] = ["0 s", "300 ms"].map(|reaction| ends(name, reaction));
        assert_eq!(prompt, slow, "{name}");
        assert!(prompt.iter().all(Option::is_some), "{name}");
    }
    assert_ne!(ends("ecmp", "0 s"), ends("ecmp", "300 ms"), "ECMP waits on one of the two paths");
}

#[test]
fn a_flap_shorter_than_the_reaction_leaves_routes_as_they_are() {
    let fabric = two_spines();
    let trial = (0..8)
        .fold(Trial::linux(&fabric, "ecmp").limit(MS(60)).reacts_after(MS(10)), |trial, number| {
            trial.flow(number % 2, 2 + number % 2, 1 << 30, US(u64::from(number)))
        });
    // Long enough for a tail probe over the other spine.
    let trial = trial.fail(MS(20), "l0-s0").heal(MS(28), "l0-s0");
    let moves = |outcome: &Outcome| outcome.flows.iter().map(|flow| flow.moves).sum::<u32>();
    let slow = trial.clone().run();
    let prompt = trial.reacts_after(US(1)).run();
    assert_eq!(moves(&slow), 0, "the path is the same before and after");
    assert!(moves(&prompt) > 0, "prompt routes use the other spine meanwhile");
    assert!(slow.dropped(DropReason::LinkDown) > prompt.dropped(DropReason::LinkDown));
    assert!(slow.link(link(&fabric, "l0-s0")).up);
}

#[test]
fn a_flapping_link_is_down_and_up_at_its_times() {
    let text = "[fabric]\nkind = \"dumbbell\"\nleft = 1\nright = 1\nrate = \"1 Gbps\"\nreaction = \"0 s\"\n\
                [scheme]\nname = \"ecmp\"\n[traffic]\nsizes = { fixed = \"500 B\" }\narrival_rate = 1\n\
                [run]\nduration = \"1 s\"\n";
    let events = "[[event]]\nat = \"20 ms\"\nflap = \"s0-s1\"\ndown = \"1 ms\"\nup = \"5 ms\"\ntimes = 3\n";
    let text = text.replace(
        "sizes = { fixed = \"500 B\" }\narrival_rate = 1\n",
        "flow_list = [{ src = \"h0\", dst = \"h1\", bytes = \"500 MB\", start = \"0 s\" }]\n",
    );
    for (us, up) in [
        (19_900, true),
        (20_100, false),
        (20_900, false),
        (21_100, true),
        (25_900, true),
        (26_100, false),
        (32_900, false),
        (33_100, true),
        (39_000, true),
    ] {
        let mut plan = plan(&parsed(&format!("{text}{events}")), &[]);
        plan.run.limit = US(us);
        let report =
            run(&plan, &Progress::default(), &mut MemoryRecorder::default()).expect("a known scheme");
        assert_eq!(report.links[link(&plan.fabric, "s0-s1").index()].up, up, "{us} us");
    }
}

#[test]
fn degraded_links_say_the_same_with_any_number_of_threads() {
    let spec = super::threads::link();
    let fabric = build::spine_leaf(3, 4, 3, &spec, &spec).expect("the sizes are positive");
    for name in running_on(&fabric) {
        let mut trial = busy(&fabric, scheme(name), crate::common::profile("linux")).reacts_after(US(700));
        let gray = LinkChange { rate: Some(NewRate::Fraction(0.3)), loss: Some(0.02), blackhole: Some(0.1) };
        for (us, cable, change) in [
            (0, "l1-s0", rate(0.2)),
            (1_000, "l0-s1", gray),
            (1_000, "l2-s2", loss(0.3)),
            (4_000, "l0-s1", rate(1.0)),
            (4_500, "l1-s0", rate(0.9)),
            (5_000, "l2-s2", loss(0.0)),
        ] {
            trial = trial.change(US(us), cable, change);
        }
        for step in 0..8 {
            trial = trial.fail(US(2_000 + 300 * step), "l3-s1").heal(US(2_100 + 300 * step), "l3-s1");
        }
        trial.faults.sort_by_key(|fault| fault.at);
        let outcome = trial.run();
        assert!(outcome.dropped(DropReason::LinkLoss) > 0, "{name}");
        same_with_threads(&trial, &[2, 4], |trial| trial.run());
    }
}
