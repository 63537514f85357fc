//! Topologies of conweave-ns3 and HPCC (`.txt`): the numbers of nodes, switches and links, the switches, then for each
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

use std::collections::BTreeSet;

use weft_units::{Duration, Rate, plural};

use super::attributes::NodeAttributes;
use super::graph::{FileEdge, FileGraph, FileNode, Place};
use super::notes::Notes;
use super::{ErrorKind, ReadError};
use crate::builder::check_size;
use crate::{LinkSpec, Role, visible};

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
    let [nodes, switches, links] = head(&mut words)?;
    check_size(nodes, links).map_err(|why| at_start(why.into()))?;
    let mut found = BTreeSet::new();
    for _ in 0..switches {
        let [word] = words.take().map_err(|_| {
            at_start(ErrorKind::Syntax(format!(
                "the file ends after {} of {}",
                found.len(),
                plural(switches, "switch")
            )))
        })?;
        if !found.insert(node(&words, word, nodes)?) {
            return Err(words.error(&format!("switch {word} is listed twice"), word));
        }
    }
    let named = |node: u64| if found.contains(&node) { format!("s{node}") } else { format!("h{node}") };
    let file_nodes = (0..nodes).map(|node| {
        let role = Some(if found.contains(&node) { Role::Switch } else { Role::Host });
        let attributes = NodeAttributes { role, ..NodeAttributes::default() };
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
        let (from, to) = (named(node(&words, from, nodes)?), named(node(&words, to, nodes)?));
        let forth = properties(&words, rate, delay, errors, defaults)?;
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

/// The numbers of nodes, switches and links.
fn head(words: &mut Words<'_>) -> Result<[u64; 3], ReadError> {
    let line: Vec<&str> =
        first_lines(words.text).next().unwrap_or_default().split_ascii_whitespace().collect();
    let first = line.first().copied().unwrap_or(words.text);
    let are_numbers = |words: &[&str]| words.iter().all(|word| word.parse::<u64>().is_ok());
    // Nodes, GPUs of a server, NVSwitches, switches, links, kind of GPU.
    if line.len() == 6 && are_numbers(&line[..5]) && !are_numbers(&line[5..]) {
        return Err(words.error("topologies of SimAI, with GPUs, are not supported", first));
    }
    let numbers: Result<[&str; 3], usize> = words.take();
    let numbers = numbers.ok().and_then(|[nodes, switches, links]| {
        Some([nodes.parse().ok()?, switches.parse().ok()?, links.parse().ok()?])
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
