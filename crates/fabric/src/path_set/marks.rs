//! [`Marks`]: a set of nodes that is cleared in constant time.

/// A set of nodes.
pub(super) struct Marks {
    /// The round in which each node was added.
    rounds: Vec<u32>,
    round: u32,
}

impl Marks {
    /// An empty set of up to `nodes` nodes.
    pub fn new(nodes: usize) -> Self {
        Self { rounds: vec![0; nodes], round: 1 }
    }

    /// Removes all nodes.
    pub fn clear(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.rounds.fill(0);
            self.round = 1;
        }
    }

    /// Adds a node.
    #[inline]
    pub fn set(&mut self, node: u32) {
        self.rounds[node as usize] = self.round;
    }

    /// Whether a node is in the set.
    #[inline]
    pub fn has(&self, node: u32) -> bool {
        self.rounds[node as usize] == self.round
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_marked_after_a_clear_even_when_rounds_begin_anew() {
        let mut marks = Marks::new(2);
        marks.set(1);
        assert!(marks.has(1) && !marks.has(0));
        marks.round = u32::MAX;
        marks.set(0);
        marks.clear();
        assert!(!marks.has(0) && !marks.has(1));
        marks.set(1);
        assert!(marks.has(1) && !marks.has(0));
    }
}
