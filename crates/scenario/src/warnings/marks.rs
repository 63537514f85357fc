//! Warnings of ports that are to mark packets, but never do.

use weft_fabric::{Fabric, Limit, Link, MarkAt, QueueSpec};
use weft_transport::WithoutEcn;

use super::more::and_more;
use crate::settings::Settings;

/// All warnings of marks that no packet gets.
pub(super) fn missing(fabric: &Fabric, settings: &Settings) -> Vec<String> {
    incapable(fabric, settings).into_iter().chain(out_of_reach(fabric, settings)).collect()
}

/// Warns if hosts send no packet that may be marked.
fn incapable(fabric: &Fabric, settings: &Settings) -> Option<String> {
    let WithoutEcn { why, fix } = settings.transport.protocol.config().without_ecn()?;
    let is_swept = |key: &String| key == "transport" || key.starts_with("transport.");
    // Hermes's probes are ECN-capable whatever the flows are.
    if settings.descriptor.name == "hermes" || settings.swept.iter().any(is_swept) {
        return None;
    }
    let any = |has: fn(&Link) -> bool| fabric.links().iter().any(has);
    let keys = [
        ("`ecn_threshold`", any(|link| link.queue.ecn_threshold.is_some())),
        ("`red`", any(|link| link.queue.red.is_some())),
    ];
    let given: Vec<&str> = keys.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key).collect();
    let verb = if given.len() == 1 { "has" } else { "have" };
    (!given.is_empty()).then(|| {
        format!(
            "{} {verb} no effect while {why}, so no packet is ECN-capable: set {fix}",
            given.join(" and ")
        )
    })
}

/// Warns of thresholds that a queue cannot reach: a packet that would find so much queued is dropped or cut.
fn out_of_reach(fabric: &Fabric, settings: &Settings) -> Option<String> {
    let full_packet = settings.transport.protocol.framing().full_packet();
    let mut beyond = fabric.links().iter().zip(0..).filter_map(|(link, id)| {
        let queue = &link.queue;
        let (key, threshold) = match (queue.red, queue.ecn_threshold) {
            (Some(red), _) => ("red.kmin", red.kmin),
            (None, Some(threshold)) => ("ecn_threshold", threshold),
            (None, None) => return None,
        };
        let limit = longest(link, full_packet);
        // Lossless queues grow beyond the limit.
        (is_beyond(queue, threshold, limit) && queue.pfc.is_none()).then_some((id, key, threshold, limit))
    });
    let (id, key, threshold, limit) = beyond.next()?;
    Some(format!(
        "link {}{} never marks a packet: its queue holds {limit}, and {key} is {threshold}; lower {key}, or raise `queue`",
        fabric.link_label(weft_units::LinkId(id)),
        and_more(beyond.count()),
    ))
}

/// The limit of the longest queue of the port: with `trim`, the most urgent one has its own.
fn longest(link: &Link, full_packet: u32) -> Limit {
    let limit = link.queue.limit;
    if !link.queue.trim {
        return limit;
    }
    match (limit, link.trim_limit(full_packet)) {
        (Limit::Bytes(bytes), Limit::Bytes(urgent)) => Limit::Bytes(bytes.max(urgent)),
        (Limit::Packets(packets), Limit::Packets(urgent)) => Limit::Packets(packets.max(urgent)),
        // Bytes and packets are not compared.
        _ => Limit::Unlimited,
    }
}

/// Whether no packet of a queue with this limit finds enough queued for a mark, or leaves as much. RED marks only above `kmin`.
/// With `at = "dequeue"`, the length includes the packet itself.
fn is_beyond(queue: &QueueSpec, threshold: Limit, limit: Limit) -> bool {
    let is_above_kmin = queue.red.is_some_and(|red| red.at == MarkAt::Enqueue);
    let least = threshold.count().saturating_add(u64::from(is_above_kmin));
    match (threshold, limit) {
        (Limit::Packets(_), Limit::Packets(_)) | (Limit::Bytes(_), Limit::Bytes(_)) => least >= limit.count(),
        _ => false,
    }
}
