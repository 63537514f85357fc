//! Warnings of priority flow control that does not protect the flows.

use weft_fabric::{Fabric, JUMBO, Limit, class_of};
use weft_traffic::Traffic;
use weft_units::{Bytes, LinkId};

use super::more::and_more;
use crate::full_frame::full_frame;
use crate::settings::Settings;

/// All warnings of the fabric's flow control.
pub(super) fn all(fabric: &Fabric, traffic: &Traffic, settings: &Settings) -> Vec<String> {
    if !fabric.uses_pfc() {
        return Vec::new();
    }
    let own = [never(fabric), small(fabric, settings), unprotected(fabric, traffic)];
    own.into_iter().flatten().collect()
}

/// Warns of links that are never paused, because their threshold follows from a queue without a limit.
fn never(fabric: &Fabric) -> Option<String> {
    let is_never_paused = |id: &LinkId| {
        let queue = &fabric.link(*id).queue;
        let follows = queue.pfc.is_some_and(|pfc| pfc.xoff.is_none()) && fabric.buffer().is_none();
        follows && queue.limit == Limit::Unlimited && fabric.thresholds(*id).is_some()
    };
    let mut links = (0..fabric.links().len() as u32).map(LinkId).filter(is_never_paused);
    let id = links.next()?;
    Some(format!(
        "PFC never pauses link {}{}: its `queue` is unlimited, and pfc.xoff follows from it; set pfc.xoff, such as \"100 kB\"",
        fabric.link_label(id),
        and_more(links.count()),
    ))
}

/// Warns of less headroom than packets may need that arrive after a pause.
fn small(fabric: &Fabric, settings: &Settings) -> Option<String> {
    let frame = |id: LinkId| {
        let protocol = &settings.transport.protocol;
        u64::from(full_frame(fabric, fabric.link(id), protocol, settings.descriptor))
    };
    let ids = || (0..fabric.links().len() as u32).map(LinkId);
    let needs = ids().filter_map(|id| {
        let headroom = fabric.thresholds(id)?.headroom;
        let needed = fabric.sufficient_headroom(id, frame(id).max(frame(id.reverse())));
        (headroom < needed).then_some((id, headroom, needed))
    });
    let mut needs = needs;
    let (id, headroom, needed) = needs.next()?;
    let is_given = fabric.link(id).queue.pfc.is_some_and(|pfc| pfc.headroom.is_some());
    let of = match is_given {
        true => String::new(),
        false => format!(", computed for packets of {}", Bytes(JUMBO)),
    };
    Some(format!(
        "PFC may lose packets on link {}{}: its headroom is {}{of}, and after a pause up to {} arrive in packets of {}: \
         raise pfc.headroom",
        fabric.link_label(id),
        and_more(needs.count()),
        Bytes(headroom),
        Bytes(needed),
        Bytes(frame(id).max(frame(id.reverse()))),
    ))
}

/// Warns if no flow is in a lossless queue.
fn unprotected(fabric: &Fabric, traffic: &Traffic) -> Option<String> {
    let mut used = [false; 64];
    traffic.flows.iter().for_each(|flow| used[usize::from(flow.dscp)] = true);
    let dscps = || (0_u8..64).filter(|dscp| used[usize::from(*dscp)]);
    let ports =
        || fabric.links().iter().filter_map(|link| Some((link.queue.pfc?, link.queue.classes.len().max(1))));
    let is_lossless = |dscp: u8| ports().any(|(pfc, queues)| pfc.has(class_of(dscp << 2, queues)));
    let dscp = dscps().next()?;
    if dscps().any(is_lossless) {
        return None;
    }
    let (_, queues) = ports().next()?;
    Some(format!(
        "no flow is in a lossless queue, so `pfc` protects none: DSCP {dscp} waits in queue {} of 0 to {}; change pfc.queues, \
         or `dscp` of [traffic]",
        class_of(dscp << 2, queues),
        queues - 1,
    ))
}
