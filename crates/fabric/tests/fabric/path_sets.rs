//! Path sets compared with their definition, all simple paths of small graphs, sorted; and invariants on graphs
//! too large for that.

use std::collections::BTreeSet;

use proptest::prelude::*;
use weft_fabric::path_set::{Graph, Order, Path};
use weft_fabric::{LinkSpec, build};

/// A graph as an edge list, and two of its nodes.
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

    /// The literal definition of the orders.
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

/// Trees, sparse and dense graphs, connected or not, with parallel edges and self-loops.
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
        // The definition of this order is quadratic in the number of paths.
        let disjoint: Vec<Path> = graph.path_set(case.from, case.to, Order::Disjoint).take(150).collect();
        prop_assert_eq!(disjoint, case.by_definition(Order::Disjoint, 150));
    }
}

/// Graphs with too many simple paths to list.
fn large_case() -> impl Strategy<Value = Case> {
    (20_usize..=60)
        .prop_flat_map(|nodes| {
            let node = 0..nodes as u32;
            let edges = proptest::collection::vec((node.clone(), node.clone()), nodes..=3 * nodes);
            (Just(nodes), edges, node.clone(), node)
        })
        .prop_map(|(nodes, edges, from, to)| Case { nodes, edges, down: BTreeSet::new(), from, to })
}

/// The sort key of a path.
fn key<'a>(path: &'a Path, shares: &[usize]) -> (usize, usize, &'a Path) {
    (path.edges.iter().map(|&edge| shares[edge as usize]).sum(), path.hops(), path)
}

proptest! {
    #[test]
    fn of_a_large_graph_every_path_is_one_and_comes_after_the_one_before(
        case in large_case(),
        disjoint in any::<bool>(),
    ) {
        let order = if disjoint { Order::Disjoint } else { Order::Paper };
        let paths: Vec<Path> = case.graph().path_set(case.from, case.to, order).take(60).collect();
        let mut shares = vec![0; case.edges.len()];
        let mut seen = BTreeSet::new();
        for (number, path) in paths.iter().enumerate() {
            let ends = (path.nodes.first(), path.nodes.last());
            prop_assert_eq!(ends, (Some(&case.from), Some(&case.to)));
            prop_assert_eq!(path.nodes.iter().collect::<BTreeSet<_>>().len(), path.nodes.len());
            prop_assert_eq!(path.edges.len() + 1, path.nodes.len());
            for (&edge, ends) in path.edges.iter().zip(path.nodes.windows(2)) {
                let (a, b) = case.edges[edge as usize];
                prop_assert!([a, b] == ends || [b, a] == ends);
            }
            prop_assert!(seen.insert(path), "{path:?} twice");
            if number == 0 || disjoint {
                // No later path would have been better in this position.
                let later = paths[number..].iter().min_by_key(|later| key(later, &shares));
                prop_assert_eq!(later, Some(path));
                path.edges.iter().for_each(|&edge| shares[edge as usize] += 1);
            } else if number > 1 {
                prop_assert!(key(&paths[number - 1], &shares) < key(path, &shares));
            }
        }
    }
}

fn listed(graph: &Graph, from: u32, to: u32, order: Order) -> Vec<(Vec<u32>, Vec<u32>)> {
    graph.path_set(from, to, order).map(|path| (path.nodes, path.edges)).collect()
}

#[test]
fn small_cases_are_as_one_would_expect() {
    for order in Order::ALL {
        let set = |nodes, edges: &[(u32, u32)], from, to| listed(&Graph::new(nodes, edges), from, to, order);
        assert_eq!(set(1, &[], 0, 0), [(vec![0], vec![])], "from a node to itself leads the path of no edge");
        assert_eq!(set(2, &[(0, 1), (1, 1)], 1, 1), [(vec![1], vec![])]);
        assert_eq!(set(3, &[(0, 1)], 0, 2), [], "no path");
        assert_eq!(set(2, &[(0, 1)], 0, 2), [], "no such end");
        assert_eq!(set(2, &[(0, 1)], 2, 0), [], "no such start");
        assert_eq!(set(0, &[], 0, 0), [], "no node at all");
        let parallel: Vec<_> = (0..3).map(|edge| (vec![1, 0], vec![edge])).collect();
        assert_eq!(set(2, &[(0, 1), (1, 0), (0, 1)], 1, 0), parallel, "parallel edges are paths by number");
    }
}

#[test]
fn an_edge_that_is_down_is_on_no_path_until_it_is_up_again() {
    let mut graph = Graph::new(3, &[(0, 2), (0, 1), (1, 2)]);
    let both = [(vec![0, 2], vec![0]), (vec![0, 1, 2], vec![1, 2])];
    assert_eq!(listed(&graph, 0, 2, Order::Paper), both);
    graph.set_up(0, false);
    assert!(!graph.is_up(0) && graph.is_up(1));
    assert_eq!(listed(&graph, 0, 2, Order::Paper), both[1..]);
    graph.set_up(1, false);
    assert_eq!(listed(&graph, 0, 2, Order::Paper), []);
    [0, 1].into_iter().for_each(|edge| graph.set_up(edge, true));
    assert_eq!(listed(&graph, 0, 2, Order::Paper), both);
}

#[test]
fn a_set_that_has_ended_stays_so() {
    let graph = Graph::new(3, &[(0, 1), (1, 2), (0, 2)]);
    for (to, count) in [(2, 2), (0, 1)] {
        let mut set = graph.path_set(0, to, Order::Paper);
        assert_eq!(set.by_ref().count(), count);
        assert!((0..3).all(|_| set.next().is_none()));
    }
}

#[test]
#[should_panic(expected = "edge 1 joins 1 and 2, and there are 2 nodes")]
fn an_edge_to_a_node_that_there_is_not_is_refused() {
    Graph::new(2, &[(0, 1), (1, 2)]);
}

#[test]
fn the_graph_of_a_fat_trees_switches_knows_its_places() {
    let spec = LinkSpec::default();
    let fabric = build::fat_tree(4, &spec, &spec).unwrap();
    let failed = fabric.link_named("a1-e0").unwrap();
    let (graph, places) = Graph::of_switches(&fabric, |link| link != failed);
    assert_eq!((graph.node_count(), graph.edge_count()), (20, 32));
    assert!((0..32).all(|edge| graph.is_up(edge) == (Some(edge) != places.edge(failed))));
    assert_eq!(places.edge(failed), places.edge(failed.reverse()));
    assert_eq!(places.node(fabric.hosts()[0]), None);
    assert_eq!(places.edge(fabric.link_named("h0-e0").unwrap()), None);
    let end = |name: &str| places.node(fabric.find(name).unwrap()).unwrap();
    assert!((0..20).all(|node| places.node(places.switch(node)) == Some(node)));
    let labels = |path: Path| -> Vec<String> {
        places.links(&fabric, &path).into_iter().map(|link| fabric.link_label(link)).collect()
    };
    let mut set = graph.path_set(end("e0"), end("e7"), Order::Paper).map(labels);
    assert_eq!(set.next().unwrap(), ["e0->a0", "a0->c0", "c0->a6", "a6->e7"]);
    // All paths begin with the only remaining cable of e0; this one shares no other with the first.
    let second = ["e0->a0", "a0->e1", "e1->a1", "a1->c2", "c2->a7", "a7->e7"];
    assert_eq!(set.next().unwrap(), second);
}
