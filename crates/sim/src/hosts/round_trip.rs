//! The time of an empty round trip.

use weft_traffic::Flow;
use weft_units::{Bytes, Duration};

use super::nics::Nics;
use crate::network::Network;

/// The time from sending an IP packet of `forth` bytes on `nic`, the link of a flow's source, until its destination's answer
/// of `back` bytes arrives, if both meet no queue and no host waits. Of equal shortest paths, the first counts.
pub fn round_trip(
    net: &Network<'_>,
    nics: &Nics,
    (flow, nic): (&Flow, u32),
    forth: u32,
    back: u32,
) -> Duration {
    let (fabric, routes) = (net.fabric, nics.routes().routes());
    let destination = fabric.host_node(flow.dst);
    let (mut id, mut time) = (net.id(nic), Duration::ZERO);
    loop {
        for (link, bytes) in [(fabric.link(id), forth), (fabric.link(id.reverse()), back)] {
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
