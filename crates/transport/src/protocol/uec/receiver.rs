//! [`Receiver`]: the destination of a connection, and the packets of both ends, [`Data`] and [`Reply`].

use weft_units::Time;

use super::config::Config;
use super::credit::QUANTUM;
use super::grants::Grants;
use super::span::SPAN;
use crate::arrivals::Arrivals;
use crate::machine::Arrival;
use crate::one_way::Receiving;
use crate::protocol_config::ProtocolConfig as _;
use crate::stats::Stats;

/// A data packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Data {
    /// Its number, from 0.
    pub number: u32,
    /// Bytes of payload; 0 if a switch trimmed it.
    pub bytes: u16,
    /// Its entropy value.
    pub entropy: u16,
    /// How often it has been sent before, modulo 256: an answer repeats it, so that the sender knows which transmission it
    /// concerns.
    pub attempt: u8,
    /// Whether the receiver should answer at once.
    pub asks: bool,
    /// Up to where the sender wants credit.
    pub target: u32,
    /// Whether it is only a request, without payload: if it `asks`, for answers to the packets up to `number`, otherwise for
    /// credit, without a number.
    pub is_request: bool,
}

/// A packet of the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reply {
    /// An answer to a data packet.
    Answer(Answer),
    /// Credit.
    Credit(CreditUpdate),
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}

/// The credit that a receiver has granted so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CreditUpdate {
    /// The credit in all, in units of 256 bytes of IP packets, modulo 2^32.
    pub granted: u32,
    /// The entropy value of the packet.
    pub path: u16,
}

/// A receiver's answer to a data packet, or to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    /// The number of the packet that it answers; in the answer to a request, one whose bitmap starts no later than the first
    /// missing packet.
    pub number: u32,
    /// All packets below this number have arrived.
    pub cumulative: u32,
    /// Which packets have arrived: bit i is for the packet `number - i`.
    pub bitmap: u64,
    /// The entropy value of the packet.
    pub entropy: u16,
    /// Its attempt.
    pub attempt: u8,
    /// The entropy value of the answer itself.
    pub path: u16,
    /// Whether it arrived with a congestion mark.
    pub is_marked: bool,
    /// Whether it arrived trimmed and is still missing (NACK).
    pub is_trimmed: bool,
    /// Whether it answers a request: entropy value, attempt, mark and round-trip time are no data packet's.
    pub is_requested: bool,
}

/// The destination of a connection: which packets have arrived, and the answers to them.
#[derive(Clone, Debug)]
pub struct Receiver {
    arrivals: Arrivals,
    packets: u32,
    /// The highest number received, plus one.
    next: u32,
    bytes: u64,
    /// Bytes of payload that have arrived, without repetitions.
    received: u64,
    /// Bytes since the last answer.
    unanswered: u64,
    /// First transmissions that arrived, of these those below a higher number, and packets with a congestion mark.
    first_transmissions: u32,
    out_of_order: u32,
    marks: u32,
    /// Packets with a number that no sender gives.
    impossible: u32,
    grants: Grants,
    /// The entropy value of the next answer: answers take all paths in turn.
    path: u16,
    /// Whether an answer is wanted when no packet is missing any more.
    is_asked: bool,
    /// Packets below this number are answered at once.
    requested: u32,
    /// Whether its host has it in line to grant credit in advance.
    pub is_in_line: bool,
}

impl Receiver {
    /// The destination of a connection without messages yet, whose first answer has the entropy value `path`.
    pub fn new(path: u16) -> Self {
        Self {
            arrivals: Arrivals::default(),
            packets: 0,
            next: 0,
            bytes: 0,
            received: 0,
            unanswered: 0,
            first_transmissions: 0,
            out_of_order: 0,
            marks: 0,
            impossible: 0,
            grants: Grants::default(),
            path,
            is_asked: false,
            requested: 0,
            is_in_line: false,
        }
    }

    /// So many messages of `bytes` follow. All messages together have at most [`crate::Framing::largest_numbered_flow`].
    pub fn append(&mut self, config: &Config, bytes: u64, messages: u64) {
        self.bytes = self.bytes.saturating_add(bytes.saturating_mul(messages));
        let packets = u64::from(config.framing().numbered_packets(bytes).0).saturating_mul(messages);
        self.packets = self.packets.saturating_add(u32::try_from(packets).unwrap_or(u32::MAX));
    }

    /// Whether all packets have arrived.
    pub fn is_done(&self) -> bool {
        self.arrivals.first_missing() == self.packets
    }

    /// Whether its sender waits for credit.
    #[inline]
    pub fn wants_credit(&self) -> bool {
        self.grants.is_due() && !self.is_done()
    }

    /// Whether its sender, which does not wait for credit, may have some in advance, at most so many bytes.
    pub fn may_grant_in_advance(&self, most: u64) -> bool {
        self.grants.may_idle(most) && !self.is_done()
    }

    /// Grants credit: how many bytes, and the packet that says so.
    pub fn grant(&mut self, config: &Config) -> (u32, CreditUpdate) {
        let (more, granted) = self.grants.grant(config);
        (more * QUANTUM, CreditUpdate { granted, path: self.next_path(config) })
    }

    fn next_path(&mut self, config: &Config) -> u16 {
        let path = self.path;
        self.path = (path + 1) % config.entropies;
        path
    }

    /// Notes the credit that the sender of `data` wants.
    fn note_target(&mut self, config: &Config, data: &Data, is_missing: bool) {
        self.grants.want(data.target);
        if is_missing {
            self.grants.want_again(config.ip_bytes(config.mtu));
        }
    }

    /// Whether no sender gives a packet this number, which is counted.
    #[inline]
    fn is_impossible(&mut self, number: u32) -> bool {
        let is_impossible =
            number >= self.packets || number.saturating_sub(self.arrivals.first_missing()) > SPAN;
        self.impossible += u32::from(is_impossible);
        is_impossible
    }

    /// A request for answers to the packets up to `number`. Returns one about those that have arrived; each other one is
    /// answered when it arrives.
    fn requested(&mut self, config: &Config, number: u32) -> Option<Answer> {
        if self.is_impossible(number) {
            return None;
        }
        self.requested = self.requested.max(number + 1);
        let cumulative = self.arrivals.first_missing();
        let number = self.next.checked_sub(1)?.min(cumulative + (u64::BITS - 1));
        self.unanswered = 0;
        Some(Answer {
            path: self.next_path(config),
            number,
            cumulative,
            bitmap: self.arrivals.up_to(number),
            is_requested: true,
            ..Answer::default()
        })
    }

    /// The answer to a packet, if it is time for one.
    pub fn answer(&mut self, config: &Config, data: &Data, arrival: Arrival) -> Option<Answer> {
        let Arrival { is_marked, is_trimmed } = arrival;
        let number = data.number;
        if self.is_impossible(number) {
            return None;
        }
        let is_new = !self.arrivals.contains(number);
        if config.grants_credit() {
            self.note_target(config, data, is_new && is_trimmed);
        }
        let mut answers = true;
        if !is_trimmed {
            self.marks += u32::from(is_marked);
            if data.attempt == 0 {
                self.first_transmissions += 1;
                self.out_of_order += u32::from(number < self.next);
            }
            self.next = self.next.max(number + 1);
        }
        if is_new && !is_trimmed {
            let is_first = self.received == 0;
            self.received += u64::from(data.bytes);
            self.unanswered += u64::from(data.bytes);
            self.is_asked |= data.asks;
            self.arrivals.insert(number);
            let is_complete = self.is_asked && !self.arrivals.has_gap();
            self.is_asked &= !is_complete;
            let is_asked = data.asks || is_complete || number < self.requested;
            answers = is_marked || is_first || is_asked || self.unanswered >= config.ack_bytes.0;
        }
        if !answers {
            return None;
        }
        self.unanswered = 0;
        Some(Answer {
            path: self.next_path(config),
            number,
            cumulative: self.arrivals.first_missing(),
            bitmap: self.arrivals.up_to(number),
            entropy: data.entropy,
            attempt: data.attempt,
            is_marked,
            is_trimmed: is_trimmed && is_new,
            is_requested: false,
        })
    }
}

impl Receiving for Receiver {
    type Config = Config;
    type Data = Data;
    type Answer = Reply;

    #[inline]
    fn receive(&mut self, config: &Config, _now: Time, data: &Data, arrival: Arrival) -> Option<Reply> {
        if data.is_request && data.asks {
            return self.requested(config, data.number).map(Reply::Answer);
        }
        if data.is_request {
            self.grants.want(data.target);
            self.grants.owe();
            return None;
        }
        self.answer(config, data, arrival).map(Reply::Answer)
    }

    /// The number of packets that have arrived without one missing before.
    #[inline]
    fn delivered(&self) -> u64 {
        self.arrivals.first_missing().into()
    }

    /// Bytes of payload that have arrived, without repetitions.
    fn received_bytes(&self, _config: &Config) -> u64 {
        self.received.min(self.bytes)
    }

    fn stats(&self) -> Stats {
        Stats {
            first_transmissions_received: self.first_transmissions,
            out_of_order: self.out_of_order,
            ecn_marks: self.marks,
            impossible: self.impossible,
            ..Stats::default()
        }
    }

    fn heap_bytes(&self) -> usize {
        self.arrivals.heap_bytes()
    }
}

#[cfg(test)]
mod tests {
    use weft_units::Bytes;

    use super::*;

    fn config(ack_bytes: u64) -> Config {
        Config { ack_bytes: Bytes(ack_bytes), ..Config::default() }
    }

    fn data(number: u32) -> Data {
        Data { number, bytes: 4096, ..Data::default() }
    }

    fn receiver(config: &Config, packets: u64) -> Receiver {
        let mut receiver = Receiver::new(0);
        receiver.append(config, packets * 4096, 1);
        receiver
    }

    #[test]
    fn an_answer_has_the_packets_up_to_its_own() {
        // Packets in order of arrival, the cumulative number after the last one, and which of those up to the last
        // one have arrived.
        let cases: [(&[u32], u32, &[u32]); 6] = [
            (&[0], 1, &[0]),
            (&[0, 1, 2], 3, &[0, 1, 2]),
            (&[1], 0, &[1]),
            (&[3, 1, 2], 0, &[1, 2]),
            (&[3, 1, 2, 0], 4, &[0]),
            (&[0, 70, 63, 64, 66], 1, &[0, 63, 64, 66]),
        ];
        for (arrivals, cumulative, known) in cases {
            let config = config(0);
            let mut receiver = receiver(&config, 100);
            let answers: Vec<_> = arrivals
                .iter()
                .map(|number| receiver.answer(&config, &data(*number), Arrival::default()).unwrap())
                .collect();
            let last = answers.last().unwrap();
            let seen: Vec<_> = (0..=last.number)
                .filter(|number| last.number - number < 64 && last.bitmap >> (last.number - number) & 1 == 1)
                .collect();
            let expected: Vec<_> = known.iter().copied().filter(|number| last.number - number < 64).collect();
            assert_eq!((last.cumulative, seen), (cumulative, expected), "{arrivals:?}");
        }
    }

    #[test]
    fn the_bitmap_agrees_with_a_set_at_any_offset() {
        let config = config(0);
        let mut receiver = receiver(&config, 400);
        let mut set = std::collections::BTreeSet::new();
        for step in 0..400_u32 {
            let number = step * 37 % 400;
            let answer = receiver.answer(&config, &data(number), Arrival::default()).unwrap();
            set.insert(number);
            let expected = (0..64)
                .filter(|behind| number.checked_sub(*behind).is_some_and(|before| set.contains(&before)))
                .fold(0, |bits, behind| bits | 1_u64 << behind);
            assert_eq!(answer.bitmap, expected, "after {number}");
            assert_eq!(answer.cumulative, (0..).find(|number| !set.contains(number)).unwrap());
        }
        assert!(receiver.is_done());
        assert_eq!(receiver.received_bytes(&config), 400 * 4096);
    }

    #[test]
    fn answers_come_for_each_so_many_bytes_and_at_once_when_something_is_odd() {
        let config = config(16_384);
        let mut receiver = receiver(&config, 100);
        let mut answers = |data, is_marked, is_trimmed| {
            receiver.answer(&config, &data, Arrival { is_marked, is_trimmed }).map(|answer| answer.is_trimmed)
        };
        assert_eq!(answers(data(0), false, false), Some(false), "the first packet");
        let quiet = [1, 2, 3].map(|number| answers(data(number), false, false));
        assert_eq!(quiet, [None; 3]);
        assert_eq!(answers(data(4), false, false), Some(false), "16 KiB");
        assert_eq!(answers(data(5), true, false), Some(false), "a mark");
        assert_eq!(answers(data(7), false, true), Some(true), "a trimmed packet");
        assert_eq!(answers(data(5), false, false), Some(false), "a packet that came twice");
        assert_eq!(answers(data(5), false, true), Some(false), "a trimmed packet that came before");
        assert_eq!(answers(Data { asks: true, ..data(8) }, false, false), Some(false), "asked");
        assert_eq!(answers(data(6), false, false), None);
        assert_eq!(answers(data(7), false, false), Some(false), "asked before, and now nothing is missing");
    }

    /// A request for answers to the packets up to `number`.
    fn request(number: u32) -> Data {
        Data { number, asks: true, is_request: true, ..Data::default() }
    }

    #[test]
    fn a_request_is_answered_and_so_is_each_packet_up_to_its_number() {
        let config = config(16_384);
        let mut receiver = receiver(&config, 200);
        let mut receive = |data: Data| {
            let reply = receiver.receive(&config, Time::ZERO, &data, Arrival::default())?;
            let Reply::Answer(answer) = reply else { return None };
            Some((answer.number, answer.cumulative, answer.bitmap, answer.is_requested))
        };
        assert_eq!(receive(request(5)), None, "nothing has arrived");
        assert_eq!(receive(data(0)), Some((0, 1, 1, false)));
        assert_eq!(receive(data(2)), Some((2, 1, 0b101, false)), "up to packet 5");
        assert_eq!([6, 7].map(|number| receive(data(number))), [None; 2]);
        assert_eq!(receive(request(9)), Some((7, 1, 0b1010_0011, true)));
        assert_eq!(receive(data(8)), Some((8, 1, 0b1_0100_0111, false)));
        assert_eq!(receive(data(10)), None);
        // The bitmap has 64 packets: those from the first missing one on.
        assert_eq!(receive(data(99)), None);
        assert_eq!(receive(request(99)), Some((64, 1, 0b1_0001_1101 << 54, true)));
    }

    #[test]
    fn packets_that_the_flow_does_not_have_are_ignored() {
        let config = config(0);
        let mut receiver = receiver(&config, 100_000);
        for number in [100_000, u32::MAX, SPAN + 1] {
            assert_eq!(receiver.answer(&config, &data(number), Arrival::default()), None);
            let reply = receiver.receive(&config, Time::ZERO, &request(number), Arrival::default());
            assert_eq!(reply, None);
        }
        assert_eq!((receiver.received_bytes(&config), receiver.heap_bytes()), (0, 0));
        assert_eq!(receiver.stats().impossible, 6);
    }
}
