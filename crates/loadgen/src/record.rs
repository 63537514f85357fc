//! [`Record`]: the result of one flow, and [`Sample`]: delivered bytes; each a line of the records file.

use std::io::{self, Write};

use serde::Serialize;

use crate::connection::{Receiver, Sender};
use crate::tcp_info::TcpInfo;

/// The result of a flow, as seen by this machine. Times are in picoseconds since the common start;
/// counts are the kernel's (`TCP_INFO`) when the connection ended, `None` where it does not count.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Record {
    /// The flow's number.
    pub flow: u32,
    /// When `connect` was called.
    pub start_ps: Option<u64>,
    /// When the sender's connection was established.
    pub established_ps: Option<u64>,
    /// When the receiving application had the last byte.
    pub end_ps: Option<u64>,
    /// Data segments sent, including retransmissions.
    pub packets_sent: Option<u64>,
    /// Data segments retransmitted.
    pub retransmissions: Option<u64>,
    /// Retransmission timeouts, including the SYN's; needs Linux 6.7.
    pub timeouts: Option<u64>,
    /// Data segments that arrived while an earlier one was missing (`tcpi_rcv_ooopack`).
    pub out_of_order: Option<u64>,
    /// Data segments that arrived.
    pub segments_received: Option<u64>,
    /// Segments that the receiver reported as marked (`tcpi_delivered_ce`).
    pub ecn_marks: Option<u64>,
    /// Why the flow did not complete.
    pub error: Option<String>,
}

impl Record {
    /// Adds the kernel's counters of the sending end.
    pub(crate) fn take_sender(&mut self, sender: &Sender) {
        let info = TcpInfo::of(&sender.socket).unwrap_or_default();
        self.packets_sent = info.data_segs_out;
        let resent = info.total_retrans;
        self.retransmissions = resent.map(|resent| resent.saturating_sub(sender.syn_retransmissions));
        self.timeouts = info.total_rto;
        self.ecn_marks = info.delivered_ce;
    }

    /// Adds the kernel's counters of the receiving end.
    pub(crate) fn take_receiver(&mut self, receiver: &Receiver) {
        let info = TcpInfo::of(&receiver.socket).unwrap_or_default();
        self.segments_received = info.data_segs_in;
        self.out_of_order = info.rcv_ooopack;
    }
}

/// Bytes delivered to applications since the previous sample.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Sample<'a> {
    /// The end of the interval.
    pub time_ps: u64,
    /// The class, empty for flows without one.
    pub class: &'a str,
    /// How many bytes.
    pub delivered_bytes: u64,
}

/// Writes whole lines.
pub struct Lines<W: Write>(pub W);

impl<W: Write> Lines<W> {
    /// Writes a line.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(line).map_err(io::Error::other)?;
        text.push(b'\n');
        self.0.write_all(&text)
    }
}
