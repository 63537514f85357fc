//! [`Order`] and [`Before`]: which operations of a rank start before which, by their requirements.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The operations of a rank, by their index in the file, and the requirements of each.
pub struct Order {
    /// The requirements of each operation: other operations, and whether only their start is required.
    requires: Vec<Vec<(usize, bool)>>,
    /// Whether an operation requires one that is described after it.
    is_mixed: bool,
}

impl Order {
    /// So many operations, without requirements.
    pub fn of(count: usize) -> Self {
        Self { requires: vec![Vec::new(); count], is_mixed: false }
    }

    /// Lets an operation require another, or only its start.
    pub fn require(&mut self, waiting: usize, on: usize, is_start: bool) {
        self.requires[waiting].push((on, is_start));
        self.is_mixed |= on > waiting;
    }

    /// The operations, each after those that it requires, else as in the file. Operations of a circle are left out.
    pub fn sorted(&self) -> Vec<usize> {
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

    /// Whether each of these operations follows the end of another one, in one chain; `sorted` is all operations,
    /// [sorted](Self::sorted).
    pub fn is_chain(&self, of: &[usize], sorted: &[usize]) -> bool {
        let mut counts = vec![0; self.requires.len()];
        of.iter().for_each(|operation| counts[*operation] = 1);
        for &operation in sorted {
            let ends = self.requires[operation].iter().filter(|(_, is_start)| !is_start);
            counts[operation] += ends.map(|(on, _)| counts[*on]).max().unwrap_or(0);
        }
        counts.into_iter().max().unwrap_or(0) == of.len()
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
}

/// An order that answers which operations come before which. A question takes time for its own operations, not for all
/// of the rank, as a rank may have as many questions as operations.
pub struct Before<'a> {
    order: &'a Order,
    /// The place of each operation among all; `usize::MAX` in a circle.
    places: Vec<usize>,
    /// A forest, in which each operation is below the last one that it requires: the numbers of it and of all below it
    /// start here, and how many they are.
    below: Vec<(usize, usize)>,
    /// The last search that came to each operation.
    seen: Vec<usize>,
    searches: usize,
}

impl<'a> Before<'a> {
    /// Creates an index of the operations of a rank.
    pub fn of(order: &'a Order) -> Self {
        let count = order.requires.len();
        let sorted = order.sorted();
        let mut places = vec![usize::MAX; count];
        sorted.iter().enumerate().for_each(|(place, operation)| places[*operation] = place);
        let above = |operation: usize| {
            order.requires[operation].iter().map(|(on, _)| *on).max_by_key(|on| places[*on])
        };
        let mut below = vec![(0, 1); count];
        for operation in sorted.iter().rev() {
            if let Some(above) = above(*operation) {
                below[above].1 += below[*operation].1;
            }
        }
        // The next free number below each operation, and in the whole forest.
        let (mut free, mut next) = (vec![0; count], 0);
        for operation in sorted {
            let of = above(operation).map_or(&mut next, |above| &mut free[above]);
            let start = *of;
            *of += below[operation].1;
            (below[operation].0, free[operation]) = (start, start + 1);
        }
        Self { order, places, below, seen: vec![0; count], searches: 0 }
    }

    /// The first two neighbours of these operations, which are in the order of their places, of which it depends on
    /// the time which starts first.
    pub fn unordered(&mut self, operations: &[usize]) -> Option<(usize, usize)> {
        let known = operations.iter().take_while(|operation| self.places[**operation] < usize::MAX).count();
        let mut pairs = operations[..known].windows(2).map(|pair| (pair[0], pair[1]));
        pairs.find(|(one, other)| !self.starts_with(*one, *other) && !self.is_before(*one, *other))
    }

    /// Whether an operation waits at least for all that another one waits for.
    fn starts_with(&self, one: usize, other: usize) -> bool {
        let requires: BTreeSet<&(usize, bool)> = self.order.requires[other].iter().collect();
        self.order.requires[one].iter().all(|on| requires.contains(on))
    }

    /// Whether an operation waits for another one.
    fn is_before(&mut self, one: usize, other: usize) -> bool {
        let (start, count) = self.below[one];
        self.searches += 1;
        let mut open = vec![other];
        while let Some(operation) = open.pop() {
            if (start..start + count).contains(&self.below[operation].0) {
                return true;
            }
            for (on, _) in &self.order.requires[operation] {
                if self.places[*on] >= self.places[one] && self.seen[*on] != self.searches {
                    self.seen[*on] = self.searches;
                    open.push(*on);
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn order(count: usize, requirements: &[(usize, usize)]) -> Order {
        let mut order = Order::of(count);
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
        let unordered = |count, requirements: &[(usize, usize)], operations: &[usize]| {
            Before::of(&order(count, requirements)).unordered(operations)
        };
        assert_eq!(unordered(3, &[(1, 0), (2, 1)], &[0, 2]), None);
        assert_eq!(unordered(3, &[(1, 0), (2, 0)], &[1, 2]), None, "both start after the first");
        assert_eq!(unordered(3, &[(2, 1)], &[0, 2]), None, "the first starts at once");
        assert_eq!(unordered(4, &[(2, 0), (3, 1)], &[2, 3]), Some((2, 3)));
        assert_eq!(
            unordered(5, &[(1, 0), (4, 1), (4, 3), (3, 2)], &[1, 4]),
            None,
            "not the last that it requires"
        );
        assert_eq!(unordered(4, &[(1, 0), (2, 3), (3, 2)], &[1, 2]), None, "a circle is another error");
    }

    proptest! {
        #[test]
        fn an_operation_is_before_those_that_wait_for_it(requirements in vec((0..12_usize, 0..12_usize), 0..30)) {
            let requirements: Vec<_> = requirements.into_iter().filter(|(waiting, on)| waiting > on).collect();
            let order = order(12, &requirements);
            let mut waits = [[false; 12]; 12];
            for operation in 0..12 {
                for (on, _) in &order.requires[operation] {
                    waits[operation][*on] = true;
                    (0..12).for_each(|far| waits[operation][far] |= waits[*on][far]);
                }
            }
            let mut before = Before::of(&order);
            for (one, other) in (0..12).flat_map(|other| (0..other).map(move |one| (one, other))) {
                prop_assert_eq!(before.is_before(one, other), waits[other][one], "{} {}", one, other);
            }
        }
    }
}
