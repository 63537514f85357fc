//! [`EmptyPath`]: the path of a flow in an idle fabric.

use weft_traffic::Flow;
use weft_units::{Bytes, Duration};

use super::context::Ctx;

/// The path of a flow, if no packet meets a queue and no host waits. Of equal shortest paths, the first counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EmptyPath {
    /// The time from sending a full packet until the destination's answer arrives.
    pub round_trip: Duration,
    /// The number of switches on the way.
    pub switches: u32,
}

impl EmptyPath {
    /// From `nic`, the link of a flow's source, to its destination, whose answer is an IP packet of `back` bytes.
    pub fn of(cx: &Ctx<'_, '_>, flow: &Flow, nic: u32, back: u32) -> Self {
        let (fabric, routes) = (cx.net.fabric, cx.nics.routes().routes());
        let destination = fabric.host_node(flow.dst);
        let (mut id, mut path) = (cx.net.id(nic), Self::default());
        loop {
            for (link, bytes) in [
                (fabric.link(id), cx.world.framing_of(flow).full_packet()),
                (fabric.link(id.reverse()), back),
            ] {
                let wire = u64::from(link.overhead.wire_bytes(bytes));
                path.round_trip = path.round_trip + link.delay + link.rate.tx_time(Bytes(wire));
            }
            let at = fabric.link(id).to;
            let next = routes.next_hops(at, flow.dst).first().and_then(|port| fabric.link_at(at, *port));
            match next {
                Some(next) if at != destination => (id, path.switches) = (next, path.switches + 1),
                _ => return path,
            }
        }
    }
}
