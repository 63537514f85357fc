//! Swift's target and rules, and the delay on a line that several senders share (Kumar et al., SIGCOMM 2020).

use weft_transport::Sending as _;
use weft_transport::roce::{
    Ack, AckKind, Config, CongestionControl, Feedback, Path, Sender, Swift, SwiftConfig,
};
use weft_units::{Duration, Rate, Time};

use super::bottleneck::{FAST, Lines, path, share};

fn config() -> Config {
    Config { congestion_control: CongestionControl::Swift, ..Config::default() }
}

#[test]
fn the_delay_stays_near_the_target_and_the_line_is_busy() {
    for count in [2, 10, 100] {
        let config = config();
        let shared = share(&config, FAST, count, [Duration::from_ms(5), Duration::from_ms(15)]);
        let mean = shared.round_trips[1].as_secs_f64();
        // The window of each sender fills its share of the line for a round trip.
        let packet = 1082.0 * 8.0;
        let first_window = FAST.rate.bps() as f64 * mean / packet / count as f64;
        let swift = SwiftConfig { first_window, ..config.swift.clone() };
        let target = Swift::new(&swift, &path(&config, FAST)).target(&swift);
        println!("{count}: target {target} {shared:?}");
        assert!((mean / target.as_secs_f64() - 1.0).abs() < 0.05, "{target} {shared:?}");
        assert!(shared.utilisation > 0.99 && shared.fairness() > 0.9, "{shared:?}");
    }
}

#[test]
fn with_windows_of_less_than_a_packet_the_line_is_busy() {
    let config = Config { mtu: 4096, ..config() };
    let slow = Lines { rate: Rate::from_gbps(10), ..FAST };
    let shared = share(&config, slow, 32, [Duration::from_ms(5), Duration::from_ms(25)]);
    println!("{shared:?}");
    assert!(shared.utilisation > 0.99, "{shared:?}");
}

#[test]
fn an_acknowledgement_changes_the_time_of_the_next_packet() {
    let at = |us: u64| Time::ZERO + Duration::from_us(us);
    let path = Path { line: FAST.rate, round_trip: Duration::from_us(10), switches: 0 };
    // When the acknowledgement returns, and when the next packet leaves: the window of half a packet grows to more than one,
    // or falls to a quarter because of the delay.
    for (returns, next) in [(10, 10), (1000, 4000)] {
        let mut config = config();
        config.swift = SwiftConfig { first_window: 0.5, beta: 1.0, ..config.swift };
        let mut sender = Sender::new(&config, 10_000, None, &path, Time::ZERO);
        let data = sender.poll_transmit(&config, Time::ZERO).expect("a packet");
        sender.sent(&config, Time::ZERO, 1082, Duration::from_ns(87));
        assert_eq!(sender.sends_at(&config), None);
        let ack = Ack { next: 1, kind: AckKind::Plain, is_cnp: false, echo: data.sent, telemetry: None };
        sender.receive(&config, at(returns), &ack);
        let sends = sender.sends_at(&config).expect("another packet").max(at(returns));
        assert_eq!(sends, at(next), "acknowledged after {returns} us");
    }
}

fn feedback(us: u64) -> Feedback<'static> {
    Feedback {
        round_trip: Duration::from_us(us),
        acknowledged: 1,
        next: 1,
        fresh: 100,
        is_cnp: false,
        shows_loss: false,
        telemetry: None,
    }
}

#[test]
fn the_target_grows_with_the_switches_on_the_path_and_for_small_windows() {
    for (window, switches, expected) in [
        (100.0, 0, 20.0),
        (400.0, 5, 20.0 + 5.0 * 3.053),
        (0.1, 1, 20.0 + 3.053 + 100.0),
        (0.05, 0, 120.0),
        // alpha / sqrt(1) + beta, with alpha = 100 us / (sqrt(10) - 1 / 10).
        (1.0, 0, 20.0 + 100.0 / (10.0_f64.sqrt() - 0.1) * 0.9),
    ] {
        let config = SwiftConfig { first_window: window, ..SwiftConfig::default() };
        let swift =
            Swift::new(&config, &Path { line: FAST.rate, round_trip: Duration::from_us(10), switches });
        let target = swift.target(&config).as_secs_f64() * 1e6;
        assert!((target - expected).abs() < 1e-3, "{window} {switches}: {target} {expected}");
    }
}

#[test]
fn the_window_is_that_of_algorithm_1() {
    let config = SwiftConfig { flow_target: Duration::ZERO, ..SwiftConfig::default() };
    let start = |config: &SwiftConfig| {
        Swift::new(config, &Path { line: FAST.rate, round_trip: Duration::from_us(10), switches: 0 })
    };
    let at = |us: u64| Time::ZERO + Duration::from_us(us);
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    let mut swift = start(&config);
    swift.receive(&config, at(100), &feedback(10));
    let more = 12.0 + 1.0 / 12.0;
    close(swift.window(), more);
    // Twice the target: beta / 2, at most once in a round trip.
    swift.receive(&config, at(101), &feedback(40));
    close(swift.window(), more * 0.6);
    swift.receive(&config, at(140), &feedback(40));
    close(swift.window(), more * 0.6);
    swift.receive(&config, at(141), &feedback(40));
    close(swift.window(), more * 0.36);
    // At most half.
    swift.receive(&config, at(100_000), &feedback(10_000));
    close(swift.window(), more * 0.18);
    // A loss costs half, and so does a timeout, until there are five in a row.
    let mut swift = start(&config);
    let lost = Feedback { shows_loss: true, ..feedback(10) };
    swift.receive(&config, at(100), &lost);
    close(swift.window(), 6.0);
    for (number, expected) in [(1, 3.0), (2, 1.5), (3, 0.75), (4, 0.375), (5, 0.01)] {
        swift.time_out(&config, at(1000 * number));
        close(swift.window(), expected);
    }
    // Less than a packet: it grows by whole packets, and waits after each one.
    assert_eq!((swift.packets(), swift.gap()), (1, Some(Duration::from_us(1000))));
    swift.receive(&config, at(9000), &feedback(10));
    close(swift.window(), 1.01);
    assert_eq!((swift.packets(), swift.gap()), (1, None));
}
