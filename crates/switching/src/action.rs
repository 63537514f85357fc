//! The actions that a switch takes on a frame, as data.

use weft_units::PortId;
use weft_wire::{EtherType, Mac, TAG_LEN};

use crate::header::{Header, Kind};

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
    /// The only egress port is the ingress port.
    SamePort,
    /// A later copy of a flooded frame whose first copy arrived on another port.
    LateCopy,
    /// A host sent a control frame reserved for switches.
    Untrusted,
    /// A search for a path to the destination is in progress.
    Repairing,
    /// A frame about a path that no longer exists or has been replaced.
    Stale,
    /// A flooded frame exceeded its hop limit.
    TooManyHops,
    /// A flooded frame had no egress port.
    DeadEnd,
    /// The role of the port is not known yet, or no longer.
    UnknownPort,
    /// It would start a flood, and its port's flood limit is reached.
    RateLimited,
    /// The frame came back to the switch to which its source is attached.
    Returned,
    /// By a rule of the switch.
    Rule,
    /// The frame waited at the central controller, which had no path for it.
    NotReleased,
}

impl DropReason {
    /// Every reason, by number.
    pub const ALL: [Self; 16] = [
        Self::QueueFull,
        Self::LinkDown,
        Self::NoRoute,
        Self::NotForMe,
        Self::SamePort,
        Self::LateCopy,
        Self::Untrusted,
        Self::Repairing,
        Self::Stale,
        Self::TooManyHops,
        Self::DeadEnd,
        Self::UnknownPort,
        Self::RateLimited,
        Self::Returned,
        Self::Rule,
        Self::NotReleased,
    ];

    /// The name of the reason in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::LinkDown => "link_down",
            Self::NoRoute => "no_route",
            Self::NotForMe => "not_for_me",
            Self::SamePort => "same_port",
            Self::LateCopy => "late_copy",
            Self::Untrusted => "untrusted",
            Self::Repairing => "repairing",
            Self::Stale => "stale",
            Self::TooManyHops => "too_many_hops",
            Self::DeadEnd => "dead_end",
            Self::UnknownPort => "unknown_port",
            Self::RateLimited => "rate_limited",
            Self::Returned => "returned",
            Self::Rule => "rule",
            Self::NotReleased => "not_released",
        }
    }
}

/// One action on a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Send the frame out of a port in its form between switches.
    Send(PortId),
    /// Send the frame out of a host port as its host sent it ([`Header::as_sent`]).
    Deliver(PortId),
    /// Drop it.
    Drop(DropReason),
    /// The frame was addressed to the switch itself.
    Consume,
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

/// Bytes of the header of a frame about a path, without its EtherType.
const PATH_HEADER_BYTES: u16 = 20;

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
            Self::Unwrap => {
                header.kind = Kind::Tcp;
                header.ip_bytes = header.ip_bytes.saturating_sub(PATH_HEADER_BYTES);
            }
            Self::Mark => header.src = header.src.marked(),
            Self::UnwrapAndMark => {
                Self::Unwrap.apply(header);
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

/// The actions of a switch on a frame, reused from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct Actions {
    first: Option<Action>,
    rest: Vec<Action>,
    rewrite: Rewrite,
    queue: u8,
    emitted: Vec<(PortId, Header)>,
    /// Whether emitted frames leave before the frame itself.
    ahead: bool,
    reports: Vec<Report>,
    /// Whether there is more than a single send or drop of the unchanged frame.
    more: bool,
}

impl Actions {
    /// Sends the frame (a copy of it, after the first) out of `port`. Copies leave in this order.
    #[inline]
    pub fn send(&mut self, port: PortId) {
        self.push(Action::Send(port));
    }

    /// Sends the frame (a copy of it, after the first) out of the host port `port` as its host sent it.
    pub fn deliver(&mut self, port: PortId) {
        self.push(Action::Deliver(port));
        self.more = true;
    }

    /// Drops the frame.
    #[inline]
    pub fn drop(&mut self, reason: DropReason) {
        self.push(Action::Drop(reason));
    }

    /// Ends the frame here: it was addressed to the switch.
    pub fn consume(&mut self) {
        self.push(Action::Consume);
        self.more = true;
    }

    /// Changes the frame before it is sent.
    pub fn rewrite(&mut self, rewrite: Rewrite) {
        self.rewrite = rewrite;
        self.more = true;
    }

    /// Sends the frame through this egress queue, numbered like a tag's QID. With 0, the port chooses.
    #[inline]
    pub fn queue(&mut self, queue: u8) {
        if queue != 0 {
            self.queue = queue;
            self.more = true;
        }
    }

    /// Sends a frame made by the switch out of `port`.
    pub fn emit(&mut self, port: PortId, header: Header) {
        self.emitted.push((port, header));
        self.more = true;
    }

    /// Sends emitted frames before the frame itself, so that every neighbour receives them first.
    pub fn emit_ahead(&mut self) {
        self.ahead = true;
    }

    /// Whether emitted frames leave before the frame itself.
    pub const fn emits_ahead(&self) -> bool {
        self.ahead
    }

    /// Sends a report to the central controller.
    pub fn report(&mut self, report: Report) {
        self.reports.push(report);
        self.more = true;
    }

    #[inline]
    fn push(&mut self, action: Action) {
        if self.first.is_none() {
            self.first = Some(action);
        } else {
            self.rest.push(action);
            self.more = true;
        }
    }

    /// Takes the action if it is the only one: the unchanged frame is sent or dropped, and the switch emits nothing.
    #[inline]
    pub fn take_only(&mut self) -> Option<Action> {
        if self.more { None } else { self.first.take() }
    }

    /// All actions for the frame, in order.
    pub fn all(&self) -> impl Iterator<Item = Action> {
        self.first.into_iter().chain(self.rest.iter().copied())
    }

    /// How to change the frame.
    pub const fn rewriting(&self) -> Rewrite {
        self.rewrite
    }

    /// The egress queue of the frame.
    pub const fn queued(&self) -> u8 {
        self.queue
    }

    /// The frames made by the switch, in order.
    pub fn emitted(&self) -> &[(PortId, Header)] {
        &self.emitted
    }

    /// The reports to the central controller, in order.
    pub fn reports(&self) -> &[Report] {
        &self.reports
    }

    /// Removes all actions.
    pub fn clear(&mut self) {
        self.first = None;
        self.rest.clear();
        self.rewrite = Rewrite::Keep;
        self.queue = 0;
        self.emitted.clear();
        self.ahead = false;
        self.reports.clear();
        self.more = false;
    }
}
