//! The keys that describe a link, for the whole of `[fabric]` and for single cables in
//! `[[fabric.link]]`.

use weft_fabric::{
    ClassSpec, Fabric, FabricError, Limit, LinkSpec, MAX_QUEUES, Overhead, PfcSpec, QueueSpec, RedSpec,
    Scheduler,
};
use weft_units::{Duration, Rate};

use super::served::{PFC_KEYS, RED_KEYS, pfc, red};
use crate::key::{Key, Kind, key};
use crate::section::{At, Section};
use crate::source::Span;

/// The keys of every link, except its rate.
pub(crate) const LINK_KEYS: &[Key] = &[
    key("delay", Kind::Duration, "", "propagation delay of a link")
        .of(|| LinkSpec::default().delay.to_string()),
    key("queue", Kind::Limit, "", "queue limit of a port; excess packets are dropped")
        .of(|| LinkSpec::default().queue.limit.to_string()),
    key("ecn_threshold", Kind::Limit, "", "a packet that finds this much queued is ECN-marked (RFC 3168)"),
    key(
        "overhead",
        Kind::Word(Overhead::WORDS),
        "",
        "bytes around an IP packet: ethernet 38, ethernet-frame 18, ppp 2, none 0",
    )
    .of(|| LinkSpec::default().overhead.to_string()),
    key("queues", Kind::Table(QUEUES_KEYS), "", "several queues per port instead of one"),
    key("red", Kind::Table(RED_KEYS), "", "ECN marks with a probability that rises with the queue"),
    key("trim", Kind::Flag, "", "packets that find their queue full are cut to 64 bytes instead of dropped")
        .of(|| LinkSpec::default().queue.trim.to_string()),
    key(
        "trim_queue",
        Kind::Limit,
        "",
        "limit of the most urgent queue, which cut packets join; by default twice `queue`, in bytes of full packets",
    ),
    key(
        "pfc",
        Kind::Table(PFC_KEYS),
        "",
        "priority flow control: switches pause senders instead of dropping packets",
    ),
];

const QUEUES_KEYS: &[Key] = &[
    key("scheduler", Kind::Word(Scheduler::WORDS), "strict-priority", "choice of the queue that sends next"),
    key("weights", Kind::Counts, "", "one weight per queue, highest priority first; its share under drr"),
];

/// Whether two links have the same value of a key.
type Same = fn(&LinkSpec, &LinkSpec) -> bool;

/// Settings of a link; missing ones stay unchanged.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkSettings {
    pub(crate) delay: Option<At<Duration>>,
    pub(crate) queue: Option<At<Limit>>,
    ecn_threshold: Option<At<Limit>>,
    overhead: Option<At<Overhead>>,
    queues: Option<(Scheduler, Vec<ClassSpec>)>,
    pub(crate) red: Option<At<RedSpec>>,
    pub(crate) trim: Option<At<bool>>,
    trim_queue: Option<At<Limit>>,
    pub(crate) pfc: Option<At<PfcSpec>>,
}

impl LinkSettings {
    pub(crate) fn decode(section: &Section<'_>) -> Self {
        let queues = section.section("queues").and_then(|queues| {
            queues.only(&[QUEUES_KEYS]);
            let scheduler = queues.value(QUEUES_KEYS, "scheduler");
            let Some(weights) = queues.list::<u32>("weights") else {
                if queues.node("weights").is_none() {
                    let label =
                        "expected one number per queue, such as { scheduler = \"drr\", weights = [4, 1] }";
                    queues.problem(queues.span, format!("{} has no `weights`", queues.title()), label);
                }
                return None;
            };
            if weights.value.is_empty() {
                let label = "expected one number per queue, such as [4, 1]";
                queues.problem(weights.span, "a port needs at least one queue", label);
            }
            if weights.value.len() > MAX_QUEUES {
                let message = format!("{} queues per port", weights.value.len());
                let label = format!("expected at most {MAX_QUEUES}, one per class selector of a DSCP");
                queues.problem(weights.span, message, label);
            }
            for weight in weights.value.iter().filter(|weight| weight.value == 0) {
                queues.problem(weight.span, "a queue of weight 0 never sends", "expected at least 1");
            }
            let classes = weights.value.iter().map(|weight| ClassSpec { weight: weight.value });
            Some((scheduler?, classes.collect::<Vec<_>>()))
        });
        // The ports of a file, and those of all links for a single one, may have queues of their own.
        let is_plain = section.node("kind").is_some() && section.node("queues").is_none();
        let known = queues.as_ref().map(|(_, classes)| classes.len()).or(is_plain.then_some(1));
        Self {
            delay: section.get("delay"),
            queue: section.get("queue"),
            ecn_threshold: section.get("ecn_threshold"),
            overhead: section.get("overhead"),
            queues,
            red: section.section("red").and_then(|table| red(&table)),
            trim: section.get("trim"),
            trim_queue: section.get("trim_queue"),
            pfc: section.section("pfc").and_then(|table| pfc(&table, known)),
        }
    }

    /// Where the error of a port comes from.
    pub(crate) fn span_of(&self, error: &FabricError) -> Option<Span> {
        match error {
            FabricError::Queue { limit, .. } => {
                let is_it = |at: &At<Limit>| at.value == *limit;
                self.queue.filter(is_it).or(self.trim_queue.filter(is_it)).map(|at| at.span)
            }
            FabricError::Trim { .. } => self.trim.map(|at| at.span),
            FabricError::Red { .. } => self.red.map(|at| at.span),
            FabricError::LosslessQueue { .. }
            | FabricError::Headroom { .. }
            | FabricError::SharedHeadroom { .. } => self.pfc.map(|at| at.span),
            _ => None,
        }
    }

    /// The given keys that have no effect on a fabric from a file, each with the attribute that all of its links have instead:
    /// a queue replaces all keys about queues. `read` reads the file with other settings.
    pub(crate) fn without_effect(
        &self,
        rate: Option<Rate>,
        fabric: &Fabric,
        read: impl FnOnce(&LinkSpec) -> Option<Fabric>,
    ) -> Vec<(&'static str, &'static str)> {
        let same_limit: Same = |a, b| a.queue.limit == b.queue.limit;
        let keys: [(_, _, Same); 10] = [
            ("rate", rate.is_some(), |a, b| a.rate == b.rate),
            ("delay", self.delay.is_some(), |a, b| a.delay == b.delay),
            ("overhead", self.overhead.is_some(), |a, b| a.overhead == b.overhead),
            ("queue", self.queue.is_some(), same_limit),
            ("ecn_threshold", self.ecn_threshold.is_some(), |a, b| {
                a.queue.ecn_threshold == b.queue.ecn_threshold
            }),
            ("queues", self.queues.is_some(), |a, b| a.queue.classes == b.queue.classes),
            ("red", self.red.is_some(), |a, b| a.queue.red == b.queue.red),
            ("trim", self.trim.is_some(), |a, b| a.queue.trim == b.queue.trim),
            ("trim_queue", self.trim_queue.is_some(), |a, b| a.queue.trim_queue == b.queue.trim_queue),
            ("pfc", self.pfc.is_some(), |a, b| a.queue.pfc == b.queue.pfc),
        ];
        if keys.iter().all(|(_, is_given, _)| !is_given) {
            return Vec::new();
        }
        let spec = self.apply(&LinkSpec::default(), rate);
        let limit = if spec.queue.limit == Limit::Packets(1) { Limit::Packets(2) } else { Limit::Packets(1) };
        let other = LinkSpec {
            rate: Rate::from_bps(spec.rate.bps() ^ 1),
            delay: Duration::from_ps(spec.delay.ps() ^ 1),
            queue: QueueSpec::fifo(limit),
            ..LinkSpec::default()
        };
        // Without another value to try, no key is known to have no effect.
        let Some(tried) = read(&other) else { return Vec::new() };
        let has_no_effect = |is_same: Same| {
            let mut links = fabric.links().iter().zip(tried.links());
            !is_same(&spec, &other) && links.all(|(link, tried)| is_same(&link.spec(), &tried.spec()))
        };
        let is_replaced = has_no_effect(same_limit);
        let idle = keys.into_iter().filter(|(_, is_given, is_same)| *is_given && has_no_effect(*is_same));
        idle.map(|(key, ..)| match key {
            "rate" | "delay" | "overhead" => (key, key),
            _ => (key, if is_replaced { "queue" } else { key }),
        })
        .collect()
    }

    /// `spec` with these settings applied.
    pub(crate) fn apply(&self, spec: &LinkSpec, rate: Option<Rate>) -> LinkSpec {
        let mut queue: QueueSpec = spec.queue.clone();
        queue.limit = self.queue.map_or(queue.limit, |at| at.value);
        queue.ecn_threshold = self.ecn_threshold.map_or(queue.ecn_threshold, |at| Some(at.value));
        if let Some((scheduler, classes)) = &self.queues {
            queue.scheduler = *scheduler;
            queue.classes.clone_from(classes);
        }
        if let Some(red) = self.red {
            queue.red = Some(red.value);
            // The table of one link replaces the threshold of all.
            queue.ecn_threshold = self.ecn_threshold.map(|at| at.value);
        } else if self.ecn_threshold.is_some() {
            queue.red = None;
        }
        queue.trim = self.trim.map_or(queue.trim, |at| at.value);
        queue.trim_queue = self.trim_queue.map_or(queue.trim_queue, |at| Some(at.value));
        queue.pfc = self.pfc.map_or(queue.pfc, |at| Some(at.value));
        LinkSpec {
            rate: rate.unwrap_or(spec.rate),
            delay: self.delay.map_or(spec.delay, |at| at.value),
            queue,
            overhead: self.overhead.map_or(spec.overhead, |at| at.value),
        }
    }
}
