//! Warnings of ports that are to mark packets, but never do.

use weft_fabric::{Fabric, Limit, Link};

use super::more::and_more;
use crate::settings::Settings;

/// All warnings of marks that no packet gets.
pub(super) fn missing(fabric: &Fabric, settings: &Settings) -> Vec<String> {
    incapable(fabric, settings).into_iter().chain(out_of_reach(fabric)).collect()
}

/// Warns if hosts send no packet that may be marked.
fn incapable(fabric: &Fabric, settings: &Settings) -> Option<String> {
    let why = settings.transport.protocol.config().without_ecn()?;
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
    (!given.is_empty())
        .then(|| format!("{} {verb} no effect while {why}: no packet is ECN-capable", given.join(" and ")))
}

/// Warns of thresholds that a queue cannot reach: a packet that would find so much queued is dropped or cut.
fn out_of_reach(fabric: &Fabric) -> Option<String> {
    let mut beyond = fabric.links().iter().zip(0..).filter_map(|(link, id)| {
        let queue = &link.queue;
        let threshold = queue.red.map(|red| ("red.kmin", red.kmin));
        let (key, threshold) = threshold.or(queue.ecn_threshold.map(|at| ("ecn_threshold", at)))?;
        let is_beyond = match (threshold, queue.limit) {
            (Limit::Packets(from), Limit::Packets(limit)) => from >= limit,
            (Limit::Bytes(from), Limit::Bytes(limit)) => from >= limit,
            _ => false,
        };
        // Lossless queues grow beyond the limit.
        (is_beyond && queue.pfc.is_none()).then_some((id, key, threshold, queue.limit))
    });
    let (id, key, threshold, limit) = beyond.next()?;
    Some(format!(
        "link {}{} never marks a packet: its queue holds {limit}, and {key} is {threshold}; lower {key}, or raise `queue`",
        fabric.link_label(weft_units::LinkId(id)),
        and_more(beyond.count()),
    ))
}
