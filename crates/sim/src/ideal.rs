//! The time a flow would take alone on the idle fabric, the denominator of slowdown.

use weft_fabric::{EqualCost, Fabric};
use weft_traffic::Flow;
use weft_transport::Config;
use weft_units::{Bytes, Duration, LinkId};

/// IP and TCP headers without options.
const HEADERS: u64 = 40;
/// The timestamp option, padded (RFC 7323, appendix A).
const TIMESTAMPS: u64 = 12;

/// The ideal completion time of `flow` and the number of links on its way; zero links where its
/// destination cannot be reached.
///
/// A closed form: one round trip of bare segments for the handshake, then all segments back to
/// back at the rate of the slowest link on a shortest path, and the last one's way through the
/// others. Slow start is not part of it, so a transport can be compared with another.
pub fn ideal_fct(fabric: &Fabric, routes: &EqualCost, transport: &Config, flow: &Flow) -> (Duration, u32) {
    let path = shortest_path(fabric, routes, flow);
    let headers = HEADERS + if transport.timestamps { TIMESTAMPS } else { 0 };
    let mss = u64::from(transport.mss);
    let (full, rest) = (flow.bytes / mss, flow.bytes % mss);
    let last = headers + if rest > 0 { rest } else { mss.min(flow.bytes) };
    let tx = |link: LinkId, ip_bytes: u64| {
        let link = fabric.link(link);
        link.rate.tx_time(Bytes(u64::from(link.overhead.wire_bytes(ip_bytes as u32))))
    };
    let one_way = |ip_bytes: u64, reverse: bool| -> Duration {
        let links = path.iter().map(|&link| if reverse { link.reverse() } else { link });
        links.map(|link| fabric.link(link).delay + tx(link, ip_bytes)).sum()
    };
    let before_last = if rest > 0 { full } else { full.saturating_sub(1) };
    let at_bottleneck = path
        .iter()
        .map(|&link| tx(link, headers + mss).saturating_mul(before_last))
        .max()
        .unwrap_or(Duration::ZERO);
    let handshake = one_way(headers, false) + one_way(headers, true);
    (handshake + at_bottleneck + one_way(last, false), path.len() as u32)
}

/// A shortest path by the first next hop everywhere.
fn shortest_path(fabric: &Fabric, routes: &EqualCost, flow: &Flow) -> Vec<LinkId> {
    let mut at = fabric.host_node(flow.src);
    let destination = fabric.host_node(flow.dst);
    let mut path = Vec::new();
    while at != destination {
        let Some(link) = routes.next_hops(at, flow.dst).first().and_then(|&port| fabric.link_at(at, port))
        else {
            return Vec::new();
        };
        path.push(link);
        at = fabric.link(link).to;
    }
    path
}
