//! [`Rounds`]: the order in which switches handle arrivals within a window of time.
//!
//! No packet takes less than the delay of a link. So within a window of that length, the events of a switch depend on no
//! other node's, and each switch can handle all its arrivals of the window in one round: its state stays in the cache,
//! the packets of later arrivals are prefetched, and the event queue holds only the hosts' events. Rounds change no
//! result, only the order in which different switches are simulated.
//!
//! A switch has a round if an arrival, its deadline or a deferred choice of its ports may be due. So each of these is noted when
//! it comes about, between windows as well.

use std::ops::Range;

use weft_fabric::{Fabric, Link};
use weft_transport::Framing;
use weft_units::{Duration, Time, TxClock};

use crate::event_queue::rank;
use crate::line::{FarEnd, Line, Span};
use crate::link::Links;
use crate::packet::PacketId;

/// The longest window: 2^24 ps, the range of a key.
pub const LONGEST: Duration = Duration::from_ps(1 << TIME_BITS);
/// A key holds, from the top: 24 bits of time, 8 of rank, 32 of place.
const TIME_BITS: u32 = 24;
const RANK_SHIFT: u32 = 32;
const TIME_SHIFT: u32 = 40;
/// Full packets per link and window from which on rounds are faster.
const ENOUGH: f64 = 2.0;
/// Packets are prefetched this many arrivals before they are handled.
const PREFETCHED: usize = 6;
/// No switch.
const NONE: u32 = u32::MAX;

/// Whether switches can handle their arrivals in rounds: each link has a delay, and no port depends on others.
pub fn are_possible(fabric: &Fabric) -> bool {
    longest(fabric) > Duration::ZERO && !fabric.uses_pfc() && fabric.buffer().is_none()
}

/// The longest window within which the nodes do not depend on each other: the shortest delay of a link, at most
/// [`LONGEST`].
pub fn longest(fabric: &Fabric) -> Duration {
    fabric.links().iter().map(|link| link.delay).min().unwrap_or(LONGEST).min(LONGEST)
}

/// Whether rounds are faster than the event queue: a link that is always busy carries at least [`ENOUGH`] full packets in a
/// window, on average over the links to switches.
pub fn are_faster(fabric: &Fabric, framing: &Framing) -> bool {
    let to_switches = || fabric.links().iter().filter(|link| !fabric.node(link.to).is_host());
    let window = longest(fabric);
    let packets = |link: &Link| {
        let wire_bytes = link.overhead.wire_bytes(framing.full_packet());
        window.ps() as f64 / TxClock::new(link.rate).tx_time(wire_bytes).ps() as f64
    };
    to_switches().map(packets).sum::<f64>() >= ENOUGH * to_switches().count() as f64
}

/// A packet that reaches a switch.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The packet.
    pub packet: PacketId,
    /// The link over which it comes.
    pub link: u32,
    /// The ingress port.
    pub port: u16,
}

/// A switch of the partition.
#[derive(Clone, Copy)]
struct Place {
    /// Its incoming links: the part of [`Rounds::incoming`] from here to the next switch's.
    incoming: u32,
    /// Its first outgoing link, and their number.
    outgoing: u32,
    ports: u32,
}

/// The rounds of a partition's switches, by the switches' dense numbers; by default there are none.
#[derive(Default)]
pub struct Rounds {
    is_on: bool,
    places: Vec<Place>,
    incoming: Vec<u32>,
    /// The switch from which each link leaves, or [`NONE`].
    senders: Vec<u32>,
    /// No event of the switch is due before this time.
    not_before: Vec<Time>,
    /// The switch whose round it is; its own choices and deadlines are noted at the end.
    current: usize,
    /// The end of the last window: nothing arrives before it.
    end: Time,
    /// The arrivals of the current round, in the order in which they were taken from the links.
    arrivals: Vec<Arrival>,
    /// One key per arrival, in order: the time after `base`, the rank, and the place in `arrivals`.
    keys: Vec<u64>,
    base: u64,
}

impl Rounds {
    /// Rounds of the partition's switches, each with its outgoing links, over these lines.
    pub fn new(switches: &[Range<u32>], lines: &[Line]) -> Self {
        let mut ends: Vec<(u32, u32)> = Vec::new();
        for (link, line) in (0..).zip(lines) {
            if let (Ok(switch), true) = (line.far_end.split(), line.span != Span::Leaves) {
                ends.push((switch, link));
            }
        }
        ends.sort_unstable();
        let place = |(switch, outgoing): (u32, &Range<u32>)| Place {
            incoming: ends.partition_point(|(end, _)| *end < switch) as u32,
            outgoing: outgoing.start,
            ports: outgoing.end - outgoing.start,
        };
        let mut places: Vec<Place> = (0..).zip(switches).map(place).collect();
        let mut senders = vec![NONE; lines.len()];
        for (switch, outgoing) in (0..).zip(switches) {
            outgoing.clone().for_each(|link| senders[link as usize] = switch);
        }
        places.push(Place { incoming: ends.len() as u32, outgoing: 0, ports: 0 });
        Self {
            is_on: true,
            not_before: vec![Time::MAX; switches.len()],
            senders,
            current: usize::MAX,
            places,
            incoming: ends.into_iter().map(|(_, link)| link).collect(),
            ..Self::default()
        }
    }

    /// Whether switches handle their arrivals in rounds; otherwise they do so in order of time, by the event queue.
    #[inline(always)]
    pub const fn is_on(&self) -> bool {
        self.is_on
    }

    /// The number of switches.
    pub fn switches(&self) -> usize {
        self.not_before.len()
    }

    /// Whether a switch may have an event before `end`.
    pub fn is_due(&self, switch: usize, end: Time) -> bool {
        self.not_before[switch] < end
    }

    /// The time before which no switch has an event.
    pub fn first(&self) -> Time {
        self.not_before.iter().copied().min().unwrap_or(Time::MAX)
    }

    /// Notes that a switch has an event at `time`.
    #[inline(always)]
    pub fn note(&mut self, switch: usize, time: Time) {
        let next = &mut self.not_before[switch];
        *next = (*next).min(time);
    }

    /// Notes that a deadline of a switch is due at `time`.
    pub fn note_own(&mut self, switch: usize, time: Time) {
        if switch != self.current {
            self.note(switch, time);
        }
    }

    /// Notes that a port of a switch, that of `link`, has a choice to make at `time`.
    pub fn note_choice(&mut self, link: u32, time: Time) {
        let sender = self.senders[link as usize];
        if sender != NONE {
            self.note_own(sender as usize, time);
        }
    }

    /// A switch's round is over; its next deadline or choice is due at `next`.
    pub fn finish(&mut self, next: Time) {
        let switch = std::mem::replace(&mut self.current, usize::MAX);
        self.note(switch, next);
    }

    /// The window up to `end` is over.
    pub fn end_window(&mut self, end: Time) {
        self.end = end;
    }

    /// The switch at this end of a link, if it handles its arrivals in rounds.
    #[inline(always)]
    pub fn receiver(&self, end: FarEnd) -> Option<usize> {
        if self.is_on { end.split().ok().map(|switch| switch as usize) } else { None }
    }

    /// The outgoing links of a switch.
    pub fn outgoing(&self, switch: usize) -> Range<u32> {
        let Place { outgoing, ports, .. } = self.places[switch];
        outgoing..outgoing + ports
    }

    /// The incoming links of a switch; none if there is no such switch.
    fn incoming(&self, switch: usize) -> &[u32] {
        let Some([this, after]) = self.places.get(switch..switch + 2) else { return &[] };
        &self.incoming[this.incoming as usize..after.incoming as usize]
    }

    /// Takes all arrivals at a switch before `end`, which is at most [`LONGEST`] after the first of them, and puts them in
    /// order. Prefetches the links of the switches after it.
    pub fn gather(&mut self, switch: usize, end: Time, links: &mut Links) {
        self.incoming(switch + 2).iter().for_each(|link| links.prefetch(*link));
        self.incoming(switch + 1).iter().for_each(|link| links.prefetch_ring(*link));
        self.base = end.ps().saturating_sub(LONGEST.ps());
        let (mut arrivals, mut keys) = (std::mem::take(&mut self.arrivals), std::mem::take(&mut self.keys));
        arrivals.clear();
        keys.clear();
        let mut next = Time::MAX;
        for &link in self.incoming(switch) {
            let after = links.take_before(link, end, |time, packet, port| {
                debug_assert!(time >= self.end, "a packet arrives in a window that is over");
                let after_base = time.ps().saturating_sub(self.base);
                let rank = rank(port.into(), time) << RANK_SHIFT;
                keys.push(after_base << TIME_SHIFT | rank | arrivals.len() as u64);
                arrivals.push(Arrival { packet, link, port });
            });
            next = next.min(after);
        }
        keys.sort_unstable();
        (self.arrivals, self.keys, self.not_before[switch]) = (arrivals, keys, next);
        self.current = switch;
    }

    /// The number of arrivals in the round.
    pub fn count(&self) -> usize {
        self.keys.len()
    }

    /// An arrival of the round and its time.
    #[inline(always)]
    pub fn get(&self, place: usize) -> (Time, Arrival) {
        let key = self.keys[place];
        (Time::from_ps(self.base + (key >> TIME_SHIFT)), self.arrivals[key as u32 as usize])
    }

    /// The packet to prefetch before an arrival is handled, if there is one.
    #[inline(always)]
    pub fn to_prefetch(&self, place: usize) -> Option<PacketId> {
        let key = self.keys.get(place + PREFETCHED)?;
        Some(self.arrivals[*key as u32 as usize].packet)
    }

    /// The packets of the first arrivals, to prefetch before the round.
    pub fn foremost(&self) -> impl Iterator<Item = PacketId> {
        self.keys.iter().take(PREFETCHED).map(|key| self.arrivals[*key as u32 as usize].packet)
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.places.capacity() * size_of::<Place>()
            + (self.incoming.capacity() + self.senders.capacity()) * size_of::<u32>()
            + self.not_before.capacity() * size_of::<Time>()
            + self.arrivals.capacity() * size_of::<Arrival>()
            + self.keys.capacity() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use weft_fabric::{Limit, LinkSpec, QueueSpec, build};
    use weft_transport::{Config, Protocol};
    use weft_units::Rate;

    use super::*;

    fn fabric(gbps: u64, delay: Duration) -> Fabric {
        let queue = QueueSpec::fifo(Limit::Packets(30));
        let link = LinkSpec::new(Rate::from_gbps(gbps), delay).with_queue(queue);
        build::spine_leaf(2, 2, 2, &link, &link).expect("the sizes are positive")
    }

    #[test]
    fn rounds_are_faster_where_a_link_carries_several_packets_within_its_delay() {
        let framing = Protocol::from(Config::profile("linux").expect("a profile")).framing();
        for (gbps, delay, expected) in [
            (100, Duration::from_us(1), true),
            (10, Duration::from_us(1), false),
            (10, Duration::from_us(10), true),
            (100, Duration::from_ps(10_000), false),
        ] {
            let fabric = fabric(gbps, delay);
            assert!(are_possible(&fabric));
            assert_eq!(are_faster(&fabric, &framing), expected, "{gbps} Gbps, {delay}");
        }
        assert!(!are_possible(&fabric(100, Duration::ZERO)));
        assert_eq!(longest(&fabric(1, Duration::from_secs(1))), LONGEST);
    }
}
