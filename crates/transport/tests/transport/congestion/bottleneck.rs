//! [`share`]: queue pairs whose lines meet at one line of the same rate, with a FIFO queue without limit.

use std::collections::{BTreeMap, VecDeque};

use weft_transport::roce::{Ack, Config, Data, Hop, Path, Receiver, Sender};
use weft_transport::{Arrival, ProtocolConfig as _, Receiving, Sending};
use weft_units::{Bytes, Duration, Rate, Time};

/// All lines.
#[derive(Clone, Copy)]
pub struct Lines {
    /// Their rate.
    pub rate: Rate,
    /// The time from a sender to the queue, and that from there to the receiver; acknowledgements take as long as both.
    pub way: Duration,
}

/// Lines of 100 Gbps with a round trip of 8 us.
pub const FAST: Lines = Lines { rate: Rate::from_gbps(100), way: Duration::from_us(2) };
/// Bytes of a frame besides an IP packet: header, check sequence, preamble, gap.
const FRAME: u32 = 38;

/// What the senders attain from a time on.
#[derive(Debug, Default)]
pub struct Shared {
    /// Payload in bits per second, for each sender.
    pub rates: Vec<f64>,
    /// The share of the line's time in which it sends.
    pub utilisation: f64,
    /// The mean and the longest queue in bytes that a packet leaves behind.
    pub queue: (f64, u64),
    /// The shortest, the mean and the longest round-trip time.
    pub round_trips: [Duration; 3],
}

impl Shared {
    /// Jain's index of the rates: 1 if they are equal.
    pub fn fairness(&self) -> f64 {
        let squares: f64 = self.rates.iter().map(|rate| rate * rate).sum();
        self.rates.iter().sum::<f64>().powi(2) / squares / self.rates.len() as f64
    }
}

enum Event {
    Sends(usize),
    Queues(usize, Data),
    Leaves,
    Arrives(usize, Data),
    Returns(usize, Ack),
}

/// The bytes on the wire of a packet.
fn wire(config: &Config, data: &Data) -> u64 {
    u64::from(u32::from(data.payload) + config.framing().headers + FRAME)
}

/// The path of each sender.
pub fn path(config: &Config, lines: Lines) -> Path {
    let full = u64::from(u32::from(config.mtu) + config.framing().headers + FRAME);
    let round_trip = lines.way * 4 + lines.rate.tx_time(Bytes(full)) * 2;
    Path { line: lines.rate, round_trip, switches: 1 }
}

/// The events of a run, in order.
#[derive(Default)]
struct Events {
    all: BTreeMap<(Time, u64), Event>,
    added: u64,
    /// The next event at which a sender sends.
    wakes: Vec<Time>,
}

impl Events {
    fn add(&mut self, at: Time, event: Event) {
        self.added += 1;
        self.all.insert((at, self.added), event);
    }

    /// A sender may send at `at`.
    fn wake(&mut self, at: Time, sender: usize) {
        if at < self.wakes[sender] {
            self.wakes[sender] = at;
            self.add(at, Event::Sends(sender));
        }
    }

    /// The next event; one at which a sender no longer sends is none.
    fn next(&mut self) -> Option<(Time, Event)> {
        let ((now, _), event) = self.all.pop_first()?;
        match event {
            Event::Sends(sender) if self.wakes[sender] != now => self.next(),
            Event::Sends(sender) => {
                self.wakes[sender] = Time::MAX;
                Some((now, event))
            }
            _ => Some((now, event)),
        }
    }
}

/// The line at which all meet.
#[derive(Default)]
struct Meeting {
    queue: VecDeque<(usize, Data)>,
    waiting: u64,
    sent: u64,
    is_busy: bool,
}

impl Meeting {
    /// The next packet leaves the queue, with its bytes on the wire.
    fn serve(&mut self, config: &Config, rate: Rate, now: Time) -> Option<(usize, Data, u64)> {
        let (sender, mut data) = self.queue.pop_front()?;
        let bytes = wire(config, &data);
        self.waiting -= bytes;
        if let Some(telemetry) = &mut data.telemetry {
            telemetry.add(Hop { link: 0, rate, at: now, sent: self.sent, queued: self.waiting });
        }
        (self.sent, self.is_busy) = (self.sent + bytes, true);
        Some((sender, data, bytes))
    }
}

/// Lets `count` senders that never stop share the line until `until`, and observes them from `from` on.
pub fn share(config: &Config, lines: Lines, count: usize, [from, until]: [Duration; 2]) -> Shared {
    config.validate().expect("valid parameters");
    let [from, until] = [from, until].map(|time| Time::ZERO + time);
    let start = |_| Sender::new(config, 1 << 31, None, &path(config, lines), Time::ZERO);
    let mut senders: Vec<Sender> = (0..count).map(start).collect();
    let mut receivers = vec![Receiver::default(); count];
    let mut events = Events { wakes: vec![Time::MAX; count], ..Events::default() };
    let (mut free, mut line) = (vec![Time::ZERO; count], Meeting::default());
    let (mut delivered, mut sent_before) = (vec![0; count], 0);
    let (mut queues, mut trips) = (Vec::new(), Vec::new());
    (0..count).for_each(|sender| events.wake(Time::ZERO, sender));
    while let Some((now, event)) = events.next().filter(|(now, _)| *now < until) {
        let is_observed = now >= from;
        let mut woken = None;
        match event {
            Event::Sends(sender) => woken = Some(sender),
            Event::Queues(sender, data) => {
                line.waiting += wire(config, &data);
                line.queue.push_back((sender, data));
            }
            Event::Leaves => line.is_busy = false,
            Event::Arrives(sender, data) => {
                delivered[sender] += u64::from(is_observed) * u64::from(data.payload);
                if let Some(ack) = receivers[sender].receive(config, now, &data, Arrival::default()) {
                    events.add(now + lines.way * 2, Event::Returns(sender, ack));
                }
            }
            Event::Returns(sender, ack) => {
                trips.extend(is_observed.then(|| now.saturating_since(ack.echo)));
                senders[sender].receive(config, now, &ack);
                woken = Some(sender);
            }
        }
        if !line.is_busy
            && let Some((sender, data, bytes)) = line.serve(config, lines.rate, now)
        {
            queues.extend(is_observed.then_some(line.waiting));
            sent_before = if is_observed { sent_before } else { line.sent };
            let leaves = now + lines.rate.tx_time(Bytes(bytes));
            events.add(leaves, Event::Leaves);
            events.add(leaves + lines.way, Event::Arrives(sender, data));
        }
        let Some(number) = woken else { continue };
        let sender = &mut senders[number];
        let Some(at) = sender.sends_at(config).map(|at| at.max(free[number])) else { continue };
        if at > now {
            events.wake(at, number);
            continue;
        }
        let data = sender.poll_transmit(config, now).expect("a packet");
        let bytes = wire(config, &data);
        let time = lines.rate.tx_time(Bytes(bytes));
        sender.sent(config, now, bytes as u32, time);
        free[number] = now + time;
        events.add(now + time + lines.way, Event::Queues(number, data));
        events.wake(free[number], number);
    }
    let time = until.saturating_since(from).as_secs_f64();
    let mean = trips.iter().map(|trip| u128::from(trip.ps())).sum::<u128>() / trips.len().max(1) as u128;
    Shared {
        rates: delivered.iter().map(|bytes| *bytes as f64 * 8.0 / time).collect(),
        utilisation: (line.sent - sent_before) as f64 * 8.0 / time / lines.rate.bps() as f64,
        queue: (
            queues.iter().sum::<u64>() as f64 / queues.len().max(1) as f64,
            queues.iter().copied().max().unwrap_or_default(),
        ),
        round_trips: [
            trips.iter().copied().min().unwrap_or_default(),
            Duration::from_ps(mean as u64),
            trips.iter().copied().max().unwrap_or_default(),
        ],
    }
}
