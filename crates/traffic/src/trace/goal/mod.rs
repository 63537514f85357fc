//! The text form of GOAL (Group Operation Assembly Language, LogGOPSim): `num_ranks 2`, then for each rank
//! `rank 0 { l1: send 10b to 1 tag 0  l2: calc 100 cpu 0  l2 requires l1 }`.
//!
//! A send becomes a flow. An operation that requires it starts when all its bytes are acknowledged, one that requires a
//! receive when the [matching](matching) flow has arrived. `calc` delays operations that require it by nanoseconds. One
//! that `irequires` another starts when that starts. `cpu` and `nic` are read and not used: operations of a rank
//! overlap unless they require each other.

mod matching;
mod order;
mod words;

use std::collections::{BTreeMap, HashMap};

use weft_units::Duration;

use self::matching::{Half, Inbox, Match, matches};
use self::order::Order;
use self::words::{Word, Words};
use super::value::too_large;
use super::{Read, TraceError, without_mark};
use crate::dependencies::{Node, Point, StepKind};
use crate::program::{Program, spell_circle};
use crate::words::short;

/// Any rank or any tag, in a receive.
const ANY: &str = "-1";

/// An operation of a rank.
#[derive(Clone, Copy, Debug)]
enum Operation {
    /// A flow.
    Send(Node),
    /// The step at which it is complete.
    Receive(Node),
    /// The step at which it starts, and how long it takes.
    Calc(Node, Duration),
}

/// A requirement within a rank.
struct Requirement<'a> {
    waiting: Operation,
    on: Operation,
    /// Whether it waits only for the start.
    is_start: bool,
    /// The label that is waited for.
    label: &'a str,
}

/// The operation that a flow or step belongs to, for messages.
#[derive(Clone, Copy)]
struct Origin<'a> {
    /// send, recv or calc.
    verb: &'a str,
    label: Option<&'a str>,
    rank: u32,
    line: u64,
}

/// A file being read.
struct Reading<'a> {
    words: Words<'a>,
    program: Program,
    /// The operations of the program's flows and steps.
    origins: [Vec<Origin<'a>>; 2],
    /// Inboxes by receiving rank.
    inboxes: BTreeMap<u32, Inbox>,
    /// Orders by rank.
    orders: BTreeMap<u32, Order>,
    /// The calculations by rank.
    calculations: BTreeMap<u32, Vec<usize>>,
    /// Whether an operation has another processor or interface than the first.
    is_placed: bool,
}

/// Reads a GOAL file in its text form.
///
/// # Errors
/// A line that is not valid, with its number; a message that nobody sends or receives, or whose receive depends on the
/// time; operations that wait for each other in a circle.
pub fn read_goal(bytes: &[u8]) -> Result<Read<Program>, TraceError> {
    let text = std::str::from_utf8(without_mark(bytes)).ok().filter(|text| !text.contains('\0')).ok_or_else(
        || {
            let why =
                "this is not text; expected the text form of GOAL, from which `txt2bin` makes the binary one";
            TraceError::file(why)
        },
    )?;
    let words = Words::of(text)?;
    let (program, origins) = (Program::default(), Default::default());
    let (inboxes, orders) = (BTreeMap::new(), BTreeMap::new());
    let calculations = BTreeMap::new();
    let mut reading = Reading { words, program, origins, inboxes, orders, calculations, is_placed: false };
    reading.file()?;
    reading.join()?;
    if let Some(circle) = reading.program.circle() {
        return Err(reading.waiting(&circle));
    }
    if let Some(flow) = reading.program.unstarted().first() {
        let why =
            "this message is never sent: its requirements wait for messages that are sent only after it";
        return Err(TraceError::line(reading.origins[0][*flow as usize].line, why));
    }
    let ignored = reading.ignored().map(str::to_owned).into_iter().collect();
    Ok(Read { flows: reading.program, ignored })
}

impl<'a> Reading<'a> {
    fn file(&mut self) -> Result<(), TraceError> {
        if self.words.get(0).is_none() {
            let why = "the file is empty; expected `num_ranks N` and a block `rank R { ... }` for each";
            return Err(TraceError::file(why));
        }
        self.words.need("num_ranks")?;
        let line = self.words.line();
        let ranks = self.words.number("num_ranks", "")?;
        self.program.ranks = u32::try_from(ranks)
            .map_err(|_| TraceError::line(line, format!("{ranks} ranks are too many")))?;
        let mut seen = BTreeMap::new();
        while let Some(word) = self.words.get(0) {
            self.words.need("rank")?;
            let rank = self.rank("rank")?;
            if let Some(first) = seen.insert(rank, word.line) {
                return Err(TraceError::line(
                    word.line,
                    format!("rank {rank} is described twice, first on line {first}"),
                ));
            }
            self.block(rank)?;
        }
        Ok(())
    }

    /// The number of a rank.
    fn rank(&mut self, name: &str) -> Result<u32, TraceError> {
        let line = self.words.line();
        let (rank, ranks) = (self.words.number(name, "")?, self.program.ranks);
        let fits = u32::try_from(rank).ok().filter(|rank| *rank < ranks);
        fits.ok_or_else(|| TraceError::line(line, format!("there is no rank {rank}; `num_ranks` is {ranks}")))
    }

    /// The block of a rank.
    fn block(&mut self, rank: u32) -> Result<(), TraceError> {
        self.words.need("{")?;
        let mut labels: HashMap<&str, (usize, Operation)> = HashMap::new();
        let mut requirements = Vec::new();
        loop {
            let word = self.words.next("`}`")?;
            match word.text {
                "}" => break,
                "send" | "recv" | "calc" => drop(self.operation(rank, None, word)?),
                label if self.words.take(":") => {
                    let operation = self.words.next("send, recv or calc")?;
                    let operation = self.operation(rank, Some(label), operation)?;
                    if labels.insert(label, operation).is_some() {
                        return Err(TraceError::line(
                            word.line,
                            format!("the label `{}` is given twice in rank {rank}", short(label)),
                        ));
                    }
                }
                label => {
                    let verb = self.words.next("`:`, `requires` or `irequires`")?;
                    let is_start = match verb.text {
                        "requires" => false,
                        "irequires" => true,
                        other => {
                            let why = format!(
                                "`{}` is not expected after `{}`; expected `:`, `requires` or `irequires`",
                                short(other),
                                short(label)
                            );
                            return Err(TraceError::line(verb.line, why));
                        }
                    };
                    let on = self.words.next("a label")?;
                    let find = |label: &str, line| {
                        let known = labels.get(label).copied();
                        known.ok_or_else(|| {
                            TraceError::line(
                                line,
                                format!("rank {rank} has no label `{}` up to here", short(label)),
                            )
                        })
                    };
                    let (waiting, on, label) = (find(label, word.line)?, find(on.text, on.line)?, on.text);
                    self.orders.entry(rank).or_default().require(waiting.0, on.0, is_start);
                    requirements.push(Requirement { waiting: waiting.1, on: on.1, is_start, label });
                }
            }
        }
        self.require(&requirements);
        Ok(())
    }

    /// An operation, after its first word.
    fn operation(
        &mut self,
        rank: u32,
        label: Option<&'a str>,
        word: Word<'a>,
    ) -> Result<(usize, Operation), TraceError> {
        let line = word.line;
        let operation = self.orders.entry(rank).or_default().add();
        let origin = Origin { verb: word.text, label, rank, line };
        let way = match word.text {
            "send" => "to",
            "recv" => "from",
            "calc" => {
                let took = self.words.number("calc", "")?;
                let took = took
                    .checked_mul(1_000)
                    .ok_or_else(|| TraceError::line(line, too_large("calc", &took.to_string())))?;
                self.attributes()?;
                self.calculations.entry(rank).or_default().push(operation);
                return Ok((operation, Operation::Calc(self.step(origin), Duration::from_ps(took))));
            }
            other => {
                return Err(TraceError::line(
                    line,
                    format!("`{}` is not known; expected send, recv or calc", short(other)),
                ));
            }
        };
        let bytes = self.words.number("size", "b")?;
        self.words.need(way)?;
        let is_send = way == "to";
        let peer = match self.words.take(ANY) {
            true if is_send => return Err(TraceError::line(line, "a send to any rank; expected one rank")),
            true => None,
            false => Some(self.rank(way)?),
        };
        if peer == Some(rank) {
            return Err(TraceError::line(line, format!("rank {rank} sends to itself")));
        }
        let tag = self.attributes()?;
        match (is_send, peer, tag) {
            (true, _, None) => Err(TraceError::line(line, "a send with any tag; expected one tag")),
            (true, Some(peer), _) => {
                // A flow has at least one byte.
                let node = self.program.flow(rank, peer, bytes.max(1));
                self.origins[0].push(origin);
                let send = Half { node, bytes, line, operation, src: Some(rank), tag };
                self.inboxes.entry(peer).or_default().sends.push(send);
                Ok((operation, Operation::Send(node)))
            }
            _ => {
                let node = self.step(origin);
                let receive = Half { node, bytes, line, operation, src: peer, tag };
                self.inboxes.entry(rank).or_default().receives.push(receive);
                Ok((operation, Operation::Receive(node)))
            }
        }
    }

    /// The difference from LogGOPSim's reading, if any.
    fn ignored(&self) -> Option<&'static str> {
        if self.is_placed {
            return Some(
                "`cpu` and `nic` are ignored: operations of a rank overlap unless they require each other",
            );
        }
        let mut ranks = self.calculations.iter();
        let overlap =
            ranks.any(|(rank, calculations)| self.orders[rank].longest(calculations) < calculations.len());
        overlap.then_some(
            "calculations of a rank overlap unless one requires the other; LogGOPSim runs them one after another",
        )
    }

    /// A step of an operation.
    fn step(&mut self, origin: Origin<'a>) -> Node {
        self.origins[1].push(origin);
        self.program.step(origin.rank)
    }

    /// The operation that a flow or step belongs to.
    fn origin(&self, node: Node) -> Origin<'a> {
        match node {
            Node::Flow(flow) => self.origins[0][flow as usize],
            Node::Step(step) => self.origins[1][step as usize],
        }
    }

    /// The attributes of an operation; returns its tag, `None` for any.
    fn attributes(&mut self) -> Result<Option<u32>, TraceError> {
        let mut tag = Some(0);
        while let Some(word) = self.words.get(0) {
            // A label may be called like an attribute.
            let is_label =
                self.words.get(1).is_some_and(|next| matches!(next.text, ":" | "requires" | "irequires"));
            if is_label || !matches!(word.text, "tag" | "cpu" | "nic") {
                break;
            }
            self.words.take(word.text);
            if word.text != "tag" {
                self.is_placed |= self.words.number(word.text, "")? > 0;
            } else if self.words.take(ANY) {
                tag = None;
            } else {
                let number = self.words.number(word.text, "")?;
                // LogGOPSim keeps tags in 32 bits, and the largest for any tag.
                let fits = u32::try_from(number).ok().filter(|tag| *tag < u32::MAX);
                tag = Some(fits.ok_or_else(|| {
                    TraceError::line(
                        word.line,
                        format!("tag: {number} is too large; expected at most {}", u32::MAX - 1),
                    )
                })?);
            }
        }
        Ok(tag)
    }

    /// Enters the requirements of a rank.
    fn require(&mut self, requirements: &[Requirement<'a>]) {
        let node = |operation| match operation {
            Operation::Send(node) | Operation::Receive(node) | Operation::Calc(node, _) => node,
        };
        // Where receives start that others `irequire`, by label: only at their own requirements, not at the message.
        let mut posted: HashMap<&str, Node> = HashMap::new();
        for Requirement { on, is_start, label, .. } in requirements {
            if let (Operation::Receive(received), true) = (on, is_start)
                && !posted.contains_key(label)
            {
                let start = self.step(self.origin(*received));
                self.program.need(*received, start, Point::Started, Duration::ZERO);
                posted.insert(label, start);
            }
        }
        let starts: BTreeMap<Node, Node> = requirements
            .iter()
            .filter_map(|requirement| Some((node(requirement.on), *posted.get(requirement.label)?)))
            .collect();
        for Requirement { waiting, on, is_start, label } in requirements {
            let (on, at, delay) = match (on, is_start) {
                (Operation::Send(flow), false) => (*flow, Point::Acknowledged, Duration::ZERO),
                (Operation::Receive(_), true) => (posted[label], Point::Started, Duration::ZERO),
                (Operation::Calc(step, took), false) => (*step, Point::Started, *took),
                (Operation::Send(node) | Operation::Receive(node) | Operation::Calc(node, _), _) => {
                    (*node, Point::Started, Duration::ZERO)
                }
            };
            let waiting = node(*waiting);
            self.program.need(starts.get(&waiting).copied().unwrap_or(waiting), on, at, delay);
        }
    }

    /// Makes each receive wait for its message.
    fn join(&mut self) -> Result<(), TraceError> {
        for matched in matches(std::mem::take(&mut self.inboxes), &self.orders)? {
            match matched {
                Match::One(send, receive) => {
                    self.program.need(receive.node, send.node, Point::Received, Duration::ZERO);
                }
                Match::Arrival(sends, receives) => self.join_by_arrival(&sends, &receives),
            }
        }
        Ok(())
    }

    /// Lets the first receive take the first of the messages that arrives, and so on.
    fn join_by_arrival(&mut self, sends: &[Half], receives: &[Half]) {
        let origin = self.origin(receives[0].node);
        let arrival = self.step(origin);
        if let Some(last) = self.program.steps.last_mut() {
            last.kind = StepKind::Each;
        }
        for send in sends {
            self.program.need(arrival, send.node, Point::Received, Duration::ZERO);
        }
        // Operations that wait for such a step start in the order of the steps.
        for receive in receives {
            let taken = self.step(self.origin(receive.node));
            self.program.need(taken, arrival, Point::Started, Duration::ZERO);
            self.program.need(receive.node, taken, Point::Started, Duration::ZERO);
        }
    }

    /// The error of operations that wait for each other: each for the next, the last one for the first.
    fn waiting(&self, circle: &[Node]) -> TraceError {
        let name = |node: &Node| {
            let Origin { verb, label, rank, line } = self.origin(*node);
            let label = label.map(|label| format!(" `{}`", short(label))).unwrap_or_default();
            format!("{verb}{label} of rank {rank} (line {line})")
        };
        let line = circle.first().map_or(self.words.line(), |node| self.origin(*node).line);
        TraceError::line(
            line,
            format!("operations wait for each other in a circle: {}", spell_circle(circle, name)),
        )
    }
}

#[cfg(test)]
mod tests;
