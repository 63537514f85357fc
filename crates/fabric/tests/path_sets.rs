//! Path sets against their definition: all simple paths of small graphs, sorted; and what must hold of
//! graphs too large for that.

use std::collections::BTreeSet;

use proptest::prelude::*;
use weft_fabric::path_set::{Graph, Order, Path};

/// A graph as a list, and two of its nodes.
#[derive(Clone, Debug)]
struct Case {
    nodes: usize,
    edges: Vec<(u32, u32)>,
    down: BTreeSet<u32>,
    from: u32,
    to: u32,
}

impl Case {
    fn graph(&self) -> Graph {
        let mut graph = Graph::new(self.nodes, &self.edges);
        self.down.iter().for_each(|&edge| graph.set_up(edge, false));
        graph
    }

    /// All simple paths, by trying every edge at every node.
    fn simple_paths(&self) -> Vec<Path> {
        fn extend(case: &Case, path: &mut Path, all: &mut Vec<Path>) {
            let last = path.nodes[path.nodes.len() - 1];
            if last == case.to {
                all.push(path.clone());
                return;
            }
            for (&(a, b), edge) in case.edges.iter().zip(0..) {
                let next = if a == last { b } else { a };
                if (a == last || b == last) && !path.nodes.contains(&next) && !case.down.contains(&edge) {
                    path.nodes.push(next);
                    path.edges.push(edge);
                    extend(case, path, all);
                    path.nodes.pop();
                    path.edges.pop();
                }
            }
        }
        let mut all = Vec::new();
        extend(self, &mut Path { nodes: vec![self.from], edges: Vec::new() }, &mut all);
        all
    }

    /// The definition of the orders, word for word.
    fn by_definition(&self, order: Order, count: usize) -> Vec<Path> {
        let mut left = self.simple_paths();
        let mut given: Vec<Path> = Vec::new();
        while given.len() < count {
            let shares = |path: &Path| -> usize {
                let with = match order {
                    Order::Paper => &given[..given.len().min(1)],
                    Order::Disjoint => &given[..],
                };
                with.iter()
                    .map(|other| path.edges.iter().filter(|edge| other.edges.contains(edge)).count())
                    .sum()
            };
            let key = |path: &Path| (shares(path), path.edges.len(), path.nodes.clone(), path.edges.clone());
            let Some(least) = (0..left.len()).min_by_key(|&index| key(&left[index])) else { break };
            given.push(left.swap_remove(least));
        }
        given
    }
}

/// Trees, sparse and dense graphs, in one part or several, with parallel edges and edges to themselves.
fn any_case() -> impl Strategy<Value = Case> {
    (1_usize..=7)
        .prop_flat_map(|nodes| {
            let node = 0..nodes as u32;
            let edges = proptest::collection::vec((node.clone(), node.clone()), 0..=13);
            let down = proptest::collection::btree_set(0_u32..13, 0..3);
            (Just(nodes), edges, down, node.clone(), node)
        })
        .prop_map(|(nodes, edges, down, from, to)| {
            let down = down.into_iter().filter(|&edge| (edge as usize) < edges.len()).collect();
            Case { nodes, edges, down, from, to }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn all_simple_paths_come_in_the_order_of_the_definition(case in any_case()) {
        let graph = case.graph();
        let paper: Vec<Path> = graph.path_set(case.from, case.to, Order::Paper).collect();
        prop_assert_eq!(paper, case.by_definition(Order::Paper, usize::MAX));
        // The definition of this one takes the square of the number of paths.
        let disjoint: Vec<Path> = graph.path_set(case.from, case.to, Order::Disjoint).take(150).collect();
        prop_assert_eq!(disjoint, case.by_definition(Order::Disjoint, 150));
    }
}
