//! The time of a flow, divided among its causes.
//!
//! The division follows the chain of packets that led to the last byte, backwards from its arrival. A packet's time on its
//! way is queueing and transmission, link by link. Before, its host waited for something: for the packet that arrived just
//! then (an acknowledgement that opened the window), for its turn on its link, for its rate, or, if the packet repeats a lost
//! one, for the loss to be noticed. So the parts of a chain follow each other without gaps, and their sum is the flow's time.

use std::collections::VecDeque;

use weft_units::{LinkId, Time};

use super::connection::{Connection, Direction, Journey, Loss};

/// What a flow waited for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cause {
    /// The address of the other host (ARP).
    Resolution,
    /// SYN and SYN+ACK on their way, without their queueing.
    Handshake,
    /// Packets on their way: transmission and propagation.
    Wire,
    /// The queue of this link, for packets of this direction: at the first link of a path it is that of the host.
    Queue(LinkId, Direction),
    /// A turn on this link of the host, behind packets of its own and of other flows.
    Host(Option<LinkId>),
    /// The rate that congestion control allows, or a timer of the source.
    Pacing,
    /// The next part, which another rank had not sent yet.
    Part,
    /// A delayed acknowledgement.
    Answer,
    /// A switch that held a packet until it knew a path.
    Held,
    /// The notice of this loss, if there was one, from duplicate acknowledgements or a cut packet.
    Recovery(Option<Loss>),
    /// A retransmission timeout after this loss, if there was one.
    Timeout(Option<Loss>),
    /// A packet that had not arrived when the run ended.
    Unfinished,
}

impl Cause {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Resolution => "address resolution",
            Self::Handshake => "handshake",
            Self::Wire => "transmission",
            Self::Queue(..) => "queueing",
            Self::Host(_) => "host's link",
            Self::Pacing => "rate limit",
            Self::Part => "rank before",
            Self::Answer => "delayed acknowledgement",
            Self::Held => "held by a switch",
            Self::Recovery(_) => "loss recovery",
            Self::Timeout(_) => "timeout",
            Self::Unfinished => "unfinished",
        }
    }

    /// The link to which it is due.
    pub const fn link(self) -> Option<LinkId> {
        match self {
            Self::Queue(link, _) => Some(link),
            Self::Host(link) => link,
            _ => match self.loss() {
                Some(loss) => loss.link,
                None => None,
            },
        }
    }

    /// The direction of the packets that waited or were lost.
    pub const fn direction(self) -> Option<Direction> {
        match (self, self.loss()) {
            (Self::Queue(_, direction), _) | (_, Some(Loss { direction, .. })) => Some(direction),
            _ => None,
        }
    }

    /// The loss to which it is due.
    pub const fn loss(self) -> Option<Loss> {
        match self {
            Self::Recovery(loss) | Self::Timeout(loss) => loss,
            _ => None,
        }
    }
}

/// A part of a flow's time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// When it begins.
    pub from: Time,
    /// When it ends.
    pub to: Time,
    /// What the flow waited for.
    pub cause: Cause,
}

/// Divides the time of a flow that started at `start` and ended at `end`; if it did not end, `end` is that of the run and
/// `is_finished` false. The parts are in order of time, without gaps.
pub fn split(connection: &Connection, start: Time, end: Time, is_finished: bool) -> Vec<Part> {
    let mut chain = Chain { at: end, start, parts: Vec::new() };
    Walk::new(connection).walk(&mut chain, is_finished);
    // Before its first packet, a flow waits for an address.
    chain.reach(start, Cause::Resolution);
    chain.parts.reverse();
    chain.parts
}

/// The parts found so far, from the last to the first.
struct Chain {
    /// The beginning of the part found last.
    at: Time,
    start: Time,
    parts: Vec<Part>,
}

impl Chain {
    /// The time from `from` on is due to `cause`; joins a part of the same cause.
    fn reach(&mut self, from: Time, cause: Cause) {
        let from = from.max(self.start);
        if from >= self.at {
            return;
        }
        match self.parts.last_mut().filter(|part| part.cause == cause) {
            Some(part) => part.from = from,
            None => self.parts.push(Part { from, to: self.at, cause }),
        }
        self.at = from;
    }

    fn is_complete(&self) -> bool {
        self.at <= self.start
    }

    /// The way of a packet.
    fn travel(&mut self, journey: &Journey) {
        let wire = if journey.is_handshake() { Cause::Handshake } else { Cause::Wire };
        for hop in journey.hops.iter().rev() {
            let Some((left, arrived)) = hop.crossed else { continue };
            self.reach(arrived, Cause::Held);
            self.reach(left, wire);
            self.reach(hop.sent, Cause::Queue(hop.link, journey.direction()));
        }
    }
}

/// The packets of a connection, to be looked up by time.
struct Walk<'a> {
    journeys: &'a VecDeque<Journey>,
    /// The number of the first of them.
    first: usize,
    /// When the source got parts, in order.
    parts: &'a [Time],
    /// The packets that the source sent, in order of time.
    sends: Vec<(Time, usize)>,
    /// The packets that have arrived at the source, and at the destination, in order of arrival.
    arrivals: [Vec<(Time, usize)>; 2],
    /// The packets of the destination and of the source that a link lost, in order of loss.
    losses: [Vec<(Time, usize)>; 2],
}

/// The last of these events at or before `time`.
fn last_by(events: &[(Time, usize)], time: Time) -> Option<(Time, usize)> {
    let count = events.partition_point(|(at, _)| *at <= time);
    count.checked_sub(1).map(|last| events[last])
}

impl<'a> Walk<'a> {
    fn new(connection: &'a Connection) -> Self {
        let journeys = &connection.journeys;
        let all = || (0..).zip(journeys);
        let mut sends: Vec<_> = all()
            .filter(|(_, journey)| journey.is_from_source)
            .map(|(number, journey)| (journey.sent(), number))
            .collect();
        // A copy that a switch sent later was sent by the host with its original.
        sends.sort_unstable();
        let arrived = |is_from_source: bool| {
            let others = all().filter(move |(_, journey)| journey.is_from_source == is_from_source);
            let mut arrived: Vec<_> =
                others.filter_map(|(number, journey)| Some((journey.delivered()?, number))).collect();
            arrived.sort_unstable();
            arrived
        };
        let lost = |is_from_source: bool| {
            let lost = all().filter(move |(_, journey)| {
                journey.is_from_source == is_from_source
                    && journey.loss().is_some_and(|loss| loss.link.is_some())
            });
            let mut lost: Vec<_> =
                lost.filter_map(|(number, journey)| Some((journey.end?.0, number))).collect();
            lost.sort_unstable();
            lost
        };
        let (losses, arrivals) = ([lost(false), lost(true)], [arrived(false), arrived(true)]);
        Self { journeys, first: connection.first, parts: &connection.parts, sends, losses, arrivals }
    }

    fn walk(&self, chain: &mut Chain, is_finished: bool) {
        let [at_source, at_destination] = &self.arrivals;
        let mut next = if is_finished {
            last_by(at_destination, chain.at)
        } else {
            let sent = last_by(&self.sends, chain.at);
            let last = [sent, last_by(at_source, chain.at), last_by(at_destination, chain.at)];
            let last = last.into_iter().flatten().max();
            if let Some((time, _)) = last {
                let lost = sent.filter(|(_, number)| self.journeys[*number].loss().is_some());
                let loss = lost.map(|(_, number)| self.loss_before(number, chain.at));
                chain.reach(time, loss.map_or(Cause::Unfinished, Cause::Timeout));
            }
            last
        };
        // Each step leads to an earlier packet, or to an earlier time.
        let mut steps = 4 * self.journeys.len();
        while let Some((_, number)) = next
            && !chain.is_complete()
            && steps > 0
        {
            steps -= 1;
            let journey = &self.journeys[number];
            chain.reach(journey.delivered().unwrap_or(chain.at), Cause::Answer);
            chain.travel(journey);
            next = if journey.is_from_source {
                self.before_send(chain, number)
            } else {
                self.before_answer(chain, number)
            };
        }
    }

    /// The packet that another repeats, unless it is forgotten.
    fn repeated(&self, journey: &Journey) -> Option<usize> {
        journey.repeats?.checked_sub(self.first)
    }

    /// The loss that is to blame for the repetition of packet `number` at `time`: that of the packet, of its
    /// acknowledgement, or of the last packet before, after which the source has gone back. Losses at links come first.
    fn loss_before(&self, number: usize, time: Time) -> Option<Loss> {
        let packet = &self.journeys[number];
        let lost = |losses: &[(Time, usize)], since: Time| {
            let (_, number) = last_by(losses, time).filter(|(at, _)| *at >= since)?;
            self.journeys[number].loss()
        };
        let [answers, data] = &self.losses;
        let own = packet.loss();
        own.filter(|loss| loss.link.is_some())
            .or_else(|| lost(answers, packet.sent()))
            .or_else(|| lost(data, Time::ZERO))
            .or(own)
    }

    /// The packet whose arrival let the destination send packet `number`, which left at `chain.at`.
    fn before_answer(&self, chain: &mut Chain, number: usize) -> Option<(Time, usize)> {
        let journey = &self.journeys[number];
        let mut cause = Cause::Answer;
        if journey.is_handshake() {
            cause = Cause::Resolution;
            // A SYN+ACK that was lost is sent once more.
            let same = |other: &&Journey| {
                !other.is_from_source && other.is_handshake() && other.subflow == journey.subflow
            };
            for lost in self.journeys.range(..number).rev().filter(same) {
                if let Some(loss) = lost.loss() {
                    chain.reach(lost.sent(), Cause::Timeout(Some(loss)));
                }
            }
        }
        let (time, other) = last_by(&self.arrivals[1], chain.at)?;
        chain.reach(time, cause);
        Some((time, other))
    }

    /// The packet whose arrival let the source send packet `number`, which left at `chain.at`.
    fn before_send(&self, chain: &mut Chain, mut number: usize) -> Option<(Time, usize)> {
        // Whether the packet was needed, rather than sent before one that was.
        let mut is_needed = true;
        loop {
            let journey = &self.journeys[number];
            let place = self.sends.partition_point(|(at, other)| (*at, *other) < (journey.sent(), number));
            let behind = place.checked_sub(1).map(|place| &self.journeys[self.sends[place].1]);
            let host = match behind.and_then(|behind| self.repeated(behind)) {
                // Its turn came after a packet that was sent once more.
                Some(lost) => Cause::Recovery(self.loss_before(lost, journey.sent())),
                None => Cause::Host(journey.hops.first().map(|hop| hop.link)),
            };
            chain.reach(journey.sent(), host);
            if let Some([since, from]) = journey.waited {
                chain.reach(from.max(since), host);
                chain.reach(since, Cause::Pacing);
            }
            if chain.is_complete() {
                return None;
            }
            let earlier = self.sends[..place].iter().rev().copied().find(|(at, _)| *at <= chain.at);
            let arrival = last_by(&self.arrivals[0], chain.at);
            let is_answer = arrival.is_some_and(|(time, _)| time == chain.at);
            let follows = journey.waited.is_some() && earlier.is_some_and(|(time, _)| time == chain.at);
            if let Some(before) = self.repeated(journey).filter(|_| is_needed || !is_answer && !follows) {
                let lost = &self.journeys[before];
                let loss = self.loss_before(before, chain.at);
                let noticed = arrival.map_or(lost.sent(), |(time, _)| time.max(lost.sent()));
                if !follows {
                    // No packet arrived just then: a timer repeated it.
                    chain.reach(noticed, Cause::Timeout(loss));
                }
                let is_spurious = lost.delivered().is_some_and(|at| at <= chain.at);
                if is_spurious && arrival.is_some_and(|(time, _)| time == chain.at) {
                    return arrival;
                }
                chain.reach(lost.sent(), Cause::Recovery(loss));
                (number, is_needed) = (before, true);
                continue;
            }
            let idle = match self.parts.binary_search(&chain.at) {
                Ok(_) => Cause::Part,
                Err(_) => Cause::Pacing,
            };
            match (arrival, earlier) {
                (Some((time, other)), _) if time == chain.at => return Some((time, other)),
                (Some((time, other)), Some((sent, _))) if time >= sent => {
                    chain.reach(time, idle);
                    return Some((time, other));
                }
                (_, Some((sent, other))) => {
                    chain.reach(sent, idle);
                    (number, is_needed) = (other, false);
                }
                (Some((time, other)), None) => return Some((time, other)),
                (None, None) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::connection::{Fate, Hop, PacketType};
    use super::*;
    use weft_switching::DropReason;

    const LINK: LinkId = LinkId(7);
    /// The loss of data at [`LINK`].
    const LOSS: Option<Loss> =
        Some(Loss { packet_type: PacketType::Data, direction: Direction::Forward, link: Some(LINK) });

    fn us(us: u64) -> Time {
        Time::from_ps(us * 1_000_000)
    }

    /// A packet that is sent, leaves the queue of [`LINK`], and arrives.
    fn journey(is_from_source: bool, first: i64, times: [u64; 3]) -> Journey {
        let [sent, left, arrived] = times.map(us);
        Journey {
            is_from_source,
            packet_type: if is_from_source { PacketType::Data } else { PacketType::Ack },
            is_needed: is_from_source,
            subflow: 0,
            positions: [first, first + 1],
            acknowledges: None,
            repeats: None,
            is_marked: false,
            waited: None,
            hops: vec![Hop { link: LINK, sent, crossed: Some((left, arrived)) }],
            end: Some((arrived, Fate::Delivered)),
        }
    }

    fn connection(journeys: Vec<Journey>) -> Connection {
        let mut connection = Connection::default();
        for journey in journeys {
            connection.add(journey);
        }
        connection
    }

    fn parts(connection: &Connection, end: u64) -> Vec<(u64, u64, Cause)> {
        let parts = split(connection, us(0), us(end), true);
        parts
            .into_iter()
            .map(|Part { from, to, cause }| (from.ps() / 1_000_000, to.ps() / 1_000_000, cause))
            .collect()
    }

    #[test]
    fn a_round_trip_is_queueing_and_transmission() {
        let all = connection(vec![
            journey(true, 0, [3, 5, 10]),
            journey(false, 0, [12, 12, 17]),
            journey(true, 1, [17, 20, 25]),
        ]);
        let expected = vec![
            (0, 3, Cause::Resolution),
            (3, 5, Cause::Queue(LINK, Direction::Forward)),
            (5, 10, Cause::Wire),
            (10, 12, Cause::Answer),
            (12, 17, Cause::Wire),
            (17, 20, Cause::Queue(LINK, Direction::Forward)),
            (20, 25, Cause::Wire),
        ];
        assert_eq!(parts(&all, 25), expected);
    }

    #[test]
    fn a_turn_that_a_source_waited_for_is_its_host_s_link_and_its_rate() {
        let second = Journey { waited: Some([us(0), us(4)]), ..journey(true, 1, [9, 9, 14]) };
        let all = connection(vec![journey(true, 0, [0, 0, 5]), second]);
        let expected = vec![(0, 4, Cause::Pacing), (4, 9, Cause::Host(Some(LINK))), (9, 14, Cause::Wire)];
        assert_eq!(parts(&all, 14), expected);
    }

    #[test]
    fn a_lost_syn_ack_is_a_timeout() {
        let handshake = |is_from_source, times| Journey {
            packet_type: if is_from_source { PacketType::Syn } else { PacketType::SynAck },
            ..journey(is_from_source, 0, times)
        };
        let mut lost = handshake(false, [5, 5, 6]);
        lost.hops[0].crossed = None;
        lost.end = Some((us(6), Fate::Lost(DropReason::LinkDown, Some(LINK))));
        let all = connection(vec![
            handshake(true, [0, 0, 5]),
            lost,
            handshake(false, [105, 105, 110]),
            journey(true, 1, [110, 110, 115]),
        ]);
        let loss = Loss { packet_type: PacketType::SynAck, direction: Direction::Back, link: Some(LINK) };
        let expected = [
            (0, 5, Cause::Handshake),
            (5, 105, Cause::Timeout(Some(loss))),
            (105, 110, Cause::Handshake),
            (110, 115, Cause::Wire),
        ];
        assert_eq!(parts(&all, 115), expected);
    }

    #[test]
    fn a_turn_behind_a_repeated_packet_is_loss_recovery() {
        let mut lost = journey(true, 0, [0, 0, 0]);
        lost.hops[0].crossed = None;
        lost.end = Some((us(0), Fate::Lost(DropReason::QueueFull, Some(LINK))));
        let answer = journey(false, 0, [4, 4, 8]);
        let again = journey(true, 0, [8, 8, 13]);
        let next = Journey { waited: Some([us(8), us(8)]), ..journey(true, 1, [10, 10, 15]) };
        let all = connection(vec![lost, journey(true, 1, [1, 1, 4]), answer, again, next]);
        let expected = [
            (0, 1, Cause::Resolution),
            (1, 8, Cause::Wire),
            (8, 10, Cause::Recovery(LOSS)),
            (10, 15, Cause::Wire),
        ];
        assert_eq!(parts(&all, 15)[1..], expected[1..]);
    }

    #[test]
    fn a_repeated_packet_blames_the_link_that_lost_it() {
        let mut lost = journey(true, 1, [1, 1, 1]);
        lost.hops[0].crossed = None;
        lost.end = Some((us(1), Fate::Lost(DropReason::QueueFull, Some(LINK))));
        let first = journey(true, 0, [0, 0, 5]);
        let acknowledgement = journey(false, 0, [5, 5, 9]);
        // The acknowledgement that arrives at 9 lets it repeat the packet at once; or a timer does, at 200.
        for (repeated, cause) in [(9, Cause::Recovery(LOSS)), (200, Cause::Timeout(LOSS))] {
            let again = journey(true, 1, [repeated, repeated, repeated + 5]);
            let all = connection(vec![first.clone(), lost.clone(), acknowledgement.clone(), again]);
            let found = parts(&all, repeated + 5);
            assert_eq!(found.last(), Some(&(repeated, repeated + 5, Cause::Wire)));
            assert_eq!(found[found.len() - 2].2, cause, "{found:?}");
            assert_eq!((found[0].0, found.last().map(|part| part.1)), (0, Some(repeated + 5)));
            assert!(found.windows(2).all(|two| two[0].1 == two[1].0), "{found:?}");
        }
    }
}
