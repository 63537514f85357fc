//! [`EmptyPath`]: the path of a flow in an idle fabric.

use weft_units::{Bytes, Duration, HostId};

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
    /// From `nic`, the link of a flow's source, to its destination with the address `to`: an IP packet of `forth` bytes, answered
    /// by one of `back` bytes.
    pub fn of(cx: &Ctx<'_, '_>, to: HostId, nic: u32, [forth, back]: [u32; 2]) -> Self {
        let (fabric, routes) = (cx.net.fabric, cx.nics.routes().routes());
        let (mut id, mut path) = (cx.net.id(nic), Self::default());
        loop {
            for (link, bytes) in [(fabric.link(id), forth), (fabric.link(id.reverse()), back)] {
                let wire = u64::from(link.overhead.wire_bytes(bytes));
                path.round_trip = path.round_trip + link.delay + link.rate.tx_time(Bytes(wire));
            }
            let at = fabric.link(id).to;
            let next = routes.next_hops(at, to).first().and_then(|port| fabric.link_at(at, *port));
            match next {
                Some(next) => (id, path.switches) = (next, path.switches + 1),
                None => return path,
            }
        }
    }
}
