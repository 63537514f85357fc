//! Ports that choose among waiting packets: they say the same with any number of threads, although those between two
//! switches of a partition need no event where those between partitions do.

use weft_fabric::{
    CERTAIN, ClassSpec, Fabric, Limit, LinkSpec, MarkAt, QueueSpec, RedSpec, Scheduler, build,
};
use weft_transport::uec;
use weft_units::{Bytes, Duration};

use super::threads::{busy, link, same_with_threads};
use crate::common::{MS, Outcome, Trial, US, profile, running_on, scheme};
use crate::engine::degraded::rate;

/// This queue per class, with these weights.
fn classes(weights: &[u32], scheduler: Scheduler, queue: QueueSpec) -> QueueSpec {
    let classes = weights.iter().map(|&weight| ClassSpec { weight }).collect();
    QueueSpec { classes, scheduler, ..queue }
}

/// Two queues by priority, three by weight, marks at random at the tail of a queue, and at the heads of two.
fn queues() -> Vec<QueueSpec> {
    let fifo = || QueueSpec::fifo(Limit::Bytes(20_000));
    let red =
        |at| Some(RedSpec { kmin: Limit::Bytes(3_000), kmax: Limit::Bytes(15_000), pmax: CERTAIN / 3, at });
    vec![
        classes(&[1, 1], Scheduler::StrictPriority, fifo()),
        classes(&[3, 1, 2], Scheduler::Drr, fifo()),
        QueueSpec { red: red(MarkAt::Enqueue), ..fifo() },
        classes(&[1, 2], Scheduler::Drr, QueueSpec { red: red(MarkAt::Dequeue), ..fifo() }),
    ]
}

/// A trial whose cables also change their rates and fail for a moment.
fn disturbed(trial: Trial<'_>) -> Trial<'_> {
    let mut trial = trial.reacts_after(US(700));
    for (us, cable, fraction) in [(700, "l1-s0", 0.2), (1_500, "l0-s1", 0.4), (4_000, "l1-s0", 1.0)] {
        trial = trial.change(US(us), cable, rate(fraction));
    }
    for step in 0..8 {
        trial = trial.fail(US(2_000 + 300 * step), "l3-s1").heal(US(2_100 + 300 * step), "l3-s1");
    }
    trial.faults.sort_by_key(|fault| fault.at);
    trial
}

fn leaf_spine(queue: QueueSpec) -> Fabric {
    let link = LinkSpec { queue, ..link() };
    build::spine_leaf(3, 4, 3, &link, &link).expect("the sizes are positive")
}

fn marks(outcome: &Outcome) -> u64 {
    outcome.report.links.iter().map(|link| link.counters.marks).sum()
}

/// A scheme whose choices depend on the packets that wait.
const LOOKS_AT_QUEUES: &str = "drill";

#[test]
fn tcp_says_the_same_with_any_number_of_threads() {
    let queues = queues();
    for (number, queue) in queues.iter().enumerate() {
        let (has_red, fabric) = (queue.red.is_some(), leaf_spine(queue.clone()));
        // Each scheme runs with one of the queues, and one that looks at queues with all of them.
        let names = running_on(&fabric).filter(|name| *name != LOOKS_AT_QUEUES);
        for name in names.skip(number).step_by(queues.len()).chain([LOOKS_AT_QUEUES]) {
            let mut trial = disturbed(busy(&fabric, scheme(name), profile("dctcp")));
            for (number, flow) in trial.flows.iter_mut().enumerate() {
                flow.dscp = [0, 46, 26][number % 3];
            }
            let outcome = trial.run();
            assert_eq!(marks(&outcome) > 0, has_red, "{name}");
            assert!(
                outcome.report.links.iter().any(|link| link.counters.max_backlog > Bytes(3_000)),
                "{name}"
            );
            same_with_threads(&trial, &[2, 3, 4], |trial| trial.run());
        }
    }
}

#[test]
fn cut_packets_say_the_same_with_any_number_of_threads() {
    let short = QueueSpec { trim: true, ..QueueSpec::fifo(Limit::Packets(5)) };
    let fabric = leaf_spine(classes(&[1, 1], Scheduler::StrictPriority, short));
    for name in ["ecmp", "spray"] {
        let trial = Trial::new(&fabric, scheme(name), uec::Config::default()).limit(MS(30)).sampled(US(100));
        let trial =
            (0..12).fold(trial, |trial, src| trial.flow(src, (src + 4) % 12, 150_000, Duration::ZERO));
        let trial = (1..9).fold(trial, |trial, src| trial.flow(src, 0, 60_000, US(300)));
        let trial = disturbed(trial);
        let outcome = trial.run();
        let trimmed = outcome.report.links.iter().filter_map(|link| link.port).map(|port| port.trimmed);
        assert!(trimmed.sum::<u64>() > 0, "{name}");
        same_with_threads(&trial, &[2, 3, 4], |trial| trial.run());
    }
}
