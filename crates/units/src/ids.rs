//! Ids: dense indexes of nodes, hosts, links, ports and flows.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $int:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        #[repr(transparent)]
        pub struct $name(pub $int);

        impl $name {
            /// The id as an index into a table.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id!(
    /// A node of the fabric, host or switch, in the order of addition.
    NodeId,
    u32
);
id!(
    /// A host, numbered among hosts only.
    HostId,
    u32
);
id!(
    /// One direction of a link: link `i` has the directions `2 i` and `2 i + 1`.
    LinkId,
    u32
);
id!(
    /// An interface of a node, numbered from 0 on that node.
    PortId,
    u16
);
id!(
    /// A flow of the traffic, in order of start time.
    FlowId,
    u32
);

impl LinkId {
    /// The other direction of the same link.
    #[inline]
    pub const fn reverse(self) -> Self {
        Self(self.0 ^ 1)
    }
}
