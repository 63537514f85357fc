//! `trace` of a `[traffic]` group: a file of flows.

use weft_traffic::trace::{
    Failure, FindHost, Read, TraceError, read_conweave, read_csv, read_goal, read_htsim, read_parquet,
};
use weft_traffic::{Flows, ListedFlow};
use weft_units::Time;

use super::collective::RankSettings;
use super::{Resolver, find_host};
use crate::change::{Cables, Change, Event};
use crate::diagnostic::Problem;
use crate::section::At;

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

/// The flows of the file `path`, with the hosts of the ranks if they are between ranks, and its other content.
pub(crate) fn read_trace(
    path: &At<String>,
    ranks: &RankSettings,
    resolver: &Resolver<'_>,
) -> Option<(Flows, Beside)> {
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
    let read: ReadListed = match ending {
        Some("csv") => |bytes, find| read_csv(bytes, find).map(complete),
        Some("parquet") => |bytes, find| read_parquet(bytes, find).map(complete),
        Some("txt") => read_conweave,
        Some("cm" | "tm" | "goal") => {
            let bytes = resolver.file(path)?;
            let read = if ending == Some("goal") {
                read_goal(&bytes).map(|of| (of, vec![]))
            } else {
                read_htsim(&bytes)
            };
            let (Read { flows: program, ignored }, failures) = read.map_err(refuse).ok()?;
            let events = failures.iter().map(|failure| {
                event(failure, resolver)
                    .map_err(|why| {
                        problem(format!("a failure of `{}` has no link in this fabric", path.value), why);
                    })
                    .ok()
            });
            let events: Vec<Option<Event>> = events.collect();
            let events = events.into_iter().collect::<Option<Vec<_>>>()?;
            if program.flows.is_empty() {
                empty();
                return None;
            }
            let beside = Beside { events, warnings: warnings(ignored) };
            return Some((Flows::Ordered(program, Some(ranks.resolve(resolver)?)), beside));
        }
        _ => {
            problem(
                format!("`{}` is not a flow trace", path.value),
                "expected a name that ends in .csv, .parquet, .txt, .cm, .tm or .goal".into(),
            );
            return None;
        }
    };
    if let Some(key) = ranks.is_given().then_some("`ranks` and `placement` are for ranks") {
        problem(format!("the flows of `{}` are between hosts", path.value), format!("{key}: remove them"));
        return None;
    }
    let Read { flows, ignored } = read(&resolver.file(path)?, &find).map_err(refuse).ok()?;
    if flows.is_empty() {
        empty();
        return None;
    }
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
