//! Maximum flow between two nodes (Dinic 1970), with integer capacities.

/// A capacity above any sum of rates.
pub(super) const UNLIMITED: u64 = u64::MAX / 4;

/// An arc; its reverse is its neighbour in the list (index with the lowest bit flipped).
#[derive(Clone, Copy)]
struct Arc {
    to: u32,
    capacity: u64,
}

/// A network of capacities.
#[derive(Clone)]
pub(super) struct Network {
    arcs: Vec<Arc>,
    of_node: Vec<Vec<u32>>,
}

impl Network {
    /// `nodes` nodes and no arcs.
    pub fn new(nodes: usize) -> Self {
        Self { arcs: Vec::new(), of_node: vec![Vec::new(); nodes] }
    }

    /// Connects two nodes with a capacity in each direction.
    pub fn join(&mut self, a: usize, b: usize, forth: u64, back: u64) {
        for (from, to, capacity) in [(a, b, forth), (b, a, back)] {
            self.of_node[from].push(self.arcs.len() as u32);
            self.arcs.push(Arc { to: to as u32, capacity });
        }
    }

    /// The maximum flow from `source` to `sink`; consumes the capacities.
    pub fn max_flow(&mut self, source: usize, sink: usize) -> u64 {
        let mut total: u64 = 0;
        loop {
            let level = self.levels(source);
            if source == sink || level[sink] == u32::MAX {
                return total;
            }
            let mut next = vec![0; self.of_node.len()];
            while let Some(pushed) = self.push(source, sink, &level, &mut next) {
                total = total.saturating_add(pushed);
            }
        }
    }

    /// Whether each node is reached from `source` over arcs with remaining capacity.
    pub fn reached(&self, source: usize) -> Vec<bool> {
        self.levels(source).into_iter().map(|level| level != u32::MAX).collect()
    }

    /// The distance in arcs with remaining capacity from `source` to each node.
    fn levels(&self, source: usize) -> Vec<u32> {
        let mut level = vec![u32::MAX; self.of_node.len()];
        level[source] = 0;
        let mut queue = vec![source];
        let mut done = 0;
        while let Some(&node) = queue.get(done) {
            done += 1;
            for &arc in &self.of_node[node] {
                let Arc { to, capacity } = self.arcs[arc as usize];
                if capacity > 0 && level[to as usize] == u32::MAX {
                    level[to as usize] = level[node] + 1;
                    queue.push(to as usize);
                }
            }
        }
        level
    }

    /// Sends as much as fits along one shortest path; `next` is the first arc of each node that is not
    /// exhausted.
    fn push(&mut self, source: usize, sink: usize, level: &[u32], next: &mut [usize]) -> Option<u64> {
        let mut path: Vec<u32> = Vec::new();
        let mut node = source;
        while node != sink {
            match self.of_node[node].get(next[node]) {
                Some(&arc) => {
                    let Arc { to, capacity } = self.arcs[arc as usize];
                    if capacity > 0 && level[to as usize] == level[node] + 1 {
                        path.push(arc);
                        node = to as usize;
                    } else {
                        next[node] += 1;
                    }
                }
                None => {
                    let back = path.pop()?;
                    node = self.arcs[back as usize ^ 1].to as usize;
                    next[node] += 1;
                }
            }
        }
        let fits = path.iter().map(|&arc| self.arcs[arc as usize].capacity).min()?;
        for arc in path {
            self.arcs[arc as usize].capacity -= fits;
            self.arcs[arc as usize ^ 1].capacity += fits;
        }
        Some(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::Network;

    #[test]
    fn the_flow_is_as_wide_as_the_narrowest_cut() {
        let mut network = Network::new(6);
        for (a, b, capacity) in [
            (0, 1, 16),
            (0, 2, 13),
            (1, 2, 10),
            (2, 1, 4),
            (1, 3, 12),
            (3, 2, 9),
            (2, 4, 14),
            (4, 3, 7),
            (3, 5, 20),
            (4, 5, 4),
        ] {
            network.join(a, b, capacity, 0);
        }
        assert_eq!(network.clone().max_flow(0, 5), 23);
        assert_eq!(network.clone().max_flow(5, 0), 0);
        assert_eq!(network.max_flow(0, 0), 0);
    }
}
