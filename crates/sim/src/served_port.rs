//! [`ServedPort`]: a port that chooses its next packet when its line becomes free.
//!
//! Most ports are analytic: when a FIFO queue accepts a packet, its departure is known (`link/`). A port that chooses
//! among waiting packets, marks at random or cuts packets is served later than that, but before anything depends on its
//! choice ([`Service`]).

use std::mem::offset_of;

use rand_core::RngCore as _;
use weft_fabric::{Link, MarkAt, QueueSpec, class_of};
use weft_switching::{Header, Kind, Stream, stream};
use weft_units::{Bytes, Duration, LinkId, Time};

use crate::class_queue::{ClassQueue, Waiting};
use crate::pfc::lossless_queues;
use crate::red::Marking;
use crate::room::Room;

/// Event counts at a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PortCounters {
    /// Packets cut to their headers.
    pub trimmed: u64,
    /// Pause frames sent over the link, those that end a pause included.
    pub pause_frames: u64,
    /// Time for which at least one of the port's queues was paused.
    pub paused: Duration,
}

/// The events in which a port is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Service {
    /// None: its choices depend only on the packets that have joined. They are deferred: all choices that are due are
    /// made when a packet joins, before anything looks at the port or changes it, and when the link has become empty, so
    /// that the next arrival is always known; in rounds, at the end of each round instead.
    Lazy,
    /// Also one for each packet that has waited, when the line becomes free, since others must know the departure at that
    /// time: at hosts and, without rounds, where the link leaves the partition.
    Timed,
    /// One for each packet: flow control or a shared buffer couples it to other ports.
    Coupled,
}

/// One port and its line. The fields that every packet needs take one cache line, each of the first two queues the next.
#[repr(C, align(64))]
pub struct ServedPort {
    /// The events in which it is served.
    pub service: Service,
    /// Whether it is a served port at all, and not only the place of one.
    pub is_served: bool,
    /// Whether the line of a coupled port is busy. Lines of other ports are, until `Links::busy_until`.
    pub line_busy: bool,
    /// Whether its packets have come over links: not those of a host, which are its own.
    pub is_at_switch: bool,
    /// The lossless queues, one bit each.
    lossless: u8,
    paused: u8,
    /// Queues that are shorter mark no packet.
    marks_from: Room,
    /// The longest backlog that a packet has found which had to wait, the packet being sent included.
    pub longest: Bytes,
    /// The packets that wait.
    pub queues: ClassQueue,
    /// The place of the switch's buffer, if its queues share one.
    pub buffer: Option<usize>,
    marking: Option<Marking>,
    /// Draws which packet is cut, if any is.
    trims: Option<Stream>,
    paused_since: Time,
    /// The pause frames that have come, since the link was last down.
    heeded: u32,
    counters: PortCounters,
}

const _: () =
    assert!(offset_of!(ServedPort, queues) + ClassQueue::HEAD == 64, "the first class starts a line");
const _: () = assert!(
    size_of::<ServedPort>() <= 6 * 64,
    "an odd number of lines, which spread over all sets of a cache"
);

impl ServedPort {
    /// The idle port of `link`, at a host if it `is_at_host`; a full packet of the hosts has `full_packet` bytes.
    pub fn new(
        id: LinkId,
        link: &Link,
        seed: u64,
        is_at_host: bool,
        full_packet: u32,
        service: Service,
        buffer: Option<usize>,
    ) -> Self {
        let spec: &QueueSpec = &link.queue;
        let is_limited = !is_at_host || spec.pfc.is_none();
        let urgent = if spec.trim { link.trim_limit(full_packet) } else { spec.limit };
        // In a host whose link has flow control, packets wait in its memory.
        let rooms = [urgent, spec.limit].map(|limit| if is_limited { Room::of(limit) } else { Room::ANY });
        let marking = Marking::new(spec, seed, id);
        Self {
            marks_from: marking.as_ref().map_or(Room::ANY, Marking::from),
            longest: Bytes(0),
            queues: ClassQueue::new(spec, link.rate, rooms),
            service,
            is_served: true,
            line_busy: false,
            buffer,
            is_at_switch: !is_at_host,
            lossless: lossless_queues(spec),
            marking,
            trims: spec.trim.then(|| stream(seed, "trim", id.0.into())),
            paused: 0,
            paused_since: Time::ZERO,
            heeded: 0,
            counters: PortCounters::default(),
        }
    }

    /// The queue of a packet.
    #[inline(always)]
    pub fn class_of(&self, header: &Header) -> usize {
        class_of(header.traffic_class, self.queues.count())
    }

    /// The queue of a packet for which its switch has chosen queue `chosen`, or has left the choice to the port with 0.
    #[inline(always)]
    pub fn class_for(&self, header: &Header, chosen: u8) -> usize {
        match chosen {
            0 => self.class_of(header),
            chosen => usize::from(chosen).min(self.queues.count() - 1),
        }
    }

    /// Whether packets of this queue are never dropped.
    pub const fn is_lossless(&self, class: usize) -> bool {
        self.lossless >> class & 1 == 1
    }

    /// Draws whether a packet that joins this queue gets a mark, before it has joined.
    #[inline(always)]
    pub fn draw_mark_joining(&mut self, class: usize) -> bool {
        self.draw_mark(class, MarkAt::Enqueue)
    }

    /// Draws whether a packet that leaves this queue gets a mark, before it has left.
    #[inline(always)]
    pub fn draw_mark_leaving(&mut self, class: usize) -> bool {
        self.draw_mark(class, MarkAt::Dequeue)
    }

    #[inline(always)]
    fn draw_mark(&mut self, class: usize, at: MarkAt) -> bool {
        let (bytes, packets) = self.queues.of(class);
        if bytes < self.marks_from.bytes && packets < self.marks_from.packets {
            return false;
        }
        let marking = self.marking.as_mut().filter(|marking| marking.at == at);
        marking.is_some_and(|marking| marking.draw_mark(bytes, packets))
    }

    /// Whether a packet for which there is no space may be cut. Then either it or the last one of its queue is.
    pub fn trims(&self, header: &Header) -> bool {
        self.trims.is_some() && is_trimmable(header)
    }

    /// Draws whether the last packet of a full queue is cut instead of the arriving one: with equal chance.
    pub fn draw_trim(&mut self) -> bool {
        self.trims.as_mut().is_some_and(|random| random.next_u32() & 1 == 1)
    }

    /// Counts a packet that was cut.
    pub fn count_trimmed(&mut self) {
        self.counters.trimmed += 1;
    }

    /// Counts a pause frame sent.
    pub fn count_pause_frame(&mut self) {
        self.counters.pause_frames += 1;
    }

    /// Removes the packet that the port sends next; returns it, and whether a mark is drawn for it.
    #[inline(always)]
    pub fn take_next(&mut self) -> Option<(Waiting, bool)> {
        let class = self.next_queue()?;
        let is_drawn = self.draw_mark_leaving(class);
        Some((self.queues.take_first(class)?, is_drawn))
    }

    /// The queue that sends next, if one may.
    #[inline(always)]
    pub fn next_queue(&mut self) -> Option<usize> {
        self.queues.next(self.paused)
    }

    /// Removes all packets: the link is down. Pauses are over.
    pub fn clear(&mut self, now: Time) -> Vec<Waiting> {
        self.pause(now, 0);
        self.heeded = 0;
        self.line_busy = false;
        let classes = 0..self.queues.count();
        let queues = &mut self.queues;
        classes
            .flat_map(|class| std::iter::from_fn(|| queues.take_first(class)).collect::<Vec<_>>())
            .collect()
    }

    /// The queues that are paused, one bit each.
    pub const fn paused(&self) -> u8 {
        self.paused
    }

    /// A pause frame has come: pauses these queues and no others; returns whether a paused queue resumes.
    pub fn heed(&mut self, now: Time, queues: u8) -> bool {
        self.heeded = self.heeded.wrapping_add(1);
        self.pause(now, queues)
    }

    /// Whether no more than these pause frames have been sent: none is under way that ends a pause.
    pub const fn has_heeded(&self, frames: u32) -> bool {
        self.heeded == frames
    }

    fn pause(&mut self, now: Time, queues: u8) -> bool {
        let before = std::mem::replace(&mut self.paused, queues);
        match (before == 0, queues == 0) {
            (true, false) => self.paused_since = now,
            (false, true) => self.counters.paused += now.saturating_since(self.paused_since),
            _ => {}
        }
        before & !queues != 0
    }

    /// The counters at `now`.
    pub fn counters(&self, now: Time) -> PortCounters {
        let pending = if self.paused == 0 { Duration::ZERO } else { now.saturating_since(self.paused_since) };
        PortCounters { paused: self.counters.paused + pending, ..self.counters }
    }
}

/// Whether the receiver can use the packet's header alone: TCP cannot.
pub fn is_trimmable(header: &Header) -> bool {
    header.kind == Kind::Other && header.payload > 0 && !header.is_trimmed()
}
