//! The longest paths of the idle fabric.

use std::collections::VecDeque;

use weft_fabric::{Fabric, Link};
use weft_units::{Bytes, Duration, NodeId};

/// The time from sending an IP packet of `packet` bytes until an `answer` of so many bytes arrives, over the longest path.
pub(crate) fn longest(fabric: &Fabric, packet: u32, answer: u32) -> Duration {
    let sent =
        |link: &Link, bytes| link.rate.tx_time(Bytes(link.overhead.wire_bytes(bytes).into())) + link.delay;
    farthest(fabric, |time: Duration, link, back| time + sent(link, packet) + sent(back, answer))
}

/// The switches on the longest path.
pub(crate) fn most_switches(fabric: &Fabric) -> u32 {
    farthest(fabric, |links: u32, _, _| links + 1).saturating_sub(1)
}

/// The longest of the shortest paths (by links) from some host: the one farthest from the first host. `add` adds a link, with
/// the one back, to the length of a path.
fn farthest<T: Copy + Default + Ord>(fabric: &Fabric, add: impl Fn(T, &Link, &Link) -> T) -> T {
    let farthest = |from: NodeId| {
        let lengths = lengths(fabric, from, &add);
        let hosts = fabric.hosts().iter().filter_map(|host| Some((lengths[host.index()]?, *host)));
        hosts.max().unwrap_or((T::default(), from))
    };
    let Some(first) = fabric.hosts().first() else { return T::default() };
    let (_, end) = farthest(*first);
    farthest(end).0
}

/// The length to every node, over a path of the fewest links.
fn lengths<T: Copy + Default>(
    fabric: &Fabric,
    from: NodeId,
    add: impl Fn(T, &Link, &Link) -> T,
) -> Vec<Option<T>> {
    let mut lengths = vec![None; fabric.nodes().len()];
    lengths[from.index()] = Some(T::default());
    let mut next = VecDeque::from([from]);
    while let Some(node) = next.pop_front() {
        let Some(reached) = lengths[node.index()] else { continue };
        if fabric.node(node).is_host() && node != from {
            continue;
        }
        for id in fabric.ports(node) {
            let (link, back) = (fabric.link(*id), fabric.link(id.reverse()));
            if link.up && lengths[link.to.index()].is_none() {
                lengths[link.to.index()] = Some(add(reached, link, back));
                next.push_back(link.to);
            }
        }
    }
    lengths
}
