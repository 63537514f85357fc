//! Links where the round trip grows far beyond that of the handshake: nothing is lost, so hardly anything may be
//! retransmitted.

use crate::common::{Link, Network, transfer};
use weft_transport::{Config, Stats};
use weft_units::{Duration, Rate};

fn profiles() -> Vec<(&'static str, Config)> {
    let linux = Config::profile("linux").unwrap();
    vec![
        ("no RACK", Config { rack: false, tail_loss_probe: false, ..linux.clone() }),
        ("pacing", Config { pacing: true, ..linux.clone() }),
        ("few ACKs", Config { delayed_ack_segments: 8, quick_acks: 0, ..linux.clone() }),
        ("dctcp", Config::profile("dctcp").unwrap()),
        ("linux", linux),
    ]
}

/// Timeouts and retransmissions of a transfer over a link of `rate` bit/s with a queue that never overflows.
fn over(cfg: &Config, rate: u64, delay: Duration, bytes: u64) -> Stats {
    let link = Link { rate: Rate::from_bps(rate), delay, queue: 100_000, ..Link::default() };
    let outcome = transfer(cfg, &link, bytes);
    assert!(outcome.closed && outcome.fct.is_some());
    outcome.client
}

#[test]
fn a_slow_link_costs_at_most_two_spurious_timeouts_and_a_probe() {
    for (name, cfg) in profiles() {
        for (rate, bytes) in [(9600, 20_000), (32_000, 60_000), (128_000, 200_000), (2_000_000, 1_000_000)] {
            for delay in [150, 1000, 20_000, 100_000].map(Duration::from_us) {
                let stats = over(&cfg, rate, delay, bytes);
                assert!(
                    stats.timeouts <= 2 && stats.retransmissions <= 3,
                    "{name}, {rate}, {delay}: {stats:?}"
                );
            }
        }
    }
}

#[test]
fn a_round_trip_longer_than_the_timeout_of_the_syn_costs_only_syns() {
    for (name, cfg) in profiles() {
        for ms in [400, 900, 1500, 2500] {
            let stats = over(&cfg, 10_000_000, Duration::from_ms(ms), 100_000);
            assert!(stats.retransmissions == 0 && stats.timeouts <= 5, "{name}, {ms} ms: {stats:?}");
        }
    }
}

#[test]
fn without_timestamps_the_doubled_timeout_is_kept() {
    let linux = Config::profile("linux").unwrap();
    for rack in [true, false] {
        let cfg = Config { timestamps: false, paws: false, rack, tail_loss_probe: false, ..linux.clone() };
        let stats = over(&cfg, 9600, Duration::from_ms(1), 20_000);
        assert!(stats.timeouts <= 3 && stats.retransmissions <= 6, "RACK {rack}: {stats:?}");
    }
}

#[test]
fn a_round_trip_that_grows_tenfold_at_once_is_survived_without_a_reduction() {
    for (name, cfg) in profiles() {
        for ms in [5, 50] {
            let delay = Duration::from_ms(ms);
            let link = Link { rate: Rate::from_gbps(1), delay, queue: 100_000, ..Link::default() };
            let mut network = Network::new(cfg.clone(), link);
            network.side[0].write(20_000_000);
            network.run_until(Duration::from_secs(60), |network| network.side[0].acked() > 2_000_000);
            let before = network.side[0].cwnd(&cfg);
            network.link.delay = delay * 10;
            assert!(
                network.run_until(Duration::from_secs(60), |network| network.side[0].acked() == 20_000_000)
            );
            let (after, stats) = (network.side[0].cwnd(&cfg), network.side[0].stats());
            // Doubled twice, the shortest timeout exceeds the new round trip.
            assert!(stats.timeouts <= 2 && after >= before, "{name}, {ms} ms: {before}, {after}, {stats:?}");
        }
    }
}
