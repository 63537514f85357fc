//! [`EventKind`]: the types of events that the data plane records, and how an [`Event`] is read.

use crate::layout::Event;

/// The types of [`Event`], by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum EventKind {
    /// A segment was wrapped and flooded from its source's edge.
    Explored,
    /// A flow was locked to the port of a request's first copy.
    FlowLocked,
    /// A late copy of a flood was dropped.
    Late,
    /// A wrapped segment leaves for its destination.
    Delivered,
    /// A flow's path, which leads to its initiator by this port, was confirmed.
    Confirmed,
    /// The edge searches for a path for a flow.
    Recovering,
    /// The other end's edge is notified that a path is broken.
    Failed,
    /// A request locked a station to a port.
    StationLocked,
    /// A station was learnt.
    StationLearnt,
}

impl EventKind {
    /// All types, in order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::Explored,
        Self::FlowLocked,
        Self::Late,
        Self::Delivered,
        Self::Confirmed,
        Self::Recovering,
        Self::Failed,
        Self::StationLocked,
        Self::StationLearnt,
    ];

    /// Its name in traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Explored => "explored",
            Self::FlowLocked => "flow locked",
            Self::Late => "late",
            Self::Delivered => "delivered",
            Self::Confirmed => "confirmed",
            Self::Recovering => "recovering",
            Self::Failed => "failed",
            Self::StationLocked => "station locked",
            Self::StationLearnt => "station learnt",
        }
    }
}

impl Event {
    /// The event in an item of the ring buffer `trace`.
    pub fn read(item: &[u8]) -> Option<Self> {
        // SAFETY: integers without padding in between; any bytes are a value.
        (item.len() == size_of::<Self>()).then(|| unsafe { item.as_ptr().cast::<Self>().read_unaligned() })
    }

    /// Its type.
    pub fn what(&self) -> Option<EventKind> {
        EventKind::ALL.get(usize::from(self.what)).copied()
    }
}
