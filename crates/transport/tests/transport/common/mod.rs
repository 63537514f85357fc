//! A simulated network of two endpoints and one link: virtual time, rate, delay, queue, seeded losses and
//! reordering. A run is a function of its [`Link`] and config, so the seed reproduces a failure.

pub mod hand;
pub mod hostile;
pub mod world;

use std::collections::BTreeMap;

use weft_transport::{Config, Ecn, Endpoint, ProtocolConfig as _, Segment};
use weft_units::{Bytes, Duration, Rate, Time};

/// SplitMix64: random enough for test patterns.
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Whether an event with probability `per_mille` / 1000 happens.
    pub fn hit(&mut self, per_mille: u64) -> bool {
        self.next() % 1000 < per_mille
    }

    /// Whether an event with probability `ppm` / 1 000 000 happens.
    pub fn hit_ppm(&mut self, ppm: u64) -> bool {
        ppm > 0 && self.next() % 1_000_000 < ppm
    }
}

/// The link's properties, in both directions.
#[derive(Clone, Debug)]
pub struct Link {
    pub rate: Rate,
    pub delay: Duration,
    /// Queue length in packets.
    pub queue: usize,
    /// Marking threshold in packets.
    pub mark: usize,
    /// Probabilities of loss, duplication and extra delay per packet, per mille.
    pub loss: u64,
    pub duplicate: u64,
    pub reorder: u64,
    /// Maximum extra delay of a reordered packet.
    pub jitter: Duration,
    /// Data segments of the client to lose, counted from 0 including retransmissions.
    pub lose_data: Vec<u32>,
    /// Whether the queue is at the side's own interface (where TCP small queues apply) instead of in the network.
    pub own: bool,
    pub seed: u64,
}

impl Default for Link {
    fn default() -> Self {
        Self {
            rate: Rate::from_gbps(1),
            delay: Duration::from_us(50),
            queue: 100,
            mark: usize::MAX,
            loss: 0,
            duplicate: 0,
            reorder: 0,
            jitter: Duration::ZERO,
            lose_data: Vec::new(),
            own: false,
            seed: 1,
        }
    }
}

/// Called for each segment sent: time, side, segment, whether it is dropped.
pub type Trace = Box<dyn FnMut(Time, usize, &Segment, bool)>;

/// A connection over a link. Side 0 is the client.
pub struct Network {
    pub cfg: Config,
    pub link: Link,
    pub now: Time,
    pub side: [Endpoint; 2],
    /// The side and the segment of each arrival, by time and order.
    events: BTreeMap<(Time, u64), (usize, Segment)>,
    order: u64,
    busy: [Time; 2],
    departures: [std::collections::VecDeque<Time>; 2],
    random: Random,
    data_sent: u32,
    pub packets: u64,
    pub drops: u64,
    /// Called for every segment that leaves a side.
    pub trace: Option<Trace>,
}

impl Network {
    pub fn new(cfg: Config, link: Link) -> Self {
        cfg.validate().expect("a valid config");
        let random = Random(link.seed);
        let start = Time::from_ps(1_000_000_000);
        Self {
            side: [
                Endpoint::connect(&cfg, start, 0xffff_f000_u32.wrapping_add(link.seed as u32)),
                Endpoint::listen(&cfg, 77),
            ],
            cfg,
            link,
            now: start,
            events: BTreeMap::new(),
            order: 0,
            busy: [Time::ZERO; 2],
            departures: Default::default(),
            random,
            data_sent: 0,
            packets: 0,
            drops: 0,
            trace: None,
        }
    }

    fn send(&mut self, from: usize, mut segment: Segment) {
        self.packets += 1;
        while self.departures[from].front().is_some_and(|&at| at <= self.now) {
            self.departures[from].pop_front();
        }
        let waiting = self.departures[from].len();
        let mut lost = waiting > self.link.queue || self.random.hit(self.link.loss);
        if from == 0 && segment.len > 0 {
            lost |= self.link.lose_data.contains(&self.data_sent);
            self.data_sent += 1;
        }
        if let Some(trace) = &mut self.trace {
            trace(self.now, from, &segment, lost);
        }
        if lost {
            self.drops += 1;
            return;
        }
        if waiting >= self.link.mark && segment.ecn == Ecn::Ect0 {
            segment.ecn = Ecn::Ce;
        }
        let gone =
            self.busy[from].max(self.now) + self.link.rate.tx_time(Bytes(u64::from(segment.ip_bytes() + 38)));
        self.busy[from] = gone;
        if self.link.own && segment.len > 0 {
            self.side[from].leaves_at(self.now, gone, segment.len);
        }
        self.departures[from].push_back(gone);
        let copies = 1 + u64::from(self.random.hit(self.link.duplicate));
        for _ in 0..copies {
            let mut at = gone + self.link.delay;
            if self.random.hit(self.link.reorder) {
                at += Duration::from_ps(self.random.next() % self.link.jitter.ps().max(1));
            }
            self.order += 1;
            self.events.insert((at, self.order), (1 - from, segment));
        }
    }

    /// Sends everything a side has to send.
    pub fn drain(&mut self, side: usize) {
        let mut segment = Segment::default();
        for burst in 0.. {
            assert!(burst < 100_000, "a side never stops sending");
            if !self.side[side].poll_transmit(&self.cfg, self.now, &mut segment) {
                break;
            }
            self.send(side, segment);
        }
    }

    /// Runs the next event; returns whether there was one before `limit`.
    pub fn step(&mut self, limit: Time) -> bool {
        self.drain(0);
        self.drain(1);
        let packet = self.events.first_key_value().map_or(Time::MAX, |(key, _)| key.0);
        let held = self.side[0].held_until().min(self.side[1].held_until());
        let timers = [self.side[0].next_timeout(), self.side[1].next_timeout()];
        let next = packet.min(timers[0]).min(timers[1]).min(held);
        if next > limit || next == Time::MAX {
            return false;
        }
        self.now = self.now.max(next);
        if packet <= next {
            let Some((_, (to, segment))) = self.events.pop_first() else { return false };
            self.side[to].on_segment(&self.cfg, self.now, &segment);
            self.drain(to);
        } else if timers[0].min(timers[1]) <= next {
            let side = usize::from(timers[1] < timers[0]);
            self.side[side].on_timeout(&self.cfg, self.now);
            self.drain(side);
        }
        true
    }

    /// Runs until `done`, or until no event is left within `limit`; returns whether it is done.
    pub fn run_until(&mut self, limit: Duration, done: impl Fn(&Self) -> bool) -> bool {
        let end = self.now + limit;
        while !done(self) {
            if !self.step(end) {
                return done(self);
            }
        }
        true
    }
}

/// The outcome of a transfer from the client.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub fct: Option<Duration>,
    pub closed: bool,
    pub network_packets: u64,
    pub client: weft_transport::Stats,
    pub server: weft_transport::Stats,
}

/// Sends `bytes` from client to server, then closes both.
pub fn transfer(cfg: &Config, link: &Link, bytes: u64) -> Outcome {
    let mut network = Network::new(cfg.clone(), link.clone());
    let start = network.now;
    network.side[0].write(bytes);
    network.side[0].close();
    let limit = Duration::from_secs(1_000_000);
    let whole = network.run_until(limit, |n| n.side[1].delivered() == bytes);
    let fct = whole.then(|| network.now - start);
    let finished = |n: &Network| n.side[1].is_finished_by_peer() || n.side[1].is_closed();
    network.run_until(limit, finished);
    network.side[1].close();
    let closed = network.run_until(limit, |n| n.side.iter().all(Endpoint::is_closed));
    assert_eq!(
        network.side[1].delivered().min(bytes),
        network.side[1].delivered(),
        "more arrived than was sent"
    );
    Outcome {
        fct,
        closed,
        network_packets: network.packets,
        client: network.side[0].stats(),
        server: network.side[1].stats(),
    }
}
