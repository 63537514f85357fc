//! [`Stats`]: the counters of one end of a multipath connection.

/// Counters of one side of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Subflows that completed their handshake, including the first.
    pub subflows: u32,
    /// Joins refused by this side because of a wrong or missing token or HMAC.
    pub refused: u32,
    /// Number of times a subflow became stale.
    pub stale: u32,
    /// Bytes of data reinjected on another subflow.
    pub reinjected: u64,
    /// Pieces of data received out of order for the connection; on their subflow they were in order.
    pub out_of_order: u32,
    /// Bytes of data received twice, on two subflows.
    pub duplicate: u64,
}
