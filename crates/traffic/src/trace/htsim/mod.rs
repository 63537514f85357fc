//! A connection matrix of htsim (`.cm`): `Nodes N`, `Connections N` and optionally `Triggers N` and `Failures N`, then
//! connections such as `0->13 id 1 start 0 size 2000000 send_done_trigger 2` (start in picoseconds) or
//! `2->4 id 2 trigger 2 size 2000000`, triggers such as `trigger id 2 barrier count 8`, and failures. Nodes are ranks.
//!
//! In a matrix with `msg`, uet-htsim reuses connections, and starts are whole microseconds. One message of a connection
//! is a flow; further ones would follow it without waiting, over the same window, and are refused.

mod trigger;

use std::collections::BTreeMap;

use weft_units::Time;

use self::trigger::Trigger;
use super::value::{is_too_large, too_large, whole_number as number};
use super::{Place, Read, TraceError, without_mark};
use crate::dependencies::Point;
use crate::program::Program;
use crate::words::{short, there_are};

/// A link that is down from the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The line of the file.
    pub line: u64,
    /// `TOR`, `AGG` or `CORE`.
    pub tier: String,
    /// The number of the switch in its tier.
    pub switch: u64,
    /// The number of the link among the switch's uplinks.
    pub link: u64,
}

/// The counts of the header.
const COUNTS: [&str; 4] = ["Nodes", "Connections", "Triggers", "Failures"];

/// A file being read.
#[derive(Default)]
struct Reading {
    /// The line and value of each count.
    counts: [Option<(u64, u64)>; 4],
    program: Program,
    triggers: BTreeMap<u64, Trigger>,
    /// The lines of connections' ids.
    ids: BTreeMap<u64, u64>,
    /// Whether a connection has `msg`.
    has_messages: bool,
    /// The first line with a `send_done_trigger`.
    sent: Option<u64>,
    /// Whether a connection has `prio`.
    has_priorities: bool,
    described: u64,
    failures: Vec<Failure>,
}

/// Reads a connection matrix from the bytes of a file: its connections as flows between ranks, and its failures.
///
/// # Errors
/// A line that is not valid, with its number, or counts that do not match the lines.
pub fn read_htsim(bytes: &[u8]) -> Result<(Read<Program>, Vec<Failure>), TraceError> {
    let mut reading = Reading::default();
    let mut last = 0;
    for (line, number) in without_mark(bytes).split(|byte| *byte == b'\n').zip(1..) {
        let at = |why: String| TraceError::line(number, why);
        let text = std::str::from_utf8(line);
        let text =
            text.map_err(|_| at("this is not UTF-8 text; expected a connection matrix of htsim".into()))?;
        let words = text.split_ascii_whitespace().take_while(|word| !word.starts_with('#'));
        let words: Vec<&str> = words.collect();
        last = number;
        if !words.is_empty() {
            reading.line(&words, number).map_err(at)?;
        }
    }
    if last == 0 || reading.counts.iter().all(Option::is_none) {
        let why = "there is no header; expected `Nodes N`, `Connections N` and one line per connection";
        return Err(TraceError::file(why));
    }
    reading.finish()
}

impl Reading {
    fn line(&mut self, words: &[&str], line: u64) -> Result<(), String> {
        let first = words[0];
        if let Some(at) = COUNTS.iter().position(|name| *name == first) {
            let [_, count] = words else { return Err(format!("expected `{first} N`")) };
            if let Some((line, _)) = self.counts[at] {
                return Err(format!("`{first}` is given twice, first on line {line}"));
            }
            self.counts[at] = Some((line, number(first, count)?));
            return Ok(());
        }
        match first {
            "trigger" => self.trigger(&words[1..], line),
            "failure" => self.failure(&words[1..], line),
            _ if first.contains("->") => self.connection(first, &words[1..], line),
            _ => Err(format!(
                "`{}` is not known; expected a connection such as `0->13`, `trigger`, `failure` or one of {}",
                short(first),
                COUNTS.join(", ")
            )),
        }
    }

    fn mention(&mut self, id: u64, line: u64) -> &mut Trigger {
        self.triggers.entry(id).or_insert_with(|| Trigger { line, ..Trigger::default() })
    }

    fn connection(&mut self, ends: &str, words: &[&str], line: u64) -> Result<(), String> {
        let nodes = self.counts[0].ok_or("a connection before `Nodes N`")?.1;
        let (src, dst) = ends.split_once("->").unwrap_or_default();
        let end = |name, text: &str| {
            let node = number(name, text)?;
            let fits = u32::try_from(node).ok().filter(|_| node < nodes);
            fits.ok_or_else(|| format!("{name}: there is no node {node}; `Nodes` is {nodes}"))
        };
        let (src, dst) = (end("source", src)?, end("destination", dst)?);
        if src == dst {
            return Err(format!("the connection goes from node {src} to itself"));
        }
        let (mut size, mut start, mut trigger, mut id) = (None, None, None, None);
        let (mut done, mut is_message, mut seen) = (Vec::new(), false, Vec::new());
        let mut words = words.iter().peekable();
        while let Some(&word) = words.next() {
            if seen.contains(&word) {
                return Err(format!("`{}` is given twice", short(word)));
            }
            seen.push(word);
            if word == "msg" {
                is_message = true;
                // The number of the message is optional.
                if words.peek().is_some_and(|next| next.starts_with(|first: char| first.is_ascii_digit())) {
                    words.next();
                }
                continue;
            }
            let mut value =
                || words.next().copied().ok_or_else(|| format!("there is no value after `{word}`"));
            match word {
                "size" => size = Some(number(word, value()?)?),
                "start" => start = Some(picoseconds(value()?)?),
                "id" => id = Some(number(word, value()?)?),
                "trigger" => trigger = Some(number(word, value()?)?),
                "send_done_trigger" => done.push((number(word, value()?)?, Point::Acknowledged)),
                "recv_done_trigger" => done.push((number(word, value()?)?, Point::Received)),
                "prio" => {
                    number(word, value()?)?;
                    self.has_priorities = true;
                }
                // csg-htsim reads this word and does nothing with it.
                "addon" => {}
                _ => {
                    return Err(format!(
                        "`{}` is not known; expected id, start, trigger, size, send_done_trigger, \
                         recv_done_trigger, prio or msg",
                        short(word)
                    ));
                }
            }
        }
        self.has_messages |= is_message;
        self.take_id(id, is_message, line)?;
        let size = size.ok_or("the connection has no size; expected `size` and bytes")?;
        if size == 0 {
            return Err(
                "size 0, in htsim a flow without end, is not supported; expected a number of bytes".into()
            );
        }
        let flow = self.program.flow(src, dst, size);
        match (start, trigger) {
            (Some(start), None) => {
                if let Some(last) = self.program.flows.last_mut() {
                    last.start = Time::from_ps(start);
                }
            }
            (None, Some(trigger)) => self.mention(trigger, line).starts.push(flow),
            (Some(_), Some(_)) => {
                return Err("both `start` and `trigger` are given; expected one of them".into());
            }
            (None, None) => return Err("neither `start` nor `trigger` is given; expected one of them".into()),
        }
        // htsim takes 0 for none.
        for (trigger, point) in done.into_iter().filter(|(trigger, _)| *trigger > 0) {
            if point == Point::Acknowledged {
                self.sent.get_or_insert(line);
            }
            self.mention(trigger, line).on.push((flow, point));
        }
        Ok(())
    }

    /// Enters the id of a connection, which belongs to one connection only.
    fn take_id(&mut self, id: Option<u64>, is_message: bool, line: u64) -> Result<(), String> {
        let first = match id {
            None if is_message => {
                return Err("`msg` without an id; expected `id` and a number above 0".into());
            }
            None => None,
            Some(0) => return Err("id 0 is not allowed".into()),
            Some(id) => self.ids.insert(id, line).map(|first| (id, first)),
        };
        match first {
            None => Ok(()),
            Some((id, first)) if is_message => Err(format!(
                "`msg`: several messages on one connection are not supported (id {id}, first on line {first}); each \
                 message needs an id of its own"
            )),
            Some((id, first)) => Err(format!("the id {id} is given twice, first on line {first}")),
        }
    }

    fn trigger(&mut self, words: &[&str], line: u64) -> Result<(), String> {
        let (id, kind) = trigger::read(words)?;
        self.described += 1;
        match self.mention(id, line).kind.replace(kind) {
            None => Ok(()),
            Some(_) => Err(format!("trigger {id} is described twice")),
        }
    }

    fn failure(&mut self, words: &[&str], line: u64) -> Result<(), String> {
        let expected = "expected `failure switch_type TOR|AGG|CORE switch_id N link_id N`";
        let (mut tier, mut switch, mut link) = (None, None, None);
        for pair in words.chunks(2) {
            match *pair {
                ["switch_type", name @ ("TOR" | "AGG" | "CORE")] => tier = Some(name),
                ["switch_id", switch_id] => switch = Some(number("switch_id", switch_id)?),
                ["link_id", link_id] => link = Some(number("link_id", link_id)?),
                _ => return Err(expected.into()),
            }
        }
        let (Some(tier), Some(switch), Some(link)) = (tier, switch, link) else {
            return Err(expected.into());
        };
        self.failures.push(Failure { line, tier: tier.to_owned(), switch, link });
        Ok(())
    }

    fn finish(mut self) -> Result<(Read<Program>, Vec<Failure>), TraceError> {
        let found = [self.program.flows.len() as u64, self.described, self.failures.len() as u64];
        let names = ["connection", "trigger", "failure"];
        for ((count, found), name) in self.counts[1..].iter().zip(found).zip(names) {
            let (place, said) = match *count {
                Some((line, said)) => (Place::Line(line), said),
                None => (Place::File, 0),
            };
            if said != found {
                let why = format!("{}; the header says {said}", there_are(found, name));
                return Err(TraceError { place, why });
            }
        }
        let nodes = self.counts[0].map_or(0, |(_, nodes)| nodes);
        self.program.ranks = u32::try_from(nodes).map_err(|_| {
            TraceError::line(
                self.counts[0].map_or(1, |(line, _)| line),
                format!("{nodes} nodes are too many"),
            )
        })?;
        let triggers = std::mem::take(&mut self.triggers);
        for (id, trigger) in &triggers {
            trigger.connect(*id, &mut self.program).map_err(|why| TraceError::line(trigger.line, why))?;
        }
        if let Some((line, why)) = trigger::stuck(&triggers, &self.program) {
            return Err(TraceError::line(line, why));
        }
        if self.has_messages {
            if let Some(line) = self.sent {
                let why = "`send_done_trigger` in a matrix with `msg` is the moment when uet-htsim has sent the last \
                           packet, which is not supported; expected `recv_done_trigger`";
                return Err(TraceError::line(line, why));
            }
            for flow in &mut self.program.flows {
                flow.start = Time::from_ps(flow.start.ps().saturating_mul(1_000_000));
            }
        }
        let ignored = self.has_priorities.then(|| "`prio` of the connections is ignored".to_owned());
        Ok((Read { flows: self.program, ignored: ignored.into_iter().collect() }, self.failures))
    }
}

/// A start: a number of picoseconds, possibly with a fraction or an exponent.
fn picoseconds(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(ps) => Ok(ps),
        Err(error) if is_too_large(&error) => Err(too_large("start", text)),
        Err(_) => match text.parse::<f64>() {
            Ok(ps) if ps >= u64::MAX as f64 => Err(too_large("start", text)),
            Ok(ps) if ps >= 0.0 => Ok(ps as u64),
            _ => Err(format!("start: `{}` is not a time; expected picoseconds, at least 0", short(text))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_units::Duration;

    use crate::dependencies::{Need, Node, StepKind};
    use proptest::prelude::*;

    fn need(waiting: u32, on: u32, at: Point) -> Need {
        Need { waiting: Node::Flow(waiting), on: Node::Flow(on), at, delay: Duration::ZERO }
    }

    #[test]
    fn connections_and_their_triggers_are_read() {
        let text = "Nodes 8\nConnections 5\nTriggers 2\n# a comment\n\
            0->1 id 1 start 2.5e3 size 100 prio 7 recv_done_trigger 1\n\
            2->3 id 2 start 0 size 200 send_done_trigger 1\n\
            4->5 id 3 trigger 1 size 300 send_done_trigger 2\n\
            6->7 id 4 trigger 1 size 5\ntrigger id 1 barrier count 2\n\
            7->6 id 5 trigger 2 size 18446744073709551615\ntrigger id 2 oneshot\n";
        let (Read { flows: program, ignored }, failures) = read_htsim(text.as_bytes()).unwrap();
        assert_eq!(ignored, ["`prio` of the connections is ignored"]);
        let starts: Vec<u64> = program.flows.iter().map(|flow| flow.start.ps()).collect();
        assert_eq!((program.ranks, starts, failures), (8, vec![2_500, 0, 0, 0, 0], vec![]));
        let expected = [
            need(2, 0, Point::Received),
            need(2, 1, Point::Acknowledged),
            need(3, 0, Point::Received),
            need(3, 1, Point::Acknowledged),
            need(4, 2, Point::Acknowledged),
        ];
        assert_eq!(program.needs, expected);
    }

    #[test]
    fn each_activation_of_a_multishot_trigger_starts_one_connection() {
        let text = "Nodes 3\nConnections 4\nTriggers 1\n0->1 start 0 size 1 send_done_trigger 1\n\
            0->2 start 0 size 1 send_done_trigger 1\n0->1 trigger 1 size 2\n0->2 trigger 1 size 3\n\
            trigger id 1 multishot\n";
        let program = read_htsim(text.as_bytes()).unwrap().0.flows;
        assert_eq!(program.steps.iter().map(|step| step.kind).collect::<Vec<_>>(), [StepKind::Each]);
        assert_eq!(program.needs.len(), 4);
    }

    #[test]
    fn a_large_barrier_needs_a_step_for_each_node_instead_of_all_pairs() {
        let on = "0->1 start 0 size 1 recv_done_trigger 1\n".repeat(100);
        let starts = "2->1 trigger 1 size 1\n3->1 trigger 1 size 1\n".repeat(50);
        let head = "Nodes 4\nConnections 200\nTriggers 1\ntrigger id 1 barrier count 100\n";
        let program = read_htsim(format!("{head}{on}{starts}").as_bytes()).unwrap().0.flows;
        assert_eq!(program.steps.iter().map(|step| step.host.0).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(program.needs.len(), 2 * 100 + 100);
        let on = |waiting| program.needs.iter().filter(move |need| need.waiting == waiting).count();
        assert_eq!(
            [Node::Step(0), Node::Step(1), Node::Flow(100), Node::Flow(101)].map(on),
            [100, 100, 1, 1]
        );
    }

    #[test]
    fn a_multishot_trigger_that_is_not_activated_often_enough_is_refused() {
        let two = |first: &str, second: &str, triggers: &str| {
            let count = triggers.lines().count();
            format!(
                "Nodes 3\nConnections 2\nTriggers {count}\n0->1 {first} size 5\n0->2 {second} size 5\n{triggers}"
            )
        };
        let mutual = [
            two("trigger 1 send_done_trigger 1", "trigger 1 send_done_trigger 1", "trigger id 1 multishot\n"),
            two(
                "trigger 1 send_done_trigger 2",
                "trigger 2 send_done_trigger 1",
                "trigger id 1 multishot\ntrigger id 2 oneshot\n",
            ),
        ];
        for (text, stuck, all) in [(&mutual[0], 2, "2 connections"), (&mutual[1], 1, "1 connection")] {
            let message = format!(
                "line 4: trigger 1 never starts {stuck} of its {all}: the connections that activate it wait for each other"
            );
            assert_eq!(read_htsim(text.as_bytes()).unwrap_err().to_string(), message, "{text}");
        }
        // The first activation comes from outside, each further one from the connection before.
        let chain = "Nodes 3\nConnections 3\nTriggers 1\n0->1 start 0 size 5 send_done_trigger 1\n\
            0->2 trigger 1 size 5 send_done_trigger 1\n0->1 trigger 1 size 5 send_done_trigger 1\n\
            trigger id 1 multishot\n";
        assert!(read_htsim(chain.as_bytes()).is_ok());
    }

    #[test]
    fn one_message_of_a_connection_is_a_flow_that_starts_at_a_microsecond() {
        for msg in ["msg", "msg 1"] {
            let text = format!(
                "Nodes 4\r\nConnections 2\r\n0->1 id 1 {msg} start 3 size 40000 # first\r\n\r\n2->3 id 2 start 1 size 5 addon\r\n"
            );
            let (read, _) = read_htsim(text.as_bytes()).unwrap();
            let flows: Vec<_> = read.flows.flows.iter().map(|flow| (flow.start.ps(), flow.bytes)).collect();
            assert_eq!(flows, [(3_000_000, 40_000), (1_000_000, 5)], "{text}");
        }
    }

    #[test]
    fn failures_are_read() {
        for words in ["switch_type AGG switch_id 3 link_id 1", "link_id 1 switch_type AGG switch_id 3"] {
            let text = format!("Nodes 2\nConnections 0\nFailures 1\nfailure {words}\n");
            let expected = Failure { line: 4, tier: "AGG".into(), switch: 3, link: 1 };
            assert_eq!(read_htsim(text.as_bytes()).unwrap().1, [expected]);
        }
    }

    #[test]
    fn a_bad_line_or_count_is_refused_with_its_place() {
        let triggered = |lines: &str| {
            let count = lines.matches("->").count();
            format!("Nodes 4\nConnections {count}\nTriggers 1\n{lines}")
        };
        for (text, message) in [
            (
                "# nothing\n",
                "there is no header; expected `Nodes N`, `Connections N` and one line per connection",
            ),
            (
                "Nodes 4\nConnections 2\n0->1 start 0 size 1\n",
                "line 2: there is 1 connection; the header says 2",
            ),
            ("Nodes 4\nConnections 0\ntrigger id 1 oneshot\n", "there is 1 trigger; the header says 0"),
            ("Nodes 4\nConnections 0\nTriggers 3\n", "line 3: there are 0 triggers; the header says 3"),
            ("0->1 start 0 size 1\n", "line 1: a connection before `Nodes N`"),
            (
                "Nodes 4\nConnections 1\n0->4 start 0 size 1\n",
                "line 3: destination: there is no node 4; `Nodes` is 4",
            ),
            (
                "Nodes 4\nConnections 1\n1->1 start 0 size 1\n",
                "line 3: the connection goes from node 1 to itself",
            ),
            (
                "Nodes 4\nConnections 1\n0->1 start 0 size 18446744073709551616\n",
                "line 3: size: `18446744073709551616` is too large; expected at most 18446744073709551615",
            ),
            (
                "Nodes 4\nConnections 1\n0->1 start 18446744073709551616 size 1\n",
                "line 3: start: `18446744073709551616` is too large; expected at most 18446744073709551615",
            ),
            (
                "Nodes 18446744073709551616\n",
                "line 1: Nodes: `18446744073709551616` is too large; expected at most 18446744073709551615",
            ),
            (
                "Nodes 4\nConnections 1\n0->1 start 0\n",
                "line 3: the connection has no size; expected `size` and bytes",
            ),
            (
                "Nodes 4\nConnections 1\n0->1 start 0 size 0\n",
                "line 3: size 0, in htsim a flow without end, is not supported; expected a number of bytes",
            ),
            (
                "Nodes 4\nConnections 1\n0->1 start 0 size 10MB\n",
                "line 3: size: `10MB` is not a whole number",
            ),
            ("Nodes 4\nConnections 1\n0->1 start 0 size 5 size 6\n", "line 3: `size` is given twice"),
            (
                "Nodes 4\nConnections 1\n0->1 msg start 0 size 5\n",
                "line 3: `msg` without an id; expected `id` and a number above 0",
            ),
            (
                "Nodes 4\nConnections 2\n0->1 id 1 msg 1 start 0 size 5\n0->1 id 1 msg 2 start 0 size 5\n",
                "line 4: `msg`: several messages on one connection are not supported (id 1, first on line 3); each \
                 message needs an id of its own",
            ),
            (
                "Nodes 4\nConnections 2\nTriggers 1\n0->1 id 1 msg start 0 size 5 send_done_trigger 1\n\
                 1->0 id 2 msg trigger 1 size 5\ntrigger id 1 oneshot\n",
                "line 4: `send_done_trigger` in a matrix with `msg` is the moment when uet-htsim has sent the last \
                 packet, which is not supported; expected `recv_done_trigger`",
            ),
            (
                "Nodes 4\nConnections 0\nTriggers 1\ntrigger id 1 barrier count 0\n",
                "line 4: the barrier 1 has count 0; expected at least 1",
            ),
            (
                "Nodes 4\nConnections 1\n0->1 size 5\n",
                "line 3: neither `start` nor `trigger` is given; expected one of them",
            ),
            (
                "Nodes 4\nConnections 2\n0->1 id 1 start 0 size 5\n0->1 id 1 start 0 size 5\n",
                "line 4: the id 1 is given twice, first on line 3",
            ),
            (
                &triggered("0->1 trigger 1 size 5\ntrigger id 1 oneshot\n"),
                "line 4: trigger 1 is a oneshot trigger, which one connection activates; no connection activates it",
            ),
            (
                &triggered(
                    "0->1 start 0 size 5 send_done_trigger 1\n1->0 trigger 1 size 5\ntrigger id 1 barrier count 2\n",
                ),
                "line 4: barrier 1 waits for 2 activations; 1 connection activates it",
            ),
            (
                &triggered("0->1 trigger 1 size 5\n0->1 trigger 1 size 5\ntrigger id 1 multishot\n"),
                "line 4: trigger 1 is a multishot trigger of 2 connections; no connection activates it",
            ),
            (
                "Nodes 4\nConnections 1\n0->1 trigger 9 size 5\n",
                "line 3: trigger 9 is not described; expected a line such as `trigger id 9 oneshot`",
            ),
            (
                "Nodes 4\nConnections 0\ntrigger id 1 barrier\n",
                "line 3: the barrier 1 has no count; expected `count N`",
            ),
            (
                "Nodes 4\nConnections 0\nFailures 1\nfailure switch_type LEAF switch_id 3 link_id 1\n",
                "line 4: expected `failure switch_type TOR|AGG|CORE switch_id N link_id N`",
            ),
        ] {
            assert_eq!(read_htsim(text.as_bytes()).unwrap_err().to_string(), message, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            lines in "(Nodes [0-9]\n)?(Connections [0-3]\n)?(([0-4]->[0-4]|trigger|failure)( (id|start|size|trigger|barrier count|send_done_trigger) [0-9]){0,4}\n){0,4}"
        ) {
            let _ = read_htsim(lines.as_bytes());
        }
    }
}
