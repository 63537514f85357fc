//! Measures the cost of a call: two endpoints exchange segments through two queues, nothing is lost, the
//! receive window bounds the flight. Prints nanoseconds per call for each profile, where a call is a segment
//! received or sent; empty polls are included in the cost.
//!
//! Also measures multipath connections with one, two and four subflows.
//!
//! `cargo run --release -p weft-transport --example lockstep [pairs]`; with many pairs, the endpoints do not
//! fit the L1 and L2 caches.

use std::collections::VecDeque;
use std::time::Instant;

use weft_transport::mptcp::{self, Addresses, Connection, Options};
use weft_transport::{Config, CongestionControl, Endpoint, Mptcp, MptcpCongestion, Segment};
use weft_units::{Bytes, Duration, Time};

struct Pair {
    side: [Endpoint; 2],
    /// To side 0 and to side 1.
    queue: [VecDeque<Segment>; 2],
}

impl Pair {
    fn new(cfg: &Config) -> Self {
        let mut client = Endpoint::connect(cfg, Time::ZERO, 1);
        client.write(u64::MAX / 2);
        Self { side: [client, Endpoint::listen(cfg, 2)], queue: Default::default() }
    }

    #[inline]
    fn drain(&mut self, cfg: &Config, now: Time, side: usize, calls: &mut u64) {
        let mut out = Segment::default();
        while self.side[side].poll_transmit(cfg, now, &mut out) {
            self.queue[1 - side].push_back(out);
            *calls += 1;
        }
    }

    /// Delivers a segment each way, if there is one.
    fn step(&mut self, cfg: &Config, now: Time, calls: &mut u64) {
        for side in [1, 0] {
            if let Some(segment) = self.queue[side].pop_front() {
                self.side[side].on_segment(cfg, now, &segment);
                *calls += 1;
                self.drain(cfg, now, side, calls);
            }
            if self.side[side].next_timeout() <= now {
                self.side[side].on_timeout(cfg, now);
                self.drain(cfg, now, side, calls);
            }
        }
    }
}

/// A multipath connection, with one queue in each direction.
struct Multipath {
    side: [Connection; 2],
    queue: [VecDeque<(usize, Segment, Options)>; 2],
}

impl Multipath {
    fn new(cfg: &mptcp::Config) -> Self {
        let mut client = Connection::connect(cfg, Time::ZERO, 1, 1, Addresses::default());
        client.write(u64::MAX / 2);
        Self { side: [client, Connection::listen(cfg, 2, 2)], queue: Default::default() }
    }

    #[inline]
    fn drain(&mut self, cfg: &mptcp::Config, now: Time, side: usize, calls: &mut u64) {
        let (mut out, mut options) = (Segment::default(), Options::None);
        loop {
            while let Some(subflow) = self.side[side].poll_transmit(cfg, now, &mut out, &mut options) {
                self.queue[1 - side].push_back((subflow, out, options));
                *calls += 1;
            }
            // Both sides use the same subflow numbers.
            if self.side[side].poll_open(cfg, now, *calls).is_none() {
                return;
            }
            self.side[1 - side].accept(cfg, 0, *calls);
        }
    }

    fn step(&mut self, cfg: &mptcp::Config, now: Time, calls: &mut u64) {
        for side in [1, 0] {
            if let Some((subflow, segment, options)) = self.queue[side].pop_front() {
                self.side[side].on_segment(cfg, subflow, now, &segment, &options);
                *calls += 1;
                self.drain(cfg, now, side, calls);
            }
            if self.side[side].next_timeout() <= now {
                self.side[side].on_timeout(cfg, now);
                self.drain(cfg, now, side, calls);
            }
        }
    }
}

/// Nanoseconds per call in `step`, which does one tick's work and counts its calls.
fn best(pairs: usize, mut step: impl FnMut(Time, &mut u64)) -> f64 {
    let mut now = Time::from_ps(1_000_000);
    let mut calls = 0;
    let mut run = |rounds: usize, calls: &mut u64| {
        for _ in 0..rounds {
            now += Duration::from_ps(1_200_000);
            step(now, calls);
        }
    };
    run(400_000 / pairs.min(100), &mut calls);
    // The best of many slices: other load on the machine only makes a slice slower.
    let mut best = f64::MAX;
    for _ in 0..100 {
        calls = 0;
        let start = Instant::now();
        run(50_000 / pairs, &mut calls);
        best = best.min(start.elapsed().as_nanos() as f64 / calls as f64);
    }
    best
}

fn measure_multipath(name: &str, plain: &Config, pairs: usize) {
    let cfg = mptcp::Config::new(plain).expect("a multipath config");
    let mut all: Vec<Multipath> = (0..pairs).map(|_| Multipath::new(&cfg)).collect();
    let mut calls = 0;
    all.iter_mut().for_each(|pair| pair.drain(&cfg, Time::from_ps(1_000_000), 0, &mut calls));
    let best = best(pairs, |now, calls| all.iter_mut().for_each(|pair| pair.step(&cfg, now, calls)));
    let heap: usize = all[0].side.iter().map(Connection::heap_bytes).sum();
    println!(
        "{name:<28} {best:6.1} ns per call, {heap} bytes on the heap for both sides, {} subflows",
        all[0].side[0].stats().subflows
    );
}

fn measure(name: &str, cfg: &Config, pairs: usize) {
    let mut all: Vec<Pair> = (0..pairs).map(|_| Pair::new(cfg)).collect();
    let mut calls = 0;
    all.iter_mut().for_each(|pair| pair.drain(cfg, Time::from_ps(1_000_000), 0, &mut calls));
    let best = best(pairs, |now, calls| all.iter_mut().for_each(|pair| pair.step(cfg, now, calls)));
    let heap: usize = all[0].side.iter().map(Endpoint::heap_bytes).sum();
    println!(
        "{name:<28} {best:6.1} ns per call, {heap} bytes on the heap for both sides, window {} segments",
        all[0].side[0].in_flight() / u32::from(cfg.mss),
    );
}

fn main() {
    let pairs = std::env::args().nth(1).and_then(|pairs| pairs.parse().ok()).unwrap_or(1);
    println!("an endpoint is {} bytes, a segment {}", size_of::<Endpoint>(), size_of::<Segment>());
    let bounded = |name: &str| Config {
        mss: 1448,
        receive_buffer: Bytes(131_072),
        initial_receive_window: Bytes(65_536),
        ..Config::profile(name).unwrap_or_else(|| panic!("no profile {name}"))
    };
    measure("ns3-3.37 (CUBIC, SACK)", &bounded("ns3-3.37"), pairs);
    let reno = Config { congestion_control: CongestionControl::Reno, ..bounded("ns3-3.37") };
    measure("ns3-3.37 with NewReno", &reno, pairs);
    measure("ns3-3.23", &bounded("ns3-3.23"), pairs);
    measure("linux (CUBIC, RACK)", &bounded("linux"), pairs);
    measure("dctcp", &bounded("dctcp"), pairs);
    for (name, subflows, mptcp_congestion) in [
        ("linux, one subflow", 1, MptcpCongestion::Uncoupled),
        ("linux, two subflows", 2, MptcpCongestion::Uncoupled),
        ("linux, four subflows", 4, MptcpCongestion::Uncoupled),
        ("linux, four subflows, LIA", 4, MptcpCongestion::Lia),
    ] {
        let cfg = Config { mptcp: Mptcp::Ndiffports, subflows, mptcp_congestion, ..bounded("linux") };
        measure_multipath(name, &cfg, pairs);
    }
}
