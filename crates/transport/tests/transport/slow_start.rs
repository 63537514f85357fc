//! HyStart over whole transfers: slow start lasts on an idle path, and ends where a queue builds up.

use crate::common::{Link, transfer};
use weft_transport::{Config, HyStart};
use weft_units::{Duration, Rate};

/// Completion time of a transfer over an otherwise idle path, in milliseconds, with each kind of HyStart.
fn times(rate: Rate, delay: Duration, bytes: u64, tune: fn(&mut Config)) -> [f64; 3] {
    [HyStart::Off, HyStart::Classic, HyStart::PlusPlus].map(|hystart| {
        let mut cfg = Config::profile("linux").unwrap();
        cfg.congestion.cubic.hystart.mode = hystart;
        tune(&mut cfg);
        let link = Link { rate, delay, queue: 10_000, ..Link::default() };
        transfer(&cfg, &link, bytes).fct.expect("all bytes arrive").as_secs_f64() * 1e3
    })
}

#[test]
fn on_an_idle_path_with_room_slow_start_does_not_end() {
    // One-way delays; ACK trains are shorter than half of the round trip, and there is no queue.
    for us in [150, 300, 400, 600, 900, 990, 1010, 1100, 5000, 50_000] {
        let gigabits = 10.max(2_000_000 * 8 * 2 / (2 * us * 1000));
        let [off, classic, plus_plus] =
            times(Rate::from_gbps(gigabits), Duration::from_us(us), 2_000_000, |_| {});
        assert!(classic == off && plus_plus == off, "{us} us: {off} ms, {classic} ms, {plus_plus} ms");
    }
}

#[test]
fn the_first_windows_and_the_kind_of_acks_do_not_matter() {
    let tunes: [fn(&mut Config); 5] = [
        |cfg| cfg.initial_window = 2,
        |cfg| cfg.initial_window = 40,
        |cfg| cfg.congestion.cubic.hystart.low_window = 2,
        |cfg| cfg.delayed_ack_segments = 1,
        |cfg| cfg.pacing = true,
    ];
    for (n, tune) in tunes.into_iter().enumerate() {
        let [off, classic, _] = times(Rate::from_gbps(10), Duration::from_us(900), 2_000_000, tune);
        assert_eq!(classic, off, "tune {n}");
    }
}

#[test]
fn where_a_queue_builds_up_slow_start_ends_before_it_overflows() {
    let losses = |hystart| {
        let mut cfg = Config { small_queues: false, ..Config::profile("linux").unwrap() };
        cfg.congestion.cubic.hystart.mode = hystart;
        let link = Link {
            rate: Rate::from_bps(100_000_000),
            delay: Duration::from_ms(20),
            queue: 350,
            ..Link::default()
        };
        transfer(&cfg, &link, 5_000_000).client.retransmissions
    };
    assert_eq!(losses(HyStart::Classic), 0);
    let [off, plus_plus] = [HyStart::Off, HyStart::PlusPlus].map(losses);
    assert!(0 < plus_plus && plus_plus < off, "conservative, but five more rounds: {plus_plus}, off {off}");
}
