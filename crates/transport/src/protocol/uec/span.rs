//! [`SPAN`]: the bound of all memory that grows with the numbers of packets.

/// The largest distance between the lowest packet not acknowledged and the next one to send, in packets: receivers keep a
/// bit for each.
pub(crate) const SPAN: u32 = 1 << 14;
