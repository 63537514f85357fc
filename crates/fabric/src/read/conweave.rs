//! Topologies of conweave-ns3, HPCC and SimAI (`.txt`): the numbers of nodes, switches and links, the switches, then for each
//! link two nodes, rate, delay and error rate.
//!
//! ```text
//! 4 2 3
//! 2 3
//! 0 2 100Gbps 1000ns 0
//! 1 3 100Gbps 1000ns 0
//! 2 3 400Gbps 1000ns 0
//! ```
//!
//! Both programs read words (`>>`), so lines do not matter, and stop after the last link: notes may follow.
//!
//! Topologies of SimAI have more numbers in front: nodes, GPUs of a server, NVSwitches, switches, links, and the kind of GPU. The
//! first switches of the list are NVSwitches (`SetupNetwork` in its `common.h`).

use std::collections::BTreeMap;

use weft_units::{Duration, Rate, plural};

use super::attributes::{NodeAttributes, Tier};
use super::graph::{FileEdge, FileGraph, FileNode, Place};
use super::notes::Notes;
use super::{ErrorKind, ReadError};
use crate::builder::check_size;
use crate::{Limit, LinkSpec, QueueSpec, Role, SCALE_UP_TIER, visible};

/// The numbers at the beginning of a file.
#[derive(Clone, Copy)]
struct Head {
    nodes: u64,
    /// The first of the switches, each of which joins the GPUs of a server.
    scale_up: u64,
    switches: u64,
    links: u64,
}

/// The words of a file, in order.
struct Words<'a> {
    text: &'a str,
    rest: std::str::SplitAsciiWhitespace<'a>,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, rest: text.split_ascii_whitespace() }
    }

    /// The byte of a word of the text.
    fn byte(&self, word: &str) -> usize {
        word.as_ptr() as usize - self.text.as_ptr() as usize
    }

    fn error(&self, why: &str, word: &str) -> ReadError {
        ReadError::from(ErrorKind::Syntax(visible(why))).at(self.text, self.byte(word))
    }

    /// The next words, or how many are left if they are too few.
    fn take<const N: usize>(&mut self) -> Result<[&'a str; N], usize> {
        let found: Vec<&str> = self.rest.by_ref().take(N).collect();
        <[&str; N]>::try_from(found).map_err(|found| found.len())
    }
}

/// Reads a topology. Node `n` is named `hn` if it is a host, `sn` if it is a switch. `defaults` give the queue.
pub(super) fn graph<'a>(text: &'a str, name: &str, defaults: &LinkSpec) -> Result<FileGraph<'a>, ReadError> {
    if text.trim_ascii().is_empty() {
        return Err(ErrorKind::Missing("the line with the numbers of nodes, switches and links").into());
    }
    read(text, name, defaults).map_err(|error| match (error.why, lines_differ(text)) {
        (ErrorKind::Syntax(why), Some(hint)) => {
            ReadError { why: ErrorKind::Syntax(format!("{why} ({hint})")), ..error }
        }
        (why, _) => ReadError { why, ..error },
    })
}

fn read<'a>(text: &'a str, name: &str, defaults: &LinkSpec) -> Result<FileGraph<'a>, ReadError> {
    let mut words = Words::new(text);
    let start = text.len() - text.trim_ascii_start().len();
    let at_start = |why: ErrorKind| ReadError::from(why).at(text, start);
    let Head { nodes, scale_up, switches, links } = head(&mut words)?;
    check_size(nodes, links).map_err(|why| at_start(why.into()))?;
    // Whether each switch is one of a server.
    let mut found = BTreeMap::new();
    for number in 0..switches {
        let [word] = words.take().map_err(|_| {
            at_start(ErrorKind::Syntax(format!(
                "the file ends after {} of {}",
                found.len(),
                plural(switches, "switch")
            )))
        })?;
        if found.insert(node(&words, word, nodes)?, number < scale_up).is_some() {
            return Err(words.error(&format!("switch {word} is listed twice"), word));
        }
    }
    let named = |node: u64| match found.get(&node) {
        None => format!("h{node}"),
        Some(false) => format!("s{node}"),
        Some(true) => format!("n{node}"),
    };
    let file_nodes = (0..nodes).map(|node| {
        let role = Some(if found.contains_key(&node) { Role::Switch } else { Role::Host });
        let tier = found.get(&node).filter(|is_of_server| **is_of_server).map(|_| Tier(SCALE_UP_TIER));
        let attributes = NodeAttributes { role, tier, ..NodeAttributes::default() };
        FileNode {
            name: named(node),
            attributes,
            place: Place { byte: start, element: format!("node {node}") },
        }
    });
    let file_nodes = file_nodes.collect();
    let mut edges = Vec::new();
    for number in 1..=links {
        let [from, to, rate, delay, errors] = words.take().map_err(|left| {
            let cut = if left > 0 {
                format!(", the last of them incomplete: {left} of 5 words")
            } else {
                String::new()
            };
            let there = number - u64::from(left == 0);
            at_start(ErrorKind::Syntax(format!(
                "there {} {}{cut}; the first line says {links}",
                if there == 1 { "is" } else { "are" },
                plural(there, "link")
            )))
        })?;
        let byte = words.byte(from);
        let (from, to) = (node(&words, from, nodes)?, node(&words, to, nodes)?);
        let mut forth = properties(&words, rate, delay, errors, defaults)?;
        if [from, to].iter().any(|end| found.get(end) == Some(&true)) {
            forth = forth.with_queue(QueueSpec::fifo(Limit::Unlimited));
        }
        let (from, to) = (named(from), named(to));
        let place = Place { byte, element: format!("link {number} (`{from}` - `{to}`)") };
        edges.push(FileEdge { from, to, back: Some(forth.clone()), forth, up: true, place });
    }
    let mut notes = Notes::default();
    if let Some(word) = words.rest.next() {
        let line = text[..words.byte(word)].matches('\n').count() + 1;
        notes.add(format!("not read from line {line} on: the first line says {}", plural(links, "link")));
    }
    Ok(FileGraph { text, name: name.to_owned(), nodes: file_nodes, edges, notes })
}

/// Whether a text begins as a topology of SimAI.
pub(super) fn is_simai(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    simai_head(first_lines(text).next().unwrap_or_default()).is_some()
}

/// The numbers of a line of SimAI: nodes, GPUs of a server, NVSwitches, switches, links, kind of GPU.
fn simai_head(line: &str) -> Option<Head> {
    let words: Vec<&str> = line.split_ascii_whitespace().take(7).collect();
    let [nodes, gpus, scale_up, switches, links, kind] = words[..] else { return None };
    let numbers: Result<Vec<u64>, _> =
        [nodes, gpus, scale_up, switches, links].iter().map(|word| word.parse()).collect();
    let [nodes, _, scale_up, switches, links] = numbers.ok()?[..] else { return None };
    let head = Head { nodes, scale_up, switches: scale_up.saturating_add(switches), links };
    kind.parse::<f64>().is_err().then_some(head)
}

/// The numbers of nodes, switches and links.
fn head(words: &mut Words<'_>) -> Result<Head, ReadError> {
    let line = first_lines(words.text).next().unwrap_or_default();
    if let Some(head) = simai_head(line) {
        words.rest.by_ref().take(6).for_each(drop);
        return Ok(head);
    }
    let line: Vec<&str> = line.split_ascii_whitespace().collect();
    let first = line.first().copied().unwrap_or(words.text);
    let numbers: Result<[&str; 3], usize> = words.take();
    let numbers = numbers.ok().and_then(|[nodes, switches, links]| {
        let (nodes, switches, links) = (nodes.parse().ok()?, switches.parse().ok()?, links.parse().ok()?);
        Some(Head { nodes, scale_up: 0, switches, links })
    });
    numbers.ok_or_else(|| {
        words.error(&format!("`{}` is not three numbers: nodes, switches, links", line.join(" ")), first)
    })
}

/// The lines with words.
fn first_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim_ascii).filter(|line| !line.is_empty())
}

/// How the first three lines differ from the usual ones, if they do: the likely reason of an error further down.
fn lines_differ(text: &str) -> Option<String> {
    let mut lines = first_lines(text).map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
    let head = lines.next()?;
    let [_, switches, _] = head[..] else {
        return (head.len() < 3).then(|| format!("the first line has {} of the 3 numbers", head.len()));
    };
    if switches != "0" {
        let listed = lines.next()?.len();
        if switches.parse() != Ok(listed) {
            return Some(format!(
                "the second line lists {}; the first line says {switches}",
                plural(listed as u64, "switch")
            ));
        }
    }
    let words = lines.next()?.len();
    (words < 5).then(|| format!("the first link has {words} of 5 words: two nodes, rate, delay, error rate"))
}

/// The number of a node.
fn node(words: &Words<'_>, word: &str, nodes: u64) -> Result<u64, ReadError> {
    let known = word.parse().ok().filter(|node| *node < nodes);
    known
        .ok_or_else(|| words.error(&format!("`{word}` is not a node; expected a number below {nodes}"), word))
}

/// The properties of a link.
fn properties(
    words: &Words<'_>,
    rate: &str,
    delay: &str,
    errors: &str,
    defaults: &LinkSpec,
) -> Result<LinkSpec, ReadError> {
    // ns-3 writes bits as `bps` or `b/s`.
    let plain = rate.strip_suffix("b/s").map_or_else(|| rate.to_owned(), |number| format!("{number}bps"));
    let parsed: Rate = plain.parse().map_err(|error| words.error(&format!("{error}"), rate))?;
    let long: Duration = delay.parse().map_err(|error| words.error(&format!("{error}"), delay))?;
    if errors.parse::<f64>() != Ok(0.0) {
        let why = format!("the error rate is `{errors}`; expected 0: use an `[[event]]` with `loss`");
        return Err(words.error(&why, errors));
    }
    Ok(LinkSpec { rate: parsed, delay: long, ..defaults.clone() })
}
