//! `[traffic]`, or several `[[traffic]]`: groups of flows, drawn, listed or read from a trace.

use weft_traffic::{Algorithm, Collective, EPHEMERAL, Flows, Group, Lane, Reuse, Stragglers, TrafficError};
use weft_units::Duration;

use super::collective::{self, COLLECTIVE_KEYS, RANK_KEYS, RankSettings};
use super::drawn::{DRAWN_KEYS, DrawnSettings};
use super::flow_list::{FLOW_KEYS, FlowList};
use super::inference::{INFERENCE_KEYS, InferenceSettings};
use super::interfaces::{PAIR, lane};
use super::optional::{DSCP, PORT, dscp};
use super::trace::{Beside, TraceSettings};
use super::training::{TRAINING_KEYS, TrainingSettings};
use super::{Resolver, sizes};
use crate::diagnostic::{Problem, Problems};
use crate::key::{Key, Kind, key};
use crate::section::{At, Section};
use crate::source::Span;

/// The keys of every group.
pub(crate) const COMMON_KEYS: &[Key] = &[
    key("class", Kind::Text, "by size", "class name in reports"),
    key("dscp", DSCP, "0", "DSCP of the packets; selects the queue of a port with several"),
    key(
        "interfaces",
        PAIR,
        "",
        "numbers of the interfaces at source and destination, with transport.interfaces = \"listed\"",
    ),
    key(
        "elephant_ports",
        Kind::Pair(&PORT),
        "",
        "first and last source port of elephants, by which `tfe` recognises them; other flows use higher ports",
    ),
];

/// The keys of a group with explicit flows.
pub(crate) const GIVEN_KEYS: &[Key] = &[
    key("flow_list", Kind::Tables(FLOW_KEYS), "", "explicit list of flows"),
    key(
        "trace",
        Kind::Text,
        "",
        "file of flows: CSV (.csv), Parquet (.parquet), a list of conweave-ns3 or HPCC or a workload of SimAI (.txt), a \
         connection matrix of htsim (.cm), GOAL (.goal, .bin), or a file of Chakra for each rank (such as llama.{rank}.et)",
    ),
];

/// The keys of a trace of Chakra.
pub(crate) const CHAKRA_KEYS: &[Key] =
    &[key("communicators", Kind::Text, "", "JSON file of the communicators of a trace of Chakra")];

/// The keys of a group that a model of computation and messages describes.
pub(crate) const WORKLOAD_KEYS: &[Key] = &[
    key("training", Kind::Table(TRAINING_KEYS), "", "steps of the training of a large language model"),
    key("inference", Kind::Table(INFERENCE_KEYS), "", "requests to a large language model"),
];

/// The keys of all kinds of groups.
pub(crate) fn key_lists() -> [&'static [Key]; 7] {
    [COMMON_KEYS, GIVEN_KEYS, CHAKRA_KEYS, WORKLOAD_KEYS, COLLECTIVE_KEYS, RANK_KEYS, DRAWN_KEYS]
}

/// A group as written.
#[derive(Clone, Debug)]
pub(crate) struct GroupSettings {
    span: Span,
    class: Option<String>,
    dscp: u8,
    elephant_ports: Option<At<(u16, u16)>>,
    lane: Lane,
    stragglers: Stragglers,
    source: Source,
    /// Positions of these keys, for error messages.
    pairs_span: Option<Span>,
    intensity_span: Option<Span>,
    load_of_span: Option<Span>,
    flows_span: Option<Span>,
    ranks_span: Option<Span>,
    bytes_span: Option<Span>,
    connections_span: Option<Span>,
    skip_span: Option<Span>,
    stragglers_span: Option<Span>,
    factor_span: Option<Span>,
    compute_span: Option<Span>,
    /// Those of its keys that the table of a tuner overrides.
    of_tuner: Vec<&'static str>,
}

#[derive(Clone, Debug)]
enum Source {
    Drawn(Box<DrawnSettings>),
    Listed(FlowList),
    Trace(TraceSettings),
    Collective(Collective, RankSettings, Option<At<String>>),
    Training(Box<TrainingSettings>),
    Inference(Box<InferenceSettings>),
}

impl Source {
    /// The flows of a group by the key that describes them; none for flows that are drawn. Reports all errors.
    fn decode(section: &Section<'_>, key: Option<&str>) -> Option<Self> {
        let time = |key: &str| section.value::<Duration>(DRAWN_KEYS, key);
        match key {
            None => DrawnSettings::decode(section).map(|drawn| Self::Drawn(Box::new(drawn))),
            Some("flow_list") => FlowList::decode(section).map(Self::Listed),
            Some("collective") => {
                let (start, jitter, ranks) = (time("start"), time("jitter"), RankSettings::decode(section));
                let tuner = match section.node("tuner") {
                    Some(_) => section.get::<String>("tuner").map(Some),
                    None => Some(None),
                };
                let all = collective::decode(section, start.unwrap_or_default(), jitter.unwrap_or_default());
                start.zip(jitter)?;
                Some(Self::Collective(all?, ranks?, tuner?))
            }
            Some(key) => {
                let given = time("start");
                let start = given.unwrap_or_default();
                let source = match key {
                    "training" => {
                        TrainingSettings::decode(section, start).map(|all| Self::Training(Box::new(all)))
                    }
                    "inference" => {
                        InferenceSettings::decode(section, start).map(|all| Self::Inference(Box::new(all)))
                    }
                    _ => TraceSettings::decode(section, start).map(Self::Trace),
                };
                given.and(source)
            }
        }
    }
}

impl GroupSettings {
    pub(crate) fn decode(section: &Section<'_>) -> Option<Self> {
        let span = |key: &str| section.node(key).map(|node| node.span);
        let sources = GIVEN_KEYS.iter().chain(WORKLOAD_KEYS).map(|key| key.name).chain(["collective"]);
        let given: Vec<&str> = sources.filter(|key| span(key).is_some()).collect();
        section.only(&key_lists());
        let has = |keys: &[Key], name: &str| keys.iter().any(|key| key.name == name);
        let source = given.first().copied().unwrap_or_default();
        let idle = section.table.0.iter().filter(|entry| match source {
            "collective" => false,
            "training" | "inference" => has(COLLECTIVE_KEYS, &entry.key) && entry.key != "connections",
            "trace" => has(COLLECTIVE_KEYS, &entry.key),
            _ => has(COLLECTIVE_KEYS, &entry.key) || has(RANK_KEYS, &entry.key),
        });
        if let Some(node) = section.node("communicators").filter(|_| source != "trace") {
            let message = "`communicators` has no effect without `trace`";
            section.problem(node.span, message, "expected `trace` as well, such as \"llama.{rank}.et\"");
        }
        for entry in idle.filter(|entry| !given.contains(&entry.key.as_str())) {
            let key = entry.key.as_str();
            let with = match key {
                "connections" => "`collective`, `training` or `inference`",
                _ if has(RANK_KEYS, key) => {
                    "`collective`, `training`, `inference` or a `trace` between ranks"
                }
                _ => "`collective`",
            };
            let message = format!("`{key}` has no effect without {with}");
            let label = match source {
                "" => "expected `collective` as well, such as \"ring-all-reduce\"".to_owned(),
                _ => format!("remove it: all flows of {} come from `{source}`", section.title()),
            };
            section.problem(entry.span, message, label);
        }
        if !source.is_empty() {
            let is_start = |name: &str| match source {
                "collective" => matches!(name, "start" | "jitter"),
                "training" | "inference" | "trace" => name == "start",
                _ => false,
            };
            let entries = section.table.0.iter().filter(|entry| {
                (has(DRAWN_KEYS, &entry.key) && !is_start(&entry.key))
                    || given[1..].contains(&entry.key.as_str())
            });
            for entry in entries {
                let message = format!("`{}` cannot be combined with `{source}`", entry.key);
                let label = match (source, entry.key.as_str()) {
                    ("flow_list", "start") => {
                        "remove it: each flow of `flow_list` has its own `start`".to_owned()
                    }
                    _ => format!("remove it: all flows of {} come from `{source}`", section.title()),
                };
                section.problem(entry.span, message, label);
            }
        }
        let (dscp, elephant_ports, lane) = (dscp(section), elephant_ports(section), lane(section));
        let stragglers = collective::stragglers(section);
        let source = Source::decode(section, given.first().copied());
        let class = section.get::<String>("class");
        if let Some(class) = class.as_ref().filter(|class| class.value.trim().is_empty()) {
            section.problem(class.span, "the class name is empty", "expected a word such as \"long\"");
        }
        Some(Self {
            span: section.span,
            class: class.map(|class| class.value),
            dscp: dscp?.unwrap_or_default(),
            elephant_ports: elephant_ports?,
            lane: lane?,
            stragglers: stragglers?,
            source: source?,
            pairs_span: span("pairs"),
            intensity_span: span("load").or(span("flows_per_second")),
            load_of_span: span("load_of"),
            flows_span: span("flows"),
            ranks_span: span("ranks")
                .or(span("trace"))
                .or(span("collective"))
                .or(span("training"))
                .or(span("inference")),
            bytes_span: span("bytes"),
            connections_span: span("connections"),
            skip_span: span("skip"),
            stragglers_span: span("stragglers"),
            factor_span: span("straggler_factor"),
            compute_span: span("compute"),
            of_tuner: ["protocol", "channels", "chunks"]
                .into_iter()
                .filter(|key| span(key).is_some())
                .collect(),
        })
    }

    /// The position of its section.
    pub(crate) const fn span(&self) -> Span {
        self.span
    }

    /// The position of its `connections`.
    pub(crate) const fn connections_span(&self) -> Option<Span> {
        self.connections_span
    }

    /// Keeps connections open, unless `connections` is given or they carry one message each.
    pub(crate) fn keep_connections(&mut self) {
        match &mut self.source {
            _ if self.connections_span.is_some() => {}
            Source::Collective(collective, ..) if !has_single_messages(collective) => {
                collective.reuse = Reuse::Persistent;
            }
            Source::Training(training) => training.keep_connections(),
            Source::Inference(inference) => inference.keep_connections(),
            Source::Drawn(_) | Source::Listed(_) | Source::Trace(_) | Source::Collective(..) => {}
        }
    }

    /// The collective, if it opens a connection for each message because `connections` is not given.
    pub(crate) const fn opening(&self) -> Option<&Collective> {
        match (&self.source, self.connections_span) {
            (Source::Collective(collective, ..), None) => Some(collective),
            _ => None,
        }
    }

    /// The collective.
    pub(crate) const fn collective(&self) -> Option<&Collective> {
        match &self.source {
            Source::Collective(collective, ..) => Some(collective),
            _ => None,
        }
    }

    /// Whether it has a factor of stragglers, and no stragglers.
    pub(crate) const fn has_idle_factor(&self) -> bool {
        self.factor_span.is_some() && self.stragglers.count == 0
    }

    /// Those of its keys that the table of a tuner overrides.
    pub(crate) fn of_tuner(&self) -> &[&'static str] {
        &self.of_tuner
    }

    /// The files with its flows or their sizes.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        let files = match &self.source {
            Source::Drawn(drawn) => [drawn.sizes.file(), None],
            Source::Collective(_, _, tuner) => [tuner.as_ref().map(|path| path.value.as_str()), None],
            Source::Listed(_) | Source::Training(_) | Source::Inference(_) => [None, None],
            Source::Trace(trace) => trace.files(),
        };
        files.into_iter().flatten()
    }

    /// The group, with its hosts and files resolved, and its file's other content.
    pub(crate) fn resolve(&self, resolver: &Resolver<'_>) -> Option<(Group, Beside)> {
        let mut beside = Beside::default();
        let flows = match &self.source {
            Source::Drawn(drawn) => Flows::Drawn(drawn.resolve(resolver)?),
            Source::Listed(list) => list.resolve(resolver)?,
            Source::Trace(trace) => {
                let (flows, said) = trace.read(resolver)?;
                beside = said;
                flows
            }
            Source::Training(training) => training.resolve(resolver)?,
            Source::Inference(inference) => inference.resolve(resolver)?,
            Source::Collective(collective, ranks, path) => {
                let tuner = collective::tuner(path.as_ref(), resolver);
                Flows::Collective(*collective, ranks.resolve(resolver)?, tuner?)
            }
        };
        let elephant_ports = self.elephant_ports.map(|ports| ports.value);
        let group = Group {
            class: self.class.clone(),
            dscp: self.dscp,
            elephant_ports,
            lane: self.lane,
            stragglers: self.stragglers,
            flows,
        };
        Some((group, beside))
    }

    /// Converts a generator error into a problem at the key that caused it.
    pub(crate) fn blame(&self, error: &TrafficError) -> Problem {
        let span = match error {
            TrafficError::Pairs { .. } => self.pairs_span,
            TrafficError::Intensity { .. } | TrafficError::AtOnce { .. } => self.intensity_span,
            TrafficError::NoCapacity { .. } => self.load_of_span.or(self.intensity_span),
            TrafficError::TooMany { .. } => self.intensity_span.or(self.flows_span),
            TrafficError::Listed { index, .. } => match &self.source {
                Source::Listed(list) => list.span_of(index - 1),
                Source::Trace(trace) => Some(trace.span()),
                Source::Drawn(_) | Source::Collective(..) | Source::Training(_) | Source::Inference(_) => {
                    None
                }
            },
            TrafficError::Ranks { .. } => self.ranks_span,
            TrafficError::Bytes { .. } => self.bytes_span.or(self.ranks_span),
            TrafficError::Skip { .. } => self.skip_span,
            TrafficError::Stragglers { .. } => self.stragglers_span,
            TrafficError::TooLong { .. } => self.compute_span.or(self.ranks_span),
            TrafficError::Circle { .. } => match &self.source {
                Source::Trace(trace) => Some(trace.span()),
                _ => None,
            },
            TrafficError::Unbounded { .. }
            | TrafficError::SamePorts { .. }
            | TrafficError::TooManyClasses => None,
        };
        let problem = Problem::at(span.unwrap_or(self.span), error.to_string());
        match error {
            TrafficError::Unbounded { .. } => problem.label("expected `load`, `flows_per_second` or `flows`"),
            TrafficError::Skip { hosts, .. } => problem.label(match hosts.saturating_sub(2) {
                0 => "remove it: at least 2 ranks need a host each".to_owned(),
                most => format!("expected at most {most}: at least 2 ranks need a host each"),
            }),
            _ => problem,
        }
    }
}

/// The source ports of elephants; the outer `None` means invalid.
fn elephant_ports(section: &Section<'_>) -> Option<Option<At<(u16, u16)>>> {
    let Some(node) = section.node("elephant_ports") else { return Some(None) };
    let (first, last) = sizes::pair::<u64>(section, "elephant_ports")?;
    let highest = u64::from(EPHEMERAL.start) - 1;
    if let Some(wrong) = [first, last].into_iter().find(|port| !(1..=highest).contains(&port.value)) {
        let message = format!("source port {} is not reserved for elephants", wrong.value);
        section.problem(
            wrong.span,
            message,
            format!("expected 1 to {highest}: other flows use higher ports"),
        );
        return None;
    }
    if first.value > last.value {
        let message = format!("the port range {} to {} is empty", first.value, last.value);
        section.problem(node.span, message, "expected the first port, then the last");
        return None;
    }
    Some(Some(At { value: (first.value as u16, last.value as u16), span: node.span }))
}

/// Rejects overlapping elephant ports of two groups.
pub(crate) fn check_elephant_ports(groups: &[GroupSettings], problems: &Problems) {
    let ranges: Vec<At<(u16, u16)>> = groups.iter().filter_map(|group| group.elephant_ports).collect();
    for (at, range) in ranges.iter().enumerate() {
        let ((first, last), before) = (range.value, &ranges[..at]);
        if let Some(other) = before.iter().find(|other| other.value.0 <= last && first <= other.value.1) {
            let (first, last) = other.value;
            let problem = Problem::at(range.span, "the elephant ports of two groups overlap");
            problems.add(problem.label(format!("expected none of {first} to {last}, used by another group")));
        }
    }
}

/// Whether a connection that stays open would carry one message only.
pub(crate) fn has_single_messages(collective: &Collective) -> bool {
    collective.algorithm == Algorithm::AllToAll && collective.rounds == 1
}
