//! [`LoadOf`]: what a load is a fraction of.

/// The capacity that a load is a fraction of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LoadOf {
    /// The sum of the rates of all links from racks into the fabric, in one direction. Only flows that
    /// leave their rack count.
    #[default]
    FabricUplinks,
    /// The sum of the rates of all host links, in one direction.
    HostLinks,
}

impl LoadOf {
    /// Every choice.
    pub const ALL: [Self; 2] = [Self::FabricUplinks, Self::HostLinks];

    /// The name in a scenario.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FabricUplinks => "fabric-uplinks",
            Self::HostLinks => "host-links",
        }
    }
}
