//! [`Branch`]: the paths that leave a returned path at one of its nodes; and the order of two branches by
//! their least path.

use std::cmp::Ordering;
use std::iter;

use super::graph::{Graph, Step};
use super::path::Path;
use super::tree::Tree;

/// The paths that follow a returned path up to one of its nodes, the spur, and continue by an edge that no
/// returned path takes after the same beginning.
///
/// It stores a lower bound of its least path: the cost, and the first step after the spur.
pub(super) struct Branch {
    /// Index of the returned path.
    pub path: u32,
    /// Index of the spur on it.
    pub spur: u32,
    /// Cost of the path up to the spur.
    pub begun: u64,
    /// The edges taken from the spur, except that of the path itself.
    pub taken: Vec<u32>,
    /// Cost of the bound.
    pub cost: u64,
    /// The step from the spur, an index in the graph's list.
    pub first: u32,
    /// The steps after it.
    pub rest: Rest,
}

/// How a bound continues after its first step.
///
/// Until costs change, a branch only moves down this list, so the search for the least path terminates. Found
/// steps are kept only if they decide an order, since there may be as many branches as steps.
pub(super) enum Rest {
    /// Through the tree: the bound is a path if it does not meet its own beginning.
    Tree,
    /// Some way with the cost of the bound.
    Forgotten,
    /// Over these steps: the bound is the branch's least path.
    Found(Vec<u32>),
    /// No path remains.
    Empty,
}

impl Branch {
    /// The branch at a node of a path; without `begun` and bound.
    pub fn new(path: u32, spur: u32) -> Self {
        Self { path, spur, begun: 0, taken: Vec::new(), cost: 0, first: 0, rest: Rest::Tree }
    }

    /// The nodes from the start to the spur.
    pub fn beginning<'a>(&self, given: &'a [Path]) -> &'a [u32] {
        &given[self.path as usize].nodes[..=self.spur as usize]
    }

    /// The node that it leaves from.
    pub fn spur_node(&self, given: &[Path]) -> u32 {
        given[self.path as usize].nodes[self.spur as usize]
    }

    /// The edges from the spur that are taken.
    pub fn all_taken<'a>(&'a self, given: &'a [Path]) -> impl Iterator<Item = u32> + 'a {
        iter::once(given[self.path as usize].edges[self.spur as usize]).chain(self.taken.iter().copied())
    }
}

/// The data that determine the order of two branches.
pub(super) struct View<'a> {
    pub graph: &'a Graph,
    pub tree: &'a Tree,
    pub given: &'a [Path],
    pub branches: &'a [Branch],
}

impl View<'_> {
    /// Whether the bound of one branch comes before that of another. If only the beginning of a bound is
    /// known, it comes before all with the same beginning.
    pub fn before(&self, a: u32, b: u32) -> bool {
        let (a, b) = (&self.branches[a as usize], &self.branches[b as usize]);
        let order = a.cost.cmp(&b.cost).then_with(|| {
            let common = if a.path == b.path { a.spur.min(b.spur) as usize } else { 0 };
            let (a, b) = (|| self.steps_after(a, common), || self.steps_after(b, common));
            let nodes = a().map(|step| step.to).cmp(b().map(|step| step.to));
            nodes.then_with(|| a().map(|step| step.edge).cmp(b().map(|step| step.edge)))
        });
        order == Ordering::Less
    }

    /// The steps of a bound from the spur on, as far as they are known.
    pub fn ahead(&self, branch: &Branch) -> impl Iterator<Item = Step> {
        let first = self.graph.step(branch.first);
        let through_tree = matches!(branch.rest, Rest::Tree).then(|| self.tree.way(self.graph, first.to));
        let found = if let Rest::Found(steps) = &branch.rest { steps.as_slice() } else { &[] };
        let rest = through_tree.into_iter().flatten().chain(found.iter().copied());
        iter::once(first).chain(rest.map(|place| self.graph.step(place)))
    }

    /// The steps of a bound from its start on, without the first `skipped`, at most up to the spur.
    fn steps_after(&self, branch: &Branch, skipped: usize) -> impl Iterator<Item = Step> {
        let Path { nodes, edges } = &self.given[branch.path as usize];
        let begun = skipped..branch.spur as usize;
        let begun = edges[begun.clone()].iter().zip(&nodes[begun.start + 1..]);
        begun.map(|(&edge, &to)| Step { to, edge }).chain(self.ahead(branch))
    }

    /// The path that a bound is.
    pub fn path(&self, branch: &Branch) -> Path {
        let edges = &self.given[branch.path as usize].edges[..branch.spur as usize];
        let mut path = Path { nodes: branch.beginning(self.given).to_vec(), edges: edges.to_vec() };
        for step in self.ahead(branch) {
            path.nodes.push(step.to);
            path.edges.push(step.edge);
        }
        path
    }
}
