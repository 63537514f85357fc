//! [`TraceEvent`]: events of single frames, for recorders that set [`Recorder::TRACES`].
//!
//! `TRACES` is a constant, so that runs without a trace are compiled without it.

use weft_switching::{DropReason, Header, Kept, Switch};
use weft_units::{LinkId, NodeId};

use crate::engine::Engine;
use crate::packet::PacketId;
use crate::record::Recorder;

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

impl<S: Switch> Engine<'_, S> {
    /// Traces a switch's entries for the followed flow.
    pub(crate) fn trace_kept<R: Recorder>(&self, number: usize, recorder: &mut R) {
        if let Some(header) = recorder.followed() {
            let switch = &self.switches[number];
            let kept = switch.scheme.kept(&header, self.net.now);
            recorder.trace(self.net.now, TraceEvent::Kept { node: switch.node, kept });
        }
    }
}
