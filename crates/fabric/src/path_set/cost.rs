//! What an edge and a path cost: one integer, so that sums and comparisons are one instruction.
//!
//! The upper half counts what is shared, the lower half edges. A path has fewer than 2^32 edges, so
//! the halves do not meet.

/// One edge that no path given before has.
pub(super) const HOP: u64 = 1;
/// One path given before that has the edge too.
pub(super) const SHARED: u64 = 1 << 32;
/// The cost of an edge that must not be taken, and the distance of a node that is not reached. The sum
/// of two is no overflow, and more than any path costs.
pub(super) const NEVER: u64 = u64::MAX / 4;
