//! [`Action`]: one action of a switch on a frame, [`Rewrite`], a change of the frame, and [`Report`], a message about it.

use weft_units::PortId;
use weft_wire::{EtherType, Mac, TAG_LEN};

use crate::drop_reason::DropReason;
use crate::header::{Header, Kind, PATH_HEADER_BYTES};

/// One action on a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Send the frame out of a port in its form between switches.
    Send(PortId),
    /// Send the frame with this overlay ([`Header::overlay`]).
    SendWith(PortId, [u8; 8]),
    /// Send the frame out of a host port as its host sent it ([`Header::as_sent`]).
    Deliver(PortId),
    /// Drop it.
    Drop(DropReason),
    /// The frame was addressed to the switch itself.
    Consume,
    /// Hold it in this slot of the switch.
    Hold(u32),
    /// Hold the frame in memory of its own: it takes up no space in buffers and accounts of flow control.
    HoldAside(u32),
}

/// A change of a frame before it is sent, the same for all copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rewrite {
    /// None.
    #[default]
    Keep,
    /// Wrap it in a frame about a path, of this kind and exploration.
    Wrap(Kind, u32),
    /// Replace a frame about a path by the frame that it wraps.
    Unwrap,
    /// Increment the hop count of a frame about a path.
    Hop,
    /// Mark its source address: the frame is flooded because its destination is unknown.
    Mark,
    /// Unwrap the frame and mark its source address.
    UnwrapAndMark,
    /// Replace its destination address by a label, or remove the label if it equals that address.
    Label(Mac),
    /// Push a Tag-and-Forward tag: this EtherType, followed by these bytes.
    PushTag(EtherType, [u8; 6]),
    /// Pop its tag.
    PopTag,
}

impl Rewrite {
    /// Applies the change to `header`.
    pub fn apply(self, header: &mut Header) {
        match self {
            Self::Keep => {}
            Self::Wrap(kind, id) => {
                header.kind = kind;
                header.set_exploration_id(id);
                header.overlay[4] = 0;
                header.ip_bytes += PATH_HEADER_BYTES;
            }
            Self::Unwrap => header.unwrap(),
            Self::Mark => header.src = header.src.marked(),
            Self::UnwrapAndMark => {
                header.unwrap();
                Self::Mark.apply(header);
            }
            Self::Hop => header.overlay[4] = header.overlay[4].saturating_add(1),
            Self::Label(label) => header.set_label(label),
            Self::PushTag(ethertype, tag) => {
                header.set_tag(ethertype, tag);
                header.ip_bytes += TAG_LEN as u16;
            }
            Self::PopTag => {
                header.overlay = [0; 8];
                header.ip_bytes = header.ip_bytes.saturating_sub(TAG_LEN as u16);
            }
        }
    }
}

/// A message of a switch to its central controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Report {
    /// The frame, sent by the rule with this cookie; without another action it waits at the controller.
    Frame(u64),
    /// A rule with removal notification idled out.
    RuleRemoved {
        /// The rule's cookie.
        cookie: u64,
        /// Frames that matched it.
        packets: u64,
        /// Their bytes.
        bytes: u64,
    },
}
