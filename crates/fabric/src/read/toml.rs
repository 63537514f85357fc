//! Weft's own format: TOML with the nodes and links of a fabric.
//!
//! ```toml
//! name = "two switches"
//!
//! [defaults]                # of every link below
//! rate = "1 Gbps"
//! delay = "5 us"
//! queue = "1000 packets"    # or { limit = "150 kB", scheduler = "drr", weights = [4, 1] }
//! ecn_threshold = "65 packets"
//! overhead = "ethernet"     # ethernet, ethernet-frame, ppp, none
//!
//! [[node]]
//! name = "h0"
//! role = "host"             # host, switch
//!
//! [[node]]
//! name = "s0"
//! role = "switch"
//! tier = 1
//! pod = 0
//!
//! [[link]]
//! between = ["h0", "s0"]    # or "h0-s0"
//! rate = "100 Mbps"
//! rate_back = "20 Mbps"     # from s0 to h0; also delay_back, queue_back, ecn_threshold_back, overhead_back
//! up = false                # failed from the start
//! ```

use std::collections::BTreeSet;

use serde::Deserialize;
use toml::Spanned;
use weft_units::{Duration, Rate};

use super::attributes::{LinkAttributes, NodeAttributes, Tier};
use super::error::explain;
use super::graph::{FileEdge, FileGraph, FileNode, Place};
use super::notes::Notes;
use super::{ErrorKind, ReadError};
use crate::fabric::split_pair;
use crate::{Fabric, Limit, LinkSpec, Overhead, QueueSpec, Role};

/// A whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Option<String>,
    #[serde(default)]
    defaults: LinkAttributes,
    #[serde(default)]
    node: Vec<Spanned<NodeTable>>,
    #[serde(default)]
    link: Vec<Spanned<LinkTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeTable {
    name: String,
    role: Option<Role>,
    tier: Option<Tier>,
    pod: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkTable {
    between: LinkEnds,
    rate: Option<Rate>,
    delay: Option<Duration>,
    queue: Option<QueueSpec>,
    ecn_threshold: Option<Limit>,
    overhead: Option<Overhead>,
    rate_back: Option<Rate>,
    delay_back: Option<Duration>,
    queue_back: Option<QueueSpec>,
    ecn_threshold_back: Option<Limit>,
    overhead_back: Option<Overhead>,
    #[serde(default = "yes")]
    up: bool,
}

/// The ends of a link.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the two ends of a link, such as [\"e0\", \"a1\"] or \"e0-a1\"")]
enum LinkEnds {
    Two([String; 2]),
    Text(String),
}

fn yes() -> bool {
    true
}

/// Reads Weft's own format. A fabric without a name gets `name`; missing link attributes come from the file's
/// `[defaults]`, then from `defaults`.
///
/// # Errors
/// [`ReadError`] with line and column.
pub fn toml(text: &str, name: &str, defaults: &LinkSpec) -> Result<Fabric, ReadError> {
    Ok(graph(text, name, defaults)?.into_builder()?.build()?)
}

/// The content of a file.
pub(super) fn graph<'a>(text: &'a str, name: &str, defaults: &LinkSpec) -> Result<FileGraph<'a>, ReadError> {
    let file: File = toml::from_str(text).map_err(|error| {
        let why = ReadError::from(ErrorKind::Syntax(explain(error.message())));
        match error.span() {
            Some(span) => why.at(text, span.start),
            None => why,
        }
    })?;
    let defaults = file.defaults.or(defaults);
    let nodes: Vec<FileNode> = file.node.into_iter().map(node).collect();
    let names: BTreeSet<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    let mut edges = Vec::with_capacity(file.link.len());
    for (index, table) in file.link.into_iter().enumerate() {
        edges.push(
            link(index, table, &names, &defaults).map_err(|(byte, why)| {
                ReadError::from(why).at(text, byte).of(format!("link {}", index + 1))
            })?,
        );
    }
    let name = file.name.unwrap_or_else(|| name.to_owned());
    Ok(FileGraph { text, name, nodes, edges, notes: Notes::default() })
}

fn node(table: Spanned<NodeTable>) -> FileNode {
    let byte = table.span().start;
    let NodeTable { name, role, tier, pod } = table.into_inner();
    let place = Place { byte, element: format!("node `{name}`") };
    FileNode { name, attributes: NodeAttributes { role, tier, pod }, place }
}

fn link(
    index: usize,
    table: Spanned<LinkTable>,
    names: &BTreeSet<&str>,
    defaults: &LinkSpec,
) -> Result<FileEdge, (usize, ErrorKind)> {
    let byte = table.span().start;
    let table = table.into_inner();
    let (from, to) = match table.between {
        LinkEnds::Two([from, to]) => (from, to),
        LinkEnds::Text(text) => {
            let find = |name: &str| names.get(name).map(|name| (*name).to_owned());
            split_pair(&text, find, |_| names.iter().copied().collect())
                .map_err(|error| (byte, error.into()))?
        }
    };
    let forth = LinkAttributes {
        rate: table.rate,
        delay: table.delay,
        overhead: table.overhead,
        ecn_threshold: table.ecn_threshold,
        queue: table.queue,
    }
    .or(defaults);
    let back = LinkAttributes {
        rate: table.rate_back,
        delay: table.delay_back,
        overhead: table.overhead_back,
        ecn_threshold: table.ecn_threshold_back,
        queue: table.queue_back,
    }
    .or(&forth);
    let place = Place { byte, element: format!("link {} (`{from}` - `{to}`)", index + 1) };
    Ok(FileEdge { from, to, forth, back: Some(back), up: table.up, place })
}
