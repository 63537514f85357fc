//! Costs of edges and paths: one integer, so that sums and comparisons are one instruction.
//!
//! The upper half counts sharing, the lower half edges. A path has fewer than 2^32 edges, so the halves do
//! not overlap.

/// One edge that no returned path has.
pub(super) const HOP: u64 = 1;
/// One returned path with the same edge.
pub(super) const SHARED: u64 = 1 << 32;
/// The cost of a forbidden edge, and the distance of an unreached node. The sum of two does not overflow and
/// exceeds the cost of any path.
pub(super) const NEVER: u64 = u64::MAX / 4;
