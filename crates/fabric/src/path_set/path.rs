//! [`Path`]: the nodes and the edges from one node to another.

/// A simple path: no node occurs twice.
///
/// Paths compare by their nodes, then by their edges.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Path {
    /// The nodes, including both ends.
    pub nodes: Vec<u32>,
    /// The edges between them, one less.
    pub edges: Vec<u32>,
}

impl Path {
    /// Number of edges.
    pub fn hops(&self) -> usize {
        self.edges.len()
    }
}
