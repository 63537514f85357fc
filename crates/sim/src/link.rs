//! One direction of a cable with its egress queue.
//!
//! A FIFO queue needs no event of its own: the moment a packet is accepted, its departure is
//! known (when the packets before it have left), and so is its arrival at the other end. The ring
//! holds the packets from acceptance to arrival, in order; those that have not departed are the
//! queue. A port with several queues keeps its waiting packets in a [`crate::class_queue`] and
//! hands them over one at a time when the line is free.

use weft_fabric::{Fabric, Limit, Overhead};
use weft_units::{Bytes, Duration, LinkId, Time, TxClock};

use crate::packet::PacketId;

/// The far end of a link: a switch (by its dense number) or a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FarEnd(u32);

impl FarEnd {
    const HOST: u32 = 1 << 31;

    /// The switch with this dense number.
    pub const fn switch(number: u32) -> Self {
        Self(number)
    }

    /// The host with this number.
    pub const fn host(number: u32) -> Self {
        Self(number | Self::HOST)
    }

    /// `Ok(switch)` or `Err(host)`.
    #[inline]
    pub const fn split(self) -> Result<u32, u32> {
        if self.0 & Self::HOST == 0 { Ok(self.0) } else { Err(self.0 & !Self::HOST) }
    }
}

/// A packet on its way over the link.
#[derive(Clone, Copy, Default)]
struct InFlight {
    /// When it reaches the far end, in picoseconds.
    arrival: u64,
    packet: PacketId,
}

/// What became of a packet that was offered to a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offer {
    /// It is the only one on the link: schedule its arrival.
    First(Time),
    /// It follows others.
    Queued,
    /// There was no room.
    Full,
}

/// Counters of one link, apart from what each packet needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCounters {
    /// Bytes put on the wire, overhead included.
    pub wire_bytes: u64,
    /// Packets accepted.
    pub packets: u64,
    /// Packets dropped for want of room.
    pub drops: u64,
    /// Packets marked "congestion experienced".
    pub marks: u64,
    /// Longest backlog met by a packet, as time to send it.
    pub max_backlog: Duration,
}

/// The link: what each packet needs, in one cache line, then the rest.
#[repr(C, align(64))]
pub struct Link {
    busy_until: Time,
    clock: TxClock,
    delay: Duration,
    ring: Box<[InFlight]>,
    head: u32,
    tail: u32,
    /// A packet that meets no more packets on the link than this, and no longer backlog than
    /// `free_backlog`, is neither refused nor marked.
    free_packets: u32,
    /// The far end.
    pub far_end: FarEnd,
    /// The port of the far end that it arrives on.
    pub far_port: u16,
    overhead: u8,
    flags: u8,
    free_backlog: Duration,
    /// Packets that may wait, beside the one on the wire; or the limit in bytes.
    limit: u32,
    ecn_threshold: u32,
    /// Counters.
    pub counters: LinkCounters,
}

const UP: u8 = 1;
const LIMIT_IN_BYTES: u8 = 2;
const MARKS: u8 = 4;
const MARK_IN_BYTES: u8 = 8;
const MIN_FRAME: u8 = 16;

/// The shortest Ethernet frame with preamble and inter-frame gap (IEEE 802.3, 4.2.3.3).
const MIN_WIRE_BYTES: u32 = 84;

impl Link {
    /// The link `id` of `fabric`, ending at `far_end`.
    pub fn new(fabric: &Fabric, id: LinkId, far_end: FarEnd) -> Self {
        let link = &fabric.links()[id.index()];
        let mut flags = if link.up { UP } else { 0 };
        let (limit, in_bytes) = split_limit(link.queue.limit);
        flags |= if in_bytes { LIMIT_IN_BYTES } else { 0 };
        let (ecn_threshold, in_bytes) = link.queue.ecn_threshold.map_or((0, false), split_limit);
        flags |= if link.queue.ecn_threshold.is_some() { MARKS } else { 0 };
        flags |= if in_bytes { MARK_IN_BYTES } else { 0 };
        let overhead = match link.overhead {
            Overhead::Ethernet => {
                flags |= MIN_FRAME;
                38
            }
            Overhead::Ppp => 2,
            Overhead::None => 0,
        };
        let clock = TxClock::new(link.rate);
        let (mut free_packets, mut free_backlog) = (u32::MAX, Duration::MAX);
        let limits = [(limit, LIMIT_IN_BYTES), (ecn_threshold, MARK_IN_BYTES)];
        for (limit, in_bytes) in &limits[..1 + usize::from(flags & MARKS != 0)] {
            if flags & in_bytes == 0 {
                free_packets = free_packets.min(*limit);
            } else {
                let spare = Bytes(u64::from(limit.saturating_sub(u32::from(u16::MAX) + 38)));
                free_backlog = free_backlog.min(link.rate.tx_time(spare));
            }
        }
        Self {
            busy_until: Time::ZERO,
            clock,
            delay: link.delay,
            ring: Box::default(),
            head: 0,
            tail: 0,
            free_packets,
            far_end,
            far_port: link.to_port.0,
            overhead,
            flags,
            free_backlog,
            limit,
            ecn_threshold,
            counters: LinkCounters::default(),
        }
    }

    /// Whether the link carries packets.
    #[inline]
    pub const fn is_up(&self) -> bool {
        self.flags & UP != 0
    }

    /// The length on the wire of an IP packet.
    #[inline]
    pub fn wire_bytes(&self, ip_bytes: u16) -> u32 {
        let bytes = u32::from(ip_bytes) + u32::from(self.overhead);
        if self.flags & MIN_FRAME != 0 { bytes.max(MIN_WIRE_BYTES) } else { bytes }
    }

    /// Bytes that have not left yet at `now`, the rest of the packet on the wire included.
    #[inline]
    pub fn backlog(&self, now: Time) -> Bytes {
        self.clock.bytes_in(self.busy_until.saturating_since(now))
    }

    /// Packets waiting at `now`, the one on the wire not counted.
    pub fn waiting(&self, now: Time) -> u32 {
        let (mut departed, mut present) = (0, self.tail.wrapping_sub(self.head));
        while departed < present {
            let middle = departed + (present - departed) / 2;
            if self.arrival(middle) <= (now + self.delay).ps() {
                departed = middle + 1;
            } else {
                present = middle;
            }
        }
        self.tail.wrapping_sub(self.head).wrapping_sub(departed).saturating_sub(1)
    }

    /// When the packet with this place on the link, counted from the first, arrives.
    #[inline]
    fn arrival(&self, place: u32) -> u64 {
        let mask = (self.ring.len() as u32).wrapping_sub(1);
        self.ring[(self.head.wrapping_add(place) & mask) as usize].arrival
    }

    /// Whether `count` packets or more wait at `now`: then the last but `count` has not departed.
    #[inline]
    fn waits(&self, now: Time, count: u32) -> bool {
        let present = self.tail.wrapping_sub(self.head);
        present > count && self.arrival(present - count - 1) > (now + self.delay).ps()
    }

    /// Offers a packet at `now`; `mark` is called if it is to carry a congestion mark.
    #[inline(always)]
    pub fn offer(
        &mut self,
        now: Time,
        packet: PacketId,
        ip_bytes: u16,
        mark: impl FnOnce() -> bool,
    ) -> Offer {
        let wire_bytes = self.wire_bytes(ip_bytes);
        let backlog = self.busy_until.saturating_since(now);
        self.counters.max_backlog = self.counters.max_backlog.max(backlog);
        let present = self.tail.wrapping_sub(self.head);
        if (present > self.free_packets) | (backlog > self.free_backlog)
            && self.refuses(now, wire_bytes, mark)
        {
            self.counters.drops += 1;
            return Offer::Full;
        }
        self.push(now, packet, wire_bytes)
    }

    /// Puts a packet on the line behind what is on it, whatever the queue's limit.
    #[inline(always)]
    pub fn push(&mut self, now: Time, packet: PacketId, wire_bytes: u32) -> Offer {
        if self.tail.wrapping_sub(self.head) as usize == self.ring.len() {
            self.grow();
        }
        let departure = self.busy_until.max(now) + self.clock.tx_time(wire_bytes);
        self.busy_until = departure;
        let arrival = departure + self.delay;
        let mask = self.ring.len() as u32 - 1;
        self.ring[(self.tail & mask) as usize] = InFlight { arrival: arrival.ps(), packet };
        let first = self.tail == self.head;
        self.tail = self.tail.wrapping_add(1);
        self.counters.packets += 1;
        self.counters.wire_bytes += u64::from(wire_bytes);
        if first { Offer::First(arrival) } else { Offer::Queued }
    }

    /// Whether a link that is not free has no room; marks the packet where the queue is past its
    /// threshold.
    #[inline(never)]
    fn refuses(&mut self, now: Time, wire_bytes: u32, mark: impl FnOnce() -> bool) -> bool {
        let full = if self.flags & LIMIT_IN_BYTES != 0 {
            self.backlog(now).0 + u64::from(wire_bytes) > u64::from(self.limit)
        } else {
            self.waits(now, self.limit)
        };
        if full {
            return true;
        }
        if self.flags & MARKS != 0 {
            let past = if self.flags & MARK_IN_BYTES != 0 {
                self.backlog(now).0 >= u64::from(self.ecn_threshold)
            } else {
                self.waits(now, self.ecn_threshold)
            };
            if past && mark() {
                self.counters.marks += 1;
            }
        }
        false
    }

    /// Takes out the packet that has arrived, and tells which arrives next and when
    /// ([`Time::MAX`] where none does).
    #[inline(always)]
    pub fn arrive(&mut self) -> (PacketId, PacketId, Time) {
        let mask = self.ring.len() - 1;
        let first = self.ring[self.head as usize & mask];
        self.head = self.head.wrapping_add(1);
        let next = self.ring[self.head as usize & mask];
        let arrival = if self.head == self.tail { Time::MAX } else { Time::from_ps(next.arrival) };
        (first.packet, next.packet, arrival)
    }

    /// Takes the link down and empties it; what was on it is lost and returned.
    pub fn fail(&mut self, now: Time) -> Vec<PacketId> {
        self.flags &= !UP;
        let mask = (self.ring.len() as u32).wrapping_sub(1);
        let mut lost = Vec::new();
        while self.head != self.tail {
            lost.push(self.ring[(self.head & mask) as usize].packet);
            self.head = self.head.wrapping_add(1);
        }
        self.busy_until = now;
        lost
    }

    /// Brings the link up again.
    pub fn heal(&mut self) {
        self.flags |= UP;
    }

    /// When the line is free.
    pub const fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// The longest backlog met, in bytes.
    pub fn max_backlog_bytes(&self) -> Bytes {
        self.clock.bytes_in(self.counters.max_backlog)
    }

    /// Bytes of memory held beside the link itself.
    pub fn memory(&self) -> usize {
        self.ring.len() * size_of::<InFlight>()
    }

    #[cold]
    fn grow(&mut self) {
        let old_len = self.ring.len() as u32;
        let mut ring = vec![InFlight::default(); (old_len * 2).max(8) as usize].into_boxed_slice();
        let count = self.tail.wrapping_sub(self.head);
        for i in 0..count {
            ring[i as usize] = self.ring[(self.head.wrapping_add(i) & (old_len - 1)) as usize];
        }
        self.head = 0;
        self.tail = count;
        self.ring = ring;
    }
}

fn split_limit(limit: Limit) -> (u32, bool) {
    match limit {
        Limit::Packets(packets) => (packets, false),
        Limit::Bytes(bytes) => (u32::try_from(bytes).unwrap_or(u32::MAX), true),
    }
}
