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
mod tests;
