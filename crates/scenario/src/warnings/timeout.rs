//! Warns of a fixed timeout of retransmissions that queues outlast.

use weft_fabric::{Fabric, Limit, Link, Node};
use weft_transport::{FixedTimeout, Protocol};
use weft_units::{Bytes, Duration};

use crate::longest_path::longest;

/// Warns if packets may wait in queues for longer than their protocol waits for their acknowledgement.
pub(super) fn early(fabric: &Fabric, protocol: &Protocol) -> Option<String> {
    let FixedTimeout { rto, answer, .. } = protocol.config().fixed_timeout()?;
    let packet = protocol.framing().full_packet();
    // The queues of scale-up domains have no limit, but links as fast at both ends.
    let drains = |node: &Node| !node.is_host() && !node.is_scale_up();
    let ports = fabric.links().iter().filter(|link| link.up && drains(fabric.node(link.from)));
    // The ports without a limit are the first.
    let longest_wait =
        ports.map(|link| drain(fabric, link, packet)).min_by_key(|wait| wait.map(std::cmp::Reverse))?;
    let Some(wait) = longest_wait else {
        return Some(format!(
            "transport.rto is {rto}, but a packet may wait longer in a queue without a limit: packets that only wait are sent \
             again, which fills queues further. Set a limit (fabric.queue)"
        ));
    };
    let in_us = |time: Duration| Duration::from_us(time.ps().div_ceil(1_000_000));
    let (wait, empty) = (in_us(wait), in_us(longest(fabric, packet, answer.into())));
    let needed = empty + wait;
    (rto < needed).then(|| {
        format!(
            "transport.rto is {rto}, but a packet may take {needed} to its acknowledgement, {empty} over the longest path and \
             {wait} in a full queue: packets that only wait are sent again, which fills queues further. Set rto above \
             {needed}, or a shorter fabric.queue"
        )
    })
}

/// How long the link takes to send a full queue of its port; `None` if that has no limit.
fn drain(fabric: &Fabric, link: &Link, packet: u32) -> Option<Duration> {
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
    Some(limit.min(share)).filter(|bytes| *bytes < u64::MAX).map(|bytes| link.rate.tx_time(Bytes(bytes)))
}
