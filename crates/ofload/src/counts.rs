//! [`Counts`]: counters of messages between switches and controller, and of dropped frames.

use serde::Serialize;

/// Counters since the load started.
#[derive(Clone, Default, Debug, Serialize)]
pub struct Counts {
    /// Packet-ins, all of them.
    pub packet_ins: u64,
    /// Of these, SYNs.
    pub packet_ins_of_syns: u64,
    /// Of these, LLDP.
    pub packet_ins_of_lldp: u64,
    /// Packet-outs, all of them.
    pub packet_outs: u64,
    /// Of these, LLDP.
    pub packet_outs_of_lldp: u64,
    /// Flow-mods.
    pub flow_mods: u64,
    /// Barriers, each answered.
    pub barriers: u64,
    /// Flow-removed messages.
    pub flows_removed: u64,
    /// Messages from the controller that switches refused.
    pub refused: u64,
    /// The first of these, with the error.
    pub first_refused: Option<String>,
    /// Bytes that the controller sent.
    pub bytes_in: u64,
    /// Bytes that the controller received.
    pub bytes_out: u64,
    /// Frames that matched no rule.
    pub missed: u64,
    /// Frames that a rule dropped.
    pub dropped: u64,
    /// Frames dropped because they exceeded the hop limit.
    pub looped: u64,
    /// Frames output to a nonexistent port, or to their ingress port.
    pub misdirected: u64,
}

impl Counts {
    /// Messages that the controller has read and written, without LLDP.
    pub fn messages(&self) -> u64 {
        let read = self.packet_ins - self.packet_ins_of_lldp + self.barriers + self.flows_removed;
        let written = self.packet_outs - self.packet_outs_of_lldp + self.flow_mods + self.barriers;
        read + written
    }
}
