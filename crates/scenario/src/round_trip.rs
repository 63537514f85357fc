//! Round trips in the idle fabric.

use std::collections::VecDeque;

use weft_fabric::{Fabric, Link};
use weft_units::{Bytes, Duration, NodeId};

/// The time from sending an IP packet of `packet` bytes until an `answer` of so many bytes arrives, over the longest of the
/// shortest paths (by links) from some host: the one farthest from the first host.
pub(crate) fn longest(fabric: &Fabric, packet: u32, answer: u32) -> Duration {
    let farthest = |from: NodeId| {
        let times = times(fabric, from, packet, answer);
        let hosts = fabric.hosts().iter().filter_map(|host| Some((times[host.index()]?, *host)));
        hosts.max().unwrap_or((Duration::ZERO, from))
    };
    let Some(first) = fabric.hosts().first() else { return Duration::ZERO };
    let (_, end) = farthest(*first);
    farthest(end).0
}

/// The round trip to every node, over a path of the fewest links.
fn times(fabric: &Fabric, from: NodeId, packet: u32, answer: u32) -> Vec<Option<Duration>> {
    let mut times = vec![None; fabric.nodes().len()];
    times[from.index()] = Some(Duration::ZERO);
    let mut next = VecDeque::from([from]);
    while let Some(node) = next.pop_front() {
        let Some(reached) = times[node.index()] else { continue };
        if fabric.node(node).is_host() && node != from {
            continue;
        }
        for id in fabric.ports(node) {
            let (link, back) = (fabric.link(*id), fabric.link(id.reverse()));
            if link.up && times[link.to.index()].is_none() {
                let sent = |link: &Link, bytes| {
                    link.rate.tx_time(Bytes(link.overhead.wire_bytes(bytes).into())) + link.delay
                };
                times[link.to.index()] = Some(reached + sent(link, packet) + sent(back, answer));
                next.push_back(link.to);
            }
        }
    }
    times
}
