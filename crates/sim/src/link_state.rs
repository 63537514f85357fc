//! [`Link`]: the state of a link that every packet needs, in one cache line; and [`Rest`], the rarely used state.

use weft_fabric::{Limit, Overhead};
use weft_units::{Bytes, Duration, Rate, Time, TxClock};

use crate::line::{FarEnd, Span};
use crate::packet::Bound;

/// A packet on its way over a link.
#[derive(Clone, Copy, Default)]
pub(crate) struct InFlight {
    /// When it reaches the far end, in picoseconds.
    pub(crate) arrival: u64,
    pub(crate) bound: Bound,
}

/// The link state that every packet needs: one cache line.
#[repr(C, align(64))]
pub(crate) struct Link {
    pub(crate) busy_until: Time,
    pub(crate) clock: TxClock,
    pub(crate) delay: Duration,
    /// Bytes accepted, including those not yet sent, modulo 2^32.
    pub(crate) wire_bytes: u32,
    /// Start of the ring in the arena.
    pub(crate) ring: u32,
    /// The packet in the ring's first slot has this number, modulo the ring's length.
    pub(crate) base: u32,
    /// Packets that have arrived and packets accepted, both modulo 2^32.
    pub(crate) head: u32,
    pub(crate) tail: u32,
    /// A packet is accepted without further checks if fewer packets than `room` are on the link, and if it leaves the port
    /// in less than `free` units of [`Link::grain`].
    pub(crate) room: u16,
    /// The length of the ring is 2 to the power of 32 less this.
    pub(crate) ring_shift: u8,
    pub(crate) free: u32,
    /// Longest backlog seen, in units of [`Link::grain`].
    pub(crate) max_backlog: u32,
    pub(crate) far_end: FarEnd,
    /// The ingress port at the far end.
    pub(crate) far_port: u16,
    pub(crate) overhead: u8,
    pub(crate) flags: u8,
}

/// Link state needed only when the queue is long.
pub(crate) struct Rest {
    /// Packets or bytes that may wait, not counting the packet on the wire.
    pub(crate) limit: u32,
    pub(crate) ecn_threshold: u32,
    pub(crate) drops: u64,
    pub(crate) marks: u64,
    /// How often the packet count and the byte count have wrapped at 2^32.
    pub(crate) wraps: u32,
    pub(crate) byte_wraps: u32,
    /// With at most this many packets on the link, and this many bytes in its queue and the packet, the packet is neither
    /// refused nor marked.
    pub(crate) free_packets: u32,
    pub(crate) free_bytes: u32,
    /// Longest backlog seen before the rate last changed.
    pub(crate) max_backlog: Bytes,
}

pub(crate) const UP: u8 = 1;
pub(crate) const LIMIT_IN_BYTES: u8 = 2;
pub(crate) const MARKS: u8 = 4;
pub(crate) const MARK_IN_BYTES: u8 = 8;
pub(crate) const PADS: u8 = 16;
/// The network handles each packet first: the port has several queues, or the link loses packets.
pub(crate) const ASIDE: u8 = 32;
pub(crate) const SLOW: u8 = 64;
pub(crate) const LEAVES: u8 = 128;
/// A packet is accepted without further checks only if none of these but `UP` is set.
pub(crate) const PLAIN: u8 = UP | ASIDE;

impl Rest {
    /// The byte count of the link.
    pub(crate) fn bytes(&self, modulo: u32) -> u64 {
        u64::from(self.byte_wraps) << 32 | u64::from(modulo)
    }
}

impl Link {
    /// An empty link whose ring has `length` slots from `ring` on.
    pub(crate) fn new(
        spec: &weft_fabric::Link,
        far_end: FarEnd,
        span: Span,
        ring: u32,
        length: u32,
    ) -> (Self, Rest) {
        let mut flags = if spec.up { UP } else { 0 };
        let (limit, limit_in_bytes) = split_limit(spec.queue.limit);
        let (ecn_threshold, mark_in_bytes) = spec.queue.ecn_threshold.map_or((u32::MAX, false), split_limit);
        for (set, flag) in [
            (limit_in_bytes, LIMIT_IN_BYTES),
            (spec.queue.ecn_threshold.is_some(), MARKS),
            (mark_in_bytes, MARK_IN_BYTES),
            (spec.overhead.pads(), PADS),
            (spec.rate < Rate::from_gbps(1), SLOW),
            (span == Span::Leaves, LEAVES),
        ] {
            flags |= if set { flag } else { 0 };
        }
        let free = |are_bytes: bool| {
            let limit = if limit_in_bytes == are_bytes { limit } else { u32::MAX };
            limit.min(if mark_in_bytes == are_bytes { ecn_threshold } else { u32::MAX })
        };
        let (free_packets, free_bytes) = (free(false), free(true));
        let mut link = Link {
            busy_until: Time::ZERO,
            clock: TxClock::new(spec.rate),
            delay: spec.delay,
            wire_bytes: 0,
            ring,
            base: 0,
            head: 0,
            tail: 0,
            room: 0,
            ring_shift: length.leading_zeros() as u8 + 1,
            free: 0,
            max_backlog: 0,
            far_end,
            far_port: spec.to_port.0,
            overhead: spec.overhead.bytes() as u8,
            flags,
        };
        let of_link = Rest {
            limit,
            ecn_threshold,
            drops: 0,
            marks: 0,
            wraps: 0,
            byte_wraps: 0,
            free_packets,
            free_bytes,
            max_backlog: Bytes(0),
        };
        link.find_room(&of_link);
        (link, of_link)
    }

    /// The index in the arena of the packet with this number.
    #[inline(always)]
    pub(crate) const fn slot(&self, number: u32) -> usize {
        (self.ring + (number.wrapping_sub(self.base) & self.mask())) as usize
    }

    /// The length of the ring less one.
    #[inline(always)]
    pub(crate) const fn mask(&self) -> u32 {
        u32::MAX >> self.ring_shift
    }

    #[inline(always)]
    pub(crate) fn wire_bytes(&self, ip_bytes: u16) -> u32 {
        let least = if self.flags & PADS != 0 { Overhead::MIN_PACKET } else { 0 };
        u32::from(ip_bytes).max(least) + u32::from(self.overhead)
    }

    /// Recomputes [`Link::room`] and [`Link::free`].
    pub(crate) fn find_room(&mut self, rest: &Rest) {
        let plain = self.flags & PLAIN == UP;
        let packets = self.mask().min(rest.free_packets).saturating_add(1);
        self.room = if plain { packets.min(u16::MAX.into()) as u16 } else { 0 };
        // Transmission times are rounded; two bytes are more than the differences.
        let bytes = rest.free_bytes.saturating_sub(2);
        let time =
            if rest.free_bytes == u32::MAX { Duration::MAX } else { self.clock.time_of(Bytes(bytes.into())) };
        self.free = u32::try_from(time.ps() >> self.grain()).unwrap_or(u32::MAX);
    }

    /// Updates the longest backlog.
    #[inline(always)]
    pub(crate) fn note_backlog(&mut self, now: Time) {
        let backlog = self.backlog_time(now).ps() >> self.grain();
        self.max_backlog = self.max_backlog.max(backlog.min(u64::from(u32::MAX)) as u32);
    }

    /// Low bits dropped from a backlog: 1.024 ns, or 1.05 us on slow links, whose backlog may take hours.
    #[inline(always)]
    pub(crate) const fn grain(&self) -> u32 {
        if self.flags & SLOW == 0 { 10 } else { 20 }
    }

    /// The time in which the line will be free.
    #[inline(always)]
    pub(crate) fn backlog_time(&self, now: Time) -> Duration {
        self.busy_until.saturating_since(now)
    }

    #[inline]
    pub(crate) fn backlog(&self, now: Time) -> Bytes {
        self.clock.bytes_in(self.backlog_time(now))
    }
}

fn split_limit(limit: Limit) -> (u32, bool) {
    match limit {
        Limit::Packets(packets) => (packets, false),
        Limit::Bytes(bytes) => (u32::try_from(bytes).unwrap_or(u32::MAX), true),
        Limit::Unlimited => (u32::MAX, false),
    }
}
