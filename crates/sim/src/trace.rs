//! [`Tracer`]: receives the events of single frames.

use weft_switching::{DropReason, Header, Kept};
use weft_units::{LinkId, NodeId, Time};

use crate::packet::PacketId;

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
