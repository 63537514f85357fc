//! [`Packet`]: a packet in flight or in a queue, in 64 bytes, and the rare data beside it.

pub mod slab;

use weft_switching::Header;
use weft_transport::mptcp::Options;
use weft_transport::roce::Telemetry;
use weft_units::{LinkId, Time};

/// Number of a packet in the [`slab::Slab`].
pub type PacketId = u32;

/// No link: the switch decides when the packet arrives.
pub const UNDECIDED: u32 = u32::MAX;

/// A packet, and the link on which the next switch will send it, or [`UNDECIDED`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Bound {
    /// The packet.
    pub packet: PacketId,
    /// The link.
    pub egress: u32,
}

impl Bound {
    /// A packet about which the next switch has not decided.
    pub const fn undecided(packet: PacketId) -> Self {
        Self { packet, egress: UNDECIDED }
    }
}

/// Flag in a packet's endpoint number: every link observes the packet.
pub const WATCHED: u32 = 1 << 31;
/// The owner of a packet that belongs to no connection; such packets are watched, too.
const NOBODY: u32 = u32::MAX;

/// The links that a followed packet has crossed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Way {
    /// Its number among the followed packets of its connection, from 1.
    pub number: u32,
    /// The links in order, at most [`Way::MAX`].
    pub links: Vec<LinkId>,
}

impl Way {
    /// The maximum number of links recorded.
    pub const MAX: usize = 64;
}

/// Data that a segment carries besides TCP's fields.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    /// A Multipath TCP option.
    pub options: Options,
    /// The address at the destination, if hosts use several.
    pub address: u8,
    /// The links crossed so far, if the packet is followed.
    pub way: Option<Box<Way>>,
    /// The state of the ports that it has left, if it asks for that or returns it. Segments do not.
    pub telemetry: Option<Box<Telemetry>>,
}

impl Metadata {
    #[inline(always)]
    fn is_nothing(&self) -> bool {
        self.options == Options::None && self.way.is_none()
    }
}

/// The parts of a segment that do not fit a [`Packet`]: SACK blocks, which are rare, and a [`Metadata`].
#[derive(Clone, Debug, Default)]
struct Extra {
    ts_val: u32,
    ts_ecr: u32,
    sack_count: u8,
    sacks: [(u32, u32); 4],
    metadata: Metadata,
}

/// Data that a packet of a protocol other than TCP carries besides its header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Content {
    /// The protocol's fields.
    pub words: [u32; 4],
    /// Further data, in the lower 30 bits.
    pub note: u32,
}

/// A packet outside of a slab, on its way to another one.
#[derive(Clone, Debug)]
pub struct DetachedPacket {
    packet: Packet,
    sent: Time,
    extra: Option<Box<Extra>>,
}

impl DetachedPacket {
    /// The header that switches see.
    pub const fn header(&self) -> &Header {
        &self.packet.header
    }
}

/// A packet in flight or in a queue.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Packet {
    /// The header that switches see.
    pub header: Header,
    seq: u32,
    ack: u32,
    /// The timestamps; `ts_val` is the number of the [`Extra`] if there is one.
    ts_val: u32,
    ts_ecr: u32,
    /// The receive window in the lower 30 bits, above it [`Packet::EXTRA`] and [`Packet::RESENT`].
    window: u32,
    /// The destination endpoint, possibly with [`WATCHED`], or [`NOBODY`].
    owner: u32,
}

impl Packet {
    /// The destination endpoint, if the packet belongs to a connection.
    #[inline]
    pub fn endpoint(&self) -> Option<u32> {
        if self.owner == NOBODY { None } else { Some(self.owner & !WATCHED) }
    }

    /// Whether every link observes the packet: it is part of a handshake, belongs to no connection, or
    /// shows its flow's path.
    #[inline]
    pub fn is_watched(&self) -> bool {
        self.owner & WATCHED != 0
    }

    const EXTRA: u32 = 1 << 31;
    const RESENT: u32 = 1 << 30;
}
