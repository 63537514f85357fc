//! [`Stats`]: the counters of one end of a connection.

/// Counters of one side of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Segments with payload sent, including retransmissions.
    pub data_segments_sent: u32,
    /// Segments with payload retransmitted.
    pub retransmissions: u32,
    /// Retransmission timeouts, including those of SYNs.
    pub timeouts: u32,
    /// Number of fast recoveries.
    pub fast_recoveries: u32,
    /// Segments with payload received that were not retransmissions.
    pub first_transmissions_received: u32,
    /// First transmissions that arrived below the highest sequence number already received.
    pub out_of_order: u32,
    /// Segments received with a congestion mark.
    pub ecn_marks: u32,
    /// Packets dropped because no sender of this flow gives one such a number. No result reports it; tests read it.
    pub impossible: u32,
}

impl Stats {
    /// The counts since `earlier`, a previous value of the same counters.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            data_segments_sent: self.data_segments_sent.wrapping_sub(earlier.data_segments_sent),
            retransmissions: self.retransmissions.wrapping_sub(earlier.retransmissions),
            timeouts: self.timeouts.wrapping_sub(earlier.timeouts),
            fast_recoveries: self.fast_recoveries.wrapping_sub(earlier.fast_recoveries),
            first_transmissions_received: self
                .first_transmissions_received
                .wrapping_sub(earlier.first_transmissions_received),
            out_of_order: self.out_of_order.wrapping_sub(earlier.out_of_order),
            ecn_marks: self.ecn_marks.wrapping_sub(earlier.ecn_marks),
            impossible: self.impossible.wrapping_sub(earlier.impossible),
        }
    }
}
