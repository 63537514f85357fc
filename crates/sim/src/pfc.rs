//! [`Ingress`]: the space that packets from a link with priority flow control take up in a switch, and which of the
//! link's queues it pauses for that (IEEE 802.1Qbb).
//!
//! A pause frame carries the state of all queues of the link. It takes effect when it arrives, and holds until the next
//! one; real ones expire and are repeated.

use weft_fabric::{Fabric, MAX_QUEUES, QueueSpec, Thresholds};
use weft_switching::{Header, Mac};
use weft_units::{LinkId, NodeId};

use crate::deadlock::{Pause, Xon};
use crate::shared_buffer::{Buffer, moving_xon};

/// The group address of flow control (IEEE 802.3, 31B).
const FLOW_CONTROL: Mac = Mac([0x01, 0x80, 0xc2, 0x00, 0x00, 0x01]);

/// One link into a switch.
#[derive(Clone, Debug)]
pub struct Ingress {
    /// The number of queues of its sender.
    pub queues: usize,
    lossless: u8,
    thresholds: Thresholds,
    bytes: [u64; MAX_QUEUES],
    /// The queues that the switch wants to pause, and those that the sender was last notified of.
    asserted: u8,
    announced: u8,
    /// PFC frames sent since the link was last down.
    frames: u32,
}

impl Ingress {
    /// The account of `link`; `None` if it has no flow control, or leads to a host.
    pub fn new(fabric: &Fabric, link: LinkId) -> Option<Self> {
        let spec = &fabric.link(link).queue;
        let (queues, lossless) = (spec.classes.len().max(1), lossless_queues(spec));
        let thresholds = fabric.thresholds(link)?;
        Some(Self {
            queues,
            lossless,
            thresholds,
            bytes: [0; MAX_QUEUES],
            asserted: 0,
            announced: 0,
            frames: 0,
        })
    }

    /// Whether packets of this queue are never dropped.
    pub const fn is_lossless(&self, queue: usize) -> bool {
        self.lossless >> queue & 1 == 1
    }

    /// Whether its packets count in the shared buffer.
    pub const fn shares(&self) -> bool {
        self.thresholds.xoff.is_none()
    }

    /// Whether a packet of this queue fits.
    pub fn fits(&self, queue: usize, wire_bytes: u32, buffer: Option<&Buffer>) -> bool {
        match (self.thresholds.xoff, buffer) {
            (None, Some(buffer)) => buffer.fits_lossless(wire_bytes),
            (xoff, _) => {
                let space = xoff.unwrap_or(0).saturating_add(self.thresholds.headroom);
                self.bytes[queue] + u64::from(wire_bytes) <= space
            }
        }
    }

    /// A packet of this queue waits in the switch.
    pub fn charge(&mut self, queue: usize, wire_bytes: u32, buffer: Option<&Buffer>) {
        self.bytes[queue] += u64::from(wire_bytes);
        self.assess(queue, buffer);
    }

    /// A packet of this queue has left.
    pub fn release(&mut self, queue: usize, wire_bytes: u32, buffer: Option<&Buffer>) {
        self.bytes[queue] -= u64::from(wire_bytes);
        if self.bytes[queue] <= self.level(buffer.map_or(0, Buffer::threshold)) {
            self.asserted &= !(1 << queue);
        }
    }

    fn assess(&mut self, queue: usize, buffer: Option<&Buffer>) {
        let xoff = self.thresholds.xoff.or(buffer.map(Buffer::threshold)).unwrap_or(0);
        if self.bytes[queue] > xoff {
            self.asserted |= 1 << queue;
        }
    }

    /// The bytes at which a queue resumes.
    fn level(&self, threshold: u64) -> u64 {
        if self.shares() { moving_xon(threshold) } else { self.thresholds.xon }
    }

    /// Why a queue is paused, if it is; `node` is the switch.
    pub fn pause(&self, queue: usize, node: NodeId) -> Option<Pause> {
        let xon = if self.shares() { Xon::Moving(node) } else { Xon::Fixed(self.thresholds.xon) };
        let pause = Pause { bytes: self.bytes[queue], xon, frames: self.frames };
        (self.asserted >> queue & 1 == 1).then_some(pause)
    }

    /// The link is down: its sender has forgotten all.
    pub fn reset(&mut self) {
        (self.asserted, self.announced, self.frames) = (0, 0, 0);
    }

    /// The link is up again.
    pub fn reassess(&mut self, buffer: Option<&Buffer>) {
        for queue in 0..self.queues {
            if self.is_lossless(queue) && self.bytes[queue] > 0 {
                self.assess(queue, buffer);
            }
        }
    }

    /// Whether the sender must be notified of a change.
    pub const fn has_news(&self) -> bool {
        self.asserted != self.announced
    }

    /// The PFC frame that announces the change.
    pub fn announce(&mut self) -> Header {
        self.announced = self.asserted;
        self.frames = self.frames.wrapping_add(1);
        let overlay = [self.asserted, 0, 0, 0, 0, 0, 0, 0];
        let kind = weft_switching::Kind::Other;
        Header { dst: FLOW_CONTROL, kind, overlay, ip_bytes: Header::SHORTEST, ..Header::default() }
    }
}

/// The lossless queues of a port, one bit each.
pub fn lossless_queues(spec: &QueueSpec) -> u8 {
    let Some(pfc) = spec.pfc else { return 0 };
    (0..spec.classes.len().max(1)).filter(|queue| pfc.has(*queue)).fold(0, |mask, queue| mask | 1 << queue)
}

/// The queues that a frame pauses, if it is a pause frame.
pub fn paused_by(header: &Header) -> Option<u8> {
    (header.dst == FLOW_CONTROL).then_some(header.overlay[0])
}
