//! DCQCN against the fixed point of its fluid model (Zhu et al., SIGCOMM 2015, section 5.1): N senders share a line whose
//! queue marks packets with a probability that rises from 0 at Kmin to Pmax at Kmax.

use weft_transport::roce::{Config, Dcqcn};
use weft_units::{Bytes, Duration, Rate, Time};

/// Bytes of a packet.
const PACKET: f64 = 1000.0;
/// Bits per second of the line.
const LINE: f64 = 40e9;
/// The queue in bytes at which marking starts, and at which it has its highest probability.
const MARKING: (f64, f64, f64) = (5e3, 1e6, 0.05);

/// The parameters of the paper: a notification per 50 us, alpha updated after 55 us, increases by a timer of 55 us and by
/// 10 MB, five of them fast, 40 Mbps each. The fluid model has no hyper increase.
fn paper() -> Config {
    Config {
        cnp_interval: Duration::from_us(50),
        decrease_interval: Duration::from_us(50),
        alpha_interval: Duration::from_us(55),
        increase_interval: Duration::from_us(55),
        increase_bytes: Bytes(10_000_000),
        fast_recovery_times: 5,
        hyper_increase: Config::default().additive_increase,
        min_rate: Rate::from_bps(10_000_000),
        clamp_target_rate: true,
        ..Config::default()
    }
}

/// The marking probability at which the fluid model's rates stay as they are with `rate` packets per second each.
fn fixed_point(rate: f64) -> f64 {
    let config = paper();
    let (tau, alpha_tau) = (50e-6, 55e-6);
    let timer = 55e-6;
    let bytes = config.increase_bytes.0 as f64 / PACKET;
    let fast = f64::from(config.fast_recovery_times);
    let increase = config.additive_increase.bps() as f64 / 8.0 / PACKET;
    // The derivative of the current rate where that of the target rate is zero.
    let drift = |p: f64| {
        let stays = |packets: f64| (1.0 - p).powf(packets);
        let (by_bytes, by_time) = (p / (1.0 / stays(bytes) - 1.0), p / (1.0 / stays(timer * rate) - 1.0));
        let marked = 1.0 - stays(tau * rate);
        let alpha = 1.0 - stays(alpha_tau * rate);
        let gain = increase * rate * (stays(fast * bytes) * by_bytes + stays(fast * timer * rate) * by_time);
        let distance = gain * tau / marked;
        -rate * alpha / (2.0 * tau) * marked + distance / 2.0 * rate * (by_bytes + by_time)
    };
    let (mut low, mut high) = (1e-9, 0.5);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if drift(middle) > 0.0 { low = middle } else { high = middle }
    }
    low
}

/// Simulates `count` senders at one queue, packet by packet; returns the mean rate of each in bits per second and the mean
/// share of marked packets, after a second.
fn simulate(count: usize) -> (Vec<f64>, f64) {
    let config = paper();
    let step = Duration::from_us(1);
    let round_trip = 4;
    let mut senders = vec![Dcqcn::new(Rate::from_bps(LINE as u64)); count];
    let (mut owed, mut cnp_at) = (vec![0.0; count], vec![Time::ZERO; count]);
    let mut in_flight: std::collections::VecDeque<Vec<usize>> = vec![Vec::new(); round_trip].into();
    let (mut queue, mut random) = (0.0_f64, 1_u64);
    let (mut sums, mut marks, mut packets) = (vec![0.0; count], 0_u64, 0_u64);
    let (steps, measured) = (1_500_000, 500_000);
    for at in 0..steps {
        let now = Time::ZERO + step * at;
        for sender in in_flight.pop_front().unwrap() {
            senders[sender].notify(&config, now);
        }
        let mut notified = Vec::new();
        for number in 0..count {
            let rate = senders[number].rate(&config, now);
            owed[number] += rate / 8.0 * step.as_secs_f64() / PACKET;
            if at >= measured {
                sums[number] += rate;
            }
            while owed[number] >= 1.0 {
                owed[number] -= 1.0;
                queue += PACKET;
                senders[number].sent(&config, now, PACKET as u32);
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let drawn = (random >> 11) as f64 / (1_u64 << 53) as f64;
                let (least, most, highest) = MARKING;
                let share = (queue - least) / (most - least);
                let probability = if share >= 1.0 { 1.0 } else { share.max(0.0) * highest };
                let is_marked = drawn < probability;
                if at >= measured {
                    packets += 1;
                    marks += u64::from(is_marked);
                }
                if is_marked && cnp_at[number] <= now {
                    cnp_at[number] = now + config.cnp_interval;
                    notified.push(number);
                }
            }
        }
        queue = (queue - LINE / 8.0 * step.as_secs_f64()).max(0.0);
        in_flight.push_back(notified);
    }
    let rates = sums.into_iter().map(|sum| sum / (steps - measured) as f64).collect();
    (rates, marks as f64 / packets as f64)
}

#[test]
fn rates_are_fair_and_marks_as_frequent_as_in_the_fluid_model() {
    for count in [2, 4, 10] {
        let (rates, marked) = simulate(count);
        let expected = fixed_point(LINE / 8.0 / PACKET / count as f64);
        let fair = LINE / count as f64;
        println!("{count}: marked {marked:.5}, fluid {expected:.5}, rates {rates:?}");
        let worst = rates.iter().map(|rate| (rate / fair - 1.0).abs()).fold(0.0, f64::max);
        assert!(worst < 0.15, "{count} senders at {rates:?}");
        assert!((marked / expected - 1.0).abs() < 0.3, "{count} senders: {marked} of {expected}");
    }
}

#[test]
fn timers_that_were_not_read_have_the_same_effect() {
    let config = Config::default();
    let at = |us: u64| Time::ZERO + Duration::from_us(us);
    let mut often = Dcqcn::new(Rate::from_gbps(100));
    let mut seldom = often.clone();
    for us in 0..20_000 {
        often.rate(&config, at(us));
        if [3, 10, 11, 400, 5_000].contains(&us) {
            often.notify(&config, at(us));
            seldom.notify(&config, at(us));
        }
    }
    let (a, b) = (often.rate(&config, at(20_000)), seldom.rate(&config, at(20_000)));
    assert!((a / b - 1.0).abs() < 1e-12 && a < 100e9, "{a} {b}");
    let (a, b) = (often.alpha(&config, at(20_000)), seldom.alpha(&config, at(20_000)));
    assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
}

#[test]
fn the_first_notification_halves_the_rate_and_increases_bring_it_back() {
    let config = Config::default();
    let at = |us: u64| Time::ZERO + Duration::from_us(us);
    let mut sender = Dcqcn::new(Rate::from_gbps(100));
    sender.notify(&config, at(10));
    // Alpha has decayed four times when the rate decreases.
    let halved = 100e9 * (1.0 - (255.0_f64 / 256.0).powi(4) / 2.0);
    for (us, expected) in [
        (13, 100e9),
        (15, halved),
        (313, halved),
        // Fast recovery, then an additive increase that the line caps.
        (315, (halved + 100e9) / 2.0),
        (615, (halved + 300e9) / 4.0),
    ] {
        let rate = sender.rate(&config, at(us));
        assert!((rate / expected - 1.0).abs() < 1e-9, "{us}: {rate} instead of {expected}");
    }
}
