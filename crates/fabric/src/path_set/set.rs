//! [`PathSet`]: the iterator over the paths from one node to another.

use std::iter::FusedIterator;
use std::mem;
use std::ops::Range;

use super::branch::{Branch, Rest, View};
use super::cost::{HOP, NEVER, SHARED};
use super::graph::Graph;
use super::heap::Heap;
use super::marks::Marks;
use super::order::Order;
use super::path::Path;
use super::search::Search;
use super::tree::Tree;

/// The data that determine the order of branches, without the heap and the marks.
macro_rules! view {
    ($set:ident) => {
        View { graph: $set.graph, tree: &$set.tree, given: &$set.given, branches: &$set.branches }
    };
}

/// The simple paths from one node to another, the best first, each found on demand.
///
/// It stores the returned paths and at most as many branches as these have edges; the memory of a branch does
/// not depend on the length of its paths.
pub struct PathSet<'g> {
    graph: &'g Graph,
    from: u32,
    to: u32,
    order: Order,
    /// The cost of each edge.
    cost: Vec<u64>,
    tree: Tree,
    search: Search,
    given: Vec<Path>,
    /// Whether the last path was returned without dividing the rest.
    fresh: bool,
    /// The branch of the last path; `None` for the first path.
    came_from: Option<u32>,
    branches: Vec<Branch>,
    /// The branches with a path, the least bound first.
    heap: Heap,
    marks: Marks,
    /// Edges that temporarily cost [`NEVER`], and their regular cost.
    forbidden: Vec<(u32, u64)>,
}

impl<'g> PathSet<'g> {
    pub(super) fn new(graph: &'g Graph, from: u32, to: u32, order: Order) -> Self {
        let nodes = graph.node_count();
        Self {
            graph,
            from,
            to,
            order,
            cost: graph.ups().iter().map(|&up| if up { HOP } else { NEVER }).collect(),
            tree: Tree::new(nodes, to),
            search: Search::new(nodes),
            given: Vec::new(),
            fresh: false,
            came_from: None,
            branches: Vec::new(),
            heap: Heap::default(),
            marks: Marks::new(nodes),
            forbidden: Vec::new(),
        }
    }

    /// The shortest path.
    fn shortest(&mut self) -> Option<Path> {
        let nodes = self.graph.node_count();
        if self.from as usize >= nodes || self.to as usize >= nodes {
            return None;
        }
        self.search.run(self.graph, &self.cost, self.to, &[], Some(self.from));
        let steps = self.search.way(self.graph, &self.cost, self.from, self.to)?;
        let steps = steps.into_iter().map(|place| self.graph.step(place));
        let mut path = Path { nodes: vec![self.from], edges: Vec::new() };
        for step in steps {
            path.nodes.push(step.to);
            path.edges.push(step.edge);
        }
        Some(path)
    }

    /// Divides the remaining paths again, without the one returned last.
    fn branch(&mut self) {
        let last = self.given.len() - 1;
        let old = self.branches.len();
        let mut spurs = 0..self.given[last].edges.len() as u32;
        if let Some(index) = self.came_from {
            let branch = &mut self.branches[index as usize];
            branch.taken.push(self.given[last].edges[branch.spur as usize]);
            spurs.start = branch.spur + 1;
        }
        self.branches.extend(spurs.map(|spur| Branch::new(last as u32, spur)));
        if last == 0 || self.order == Order::Disjoint {
            self.given[last].edges.iter().for_each(|&edge| self.cost[edge as usize] += SHARED);
            self.tree.grow(self.graph, &self.cost, self.from);
            self.heap.clear();
            self.bound(0..self.branches.len());
        } else {
            if let Some(index) = self.came_from {
                self.bound(index as usize..index as usize + 1);
            }
            self.bound(old..self.branches.len());
        }
    }

    /// Computes the bounds of branches and adds those that may have a path to the heap.
    fn bound(&mut self, range: Range<usize>) {
        let mut path = None;
        let (mut spur, mut begun) = (0, 0);
        for index in range {
            let branch = &self.branches[index];
            if matches!(branch.rest, Rest::Empty) {
                continue;
            }
            let Path { nodes, edges } = &self.given[branch.path as usize];
            if path != Some(branch.path) {
                path = Some(branch.path);
                (spur, begun) = (0, 0);
                self.marks.clear();
                self.marks.set(nodes[0]);
            }
            while spur < branch.spur as usize {
                begun += self.cost[edges[spur] as usize];
                spur += 1;
                self.marks.set(nodes[spur]);
            }
            let node = nodes[spur];
            self.forbid_taken(index);
            let mut least = (NEVER, 0);
            for place in self.graph.steps_of(node) {
                let step = self.graph.step(place as u32);
                let cost = self.cost[step.edge as usize] + self.tree.distance(step.to);
                if cost < least.0 && !self.marks.has(step.to) {
                    least = (cost, place as u32);
                }
            }
            self.allow();
            let branch = &mut self.branches[index];
            if least.0 >= NEVER {
                branch.rest = Rest::Empty;
                continue;
            }
            branch.begun = begun;
            branch.cost = begun + least.0;
            branch.first = least.1;
            branch.rest = Rest::Tree;
            self.tree.open(self.graph, &self.cost, self.graph.step(least.1).to);
            self.push(index as u32);
        }
    }

    /// Removes the branch with the least path from the heap; its bound is that path.
    fn least(&mut self) -> Option<u32> {
        loop {
            let view = view!(self);
            let index = self.heap.pop(|a, b| view.before(a, b))?;
            let through_tree = matches!(self.branches[index as usize].rest, Rest::Tree);
            let found = matches!(self.branches[index as usize].rest, Rest::Found(_));
            if found || through_tree && self.is_simple(index) {
                return Some(index);
            }
            if !self.detour(index) {
                self.branches[index as usize].rest = Rest::Empty;
                continue;
            }
            let view = view!(self);
            if self.heap.first().is_none_or(|first| view.before(index, first)) {
                return Some(index);
            }
            if through_tree {
                self.branches[index as usize].rest = Rest::Forgotten;
            }
            self.push(index);
        }
    }

    /// Whether the way through the tree avoids the beginning that it continues.
    fn is_simple(&mut self, index: u32) -> bool {
        let branch = &self.branches[index as usize];
        self.marks.clear();
        branch.beginning(&self.given).iter().for_each(|&node| self.marks.set(node));
        let view = view!(self);
        view.ahead(branch).all(|step| !self.marks.has(step.to))
    }

    /// Finds the least path of a branch in the graph without its beginning; `false` if there is none.
    fn detour(&mut self, index: u32) -> bool {
        self.forbid_taken(index as usize);
        let branch = &mut self.branches[index as usize];
        let node = branch.spur_node(&self.given);
        let without = &branch.beginning(&self.given)[..branch.spur as usize];
        self.search.run(self.graph, &self.cost, self.to, without, Some(node));
        let steps = self.search.way(self.graph, &self.cost, node, self.to);
        let found = steps.is_some_and(|steps| {
            branch.cost = branch.begun + self.search.distance(node);
            branch.first = steps[0];
            branch.rest = Rest::Found(steps[1..].to_vec());
            true
        });
        self.allow();
        found
    }

    fn push(&mut self, index: u32) {
        let view = view!(self);
        self.heap.push(index, |a, b| view.before(a, b));
    }

    /// Forbids the edges that a branch must not take from its spur.
    fn forbid_taken(&mut self, index: usize) {
        for edge in self.branches[index].all_taken(&self.given) {
            let cost = mem::replace(&mut self.cost[edge as usize], NEVER);
            self.forbidden.push((edge, cost));
        }
    }

    /// Allows them again.
    fn allow(&mut self) {
        for (edge, cost) in self.forbidden.drain(..) {
            self.cost[edge as usize] = cost;
        }
    }
}

impl Iterator for PathSet<'_> {
    type Item = Path;

    fn next(&mut self) -> Option<Path> {
        let path = if self.given.is_empty() {
            self.shortest()?
        } else {
            if mem::take(&mut self.fresh) {
                self.branch();
            }
            let index = self.least()?;
            self.came_from = Some(index);
            view!(self).path(&self.branches[index as usize])
        };
        self.fresh = true;
        self.given.push(path.clone());
        Some(path)
    }
}

impl FusedIterator for PathSet<'_> {}

impl Graph {
    /// The simple paths from one node to another, in `order`: none if there is no path or no such node, and
    /// one path without edges if both are the same.
    pub fn path_set(&self, from: u32, to: u32, order: Order) -> PathSet<'_> {
        PathSet::new(self, from, to, order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ladder with this many rungs: the graph, and its ends on one side.
    fn ladder(rungs: u32) -> (Graph, u32, u32) {
        let sides = (1..rungs).flat_map(|rung| [(rung - 1, rung), (rungs + rung - 1, rungs + rung)]);
        let edges: Vec<(u32, u32)> = sides.chain((0..rungs).map(|rung| (rung, rungs + rung))).collect();
        (Graph::new(2 * rungs as usize, &edges), 0, rungs - 1)
    }

    #[test]
    fn memory_follows_the_edges_of_the_paths_given_however_many_paths_there_are() {
        // Hundreds of branches have equally good paths, each with hundreds of edges.
        let (graph, from, to) = ladder(300);
        for order in Order::ALL {
            let mut set = graph.path_set(from, to, order);
            for count in 1..=12 {
                assert!(set.next().is_some());
                let edges: usize = set.given.iter().map(Path::hops).sum();
                assert!(set.branches.len() <= edges, "{order}, {count} paths");
                let kept = set.branches.iter().map(|branch| match &branch.rest {
                    Rest::Found(steps) => steps.len(),
                    _ => branch.taken.len(),
                });
                assert!(kept.sum::<usize>() <= edges, "{order}, {count} paths");
            }
        }
    }
}
