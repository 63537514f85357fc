//! [`DropReason`]: why a frame was not forwarded.

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
    /// The frame waited at the central controller, which had no path for it, or at a switch that held it.
    NotReleased,
    /// At random on a link with a gray failure.
    LinkLoss,
    /// A link with a gray failure loses all packets of the flow.
    Blackhole,
}

impl DropReason {
    /// Every reason, by number.
    pub const ALL: [Self; 18] = [
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
        Self::LinkLoss,
        Self::Blackhole,
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
            Self::LinkLoss => "link_loss",
            Self::Blackhole => "blackhole",
        }
    }
}
