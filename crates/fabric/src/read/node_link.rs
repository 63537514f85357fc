//! NetworkX's node-link JSON, from `networkx.node_link_data`: the edges under `edges` (since NetworkX 3.4) or
//! `links`; graphs or multigraphs, directed or not. NetworkX 1.x and D3 version 3 name the ends of an edge by their
//! positions in `nodes`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::attributes::NodeAttributes;
use super::graph::{FileEdge, FileGraph, FileNode, Place};
use super::json_text::{same_length, with_strings};
use super::known::Element;
use super::notes::Notes;
use super::ways::Ways;
use super::{ErrorKind, ReadError, zoo};
use crate::{Fabric, LinkSpec};

/// A whole file; nodes and edges stay text, so that their positions are known.
#[derive(Deserialize)]
struct File<'a> {
    #[serde(default)]
    directed: bool,
    multigraph: Option<bool>,
    #[serde(default)]
    graph: Value,
    #[serde(borrow)]
    nodes: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    edges: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    links: Option<Vec<&'a RawValue>>,
    adjacency: Option<IgnoredAny>,
    elements: Option<IgnoredAny>,
    children: Option<IgnoredAny>,
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
    let valid = same_length(text);
    let file: File<'_> = serde_json::from_str(&valid).map_err(|error| {
        // The position is in the error, so it is removed from its text.
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        let (line, column) = (Some(error.line()), Some(error.column().max(1)));
        ReadError { line, column, ..ErrorKind::Syntax(message.to_owned()).into() }
    })?;
    let (nodes, edges, called) = file.lists()?;
    let mut notes = Notes::default();
    let of_graph = file.graph_attributes();
    Element::Graph.check(of_graph.keys().map(|name| (name.as_str(), "")), &mut notes)?;
    let name = of_graph.get("name").and_then(Value::as_str).filter(|own| !own.is_empty()).unwrap_or(name);
    let fails = |why: ErrorKind, place: &Place| ReadError::from(why).at(text, place.byte).of(&*place.element);
    let each = |raw: &RawValue, called: &str, index: usize| {
        let byte = raw.get().as_ptr() as usize - valid.as_ptr() as usize;
        let place = Place { byte, element: format!("{called} {}", index + 1) };
        match Attributes::of(&text[byte..byte + raw.get().len()]) {
            Ok(attributes) => Ok((attributes, place)),
            Err(why) => Err(fails(why, &place)),
        }
    };
    let all = |raws: &[&RawValue], called: &str| {
        raws.iter().enumerate().map(|(index, raw)| each(raw, called, index)).collect::<Result<Vec<_>, _>>()
    };
    let (nodes, edges) = (all(nodes, "node")?, all(edges, called)?);
    let ends = Ends::of(&file, &nodes, &edges, &mut notes);

    let mut file_nodes = Vec::with_capacity(nodes.len());
    for (index, (attributes, place)) in nodes.into_iter().enumerate() {
        let name = ends.name_of_node(&attributes, index).map_err(|why| fails(why, &place))?;
        let attributes = node(&attributes, &mut notes).map_err(|why| fails(why, &place))?;
        file_nodes.push(FileNode { name, attributes, place });
    }
    let mut file_edges: Vec<FileEdge> = Vec::with_capacity(edges.len());
    let (mut with_speed, mut repeated, mut seen) = (0, 0, BTreeMap::new());
    for (attributes, mut place) in edges {
        let end = |key, missing| ends.name_of_end(&attributes, key, missing, &file_nodes);
        let from = end("source", "`source`").map_err(|why| fails(why, &place))?;
        let to = end("target", "`target`").map_err(|why| fails(why, &place))?;
        let texts = attributes.texts(&["source", "target"]);
        let ways = Ways::read(&texts, file.directed, defaults, &mut notes);
        let Ways { forth, back, up, is_speed } = ways.map_err(|why| fails(why, &place))?;
        place.element = format!("{} (`{from}` - `{to}`)", place.element);
        let edge = FileEdge { from, to, forth, back, up, place };
        if file.multigraph == Some(false) {
            match seen.entry(edge.pair()) {
                Entry::Vacant(entry) => _ = entry.insert(file_edges.len()),
                Entry::Occupied(first) if file_edges[*first.get()].is_same(&edge) => {
                    repeated += 1;
                    continue;
                }
                Entry::Occupied(_) => {
                    let why = "this edge is given twice with different attributes, but `multigraph` is false: remove \
                               one, or set `multigraph` to true";
                    return Err(fails(ErrorKind::Syntax(why.into()), &edge.place));
                }
            }
        }
        with_speed += usize::from(is_speed);
        file_edges.push(edge);
    }
    zoo::note_missing(with_speed, file_edges.len(), &mut notes);
    if repeated > 0 {
        let note = "edges repeat others and are not links of their own, because `multigraph` is false";
        notes.add(format!("{repeated} {note}"));
    }
    Ok(FileGraph { text, name: name.to_owned(), nodes: file_nodes, edges: file_edges, notes })
}

/// Nodes, edges, and the name for an edge.
type Lists<'f, 'a> = (&'f [&'a RawValue], &'f [&'a RawValue], &'static str);

impl<'a> File<'a> {
    fn lists(&self) -> Result<Lists<'_, 'a>, ErrorKind> {
        let (edges, called) = match (&self.edges, &self.links) {
            (Some(_), Some(_)) => {
                return Err(ErrorKind::Syntax("the graph has both `edges` and `links`: keep one".into()));
            }
            (Some(edges), None) => (edges, "edge"),
            (None, Some(links)) => (links, "link"),
            (None, None) => {
                return Err(match self.other_form() {
                    Some(other) => ErrorKind::Syntax(format!(
                        "this is {other}; expected that of networkx.node_link_data"
                    )),
                    None => ErrorKind::Missing("the list of edges (`edges` or `links`)"),
                });
            }
        };
        let nodes = self.nodes.as_ref().ok_or(ErrorKind::Missing("the list of nodes (`nodes`)"))?;
        Ok((nodes, edges, called))
    }

    /// Another form of graphs in JSON.
    fn other_form(&self) -> Option<&'static str> {
        let forms = [
            (self.adjacency.is_some(), "the JSON of networkx.adjacency_data"),
            (self.elements.is_some(), "the JSON of networkx.cytoscape_data or Cytoscape"),
            (self.children.is_some(), "the JSON of networkx.tree_data"),
            (self.graph.get("nodes").is_some(), "the JSON Graph Format"),
        ];
        forms.into_iter().find(|(is, _)| *is).map(|(_, form)| form)
    }

    /// The attributes of the graph: an object, or a list of pairs, as NetworkX 1.x writes it.
    fn graph_attributes(&self) -> Map<String, Value> {
        let pair = |pair: &Value| Some((pair.get(0)?.as_str()?.to_owned(), pair.get(1)?.clone()));
        match &self.graph {
            Value::Object(attributes) => attributes.clone(),
            Value::Array(pairs) => pairs.iter().filter_map(pair).collect(),
            _ => Map::new(),
        }
    }
}

impl FileEdge {
    /// The two ends, in order if the edge is undirected.
    fn pair(&self) -> (String, String) {
        let (from, to) = (self.from.clone(), self.to.clone());
        if self.back.is_some() && to < from { (to, from) } else { (from, to) }
    }

    /// Whether an edge with the same pair is the same link.
    fn is_same(&self, other: &Self) -> bool {
        let ways = [Some(&self.forth), self.back.as_ref()];
        let mut others = [Some(&other.forth), other.back.as_ref()];
        if self.from != other.from {
            others.reverse();
        }
        ways == others && self.up == other.up
    }
}

/// Whether the ids of nodes are their positions, so that both readings are the same.
fn are_in_order(nodes: &[(Attributes, Place)], key: &str) -> bool {
    let mut ids = nodes.iter().zip(0_u64..);
    ids.all(|((node, _), position)| node.0.get(key).and_then(Value::as_u64) == Some(position))
}

/// How a file names nodes and the ends of edges.
struct Ends {
    /// The key of a node's name.
    key: &'static str,
    /// Whether ends are positions in `nodes`.
    are_positions: bool,
}

impl Ends {
    /// Positions if `graph` is a list, which only NetworkX up to 1.10 writes, or if all ends are numbers and no node has a
    /// number for a name, as in files for D3 version 3.
    fn of(
        file: &File<'_>,
        nodes: &[(Attributes, Place)],
        edges: &[(Attributes, Place)],
        notes: &mut Notes,
    ) -> Self {
        let has = |key| nodes.iter().any(|(node, _)| node.0.contains_key(key));
        let key = if has("id") || nodes.is_empty() { "id" } else { "name" };
        let is_number = |value: &Value| match value {
            Value::Number(_) => true,
            Value::String(text) => text.parse::<f64>().is_ok(),
            _ => false,
        };
        let ends = || edges.iter().flat_map(|(edge, _)| ["source", "target"].map(|key| edge.0.get(key)));
        let all_numbers = !edges.is_empty() && ends().all(|end| end.is_some_and(Value::is_u64));
        let no_number = !nodes.iter().filter_map(|(node, _)| node.0.get(key)).any(is_number);
        let is_first = file.graph.is_array();
        if !is_first && all_numbers && no_number {
            notes.add(
                "`source` and `target` are read as positions in `nodes`, as NetworkX 1.x and D3 version 3 write them: \
                 they are numbers, and no node has a number for a name",
            );
        }
        let are_positions = is_first || (all_numbers && no_number);
        if !are_positions && all_numbers && file.links.is_some() && !are_in_order(nodes, key) {
            let positions = 0..nodes.len() as u64;
            if ends().all(|end| end.and_then(Value::as_u64).is_some_and(|end| positions.contains(&end))) {
                notes.add(
                    "`source` and `target` are read as ids of nodes; NetworkX 1.11 writes positions in `nodes` in the same \
                     form: if it wrote this file, write it again with 2.0 or newer",
                );
            }
        }
        Self { key, are_positions }
    }

    fn name_of_node(&self, node: &Attributes, index: usize) -> Result<String, ErrorKind> {
        match node.name(self.key, "`id`") {
            // A node of D3 needs no name.
            Err(ErrorKind::Missing(_)) if self.are_positions && self.key != "id" => Ok(index.to_string()),
            name => name,
        }
    }

    fn name_of_end(
        &self,
        edge: &Attributes,
        key: &'static str,
        missing: &'static str,
        nodes: &[FileNode],
    ) -> Result<String, ErrorKind> {
        if !self.are_positions {
            return edge.name(key, missing);
        }
        let value = edge.0.get(key).ok_or(ErrorKind::Missing(missing))?;
        let at = value.as_u64().and_then(|at| usize::try_from(at).ok());
        let node = at.and_then(|at| nodes.get(at)).ok_or_else(|| {
            let why =
                format!("`{value}` is not a position in `nodes`; expected a number below {}", nodes.len());
            ErrorKind::Value { key, why }
        })?;
        Ok(node.name.clone())
    }
}

/// The attributes of a node or edge.
struct Attributes(Map<String, Value>);

impl Attributes {
    fn of(text: &str) -> Result<Self, ErrorKind> {
        match serde_json::from_str(&with_strings(text)) {
            Ok(Value::Object(map)) => Ok(Self(map)),
            Ok(_) => Err(ErrorKind::Syntax("an object with attributes was expected".into())),
            Err(error) => Err(ErrorKind::Syntax(error.to_string())),
        }
    }

    /// The name of a node under `key`.
    fn name(&self, key: &'static str, missing: &'static str) -> Result<String, ErrorKind> {
        let value = self.0.get(key).ok_or(ErrorKind::Missing(missing))?;
        if value.is_f64() && value.as_f64().is_some_and(|number| number.abs() >= EXACT) {
            return Err(ErrorKind::Value {
                key,
                why: format!("`{value}` is too large for a number: write it as text"),
            });
        }
        name_of(value).ok_or_else(|| ErrorKind::Value { key, why: format!("`{value}` names no node") })
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

/// From here on, JSON's numbers with a fraction do not keep all digits.
const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;

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

fn node(attributes: &Attributes, notes: &mut Notes) -> Result<NodeAttributes, ErrorKind> {
    let texts = attributes.texts(&["id"]);
    Element::Node.check(texts.iter().map(|(name, text)| (*name, text.as_str())), notes)?;
    NodeAttributes::from_text(|key| texts.get(key).map(String::as_str))
}
