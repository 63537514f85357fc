//! Hosts with Ultra Ethernet transport.

use weft_fabric::{Fabric, Limit, LinkSpec, QueueSpec, build};
use weft_switching::DropReason;
use weft_transport::uec::{Config, Congestion, EntropyChoice};
use weft_units::{Bytes, Duration, Rate};

use super::threads::same_with_threads;
use crate::common::{MS, Trial, US, link, scheme};

const CHOICES: [EntropyChoice; 4] =
    [EntropyChoice::Oblivious, EntropyChoice::Bitmap, EntropyChoice::Reps, EntropyChoice::Mixed];

/// A fat-tree of 16 hosts at 100 Gbps with queues of so many packets.
fn fat_tree(queue: u32) -> Fabric {
    let queue = QueueSpec::fifo(Limit::Packets(queue));
    let link = LinkSpec::new(Rate::from_gbps(100), US(1)).with_queue(queue);
    build::fat_tree(4, &link, &link).unwrap()
}

/// A window of 50 packets, an answer to each.
fn fixed() -> Config {
    Config {
        congestion: Congestion::Fixed,
        entropy_choice: EntropyChoice::Oblivious,
        ack_bytes: Bytes(0),
        ..Config::default()
    }
}

fn trial(fabric: &Fabric, config: Config) -> Trial<'_> {
    Trial::new(fabric, scheme("ecmp"), config).limit(MS(50))
}

/// A permutation: host i to host i + 5.
fn permutation(fabric: &Fabric, config: Config, bytes: u64) -> Trial<'_> {
    (0..16).fold(trial(fabric, config), |trial, src| trial.flow(src, (src + 5) % 16, bytes, Duration::ZERO))
}

#[test]
fn a_flow_alone_takes_its_ideal_time() {
    let fabric = fat_tree(100);
    for config in [fixed(), Config::default()] {
        for bytes in [0, 1, 4096, 4097, 2_000_000, 500 * 4096] {
            let outcome = trial(&fabric, config.clone()).flow(0, 15, bytes, US(3)).run();
            let (fct, ideal) = (outcome.fct(0), outcome.flows[0].ideal.unwrap());
            // The ideal time is a lower bound: at each of five switches, a shorter last packet waits for the one before it.
            let short = if bytes > 4096 && bytes % 4096 > 0 { 4096 - bytes % 4096 } else { 0 };
            let waits = Rate::from_gbps(100).tx_time(Bytes(short)) * 5;
            let more = fct - ideal;
            assert!(more >= waits && more - waits < US(1), "{bytes}: {fct}, ideal {ideal}, {waits} behind");
            assert_eq!(outcome.flows[0].packets_sent, bytes.div_ceil(4096).max(1));
            assert_eq!(outcome.flows[0].retransmissions, 0);
        }
    }
}

#[test]
fn flows_of_a_host_take_turns() {
    let fabric = fat_tree(100);
    let trial = trial(&fabric, Config { window: 1000, ..fixed() })
        .flow(0, 15, 1_000_000, Duration::ZERO)
        .flow(0, 10, 1_000_000, Duration::ZERO)
        .flow(0, 5, 100_000, Duration::ZERO);
    let outcome = trial.run();
    let apart =
        outcome.fct(0).saturating_sub(outcome.fct(1)).max(outcome.fct(1).saturating_sub(outcome.fct(0)));
    // In each of the five switches, another packet may be ahead.
    assert!(apart < Rate::from_gbps(100).tx_time(Bytes(5 * 4200)), "{apart}");
    // Its 25 packets were each sent after one of each other flow, not after their whole window.
    assert!(outcome.fct(2) < outcome.flows[2].ideal.unwrap() * 4, "{}", outcome.fct(2));
}

#[test]
fn packets_take_as_many_paths_as_there_are_entropies() {
    let fabric = fat_tree(100);
    for (entropies, used) in [(1, 1), (64, 4)] {
        let outcome =
            trial(&fabric, Config { entropies, ..fixed() }).flow(0, 15, 4_096_000, Duration::ZERO).run();
        let cores = ["a0-c0", "a0-c1", "a1-c2", "a1-c3"].map(|cable| outcome.packets(link(&fabric, cable)));
        assert_eq!(cores.iter().filter(|packets| **packets > 0).count(), used, "{cores:?}");
        assert_eq!(cores.iter().sum::<u64>(), 1000);
    }
}

#[test]
fn every_choice_survives_losses_and_an_incast() {
    let fabric = fat_tree(20);
    for entropy_choice in CHOICES {
        for base in [fixed(), Config::default()] {
            let config = Config { entropy_choice, ..base };
            let mut trial = permutation(&fabric, config, 400_000);
            for src in 1..12 {
                trial = trial.flow(src, 0, 100_000, US(10));
            }
            let outcome = trial.run();
            assert!(outcome.dropped(DropReason::QueueFull) > 0);
            assert_eq!(outcome.report.flows_finished, 27);
            let drops: u64 = outcome.flows.iter().map(|record| record.drops).sum();
            let again: u64 = outcome.flows.iter().map(|record| record.retransmissions).sum();
            assert!(again >= drops, "{again} retransmissions of {drops} lost packets");
        }
    }
}

#[test]
fn paths_that_fail_are_avoided_by_recycled_entropies() {
    let fabric = fat_tree(100);
    let lost = |entropy_choice| {
        let trial = trial(&fabric, Config { entropy_choice, entropies: 64, ..fixed() })
            .flow(0, 15, 8_000_000, Duration::ZERO)
            .fail(US(100), "a0-c0")
            .reacts_after(MS(100));
        let outcome = trial.run();
        assert!(outcome.fct(0) < MS(50));
        outcome.flows[0].drops
    };
    let [oblivious, _, reps, _] = CHOICES.map(lost);
    assert!(reps * 5 < oblivious, "lost {reps} packets with REPS, {oblivious} without");
}

#[test]
fn a_host_whose_link_fails_and_returns_goes_on() {
    let fabric = fat_tree(100);
    let trial = trial(&fabric, Config::default())
        .flow(0, 15, 2_000_000, Duration::ZERO)
        .flow(0, 10, 2_000_000, Duration::ZERO)
        .fail(US(50), "h0-e0")
        .heal(MS(1), "h0-e0");
    let outcome = trial.run();
    assert!((0..2).all(|flow| outcome.fct(flow) > MS(1)));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let fabric = fat_tree(10);
    for entropy_choice in CHOICES {
        let config = Config { entropy_choice, ..Config::default() };
        same_with_threads(&permutation(&fabric, config, 500_000), &[2, 3], |trial| trial.run());
    }
}

#[test]
fn adaptive_switches_and_spraying_switches_carry_it() {
    let fabric = fat_tree(100);
    for name in ["adaptive", "spray", "drill", "letflow"] {
        let trial = permutation(&fabric, fixed(), 1_000_000);
        let outcome = Trial { scheme: scheme(name), ..trial }.run();
        let last = (0..16).map(|flow| outcome.fct(flow)).max().unwrap();
        assert!(last < MS(2), "{name}: {last}");
    }
}
