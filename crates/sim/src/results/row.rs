//! [`FlowRow`]: a flow in a result, simulated or emulated.

use weft_traffic::Flow;
use weft_units::{Duration, Time};

use crate::record::FlowRecord;

/// A row of `flows.parquet`. A simulation fills in everything; values unknown to an emulation are `None`.
#[derive(Clone, Debug)]
pub struct FlowRow<'a> {
    /// The flow as planned.
    pub flow: Flow,
    /// When the receiving application got the last byte, if it did.
    pub end: Option<Time>,
    /// Its completion time alone on the idle fabric ([`crate::ideal`]); `None` if it had no path at its start.
    pub ideal: Option<Duration>,
    /// Links on a shortest path at its start.
    pub hops: u32,
    /// Established subflows; 1 for a TCP connection.
    pub subflows: Option<u32>,
    /// Data segments sent, including retransmissions.
    pub packets_sent: Option<u64>,
    /// Data segments retransmitted.
    pub retransmissions: Option<u64>,
    /// Retransmission timeouts.
    pub timeouts: Option<u64>,
    /// First transmissions that arrived with a sequence number below the highest received.
    pub out_of_order: Option<u64>,
    /// First transmissions that arrived.
    pub first_transmissions_received: Option<u64>,
    /// Data segments that arrived with a congestion mark.
    pub ecn_marks: Option<u64>,
    /// Data segments dropped on the way.
    pub drops: Option<u64>,
    /// Mean one-way delay of its packets that arrived.
    pub delay: Option<Duration>,
    /// Mean difference, without sign, between the delays of consecutive packets.
    pub jitter: Option<Duration>,
    /// How long the flow waited for its destination's address.
    pub resolution: Option<Duration>,
    /// Time from the start of its path exploration to the reply, if the fabric was explored.
    pub exploration: Option<Duration>,
    /// How often the flow changed its path; if unknown, it is also unknown whether the fabric was
    /// explored.
    pub moves: Option<u32>,
    /// The switches on its path, separated by spaces; empty if unknown.
    pub path: &'a str,
}

impl<'a> FlowRow<'a> {
    /// The row of a simulated flow; `path` is the switches on its path.
    pub fn new(record: &FlowRecord, path: &'a str) -> Self {
        Self {
            flow: record.flow,
            end: record.end,
            ideal: (record.hops > 0).then_some(record.ideal),
            hops: record.hops,
            subflows: Some(record.subflows),
            packets_sent: Some(record.packets_sent),
            retransmissions: Some(record.retransmissions),
            timeouts: Some(record.timeouts),
            out_of_order: Some(record.out_of_order),
            first_transmissions_received: Some(record.first_transmissions_received),
            ecn_marks: Some(record.ecn_marks),
            drops: Some(record.drops),
            delay: record.delay,
            jitter: record.jitter,
            resolution: Some(record.resolution),
            exploration: record.exploration,
            moves: Some(record.moves),
            path,
        }
    }
}
