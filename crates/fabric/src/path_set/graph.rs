//! [`Graph`]: nodes and undirected edges by number, with the edges of each node side by side.

use std::ops::Range;

use super::{Order, PathSet};

/// An edge as one of its ends sees it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Step {
    /// The other end.
    pub to: u32,
    /// The edge.
    pub edge: u32,
}

/// An undirected graph. Parallel edges are edges of their own; an edge from a node to itself is on no
/// path.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Where in `steps` those of a node start; one more entry than nodes.
    first: Vec<u32>,
    /// Of each node the edges that leave it, by the other end, then by number: of several that cost the
    /// same the first is the one that the order wants.
    steps: Vec<Step>,
    up: Vec<bool>,
}

impl Graph {
    /// `nodes` nodes, and an edge for each pair of them; all edges are up.
    ///
    /// # Panics
    /// If a pair names a node that there is not, or there are 2^31 edges or more.
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

    /// How many nodes.
    pub fn node_count(&self) -> usize {
        self.first.len() - 1
    }

    /// How many edges, up or not.
    pub fn edge_count(&self) -> usize {
        self.up.len()
    }

    /// Whether paths may use an edge.
    pub fn is_up(&self, edge: u32) -> bool {
        self.up[edge as usize]
    }

    /// Lets paths use an edge, or not any more.
    ///
    /// # Panics
    /// If there is no such edge.
    pub fn set_up(&mut self, edge: u32, up: bool) {
        self.up[edge as usize] = up;
    }

    /// The simple paths from one node to another, in `order`: none where no path joins them or there is
    /// no such node, and the one path without edges where both are the same.
    pub fn path_set(&self, from: u32, to: u32, order: Order) -> PathSet<'_> {
        PathSet::new(self, from, to, order)
    }

    /// The places in the list of steps of those that leave a node.
    #[inline]
    pub(super) fn steps_of(&self, node: u32) -> Range<usize> {
        self.first[node as usize] as usize..self.first[node as usize + 1] as usize
    }

    /// Those steps.
    #[inline]
    pub(super) fn steps_from(&self, node: u32) -> &[Step] {
        &self.steps[self.steps_of(node)]
    }

    /// The step at a place of the list.
    #[inline]
    pub(super) fn step(&self, place: u32) -> Step {
        self.steps[place as usize]
    }

    /// Which edges are up.
    pub(super) fn ups(&self) -> &[bool] {
        &self.up
    }
}
