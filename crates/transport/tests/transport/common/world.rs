//! Multipath and plain TCP connections over shared links, in virtual time. A run is a function of its links and flows;
//! every random number comes from the links' seeds.

use std::collections::{BTreeMap, VecDeque};

use weft_transport::mptcp::{self, Addresses, Connection, Options};
use weft_transport::{Config, Endpoint, ProtocolConfig as _, Segment};
use weft_units::{Bytes, Duration, Rate, Time};

use super::Random;

/// A link between the two sides, with the same properties in both directions.
#[derive(Clone, Debug)]
pub struct Cable {
    pub rate: Rate,
    pub delay: Duration,
    /// Queue length in packets.
    pub queue: usize,
    /// Whether packets are dropped at random before the queue is full: with a probability that grows with the square of
    /// the queue length, up to a tenth (a simple random early detection).
    pub early: bool,
    /// Probabilities of loss, duplication and extra delay per packet, in millionths.
    pub loss: u64,
    pub duplicate: u64,
    pub reorder: u64,
    /// Maximum extra delay of a reordered packet.
    pub jitter: Duration,
    /// Intervals during which it is down.
    pub down: Vec<(Time, Time)>,
    /// Whether its queue is at the sides' own interfaces (where TCP small queues apply) instead of in the network.
    pub own: bool,
    pub seed: u64,
}

impl Default for Cable {
    fn default() -> Self {
        Self {
            rate: Rate::from_bps(100_000_000),
            delay: Duration::from_ms(5),
            queue: 100,
            early: false,
            loss: 0,
            duplicate: 0,
            reorder: 0,
            jitter: Duration::ZERO,
            down: Vec::new(),
            own: false,
            seed: 1,
        }
    }
}

struct Direction {
    busy: Time,
    departures: VecDeque<Time>,
}

struct State {
    cable: Cable,
    random: Random,
    ways: [Direction; 2],
}

/// The two sides of a flow.
pub enum Sides {
    Tcp(Box<[Endpoint; 2]>),
    /// With each side's subflow numbers at the other side.
    Multipath(Box<[Connection; 2]>, [Vec<usize>; 2]),
}

pub struct Flow {
    pub cfg: Config,
    pub multipath: Option<mptcp::Config>,
    pub sides: Sides,
    /// The links of the subflows, by the opener's subflow number.
    pub cables: Vec<usize>,
}

impl Flow {
    pub fn delivered(&self, side: usize) -> u64 {
        match &self.sides {
            Sides::Tcp(sides) => sides[side].delivered(),
            Sides::Multipath(sides, _) => sides[side].delivered(),
        }
    }

    pub fn connection(&self, side: usize) -> &Connection {
        match &self.sides {
            Sides::Multipath(sides, _) => &sides[side],
            Sides::Tcp(_) => panic!("a plain flow"),
        }
    }

    pub fn connection_mut(&mut self, side: usize) -> &mut Connection {
        match &mut self.sides {
            Sides::Multipath(sides, _) => &mut sides[side],
            Sides::Tcp(_) => panic!("a plain flow"),
        }
    }

    pub fn is_closed(&self) -> bool {
        match &self.sides {
            Sides::Tcp(sides) => sides.iter().all(Endpoint::is_closed),
            Sides::Multipath(sides, _) => sides.iter().all(Connection::is_closed),
        }
    }

    fn next_timeout(&self, side: usize) -> Time {
        match &self.sides {
            Sides::Tcp(sides) => sides[side].next_timeout().min(sides[side].held_until()),
            Sides::Multipath(sides, _) => sides[side].next_timeout().min(sides[side].held_until()),
        }
    }
}

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub flow: usize,
    pub to: usize,
    /// Subflow number at the destination side.
    pub subflow: usize,
    pub segment: Segment,
    pub options: Options,
}

/// Called for each packet sent; may change it, and returns whether it is lost.
pub type Filter = Box<dyn FnMut(Time, &mut Packet) -> bool>;

pub struct World {
    pub now: Time,
    pub flows: Vec<Flow>,
    cables: Vec<State>,
    /// Packets by the time and order of their arrival.
    events: BTreeMap<(Time, u64), Packet>,
    order: u64,
    /// Source of the random numbers of connections and subflows.
    entropy: Random,
    pub packets: u64,
    pub filter: Option<Filter>,
}

impl World {
    pub fn new(cables: Vec<Cable>) -> Self {
        let seed = cables.iter().fold(7, |seed: u64, cable| seed.wrapping_mul(31) ^ cable.seed);
        let state = |cable: Cable| State {
            random: Random(cable.seed),
            cable,
            ways: [0, 1].map(|_| Direction { busy: Time::ZERO, departures: VecDeque::new() }),
        };
        Self {
            now: Time::from_ps(1_000_000_000),
            flows: Vec::new(),
            cables: cables.into_iter().map(state).collect(),
            events: BTreeMap::new(),
            order: 0,
            entropy: Random(seed),
            packets: 0,
            filter: None,
        }
    }

    /// Opens a flow whose subflows use the links `cables`, by number; multipath if `cfg` enables it.
    pub fn open(&mut self, cfg: &Config, cables: &[usize], bytes: u64) -> usize {
        cfg.validate().expect("a valid config");
        let multipath = mptcp::Config::new(cfg);
        let isn = self.entropy.next() as u32;
        let sides = match &multipath {
            None => {
                let mut client = Endpoint::connect(cfg, self.now, isn);
                client.write(bytes);
                client.close();
                Sides::Tcp(Box::new([client, Endpoint::listen(cfg, !isn)]))
            }
            Some(multi) => {
                let keys = [self.entropy.next(), self.entropy.next()];
                let addresses = Addresses { local: cables.len() as u8, remote: 1 };
                let mut client = Connection::connect(multi, self.now, keys[0], isn, addresses);
                client.write(bytes);
                client.close();
                let sides = Box::new([client, Connection::listen(multi, keys[1], !isn)]);
                Sides::Multipath(sides, [vec![0], vec![0]])
            }
        };
        let flow = Flow { cfg: cfg.clone(), multipath, sides, cables: cables.to_vec() };
        self.flows.push(flow);
        self.flows.len() - 1
    }

    /// Puts a packet on its link. Returns when it leaves its side's own interface, if the link's queue is there.
    fn transmit(&mut self, mut packet: Packet) -> Option<Time> {
        self.packets += 1;
        let lost = self.filter.as_mut().is_some_and(|filter| filter(self.now, &mut packet));
        let flow = &self.flows[packet.flow];
        // The opener's subflow number determines the link.
        let number = match &flow.sides {
            Sides::Multipath(_, peers) if packet.to == 1 => peers[1][packet.subflow],
            _ => packet.subflow,
        };
        let state = &mut self.cables[flow.cables[number % flow.cables.len()]];
        let (cable, random) = (&state.cable, &mut state.random);
        let way = &mut state.ways[1 - packet.to];
        while way.departures.front().is_some_and(|&at| at <= self.now) {
            way.departures.pop_front();
        }
        let down = cable.down.iter().any(|&(from, to)| from <= self.now && self.now < to);
        let filled = (way.departures.len() * 1000 / cable.queue.max(1)) as u64;
        let early = cable.early && random.hit_ppm(filled * filled / 10);
        if down || lost || early || way.departures.len() > cable.queue || random.hit_ppm(cable.loss) {
            return None;
        }
        let gone =
            way.busy.max(self.now) + cable.rate.tx_time(Bytes(u64::from(packet.segment.ip_bytes() + 38)));
        way.busy = gone;
        way.departures.push_back(gone);
        for _ in 0..1 + u64::from(random.hit_ppm(cable.duplicate)) {
            let mut at = gone + cable.delay;
            if random.hit_ppm(cable.reorder) {
                at += Duration::from_ps(random.next() % cable.jitter.ps().max(1));
            }
            self.order += 1;
            self.events.insert((at, self.order), packet);
        }
        cable.own.then_some(gone)
    }

    /// Sends everything a side has to send, and opens the subflows it requests.
    pub fn pump(&mut self, flow: usize, side: usize) {
        let (mut segment, mut options) = (Segment::default(), Options::None);
        for burst in 0.. {
            assert!(burst < 100_000, "a side never stops sending");
            let at = &mut self.flows[flow];
            let (number, subflow) = match &mut at.sides {
                Sides::Tcp(sides) => {
                    if !sides[side].poll_transmit(&at.cfg, self.now, &mut segment) {
                        return;
                    }
                    (0, 0)
                }
                Sides::Multipath(sides, peers) => {
                    let cfg = at.multipath.as_ref().unwrap();
                    match sides[side].poll_transmit(cfg, self.now, &mut segment, &mut options) {
                        Some(number) => (number, peers[side][number]),
                        None => {
                            let Some(new) = sides[side].poll_open(cfg, self.now, self.entropy.next()) else {
                                return;
                            };
                            let there = sides[1 - side].accept(cfg, new.remote, self.entropy.next()).unwrap();
                            peers[side].resize(new.subflow.max(peers[side].len() - 1) + 1, 0);
                            peers[side][new.subflow] = there;
                            peers[1 - side].resize(there.max(peers[1 - side].len() - 1) + 1, 0);
                            peers[1 - side][there] = new.subflow;
                            continue;
                        }
                    }
                }
            };
            assert!(segment.options <= 40, "options of {} bytes", segment.options);
            assert!(segment.ip_bytes() <= 1500.max(u32::from(at.cfg.mss) + 80), "{segment:?}");
            let leaves = self.transmit(Packet { flow, to: 1 - side, subflow, segment, options });
            let at = &mut self.flows[flow];
            if let Some(leaves) = leaves
                && segment.len > 0
            {
                match &mut at.sides {
                    Sides::Tcp(sides) => sides[side].leaves_at(self.now, leaves, segment.len),
                    Sides::Multipath(sides, _) => {
                        sides[side].leaves_at(number, self.now, leaves, segment.len);
                    }
                }
            }
        }
    }

    /// Runs the next event; returns whether there was one before `limit`.
    pub fn step(&mut self, limit: Time) -> bool {
        let packet = self.events.first_key_value().map_or(Time::MAX, |(key, _)| key.0);
        let sides = (0..self.flows.len()).flat_map(|flow| [(flow, 0), (flow, 1)]);
        let timer = sides.map(|(flow, side)| (self.flows[flow].next_timeout(side), flow, side)).min();
        let timer = timer.unwrap_or((Time::MAX, 0, 0));
        let next = packet.min(timer.0);
        if next > limit || next == Time::MAX {
            self.now = self.now.max(limit.min(next));
            return false;
        }
        self.now = self.now.max(next);
        if packet <= timer.0 {
            let Some((_, packet)) = self.events.pop_first() else { return false };
            self.receive(&packet);
            self.pump(packet.flow, packet.to);
        } else {
            let at = &mut self.flows[timer.1];
            match &mut at.sides {
                Sides::Tcp(sides) => sides[timer.2].on_timeout(&at.cfg, self.now),
                Sides::Multipath(sides, _) => {
                    sides[timer.2].on_timeout(at.multipath.as_ref().unwrap(), self.now);
                }
            }
            self.pump(timer.1, timer.2);
        }
        true
    }

    /// Delivers a packet to its side; a server closes when its client has finished.
    pub fn receive(&mut self, packet: &Packet) {
        let at = &mut self.flows[packet.flow];
        match &mut at.sides {
            Sides::Tcp(sides) => {
                let side = &mut sides[packet.to];
                side.on_segment(&at.cfg, self.now, &packet.segment);
                if packet.to == 1 && side.is_finished_by_peer() {
                    side.close();
                }
            }
            Sides::Multipath(sides, _) => {
                let cfg = at.multipath.as_ref().unwrap();
                let side = &mut sides[packet.to];
                side.on_segment(cfg, packet.subflow, self.now, &packet.segment, &packet.options);
                if packet.to == 1 && side.is_finished_by_peer() {
                    side.close();
                }
            }
        }
    }

    /// Runs until `done`, or until no event is left within `limit`; returns whether it is done.
    pub fn run_until(&mut self, limit: Duration, done: impl Fn(&Self) -> bool) -> bool {
        for flow in 0..self.flows.len() {
            self.pump(flow, 0);
            self.pump(flow, 1);
        }
        let end = self.now + limit;
        while !done(self) {
            if !self.step(end) {
                return done(self);
            }
        }
        true
    }

    /// Takes link `number` down from now on.
    pub fn cut(&mut self, number: usize) {
        self.cables[number].cable.down.push((self.now, Time::MAX));
    }

    /// Runs for `time`.
    pub fn run(&mut self, time: Duration) {
        self.run_until(time, |_| false);
    }
}
