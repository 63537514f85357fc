//! Reno's throughput on a lossy path: the square-root law of Mathis, Semke, Mahdavi and Ott (1997), a
//! rate of MSS / RTT sqrt(3 / 2) / sqrt(p).
//!
//! The engine's links lose packets only when their queues overflow. So the losses are generated here, on
//! a fixed-delay path between two endpoints, and in another test by a drop-tail queue in the engine,
//! where the loss rate is measured.

use std::collections::VecDeque;

use crate::common::statistics::holds;
use crate::common::{Trial, Uniform, link, profile, scheme};
use weft_fabric::{Limit, LinkSpec, QueueSpec, build};
use weft_sim::sample::Metric;
use weft_transport::{Config, CongestionControl, Endpoint, Segment, WindowGrowth};
use weft_units::{Bytes, Duration, Rate, Time};

const MSS: f64 = 1_448.0;

/// A 10 Gbps path with delay `one_way` in each direction that loses some data segments.
struct Path<L> {
    config: Config,
    sides: [Endpoint; 2],
    /// By sending side.
    in_flight: [VecDeque<(Time, Segment)>; 2],
    free: [Time; 2],
    now: Time,
    one_way: Duration,
    loses: L,
    sent: u64,
    lost: u64,
}

impl<L: FnMut(u64) -> bool> Path<L> {
    /// `loses` returns whether the data segment with this number (counting retransmissions) is lost.
    fn new(config: &Config, one_way: Duration, loses: L) -> Self {
        let now = Time::ZERO;
        let mut sender = Endpoint::connect(config, now, 1);
        sender.write(1 << 40);
        let sides = [sender, Endpoint::listen(config, 2)];
        let in_flight = Default::default();
        let free = [now; 2];
        Self { config: config.clone(), sides, in_flight, free, now, one_way, loses, sent: 0, lost: 0 }
    }

    fn send(&mut self, side: usize) {
        let mut segment = Segment::default();
        while self.sides[side].poll_transmit(&self.config, self.now, &mut segment) {
            self.free[side] = self.free[side].max(self.now) + Duration::from_ns(1_230);
            if segment.len > 0 {
                self.sent += 1;
                if (self.loses)(self.sent) {
                    self.lost += 1;
                    continue;
                }
            }
            self.in_flight[side].push_back((self.free[side] + self.one_way, segment));
        }
    }

    fn run_until(&mut self, end: Time) {
        self.send(0);
        loop {
            let arrivals = [0, 1].map(|side| self.in_flight[side].front().map_or(Time::MAX, |first| first.0));
            let timers = [0, 1].map(|side| self.sides[side].next_timeout());
            let next = arrivals.into_iter().chain(timers).min().unwrap_or(Time::MAX);
            if next > end {
                return;
            }
            self.now = next;
            for side in 0..2 {
                if arrivals[side] == next
                    && let Some((_, segment)) = self.in_flight[side].pop_front()
                {
                    self.sides[1 - side].on_segment(&self.config, next, &segment);
                    self.send(1 - side);
                }
                if timers[side] == next && self.sides[side].next_timeout() <= next {
                    self.sides[side].on_timeout(&self.config, next);
                    self.send(side);
                }
            }
        }
    }
}

/// Throughput in bits per second and the data segment loss rate, over about `losses` losses at a rate
/// near `loss`, after a warm-up of a fifth of that.
fn measure(config: &Config, loss: f64, losses: f64, loses: impl FnMut(u64) -> bool) -> (f64, f64) {
    let mut path = Path::new(config, RTT / 2, loses);
    let span = losses / loss * MSS * 8.0 / mathis(RTT.as_secs_f64(), loss, 1.0);
    let warm_up = Time::ZERO + Duration::from_secs_f64(span / 5.0);
    path.run_until(warm_up);
    let (delivered, sent, lost) = (path.sides[1].delivered(), path.sent, path.lost);
    path.run_until(warm_up + Duration::from_secs_f64(span));
    let bits = (path.sides[1].delivered() - delivered) as f64 * 8.0;
    let resent = u64::from(path.sides[0].stats().retransmissions);
    assert!(resent.abs_diff(path.lost) <= 1, "{} segments were lost, {resent} retransmitted", path.lost);
    (bits / span, (path.lost - lost) as f64 / (path.sent - sent) as f64)
}

/// Windows limited only by congestion.
fn unlimited(congestion_control: CongestionControl) -> Config {
    let (receive_buffer, send_buffer) = (Bytes(1 << 28), Bytes(1 << 28));
    Config { congestion_control, receive_buffer, send_buffer, ..profile("linux") }
}

fn mathis(rtt: f64, loss: f64, acked_per_ack: f64) -> f64 {
    MSS * 8.0 / rtt * (1.5 / acked_per_ack).sqrt() / loss.sqrt()
}

const RTT: Duration = Duration::from_ms(20);

#[test]
fn reno_under_periodic_loss_follows_the_square_root_law() {
    let reno = unlimited(CongestionControl::Reno);
    for every in [500_u64, 2_000, 10_000] {
        let (rate, loss) = measure(&reno, 1.0 / every as f64, 40.0, |number| number % every == 0);
        let expected = mathis(RTT.as_secs_f64(), loss, 1.0);
        holds(&format!("Reno, one loss in {every}, Mbps"), rate / 1e6, expected / 1e6, 0.05, every);
    }
}

/// Random losses are irregular, and a window that is cut sooner is cut by less: according to Ott,
/// Kemperman and Mathis (1996) the constant is then 1.31, 7 % above sqrt(3 / 2).
#[test]
fn reno_under_random_loss_follows_the_square_root_law() {
    let reno = unlimited(CongestionControl::Reno);
    for (share, seed) in [(0.01, 1), (0.002, 2), (0.0005, 3)] {
        let mut random = Uniform::new(seed, "loss");
        let (rate, loss) = measure(&reno, share, 300.0, |_| random.unit() < share);
        let expected = mathis(RTT.as_secs_f64(), loss, 1.0) * 1.31 / 1.5_f64.sqrt();
        let what = format!("Reno, random loss of {} %, Mbps", share * 100.0);
        holds(&what, rate / 1e6, expected / 1e6, 0.08, seed);
    }
}

/// With growth per ACK and one ACK for every two segments, the window grows half as fast: the constant
/// is sqrt(3 / 4).
#[test]
fn delayed_acknowledgements_halve_the_growth_where_it_counts_acks() {
    let by_acks = Config { window_growth: WindowGrowth::PerAck, ..unlimited(CongestionControl::Reno) };
    for (segments, name) in [(1, "every segment"), (2, "every other segment")] {
        let reno = Config { delayed_ack_segments: segments, quick_acks: 0, ..by_acks.clone() };
        let (rate, loss) = measure(&reno, 5e-4, 60.0, |number| number % 2_000 == 0);
        let expected = mathis(RTT.as_secs_f64(), loss, f64::from(segments));
        holds(&format!("Reno, growth by ACKs, an ACK for {name}, Mbps"), rate / 1e6, expected / 1e6, 0.05, 0);
    }
}

/// In the engine, losses come from queue overflow; the losses of one overflow count as one signal, since
/// the window is cut once for them. The round-trip time is that of the path plus the mean queue.
#[test]
fn a_reno_flow_at_a_drop_tail_bottleneck_follows_the_square_root_law() {
    const INTERVAL: Duration = Duration::from_ms(1);
    for (packets, warm_up, end) in [(20, 10, 40), (60, 20, 120)] {
        let queue = |packets| QueueSpec::fifo(Limit::Packets(packets));
        let host = LinkSpec::new(Rate::from_gbps(1), Duration::from_us(100)).with_queue(queue(10_000));
        let bottleneck = LinkSpec::new(Rate::from_bps(20_000_000), Duration::from_ms(4));
        let fabric = build::dumbbell(1, 1, &host, &bottleneck.with_queue(queue(packets))).unwrap();
        let (warm_up, end) = (Duration::from_secs(warm_up), Duration::from_secs(end));
        let reno = unlimited(CongestionControl::Reno);
        let trial = Trial::new(&fabric, scheme("single_path"), reno).flow(0, 1, 1 << 40, Duration::ZERO);
        let outcome = trial.limit(end).sampled(INTERVAL).run();
        let rate = outcome.rates(warm_up)[0];
        let through = link(&fabric, "s0-s1");
        let sending = |bytes: f64, rate: f64| bytes * 8.0 / rate;
        let queued = outcome.mean(Metric::QueueBytes, through.0, warm_up);
        let there = 2.0 * sending(1_538.0, 1e9) + sending(queued + 1_538.0, 20e6);
        let back = 2.0 * sending(90.0, 1e9) + sending(90.0, 20e6);
        let rtt = there + back + 2.0 * (2.0 * 100e-6 + 4e-3);
        let drops = outcome.samples.iter().filter(|sample| sample.metric == Metric::Drops);
        let times: Vec<f64> = drops.map(|drop| drop.time.as_secs_f64()).collect();
        let apart = |pair: &&[f64]| pair[0] > warm_up.as_secs_f64() && pair[1] - pair[0] > 2.0 * rtt;
        let signals = times.windows(2).filter(apart).count() as f64;
        let sent = rate / 8.0 / MSS * (end - warm_up).as_secs_f64();
        let expected = mathis(rtt, signals / sent, 1.0);
        holds(&format!("Reno at a queue of {packets}, Mbps"), rate / 1e6, expected / 1e6, 0.05, packets);
    }
}
