//! [`Lane`]: the interfaces of a flow at hosts that have several, and [`InterfaceRule`], by which flows choose them.

use weft_units::{HostId, words};

words! {
    /// How a flow chooses its interfaces at hosts that have several into the network.
    #[derive(Default)]
    pub enum InterfaceRule {
        /// Each host sends on one of its links on a shortest path, by the flow's hash; routes lead to the host.
        #[default]
        Hash = "hash",
        /// The interfaces of the same number at both ends: that of the collective's channel, else that of the source.
        Rail = "rail",
        /// The pair of interfaces with the fewest open flows of the source.
        LeastLoaded = "least-loaded",
        /// Those that the flow names.
        Listed = "listed",
    }
}

/// The interfaces that a flow prefers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Lane {
    /// It prefers none.
    #[default]
    Any,
    /// It belongs to this channel of a collective with several.
    Channel(u8),
    /// Those of these numbers at its source and its destination.
    Interfaces([u8; 2]),
}

impl Lane {
    /// This one, or the other if this one names no interfaces and the other prefers some.
    pub fn or(self, other: Self) -> Self {
        if self.interfaces().is_some() || other == Self::Any { self } else { other }
    }

    /// The numbers of the interfaces of a flow from `src` by the rule `rail`, at hosts with so many.
    pub fn on_rails(self, src: HostId, counts: [u32; 2]) -> [u8; 2] {
        let number = if let Self::Channel(channel) = self { channel.into() } else { src.0 };
        counts.map(|count| (number % count.max(1)) as u8)
    }

    /// The numbers of the preferred interfaces.
    pub const fn interfaces(self) -> Option<[u8; 2]> {
        match self {
            Self::Interfaces(both) => Some(both),
            Self::Any | Self::Channel(_) => None,
        }
    }
}
