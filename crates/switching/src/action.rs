//! What a switch wants done with a frame, as data.

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
    /// The frame would leave by the port that it came in on, and only by that one.
    SamePort,
    /// A copy of a flooded frame, of which another copy had come first by another port.
    LateCopy,
    /// A host sent what only switches may send.
    Untrusted,
    /// A path to the destination is being looked for.
    Repairing,
    /// A frame about a path that is no more, or has been replaced.
    Stale,
    /// A flooded frame has been sent on too often.
    TooManyHops,
    /// A flooded frame had no port to go out of.
    DeadEnd,
    /// It is not known yet what the port leads to, or not any more.
    UnknownPort,
    /// It would start a flood, and the frames from its port have started as many as they may for now.
    RateLimited,
    /// The frame came back to the switch that its source hangs on.
    Returned,
    /// A rule of the switch says so.
    Rule,
    /// The central controller, where the frame waited, had no way for it.
    NotReleased,
}

impl DropReason {
    /// Every reason, in order of its number.
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

    /// The name by which results count the reason.
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

/// One thing that a switch wants done with a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Send the frame out of a port, in the form that it has between switches.
    Send(PortId),
    /// Send the frame out of a host port, in the form in which its host sent it ([`Header::as_sent`]).
    Deliver(PortId),
    /// Do not forward it.
    Drop(DropReason),
    /// The frame was for the switch itself and has reached its end.
    Consume,
}

/// How a frame is changed before it is sent; all copies alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rewrite {
    /// Not at all.
    #[default]
    Keep,
    /// It becomes the payload of a frame about a path, of this kind and exploration.
    Wrap(Kind, u32),
    /// What the frame about a path wraps becomes the frame.
    Unwrap,
    /// A frame about a path counts one more hop.
    Hop,
    /// Its source address gets the mark of a frame that is flooded because its destination is not known.
    Mark,
    /// What the frame about a path wraps becomes the frame, and gets that mark.
    UnwrapAndMark,
    /// It carries a label in place of its destination's address, or, where the label is that address, none any more.
    Label(Mac),
    /// It gets the tag of Tag-and-Forward with this EtherType and these bytes behind it.
    PushTag(EtherType, [u8; 6]),
    /// Its tag is taken off.
    PopTag,
}

/// Bytes that a frame about a path has before what it wraps, its EtherType not counted.
const PATH_HEADER_BYTES: u16 = 20;

impl Rewrite {
    /// Changes `header` so.
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

/// What a switch tells its central controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Report {
    /// The frame, because the rule of this cookie says so; one of which nothing else becomes waits there.
    Frame(u64),
    /// A rule of which it wants to know has idled out.
    RuleRemoved {
        /// The rule's.
        cookie: u64,
        /// Frames that it was applied to.
        packets: u64,
        /// Their bytes.
        bytes: u64,
    },
}

/// The actions that a switch asks for, reused from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct Actions {
    first: Option<Action>,
    rest: Vec<Action>,
    rewrite: Rewrite,
    queue: u8,
    emitted: Vec<(PortId, Header)>,
    /// Whether those leave before the frame does.
    ahead: bool,
    reports: Vec<Report>,
    /// Whether there is more than sending or dropping the frame as it is.
    more: bool,
}

impl Actions {
    /// Sends the frame (a copy of it, after the first) out of `port`. Copies leave in this order.
    #[inline]
    pub fn send(&mut self, port: PortId) {
        self.push(Action::Send(port));
    }

    /// Sends the frame (a copy of it, after the first) out of the host port `port`, in the form in which its host
    /// sent it.
    pub fn deliver(&mut self, port: PortId) {
        self.push(Action::Deliver(port));
        self.more = true;
    }

    /// Drops the frame.
    #[inline]
    pub fn drop(&mut self, reason: DropReason) {
        self.push(Action::Drop(reason));
    }

    /// The frame was for the switch.
    pub fn consume(&mut self) {
        self.push(Action::Consume);
        self.more = true;
    }

    /// Has the frame changed before it is sent.
    pub fn rewrite(&mut self, rewrite: Rewrite) {
        self.rewrite = rewrite;
        self.more = true;
    }

    /// Has the frame wait in this queue of the ports that it leaves by, as QID of a tag counts them. 0, which needs no
    /// word: in the one that the port gives it.
    #[inline]
    pub fn queue(&mut self, queue: u8) {
        if queue != 0 {
            self.queue = queue;
            self.more = true;
        }
    }

    /// Sends a frame of the switch's own out of `port`.
    pub fn emit(&mut self, port: PortId, header: Header) {
        self.emitted.push((port, header));
        self.more = true;
    }

    /// Has the frames of the switch's own leave before the frame itself, so that they are first at every neighbour.
    pub fn emit_ahead(&mut self) {
        self.ahead = true;
    }

    /// Whether the switch's own frames leave before the frame itself.
    pub const fn emits_ahead(&self) -> bool {
        self.ahead
    }

    /// Tells the central controller.
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

    /// The action, where it is the only one, taken out: the frame goes on as it is or is dropped, and
    /// the switch sends nothing of its own.
    #[inline]
    pub fn take_only(&mut self) -> Option<Action> {
        if self.more { None } else { self.first.take() }
    }

    /// All actions for the frame, in order.
    pub fn all(&self) -> impl Iterator<Item = Action> {
        self.first.into_iter().chain(self.rest.iter().copied())
    }

    /// How the frame is to be changed.
    pub const fn rewriting(&self) -> Rewrite {
        self.rewrite
    }

    /// The queue in which the frame is to wait.
    pub const fn queued(&self) -> u8 {
        self.queue
    }

    /// The switch's own frames, in order.
    pub fn emitted(&self) -> &[(PortId, Header)] {
        &self.emitted
    }

    /// What the central controller is told, in order.
    pub fn reports(&self) -> &[Report] {
        &self.reports
    }

    /// Forgets all actions.
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
