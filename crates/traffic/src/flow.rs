//! [`Flow`]: one transfer.

use weft_units::{FlowId, HostId, Time};

use crate::lane::Lane;

/// Maximum number of flows of a run: they take 2 GB.
pub const MAX_FLOWS: u64 = 50_000_000;

/// The largest DSCP: it has six bits.
pub const MAX_DSCP: u8 = 63;

/// One transfer over one connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// The index in [`crate::Traffic::flows`].
    pub id: FlowId,
    /// The sending host.
    pub src: HostId,
    /// The receiving host.
    pub dst: HostId,
    /// TCP source port.
    pub sport: u16,
    /// TCP destination port.
    pub dport: u16,
    /// Index into [`crate::Traffic::classes`].
    pub class: u16,
    /// The DSCP of all its packets, both ways (RFC 2474): 0 to [`MAX_DSCP`].
    pub dscp: u8,
    /// The interfaces that it prefers.
    pub lane: Lane,
    /// Bytes that the application sends.
    pub bytes: u64,
    /// When the application opens the connection; if the flow waits for others, the earliest time.
    pub start: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_takes_forty_bytes() {
        assert_eq!(size_of::<Flow>(), 40);
    }
}
