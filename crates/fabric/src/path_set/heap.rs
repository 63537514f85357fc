//! [`Heap`]: a priority queue with an external order.
//!
//! The order of two candidates depends on paths, branches and tree, which change between calls, so items
//! cannot carry it as `std::collections::BinaryHeap` requires.

/// A binary heap of indices, the first before its two children.
#[derive(Default)]
pub(super) struct Heap(Vec<u32>);

impl Heap {
    /// The first.
    pub fn first(&self) -> Option<u32> {
        self.0.first().copied()
    }

    /// Removes all items.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds an item.
    pub fn push(&mut self, item: u32, before: impl Fn(u32, u32) -> bool) {
        let mut at = self.0.len();
        self.0.push(item);
        while at > 0 && before(item, self.0[(at - 1) / 2]) {
            self.0[at] = self.0[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        self.0[at] = item;
    }

    /// Removes and returns the first item.
    pub fn pop(&mut self, before: impl Fn(u32, u32) -> bool) -> Option<u32> {
        let last = self.0.pop()?;
        let Some(&first) = self.0.first() else { return Some(last) };
        let mut at = 0;
        while let Some(&left) = self.0.get(2 * at + 1) {
            let right = self.0.get(2 * at + 2).filter(|&&right| before(right, left));
            let (child, item) = right.map_or((2 * at + 1, left), |&right| (2 * at + 2, right));
            if !before(item, last) {
                break;
            }
            self.0[at] = item;
            at = child;
        }
        self.0[at] = last;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_taken_out_is_always_the_least(
            keys in proptest::collection::vec(0_u8..20, 0..60),
            takes in proptest::collection::vec(any::<bool>(), 60),
        ) {
            let before = |a: u32, b: u32| keys[a as usize] < keys[b as usize];
            let (mut heap, mut kept) = (Heap::default(), Vec::new());
            for (item, take) in (0..keys.len() as u32).zip(takes) {
                heap.push(item, before);
                kept.push(keys[item as usize]);
                if take {
                    kept.sort_unstable();
                    prop_assert_eq!(heap.pop(before).map(|item| keys[item as usize]), Some(kept.remove(0)));
                }
            }
            kept.sort_unstable();
            let rest: Vec<u8> = std::iter::from_fn(|| heap.pop(before)).map(|item| keys[item as usize]).collect();
            prop_assert_eq!(rest, kept);
        }
    }
}
