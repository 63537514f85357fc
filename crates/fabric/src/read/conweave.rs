//! Topologies of conweave-ns3 and HPCC (`.txt`): a line with the numbers of nodes, switches and links, a line with the
//! switches, then a line for each link: two nodes, rate, delay, error rate.
//!
//! ```text
//! 4 2 3
//! 2 3
//! 0 2 100Gbps 1000ns 0
//! 1 3 100Gbps 1000ns 0
//! 2 3 400Gbps 1000ns 0
//! ```

use std::collections::BTreeSet;

use weft_units::{Duration, Rate};

use super::attributes::NodeAttributes;
use super::graph::{FileEdge, FileGraph, FileNode, Place};
use super::{ReadError, Why};
use crate::builder::check_size;
use crate::{LinkSpec, Role};

/// A line that is not empty, with its first byte.
type Line<'a> = (usize, &'a str);

/// Reads a topology. Node `n` is named `hn` if it is a host, `sn` if it is a switch. `defaults` give the queue.
pub(super) fn graph<'a>(text: &'a str, name: &str, defaults: &LinkSpec) -> Result<FileGraph<'a>, ReadError> {
    let error = |why: String, byte: usize| ReadError::from(Why::Syntax(why)).at(text, byte);
    let mut byte = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        byte += line.len();
        (byte - line.len(), line.trim())
    });
    let mut lines = lines.filter(|(_, line)| !line.is_empty());
    let first = lines.next().ok_or(Why::Missing("the line with the numbers of nodes, switches and links"))?;
    let [nodes, switches, links] = head(first, &error)?;
    check_size(nodes, links).map_err(|why| ReadError::from(why).at(text, first.0))?;
    // Without switches, some writers leave out their line.
    let of_switches = if switches == 0 { None } else { lines.next() };
    let found = switches_of(of_switches, nodes, &error)?;
    if found.len() as u64 != switches {
        let why = format!("there are {} switches; the first line says {switches}", found.len());
        return Err(error(why, of_switches.map_or(text.len(), |(byte, _)| byte)));
    }
    let named = |node: u64| if found.contains(&node) { format!("s{node}") } else { format!("h{node}") };
    let place = |byte, element| Place { byte, element };
    let file_nodes = (0..nodes).map(|node| {
        let role = Some(if found.contains(&node) { Role::Switch } else { Role::Host });
        let attributes = NodeAttributes { role, ..NodeAttributes::default() };
        FileNode { name: named(node), attributes, place: place(first.0, format!("node {node}")) }
    });
    let file_nodes = file_nodes.collect();
    let mut edges = Vec::new();
    for (byte, line) in lines {
        let (ends, forth) = link(line, nodes, defaults).map_err(|why| error(why, byte))?;
        let [from, to] = ends.map(named);
        let element = format!("link {} (`{from}` - `{to}`)", edges.len() + 1);
        let place = place(byte, element);
        edges.push(FileEdge { from, to, back: Some(forth.clone()), forth, up: true, place });
    }
    if edges.len() as u64 != links {
        let why = format!("there are {} links; the first line says {links}", edges.len());
        return Err(error(why, first.0));
    }
    Ok(FileGraph { text, name: name.to_owned(), nodes: file_nodes, edges })
}

/// The three numbers of the first line.
fn head((byte, line): Line<'_>, error: &impl Fn(String, usize) -> ReadError) -> Result<[u64; 3], ReadError> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let numbers: Option<Vec<u64>> = words.iter().map(|word| word.parse().ok()).collect();
    if let Some([nodes, switches, links]) = numbers.as_deref() {
        return Ok([*nodes, *switches, *links]);
    }
    let hint = if words.len() == 6 { "; topologies of SimAI, with GPUs, are not supported" } else { "" };
    Err(error(format!("`{line}` is not three numbers: nodes, switches, links{hint}"), byte))
}

/// The numbers of the switches.
fn switches_of(
    line: Option<Line<'_>>,
    nodes: u64,
    error: &impl Fn(String, usize) -> ReadError,
) -> Result<BTreeSet<u64>, ReadError> {
    let mut found = BTreeSet::new();
    let Some((byte, line)) = line else { return Ok(found) };
    for word in line.split_whitespace() {
        let node = node(word, nodes).map_err(|why| error(why, byte))?;
        if !found.insert(node) {
            return Err(error(format!("switch {node} is listed twice"), byte));
        }
    }
    Ok(found)
}

/// The number of a node.
fn node(word: &str, nodes: u64) -> Result<u64, String> {
    let known = word.parse().ok().filter(|node| *node < nodes);
    known.ok_or_else(|| format!("`{word}` is not a node; expected a number below {nodes}"))
}

/// The ends of a link and its properties.
fn link(line: &str, nodes: u64, defaults: &LinkSpec) -> Result<([u64; 2], LinkSpec), String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [from, to, rate, delay, errors] = words[..] else {
        return Err(format!("`{line}` is not a link; expected two nodes, rate, delay and error rate"));
    };
    if errors.parse::<f64>() != Ok(0.0) {
        return Err(format!("the error rate is `{errors}`; expected 0: use an `[[event]]` with `loss`"));
    }
    let rate: Rate = rate.parse().map_err(|error| format!("{error}"))?;
    let delay: Duration = delay.parse().map_err(|error| format!("{error}"))?;
    Ok(([node(from, nodes)?, node(to, nodes)?], LinkSpec { rate, delay, ..defaults.clone() }))
}
