//! [`Lane`]: the interfaces of a flow at hosts that have several, and [`InterfaceRule`], by which flows choose them.

use weft_units::words;

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
    /// This one, or the other if this one prefers none.
    pub fn or(self, other: Self) -> Self {
        if self == Self::Any { other } else { self }
    }

    /// The numbers of the preferred interfaces.
    pub const fn interfaces(self) -> Option<[u8; 2]> {
        match self {
            Self::Interfaces(both) => Some(both),
            Self::Any | Self::Channel(_) => None,
        }
    }
}
