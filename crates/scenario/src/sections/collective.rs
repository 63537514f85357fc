//! `collective` of a `[traffic]` group: an operation in which all ranks take part; and the hosts of ranks, of a collective
//! or a trace.

use weft_traffic::{Algorithm, Collective, Placement, Ranks, Reuse};
use weft_units::{Bytes, Duration};

use super::Resolver;
use crate::section::{At, Key, Kind, Section, key};
use crate::tree::Value;

/// The keys of a collective, besides `start` and `jitter`.
pub(crate) const COLLECTIVE_KEYS: &[Key] = &[
    key(
        "collective",
        Kind::Choice(algorithms),
        "",
        "collective operation of all ranks, as flows that wait for each other",
    ),
    key("bytes", Kind::Bytes, "", "bytes of a collective at every rank"),
    key("chunks", Kind::Count(1), "1", "number of chunks of a tree or pipeline"),
    key("compute", Kind::Duration, "0 s", "time between receiving data and sending what follows from it"),
    key("repeats", Kind::Count(1), "1", "number of rounds of a collective, one after the other"),
    key(
        "connections",
        Kind::Choice(reuses),
        "per-message",
        "whether messages between two ranks share a connection that stays open",
    ),
];

/// The keys of the hosts of ranks.
pub(crate) const RANK_KEYS: &[Key] = &[
    key(
        "ranks",
        Kind::Either(&[Kind::Count(1), Kind::List(&Kind::Text)]),
        "all hosts",
        "number of ranks, or the host of each",
    ),
    key("placement", Kind::Choice(placements), "rack", "order of hosts in which ranks are placed"),
];

fn algorithms() -> Vec<&'static str> {
    Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect()
}

fn reuses() -> Vec<&'static str> {
    Reuse::ALL.iter().map(|reuse| reuse.name()).collect()
}

fn placements() -> Vec<&'static str> {
    Placement::ALL.iter().map(|placement| placement.name()).collect()
}

/// The most rounds: a result has an entry for each.
const MOST_ROUNDS: u64 = 10_000;

/// The hosts of ranks, as written.
#[derive(Clone, Debug)]
pub(crate) enum RankSettings {
    Placed(Option<u64>, Placement),
    Listed(Vec<At<String>>),
}

impl RankSettings {
    pub(crate) fn decode(section: &Section<'_>) -> Option<Self> {
        let placement = match section.node("placement") {
            None => Placement::default(),
            Some(_) => section.choice("placement", &Placement::ALL.map(|at| (at.name(), at)))?.value,
        };
        let count = match section.node("ranks") {
            None => None,
            Some(node) if matches!(node.value, Value::List(_)) => {
                if let Some(placement) = section.node("placement") {
                    let message = "`placement` cannot be combined with a list of hosts";
                    section.problem(placement.span, message, "expected one of them");
                }
                return Some(Self::Listed(section.list("ranks")?.value));
            }
            Some(_) => Some(section.get::<u64>("ranks")?.value),
        };
        Some(Self::Placed(count, placement))
    }

    /// Whether there is any such key.
    pub(crate) fn is_given(&self) -> bool {
        !matches!(self, Self::Placed(None, Placement::Rack))
    }

    pub(crate) fn resolve(&self, resolver: &Resolver<'_>) -> Option<Ranks> {
        match self {
            Self::Placed(count, placement) => Some(Ranks::Placed(*count, *placement)),
            Self::Listed(names) => {
                let hosts: Vec<Option<_>> = names.iter().map(|name| resolver.host(name)).collect();
                hosts.into_iter().collect::<Option<_>>().map(Ranks::Listed)
            }
        }
    }
}

/// The collective of a group; `start` and `jitter` are the group's.
pub(crate) fn decode(section: &Section<'_>, start: Duration, jitter: Duration) -> Option<Collective> {
    let algorithm = section.choice("collective", &Algorithm::ALL.map(|at| (at.name(), at)));
    let bytes = section.need::<Bytes>("bytes");
    let count = |key: &str| match section.node(key) {
        None => Some(1),
        Some(node) => match section.get::<u64>(key)?.value {
            0 => {
                section.problem(node.span, format!("`{}` is 0", section.path_of(key)), "expected at least 1");
                None
            }
            count => Some(count),
        },
    };
    let (chunks, rounds) = (count("chunks"), count("repeats"));
    if let Some(node) = section.node("repeats").filter(|_| rounds.is_some_and(|rounds| rounds > MOST_ROUNDS))
    {
        let message = format!("`{}` is {}", section.path_of("repeats"), rounds.unwrap_or_default());
        section.problem(node.span, message, format!("expected at most {MOST_ROUNDS}"));
        return None;
    }
    let compute =
        section.node("compute").map_or(Some(Duration::ZERO), |_| Some(section.get("compute")?.value));
    let reuse = match section.node("connections") {
        None => Some(Reuse::default()),
        Some(_) => section.choice("connections", &Reuse::ALL.map(|at| (at.name(), at))).map(|at| at.value),
    };
    let algorithm = algorithm?.value;
    if let Some(node) = section.node("chunks").filter(|_| !algorithm.has_chunks()) {
        let message = format!("`{}` is not divided into chunks", algorithm.name());
        let with: Vec<&str> =
            Algorithm::ALL.iter().filter(|at| at.has_chunks()).map(|at| at.name()).collect();
        section.problem(node.span, message, format!("only {} have `chunks`", with.join(" and ")));
        return None;
    }
    Some(Collective {
        algorithm,
        bytes: bytes?.value.0,
        chunks: chunks?,
        compute: compute?,
        rounds: rounds?,
        start,
        jitter,
        reuse: reuse?,
    })
}
