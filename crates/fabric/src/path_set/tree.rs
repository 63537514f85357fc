//! [`Tree`]: the first of the cheapest ways from every node to the destination.

use super::graph::Graph;
use super::search::Search;

/// A node whose next step has not been computed yet.
const UNKNOWN: u32 = u32::MAX;

/// The next step of each node towards the destination, computed on first use.
pub(super) struct Tree {
    to: u32,
    search: Search,
    next: Vec<u32>,
}

impl Tree {
    /// Creates an empty tree in a graph with this many nodes.
    pub fn new(nodes: usize, to: u32) -> Self {
        Self { to, search: Search::new(nodes), next: vec![UNKNOWN; nodes] }
    }

    /// Recomputes the tree for new costs. No way leads through `from`, where all paths begin.
    pub fn grow(&mut self, graph: &Graph, cost: &[u64], from: u32) {
        self.search.run(graph, cost, self.to, &[from], None);
        self.next.fill(UNKNOWN);
    }

    /// The cost of the way from a node.
    #[inline]
    pub fn distance(&self, node: u32) -> u64 {
        self.search.distance(node)
    }

    /// Computes the steps from a reachable node.
    pub fn open(&mut self, graph: &Graph, cost: &[u64], from: u32) {
        let mut node = from;
        while node != self.to && self.next[node as usize] == UNKNOWN {
            let Some(place) = self.search.step_on(graph, cost, node) else { return };
            self.next[node as usize] = place;
            node = graph.step(place).to;
        }
    }

    /// The steps from a node that was [opened](Self::open).
    pub fn way<'a>(&'a self, graph: &'a Graph, from: u32) -> impl Iterator<Item = u32> + 'a {
        let next = |node: u32| (node != self.to).then(|| self.next[node as usize]);
        std::iter::successors(next(from), move |&place| next(graph.step(place).to))
    }
}
