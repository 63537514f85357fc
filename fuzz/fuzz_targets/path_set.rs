//! Path sets of any graph between any ends: each simple path comes once, and in the required order.
//! Completeness is checked on graphs small enough to enumerate all paths.

#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use weft_fabric::path_set::{Graph, Order, Path};

/// Graphs with more edges have too many paths to enumerate.
const FEW: usize = 14;
/// Paths requested of larger graphs.
const MOST: usize = 40;

#[derive(Arbitrary, Debug)]
struct Input {
    nodes: u8,
    edges: Vec<(u8, u8)>,
    down: Vec<u8>,
    from: u8,
    to: u8,
    disjoint: bool,
}

/// The number of simple paths over the edges that are up.
fn count(graph: &Graph, edges: &[(u32, u32)], seen: &mut Vec<u32>, to: u32) -> usize {
    let last = seen[seen.len() - 1];
    if last == to {
        return 1;
    }
    let mut total = 0;
    for (&(a, b), edge) in edges.iter().zip(0..) {
        let next = if a == last { b } else { a };
        if graph.is_up(edge) && (a == last || b == last) && !seen.contains(&next) {
            seen.push(next);
            total += count(graph, edges, seen, to);
            seen.pop();
        }
    }
    total
}

fuzz_target!(|input: Input| {
    let nodes = usize::from(input.nodes);
    let number = |node: u8| u32::from(node) % u32::from(input.nodes.max(1));
    let edges: Vec<(u32, u32)> = match nodes {
        0 => Vec::new(),
        _ => input.edges.iter().map(|&(a, b)| (number(a), number(b))).collect(),
    };
    let mut graph = Graph::new(nodes, &edges);
    for &edge in &input.down {
        if usize::from(edge) < edges.len() {
            graph.set_up(u32::from(edge), false);
        }
    }
    let (from, to) = (u32::from(input.from), u32::from(input.to));
    let order = if input.disjoint { Order::Disjoint } else { Order::Paper };
    let few = edges.len() <= FEW;
    let paths: Vec<Path> = graph.path_set(from, to, order).take(if few { usize::MAX } else { MOST }).collect();
    if few && (from as usize) < nodes && (to as usize) < nodes {
        assert_eq!(paths.len(), count(&graph, &edges, &mut vec![from], to));
    }
    assert_eq!(paths.iter().collect::<HashSet<_>>().len(), paths.len(), "duplicate path");
    let mut shares = vec![0_usize; edges.len()];
    for (number, path) in paths.iter().enumerate() {
        assert_eq!((path.nodes[0], path.nodes[path.hops()]), (from, to));
        assert_eq!(path.nodes.iter().collect::<HashSet<_>>().len(), path.hops() + 1);
        for (&edge, ends) in path.edges.iter().zip(path.nodes.windows(2)) {
            let (a, b) = edges[edge as usize];
            assert!(graph.is_up(edge) && ([a, b] == ends || [b, a] == ends));
        }
        let key = |path: &Path| (path.edges.iter().map(|&edge| shares[edge as usize]).sum::<usize>(), path.hops());
        let later = paths[number..].iter().min_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.cmp(b)));
        assert_eq!(later, Some(path));
        if number == 0 || input.disjoint {
            path.edges.iter().for_each(|&edge| shares[edge as usize] += 1);
        }
    }
});
