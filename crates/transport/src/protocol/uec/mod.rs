//! Ultra Ethernet transport without I/O: reliable delivery over many paths, out of order.
//!
//! * [`Sender`]: packets by number, retransmissions (this file), losses (`losses.rs`); [`Receiver`]: which have arrived, and
//!   the answers (`receiver.rs`), for which the sender asks (`asking.rs`). They exchange [`Data`] and [`Reply`].
//! * Congestion control: `window.rs`; credit at the sender: `credit.rs` and `spending.rs`, at the receiver: `grants.rs`.
//!   Choice of paths: `entropy.rs`.
//! * [`Config`]: the parameters of both sides (`config.rs`).
//!
//! Nothing here reads a clock, and random numbers come from a seed, so that a connection gives the same packets for the
//! same inputs. Nothing panics, whatever a packet contains.

mod asking;
mod config;
mod credit;
mod entropy;
mod grants;
mod losses;
mod receiver;
mod span;
mod spending;
mod window;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use weft_units::{Duration, Rate, Time};

use crate::arrivals::Arrivals;
use crate::one_way::Sending;
use crate::protocol_config::ProtocolConfig as _;
use crate::stats::Stats;
pub use config::{Config, Congestion, LossDetection};
pub use entropy::EntropyChoice;
use entropy::{Entropies, Feedback};
pub use receiver::{Answer, CreditUpdate, Data, Receiver, Reply};
use span::SPAN;
use window::{Signal, Window};

/// The known state of a packet that was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    InFlight,
    /// To be sent again.
    Missing,
    Arrived,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// When it was sent last.
    at: Time,
    entropy: u16,
    /// How often it was sent before, modulo 256.
    attempt: u8,
    state: State,
    /// Whether it asked for an answer.
    asks: bool,
}

/// The source of a connection: packets by number, in any order over many paths.
///
/// It is small, since with many connections per host each packet reads it from main memory.
#[derive(Clone, Debug)]
pub struct Sender {
    /// The number of packets, and the payload of the last one.
    packets: u32,
    last: u16,
    /// All packets below have arrived.
    cumulative: u32,
    /// The lowest packet whose first transmission may be in flight.
    first: u32,
    /// Bytes of payload.
    in_flight: u32,
    /// Transmissions, retransmissions and timeouts so far.
    transmissions: u32,
    retransmissions: u32,
    timeouts: u32,
    /// Packets in flight that did not ask for an answer.
    unasked: u16,
    /// The packets from `cumulative` on that were sent.
    sent: VecDeque<Sent>,
    /// Which packets have arrived.
    arrivals: Arrivals,
    window: Window,
    entropies: Entropies,
    /// There is one as soon as a packet has been trimmed or was overdue.
    recovery: Option<Box<Recovery>>,
    /// There are some if another message was written.
    earlier: Option<Box<Earlier>>,
}

/// Packets that are sent more than once.
#[derive(Clone, Debug, Default)]
struct Recovery {
    /// Packets to send again, the lowest first; some may have arrived in the meantime.
    missing: BinaryHeap<Reverse<u32>>,
    /// Later transmissions in order of time, at least from the oldest one in flight on.
    again: VecDeque<(u32, Time)>,
}

/// Earlier messages some of whose packets have not arrived: the number of the packet after the last one, and the payload of
/// the last one.
#[derive(Clone, Debug, Default)]
struct Earlier(VecDeque<(u32, u16)>);

/// Packet `number` among those that were sent from `cumulative` on.
#[inline]
fn sent_at(sent: &VecDeque<Sent>, cumulative: u32, number: u32) -> Option<&Sent> {
    number.checked_sub(cumulative).and_then(|place| sent.get(place as usize))
}

impl Sender {
    /// A source of `bytes`, at most [`crate::Framing::largest_numbered_flow`], whose link has `rate`. `random` seeds its
    /// choice of paths.
    pub fn new(config: &Config, bytes: u64, rate: Rate, random: u64) -> Self {
        let (packets, last) = config.framing().numbered_packets(bytes);
        Self {
            packets,
            last,
            cumulative: 0,
            first: 0,
            in_flight: 0,
            transmissions: 0,
            retransmissions: 0,
            timeouts: 0,
            unasked: 0,
            sent: VecDeque::new(),
            arrivals: Arrivals::default(),
            window: Window::new(config, rate),
            entropies: Entropies::new(config.entropy_choice, config.entropies, random),
            recovery: None,
            earlier: None,
        }
    }

    /// Whether all packets have arrived.
    pub fn is_done(&self) -> bool {
        self.cumulative == self.packets
    }

    #[inline]
    fn size(&self, config: &Config, number: u32) -> u16 {
        let end = number.saturating_add(1);
        if end == self.packets { self.last } else { self.end_of_earlier(number).unwrap_or(config.mtu) }
    }

    /// The payload of a packet, if it is the last one of an earlier message.
    #[inline]
    fn end_of_earlier(&self, number: u32) -> Option<u16> {
        let Earlier(earlier) = &**self.earlier.as_ref()?;
        earlier.iter().find(|(end, _)| *end == number.saturating_add(1)).map(|(_, last)| *last)
    }

    /// The next packet number never sent.
    fn next(&self) -> u32 {
        self.cumulative + self.sent.len() as u32
    }

    /// Whether `answer` may be to a packet that was sent: its number, its attempt and its entropy value were in use.
    fn may_answer(&self, config: &Config, answer: &Answer) -> bool {
        let sent = sent_at(&self.sent, self.cumulative, answer.number);
        // Attempts count modulo 256.
        let was_made = |sent: &Sent| sent.attempt.wrapping_sub(answer.attempt) < 128;
        answer.number < self.next() && answer.entropy < config.entropies && sent.is_none_or(was_made)
    }

    fn sent(&mut self, number: u32) -> Option<&mut Sent> {
        number.checked_sub(self.cumulative).and_then(|place| self.sent.get_mut(place as usize))
    }

    /// Forgets packets to send again that have arrived in the meantime.
    fn tidy(&mut self) {
        let Some(recovery) = &mut self.recovery else { return };
        while let Some(Reverse(number)) = recovery.missing.peek() {
            let sent = sent_at(&self.sent, self.cumulative, *number);
            if sent.is_some_and(|sent| sent.state == State::Missing) {
                return;
            }
            recovery.missing.pop();
        }
    }

    /// The packet to send again next, if any.
    #[inline]
    fn missing(&self) -> Option<u32> {
        self.recovery.as_ref()?.missing.peek().map(|Reverse(number)| *number)
    }

    /// The number of the packet that the window allows to send next, if any.
    fn due(&self, config: &Config) -> Option<u32> {
        let new = || Some(self.next()).filter(|next| *next < self.packets && self.sent.len() < SPAN as usize);
        let number = self.missing().or_else(new)?;
        self.window.allows(self.in_flight, self.size(config, number)).then_some(number)
    }

    /// A packet of `bytes` is not in flight any more.
    #[inline]
    fn land(&mut self, bytes: u32, asks: bool) {
        self.in_flight -= bytes;
        self.unasked -= u16::from(!asks);
    }

    /// Counts packet `number` as arrived; returns its bytes if that is new.
    fn arrived(&mut self, config: &Config, number: u32) -> u32 {
        let bytes = u32::from(self.size(config, number));
        let Some(sent) = self.sent(number).filter(|sent| sent.state != State::Arrived) else { return 0 };
        let asks = sent.asks;
        if std::mem::replace(&mut sent.state, State::Arrived) == State::InFlight {
            self.land(bytes, asks);
        }
        self.arrivals.insert(number);
        bytes
    }

    /// A switch trimmed a packet: it is sent again before new ones.
    fn trimmed(&mut self, config: &Config, answer: &Answer, signal: Signal, now: Time) {
        let bytes = u32::from(self.size(config, answer.number));
        let Some(sent) = self.sent(answer.number) else { return };
        if sent.state != State::InFlight || sent.attempt != answer.attempt {
            return;
        }
        sent.state = State::Missing;
        let asks = sent.asks;
        self.land(bytes, asks);
        self.recovery.get_or_insert_default().missing.push(Reverse(answer.number));
        self.window.trimmed(config, Signal { bytes, ..signal }, now);
    }

    /// The oldest transmission in flight: its time, and the packet's number.
    fn oldest(&mut self) -> Option<(Time, u32)> {
        // First transmissions are in order of number.
        self.first = self.first.max(self.cumulative);
        let mut oldest = None;
        while let Some(sent) = self.sent(self.first).copied() {
            if sent.state == State::InFlight && sent.attempt == 0 {
                oldest = Some((sent.at, self.first));
                break;
            }
            self.first += 1;
        }
        self.forget();
        let again = self.recovery.as_ref().and_then(|recovery| recovery.again.front());
        let again = again.map(|(number, at)| (*at, *number));
        oldest.into_iter().chain(again).min()
    }

    /// Forgets later transmissions before that of the oldest one in flight.
    fn forget(&mut self) {
        let Some(recovery) = &mut self.recovery else { return };
        while let Some((number, at)) = recovery.again.front() {
            let sent = sent_at(&self.sent, self.cumulative, *number);
            if sent.is_some_and(|sent| sent.state == State::InFlight && sent.at == *at) {
                return;
            }
            recovery.again.pop_front();
        }
    }

    /// An answer arrives.
    fn answered(&mut self, config: &Config, now: Time, answer: &Answer) {
        if !self.may_answer(config, answer) {
            return;
        }
        if let Some(credit) = self.window.credit_mut() {
            credit.heard(now);
        }
        let feedback = match (answer.is_trimmed, answer.is_marked) {
            (true, _) => Feedback::Trimmed,
            (_, true) => Feedback::Marked,
            _ => Feedback::Good,
        };
        if !answer.is_requested {
            self.entropies.learn(answer.entropy, feedback, now);
        }
        let of_attempt =
            self.sent(answer.number).filter(|sent| sent.attempt == answer.attempt && !answer.is_requested);
        let rtt = of_attempt.map(|sent| now.saturating_since(sent.at)).filter(|rtt| *rtt > Duration::ZERO);
        let is_full = self.size(config, answer.number) == config.mtu;
        let mut bytes = 0;
        for number in self.cumulative..answer.cumulative.min(self.next()) {
            bytes += self.arrived(config, number);
        }
        let mut news = answer.bitmap & !self.arrivals.up_to(answer.number);
        while news != 0 {
            let behind = news.trailing_zeros();
            news &= news - 1;
            if let Some(number) = answer.number.checked_sub(behind) {
                bytes += self.arrived(config, number);
            }
        }
        while self.sent.front().is_some_and(|sent| sent.state == State::Arrived) {
            self.sent.pop_front();
            self.cumulative += 1;
        }
        if let Some(earlier) = &mut self.earlier {
            while earlier.0.front().is_some_and(|(end, _)| *end <= self.cumulative) {
                earlier.0.pop_front();
            }
        }
        let is_marked = answer.is_marked;
        let signal = Signal { bytes, is_marked, rtt, is_full, in_flight: self.in_flight };
        if !answer.is_trimmed || bytes > 0 {
            self.window.acknowledged(config, signal, now);
        }
        if answer.is_trimmed {
            self.trimmed(config, answer, signal, now);
        }
        if config.loss_detection == LossDetection::Distance {
            self.find_lost(config, now);
        }
        self.tidy();
    }
}

impl Sending for Sender {
    type Config = Config;
    type Data = Data;
    type Answer = Reply;

    fn write(&mut self, config: &Config, bytes: u64) {
        let (packets, last) = config.framing().numbered_packets(bytes);
        if self.is_done()
            && let Some(credit) = self.window.credit_mut()
        {
            credit.ask();
        }
        self.earlier.get_or_insert_default().0.push_back((self.packets, self.last));
        self.packets = self.packets.saturating_add(packets);
        self.last = last;
    }

    #[inline]
    fn receive(&mut self, config: &Config, now: Time, reply: &Reply) {
        match reply {
            Reply::Answer(answer) => self.answered(config, now, answer),
            Reply::Credit(credit) => self.credited(credit, now),
        }
    }

    #[inline]
    fn sends_at(&mut self, config: &Config) -> Option<Time> {
        let sends = self.due(config).is_some() || self.is_asking() || self.wants_answers(config);
        sends.then_some(Time::ZERO)
    }

    fn poll_transmit(&mut self, config: &Config, now: Time) -> Option<Data> {
        if self.is_asking() {
            return self.request(config);
        }
        let Some(number) = self.due(config) else {
            return self.wants_answers(config).then(|| self.request_answers()).flatten();
        };
        let entropy = self.entropies.choose();
        let bytes = self.size(config, number);
        let is_again = number < self.next();
        if let Some(recovery) = self.recovery.as_mut().filter(|_| is_again) {
            recovery.missing.pop();
            recovery.again.push_back((number, now));
        } else {
            self.sent.push_back(Sent { at: now, entropy, attempt: 0, state: State::InFlight, asks: true });
        }
        let sent = self.sent(number)?;
        if is_again {
            let attempt = sent.attempt.wrapping_add(1);
            *sent = Sent { at: now, entropy, attempt, state: State::InFlight, asks: true };
        }
        let attempt = sent.attempt;
        if is_again {
            self.tidy();
            let transmissions = self.recovery.as_ref().map_or(0, |recovery| recovery.again.len());
            if transmissions > 2 * self.sent.len() + 64 {
                self.forget();
            }
        }
        self.in_flight += u32::from(bytes);
        self.transmissions += 1;
        self.retransmissions += u32::from(is_again);
        let target = if config.grants_credit() { self.spend(config, bytes) } else { 0 };
        let asks = self.asks(config, number, is_again);
        Some(Data { number, bytes, entropy, attempt, asks, target, is_request: false })
    }

    fn next_timeout(&mut self, config: &Config) -> Time {
        let overdue = self.oldest().map_or(Time::MAX, |(at, _)| at + config.rto());
        if config.grants_credit() { overdue.min(self.wakes_at(config)) } else { overdue }
    }

    /// Packets that are overdue will be sent again.
    fn on_timeout(&mut self, config: &Config, now: Time) {
        while let Some((at, number)) = self.oldest() {
            if at + config.rto() > now {
                break;
            }
            self.lose(config, number, Feedback::TimedOut, now);
            self.timeouts += 1;
        }
        if config.grants_credit() && self.wakes_at(config) <= now {
            self.wake(now);
        }
    }

    #[inline]
    fn acked(&self) -> u64 {
        self.cumulative.into()
    }

    fn window(&self, _config: &Config) -> Option<u64> {
        Some(self.window.bytes(self.in_flight))
    }

    fn stats(&self) -> Stats {
        Stats {
            data_segments_sent: self.transmissions,
            retransmissions: self.retransmissions,
            timeouts: self.timeouts,
            ..Stats::default()
        }
    }

    fn heap_bytes(&self) -> usize {
        let recovery = self.recovery.as_ref().map_or(0, |recovery| {
            size_of::<Recovery>()
                + recovery.again.capacity() * size_of::<(u32, Time)>()
                + recovery.missing.capacity() * size_of::<u32>()
        });
        let earlier = self.earlier.as_ref();
        self.sent.capacity() * size_of::<Sent>()
            + recovery
            + earlier
                .map_or(0, |earlier| size_of::<Earlier>() + earlier.0.capacity() * size_of::<(u32, u16)>())
            + self.arrivals.heap_bytes()
            + self.entropies.heap_bytes()
            + self.window.heap_bytes()
    }
}
