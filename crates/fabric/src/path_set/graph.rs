//! [`Graph`]: nodes and undirected edges by number, with the edges of each node side by side.

use std::ops::Range;

/// An edge, from one of its ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Step {
    /// The other end.
    pub to: u32,
    /// The edge.
    pub edge: u32,
}

/// An undirected graph. Parallel edges are separate; a self-loop is on no path.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Start of each node's steps in `steps`; one more entry than nodes.
    first: Vec<u32>,
    /// The edges that leave each node, by the other end, then by number: the first of equal cost is first in
    /// the order.
    steps: Vec<Step>,
    up: Vec<bool>,
}

impl Graph {
    /// `nodes` nodes, and an edge for each pair of them; all edges are up.
    ///
    /// # Panics
    /// If a pair names a node that does not exist, or there are 2^31 edges or more.
    pub fn new(nodes: usize, edges: &[(u32, u32)]) -> Self {
        assert!(edges.len() < 1 << 31, "{} edges are more than can be numbered", edges.len());
        let mut first = vec![0_u32; nodes + 1];
        let ends = || edges.iter().zip(0..).filter(|((a, b), _)| a != b);
        for (&(a, b), edge) in ends() {
            assert!(
                (a.max(b) as usize) < nodes,
                "edge {edge} joins {a} and {b}, and there are {nodes} nodes"
            );
            first[a as usize + 1] += 1;
            first[b as usize + 1] += 1;
        }
        for node in 0..nodes {
            first[node + 1] += first[node];
        }
        let mut steps = vec![Step { to: 0, edge: 0 }; first[nodes] as usize];
        let mut free = first.clone();
        for (&(a, b), edge) in ends() {
            for (from, to) in [(a, b), (b, a)] {
                steps[free[from as usize] as usize] = Step { to, edge };
                free[from as usize] += 1;
            }
        }
        for node in 0..nodes {
            steps[first[node] as usize..first[node + 1] as usize].sort_unstable();
        }
        Self { first, steps, up: vec![true; edges.len()] }
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.first.len() - 1
    }

    /// Number of edges, up or down.
    pub fn edge_count(&self) -> usize {
        self.up.len()
    }

    /// Whether paths may use an edge.
    pub fn is_up(&self, edge: u32) -> bool {
        self.up[edge as usize]
    }

    /// Sets whether paths may use an edge.
    ///
    /// # Panics
    /// If there is no such edge.
    pub fn set_up(&mut self, edge: u32, up: bool) {
        self.up[edge as usize] = up;
    }

    /// The indices of the steps that leave a node.
    #[inline]
    pub(super) fn steps_of(&self, node: u32) -> Range<usize> {
        self.first[node as usize] as usize..self.first[node as usize + 1] as usize
    }

    /// The steps that leave a node.
    #[inline]
    pub(super) fn steps_from(&self, node: u32) -> &[Step] {
        &self.steps[self.steps_of(node)]
    }

    /// The step at an index of the list.
    #[inline]
    pub(super) fn step(&self, place: u32) -> Step {
        self.steps[place as usize]
    }

    /// Whether each edge is up.
    pub(super) fn ups(&self) -> &[bool] {
        &self.up
    }
}
