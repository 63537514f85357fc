//! Reports of switches about frames: to the engine about explorations, to a controller about frames that it wants to see.

use weft_switching::{Kind, Report, Rewrite};
use weft_units::{NodeId, PortId};

use crate::journal::{News, Reported};
use crate::network::Network;
use crate::packet::PacketId;
use crate::shown::shown;
use crate::trace::TraceEvent;

/// Tells of an exploration that a rewritten frame begins or ends.
pub fn report_rewriting(node: NodeId, packet: PacketId, rewrite: Rewrite, net: &mut Network<'_>) {
    let Some(id) = net.subflow_of(packet) else { return };
    match rewrite {
        Rewrite::Wrap(Kind::PathRequest, _) => net.report(node, News::Explores(id)),
        Rewrite::Unwrap if net.packets.get(packet).header.kind == Kind::PathReply => {
            net.report(node, News::Explored(id));
        }
        _ => {}
    }
}

/// Reports a frame to the controller, which gets it if it is `held`.
pub fn report_frame(
    node: NodeId,
    ingress: PortId,
    report: Report,
    packet: PacketId,
    held: bool,
    net: &mut Network<'_>,
) {
    let Report::Frame(cookie) = report else { return };
    let shown = shown(&net.packets, packet);
    if held {
        net.trace(|_| TraceEvent::Parked { frame: packet });
    }
    let held = held.then(|| net.packets.take(packet));
    net.report(node, News::Reported(Box::new(Reported { ingress, cookie, shown, held })));
}
