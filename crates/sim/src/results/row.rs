//! [`FlowRow`]: what a result says of a flow, whoever measured it.

use weft_traffic::Flow;
use weft_units::{Duration, Time};

use crate::record::FlowRecord;

/// A row of `flows.parquet`. A simulation knows all of it; what an emulation cannot know is `None`.
#[derive(Clone, Debug)]
pub struct FlowRow<'a> {
    /// The flow as it was to be sent.
    pub flow: Flow,
    /// When the receiving application had the last byte, if it ever had.
    pub end: Option<Time>,
    /// The time it would take alone ([`crate::ideal`]); `None` where there was no path when it started.
    pub ideal: Option<Duration>,
    /// Links on a shortest path at its start.
    pub hops: u32,
    /// Subflows that were established; 1 for a TCP connection.
    pub subflows: Option<u32>,
    /// Data segments sent, retransmissions among them.
    pub packets_sent: Option<u64>,
    /// Data segments sent again.
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
    /// How long the flow waited until its source knew the destination's address.
    pub resolution: Option<Duration>,
    /// From its SYN's entry to the fabric until the reply had come back, where the fabric was explored.
    pub exploration: Option<Duration>,
    /// How often the flow went on over another path; where it is not known, neither is whether the
    /// fabric was explored.
    pub moves: Option<u32>,
    /// The switches that its data passed, with a space between; empty where that is not known.
    pub path: &'a str,
}

impl<'a> FlowRow<'a> {
    /// The row of a simulated flow, whose data passed the switches `path`.
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
            resolution: Some(record.resolution),
            exploration: record.exploration,
            moves: Some(record.moves),
            path,
        }
    }
}
