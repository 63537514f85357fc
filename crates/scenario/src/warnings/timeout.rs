//! Warns of a fixed timeout of retransmissions that queues outlast.

use std::collections::VecDeque;

use weft_fabric::{Fabric, Limit, Link};
use weft_transport::Protocol;
use weft_units::{Bytes, Duration, NodeId};

/// Warns if packets of Ultra Ethernet may wait in queues for longer than it waits for their acknowledgement.
pub(super) fn early(fabric: &Fabric, protocol: &Protocol) -> Option<String> {
    let Protocol::Uec(config) = protocol else { return None };
    let packet = config.framing().full_packet();
    let ports = fabric.links().iter().filter(|link| link.up && !fabric.node(link.from).is_host());
    let wait = ports.map(|link| drain(fabric, link, packet)).max()?;
    let in_us = |time: Duration| Duration::from_us(time.ps().div_ceil(1_000_000));
    let (wait, empty) = (in_us(wait), in_us(round_trip(fabric, packet)));
    let needed = empty + wait;
    (config.rto < needed).then(|| {
        format!(
            "transport.rto is {}, but a packet may take {needed} to its acknowledgement, {empty} over the longest path and \
             {wait} in a full queue: packets that only wait are sent again, which fills queues further. Set rto above \
             {needed}, or a shorter fabric.queue",
            config.rto
        )
    })
}

/// How long the link sends what its port's queue may hold.
fn drain(fabric: &Fabric, link: &Link, packet: u32) -> Duration {
    let frame = u64::from(link.overhead.wire_bytes(packet));
    let limit = match link.queue.limit {
        Limit::Packets(packets) => u64::from(packets).saturating_mul(frame),
        Limit::Bytes(bytes) => bytes,
        Limit::Unlimited => u64::MAX,
    };
    // One queue alone gets no more than this share of a shared buffer.
    let share = fabric
        .buffer()
        .map_or(u64::MAX, |buffer| (buffer.bytes.0 as f64 * buffer.alpha / (1.0 + buffer.alpha)) as u64);
    link.rate.tx_time(Bytes(limit.min(share)))
}

/// The time from a full packet to its acknowledgement in the idle fabric, over the longest of the shortest paths from some
/// host: the one farthest from the first host.
fn round_trip(fabric: &Fabric, packet: u32) -> Duration {
    let farthest = |from: NodeId| {
        let times = times(fabric, from, packet);
        let hosts = fabric.hosts().iter().filter_map(|host| Some((times[host.index()]?, *host)));
        hosts.max().unwrap_or((Duration::ZERO, from))
    };
    let Some(first) = fabric.hosts().first() else { return Duration::ZERO };
    let (_, end) = farthest(*first);
    farthest(end).0
}

/// The round trip of a full packet and its answer to every node, over a path of the fewest links.
fn times(fabric: &Fabric, from: NodeId, packet: u32) -> Vec<Option<Duration>> {
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
                let answer = weft_transport::uec::Config::ANSWER.into();
                times[link.to.index()] = Some(reached + sent(link, packet) + sent(back, answer));
                next.push_back(link.to);
            }
        }
    }
    times
}
