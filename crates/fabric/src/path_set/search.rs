//! [`Search`]: the cost from every node to the destination, and the first of the cheapest ways.
//!
//! Dijkstra's algorithm from the destination. Nearly all edges cost [`HOP`], and nodes reached over those
//! come in order anyway: they wait in a queue, and only nodes reached over a shared edge wait in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::cost::{HOP, NEVER};
use super::graph::Graph;

/// The costs from all nodes to one.
pub(super) struct Search {
    /// Distance of each node; [`NEVER`] if it was not reached.
    distance: Vec<u64>,
    /// Nodes reached over an edge that is not shared, in order of distance.
    plain: Vec<u32>,
    /// Nodes reached over one that is.
    shared: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Search {
    /// Creates a search in a graph with this many nodes.
    pub fn new(nodes: usize) -> Self {
        Self { distance: vec![NEVER; nodes], plain: Vec::new(), shared: BinaryHeap::new() }
    }

    /// The cost from a node, [`NEVER`] if there is no way or none was found before the search ended.
    #[inline]
    pub fn distance(&self, node: u32) -> u64 {
        self.distance[node as usize]
    }

    /// Finds the ways to `to` that avoid `without`; ends as soon as `until`, if given, is reached.
    pub fn run(&mut self, graph: &Graph, cost: &[u64], to: u32, without: &[u32], until: Option<u32>) {
        self.distance.fill(NEVER);
        // No way is cheaper than this, so these nodes are never traversed.
        without.iter().for_each(|&node| self.distance[node as usize] = 0);
        self.spread(graph, cost, to, until);
        without.iter().for_each(|&node| self.distance[node as usize] = NEVER);
    }

    fn spread(&mut self, graph: &Graph, cost: &[u64], to: u32, until: Option<u32>) {
        self.plain.clear();
        self.shared.clear();
        self.distance[to as usize] = 0;
        self.plain.push(to);
        let mut done = 0;
        loop {
            let plain = self.plain.get(done).map(|&node| self.distance[node as usize]);
            let shared = self.shared.peek().map(|&Reverse((distance, _))| distance);
            let node = match (plain, shared) {
                (None, None) => return,
                (Some(plain), shared) if shared.is_none_or(|shared| plain <= shared) => {
                    done += 1;
                    self.plain[done - 1]
                }
                _ => match self.shared.pop() {
                    // Reached at lower cost since.
                    Some(Reverse((distance, node))) if distance > self.distance[node as usize] => continue,
                    Some(Reverse((_, node))) => node,
                    None => return,
                },
            };
            if until == Some(node) {
                return;
            }
            let here = self.distance[node as usize];
            for step in graph.steps_from(node) {
                let through = here + cost[step.edge as usize];
                let known = &mut self.distance[step.to as usize];
                if through < *known {
                    *known = through;
                    if cost[step.edge as usize] == HOP {
                        self.plain.push(step.to);
                    } else {
                        self.shared.push(Reverse((through, step.to)));
                    }
                }
            }
        }
    }

    /// The first step of the first of the cheapest ways from a reached node other than the destination. Each
    /// node on the way is nearer.
    #[inline]
    pub fn step_on(&self, graph: &Graph, cost: &[u64], from: u32) -> Option<u32> {
        let distance = self.distance[from as usize];
        let mut places = graph.steps_of(from);
        let least = places.find(|&place| {
            let step = graph.step(place as u32);
            cost[step.edge as usize] + self.distance[step.to as usize] == distance
        });
        least.map(|place| place as u32)
    }

    /// The steps of the first of the cheapest ways from a node to `to`; `None` if it was not reached.
    pub fn way(&self, graph: &Graph, cost: &[u64], from: u32, to: u32) -> Option<Vec<u32>> {
        let mut steps = Vec::new();
        let mut node = from;
        while node != to {
            if self.distance(node) >= NEVER {
                return None;
            }
            let place = self.step_on(graph, cost, node)?;
            steps.push(place);
            node = graph.step(place).to;
        }
        Some(steps)
    }
}
