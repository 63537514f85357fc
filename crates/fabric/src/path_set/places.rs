//! [`Places`]: maps nodes and edges of a graph to nodes and cables of a fabric.

use weft_units::{LinkId, NodeId};

use super::{Graph, Path};
use crate::Fabric;

/// The number of a node or edge that is not in the graph.
const NONE: u32 = u32::MAX;

/// Maps between the numbers of a [`Graph`] of switches and the ids of its fabric.
#[derive(Clone, Debug)]
pub struct Places {
    /// Fabric node of each graph node.
    switches: Vec<NodeId>,
    /// Graph node of each node of the fabric.
    nodes: Vec<u32>,
    /// For each edge, the link in the direction in which the cable was connected.
    links: Vec<LinkId>,
    /// Edge of each cable.
    edges: Vec<u32>,
}

impl Graph {
    /// The switches of a fabric and the cables between them, both numbered in the order of the fabric. An
    /// edge is up if both directions of its cable are.
    pub fn of_switches(fabric: &Fabric, up: impl Fn(LinkId) -> bool) -> (Self, Places) {
        let switches: Vec<NodeId> = fabric.switches().collect();
        let mut nodes = vec![NONE; fabric.nodes().len()];
        (0..).zip(&switches).for_each(|(number, switch)| nodes[switch.index()] = number);
        let (mut links, mut ends) = (Vec::new(), Vec::new());
        let mut edges = vec![NONE; fabric.cable_count()];
        for (cable, edge) in edges.iter_mut().enumerate() {
            let id = LinkId(2 * cable as u32);
            let link = fabric.link(id);
            let (a, b) = (nodes[link.from.index()], nodes[link.to.index()]);
            if a != NONE && b != NONE {
                *edge = links.len() as u32;
                links.push(id);
                ends.push((a, b));
            }
        }
        let mut graph = Self::new(switches.len(), &ends);
        for (edge, &link) in (0..).zip(&links) {
            graph.set_up(edge, up(link) && up(link.reverse()));
        }
        (graph, Places { switches, nodes, links, edges })
    }
}

impl Places {
    /// The switch of a node.
    ///
    /// # Panics
    /// If the graph has no such node.
    pub fn switch(&self, node: u32) -> NodeId {
        self.switches[node as usize]
    }

    /// The node of a switch; `None` for a host.
    pub fn node(&self, switch: NodeId) -> Option<u32> {
        self.nodes.get(switch.index()).copied().filter(|&node| node != NONE)
    }

    /// The link of an edge, in the direction in which the cable was connected.
    ///
    /// # Panics
    /// If the graph has no such edge.
    pub fn link(&self, edge: u32) -> LinkId {
        self.links[edge as usize]
    }

    /// The edge of a link in either direction; `None` for a host's link.
    pub fn edge(&self, link: LinkId) -> Option<u32> {
        self.edges.get(link.index() / 2).copied().filter(|&edge| edge != NONE)
    }

    /// The links of a path, in its direction.
    pub fn links(&self, fabric: &Fabric, path: &Path) -> Vec<LinkId> {
        let steps = path.edges.iter().zip(&path.nodes);
        let directed = steps.map(|(&edge, &from)| {
            let link = self.link(edge);
            if fabric.link(link).from == self.switch(from) { link } else { link.reverse() }
        });
        directed.collect()
    }
}
