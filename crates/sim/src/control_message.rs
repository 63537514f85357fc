//! The messages between a central controller and its switches, and their effects at a switch.

use weft_control::{
    FlowCount, FrameOut, FrameRef, MadeFrame, Packet, PortNo, RuleChange, SwitchId, SwitchPort,
};
use weft_switching::{Header, Kind};
use weft_units::PortId;

use crate::packet::DetachedPacket;

/// A message in flight, or an event that is due.
pub(crate) enum Message {
    /// To the controller: a frame.
    Frame { at: SwitchPort, cookie: u64, packet: Packet, frame: FrameRef },
    /// To the controller: a rule reached its idle timeout.
    RuleRemoved { switch: SwitchId, cookie: u64, packets: u64, bytes: u64 },
    /// To the controller: a port went down or came up.
    Port { at: SwitchPort, up: bool },
    /// To the controller: a link from one port to another exists.
    Link { from: SwitchPort, to: SwitchPort },
    /// To the controller: a switch finished its part of a transaction.
    Confirmed { transaction: u64 },
    /// To the controller: the flows of a switch's hosts.
    Counted { switch: SwitchId, flows: Vec<FlowCount> },
    /// The controller's deadline is due.
    Deadline,
    /// To a switch: a request for the flows of its hosts.
    Count { switch: SwitchId },
    /// A switch finishes one rule change.
    Rule { switch: SwitchId, change: RuleChange },
    /// To a switch: a frame to send.
    Out { switch: SwitchId, in_port: Option<PortNo>, ports: Vec<PortNo>, frame: FrameOut },
}

/// The effect of a message at a switch.
pub enum Effect {
    /// A rule changes.
    Rule(SwitchId, RuleChange),
    /// The switch treats a frame as if it had arrived on a port.
    Receive(SwitchId, Option<PortId>, Outgoing),
    /// The switch sends a frame out of ports.
    Send(SwitchId, Vec<PortId>, Outgoing),
    /// The switch reports the flows of its hosts.
    Count(SwitchId),
    /// The controller throws a frame away that waited for it.
    Drop(DetachedPacket),
}

/// A frame that the controller sends.
pub enum Outgoing {
    /// The packet was held at the controller.
    Held(DetachedPacket),
    /// A copy of one that waits.
    Copy(DetachedPacket),
    /// The controller made it.
    Made(Header),
}

/// The header of a frame that the controller originates; simulated hosts ignore it.
pub(crate) fn made(frame: MadeFrame) -> Header {
    let dst = match frame {
        MadeFrame::ArpReply { target: (mac, _), .. } | MadeFrame::Advertisement { target: (mac, _), .. } => {
            mac
        }
        MadeFrame::ArpProbe { station, .. } | MadeFrame::SolicitationProbe { station, .. } => station,
    };
    Header {
        src: MadeFrame::CONTROLLER,
        dst,
        kind: Kind::Other,
        ip_bytes: Header::SHORTEST,
        ..Header::default()
    }
}
