//! Queues: limits, marking and scheduling.

use weft_fabric::{ClassSpec, Fabric, Limit, LinkSpec, Overhead, QueueSpec, Scheduler, build};
use weft_sim::sample::Metric;
use weft_switching::DropReason;
use weft_transport::Ecn;
use weft_units::{Bytes, Duration, LinkId, Rate, Time};

use crate::common::statistics::error;
use crate::common::wire::Wire;
use crate::common::{Trial, US, gigabit, link, profile, scheme};

/// 1 Gbps, so that 1250 bytes take 10 us.
fn line(queue: QueueSpec) -> LinkSpec {
    gigabit(US(3)).with_overhead(Overhead::None).with_queue(queue)
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// How many of `count` packets offered at `at` are accepted.
fn taken(wire: &mut Wire, at: Time, count: u32, bytes: u16) -> u32 {
    (0..count).map(|tag| u32::from(wire.offer(at, tag, bytes, 0, Ecn::NotEct).is_ok())).sum()
}

#[test]
fn drop_tail_takes_what_fits_to_the_packet_and_to_the_byte() {
    // Limit, packet size, accepted of 100 packets at once on the idle link, accepted of 100 each at
    // 10 us, 14 us and 35 us (whole packets sent by then: one, none, two more).
    let cases = [
        (Limit::Packets(1), 1_250, [2, 1, 0, 2]),
        (Limit::Packets(7), 1_250, [8, 1, 0, 2]),
        // A limit in bytes also excludes the packet on the line.
        (Limit::Bytes(1_249), 1_250, [1, 1, 0, 1]),
        (Limit::Bytes(1_250), 1_250, [2, 1, 0, 2]),
        (Limit::Bytes(8_750), 1_250, [8, 1, 0, 2]),
        (Limit::Bytes(9_999), 1_250, [8, 1, 0, 2]),
        (Limit::Bytes(10_000), 1_250, [9, 1, 0, 2]),
    ];
    for (limit, bytes, expected) in cases {
        let mut wire = Wire::new(&line(QueueSpec::fifo(limit)));
        let found = [0, 10, 14, 35].map(|at| taken(&mut wire, us(at), 100, bytes));
        assert_eq!(found, expected, "{limit}");
        wire.run_until(Time::MAX);
        let sum = expected.iter().sum::<u32>();
        assert_eq!(wire.passed.len() as u32, sum, "{limit}");
        assert_eq!((wire.counters().packets, wire.counters().drops), (sum.into(), (400 - sum).into()));
        assert_eq!(wire.counters().wire_bytes, u64::from(sum) * 1_250);
    }
}

#[test]
fn a_limit_in_bytes_counts_bytes_on_the_wire() {
    let ethernet = line(QueueSpec::fifo(Limit::Bytes(8_400))).with_overhead(Overhead::Ethernet);
    assert_eq!(taken(&mut Wire::new(&ethernet), us(0), 200, 40), 101, "100 frames of 84 bytes wait");
    assert_eq!(taken(&mut Wire::new(&ethernet), us(0), 200, 1_362), 7, "6 frames of 1400 bytes wait");
}

#[test]
fn packets_that_find_the_threshold_reached_are_marked_and_only_those() {
    // The first is sent at once; of the others, number n finds n - 1 waiting.
    let marked = |threshold, ecn| {
        let queue = QueueSpec::fifo(Limit::Packets(20)).marking(threshold);
        let mut wire = Wire::new(&line(queue));
        for tag in 0..30 {
            let _ = wire.offer(us(0), tag, 1_250, 0, ecn);
        }
        wire.run_until(Time::MAX);
        assert_eq!(wire.passed.len(), 21);
        let marked: Vec<u32> = wire.passed.iter().filter(|p| p.marked).map(|p| p.tag).collect();
        assert_eq!(wire.counters().marks, marked.len() as u64);
        marked
    };
    assert_eq!(marked(Limit::Packets(5), Ecn::Ect0), (6..21).collect::<Vec<_>>());
    assert!(marked(Limit::Packets(5), Ecn::NotEct).is_empty());
    assert!(marked(Limit::Packets(20), Ecn::Ect0).is_empty());
    // Number n finds 1250 (n - 1) bytes waiting.
    assert_eq!(marked(Limit::Bytes(6_250), Ecn::Ect0), (6..21).collect::<Vec<_>>());
    assert_eq!(marked(Limit::Bytes(6_251), Ecn::Ect0), (7..21).collect::<Vec<_>>());
}

fn classes(scheduler: Scheduler, weights: &[u32], packets: u32) -> QueueSpec {
    with_classes(QueueSpec::fifo(Limit::Packets(packets)), scheduler, weights)
}

fn with_classes(queue: QueueSpec, scheduler: Scheduler, weights: &[u32]) -> QueueSpec {
    let classes = weights.iter().map(|&weight| ClassSpec { weight }).collect();
    QueueSpec { classes, scheduler, ..queue }
}

#[test]
fn strict_priority_lets_the_urgent_go_first_but_does_not_break_off_a_packet() {
    let mut wire = Wire::new(&line(classes(Scheduler::StrictPriority, &[1, 1], 100)));
    for tag in 0..3 {
        wire.offer(us(0), tag, 1_250, 0, Ecn::NotEct).unwrap();
    }
    for tag in 10..12 {
        wire.offer(us(1), tag, 1_250, 56, Ecn::NotEct).unwrap();
    }
    wire.run_until(Time::MAX);
    let order: Vec<_> = wire.passed.iter().map(|passed| (passed.tag, passed.arrived)).collect();
    // 10 us of transmission each, back to back, plus 3 us of delay.
    assert_eq!(order, [(0, us(13)), (10, us(23)), (11, us(33)), (1, us(43)), (2, us(53))]);
}

#[test]
fn each_queue_of_a_port_has_the_limit_to_itself() {
    for scheduler in [Scheduler::StrictPriority, Scheduler::Drr] {
        let mut wire = Wire::new(&line(classes(scheduler, &[1, 1], 5)));
        let mut offered =
            |dscp| (0..20).filter(|tag| wire.offer(us(0), *tag, 1_250, dscp, Ecn::NotEct).is_ok()).count();
        assert_eq!(offered(56), 6, "one on the line, five waiting");
        assert_eq!(offered(0), 5);
        wire.run_until(Time::MAX);
        assert_eq!((wire.passed.len(), wire.counters().drops), (11, 29));
    }
}

#[test]
fn a_port_with_one_class_is_a_fifo_queue_to_the_picosecond() {
    let offer = |queue: QueueSpec| {
        let mut wire = Wire::new(&line(queue));
        let mut at = us(0);
        let taken: Vec<bool> = (0..200_u32)
            .map(|tag| {
                at += Duration::from_us(u64::from(tag * 7 % 11));
                wire.offer(at, tag, 64 + (tag * 131 % 1_400) as u16, 0, Ecn::Ect0).is_ok()
            })
            .collect();
        wire.run_until(Time::MAX);
        let passed = wire.passed.iter().map(|passed| (passed.tag, passed.arrived, passed.marked));
        (taken, passed.collect::<Vec<_>>())
    };
    for (limit, threshold) in [
        (Limit::Packets(4), Limit::Packets(2)),
        (Limit::Bytes(3_000), Limit::Bytes(1_200)),
        (Limit::Packets(4), Limit::Bytes(700)),
    ] {
        let queue = QueueSpec::fifo(limit).marking(threshold);
        let fifo = offer(queue.clone());
        assert!(fifo.0.contains(&false) && fifo.0.contains(&true), "{limit}");
        let marks = fifo.1.iter().filter(|(.., marked)| *marked).count();
        assert!((1..fifo.1.len()).contains(&marks), "{limit}: {marks} marks");
        for (scheduler, weight) in [(Scheduler::StrictPriority, 1), (Scheduler::Drr, 3)] {
            assert_eq!(fifo, offer(with_classes(queue.clone(), scheduler, &[weight])), "{limit}");
        }
    }
}

/// Four hosts per side at 1 Gbps, a 200 Mbps bottleneck with this queue.
fn classed_dumbbell(queue: QueueSpec) -> Fabric {
    let host = gigabit(US(20));
    let bottleneck = LinkSpec::new(Rate::from_bps(200_000_000), Duration::from_us(200)).with_queue(queue);
    build::dumbbell(4, 4, &host, &bottleneck).unwrap()
}

/// The shares of the bottleneck that endless flows with these DSCPs get.
fn shares(fabric: &Fabric, dscps: &[u8]) -> Vec<f64> {
    let mut trial = Trial::linux(fabric, "ecmp").limit(Duration::from_secs(2));
    for (i, &dscp) in (0..).zip(dscps) {
        trial = trial.flow(i, 4 + i, 1 << 40, Duration::from_us(u64::from(i))).with_dscp(dscp);
    }
    let rates = trial.sampled(Duration::from_ms(20)).run().rates(Duration::from_ms(500));
    rates.iter().map(|rate| rate / (200e6 * 1_448.0 / 1_538.0)).collect()
}

#[test]
fn strict_priority_gives_the_urgent_flow_all_it_can_use() {
    let fabric = classed_dumbbell(classes(Scheduler::StrictPriority, &[1, 1], 100));
    let shares = shares(&fabric, &[0, 56]);
    assert!(shares[1] > 0.99 && shares[0] < 0.01, "{shares:?}");
}

#[test]
fn drr_shares_a_bottleneck_by_weight_and_wastes_nothing() {
    let fabric = classed_dumbbell(classes(Scheduler::Drr, &[5, 2, 1], 100));
    // Class selectors 2, 1 and 0 of three queues.
    for (dscps, expected) in [
        (&[16, 8, 0][..], &[0.625, 0.25, 0.125][..]),
        (&[8, 0], &[2.0 / 3.0, 1.0 / 3.0]),
        (&[0], &[1.0]),
        (&[16, 16, 0], &[5.0 / 12.0, 5.0 / 12.0, 1.0 / 6.0]),
    ] {
        let shares = shares(&fabric, dscps);
        assert!(error(shares.iter().sum(), 1.0).abs() < 0.01, "{dscps:?}: {shares:?}");
        // Two flows in one queue share it only as evenly as TCP does.
        let tolerance = if dscps == [16, 16, 0] { 0.25 } else { 0.02 };
        for (share, expected) in shares.iter().zip(expected) {
            assert!(error(*share, *expected).abs() < tolerance, "{dscps:?}: {shares:?} against {expected}");
        }
    }
}

#[test]
fn an_incast_overflows_a_queue_that_never_holds_more_than_its_limit() {
    for limit in [Limit::Packets(20), Limit::Bytes(30_000)] {
        let spec = gigabit(US(5)).with_queue(QueueSpec::fifo(limit));
        let fabric = build::spine_leaf(1, 1, 17, &spec, &spec).unwrap();
        let trial = Trial::linux(&fabric, "ecmp");
        let trial = (1..17).fold(trial, |trial, i| trial.flow(i, 0, 100_000, Duration::ZERO));
        let outcome = trial.sampled(Duration::from_us(10)).run();
        let last = link(&fabric, "l0-h0");
        assert_eq!(outcome.report.flows_finished, 16);
        let drops = outcome.dropped(DropReason::QueueFull);
        assert!(drops > 0);
        assert_eq!(outcome.link(last).counters.drops, drops, "all at the receiver's link");
        assert_eq!(outcome.flows.iter().map(|flow| flow.drops).sum::<u64>(), drops);
        let sampled = outcome.samples.iter().filter(|s| s.metric == Metric::Drops && s.entity == last.0);
        assert_eq!(sampled.map(|sample| sample.value as u64).sum::<u64>(), drops);
        let most = match limit {
            Limit::Packets(packets) => u64::from(packets + 1) * 1_538,
            Limit::Bytes(bytes) => bytes + 1_538,
            Limit::Unlimited => panic!("these queues have limits"),
        };
        let met = outcome.link(last).counters.max_backlog.0;
        assert!(met <= most && met > most - 1_538, "{met} bytes at most {most}");
        let queued = outcome.samples.iter().filter(|s| s.metric == Metric::QueueBytes && s.entity == last.0);
        assert!(queued.clone().count() > 0 && queued.clone().all(|sample| sample.value <= most as f64));
    }
}

#[test]
fn the_longest_backlog_is_known_of_slow_lines_and_of_several_queues() {
    // 1000 packets, 10 s of line time, on the line or in the class queues.
    for queue in [
        QueueSpec::fifo(Limit::Packets(1_000)),
        classes(Scheduler::StrictPriority, &[1, 1], 1_000),
        classes(Scheduler::Drr, &[2, 1], 1_000),
    ] {
        let slow = LinkSpec { rate: Rate::from_bps(1_000_000), ..line(queue) };
        let mut wire = Wire::new(&slow);
        assert_eq!(taken(&mut wire, us(0), 1_000, 1_250), 1_000);
        assert_eq!(wire.counters().max_backlog, Bytes(999 * 1_250), "{:?}", slow.queue);
        assert_eq!(wire.backlog(), Bytes(1_000 * 1_250), "what a switch sees");
        wire.run_until(Time::MAX);
        assert_eq!(wire.backlog(), Bytes(0));
    }
}

/// Hosts at 1 Gbps, `hosts` per side, and a bottleneck of 10 Mbps.
fn slow_dumbbell(hosts: u32) -> Fabric {
    let slow = LinkSpec::new(Rate::from_bps(10_000_000), US(20));
    build::dumbbell(hosts, hosts, &gigabit(US(20)), &slow).unwrap()
}

#[test]
fn the_utilisation_of_a_line_is_what_has_left_it() {
    let fabric = slow_dumbbell(1);
    let trial = Trial::linux(&fabric, "ecmp").limit(Duration::from_secs(2));
    let outcome = trial.flow(0, 1, 1 << 40, Duration::ZERO).sampled(Duration::from_ms(10)).run();
    let bottleneck = link(&fabric, "s0-s1");
    let shown = outcome.mean(Metric::LinkUtilisation, bottleneck.0, Duration::ZERO);
    let counters = outcome.link(bottleneck).counters;
    assert!(counters.max_backlog > Bytes(100_000), "the queue is long: {counters:?}");
    let whole = counters.wire_bytes as f64 * 8.0 / 10e6 / 2.0;
    assert!((shown - whole).abs() < 0.01 && whole <= 1.0, "{shown} by samples, {whole} by bytes");
}

#[test]
fn the_bytes_of_the_window_are_those_between_its_ends() {
    let fabric = slow_dumbbell(2);
    let bottleneck = link(&fabric, "s0-s1");
    let trial = Trial::linux(&fabric, "ecmp").limit(Duration::from_secs(9));
    let endless = trial.clone().flow(0, 2, 1 << 40, Duration::ZERO);
    let [from, to] = [1_000, 3_500].map(Duration::from_ms);
    // The line is never free: 10 Mbps for 2.5 s.
    let left = endless.measured(from, to).run().link(bottleneck).window_bytes;
    assert!(left.abs_diff(3_125_000) <= 1, "{left}; at either end a byte may be partly on the line");
    let short = trial.flow(0, 2, 100_000, Duration::ZERO).measured(Duration::ZERO, Duration::from_secs(2));
    let alone = short.run();
    let late = short.flow(1, 3, 100_000, Duration::from_secs(8)).run();
    let ends = [&alone, &late].map(|outcome| outcome.report.end - Time::ZERO);
    assert!(ends[0] < Duration::from_secs(2) && ends[1] > Duration::from_secs(8), "{ends:?}");
    let [one, two] = [&alone, &late].map(|outcome| outcome.link(bottleneck).window_bytes);
    assert_eq!((one, one), (two, alone.link(bottleneck).counters.wire_bytes), "whenever the run ends");
}

#[test]
fn a_line_that_only_drains_is_in_use_and_one_that_fails_no_longer() {
    let slow = line(QueueSpec::default());
    let mut wire = Wire::new(&slow);
    taken(&mut wire, us(0), 10, 1_250);
    let left = [0, 15, 50, 100].map(|at| {
        wire.run_until(us(at));
        wire.net.now = us(at);
        wire.counters().wire_bytes
    });
    assert_eq!(left, [0, 1_875, 6_250, 12_500]);
    taken(&mut wire, us(200), 10, 1_250);
    wire.net.now = us(220);
    wire.net.cut(LinkId(0));
    assert_eq!(wire.counters().wire_bytes, 15_000);
}

#[test]
fn dctcp_holds_the_queue_at_the_threshold_and_loses_nothing() {
    let queue = QueueSpec::fifo(Limit::Packets(1_000)).marking(Limit::Packets(40));
    let spec = gigabit(US(20)).with_queue(queue);
    let fabric = build::dumbbell(2, 2, &spec, &spec).unwrap();
    let trial = Trial::new(&fabric, scheme("ecmp"), profile("dctcp")).limit(Duration::from_ms(300));
    let trial = (0..2).fold(trial, |trial, i| trial.flow(i, 2 + i, 1 << 40, Duration::ZERO));
    let outcome = trial.sampled(Duration::from_us(50)).run();
    let bottleneck = link(&fabric, "s0-s1");
    let queued = outcome.mean(Metric::QueuePackets, bottleneck.0, Duration::from_ms(100));
    assert!((20.0..45.0).contains(&queued), "a mean queue of {queued} packets");
    assert_eq!(outcome.dropped(DropReason::QueueFull), 0);
    let marks = outcome.link(bottleneck).counters.marks;
    let seen: u64 = outcome.flows.iter().map(|flow| flow.ecn_marks).sum();
    assert!(marks > 0 && seen <= marks && marks - seen < 200, "{marks} marks, {seen} of them received");
}
