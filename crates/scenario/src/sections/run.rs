//! `[run]`: duration and seeds.

use weft_units::Duration;

use crate::key::{Key, Kind, key};
use crate::section::{At, Section};
use crate::tree::Value;

/// Maximum number of seeds of a scenario.
const MAX_SEEDS: u64 = 10_000;
/// The default limit, in durations.
const LIMIT: u64 = 10;
/// The least default limit.
const LEAST_LIMIT: Duration = Duration::from_secs(10);

/// The keys of `[run]`.
pub(crate) const KEYS: &[Key] = &[
    key("duration", Kind::Duration, "1 s", "new flows arrive during this time"),
    key("limit", Kind::Duration, "", "the run ends when all flows have finished, or at this time")
        .of(|| format!("{LIMIT} × duration, at least {LEAST_LIMIT}")),
    key("seeds", Kind::Either(&[Kind::Count(1), Kind::Counts]), "1", "number of seeds, or a list of seeds"),
    key(
        "warm",
        Kind::Flag,
        "false",
        "start as after earlier traffic: hosts know all addresses and switches all stations",
    ),
];

/// When a run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// New flows arrive during this time.
    pub duration: Duration,
    /// The run ends when all its flows have finished, or at this time.
    pub limit: Duration,
    /// Whether hosts know all addresses and switches all stations from the start.
    pub warm: bool,
    /// Whether the scenario says so itself, either way.
    pub start_is_given: bool,
}

impl Run {
    pub(crate) fn decode(section: &Section<'_>) -> Option<Self> {
        section.only(&[KEYS]);
        let duration = section.get_or_default(KEYS, "duration");
        let limit = section.get::<Duration>("limit");
        let duration = positive(section, "duration", duration?)?.value;
        let most = (duration * LIMIT).max(LEAST_LIMIT);
        if let Some(limit) = limit.filter(|limit| limit.value < duration) {
            let message = format!("the limit {} is shorter than the duration {duration}", limit.value);
            section.problem(limit.span, message, "expected at least the duration");
            return None;
        }
        if section.node("limit").is_some() && limit.is_none() {
            return None;
        }
        Some(Self {
            duration,
            limit: limit.map_or(most, |at| at.value),
            warm: section.value(KEYS, "warm")?,
            start_is_given: section.node("warm").is_some(),
        })
    }

    /// The seeds of all runs.
    pub(crate) fn decode_seeds(section: &Section<'_>) -> Vec<u64> {
        let Some(node) = section.node_or_default(KEYS, "seeds") else { return Vec::new() };
        let path = section.path_of("seeds");
        let Value::List(nodes) = &node.value else {
            if !matches!(node.value, Value::Integer(_)) {
                let message = format!("`{path}` is {}, not a number of seeds", node.describe());
                section.problem(node.span, message, "expected a whole number, or a list such as [1, 2, 3]");
                return Vec::new();
            }
            let count = section.read::<u64>(&node, &path);
            let good = count.filter(|count| (1..=MAX_SEEDS).contains(&count.value));
            if let (Some(count), None) = (count, good) {
                let message = format!("`{path}` is {}", count.value);
                section.problem(node.span, message, format!("expected 1 to {MAX_SEEDS}, or a list of seeds"));
            }
            return good.map_or_else(Vec::new, |count| (1..=count.value).collect());
        };
        if nodes.is_empty() {
            section.problem(node.span, "the list of seeds is empty", "expected at least one number");
        }
        let mut seeds = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            let Some(seed) = section.read::<u64>(node, &format!("{path}[{at}]")) else { continue };
            if seeds.contains(&seed.value) {
                let message = format!("the seed {} is listed twice", seed.value);
                section.problem(seed.span, message, "expected different numbers");
            }
            seeds.push(seed.value);
        }
        if nodes.len() as u64 > MAX_SEEDS {
            section.problem(
                node.span,
                format!("{} seeds", nodes.len()),
                format!("expected at most {MAX_SEEDS}"),
            );
        }
        seeds
    }
}

/// Rejects a duration of zero.
pub(crate) fn positive(section: &Section<'_>, key: &str, span: At<Duration>) -> Option<At<Duration>> {
    if span.value > Duration::ZERO {
        return Some(span);
    }
    section.problem(span.span, format!("`{}` is zero", section.path_of(key)), "expected more than 0 s");
    None
}
