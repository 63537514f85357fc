//! The time of an empty round trip.

use weft_traffic::Flow;
use weft_units::{Bytes, Duration};

use super::context::Ctx;

/// The time from sending a full packet on `nic`, the link of a flow's source, until its destination's answer, an IP packet of
/// `back` bytes, arrives, if both meet no queue and no host waits. Of equal shortest paths, the first counts.
pub fn round_trip(cx: &Ctx<'_, '_>, flow: &Flow, nic: u32, back: u32) -> Duration {
    let (fabric, routes) = (cx.net.fabric, cx.nics.routes().routes());
    let destination = fabric.host_node(flow.dst);
    let (mut id, mut time) = (cx.net.id(nic), Duration::ZERO);
    loop {
        for (link, bytes) in
            [(fabric.link(id), cx.world.framing.full_packet()), (fabric.link(id.reverse()), back)]
        {
            let wire = u64::from(link.overhead.wire_bytes(bytes));
            time = time + link.delay + link.rate.tx_time(Bytes(wire));
        }
        let at = fabric.link(id).to;
        let next = routes.next_hops(at, flow.dst).first().and_then(|port| fabric.link_at(at, *port));
        match next {
            Some(next) if at != destination => id = next,
            _ => return time,
        }
    }
}
