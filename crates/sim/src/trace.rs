//! [`Trace`]: the events of single frames.

use weft_fabric::Link;
use weft_switching::{DropReason, Header, Kept};
use weft_transport::Segment;
use weft_transport::mptcp::Options;
use weft_units::{LinkId, NodeId, Time};

use crate::packet::PacketId;

/// Events of frames, links and tables not yet passed on to a recorder.
#[derive(Debug, Default)]
pub struct Trace {
    /// Events, in order of simulated time.
    pub events: Vec<(Time, TraceEvent)>,
    /// The header of the flow whose switch table entries are traced.
    pub followed: Option<Header>,
}

/// When the first bit of a packet left the queue of a link: it was handed to the queue at `sent` and arrived at the far end at
/// `arrived`.
pub fn departure(link: &Link, ip_bytes: u16, sent: Time, arrived: Time) -> Time {
    Time::from_ps(arrived.ps().saturating_sub(link.crossing(ip_bytes.into()).ps()).max(sent.ps()))
}

/// A frame at the time of an event.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Its header.
    pub header: Header,
    /// The number of the flow that it belongs to, if it does to one; of a connection that flows share, the last one.
    pub flow: Option<u32>,
    /// The number of its subflow, if it belongs to a flow.
    pub subflow: u8,
    /// The segment that it carries and its Multipath TCP option, if it belongs to a connection.
    pub segment: Option<(Segment, Options)>,
}

/// An event of a frame, a link or a table. A frame's number is reused after the frame has ended.
#[derive(Clone, Copy, Debug)]
pub enum TraceEvent {
    /// A frame is handed to a link; an unknown number is a new frame. If the link refuses it, `Dropped` follows.
    Sent {
        /// The frame.
        frame: PacketId,
        /// The link.
        link: LinkId,
        /// Its content, with the header rewritten.
        seen: Seen,
    },
    /// A frame reached the far end of a link.
    Arrived {
        /// The frame.
        frame: PacketId,
        /// The link.
        link: LinkId,
        /// Its content.
        seen: Seen,
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
        seen: Seen,
    },
    /// A frame reached the switch it was addressed to.
    Consumed {
        /// The frame.
        frame: PacketId,
    },
    /// A switch handed a frame to the controller. If the controller returns it, it is a new frame.
    Parked {
        /// The frame.
        frame: PacketId,
    },
    /// A host received a frame.
    Delivered {
        /// The frame.
        frame: PacketId,
    },
    /// The source of a flow has something to send, and waits for its turn on a link of its host.
    Waits {
        /// The flow; of a connection that flows share, the last one.
        flow: u32,
        /// The number of the line for that link.
        line: u32,
        /// When its rate lets it send.
        from: Time,
    },
    /// It is the turn of a source that waits: what it sends now has waited.
    Turn {
        /// The flow.
        flow: u32,
        /// The number of the line.
        line: u32,
    },
    /// The source of a flow in parts may send one part more, which it has received from another rank.
    Part {
        /// The flow; of a connection that flows share, the last one.
        flow: u32,
        /// The flow in parts.
        message: u32,
    },
    /// A flow starts.
    Started {
        /// The flow.
        flow: u32,
    },
    /// The congestion window of a flow's source that can send: at its start, after a packet or a timeout; of Multipath
    /// TCP, the sum over the open subflows.
    Window {
        /// The flow.
        flow: u32,
        /// Bytes.
        bytes: u64,
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
