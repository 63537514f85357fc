//! Links: each is unidirectional, with its egress queue.
//!
//! A FIFO queue needs no event of its own: when a packet is accepted, its departure time is known
//! (after the packets before it), and so is its arrival at the other end. A link's ring holds the
//! packets from acceptance to arrival, in order; the packets that have not departed are the queue. A
//! served port keeps its waiting packets in its queues (`served_port.rs`) and passes them on in the
//! order in which the line sends them.
//!
//! All rings share one arena.

mod arrivals;
mod changes;

use weft_fabric::Fabric;
use weft_units::{Bytes, Duration, Time};

use crate::huge;
use crate::line::{FarEnd, Line, LinkCounters, Offer};
use crate::link_state::{InFlight, LEAVES, LIMIT_IN_BYTES, Link, MARK_IN_BYTES, MARKS, PLAIN, Rest, UP};
use crate::packet::{Bound, UNDECIDED};
use crate::prefetch::prefetch;

/// Initial ring length in packets.
const FIRST_RING: u32 = 8;
/// Room per link in the arena that is reserved at the start.
const USUAL_RING: usize = 64;

/// Entries in a cache line, and those that are prefetched for a window.
const PER_LINE: usize = 4;
const PREFETCHED: u32 = 16;

/// All links of a run.
pub struct Links {
    links: Vec<Link>,
    rest: Vec<Rest>,
    arena: Vec<InFlight>,
}

impl Links {
    /// These links of `fabric`, numbered in this order.
    pub fn new(fabric: &Fabric, lines: &[Line]) -> Self {
        let (mut links, mut rest) = (Vec::with_capacity(lines.len()), Vec::with_capacity(lines.len()));
        for (&Line { id, far_end, span }, ring) in lines.iter().zip((0..).step_by(FIRST_RING as usize)) {
            let spec = fabric.link(id);
            let (link, of_link) = Link::new(spec, far_end, span, ring, FIRST_RING);
            links.push(link);
            rest.push(of_link);
        }
        let mut arena = Vec::new();
        huge::reserve(&mut arena, lines.len() * USUAL_RING);
        arena.resize(lines.len() * FIRST_RING as usize, InFlight::default());
        Self { links, rest, arena }
    }

    /// The number of links.
    pub fn count(&self) -> u32 {
        self.links.len() as u32
    }

    /// Whether the link carries packets.
    #[inline(always)]
    pub fn is_up(&self, link: u32) -> bool {
        self.links[link as usize].flags & UP != 0
    }

    /// When the line becomes free.
    #[inline(always)]
    pub fn busy_until(&self, link: u32) -> Time {
        self.links[link as usize].busy_until
    }

    /// The time to send `bytes` on the wire.
    pub fn tx_time(&self, link: u32, bytes: u64) -> Duration {
        self.links[link as usize].clock.tx_time(1) * bytes
    }

    /// The length on the wire of an IP packet.
    #[inline(always)]
    pub fn wire_bytes(&self, link: u32, ip_bytes: u16) -> u32 {
        self.links[link as usize].wire_bytes(ip_bytes)
    }

    /// Bytes not yet sent at `now`, including the rest of the packet on the wire.
    #[inline]
    pub fn backlog(&self, link: u32, now: Time) -> Bytes {
        self.links[link as usize].backlog(now)
    }

    /// The longest backlog, `longest` so far, if at `now` these bytes wait besides the rest of the packet on the wire.
    #[inline(always)]
    pub fn longest_with(&self, link: u32, now: Time, waiting: Bytes, longest: Bytes) -> Bytes {
        let at = &self.links[link as usize];
        let rest = at.backlog_time(now);
        match longest.0.checked_sub(waiting.0) {
            Some(more) if !at.clock.sends_more_in(rest, more) => longest,
            _ => at.clock.bytes_in(rest) + waiting,
        }
    }

    /// Bytes not yet sent at `now` if packets that take this time wait for the line.
    pub fn backlog_with(&self, link: u32, now: Time, waiting: Duration) -> Bytes {
        let at = &self.links[link as usize];
        at.clock.bytes_in((at.busy_until + waiting).saturating_since(now))
    }

    /// Packets waiting at `now`, not counting the one on the wire.
    pub fn waiting(&self, link: u32, now: Time) -> u32 {
        let at = &self.links[link as usize];
        (at.tail.wrapping_sub(at.head) - self.departed(at, now)).saturating_sub(1)
    }

    /// Bytes of these packets.
    fn waiting_bytes(&self, at: &Link, now: Time) -> u64 {
        let departed = self.departed(at, now);
        if departed == at.tail.wrapping_sub(at.head) {
            return 0;
        }
        let free = self.arrival(at, departed) - at.delay.ps();
        at.clock.bytes_in(at.busy_until.saturating_since(Time::from_ps(free))).0
    }

    /// Packets on the link that have left the port by `now`.
    fn departed(&self, at: &Link, now: Time) -> u32 {
        let (mut departed, mut present) = (0, at.tail.wrapping_sub(at.head));
        while departed < present {
            let middle = departed + (present - departed) / 2;
            if self.arrival(at, middle) <= (now + at.delay).ps() {
                departed = middle + 1;
            } else {
                present = middle;
            }
        }
        departed
    }

    /// When the packet at this place on the link (0 is the first) arrives.
    fn arrival(&self, at: &Link, place: u32) -> u64 {
        self.arena[at.slot(at.head.wrapping_add(place))].arrival
    }

    /// Offers a packet at `now`; calls `mark` if it should carry a congestion mark.
    #[inline(always)]
    pub fn offer(
        &mut self,
        link: u32,
        now: Time,
        bound: Bound,
        ip_bytes: u16,
        mark: impl FnOnce() -> bool,
    ) -> Offer {
        let at = &self.links[link as usize];
        let wire_bytes = at.wire_bytes(ip_bytes);
        let leaves = at.backlog_time(now) + at.clock.tx_time(wire_bytes);
        let is_free = leaves.ps() >> at.grain() < u64::from(at.free);
        if !is_free | (at.tail.wrapping_sub(at.head) >= u32::from(at.room)) {
            if at.flags & PLAIN != UP {
                return Offer::Refused;
            }
            return self.offer_checked(link, now, bound, ip_bytes, mark);
        }
        self.append(link, now, bound, wire_bytes)
    }

    /// Offers a packet to a link that is up, with all checks of its one queue.
    #[inline(never)]
    pub fn offer_checked(
        &mut self,
        link: u32,
        now: Time,
        bound: Bound,
        ip_bytes: u16,
        mark: impl FnOnce() -> bool,
    ) -> Offer {
        self.forget_arrived(link, now);
        let at = &self.links[link as usize];
        let wire_bytes = at.wire_bytes(ip_bytes);
        if at.tail != at.head && self.refuse_or_mark(link, now, wire_bytes, mark) {
            self.rest[link as usize].drops += 1;
            self.links[link as usize].note_backlog(now);
            return Offer::Full;
        }
        self.push(link, now, bound, wire_bytes)
    }

    /// Appends a packet to the line, ignoring the queue limit.
    #[inline(always)]
    pub fn push(&mut self, link: u32, now: Time, bound: Bound, wire_bytes: u32) -> Offer {
        self.forget_arrived(link, now);
        let at = &self.links[link as usize];
        if at.tail.wrapping_sub(at.head) > at.mask() {
            self.grow(link);
        }
        self.append(link, now, bound, wire_bytes)
    }

    /// Appends a packet to a ring with a free slot.
    #[inline(always)]
    fn append(&mut self, link: u32, now: Time, bound: Bound, wire_bytes: u32) -> Offer {
        let at = &mut self.links[link as usize];
        at.note_backlog(now);
        let start = std::hint::select_unpredictable(at.busy_until > now, at.busy_until, now);
        let departure = start + at.clock.tx_time(wire_bytes);
        let arrival = departure + at.delay;
        at.busy_until = departure;
        let (bytes, wrapped) = at.wire_bytes.overflowing_add(wire_bytes);
        at.wire_bytes = bytes;
        if wrapped {
            self.rest[link as usize].byte_wraps += 1;
        }
        let first = at.tail == at.head;
        // A ring that was empty starts at its first slot again, so that little of the arena is in use.
        at.base = std::hint::select_unpredictable(first, at.tail, at.base);
        let slot = at.slot(at.tail);
        at.tail = at.tail.wrapping_add(1);
        if at.tail == 0 {
            self.rest[link as usize].wraps += 1;
        }
        self.arena[slot] = InFlight { arrival: arrival.ps(), bound };
        match first {
            _ if at.flags & LEAVES != 0 => Offer::Leaves(arrival),
            true => Offer::First(arrival, at.far_port),
            false => Offer::Queued,
        }
    }

    /// Refuses a packet if the busy link is full; otherwise marks it if the queue is past its threshold. Returns
    /// whether it is refused.
    #[inline(never)]
    fn refuse_or_mark(&mut self, link: u32, now: Time, wire_bytes: u32, mark: impl FnOnce() -> bool) -> bool {
        let (at, rest) = (&self.links[link as usize], &self.rest[link as usize]);
        let full = if at.flags & LIMIT_IN_BYTES != 0 {
            self.waits_bytes(at, now, u64::from(rest.limit) + 1, wire_bytes)
        } else {
            self.waits(at, now, rest.limit)
        };
        if full {
            return true;
        }
        if at.flags & MARKS != 0 {
            let past = if at.flags & MARK_IN_BYTES != 0 {
                self.waits_bytes(at, now, rest.ecn_threshold.into(), 0)
            } else {
                self.waits(at, now, rest.ecn_threshold)
            };
            if past && mark() {
                self.rest[link as usize].marks += 1;
            }
        }
        false
    }

    /// Whether at least `count` packets wait at `now`: then the one `count` before the last has not departed.
    fn waits(&self, at: &Link, now: Time, count: u32) -> bool {
        let present = at.tail.wrapping_sub(at.head);
        present > count && self.arrival(at, present - count - 1) > (now + at.delay).ps()
    }

    /// Whether at least `count` bytes wait at `now`, counting `more`.
    fn waits_bytes(&self, at: &Link, now: Time, count: u64, more: u32) -> bool {
        let reaches = |bytes: u64| bytes + u64::from(more) >= count;
        at.busy_until > now && reaches(at.backlog(now).0) && reaches(self.waiting_bytes(at, now))
    }

    /// Counts a packet marked in one of the port's class queues.
    pub fn count_mark(&mut self, link: u32) {
        self.rest[link as usize].marks += 1;
    }

    /// Counts a packet dropped at one of the port's class queues.
    pub fn count_drop(&mut self, link: u32) {
        self.rest[link as usize].drops += 1;
    }

    /// The next packet to arrive; any packet if there is none.
    #[inline(always)]
    pub fn first(&self, link: u32) -> Bound {
        let at = &self.links[link as usize];
        self.arena[at.slot(at.head)].bound
    }

    /// The far end of a link.
    #[inline(always)]
    pub fn far_end(&self, link: u32) -> FarEnd {
        self.links[link as usize].far_end
    }

    /// Forgets the decisions of switches about packets that have not arrived: the routes have changed.
    pub fn forget_decisions(&mut self) {
        self.arena.iter_mut().for_each(|packet| packet.bound.egress = UNDECIDED);
    }

    /// Prefetches the entries of a link's ring that are needed in the next window.
    #[inline(always)]
    pub fn prefetch_window(&self, link: u32) {
        let at = &self.links[link as usize];
        for place in (0..PREFETCHED).step_by(PER_LINE) {
            prefetch(self.arena.as_ptr().wrapping_add(at.slot(at.head.wrapping_add(place))));
        }
    }

    /// Prefetches the first two entries of a link's ring.
    #[inline(always)]
    pub fn prefetch_ring(&self, link: u32) {
        let at = &self.links[link as usize];
        prefetch(self.arena.as_ptr().wrapping_add(at.slot(at.head)));
        prefetch(self.arena.as_ptr().wrapping_add(at.slot(at.head.wrapping_add(1))));
    }

    /// Prefetches a link.
    #[inline(always)]
    pub fn prefetch(&self, link: u32) {
        prefetch(self.links.as_ptr().wrapping_add(link as usize));
    }

    /// Bytes of all packets that the line has taken, the one on the wire included.
    pub fn accepted_bytes(&self, link: u32) -> u64 {
        self.rest[link as usize].bytes(self.links[link as usize].wire_bytes)
    }

    /// The counters of a link at `now`.
    pub fn counters(&self, link: u32, now: Time) -> LinkCounters {
        let (at, rest) = (&self.links[link as usize], &self.rest[link as usize]);
        let longest = Duration::from_ps(u64::from(at.max_backlog) << at.grain());
        LinkCounters {
            wire_bytes: rest.bytes(at.wire_bytes).saturating_sub(at.backlog(now).0),
            packets: u64::from(rest.wraps) << 32 | u64::from(at.tail),
            drops: rest.drops,
            marks: rest.marks,
            max_backlog: at.clock.bytes_in(longest).max(rest.max_backlog),
        }
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        self.links.capacity() * size_of::<Link>()
            + self.rest.capacity() * size_of::<Rest>()
            + self.arena.len() * size_of::<InFlight>()
    }

    /// Moves a link's ring to the end of the arena, at twice the length.
    #[cold]
    fn grow(&mut self, link: u32) {
        let at = &mut self.links[link as usize];
        let (ring, ring_shift) = (self.arena.len() as u32, at.ring_shift - 1);
        let mask = u32::MAX >> ring_shift;
        let length = self.arena.len() + mask as usize + 1;
        if length > self.arena.capacity() {
            huge::reserve(&mut self.arena, mask as usize + 1);
        }
        self.arena.resize(length, InFlight::default());
        let mut place = at.head;
        while place != at.tail {
            let slot = ring + place.wrapping_sub(at.head);
            self.arena[slot as usize] = self.arena[at.slot(place)];
            place = place.wrapping_add(1);
        }
        (at.ring, at.ring_shift, at.base) = (ring, ring_shift, at.head);
        at.find_room(&self.rest[link as usize]);
    }
}

#[cfg(test)]
mod tests;
