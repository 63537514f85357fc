//! [`FlowEnd`]: the source or the destination of a flow.

use crate::journal::FlowNumber;

/// The end at which a flow or message is complete; [`u64::MAX`]: none is awaited.
pub const NONE: u64 = u64::MAX;

/// An end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FlowEnd {
    /// The flow.
    pub flow: FlowNumber,
    /// 0: the source; 1: the destination.
    pub side: usize,
}
