//! [`SendOrder`]: the place of a segment in the order of transmissions, by which RACK judges which segments are lost.

use crate::seq::before;
use crate::tick::Tick;

/// When a segment was last sent, and where it ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SendOrder {
    pub(crate) sent: Tick,
    pub(crate) end: u32,
}

impl SendOrder {
    /// Whether it was sent after another; of segments sent at the same instant, the one that ends later was (RFC 8985,
    /// section 6.2, step 2).
    pub(crate) fn is_after(self, other: Self) -> bool {
        self.sent.after(other.sent) || (self.sent == other.sent && before(other.end, self.end))
    }
}
