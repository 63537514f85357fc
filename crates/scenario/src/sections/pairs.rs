//! `pairs` of a `[traffic]` group: source and destination of each flow.

use weft_traffic::Pairs;

use super::Resolver;
use crate::diagnostic::Problem;
use crate::key::{Key, Kind, key};
use crate::nearest::{list, suggest};
use crate::section::{At, Section};
use crate::source::Span;
use crate::tree::{Node, Value, shown};

/// The patterns that are words.
pub(crate) const WORDS: &[&str] = &["inter-leaf", "random", "permutation", "all-to-all"];

/// The patterns that are tables.
pub(crate) const FORMS: &[Key] = &[
    key("incast", Kind::Table(INCAST_KEYS), "", "at every arrival, several hosts send to one host"),
    key("rack-local", Kind::Table(RACK_LOCAL_KEYS), "", "a share of the flows stays within its rack"),
];

const INCAST_KEYS: &[Key] = &[
    key("fan_in", Kind::Count(1), "", "number of hosts that send simultaneously"),
    key("receiver", Kind::Text, "", "receiving host; random at every arrival if not given"),
];
const RACK_LOCAL_KEYS: &[Key] = &[key("share", Kind::Number, "", "share of flows within the rack, 0 to 1")];

/// `pairs` as written.
#[derive(Clone, Debug)]
pub(crate) enum PairsSettings {
    Ready(Pairs),
    Incast { fan_in: u32, receiver: Option<At<String>> },
    Listed(Vec<(At<String>, At<String>)>),
}

impl PairsSettings {
    /// Reads `node`, the value of `pairs`.
    pub(crate) fn decode(section: &Section<'_>, node: &Node) -> Option<Self> {
        let path = section.path_of("pairs");
        match &node.value {
            Value::Text(word) => Some(Self::Ready(match word.as_str() {
                "inter-leaf" => Pairs::InterLeaf,
                "random" => Pairs::Random,
                "permutation" => Pairs::Permutation,
                "all-to-all" => Pairs::AllToAll,
                _ => {
                    let example = match word.as_str() {
                        "incast" => "expected { incast = { fan_in = 8 } }".to_owned(),
                        "rack-local" => "expected { rack-local = { share = 0.5 } }".to_owned(),
                        _ => suggest(word, WORDS.iter().copied().chain(["incast", "rack-local"])),
                    };
                    section.problem(node.span, format!("`{path}` cannot be `{word}`"), example);
                    return None;
                }
            })),
            Value::List(pairs) => {
                let pairs = pairs.iter().map(|pair| Self::decode_pair(section, pair, &path));
                let pairs: Vec<Option<_>> = pairs.collect();
                pairs.into_iter().collect::<Option<_>>().map(Self::Listed)
            }
            Value::Table(table) => {
                let inner = Section { path, table, span: node.span, problems: section.problems };
                Self::decode_form(&inner)
            }
            _ => {
                let message = format!("`{path}` is {}, not a pattern of pairs", node.describe());
                let label =
                    format!("expected one of {}, a table or a list of pairs", list(WORDS.iter().copied()));
                section.problem(node.span, message, label);
                None
            }
        }
    }

    fn decode_pair(section: &Section<'_>, pair: &Node, path: &str) -> Option<(At<String>, At<String>)> {
        match &pair.value {
            Value::List(ends) if ends.len() == 2 => {
                Some((section.read(&ends[0], path)?, section.read(&ends[1], path)?))
            }
            _ => {
                let message = format!("{} in `{path}` is not a pair of hosts", pair.describe());
                section.problem(
                    pair.span,
                    message,
                    "expected a list of two names, such as [\"h0\", \"h15\"]",
                );
                None
            }
        }
    }

    fn decode_form(inner: &Section<'_>) -> Option<Self> {
        inner.only(&[FORMS]);
        let form = match inner.table.0.as_slice() {
            [entry] if FORMS.iter().any(|form| form.name == entry.key) => inner.section(&entry.key)?,
            entries => {
                if entries.len() != 1 {
                    let message = format!("`{}` has {} patterns", inner.path, entries.len());
                    inner.problem(inner.span, message, "expected one of `incast`, `rack-local`");
                }
                return None;
            }
        };
        if form.path.ends_with("rack-local") {
            form.only(&[RACK_LOCAL_KEYS]);
            let share = form.need::<f64>("share")?;
            if !(0.0..=1.0).contains(&share.value) {
                let message = format!("`{}` is {}, not a share", form.path_of("share"), shown(share.value));
                form.problem(share.span, message, "expected a number from 0 to 1");
                return None;
            }
            return Some(Self::Ready(Pairs::RackLocal { share: share.value }));
        }
        form.only(&[INCAST_KEYS]);
        let receiver = form.get("receiver");
        Some(Self::Incast { fan_in: form.need("fan_in")?.value, receiver })
    }

    /// The pattern, with its hosts resolved.
    pub(crate) fn resolve(&self, resolver: &Resolver<'_>) -> Option<Pairs> {
        match self {
            Self::Ready(pairs) => Some(pairs.clone()),
            Self::Incast { fan_in, receiver: None } => {
                Some(Pairs::Incast { fan_in: *fan_in, receiver: None })
            }
            Self::Incast { fan_in, receiver: Some(name) } => {
                Some(Pairs::Incast { fan_in: *fan_in, receiver: Some(resolver.host(name)?) })
            }
            Self::Listed(pairs) => {
                let pairs = pairs.iter().map(|(src, dst)| {
                    let found = resolver.host(src).zip(resolver.host(dst))?;
                    if found.0 == found.1 {
                        let span = Span { end: dst.span.end, ..src.span };
                        let message = format!("a flow from `{}` to itself", src.value);
                        resolver
                            .problems
                            .add(Problem::at(span, message).label("expected two different hosts"));
                        return None;
                    }
                    Some(found)
                });
                let pairs: Vec<Option<_>> = pairs.collect();
                pairs.into_iter().collect::<Option<_>>().map(Pairs::Listed)
            }
        }
    }
}
