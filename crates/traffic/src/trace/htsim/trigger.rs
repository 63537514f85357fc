//! [`Trigger`]: which connections start others.

use std::collections::BTreeMap;

use weft_units::{Duration, plural};

use crate::dependencies::{Node, Point, StepKind};
use crate::program::Program;
use crate::trace::value::whole_number as number;
use crate::waits::MAX_NEEDS;
use crate::words::short;

/// The kinds of triggers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Activated once, starts all its connections.
    Oneshot,
    /// Each activation starts the next connection.
    Multishot,
    /// Starts all its connections after this many activations.
    Barrier(u64),
}

/// A trigger, as lines of the file mention it.
#[derive(Default)]
pub(super) struct Trigger {
    /// The first line that mentions it.
    pub(super) line: u64,
    pub(super) kind: Option<Kind>,
    /// The points that activate it.
    pub(super) on: Vec<(Node, Point)>,
    /// The nodes that it starts.
    pub(super) starts: Vec<Node>,
}

/// The id and kind of a trigger, from the words after `trigger`.
pub(super) fn read(words: &[&str]) -> Result<(u64, Kind), String> {
    let (mut id, mut kind, mut count) = (None, None, None);
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        let mut value = || words.next().copied().ok_or_else(|| format!("there is no value after `{word}`"));
        match word {
            "id" => id = Some(number(word, value()?)?),
            "count" => count = Some(number(word, value()?)?),
            "oneshot" | "multishot" | "barrier" if kind.is_none() => kind = Some(word),
            _ => {
                return Err(format!(
                    "`{}` is not known here; expected `id N` and one of oneshot, multishot, `barrier count N`",
                    short(word)
                ));
            }
        }
    }
    let id = id.filter(|id| *id > 0).ok_or("the trigger has no id; expected `id` and a number above 0")?;
    let kind = match (kind, count) {
        (Some("oneshot"), _) => Kind::Oneshot,
        (Some("multishot"), _) => Kind::Multishot,
        (Some(_), Some(0)) => return Err(format!("the barrier {id} has count 0; expected at least 1")),
        (Some(_), Some(count)) => Kind::Barrier(count),
        (Some(_), None) => return Err(format!("the barrier {id} has no count; expected `count N`")),
        (None, _) => {
            return Err(format!(
                "trigger {id} has no kind; expected oneshot, multishot or `barrier count N`"
            ));
        }
    };
    Ok((id, kind))
}

impl Trigger {
    /// Makes its connections wait for those that activate it.
    pub(super) fn connect(&self, id: u64, program: &mut Program) -> Result<(), String> {
        let (on, starts) = (&self.on, &self.starts);
        let kind = self.kind.ok_or_else(|| {
            format!("trigger {id} is not described; expected a line such as `trigger id {id} oneshot`")
        })?;
        if starts.is_empty() {
            return Ok(());
        }
        let name = match kind {
            Kind::Oneshot => "a oneshot trigger",
            Kind::Multishot => "a multishot trigger",
            Kind::Barrier(_) => "a barrier",
        };
        match kind {
            Kind::Multishot => {
                if on.len() < starts.len() {
                    return Err(format!(
                        "trigger {id} is {name} of {}; {} it",
                        plural(starts.len() as u64, "connection"),
                        activate(on.len())
                    ));
                }
                let source = |node: &Node| source(program, *node);
                let rank = source(&starts[0]);
                if let Some(other) = starts.iter().map(source).find(|other| *other != rank) {
                    return Err(format!(
                        "trigger {id} is {name} of connections of nodes {rank} and {other}; expected one node"
                    ));
                }
                let step = program.step(rank);
                if let Some(last) = program.steps.last_mut() {
                    last.kind = StepKind::Each;
                }
                on.iter().for_each(|&(on, at)| program.need(step, on, at, Duration::ZERO));
                starts.iter().for_each(|flow| program.need(*flow, step, Point::Started, Duration::ZERO));
            }
            Kind::Oneshot | Kind::Barrier(_) => {
                let count = if let Kind::Barrier(count) = kind { count } else { 1 };
                if on.len() as u64 != count {
                    return Err(match kind {
                        Kind::Barrier(_) => format!(
                            "barrier {id} waits for {}; {} it",
                            plural(count, "activation"),
                            activate(on.len())
                        ),
                        _ => format!(
                            "trigger {id} is {name}, which one connection activates; {} it",
                            activate(on.len())
                        ),
                    });
                }
                let mut sources: BTreeMap<u32, Vec<Node>> = BTreeMap::new();
                for start in starts {
                    sources.entry(source(program, *start)).or_default().push(*start);
                }
                let needs = program.needs.len().saturating_add(on.len().saturating_mul(sources.len()));
                if needs.saturating_add(starts.len()) > MAX_NEEDS {
                    return Err(format!(
                        "the triggers up to {id} have more than {MAX_NEEDS} pairs of a connection that activates them \
                         and a node that they start"
                    ));
                }
                for (rank, starts) in sources {
                    // A step in between needs one edge for each connection, instead of one for each pair.
                    let is_shorter = on.len() + starts.len() < on.len() * starts.len();
                    let step = is_shorter.then(|| program.step(rank));
                    for waiting in step.as_slice().iter().chain(starts.iter().filter(|_| step.is_none())) {
                        on.iter().for_each(|&(on, at)| program.need(*waiting, on, at, Duration::ZERO));
                    }
                    if let Some(step) = step {
                        let at = Point::Started;
                        starts.iter().for_each(|start| program.need(*start, step, at, Duration::ZERO));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The line of a multishot trigger that is not activated as often as its connections need, and why. If connections
/// wait for each other in a circle, that is the error, which [`Program::settle`] finds.
pub(super) fn stuck(triggers: &BTreeMap<u64, Trigger>, program: &Program) -> Option<(u64, String)> {
    let mut multishots = triggers.iter().filter(|(_, trigger)| trigger.kind == Some(Kind::Multishot));
    if multishots.clone().next().is_none() || program.circle().is_some() {
        return None;
    }
    let unstarted = program.unstarted();
    multishots.find_map(|(id, trigger)| {
        let is_stuck = |node: &&Node| matches!(node, Node::Flow(flow) if unstarted.binary_search(flow).is_ok());
        let (stuck, all) = (trigger.starts.iter().filter(is_stuck).count(), trigger.starts.len());
        (stuck > 0).then(|| {
            let why = format!(
                "trigger {id} never starts {stuck} of its {}: the connections that activate it wait for each other",
                plural(all as u64, "connection")
            );
            (trigger.line, why)
        })
    })
}

/// The rank that sends a connection.
fn source(program: &Program, node: Node) -> u32 {
    match node {
        Node::Flow(flow) => program.flows[flow as usize].src.0,
        Node::Step(step) => program.steps[step as usize].host.0,
    }
}

/// The text for this many activating connections.
fn activate(count: usize) -> String {
    match count {
        0 => "no connection activates".to_owned(),
        1 => "1 connection activates".to_owned(),
        _ => format!("{count} connections activate"),
    }
}
