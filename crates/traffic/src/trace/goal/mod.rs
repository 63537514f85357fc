//! The text form of GOAL (Group Operation Assembly Language, LogGOPSim): `num_ranks 2`, then for each rank
//! `rank 0 { l1: send 10b to 1 tag 0  l2: calc 100 cpu 0  l2 requires l1 }`.
//!
//! A send becomes a flow. What requires it starts when all its bytes are acknowledged, what requires a receive when the
//! [matching](matching) flow has arrived. `calc` delays what requires it by nanoseconds. What `irequires` an operation
//! starts when that starts. `cpu` and `nic` are read and not used: operations of a rank overlap unless they require each
//! other.

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
            "this message is never sent: what it requires waits for messages that are sent only after it";
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
                self.program.need(*received, (start, Point::Started), Duration::ZERO);
                posted.insert(label, start);
            }
        }
        let starts: BTreeMap<Node, Node> = requirements
            .iter()
            .filter_map(|requirement| Some((node(requirement.on), *posted.get(requirement.label)?)))
            .collect();
        for Requirement { waiting, on, is_start, label } in requirements {
            let (cause, delay) = match (on, is_start) {
                (Operation::Send(flow), false) => ((*flow, Point::Acknowledged), Duration::ZERO),
                (Operation::Receive(_), true) => ((posted[label], Point::Started), Duration::ZERO),
                (Operation::Calc(step, took), false) => ((*step, Point::Started), *took),
                (Operation::Send(node) | Operation::Receive(node) | Operation::Calc(node, _), _) => {
                    ((*node, Point::Started), Duration::ZERO)
                }
            };
            let waiting = node(*waiting);
            self.program.need(starts.get(&waiting).copied().unwrap_or(waiting), cause, delay);
        }
    }

    /// Makes each receive wait for its message.
    fn join(&mut self) -> Result<(), TraceError> {
        for matched in matches(std::mem::take(&mut self.inboxes), &self.orders)? {
            match matched {
                Match::One(send, receive) => {
                    self.program.need(receive.node, (send.node, Point::Received), Duration::ZERO);
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
            self.program.need(arrival, (send.node, Point::Received), Duration::ZERO);
        }
        // Operations that wait for such a step start in the order of the steps.
        for receive in receives {
            let taken = self.step(self.origin(receive.node));
            self.program.need(taken, (arrival, Point::Started), Duration::ZERO);
            self.program.need(receive.node, (taken, Point::Started), Duration::ZERO);
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_chain_of_operations_becomes_flows_that_wait() {
        let text = "num_ranks 2 // two\nrank 0 {\n l1: send 10b to 1 tag 0\n /* waits */ l2: calc 100 cpu 0\n\
            l2 requires l1\n l3: send 0 b to 1 tag 4 nic 1\n l3 requires l2 }\nrank 1 {\n\
            a: recv 10b from 0 tag 0\n b: recv 0b from 0 tag 4\n b requires a\n}\n";
        let mut program = read_goal(text.as_bytes()).unwrap().flows;
        assert_eq!(program.flows.iter().map(|flow| flow.bytes).collect::<Vec<_>>(), [10, 1]);
        program.settle().unwrap();
        let spell = |node| match node {
            Node::Flow(flow) => format!("f{flow}"),
            Node::Step(step) => format!("s{step}"),
        };
        let needs = program.needs.iter().map(|need| {
            format!("{} {} {:?} {}", spell(need.waiting), spell(need.on), need.at, need.delay.ps() / 1_000)
        });
        let expected = [
            "s0 f0 Acknowledged 0",
            "f1 s0 Started 100",
            "s2 s1 Started 0",
            "s1 f0 Received 0",
            "s2 f1 Received 0",
        ];
        assert_eq!(needs.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_irequires_an_operation_waits_for_its_start_only() {
        let text = "num_ranks 2 rank 0 { a: recv 5b from 1 b: calc 7 b irequires a c: send 5b to 1 c requires b } \
            rank 1 { s: send 5b to 0 r: recv 5b from 0 }";
        let mut program = read_goal(text.as_bytes()).unwrap().flows;
        program.settle().unwrap();
        // Nothing holds up the calculation: the flow starts after it.
        let waits = |flow| program.needs.iter().any(|need| need.waiting == Node::Flow(flow));
        assert!(!waits(0) && !waits(1), "{program:?}");
        assert_eq!(program.flows.iter().map(|flow| flow.start.ps()).collect::<Vec<_>>(), [7_000, 0]);
    }

    /// The dependencies, with steps that wait for nothing replaced by start times.
    fn needs(text: &str) -> Vec<String> {
        let mut program = read_goal(text.as_bytes()).unwrap().flows;
        program.settle().unwrap();
        let spell = |node| match node {
            Node::Flow(flow) => format!("f{flow}"),
            Node::Step(step) => format!("s{step}"),
        };
        let needs = program.needs.iter();
        needs.map(|need| format!("{} {} {:?}", spell(need.waiting), spell(need.on), need.at)).collect()
    }

    #[test]
    fn a_receive_may_be_larger_than_its_message() {
        let text = "num_ranks 2 rank 0 { send 100b to 1 tag 5 } rank 1 { recv 200b from 0 tag 5 }";
        assert_eq!(read_goal(text.as_bytes()).unwrap().flows.flows[0].bytes, 100);
    }

    #[test]
    fn a_receive_from_any_rank_or_with_any_tag_takes_the_only_message_left_for_it() {
        for from in ["from -1 tag 5", "from -1 tag -1", "from 0 tag -1"] {
            let text = format!(
                "num_ranks 2 rank 0 {{ send 100b to 1 tag 5 }} rank 1 {{ l1: recv 100b {from} l2: calc 9 l2 requires l1 }}"
            );
            assert_eq!(needs(&text), ["s1 s0 Started", "s0 f0 Received"], "{from}");
        }
        // The first receive is posted before the second, which may take any message.
        let text = "num_ranks 3 rank 0 { send 1b to 2 tag 5 } rank 1 { send 1b to 2 tag 5 }\n\
            rank 2 { a: recv 1b from 1 tag 5 b: recv 1b from -1 tag 5 b requires a }";
        assert_eq!(needs(text), ["s1 s0 Started", "s0 f1 Received", "s1 f0 Received"]);
        // Messages of one rank arrive in the order in which it sends them.
        let text = "num_ranks 2 rank 0 { a: send 1b to 1 tag 7 b: send 1b to 1 tag 5 b requires a }\n\
            rank 1 { recv 1b from 0 tag -1 recv 1b from 0 tag -1 }";
        assert_eq!(needs(text), ["f1 f0 Acknowledged", "s0 f0 Received", "s1 f1 Received"]);
    }

    #[test]
    fn receives_that_accept_all_messages_take_them_in_the_order_of_arrival() {
        let text = "num_ranks 3 rank 0 { send 1b to 2 } rank 1 { send 1b to 2 }\n\
            rank 2 { b: recv 1b from -1 a: recv 1b from -1 b requires a }";
        // Steps 0 and 1 are the receives, 2 is the arrival of a message, 3 and 4 are what the receives take.
        let expected = [
            "s0 s1 Started",
            "s2 f0 Received",
            "s2 f1 Received",
            "s3 s2 Started",
            "s1 s3 Started",
            "s4 s2 Started",
            "s0 s4 Started",
        ];
        assert_eq!(needs(text), expected);
        let program = read_goal(text.as_bytes()).unwrap().flows;
        let kinds: Vec<_> = program.steps.iter().map(|step| step.kind == StepKind::Each).collect();
        assert_eq!(kinds, [false, false, true, false, false]);
    }

    #[test]
    fn a_match_that_depends_on_the_time_is_refused() {
        let three = |block: &str| {
            format!(
                "num_ranks 3\nrank 0 {{ send 1b to 2 tag 5 }}\nrank 1 {{ send 1b to 2 tag 5 }}\nrank 2 {{\n{block}\n}}\n"
            )
        };
        for (text, message) in [
            (
                three("a: recv 1b from -1 tag 5\nb: recv 1b from 1 tag 5\nb requires a"),
                "line 5: whether this receive takes the message of rank 0 (line 2) or of rank 1 (line 3) depends on \
                 the time, and the receive on line 6 does not accept all that are left; give the source or the tag",
            ),
            (
                three("c: calc 5\nd: calc 5\na: recv 1b from -1 tag 5\nb: recv 1b from -1 tag 5\na requires c\nb requires d"),
                "line 8: whether this receive or the one on line 7 is posted first depends on the time, and both \
                 accept a message from any rank or with any tag; let one require the other",
            ),
            (
                three("a: recv 1b from -1 tag 5\nb: recv 1b from -1 tag 5\nc: recv 1b from -1 tag 5"),
                "line 7: nobody sends this message from any rank to rank 2 with tag 5",
            ),
            (
                three("a: recv 1b from -1 tag 5"),
                "line 3: nobody receives this message from rank 1 to rank 2 with tag 5",
            ),
            (
                three("a: recv 0b from -1 tag 5\nb: recv 1b from -1 tag 5"),
                "line 3: this message from rank 1 to rank 2 with tag 5 has 1 bytes; the receive on line 5 takes 0",
            ),
            (
                "num_ranks 2\nrank 0 { c: calc 1 d: calc 1\na: send 1b to 1 tag 7\nb: send 1b to 1 tag 5\n\
                 a requires c b requires d }\nrank 1 { recv 1b from 0 tag -1 recv 1b from 0 tag -1 }"
                    .to_owned(),
                "line 4: whether this message or the one on line 3 is sent first depends on the time, and a receive of \
                 rank 1 accepts any tag; let one require the other",
            ),
            (
                "num_ranks 3\nrank 0 { r: recv 1b from 2 s: send 1b to 2 s requires r }\nrank 1 { send 1b to 2 }\n\
                 rank 2 { a: recv 1b from -1 b: recv 1b from -1 b requires a\nd: send 1b to 0 d requires b }"
                    .to_owned(),
                "line 2: this message is never sent: what it requires waits for messages that are sent only after it",
            ),
        ] {
            assert_eq!(read_goal(text.as_bytes()).unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn messages_of_a_channel_match_in_the_order_of_their_requirements() {
        let text = "num_ranks 2 rank 0 { b: send 2b to 1 a: send 1b to 1 b requires a }\n\
            rank 1 { recv 1b from 0 recv 2b from 0 }";
        assert_eq!(needs(text), ["f0 f1 Acknowledged", "s0 f1 Received", "s1 f0 Received"]);
    }

    /// If the work grew with the square of the lines, these files would take minutes.
    #[test]
    fn the_work_on_a_file_grows_with_its_size() {
        let (ranks, all) = (20_000, 1..=20_000);
        let rank = |number: u32, block: String| format!("rank {number} {{ {block} }}\n");
        let file = |zero: String, other: &dyn Fn(u32) -> String| -> String {
            let others: String = all.clone().map(|number| rank(number, other(number))).collect();
            format!("num_ranks {}\n{}{others}", ranks + 1, rank(0, zero))
        };
        let two = |to: &str| format!("send 1b to {to} tag 1\nsend 1b to {to} tag 2\n");
        // A rank receives with any tag from each of the others.
        let any = |number: u32| format!("recv 1b from {number} tag -1\n").repeat(2);
        let many = file(all.clone().map(any).collect(), &|_| two("0"));
        // A rank sends with two tags to each of the others.
        let sent = file(all.clone().map(|number| two(&number.to_string())).collect(), &|_| any(0));
        // One group, in which each receive takes the last of the messages.
        let last = all.clone().rev().map(any).collect::<String>() + "recv 1b from -1 tag 3\n";
        let group = file(last, &|number| two("0") + if number == 1 { "send 1b to 0 tag 3\n" } else { "" });
        // Every receive accepts every message.
        let arrival = file("recv 1b from -1 tag -1\n".repeat(2 * ranks), &|number| {
            format!("send 1b to 0 tag {number}\n").repeat(2)
        });
        for (text, flows) in [(many, 2), (sent, 2), (group, 2), (arrival, 2)] {
            let read = read_goal(text.as_bytes()).unwrap();
            assert_eq!(read.flows.flows.len() / ranks, flows);
        }
    }

    #[test]
    fn processors_and_interfaces_are_ignored_and_named_once() {
        let ignored = |cpu: u32| {
            let text =
                format!("num_ranks 1 rank 0 {{ a: calc 5 cpu {cpu} b: calc 6 cpu {cpu} b requires a }}");
            read_goal(text.as_bytes()).unwrap().ignored.len()
        };
        assert_eq!([0, 1].map(ignored), [0, 1]);
    }

    #[test]
    fn calculations_that_overlap_are_named() {
        let is_named = |order: &str| {
            let block = format!("a: calc 5\nb: calc 6\nc: calc 7\nd: send 1b to 1\n{order}");
            let text = format!("num_ranks 2 rank 0 {{ {block} }} rank 1 {{ recv 1b from 0 }}");
            !read_goal(text.as_bytes()).unwrap().ignored.is_empty()
        };
        assert!(is_named(""));
        assert!(is_named("b requires a\nc requires a"), "b and c overlap");
        assert!(is_named("b irequires a\nc requires b"), "b does not wait for the end of a");
        assert!(!is_named("b requires a\nc requires b"));
        assert!(!is_named("a requires b\nc requires a"), "in another order than in the file");
        assert!(!is_named("b requires a\nd requires b\nc requires d"), "through a message");
    }

    #[test]
    fn a_bad_line_is_refused_with_its_number() {
        let two = |block: &str| format!("num_ranks 2\nrank 0 {{\n{block}\n}}\n");
        for (text, message) in [
            ("", "the file is empty; expected `num_ranks N` and a block `rank R { ... }` for each"),
            ("ranks 2", "line 1: `ranks` is not expected here; expected `num_ranks`"),
            ("num_ranks x", "line 1: num_ranks: `x` is not a whole number"),
            ("num_ranks 2\nrank 2 { }", "line 2: there is no rank 2; `num_ranks` is 2"),
            ("num_ranks 2\nrank 0 {\n", "line 2: the file ends here; expected `}`"),
            ("num_ranks 2 rank 0 { } rank 0 { }", "line 1: rank 0 is described twice, first on line 1"),
            ("num_ranks 2 /* no\nend", "line 1: this comment has no end"),
            (&two("a: wait 5"), "line 3: `wait` is not known; expected send, recv or calc"),
            (&two("send 5b to 0"), "line 3: rank 0 sends to itself"),
            (&two("send 5b to 7"), "line 3: there is no rank 7; `num_ranks` is 2"),
            (&two("send 5 to 1"), "line 3: size: the unit is missing; expected `5b`"),
            (
                &two("send 18446744073709551616b to 1"),
                "line 3: size: `18446744073709551616` is too large; expected at most 18446744073709551615",
            ),
            (
                &two("calc 18446744073709551615"),
                "line 3: calc: `18446744073709551615` is too large; expected at most 18446744073709551615",
            ),
            (&two("a: calc 5\na: calc 6"), "line 4: the label `a` is given twice in rank 0"),
            (&two("a: calc 5\na requires b"), "line 4: rank 0 has no label `b` up to here"),
            (
                &two("send 5b to 1 tag 3"),
                "line 3: nobody receives this message from rank 0 to rank 1 with tag 3",
            ),
            (&two("recv 5b from 1"), "line 3: nobody sends this message from rank 1 to rank 0 with tag 0"),
            (
                &two("a: calc 5\nb: calc 6\na requires b\nb requires a"),
                "line 3: operations wait for each other in a circle: calc `a` of rank 0 (line 3) waits for calc `b` of \
                 rank 0 (line 4), which waits for calc `a` of rank 0 (line 3)",
            ),
            (
                "num_ranks 2 rank 0 { a: recv 5b from 1\na irequires a }\nrank 1 { send 5b to 0 }",
                "line 1: operations wait for each other in a circle: recv `a` of rank 0 (line 1) waits for recv `a` of \
                 rank 0 (line 1)",
            ),
            (
                "num_ranks 2 rank 0 { r: recv 5b from 1 s: send 5b to 1 s requires r }\n\
                 rank 1 { r: recv 5b from 0\ns: send 5b to 0 s requires r }",
                "line 1: operations wait for each other in a circle: send `s` of rank 0 (line 1) waits for recv `r` of \
                 rank 0 (line 1), which waits for send `s` of rank 1 (line 3), which waits for recv `r` of rank 1 (line \
                 2), which waits for send `s` of rank 0 (line 1)",
            ),
            (
                "num_ranks 2 rank 0 { send 7b to 1 }\nrank 1 { recv 6b from 0 }",
                "line 1: this message from rank 0 to rank 1 with tag 0 has 7 bytes; the receive on line 2 takes 6",
            ),
            (&two("send 5b to -1"), "line 3: a send to any rank; expected one rank"),
            (&two("send 5b to 1 tag -1"), "line 3: a send with any tag; expected one tag"),
            (&two("send 5b to -2"), "line 3: to: `-2` is not a whole number"),
            (
                &two("recv 5b from 1 tag 4294967295"),
                "line 3: tag: 4294967295 is too large; expected at most 4294967294",
            ),
            (
                &two("recv 5b from -1 tag -1"),
                "line 3: nobody sends this message from any rank to rank 0 with any tag",
            ),
        ] {
            assert_eq!(read_goal(text.as_bytes()).unwrap_err().to_string(), message, "{text:?}");
        }
        let binary = read_goal(b"\0\x02").unwrap_err().to_string();
        assert!(binary.starts_with("this is not text; expected the text form of GOAL"), "{binary}");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(
            text in "num_ranks 3 (rank [0-3] \\{( (a|b|c)(:| requires| irequires) (a|b|send|recv|calc)( [0-9]b?)?( to| from)?( [0-2])?){0,6} \\}? ?){0,3}"
        ) {
            let _ = read_goal(text.as_bytes());
        }
    }
}
