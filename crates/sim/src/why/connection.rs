//! [`Connection`]: the packets of a connection, as a run recorded them.

use std::collections::{BTreeMap, VecDeque};

use weft_switching::DropReason;
use weft_units::{LinkId, Time};

/// A packet's passage over one link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// The link.
    pub link: LinkId,
    /// When the packet was handed to the link's queue.
    pub sent: Time,
    /// When its first bit left the queue and when its last bit reached the far end; `None` if it did not.
    pub crossed: Option<(Time, Time)>,
}

/// How a packet ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Dropped, or without its payload at the destination; at the queue of this link, if at one.
    Lost(DropReason, Option<LinkId>),
    /// A host received it.
    Delivered,
    /// It is a copy that a switch sent and another packet of the same content came first, or it reached the switch it was
    /// meant for.
    Spent,
}

/// The direction of a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Direction {
    /// From the source of the flow to its destination.
    Forward,
    /// From the destination to the source.
    Back,
}

impl Direction {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Back => "back",
        }
    }
}

/// The type of a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PacketType {
    /// The first packet of TCP's handshake.
    Syn,
    /// The second packet of TCP's handshake.
    SynAck,
    /// Data.
    Data,
    /// An acknowledgement, or another packet without data.
    Ack,
    /// A negative acknowledgement of RoCE.
    Nak,
    /// A negative acknowledgement of Ultra Ethernet.
    Nack,
    /// Credit of Ultra Ethernet, or a request for it.
    Credit,
}

impl PacketType {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syn => "SYN",
            Self::SynAck => "SYN+ACK",
            Self::Data => "data",
            Self::Ack => "ACK",
            Self::Nak => "NAK",
            Self::Nack => "NACK",
            Self::Credit => "credit",
        }
    }
}

/// The loss of a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Loss {
    /// The type of the packet.
    pub packet_type: PacketType,
    /// Its direction.
    pub direction: Direction,
    /// The link that lost it, if one did.
    pub link: Option<LinkId>,
}

/// One packet. Every copy of a flooded packet is a packet of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Journey {
    /// Whether the source of the flow sent it.
    pub is_from_source: bool,
    /// Its type.
    pub packet_type: PacketType,
    /// Whether it carries data or, of the source, opens the connection: its loss delays the flow.
    pub is_needed: bool,
    /// The number of its subflow.
    pub subflow: u8,
    /// The first and the next position of what it carries, from the first one recorded: bytes for TCP, else packets.
    pub positions: [i64; 2],
    /// Of a packet of the destination: the position up to which it acknowledges.
    pub acknowledges: Option<i64>,
    /// The packet of the same subflow that carried the same positions before: this one repeats it.
    pub repeats: Option<usize>,
    /// Whether a queue marked it.
    pub is_marked: bool,
    /// At the source: from when on it waited for its turn, and from when on its rate let it send.
    pub waited: Option<[Time; 2]>,
    /// The links that it was handed to, in order; at least one.
    pub hops: Vec<Hop>,
    /// When and how it ended; `None` if the run ended first.
    pub end: Option<(Time, Fate)>,
}

impl Journey {
    /// Whether it is part of the handshake: a SYN, with or without ACK.
    pub const fn is_handshake(&self) -> bool {
        matches!(self.packet_type, PacketType::Syn | PacketType::SynAck)
    }

    /// Its direction.
    pub const fn direction(&self) -> Direction {
        if self.is_from_source { Direction::Forward } else { Direction::Back }
    }

    /// When it left its host's protocol.
    pub fn sent(&self) -> Time {
        self.hops.first().map_or(Time::ZERO, |hop| hop.sent)
    }

    /// When its host received it.
    pub fn delivered(&self) -> Option<Time> {
        self.end.and_then(|(at, fate)| (fate == Fate::Delivered).then_some(at))
    }

    /// Its loss, if it was lost.
    pub const fn loss(&self) -> Option<Loss> {
        match self.end {
            Some((_, Fate::Lost(_, link))) => {
                Some(Loss { packet_type: self.packet_type, direction: self.direction(), link })
            }
            _ => None,
        }
    }
}

/// The packets of a connection in the order in which they were sent.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// The packets that are not forgotten.
    pub journeys: VecDeque<Journey>,
    /// The number of the first of them.
    pub first: usize,
    /// The times that are to be explained now. Packets that have ended outside of them are forgotten.
    pub asked: usize,
    /// The congestion window of the source in bytes, whenever it changed.
    pub windows: Vec<(Time, u64)>,
    /// When the source got parts of its messages from another rank, in order.
    pub parts: Vec<Time>,
    /// The packet of the source that carried these positions of a subflow last, by subflow and first position.
    latest: BTreeMap<(u8, i64), usize>,
    /// The last sequence number seen, its position, and which side counted it: by subflow and side.
    counted: BTreeMap<(u8, bool), (u32, i64)>,
    /// Whether more packets were sent than are recorded.
    pub is_cut: bool,
}

impl Connection {
    /// The most packets that are recorded.
    pub const MOST: usize = 2_000_000;
    /// So many packets are sent after a lost one before it is forgotten.
    const AFTER_LOSS: usize = 256;

    /// No packet yet; none will be forgotten.
    pub fn kept() -> Self {
        Self { asked: 1, ..Self::default() }
    }

    /// The position of a sequence number that the source counts (`is_of_source`) or the destination: the first one that is
    /// seen has position 0.
    pub fn position(&mut self, subflow: u8, is_of_source: bool, number: u32) -> i64 {
        let (last, position) = self.counted.entry((subflow, is_of_source)).or_insert((number, 0));
        *position += i64::from(number.wrapping_sub(*last) as i32);
        *last = number;
        *position
    }

    /// Adds a packet; returns its number.
    pub fn add(&mut self, mut journey: Journey) -> Option<usize> {
        if self.journeys.len() >= Self::MOST {
            self.is_cut = true;
            return None;
        }
        let number = self.first + self.journeys.len();
        if journey.is_from_source && journey.is_needed {
            let [first, _] = journey.positions;
            let before = self.latest.range(..=(journey.subflow, first)).next_back();
            journey.repeats = before.map(|(_, earlier)| *earlier).filter(|earlier| {
                self.journey(*earlier)
                    .is_some_and(|earlier| earlier.subflow == journey.subflow && earlier.positions[1] > first)
            });
            self.latest.insert((journey.subflow, first), number);
        }
        self.journeys.push_back(journey);
        Some(number)
    }

    /// Adds the number of data packets sent from `start` to `end` that waited in the queue of each link, and the sum of their time
    /// there.
    pub fn add_waits(&self, start: Time, end: Time, waits: &mut BTreeMap<LinkId, [u64; 2]>) {
        let is_own = |journey: &&Journey| {
            journey.is_from_source
                && journey.packet_type == PacketType::Data
                && (start..=end).contains(&journey.sent())
        };
        for hop in self.journeys.iter().filter(is_own).flat_map(|journey| &journey.hops) {
            let waited = hop.crossed.map_or(0, |(left, _)| left.saturating_since(hop.sent).ps());
            if waited > 0 {
                let [packets, ps] = waits.entry(hop.link).or_default();
                *packets += 1;
                *ps += waited;
            }
        }
    }

    /// A packet by its number, unless it is forgotten.
    pub fn journey(&self, number: usize) -> Option<&Journey> {
        self.journeys.get(number.checked_sub(self.first)?)
    }

    /// The same, to change it.
    pub fn journey_mut(&mut self, number: usize) -> Option<&mut Journey> {
        self.journeys.get_mut(number.checked_sub(self.first)?)
    }

    /// Forgets the first packets that have ended, unless some time is to be explained. A lost one is kept for a while: another
    /// may repeat it.
    pub fn forget(&mut self) {
        let is_over = |journey: &Journey, after: usize| {
            journey.end.is_some() && (journey.loss().is_none() || after > Self::AFTER_LOSS)
        };
        while self.asked == 0
            && self.journeys.front().is_some_and(|first| is_over(first, self.journeys.len()))
        {
            let forgotten = self.journeys.pop_front();
            if let Some(Journey { subflow, positions: [position, _], .. }) = forgotten
                && self.latest.get(&(subflow, position)) == Some(&self.first)
            {
                self.latest.remove(&(subflow, position));
            }
            self.first += 1;
        }
        if self.asked == 0 {
            self.parts.clear();
            self.windows.clear();
        }
    }

    /// The window at `start`, if the source could send then, and its changes until `end`.
    pub fn windows_between(&self, start: Time, end: Time) -> impl Iterator<Item = (Time, u64)> {
        let first = self.windows.partition_point(|(at, _)| *at <= start).saturating_sub(1);
        let shown = self.windows[first..].iter().take_while(move |(at, _)| *at <= end);
        shown.map(move |(at, bytes)| ((*at).max(start), *bytes))
    }

    /// Adds the time at which the source got a part of a message.
    pub fn has_part(&mut self, at: Time) {
        if self.parts.len() < Self::MOST {
            self.parts.push(at);
        }
    }

    /// Adds the size of the window, unless it is the same as before.
    pub fn has_window(&mut self, at: Time, bytes: u64) {
        if self.windows.last().is_none_or(|(_, last)| *last != bytes) && self.windows.len() < Self::MOST {
            self.windows.push((at, bytes));
        }
    }
}
