//! NetworkX's node-link JSON.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::read::attributes::LinkAttributes;
use crate::{Fabric, Role};

#[derive(Serialize)]
struct File<'a> {
    directed: bool,
    multigraph: bool,
    graph: Graph<'a>,
    nodes: Vec<Node<'a>>,
    edges: Vec<Edge<'a>>,
}

#[derive(Serialize)]
struct Graph<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct Node<'a> {
    id: &'a str,
    role: Role,
    tier: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    pod: Option<u32>,
}

#[derive(Serialize)]
struct Edge<'a> {
    source: &'a str,
    target: &'a str,
    /// Distinguishes parallel edges in a multigraph.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<usize>,
    #[serde(flatten)]
    attributes: LinkAttributes,
    #[serde(skip_serializing_if = "is_up")]
    up: bool,
}

fn is_up(up: &bool) -> bool {
    *up
}

/// The fabric for `networkx.node_link_graph`: undirected if both directions of every cable are equal, else
/// directed with two edges per cable; a multigraph if two nodes have several cables.
pub fn node_link(fabric: &Fabric) -> String {
    let name = |id| fabric.node(id).name.as_str();
    let directed = fabric.links().chunks(2).any(|cable| cable[0].spec() != cable[1].spec());
    let mut joined = BTreeSet::new();
    let multigraph = !fabric.links().iter().all(|link| joined.insert((link.from, link.to)));
    let links = fabric.links().iter().enumerate().filter(|(index, _)| directed || index % 2 == 0);
    let file = File {
        directed,
        multigraph,
        graph: Graph { name: fabric.name() },
        nodes: fabric
            .nodes()
            .iter()
            .map(|node| Node { id: &node.name, role: node.role, tier: node.tier, pod: node.pod })
            .collect(),
        edges: links
            .map(|(index, link)| Edge {
                source: name(link.from),
                target: name(link.to),
                key: multigraph.then_some(index / 2),
                attributes: LinkAttributes::whole(&link.spec()),
                up: link.up,
            })
            .collect(),
    };
    let text = serde_json::to_string_pretty(&file);
    text.expect("text, numbers and lists of these always have a JSON form")
}
