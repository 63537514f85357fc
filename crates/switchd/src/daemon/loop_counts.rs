//! [`LoopCounts`].

/// What is counted about loops.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoopCounts {
    /// Probes sent.
    pub sent: u64,
    /// Probes accepted, from other ports.
    pub heard: u64,
    /// Loops found.
    pub found: u64,
}
