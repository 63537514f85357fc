//! [`AckInfo`]: the information in an ACK that recovery according to the RFCs uses.

use crate::news::News;
use crate::seq::at_or_before;

/// The information in an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckInfo {
    pub(super) news: News,
    /// Bytes by which SND.UNA moved.
    pub(super) advanced: u32,
    /// A duplicate ACK without SACK (RFC 5681, section 2).
    pub(super) duplicate: bool,
    /// A duplicate was reported (RFC 2883).
    pub(super) dsack: bool,
    /// The reported duplicate is that of a tail loss probe.
    pub(super) of_probe: bool,
    /// More bytes count as lost than before.
    pub(super) lost: bool,
    /// The echoed timestamp is older than the first retransmission (RFC 3522).
    pub(super) original: bool,
    /// The ACK carries a congestion mark.
    pub(super) marked: bool,
    /// The round trip for the controller, picoseconds; 0: none.
    pub(super) rtt: u64,
}

/// Whether an ACK reports a duplicate (RFC 2883, section 4): the first block lies below the ACK or inside the second block.
pub(super) fn is_dsack(sacks: &[(u32, u32)], ack: u32) -> bool {
    let Some(&(left, right)) = sacks.first() else { return false };
    at_or_before(right, ack)
        || sacks.get(1).is_some_and(|&(l, r)| at_or_before(l, left) && at_or_before(right, r))
}
