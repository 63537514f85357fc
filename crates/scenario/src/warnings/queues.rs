//! Warnings of keys of ports that other keys of the same port leave without effect.

use weft_fabric::{Fabric, Limit, Link, Scheduler};
use weft_transport::Protocol;

use super::keys::sweeps;
use crate::settings::Settings;

/// All warnings of keys of ports without effect.
pub(super) fn idle(fabric: &Fabric, settings: &Settings) -> Vec<String> {
    untrimmed(fabric, settings).into_iter().chain(unweighted(fabric, settings)).collect()
}

/// Warns of ports that trim, and packets that they never cut.
fn untrimmed(fabric: &Fabric, settings: &Settings) -> Option<String> {
    let trims = || fabric.links().iter().filter(|link| link.queue.trim);
    let is_given = |link: &Link| link.queue.trim_queue.is_some();
    if trims().next().is_none() {
        let is_idle = fabric.links().iter().any(is_given) && !sweeps(settings, "", "fabric.trim");
        return is_idle.then(|| "`trim_queue` has no effect without `trim`: set trim = true".to_owned());
    }
    if settings.transport.protocol.tcp().is_some() {
        let others = Protocol::quoted(|config| config.takes_trimmed());
        return (!sweeps(settings, "fabric", "transport.protocol")).then(|| {
            format!(
                "`trim` has no effect while transport.protocol is \"tcp\", whose packets are dropped, not cut: set it to \
                 {others}"
            )
        });
    }
    let is_shared = |link: &Link| fabric.buffer().is_some() && !fabric.node(link.from).is_host();
    let is_lossless = |link: &Link| {
        let queues = 0..link.queue.classes.len();
        link.queue.pfc.is_some_and(|pfc| queues.into_iter().all(|queue| pfc.has(queue)))
    };
    let fills = |link: &Link| is_shared(link) || !(link.queue.limit == Limit::Unlimited || is_lossless(link));
    if trims().any(fills) {
        return None;
    }
    match trims().any(is_lossless) {
        true => (!sweeps(settings, "fabric", "fabric.pfc")).then(|| {
            "`trim` has no effect on lossless queues, and `pfc` makes all queues lossless: set pfc.queues"
                .to_owned()
        }),
        false => (!sweeps(settings, "fabric", "fabric.queue")).then(|| {
            "`trim` has no effect while `queue` is unlimited: set queue, such as \"200 kB\"".to_owned()
        }),
    }
}

/// Warns of weights that the scheduler ignores.
fn unweighted(fabric: &Fabric, settings: &Settings) -> Option<String> {
    let ignores = |link: &&Link| {
        let (queue, first) = (&link.queue, link.queue.classes.first());
        queue.scheduler == Scheduler::StrictPriority && queue.classes.iter().any(|class| Some(class) != first)
    };
    let link =
        fabric.links().iter().find(ignores).filter(|_| !sweeps(settings, "fabric", "fabric.queues"))?;
    let ones = vec!["1"; link.queue.classes.len()].join(", ");
    Some(format!(
        "the values of queues.weights have no effect while queues.scheduler is \"{}\": set it to \"{}\", or set weights = [{ones}]",
        Scheduler::StrictPriority,
        Scheduler::Drr,
    ))
}
