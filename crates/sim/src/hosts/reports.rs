//! The reports of ends to the engine.

use weft_traffic::{Flow, Point};

use super::flow_end::FlowEnd;
use super::world::{World, node_of};
use crate::journal::{FlowNumber, News, SubflowId};
use crate::network::Network;
use crate::packet::PacketId;

/// Reports news of an end, at its host.
pub fn report(net: &mut Network<'_>, world: &World<'_>, end: FlowEnd, news: News) {
    let flow = &world.flows[end.flow as usize];
    let node = node_of(net, [flow.src, flow.dst][end.side]);
    net.report(node, news);
}

/// Reports that the source has opened a subflow of a flow with this source port.
pub fn report_opened(net: &mut Network<'_>, world: &World<'_>, id: SubflowId, sport: u16) {
    let Flow { src, dst, dport, .. } = world.flows[id.flow as usize];
    let tuple = [(src, sport), (dst, dport)];
    report(net, world, FlowEnd { flow: id.flow, side: 0 }, News::Opened(id, tuple));
}

/// Reports the way of a packet that reaches its destination, if it is followed.
#[inline(always)]
pub fn report_way(net: &mut Network<'_>, world: &World<'_>, id: SubflowId, packet: PacketId) {
    if net.packets.get(packet).is_watched()
        && let Some(way) = net.packets.way(packet)
    {
        let way = std::mem::take(way);
        report(net, world, FlowEnd { flow: id.flow, side: 1 }, News::Arrived(id, way));
    }
}

/// Reports that the destination has all of a flow, and is done.
pub fn report_received(net: &mut Network<'_>, world: &World<'_>, flow: FlowNumber) {
    let end = FlowEnd { flow, side: 1 };
    report(net, world, end, News::Received(flow));
    report(net, world, end, News::Closed(flow, 1));
}

/// Reports that the source of a flow is done: all of its data is acknowledged or, without acknowledgements, sent.
pub fn report_done(net: &mut Network<'_>, world: &World<'_>, flow: FlowNumber) {
    let end = FlowEnd { flow, side: 0 };
    if world.waiting.awaits(flow, Point::Acknowledged) {
        report(net, world, end, News::Acknowledged(flow));
    }
    report(net, world, end, News::Closed(flow, 0));
}
