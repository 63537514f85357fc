//! What a switch wants done with a frame, as data.

use weft_units::PortId;

/// Why a frame was not forwarded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum DropReason {
    /// The egress queue had no room.
    QueueFull,
    /// The egress link is down, or went down while the frame was on it.
    LinkDown,
    /// No path leads to the destination.
    NoRoute,
    /// A host received a frame that is not addressed to it (a flooded copy).
    NotForMe,
    /// The frame would leave by the port that it came in on, and only by that one.
    SamePort,
}

impl DropReason {
    /// Every reason, in order of its number.
    pub const ALL: [Self; 5] =
        [Self::QueueFull, Self::LinkDown, Self::NoRoute, Self::NotForMe, Self::SamePort];

    /// The name by which results count the reason.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::LinkDown => "link_down",
            Self::NoRoute => "no_route",
            Self::NotForMe => "not_for_me",
            Self::SamePort => "same_port",
        }
    }
}

/// One thing to do with the frame at hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Send the frame out of a port.
    Send(PortId),
    /// Do not forward it.
    Drop(DropReason),
}

/// The actions for one frame: usually one, several for a flood.
///
/// The first is kept apart from the rest, so that unicast forwarding touches no list.
#[derive(Clone, Debug, Default)]
pub struct Actions {
    first: Option<Action>,
    rest: Vec<Action>,
}

impl Actions {
    /// Sends the frame (a copy of it, after the first) out of `port`.
    #[inline]
    pub fn send(&mut self, port: PortId) {
        self.push(Action::Send(port));
    }

    /// Drops the frame.
    #[inline]
    pub fn drop(&mut self, reason: DropReason) {
        self.push(Action::Drop(reason));
    }

    #[inline]
    fn push(&mut self, action: Action) {
        if self.first.is_none() {
            self.first = Some(action);
        } else {
            self.rest.push(action);
        }
    }

    /// Takes out the first action; what [`Actions::next_copy`] gives comes after it.
    #[inline]
    pub fn take_first(&mut self) -> Option<Action> {
        self.first.take()
    }

    /// Whether there is more than the first action.
    #[inline]
    pub fn has_copies(&self) -> bool {
        !self.rest.is_empty()
    }

    /// Takes out one of the further actions, in no promised order.
    #[inline]
    pub fn next_copy(&mut self) -> Option<Action> {
        self.rest.pop()
    }

    /// Forgets all actions.
    pub fn clear(&mut self) {
        self.first = None;
        self.rest.clear();
    }
}
