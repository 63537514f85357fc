//! Ultra Ethernet with receiver-credit congestion control.

use weft_fabric::{ClassSpec, Fabric, FabricBuilder, Limit, LinkSpec, QueueSpec, build};
use weft_sim::sample::Metric;
use weft_switching::DropReason;
use weft_transport::uec::{Config, Congestion, EntropyChoice};
use weft_units::{Bytes, Duration, LinkId, Rate};

use super::threads::same_with_threads;
use crate::common::{MS, Outcome, Trial, US, at, link, scheme};

/// The share of the line for which receivers grant credit.
const SHARE: f64 = 0.99;

fn line(queue: QueueSpec) -> LinkSpec {
    LinkSpec::new(Rate::from_gbps(100), US(1)).with_queue(queue)
}

/// So many senders and then a receiver at one switch whose queues are this.
fn star(senders: u32, queue: QueueSpec) -> Fabric {
    let mut builder = FabricBuilder::new("star");
    let switch = builder.add_switch("s", 1, None).unwrap();
    for host in 0..=senders {
        let host = builder.add_host(format!("h{host}"), 0, None).unwrap();
        builder.connect(host, switch, &line(queue.clone())).unwrap();
    }
    builder.build().unwrap()
}

fn deep() -> QueueSpec {
    QueueSpec::fifo(Limit::Unlimited)
}

/// Queues of so many packets that trim.
fn trimming(packets: u32) -> QueueSpec {
    let classes = vec![ClassSpec { weight: 1 }; 2];
    QueueSpec { classes, trim: true, ..QueueSpec::fifo(Limit::Packets(packets)) }
}

fn rccc(initial_window: u32) -> Config {
    let congestion = Congestion::Rccc;
    let (initial_window, base_rtt) = (Some(initial_window), Some(US(5)));
    Config { congestion, initial_window, base_rtt, rto: Some(MS(2)), ..Config::default() }
}

/// Each sender of a star sends `bytes` to the receiver.
fn incast(fabric: &Fabric, config: Config, bytes: u64) -> Trial<'_> {
    let receiver = fabric.hosts().len() as u32 - 1;
    let trial = Trial::new(fabric, scheme("ecmp"), config).limit(MS(50));
    (0..receiver).fold(trial, |trial, src| trial.flow(src, receiver, bytes, Duration::ZERO))
}

/// The last link.
fn last(fabric: &Fabric) -> LinkId {
    link(fabric, &format!("s-h{}", fabric.hosts().len() - 1))
}

/// The time of a full packet on a link.
fn packet() -> Duration {
    Rate::from_gbps(100).tx_time(Bytes(4160 + 38))
}

fn last_fct(outcome: &Outcome) -> Duration {
    (0..outcome.flows.len()).map(|flow| outcome.fct(flow)).max().unwrap()
}

/// Jain's index.
fn fairness(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    sum * sum / (rates.len() as f64 * rates.iter().map(|rate| rate * rate).sum::<f64>())
}

#[test]
fn a_flow_alone_has_the_share_of_the_line_that_is_granted() {
    for (bytes, credit_rate) in [(1, SHARE), (40_960, SHARE), (8_192_000, SHARE), (8_192_000, 0.5)] {
        let fabric = star(1, deep());
        let outcome = incast(&fabric, Config { credit_rate, ..rccc(30) }, bytes).run();
        let (fct, ideal) = (outcome.fct(0), outcome.flows[0].ideal.unwrap());
        // The first window needs no credit, and lasts until the first answer.
        let first = 4096 * 30;
        let share = if bytes > first { credit_rate } else { 1.0 };
        let slowest = Duration::from_secs_f64(ideal.as_secs_f64() / share) + packet() * 4;
        let fastest = Duration::from_secs_f64(ideal.saturating_sub(packet() * 30).as_secs_f64() / share);
        assert!(fct >= ideal.max(fastest) && fct <= slowest, "{bytes} at {credit_rate}: {fct} of {ideal}");
        assert_eq!(outcome.flows[0].retransmissions, 0);
    }
}

#[test]
fn an_incast_fills_the_line_and_the_queue_has_no_more_than_the_first_windows() {
    let wire = 4160 + 38;
    for (senders, bytes) in [(2, 8_192_000), (7, 4_096_000), (32, 1_024_000)] {
        for window in [4, 18] {
            let fabric = star(senders, deep());
            let outcome = incast(&fabric, rccc(window), bytes).sampled(US(20)).run();
            let packets = u64::from(senders) * bytes / 4096;
            let granted = packet().as_secs_f64() * packets as f64 / SHARE;
            let fct = last_fct(&outcome).as_secs_f64();
            assert!(
                (0.97..1.01).contains(&(fct / granted)),
                "{senders} to 1, {window}: {fct} s of {granted} s"
            );
            let most = outcome.link(last(&fabric)).counters.max_backlog.0;
            // And in each line, a packet of the others that come at the same time.
            let windows = u64::from(senders * (window + 1)) * wire;
            assert!(most <= windows, "{senders} to 1, {window}: {most} bytes of {windows}");
            assert_eq!(outcome.flows.iter().map(|flow| flow.retransmissions).sum::<u64>(), 0);
            // The queue of the first windows shrinks by the share that is not granted, to the packets of some credits.
            let queue = outcome
                .samples
                .iter()
                .filter(|sample| (sample.metric, sample.entity) == (Metric::QueueBytes, last(&fabric).0));
            for sample in queue {
                let drained = (1.0 - SHARE) * 12.5e9 * (sample.time - at(Duration::ZERO)).as_secs_f64();
                let left = (windows as f64 - drained).max(0.0) + 8.0 * wire as f64;
                assert!(sample.value <= left, "{senders} to 1, {window}: {} of {left}", sample.value);
            }
        }
    }
}

#[test]
fn packets_of_the_first_windows_are_trimmed_and_hardly_any_later() {
    for senders in [7, 32] {
        let fabric = star(senders, trimming(40));
        let trimmed = |limit| {
            let outcome = incast(&fabric, rccc(18), 1_024_000).limit(limit).run();
            outcome.link(last(&fabric)).port.unwrap().trimmed
        };
        // The first windows take 18 packet times and the delay of two links. They leave a full queue, which is empty after
        // 40 / (1 - SHARE) packet times, 1.3 ms: until then, a credit of four packets may come when there is space for three.
        let [first, soon, all] = [US(15), MS(1), MS(50)].map(trimmed);
        assert!(first > 20 && soon - first <= first / 10, "{senders} to 1: {first}, then {soon}");
        assert_eq!(all, soon, "{senders} to 1");
        let outcome = incast(&fabric, rccc(18), 1_024_000).run();
        let granted = packet().as_secs_f64() * f64::from(senders) * 250.0 / SHARE;
        let share = granted / last_fct(&outcome).as_secs_f64();
        assert!(share > 0.95, "{senders} to 1: {share}");
        assert_eq!(outcome.flows.iter().map(|flow| flow.retransmissions).sum::<u64>(), all);
    }
}

#[test]
fn senders_share_the_line_fairly() {
    for (senders, congestion) in [(2, Congestion::Rccc), (7, Congestion::Rccc), (7, Congestion::NsccRccc)] {
        let fabric = star(senders, deep());
        let config = Config { congestion, ..rccc(18) };
        let trial = incast(&fabric, config, 40_960_000).limit(MS(2)).sampled(US(100));
        let rates = trial.run().rates(US(500));
        let (index, sum) = (fairness(&rates), rates.iter().sum::<f64>());
        // Besides what is granted, the packets of the first windows that are still queued.
        let share = sum / (100e9 * 4096.0 / (4160.0 + 38.0));
        assert!(index >= 0.99, "{senders}, {congestion}: {rates:?}");
        assert!((SHARE - 0.002..1.001).contains(&share), "{senders}, {congestion}: {share}");
    }
}

#[test]
fn a_sender_that_comes_later_soon_has_its_share() {
    let fabric = star(2, deep());
    let trial = Trial::new(&fabric, scheme("ecmp"), rccc(18))
        .flow(0, 2, 40_960_000, Duration::ZERO)
        .flow(1, 2, 2_048_000, US(500))
        .limit(MS(5));
    let outcome = trial.run();
    // Half of the line: 500 packets take 1000 packet times.
    let halved = (packet() * 1000).as_secs_f64() / SHARE;
    let share = outcome.fct(1).as_secs_f64() / halved;
    assert!((0.95..1.05).contains(&share), "{share}");
}

#[test]
fn flows_survive_losses_and_changes_of_their_links() {
    let queue = QueueSpec::fifo(Limit::Packets(20));
    let spec = line(queue);
    let fabric = build::fat_tree(4, &spec, &spec).unwrap();
    for congestion in [Congestion::Rccc, Congestion::NsccRccc] {
        let config = Config { congestion, ..Config::default() };
        let mut trial = Trial::new(&fabric, scheme("ecmp"), config).limit(MS(50));
        for src in 1..16 {
            trial = trial.flow(src, (src + 5) % 16, 400_000, Duration::ZERO);
        }
        for src in 1..16 {
            trial = trial.flow(src, 0, 200_000, US(5));
        }
        let trial = trial.fail(US(40), "h3-e1").fail(US(60), "h0-e0");
        let trial = trial.heal(US(200), "h0-e0").heal(US(400), "h3-e1");
        let outcome = trial.run();
        assert!(outcome.dropped(DropReason::QueueFull) > 0);
        assert_eq!(outcome.report.flows_finished, 30, "{congestion}");
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let spec = line(QueueSpec::fifo(Limit::Packets(30)));
    let fabric = build::fat_tree(4, &spec, &spec).unwrap();
    for congestion in [Congestion::Rccc, Congestion::NsccRccc] {
        let config = Config { congestion, entropy_choice: EntropyChoice::Reps, ..Config::default() };
        let mut trial = Trial::new(&fabric, scheme("ecmp"), config).limit(MS(50));
        for src in 0..16 {
            trial = trial.flow(src, (src + 5) % 16, 300_000, Duration::ZERO);
        }
        for src in 4..16 {
            trial = trial.flow(src, src % 3, 100_000, US(3));
        }
        same_with_threads(&trial, &[2, 3], |trial| trial.run());
    }
}
