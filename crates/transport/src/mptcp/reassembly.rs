//! [`Reassembly`]: data that a connection has received beyond the first hole.
//!
//! Separate from an endpoint's because data is counted in 64 bits and nothing is reported to the sender, and because
//! ranges come and go all the time when paths differ: they are taken off the front of a queue.

use std::collections::VecDeque;

/// Ranges received out of order: disjoint, not adjacent, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly(VecDeque<(u64, u64)>);

impl Reassembly {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The offset after the highest byte held.
    #[inline]
    pub(crate) fn end(&self) -> Option<u64> {
        self.0.back().map(|&(_, end)| end)
    }

    /// Adds `[start, end)`. Returns whether any of it is new.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> bool {
        let first = match self.0.back() {
            Some(&(_, last)) if last < start => self.0.len(),
            _ => self.0.partition_point(|&(_, to)| to < start),
        };
        let mut merged = (start, end);
        let mut last = first;
        while let Some(&(from, to)) = self.0.get(last) {
            if end < from {
                break;
            }
            if from <= start && end <= to {
                return false;
            }
            merged = (merged.0.min(from), merged.1.max(to));
            last += 1;
        }
        if first == last {
            self.0.insert(first, merged);
        } else {
            self.0[first] = merged;
            self.0.drain(first + 1..last);
        }
        true
    }

    /// Removes the ranges contiguous with `next`; returns the new `next`.
    pub(crate) fn advance(&mut self, mut next: u64) -> u64 {
        while let Some(&(from, to)) = self.0.front()
            && from <= next
        {
            next = next.max(to);
            self.0.pop_front();
        }
        next
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.0.capacity() * size_of::<(u64, u64)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_merge_and_are_taken_when_the_hole_before_them_is_filled() {
        let mut held = Reassembly::default();
        assert!(held.insert(20, 30) && held.insert(60, 70) && held.insert(40, 50));
        assert!(!held.insert(42, 50), "nothing new");
        assert!(held.insert(30, 40), "fills the gap between two");
        assert_eq!(held.end(), Some(70));
        assert_eq!(held.advance(10), 10);
        assert_eq!(held.advance(20), 50);
        assert!(held.insert(55, 65));
        assert_eq!(held.advance(55), 70);
        assert!(held.is_empty());
    }
}
