//! `trace` of a `[traffic]` group: a file of flows, or one for each rank.

use weft_traffic::trace::{
    Failure, FindHost, Read, TraceError, is_simai, read_chakra, read_conweave, read_csv, read_goal,
    read_htsim, read_parquet, read_simai,
};
use weft_traffic::{Flows, ListedFlow, Program};
use weft_units::{Duration, Time};

use super::collective::{RANK_KEYS, RankSettings};
use super::{Resolver, find_host};
use crate::bundle::{RANK, unpack};
use crate::change::{Cables, Change, Event};
use crate::diagnostic::Problem;
use crate::section::{At, Section};
use crate::source::Span;

/// Reads a trace between hosts.
type ReadListed = fn(&[u8], FindHost<'_>) -> Result<Read<Vec<ListedFlow>>, TraceError>;

/// The content of a trace beside its flows.
#[derive(Default)]
pub(crate) struct Beside {
    /// Its failures.
    pub(crate) events: Vec<Event>,
    /// The ignored parts.
    pub(crate) warnings: Vec<String>,
}

/// A trace, as written.
#[derive(Clone, Debug)]
pub(crate) struct TraceSettings {
    path: At<String>,
    communicators: Option<At<String>>,
    ranks: RankSettings,
    /// The given keys of ranks.
    rank_keys: Vec<At<&'static str>>,
    /// The time from the start of the run to that of the trace.
    start: Duration,
}

/// The flows of a trace between ranks, the parts of the file that Weft ignores, and its failures.
type Ordered = (Read<Program>, Vec<Failure>);

impl TraceSettings {
    /// The trace of a group; `start` is the group's.
    pub(crate) fn decode(section: &Section<'_>, start: Duration) -> Option<Self> {
        let (path, communicators) = (section.get::<String>("trace")?, section.get::<String>("communicators"));
        if let Some(key) = communicators.as_ref().filter(|_| !is_chakra(&path.value)) {
            let message = "`communicators` is for traces of Chakra";
            section.problem(key.span, message, format!("`{}` is none: remove it", path.value));
        }
        if is_chakra(&path.value)
            && path.value.rsplit(['/', '\\']).next().unwrap_or_default().matches(RANK).count() != 1
        {
            let message =
                format!("`{}` is one file, and a trace of Chakra has one for each rank", path.value);
            section.problem(path.span, message, "expected `{rank}` in the name, such as \"llama.{rank}.et\"");
            return None;
        }
        let given = RANK_KEYS
            .iter()
            .filter_map(|key| section.node(key.name).map(|node| At { value: key.name, span: node.span }));
        let rank_keys = given.collect();
        Some(Self { path, communicators, ranks: RankSettings::decode(section)?, rank_keys, start })
    }

    /// The files that it names.
    pub(crate) fn files(&self) -> [Option<&str>; 2] {
        [Some(&self.path.value), self.communicators.as_ref().map(|path| path.value.as_str())]
    }

    /// The position of its name.
    pub(crate) const fn span(&self) -> Span {
        self.path.span
    }

    /// The flows, with the hosts of the ranks if they are between ranks, and the other content.
    pub(crate) fn read(&self, resolver: &Resolver<'_>) -> Option<(Flows, Beside)> {
        read_trace(self, resolver)
    }

    /// The files of all ranks.
    fn read_chakra(&self, bytes: &[u8], resolver: &Resolver<'_>) -> Option<Result<Ordered, TraceError>> {
        let communicators = match &self.communicators {
            Some(path) => Some(resolver.file(path)?),
            None => None,
        };
        let files = unpack(bytes).unwrap_or_default();
        Some(read_chakra(&files, communicators.as_deref()).map(|read| (read, vec![])))
    }
}

/// The endings of the names of traces.
const ENDINGS: [&str; 8] = ["csv", "parquet", "txt", "cm", "tm", "goal", "bin", "et"];

/// Whether a name is one of a trace of Chakra.
fn is_chakra(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".et")
}

fn read_trace(trace: &TraceSettings, resolver: &Resolver<'_>) -> Option<(Flows, Beside)> {
    let TraceSettings { path, ranks, start, .. } = trace;
    let name = path.value.to_ascii_lowercase();
    let find = |name: &str| find_host(resolver.fabric, name);
    let problem = |message: String, label: String| {
        resolver.problems.add(Problem::at(path.span, message).label(label));
    };
    let refuse = |error: TraceError| {
        problem(format!("`{}` is not a valid flow trace", path.value), error.to_string());
    };
    let empty = || problem(format!("`{}` has no flows", path.value), "expected at least one".into());
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let warnings =
        |ignored: Vec<String>| ignored.iter().map(|what| format!("`{}`: {what}", path.value)).collect();
    if !ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
        let [before @ .., last] = ENDINGS;
        let names: Vec<String> = before.iter().map(|name| format!(".{name}")).collect();
        problem(
            format!("`{}` is not a flow trace", path.value),
            format!("expected a name that ends in {} or .{last}", names.join(", ")),
        );
        return None;
    }
    let bytes = resolver.file(path)?;
    let ordered = match ending {
        Some("et") => Some(trace.read_chakra(&bytes, resolver)?),
        Some("goal" | "bin") => Some(read_goal(&bytes).map(|program| (complete(program), vec![]))),
        Some("cm" | "tm") => Some(read_htsim(&bytes)),
        Some("txt") if is_simai(&bytes) => {
            let count = ranks.resolve(resolver)?.count(resolver.fabric.hosts().len() as u64);
            Some(read_simai(&bytes, count).map(|read| (read, vec![])))
        }
        _ => None,
    };
    if let Some(read) = ordered {
        let (Read { flows: mut program, ignored }, failures) = read.map_err(refuse).ok()?;
        let events = failures.iter().map(|failure| {
            event(failure, resolver)
                .map_err(|why| {
                    problem(format!("a failure of `{}` has no link in this fabric", path.value), why);
                })
                .ok()
        });
        let events: Vec<Option<Event>> = events.collect();
        let events = events.into_iter().collect::<Option<Vec<_>>>()?;
        if program.flows.is_empty() && program.steps.is_empty() {
            empty();
            return None;
        }
        program.put_off(*start);
        let beside = Beside { events, warnings: warnings(ignored) };
        return Some((Flows::Ordered(program, Some(ranks.resolve(resolver)?)), beside));
    }
    for key in &trace.rank_keys {
        let message =
            format!("`{}` is for ranks, and the flows of `{}` are between hosts", key.value, path.value);
        resolver.problems.add(Problem::at(key.span, message).label("remove it"));
    }
    if !trace.rank_keys.is_empty() {
        return None;
    }
    let read: ReadListed = match ending {
        Some("csv") => |bytes, find| read_csv(bytes, find).map(complete),
        Some("parquet") => |bytes, find| read_parquet(bytes, find).map(complete),
        _ => read_conweave,
    };
    let Read { mut flows, ignored } = read(&bytes, &find).map_err(refuse).ok()?;
    if flows.is_empty() {
        empty();
        return None;
    }
    flows.iter_mut().for_each(|flow| flow.start += *start);
    Some((Flows::Listed(flows), Beside { events: Vec::new(), warnings: warnings(ignored) }))
}

/// Flows of a format of which nothing is ignored.
const fn complete<T>(flows: T) -> Read<T> {
    Read { flows, ignored: Vec::new() }
}

/// A failure of a connection matrix from the start of the run. Its switches are numbered as in a fabric read from a
/// `.topo`, and the link is the one with this number, from 0, among the switch's uplinks.
fn event(failure: &Failure, resolver: &Resolver<'_>) -> Result<Event, String> {
    let Failure { line, tier, switch, link } = failure;
    let fabric = resolver.fabric;
    let letters = match tier.as_str() {
        "TOR" => ["e", "l"],
        "AGG" => ["a", "s"],
        _ => ["c", "s"],
    };
    let instead =
        format!("remove line {line} and lower `Failures`, and write [[event]] with at = \"0 s\" and `fail`");
    let node = letters.iter().find_map(|letter| fabric.node_named(&format!("{letter}{switch}")));
    let node = node.ok_or_else(|| {
        let [first, second] = letters;
        format!("line {line}: there is no switch `{first}{switch}` or `{second}{switch}`; {instead}")
    })?;
    let tier = fabric.node(node).tier;
    let up = || fabric.ports(node).iter().filter(|id| fabric.node(fabric.link(**id).to).tier > tier);
    let id = usize::try_from(*link).ok().and_then(|link| up().nth(link)).ok_or_else(|| {
        let (name, count) = (&fabric.node(node).name, up().count());
        format!("line {line}: `{name}` has {count} uplinks, none of which has the number {link}; {instead}")
    })?;
    let ends = fabric.link(*id);
    let label = format!("{}-{}", fabric.node(ends.from).name, fabric.node(ends.to).name);
    let cables = Cables { links: [*id].into(), label: label.into(), drawn: false };
    Ok(Event { at: Time::ZERO, change: Change::FailCables(cables) })
}
