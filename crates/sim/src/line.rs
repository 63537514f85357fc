//! The ends of a link, the outcome of offering a packet to it, its counters, and the rank of its line.

use weft_fabric::Fabric;
use weft_units::{Bytes, LinkId, PortId, Time};

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

    /// The switch, or `other` for a host.
    #[inline(always)]
    pub fn switch_or(self, other: u32) -> u32 {
        std::hint::select_unpredictable(self.0 & Self::HOST == 0, self.0, other)
    }
}

/// A link of a partition: the fabric's ID, and its ends.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// The fabric's link.
    pub id: LinkId,
    /// Its far end.
    pub far_end: FarEnd,
    /// The partitions of its ends.
    pub span: Span,
}

/// The ends of a link that belong to a partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Span {
    /// Both.
    Within,
    /// The sending end. Packets leave for another partition when they are accepted.
    Leaves,
    /// The far end. Packets come from another partition.
    Enters,
}

/// The outcome of offering a packet to a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offer {
    /// The only packet on the link: schedule its arrival at this port.
    First(Time, u16),
    /// The packet follows others.
    Queued,
    /// The packet reaches another partition at this time.
    Leaves(Time),
    /// There was no room.
    Full,
    /// Not accepted here: the link is down, or its port has several queues.
    Refused,
}

/// Counters of one link.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCounters {
    /// Bytes sent, including overhead.
    pub wire_bytes: u64,
    /// Packets accepted.
    pub packets: u64,
    /// Packets dropped because the queue was full.
    pub drops: u64,
    /// Packets marked "congestion experienced".
    pub marks: u64,
    /// Longest backlog seen by a packet, with a resolution of 1.024 ns of line time (below 1 Gbps: 1.05 us).
    pub max_backlog: Bytes,
}

/// The place of a port's line among the simultaneous events of its node.
pub fn line_port(fabric: &Fabric, id: LinkId) -> u32 {
    line_rank(fabric.link(id).from_port)
}

/// [`line_port`] of the port with this number.
#[inline(always)]
pub fn line_rank(port: PortId) -> u32 {
    1 << 16 | u32::from(port.0)
}
