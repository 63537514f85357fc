//! GraphML (graphml.graphdrawing.org), as written by NetworkX, yEd, igraph and the Topology Zoo.

use std::collections::BTreeMap;

use roxmltree::{Document, Node, ParsingOptions};

use super::attributes::NodeAttributes;
use super::graph::{FileEdge, FileGraph, FileNode, Place};
use super::known::Element;
use super::notes::Notes;
use super::ways::Ways;
use super::{ErrorKind, ReadError, zoo};
use crate::{Fabric, LinkSpec};

/// A `<key>` element, which declares an attribute.
struct Key<'a> {
    name: &'a str,
    /// The elements it is for: `node`, `edge`, `graph`; `None`: all.
    of: Option<&'a str>,
    default: Option<&'a str>,
}

/// The declared attributes by id.
type Keys<'a> = BTreeMap<&'a str, Key<'a>>;

/// Reads GraphML. A graph without a `name` gets `name`; missing link attributes come from `defaults`. In a
/// directed graph each cable is two edges, one per direction, which may differ; an undirected edge may have
/// `rate_back` etc. A `queue` with several classes is a JSON object.
///
/// # Errors
/// [`ReadError`] with line, column and the element.
pub fn graphml(text: &str, name: &str, defaults: &LinkSpec) -> Result<Fabric, ReadError> {
    Ok(graph(text, name, defaults)?.into_builder()?.build()?)
}

/// The content of a file.
pub(super) fn graph<'a>(text: &'a str, name: &str, defaults: &LinkSpec) -> Result<FileGraph<'a>, ReadError> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: 1 << 25, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let place = error.pos();
        let message = error.to_string();
        let message = message.rsplit_once(" at ").map_or(message.as_str(), |(message, _)| message);
        ReadError {
            line: Some(place.row as usize),
            column: Some(place.col as usize),
            ..ErrorKind::Syntax(message.to_owned()).into()
        }
    })?;
    let root = document.root_element();
    let place = |element: Node<'_, '_>| Place { byte: element.range().start, element: describe(element) };
    let fails = |why: ErrorKind, element: Node<'_, '_>| {
        ReadError::from(why).at(text, element.range().start).of(describe(element))
    };
    if root.tag_name().name() != "graphml" {
        let why = ErrorKind::Syntax("expected the root element `graphml`".into());
        return Err(fails(why, root));
    }
    let mut graphs = children(root, "graph");
    let graph = graphs.next().ok_or(ErrorKind::Missing("the element `graph`"))?;
    if let Some(second) = graphs.next() {
        return Err(fails(ErrorKind::Syntax("the file has more than one graph".into()), second));
    }
    let keys = keys(root);
    let data = |element| attributes(element, &keys).map_err(|(why, element)| fails(why, element));
    let directed_by_default = graph.attribute("edgedefault") == Some("directed");
    let (mut nodes, mut edges, mut notes) = (Vec::new(), Vec::new(), Notes::default());
    let mut with_speed = 0;
    for element in graph.children().filter(Node::is_element) {
        match element.tag_name().name() {
            "node" => {
                let texts = data(element)?;
                let attributes = texts.iter().map(|(name, text)| (*name, *text));
                Element::Node.check(attributes, &mut notes).map_err(|why| fails(why, element))?;
                let name =
                    element.attribute("id").ok_or_else(|| fails(ErrorKind::Missing("`id`"), element))?;
                let attributes = NodeAttributes::from_text(|key| texts.get(key).copied());
                let attributes = attributes.map_err(|why| fails(why, element))?;
                if let Some(nested) = children(element, "graph").next() {
                    return Err(fails(ErrorKind::Syntax("nested graphs are not supported".into()), nested));
                }
                if children(element, "port").next().is_some() {
                    notes.ignore("nodes", "port");
                }
                nodes.push(FileNode { name: name.to_owned(), attributes, place: place(element) });
            }
            "edge" => {
                let texts = data(element)?;
                let end = |key, missing| {
                    let end = element.attribute(key).map(str::to_owned);
                    end.ok_or_else(|| fails(ErrorKind::Missing(missing), element))
                };
                if let Some(nested) = children(element, "graph").next() {
                    return Err(fails(ErrorKind::Syntax("nested graphs are not supported".into()), nested));
                }
                let directed = match element.attribute("directed") {
                    Some(text) => text.trim() == "true" || text.trim() == "1",
                    None => directed_by_default && !is_drawn_undirected(element),
                };
                let ways = Ways::read(&texts, directed, defaults, &mut notes);
                let ways = ways.map_err(|why| fails(why, element))?;
                with_speed += usize::from(ways.is_speed);
                edges.push(FileEdge {
                    from: end("source", "`source`")?,
                    to: end("target", "`target`")?,
                    forth: ways.forth,
                    back: ways.back,
                    up: ways.up,
                    place: place(element),
                });
            }
            "hyperedge" => {
                return Err(fails(
                    ErrorKind::Syntax("hyperedges are not supported: a link has two nodes".into()),
                    element,
                ));
            }
            _ => {}
        }
    }
    let of_graph = data(graph)?;
    let attributes = of_graph.iter().map(|(name, text)| (*name, *text));
    Element::Graph.check(attributes, &mut notes).map_err(|why| fails(why, graph))?;
    zoo::note_missing(with_speed, edges.len(), &mut notes);
    let own = of_graph.get("name").copied().filter(|own| !own.is_empty());
    let name = own.unwrap_or(name).to_owned();
    Ok(FileGraph { text, name, nodes, edges, notes })
}

/// Whether yEd draws an edge with the same ends: it declares every graph directed, and arrows tell the directions.
fn is_drawn_undirected(edge: Node<'_, '_>) -> bool {
    let arrows = edge.descendants().find(|inner| inner.tag_name().name() == "Arrows");
    let is_pointed = |arrows: Node<'_, '_>, end| arrows.attribute(end).map(|arrow| arrow != "none");
    arrows.is_some_and(|arrows| {
        let ends = [is_pointed(arrows, "source"), is_pointed(arrows, "target")];
        ends[0].is_some() && ends[0] == ends[1]
    })
}

/// Describes an element for messages.
fn describe(element: Node<'_, '_>) -> String {
    let attribute = |name| element.attribute(name).unwrap_or("?");
    match element.tag_name().name() {
        "node" => format!("node `{}`", attribute("id")),
        "edge" => format!("edge (`{}` - `{}`)", attribute("source"), attribute("target")),
        other => format!("element `{other}`"),
    }
}

/// The children with this name, in any namespace.
fn children<'a, 'i>(element: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    element.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

/// The declared attributes.
fn keys<'a>(root: Node<'a, '_>) -> Keys<'a> {
    let declared = |key: Node<'a, '_>| {
        let id = key.attribute("id")?;
        // yEd's drawing attributes have no name.
        let drawn = key.attributes().any(|attribute| attribute.name() == "yfiles.type");
        let default = children(key, "default").next().and_then(|default| default.text());
        let default = default.filter(|text| !text.trim().is_empty());
        Some((
            id,
            Key {
                name: key.attribute("attr.name").unwrap_or(if drawn { "label" } else { id }),
                of: key.attribute("for"),
                default,
            },
        ))
    };
    children(root, "key").filter_map(declared).collect()
}

/// The attributes of an element by name, defaults included.
fn attributes<'a, 'i>(
    element: Node<'a, 'i>,
    keys: &Keys<'a>,
) -> Result<BTreeMap<&'a str, &'a str>, (ErrorKind, Node<'a, 'i>)> {
    let tag = element.tag_name().name();
    let kind = match tag {
        "node" => Element::Node,
        "graph" => Element::Graph,
        _ => Element::Undirected,
    };
    // A default for all elements counts for the kinds that know the attribute, or for all if none does.
    let here = |key: &&Key<'a>| match key.of {
        None | Some("all") => kind.knows(key.name) || !Element::is_known(key.name),
        Some(of) => of == tag,
    };
    let mut found: BTreeMap<&str, &str> =
        keys.values().filter(here).filter_map(|key| Some((key.name, key.default?))).collect();
    for data in children(element, "data") {
        let id = data.attribute("key").ok_or((ErrorKind::Missing("`key`"), data))?;
        let key = keys.get(id).ok_or_else(|| {
            (ErrorKind::Syntax(format!("no `key` element declares the attribute `{id}`")), data)
        })?;
        // As in NetworkX, an empty element sets nothing.
        if let Some(text) = data.text().filter(|text| !text.trim().is_empty()) {
            found.insert(key.name, text);
        }
    }
    Ok(found)
}
