//! [`Order`]: which operations of a rank start before which, by their requirements.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The operations of a rank, by their index in the file, and what each requires.
#[derive(Default)]
pub struct Order {
    /// What each operation requires: other operations, and whether only their start.
    requires: Vec<Vec<(usize, bool)>>,
    /// Whether an operation requires one that is described after it.
    is_mixed: bool,
}

impl Order {
    /// Adds an operation; returns its index.
    pub fn add(&mut self) -> usize {
        self.requires.push(Vec::new());
        self.requires.len() - 1
    }

    /// Lets an operation require another, or only its start.
    pub fn require(&mut self, waiting: usize, on: usize, is_start: bool) {
        self.requires[waiting].push((on, is_start));
        self.is_mixed |= on > waiting;
    }

    /// The operations, each after those that it requires, else as in the file. Operations of a circle are left out.
    fn sorted(&self) -> Vec<usize> {
        let count = self.requires.len();
        if !self.is_mixed {
            return (0..count).collect();
        }
        let mut waiting = vec![Vec::new(); count];
        let mut open: Vec<usize> = self.requires.iter().map(Vec::len).collect();
        for (operation, requires) in self.requires.iter().enumerate() {
            requires.iter().for_each(|(on, _)| waiting[*on].push(operation));
        }
        let free = (0..count).filter(|operation| open[*operation] == 0);
        let mut free: BinaryHeap<_> = free.map(Reverse).collect();
        let mut sorted = Vec::with_capacity(count);
        while let Some(Reverse(operation)) = free.pop() {
            sorted.push(operation);
            for next in std::mem::take(&mut waiting[operation]) {
                open[next] -= 1;
                if open[next] == 0 {
                    free.push(Reverse(next));
                }
            }
        }
        sorted
    }

    /// The place of each operation among all: after those that it requires, else as in the file; `None` if that is the
    /// order of the file.
    pub fn places(&self) -> Option<Vec<usize>> {
        if !self.is_mixed {
            return None;
        }
        let mut places = vec![usize::MAX; self.requires.len()];
        for (place, operation) in self.sorted().into_iter().enumerate() {
            places[operation] = place;
        }
        Some(places)
    }

    /// The first two neighbours of these operations, which are in the order of their places, of which it depends on
    /// the time which starts first.
    pub fn unordered(&self, operations: &[usize]) -> Option<(usize, usize)> {
        // The last of these operations that comes before each operation, counted from 1.
        let (mut last, mut index) = (vec![0; self.requires.len()], 0);
        for operation in self.sorted() {
            let before = self.requires[operation].iter().map(|(on, _)| last[*on]).max().unwrap_or(0);
            last[operation] = before;
            if operations.get(index) != Some(&operation) {
                continue;
            }
            if let Some(previous) = index.checked_sub(1).map(|previous| operations[previous]) {
                let is_after = before == index;
                let starts_with_it =
                    self.requires[previous].iter().all(|on| self.requires[operation].contains(on));
                if !is_after && !starts_with_it {
                    return Some((previous, operation));
                }
            }
            index += 1;
            last[operation] = index;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(count: usize, requirements: &[(usize, usize)]) -> Order {
        let mut order = Order::default();
        (0..count).for_each(|_| {
            order.add();
        });
        requirements.iter().for_each(|(waiting, on)| order.require(*waiting, *on, false));
        order
    }

    #[test]
    fn operations_come_after_what_they_require_else_as_in_the_file() {
        assert_eq!(order(4, &[(1, 0)]).places(), None);
        assert_eq!(order(4, &[(0, 3)]).places(), Some(vec![3, 0, 1, 2]));
        assert_eq!(order(2, &[(0, 1), (1, 0)]).places(), Some(vec![usize::MAX; 2]), "a circle");
    }

    #[test]
    fn operations_are_ordered_by_a_chain_or_by_the_same_requirements() {
        assert_eq!(order(3, &[(1, 0), (2, 1)]).unordered(&[0, 2]), None);
        assert_eq!(order(3, &[(1, 0), (2, 0)]).unordered(&[1, 2]), None, "both start after the first");
        assert_eq!(order(3, &[(2, 1)]).unordered(&[0, 2]), None, "the first starts at once");
        assert_eq!(order(4, &[(2, 0), (3, 1)]).unordered(&[2, 3]), Some((2, 3)));
    }
}
