//! [`PathSets`]: the paths between two edge switches in the order in which subflows are assigned to them, cached
//! until the topology changes.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use weft_fabric::path_set::{Graph, Order};

use crate::paths::Paths;
use crate::slab::NONE;
use crate::topology::Topology;

/// Maximum number of cached switch pairs.
const MAX_PAIRS: usize = 1 << 14;

/// The graph of all known switches, connected or not, in datapath id order, and of their links, in datapath id and
/// port order: ties between paths are broken by the network itself, not by connection order.
#[derive(Clone, Debug)]
struct View {
    graph: Graph,
    /// The node of each switch of the topology.
    nodes: Vec<u32>,
    /// The switch of each node.
    switches: Vec<u32>,
    /// The link of each edge.
    cables: Vec<u32>,
}

impl View {
    fn of(topology: &Topology) -> Self {
        let switches = topology.known();
        let mut nodes = vec![NONE; topology.switches.len()];
        (0..).zip(&switches).for_each(|(node, &switch)| nodes[switch as usize] = node);
        let switch_of = |port: u32| topology.ports[port as usize].switch;
        let mut cables: Vec<(u32, [u32; 2])> =
            topology.cables().map(|(number, cable)| (number, cable.ends)).collect();
        cables.sort_unstable_by_key(|(_, ends)| ends.map(|port| topology.place(port)));
        let edges: Vec<(u32, u32)> = cables
            .iter()
            .map(|(_, [a, b])| (nodes[switch_of(*a) as usize], nodes[switch_of(*b) as usize]))
            .collect();
        let graph = Graph::new(switches.len(), &edges);
        Self { graph, nodes, switches, cables: cables.into_iter().map(|(number, _)| number).collect() }
    }
}

/// Path sets by source and destination switch.
#[derive(Clone, Debug)]
pub(crate) struct PathSets {
    order: Order,
    count: usize,
    view: Option<View>,
    cache: FxHashMap<(u32, u32), Arc<[u32]>>,
}

impl PathSets {
    /// Sets of `count` paths.
    pub fn new(order: Order, count: usize) -> Self {
        Self { order, count, view: None, cache: FxHashMap::default() }
    }

    /// The paths from one switch to another by number, the shortest first; empty if none exists.
    pub fn get(&mut self, from: u32, to: u32, topology: &Topology, paths: &mut Paths) -> Arc<[u32]> {
        if let Some(set) = self.cache.get(&(from, to)) {
            return Arc::clone(set);
        }
        if self.cache.len() == MAX_PAIRS {
            self.drop_sets(paths);
        }
        let view = self.view.get_or_insert_with(|| View::of(topology));
        let node = |switch: u32| view.nodes.get(switch as usize).copied().unwrap_or(NONE);
        let found = view.graph.path_set(node(from), node(to), self.order).take(self.count);
        let set: Arc<[u32]> = found
            .map(|path| {
                let switches: Vec<u32> =
                    path.nodes.iter().map(|&node| view.switches[node as usize]).collect();
                let cables: Vec<u32> = path.edges.iter().map(|&edge| view.cables[edge as usize]).collect();
                paths.intern(&switches, &cables)
            })
            .collect();
        for &path in set.iter() {
            paths.set_cached(path, true);
        }
        self.cache.insert((from, to), Arc::clone(&set));
        set
    }

    /// Drops everything after a topology change.
    pub fn clear(&mut self, paths: &mut Paths) {
        self.drop_sets(paths);
        self.view = None;
    }

    /// Memory of the cache in bytes.
    pub fn bytes(&self) -> usize {
        self.cache.capacity() * 24 + self.cache.values().map(|set| 16 + 4 * set.len()).sum::<usize>()
    }

    fn drop_sets(&mut self, paths: &mut Paths) {
        for (_, set) in self.cache.drain() {
            for &path in set.iter() {
                if paths.slab.get(path).is_some_and(|path| path.cached) {
                    paths.set_cached(path, false);
                }
            }
        }
    }
}
