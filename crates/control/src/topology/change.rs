//! [`Change`]: the changes that an event makes to the topology.

/// Changes that users of the topology must react to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Change {
    /// Ports that came, went, or started or stopped leading to a switch.
    pub ports: Vec<u32>,
    /// Links that are gone.
    pub cut: Vec<u32>,
    /// The number of new links.
    pub made: u32,
    /// Whether paths may have changed.
    pub paths: bool,
}
