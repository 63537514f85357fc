//! `collective` of a `[traffic]` group: an operation in which all ranks take part; and the hosts of ranks, of a collective
//! or a trace.

use weft_traffic::{
    Algorithm, Collective, Placement, Protocol, Ranks, Relay, Reuse, Stragglers, Tuner, read_tuner,
};
use weft_units::{Bytes, Duration};

use super::Resolver;
use crate::diagnostic::Problem;
use crate::key::{Key, Kind, key};
use crate::section::{At, Section};
use crate::tree::{Value, shown};

/// The keys of a collective, besides `start` and `jitter`.
pub(crate) const COLLECTIVE_KEYS: &[Key] = &[
    key(
        "collective",
        Kind::Word(Algorithm::WORDS),
        "",
        "collective operation of all ranks, as flows that wait for each other",
    ),
    key("bytes", Kind::Bytes, "", "bytes of a collective at every rank"),
    key(
        "chunks",
        Kind::Count(1),
        "1",
        "number of chunks of a tree, pipeline or broadcast; with `tuner`, of the trees that it chooses",
    ),
    key(
        "channels",
        Kind::Count(1),
        "1",
        "equal parts of a collective's data, each with connections of its own",
    ),
    key(
        "skew",
        Kind::Number,
        "0",
        "exponent of Zipf's law by which some ranks of an all-to-all receive more (experts)",
    ),
    key("compute", Kind::Duration, "0 s", "time between receiving data and sending the next data"),
    key("repeats", Kind::Count(1), "1", "number of rounds of a collective, one after the other"),
    key(
        "connections",
        Kind::Word(Reuse::WORDS),
        "persistent for RoCE and Ultra Ethernet, else per-message",
        "connections between ranks: one for each message, or one that stays open for all messages of a pair",
    ),
    key(
        "protocol",
        Kind::Word(Protocol::WORDS),
        "simple",
        "protocol of NCCL: ll128 sends 128 bytes for 120 of a message, ll 8 bytes for 4",
    ),
    key(
        "tuner",
        Kind::Text,
        "",
        "file of a tuner of NCCL (CSV) that chooses algorithm, protocol and channels by size",
    ),
    key(
        "relay",
        Kind::Word(Relay::WORDS),
        "none",
        "pxn: messages to another rail of another scale-up domain go over the own domain to a rank on that rail first",
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
    key("placement", Kind::Word(Placement::WORDS), "rack", "order of hosts in which ranks are placed"),
    key("skip", Kind::Count(0), "0", "number of hosts in this order that are left to other groups"),
    key("stragglers", Kind::Count(0), "0", "number of ranks, drawn by the seed, that compute more slowly"),
    key("straggler_factor", Kind::Number, "2", "factor by which stragglers compute longer"),
];

/// The most rounds: a result has an entry for each.
const MOST_ROUNDS: u64 = 10_000;

/// The largest factor of stragglers.
const MOST_FACTOR: f64 = 1_000.0;
/// The largest exponent of a skew: the second most popular rank receives a thousandth of the first.
const MOST_SKEW: f64 = 10.0;

/// The hosts of ranks, as written.
#[derive(Clone, Debug)]
pub(crate) enum RankSettings {
    Placed(Option<u64>, Placement, u64),
    Listed(Vec<At<String>>),
}

impl RankSettings {
    pub(crate) fn decode(section: &Section<'_>) -> Option<Self> {
        let placement = section.value(RANK_KEYS, "placement")?;
        let skip = section.get_or_default::<u64>(RANK_KEYS, "skip")?;
        if skip.value > 0 && placement == Placement::Random {
            let message =
                "`skip` cannot be combined with placement = \"random\": each group draws an order of its own";
            section.problem(skip.span, message, "expected another placement, or a list of hosts as `ranks`");
            return None;
        }
        let count = match section.node("ranks") {
            None => None,
            Some(node) if matches!(node.value, Value::List(_)) => {
                for key in ["placement", "skip"] {
                    if let Some(node) = section.node(key) {
                        let message = format!("`{key}` cannot be combined with a list of hosts");
                        section.problem(node.span, message, "expected one of them");
                    }
                }
                return Some(Self::Listed(section.list("ranks")?.value));
            }
            Some(_) => Some(section.get::<u64>("ranks")?.value),
        };
        Some(Self::Placed(count, placement, skip.value))
    }

    pub(crate) fn resolve(&self, resolver: &Resolver<'_>) -> Option<Ranks> {
        match self {
            Self::Placed(count, placement, skip) => Some(Ranks::Placed(*count, *placement, *skip)),
            Self::Listed(names) => {
                let hosts: Vec<Option<_>> = names.iter().map(|name| resolver.host(name)).collect();
                hosts.into_iter().collect::<Option<_>>().map(Ranks::Listed)
            }
        }
    }
}

/// The collective of a group; `start` and `jitter` are the group's.
pub(crate) fn decode(section: &Section<'_>, start: Duration, jitter: Duration) -> Option<Collective> {
    let algorithm = section.get::<Algorithm>("collective");
    let bytes = section.need::<Bytes>("bytes");
    let count = |key: &str, most: u64| {
        let count = section.get_or_default::<u64>(COLLECTIVE_KEYS, key)?;
        let expected = match count.value {
            0 => "expected at least 1".to_owned(),
            value if value > most => format!("expected at most {most}"),
            _ => return Some(count),
        };
        section.problem(count.span, format!("`{}` is {}", section.path_of(key), count.value), expected);
        None
    };
    let (chunks, rounds, channels) = (
        count("chunks", u64::MAX),
        count("repeats", MOST_ROUNDS),
        count("channels", Collective::MOST_CHANNELS),
    );
    let skew = skew(section);
    let compute = section.value(COLLECTIVE_KEYS, "compute");
    let reuse = reuse(section);
    let algorithm = algorithm?.value;
    // The table of a tuner may choose an algorithm with chunks.
    let may_have_chunks = algorithm.has_chunks() || section.node("tuner").is_some();
    if let Some(node) = section.node("chunks").filter(|_| !may_have_chunks) {
        let message = format!("`{algorithm}` is not divided into chunks");
        let mut with = Algorithm::WORDS.to_vec();
        with.retain(|word| word.parse().is_ok_and(Algorithm::has_chunks));
        let label = format!("only {} have `chunks`, or a `tuner` that chooses one of them", with.join(", "));
        section.problem(node.span, message, label);
        return None;
    }
    let is_skewed = skew.is_some_and(|skew| skew > 0);
    if let Some(node) = section.node("skew").filter(|_| is_skewed && algorithm != Algorithm::AllToAll) {
        let message = format!("all ranks of `{algorithm}` receive the same");
        section.problem(node.span, message, "only `all-to-all` has `skew`");
        return None;
    }
    Some(Collective {
        algorithm,
        bytes: bytes?.value.0,
        chunks: chunks?.value,
        channels: channels?.value,
        skew: skew?,
        compute: compute?,
        rounds: rounds?.value,
        start,
        jitter,
        reuse: reuse?,
        relay: section.value(COLLECTIVE_KEYS, "relay")?,
        protocol: section.value(COLLECTIVE_KEYS, "protocol")?,
        group: 0,
    })
}

/// The ranks of a group that compute slowly.
pub(crate) fn stragglers(section: &Section<'_>) -> Option<Stragglers> {
    let count = section.value::<u64>(RANK_KEYS, "stragglers")?;
    let factor = section.get_or_default::<f64>(RANK_KEYS, "straggler_factor")?;
    if !(1.0..=MOST_FACTOR).contains(&factor.value) {
        let message = format!("`{}` is {}", section.path_of("straggler_factor"), shown(factor.value));
        section.problem(factor.span, message, format!("expected 1 to {MOST_FACTOR}"));
        return None;
    }
    Some(Stragglers { count, factor: factor.value })
}

/// The connections of a group; until the protocol is known, each message has its own by default.
pub(crate) fn reuse(group: &Section<'_>) -> Option<Reuse> {
    match group.node("connections") {
        Some(_) => group.get::<Reuse>("connections").map(|reuse| reuse.value),
        None => Some(Reuse::PerMessage),
    }
}

/// The exponent of an all-to-all's skew, in thousandths.
fn skew(section: &Section<'_>) -> Option<u32> {
    let skew = section.get_or_default::<f64>(COLLECTIVE_KEYS, "skew")?;
    if !(0.0..=MOST_SKEW).contains(&skew.value) {
        let message = format!("`{}` is {}", section.path_of("skew"), shown(skew.value));
        section.problem(skew.span, message, format!("expected 0 (all the same) to {MOST_SKEW}"));
        return None;
    }
    Some((skew.value * 1000.0).round() as u32)
}

/// The table that chooses the algorithm of a collective; the outer `None` means invalid.
pub(crate) fn tuner(path: Option<&At<String>>, resolver: &Resolver<'_>) -> Option<Option<Tuner>> {
    let Some(path) = path else { return Some(None) };
    let bytes = resolver.file(path)?;
    let read = read_tuner(&bytes).map_err(|error| {
        let message = format!("`{}` is not a table of a tuner", path.value);
        resolver.problems.add(Problem::at(path.span, message).label(error.to_string()));
    });
    read.ok().map(Some)
}
