//! [`Room`]: the space of a port's queue.

use weft_fabric::Limit;

/// The space of one queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Bytes on the wire.
    pub bytes: u64,
    /// Packets.
    pub packets: u32,
}

impl Room {
    /// No limit.
    pub const ANY: Self = Self { bytes: u64::MAX, packets: u32::MAX };

    /// The space that a limit leaves.
    pub const fn of(limit: Limit) -> Self {
        match limit {
            Limit::Packets(packets) => Self { packets, ..Self::ANY },
            Limit::Bytes(bytes) => Self { bytes, ..Self::ANY },
            Limit::Unlimited => Self::ANY,
        }
    }
}
