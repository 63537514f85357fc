//! [`Record`]: what became of one flow, a line of the records file; and [`Sample`], a line between.

use std::io::{self, Write};

use serde::Serialize;

/// What became of a flow, as far as this machine saw it. Times are in picoseconds since the common
/// start; counts are those of the kernel (`TCP_INFO`) when the connection ended, `None` where it has none.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Record {
    /// The flow's number.
    pub flow: u32,
    /// When `connect` was called.
    pub start_ps: Option<u64>,
    /// When the sender knew that the connection stood.
    pub established_ps: Option<u64>,
    /// When the receiving application had the last byte.
    pub end_ps: Option<u64>,
    /// Data segments sent, retransmissions among them.
    pub packets_sent: Option<u64>,
    /// Data segments sent again.
    pub retransmissions: Option<u64>,
    /// Retransmission timeouts, those of the SYN among them; Linux tells from 6.7 on.
    pub timeouts: Option<u64>,
    /// Data segments that arrived while an earlier one was missing (`tcpi_rcv_ooopack`).
    pub out_of_order: Option<u64>,
    /// Data segments that arrived.
    pub segments_received: Option<u64>,
    /// Segments of which the receiver said that they were marked (`tcpi_delivered_ce`).
    pub ecn_marks: Option<u64>,
    /// Why the flow has no end.
    pub error: Option<String>,
}

/// What has been delivered to applications since the sample before.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Sample<'a> {
    /// The end of the interval.
    pub time_ps: u64,
    /// The class, empty for flows without one.
    pub class: &'a str,
    /// How many bytes.
    pub delivered_bytes: u64,
}

/// Writes lines, each whole.
pub struct Lines<W: Write>(pub W);

impl<W: Write> Lines<W> {
    /// Writes a line.
    ///
    /// # Errors
    /// What the file system says.
    pub fn write(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(line).map_err(io::Error::other)?;
        text.push(b'\n');
        self.0.write_all(&text)
    }
}
