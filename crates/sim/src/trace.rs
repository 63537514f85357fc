//! [`TraceEvent`]: what becomes of single frames, for recorders that ask ([`Recorder::TRACES`]).
//!
//! Whether a recorder asks is a constant, so that a run without a trace is compiled without it.

use weft_switching::{DropReason, Header, Kept, Switch};
use weft_units::{LinkId, NodeId};

use crate::engine::Engine;
use crate::packet::PacketId;
use crate::record::Recorder;

/// Something became of a frame, a link or a table. A frame's number is another frame's once it has ended.
#[derive(Clone, Copy, Debug)]
pub enum TraceEvent<'a> {
    /// A frame, which is now as `header` says, is handed to a link; one not heard of before is new. Where
    /// the link does not take it, it is dropped next.
    Sent {
        /// The frame.
        frame: PacketId,
        /// The link.
        link: LinkId,
        /// Its header, rewritten.
        header: &'a Header,
    },
    /// A frame has reached the far end of a link.
    Arrived {
        /// The frame.
        frame: PacketId,
        /// The link.
        link: LinkId,
    },
    /// A switch has copied a frame to flood it.
    Copied {
        /// The copy.
        frame: PacketId,
        /// The frame.
        of: PacketId,
    },
    /// A frame goes no further.
    Dropped {
        /// The frame.
        frame: PacketId,
        /// Why.
        reason: DropReason,
    },
    /// A frame has reached the switch that it was for.
    Consumed {
        /// The frame.
        frame: PacketId,
    },
    /// A host has taken a frame in.
    Delivered {
        /// The frame.
        frame: PacketId,
    },
    /// A link has failed or healed; what was on it is dropped next.
    LinkChanged {
        /// The link.
        link: LinkId,
        /// Whether it is up now.
        up: bool,
    },
    /// What a switch keeps of the flow that is followed, after each frame and each of its deadlines.
    Kept {
        /// The switch.
        node: NodeId,
        /// Its entries.
        kept: Kept,
    },
}

impl<S: Switch> Engine<'_, S> {
    /// Tells what a switch keeps of the flow that is followed.
    pub(crate) fn trace_kept<R: Recorder>(&self, number: usize, recorder: &mut R) {
        if let Some(header) = recorder.followed() {
            let switch = &self.switches[number];
            let kept = switch.scheme.kept(&header, self.net.now);
            recorder.trace(self.net.now, TraceEvent::Kept { node: switch.node, kept });
        }
    }
}
