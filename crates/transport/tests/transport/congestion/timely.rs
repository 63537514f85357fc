//! TIMELY's rules, and its round-trip times on a line that several senders share (Mittal et al., SIGCOMM 2015).

use weft_transport::roce::{Config, CongestionControl, Path, Timely};
use weft_units::{Duration, Rate};

use super::bottleneck::{FAST, Lines, path, share};

fn config() -> Config {
    Config { congestion_control: CongestionControl::Timely, ..Config::default() }
}

#[test]
fn round_trips_turn_between_both_thresholds_and_the_line_is_busy() {
    // Of the paper's testbed: 10 Gbps and a round trip of 20 us.
    let lines = Lines { rate: Rate::from_gbps(10), way: Duration::from_us(5) };
    for count in [2, 4, 10] {
        let config = config();
        let shared = share(&config, lines, count, [Duration::from_ms(100), Duration::from_ms(150)]);
        println!("{count}: {shared:?}");
        let [_, mean, most] = shared.round_trips;
        assert!(shared.utilisation > 0.93, "{shared:?}");
        assert!(most > config.timely.low && most < config.timely.high, "{shared:?}");
        assert!(mean > path(&config, lines).round_trip && mean < config.timely.high, "{shared:?}");
    }
}

/// The rate in bits per second after segments with these round-trip times in microseconds, from a rate of 100 Gbps.
fn rate_after(round_trips: &[u64]) -> f64 {
    let config = config();
    let path = Path { line: FAST.rate, round_trip: Duration::from_us(20), switches: 1 };
    let mut timely = Timely::new(&config.timely, config.mtu, config.min_rate, &path);
    for us in round_trips {
        timely.complete(&config.timely, Duration::from_us(*us));
    }
    timely.rate()
}

#[test]
fn the_rate_is_that_of_algorithm_1() {
    let line = FAST.rate.bps() as f64;
    let step = Rate::from_bps(10_000_000).bps() as f64;
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1.0, "{found} {expected}");
    // One alone has no gradient.
    close(rate_after(&[600]), line);
    // Above the higher threshold, whatever the gradient: 0.8 (1 - 500 / 1000).
    let cut = line * (1.0 - 0.8 * 0.5);
    close(rate_after(&[2000, 1000]), cut);
    // Between both: 0.8 of the gradient 0.875 * 4 / 20, then -0.875 * 4 / 20 + 0.125 of it.
    let steeper = line * (1.0 - 0.8 * 0.875 * 4.0 / 20.0);
    close(rate_after(&[100, 104]), steeper);
    close(rate_after(&[100, 104, 100]), steeper + step);
    // Below the lower one, a step whatever the gradient.
    close(rate_after(&[2000, 1000, 30, 40]), cut + 2.0 * step);
    // The fifth completion in a row without a rise counts five times.
    let calm = |count: usize| [&[100, 104][..], &vec![100; count]].concat();
    close(rate_after(&calm(4)), steeper + 4.0 * step);
    close(rate_after(&calm(5)), steeper + 9.0 * step);
    close(rate_after(&calm(6)), steeper + 14.0 * step);
}
