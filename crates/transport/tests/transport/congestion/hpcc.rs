//! HPCC against its closed form, and on a line that several senders share (Li et al., SIGCOMM 2019).

use weft_transport::roce::{Config, CongestionControl, Control, Feedback, Hop, Path, Telemetry};
use weft_units::{Duration, Rate, Time};

use super::bottleneck::{FAST, path, share};

fn config() -> Config {
    Config { congestion_control: CongestionControl::Hpcc, ..Config::default() }
}

const TIMES: [Duration; 2] = [Duration::from_ms(10), Duration::from_ms(12)];

#[test]
fn one_sender_uses_the_share_eta_of_the_line_and_no_queue_stands() {
    for eta in [0.95, 0.8] {
        let mut config = config();
        config.hpcc.eta = eta;
        let shared = share(&config, FAST, 1, TIMES);
        // Where the window stays as it is, W = W eta / U + W_AI.
        let most = FAST.rate.bps() as f64 / 8.0 * path(&config, FAST).round_trip.as_secs_f64();
        let expected = eta + 80.0 / most;
        println!("eta {eta}: {expected:.4} {shared:?}");
        assert!((shared.utilisation / expected - 1.0).abs() < 0.01, "{expected} {shared:?}");
        assert_eq!(shared.queue.1, 0, "{shared:?}");
    }
}

#[test]
fn several_senders_share_the_line_fairly_with_hardly_any_queue() {
    for count in [2, 8, 16] {
        let shared = share(&config(), FAST, count, TIMES);
        println!("{count}: {shared:?}");
        assert!(shared.fairness() > 0.97, "{shared:?}");
        assert!(shared.utilisation > 0.94 && shared.utilisation < 1.0, "{shared:?}");
        // Less than a packet of each sender, of 1124 bytes on the wire.
        assert!(shared.queue.0 < 1124.0 * count as f64, "{shared:?}");
    }
}

/// The sender of a path with a round trip of 10 us, and telemetry of a line of 100 Gbps that has sent so much at a
/// time, with this queue.
fn sender(config: &Config) -> Control {
    let path = Path { line: FAST.rate, round_trip: Duration::from_us(10), switches: 1 };
    Control::new(config, &path)
}

fn hops(link: u32, times: &[(u64, u64, u64)]) -> Telemetry {
    let mut telemetry = Telemetry::with_room(5);
    for (number, (us, sent, queued)) in (link..).zip(times) {
        let (rate, at) = (Rate::from_gbps(100), Time::ZERO + Duration::from_us(*us));
        telemetry.add(Hop { link: number, rate, at, sent: *sent, queued: *queued });
    }
    telemetry
}

/// The window in bytes after these acknowledgements: the next packet, the lowest never sent, telemetry.
fn window_after(config: &Config, acks: &[(u32, u32, Telemetry)]) -> f64 {
    let mut control = sender(config);
    for (next, fresh, telemetry) in acks {
        let feedback = Feedback {
            round_trip: Duration::from_us(10),
            acknowledged: 1,
            next: *next,
            fresh: *fresh,
            is_cnp: false,
            shows_loss: false,
            telemetry: Some(telemetry),
        };
        control.receive(config, Time::ZERO, &feedback);
    }
    let Control::Hpcc(hpcc) = control else { panic!("HPCC") };
    hpcc.window()
}

#[test]
fn the_window_is_that_of_algorithm_1() {
    let config = config();
    // W_init = 100 Gbps * 10 us.
    let first = 125_000.0;
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    let began = (1, 100, hops(7, &[(10, 0, 0)]));
    // The first acknowledgement only begins.
    close(window_after(&config, std::slice::from_ref(&began)), first);
    // After T at the full rate with 12.5 kB queued at both times, U = 1 + 0.1.
    let full = |queued| hops(7, &[(20, 125_000, queued)]);
    let busy = [(1, 100, hops(7, &[(10, 0, 12_500)])), (2, 100, full(12_500))];
    close(window_after(&config, &busy), first / (1.1 / 0.95) + 80.0);
    // The shorter of both queues counts.
    close(window_after(&config, &[began, (2, 100, full(12_500))]), first / (1.0 / 0.95) + 80.0);
    // The busiest of two hops counts: the second one, with a queue.
    let two = [
        (1, 100, hops(7, &[(10, 0, 0), (10, 0, 12_500)])),
        (2, 100, hops(7, &[(20, 125_000, 0), (20, 125_000, 25_000)])),
    ];
    close(window_after(&config, &two), first / (1.1 / 0.95) + 80.0);
    // Half of T later, U is the mean of 1 and 1.1.
    let half = [(1, 100, hops(7, &[(10, 0, 12_500)])), (2, 100, hops(7, &[(15, 62_500, 12_500)]))];
    close(window_after(&config, &half), first / (1.05 / 0.95) + 80.0);
    // Within the same round trip, each acknowledgement starts from the same window.
    let again = (3, 100, hops(7, &[(30, 250_000, 12_500)]));
    close(window_after(&config, &[busy[0], busy[1], again]), first / (1.1 / 0.95) + 80.0);
    // Beyond it, from the new one.
    let beyond = (101, 200, hops(7, &[(30, 250_000, 12_500)]));
    let reference = first;
    let after = reference / (1.1 / 0.95) + 80.0;
    close(window_after(&config, &[busy[0], busy[1], beyond]), after);
    let later = (201, 300, hops(7, &[(40, 375_000, 12_500)]));
    close(window_after(&config, &[busy[0], busy[1], beyond, later]), after / (1.1 / 0.95) + 80.0);
    // Another path, or an older packet, changes nothing.
    close(window_after(&config, &[busy[0], (2, 100, hops(8, &[(20, 125_000, 12_500)]))]), first);
    close(window_after(&config, &[busy[0], (2, 100, hops(7, &[(9, 0, 12_500)]))]), first);
}

#[test]
fn a_line_that_is_not_busy_gives_additive_increases_and_then_a_multiplicative_one() {
    for most in [0, 1, 5] {
        let mut config = config();
        config.hpcc.max_stage = most;
        // A queue of four products of rate and round trip, then a line that is busy for 0.38 of the time.
        let mut acks =
            vec![(1, 10, hops(7, &[(10, 0, 500_000)])), (11, 20, hops(7, &[(20, 125_000, 500_000)]))];
        let mut windows = vec![window_after(&config, &acks)];
        for round in 1..=12 {
            let sent = 125_000 + 47_500 * u64::from(round);
            acks.push((10 * round + 11, 10 * round + 20, hops(7, &[(20 + 10 * u64::from(round), sent, 0)])));
            windows.push(window_after(&config, &acks));
        }
        // The window follows the level 0.38 / 0.95 after each of so many increases.
        let follows = |pair: &[f64]| (pair[1] - (pair[0] / 0.4 + 80.0)).abs() < 1e-6;
        let adds = |pair: &[f64]| (pair[1] - (pair[0] + 80.0)).abs() < 1e-6;
        let said: String = windows
            .windows(2)
            .map(|pair| if follows(pair) { '*' } else { if adds(pair) { '+' } else { '.' } })
            .collect();
        let steps = "+".repeat(most as usize);
        assert!(said.starts_with(&format!("{steps}*{steps}")), "{said} {windows:?}");
    }
}
