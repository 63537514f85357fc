//! [`Tracer`]: receives the events of single frames.

use std::fmt;

use weft_switching::{DropReason, Header, Kept};
use weft_transport::Segment;
use weft_transport::mptcp::Options;
use weft_units::{LinkId, NodeId, Time};

use crate::packet::{PacketId, Slab};

/// Receives trace events, in order of simulated time.
pub trait Tracer {
    /// Whether there are any; a constant, so that runs without a trace are compiled without it.
    const TRACES: bool;

    /// An event of a frame, a link or a table.
    fn trace(&mut self, time: Time, event: TraceEvent<'_>);

    /// The header of the flow whose switch table entries are traced.
    fn followed(&self) -> Option<Header> {
        None
    }
}

/// Traces nothing.
pub struct Untraced;

impl Tracer for Untraced {
    const TRACES: bool = false;

    fn trace(&mut self, _time: Time, _event: TraceEvent<'_>) {}
}

/// A frame at the time of an event.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    packets: &'a Slab,
    frame: PacketId,
    /// The number of the flow that it belongs to, if it does to one.
    pub flow: Option<u32>,
}

impl<'a> Seen<'a> {
    /// Packet `frame` of `packets`.
    pub const fn new(packets: &'a Slab, frame: PacketId, flow: Option<u32>) -> Self {
        Self { packets, frame, flow }
    }

    /// Its header.
    pub fn header(&self) -> &'a Header {
        &self.packets.get(self.frame).header
    }

    /// The segment that it carries and its Multipath TCP option, if it belongs to a connection.
    pub fn segment(&self) -> Option<(Segment, Options)> {
        self.flow?;
        let mut segment = Segment::default();
        self.packets.read_segment(self.frame, &mut segment);
        Some((segment, self.packets.options(self.frame)))
    }
}

impl fmt::Debug for Seen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.header().fmt(f)
    }
}

/// An event of a frame, a link or a table. A frame's number is reused after the frame has ended.
#[derive(Clone, Copy, Debug)]
pub enum TraceEvent<'a> {
    /// A frame, now with `header`, is handed to a link; an unknown number is a new frame. If the link
    /// refuses it, `Dropped` follows.
    Sent {
        /// The frame.
        frame: PacketId,
        /// The link.
        link: LinkId,
        /// Its header, rewritten.
        header: &'a Header,
    },
    /// A frame reached the far end of a link.
    Arrived {
        /// The frame.
        frame: PacketId,
        /// The link.
        link: LinkId,
        /// Its content.
        seen: Seen<'a>,
    },
    /// A switch copied a frame to flood it.
    Copied {
        /// The copy.
        frame: PacketId,
        /// The original.
        of: PacketId,
    },
    /// A frame was dropped.
    Dropped {
        /// The frame.
        frame: PacketId,
        /// The reason.
        reason: DropReason,
        /// The link that refused or lost it, if any.
        link: Option<LinkId>,
        /// Its content.
        seen: Seen<'a>,
    },
    /// A frame reached the switch it was addressed to.
    Consumed {
        /// The frame.
        frame: PacketId,
    },
    /// A host received a frame.
    Delivered {
        /// The frame.
        frame: PacketId,
    },
    /// A link failed or came up again; on failure, drops of its frames follow.
    LinkChanged {
        /// The link.
        link: LinkId,
        /// Whether it is up now.
        up: bool,
    },
    /// A switch's entries for the followed flow, after each frame and deadline.
    Kept {
        /// The switch.
        node: NodeId,
        /// Its entries.
        kept: Kept,
    },
}
