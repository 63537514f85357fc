//! NetworkX's node-link JSON, from `networkx.node_link_data`: the edges under `edges` (since NetworkX 3.4) or
//! `links`; graphs or multigraphs, directed or not.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::attributes::NodeAttributes;
use super::graph::{FileEdge, FileGraph, FileNode, Place};
use super::known::Element;
use super::ways::Ways;
use super::{ReadError, Why};
use crate::{Fabric, LinkSpec};

/// A whole file; nodes and edges stay text, so that their positions are known.
#[derive(Deserialize)]
struct File<'a> {
    #[serde(default)]
    directed: bool,
    #[serde(default)]
    graph: Value,
    #[serde(borrow)]
    nodes: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    edges: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    links: Option<Vec<&'a RawValue>>,
}

/// Reads node-link JSON. A graph without a `name` gets `name`; missing link attributes come from `defaults`.
/// In a directed graph each cable is two edges, one per direction, which may differ. An undirected edge may
/// have `rate_back` etc. `queue` may also be an object, as in Weft's own format.
///
/// # Errors
/// [`ReadError`] with line, column and the number of the node or edge.
pub fn node_link(text: &str, name: &str, defaults: &LinkSpec) -> Result<Fabric, ReadError> {
    Ok(graph(text, name, defaults)?.into_builder()?.build()?)
}

/// The content of a file.
pub(super) fn graph<'a>(text: &'a str, name: &str, defaults: &LinkSpec) -> Result<FileGraph<'a>, ReadError> {
    let file: File<'_> = serde_json::from_str(text).map_err(|error| {
        // The position is in the error, so it is removed from its text.
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        let (line, column) = (Some(error.line()), Some(error.column().max(1)));
        ReadError { line, column, ..Why::Syntax(message.to_owned()).into() }
    })?;
    let (edges, called) = match (file.edges, file.links) {
        (Some(_), Some(_)) => {
            return Err(Why::Syntax("the graph has both `edges` and `links`: keep one".into()).into());
        }
        (Some(edges), None) => (edges, "edge"),
        (None, Some(links)) => (links, "link"),
        (None, None) => return Err(Why::Missing("the list of edges (`edges` or `links`)").into()),
    };
    let nodes = file.nodes.ok_or(Why::Missing("the list of nodes (`nodes`)"))?;
    if let Value::Object(attributes) = &file.graph {
        Element::Graph.check(attributes.keys().map(String::as_str))?;
    }
    let name = file.graph.get("name").and_then(Value::as_str).filter(|own| !own.is_empty()).unwrap_or(name);
    let each = |raw: &RawValue, called: &str, index: usize| {
        let byte = raw.get().as_ptr() as usize - text.as_ptr() as usize;
        Place { byte, element: format!("{called} {}", index + 1) }
    };
    let fails = |why: Why, place: &Place| ReadError::from(why).at(text, place.byte).of(&*place.element);
    let mut file_nodes = Vec::with_capacity(nodes.len());
    for (index, raw) in nodes.into_iter().enumerate() {
        let place = each(raw, "node", index);
        let (name, attributes) = node(raw).map_err(|why| fails(why, &place))?;
        file_nodes.push(FileNode { name, attributes, place });
    }
    let mut file_edges = Vec::with_capacity(edges.len());
    for (index, raw) in edges.into_iter().enumerate() {
        let mut place = each(raw, called, index);
        let edge = edge(raw, file.directed, defaults).map_err(|why| fails(why, &place))?;
        place.element = format!("{} (`{}` - `{}`)", place.element, edge.from, edge.to);
        file_edges.push(FileEdge {
            from: edge.from,
            to: edge.to,
            forth: edge.ways.forth,
            back: edge.ways.back,
            up: edge.ways.up,
            place,
        });
    }
    Ok(FileGraph { text, name: name.to_owned(), nodes: file_nodes, edges: file_edges })
}

/// The attributes of a node or edge.
struct Attributes(Map<String, Value>);

impl Attributes {
    fn of(raw: &RawValue) -> Result<Self, Why> {
        match serde_json::from_str(raw.get()) {
            Ok(Value::Object(map)) => Ok(Self(map)),
            Ok(_) => Err(Why::Syntax("an object with attributes was expected".into())),
            Err(error) => Err(Why::Syntax(error.to_string())),
        }
    }

    /// The name of a node under `key`.
    fn name(&self, key: &'static str, missing: &'static str) -> Result<String, Why> {
        let value = self.0.get(key).ok_or(Why::Missing(missing))?;
        name_of(value).ok_or_else(|| Why::Value { key, why: format!("`{value}` names no node") })
    }

    /// The values as text, numbers as written, except those of `names`, which are read separately.
    fn texts(&self, names: &[&str]) -> BTreeMap<&str, String> {
        let text = |value: &Value| match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let others = self.0.iter().filter(|(key, _)| !names.contains(&key.as_str()));
        others.filter_map(|(key, value)| Some((key.as_str(), text(value)?))).collect()
    }
}

/// A node as text: a string, a number, or a list of these, as grid graphs have.
fn name_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(parts) => {
            parts.iter().map(name_of).collect::<Option<Vec<_>>>().map(|parts| parts.join(","))
        }
        Value::Null | Value::Bool(_) | Value::Object(_) => None,
    }
}

fn node(raw: &RawValue) -> Result<(String, NodeAttributes), Why> {
    let attributes = Attributes::of(raw)?;
    let texts = attributes.texts(&["id"]);
    Element::Node.check(texts.keys().copied())?;
    let known = NodeAttributes::from_text(|key| texts.get(key).map(String::as_str))?;
    Ok((attributes.name("id", "`id`")?, known))
}

/// An edge with its ends.
struct Edge {
    from: String,
    to: String,
    ways: Ways,
}

fn edge(raw: &RawValue, directed: bool, defaults: &LinkSpec) -> Result<Edge, Why> {
    let attributes = Attributes::of(raw)?;
    let from = attributes.name("source", "`source`")?;
    let to = attributes.name("target", "`target`")?;
    let texts = attributes.texts(&["source", "target"]);
    Ok(Edge { from, to, ways: Ways::read(&texts, directed, defaults)? })
}
