//! [`Counts`]: what was said between switches and controller, and what became of frames.

use serde::Serialize;

/// Since the load began.
#[derive(Clone, Default, Debug, Serialize)]
pub struct Counts {
    /// Packets sent up, all of them.
    pub packet_ins: u64,
    /// Of these, such as opened a subflow.
    pub packet_ins_of_syns: u64,
    /// Of these, LLDP.
    pub packet_ins_of_lldp: u64,
    /// Packets that the controller sent, all of them.
    pub packet_outs: u64,
    /// Of these, LLDP.
    pub packet_outs_of_lldp: u64,
    /// Rules that the controller changed.
    pub flow_mods: u64,
    /// Barriers, each answered.
    pub barriers: u64,
    /// Rules that the controller was told are gone.
    pub flows_removed: u64,
    /// Messages of the controller that switches refused.
    pub refused: u64,
    /// The first of these, and why.
    pub first_refused: Option<String>,
    /// Bytes that the controller sent.
    pub bytes_in: u64,
    /// Bytes that it was sent.
    pub bytes_out: u64,
    /// Frames for which a switch had no rule.
    pub missed: u64,
    /// Frames that a rule dropped.
    pub dropped: u64,
    /// Frames that went over so many switches that they went in circles.
    pub looped: u64,
    /// Frames that were to be sent by ports that there are not, or back by that by which they came.
    pub misdirected: u64,
}

impl Counts {
    /// The messages that the controller has read and written for the load: without LLDP.
    pub fn messages(&self) -> u64 {
        let read = self.packet_ins - self.packet_ins_of_lldp + self.barriers + self.flows_removed;
        let written = self.packet_outs - self.packet_outs_of_lldp + self.flow_mods + self.barriers;
        read + written
    }
}
