//! [`Reassembly`]: ranges received beyond the first hole, and which of them to report next.
//!
//! Separate from the receiver because most connections never need one. Stores ranges, not bytes.
//! Blocks are reported newest first (RFC 2018, section 4).

use crate::seq::{at_or_before, before, earlier, later};

/// Blocks remembered for reporting.
const RECENT: usize = 4;

/// Ranges received out of order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    /// Disjoint, not adjacent, in order.
    ranges: Vec<(u32, u32)>,
    /// Blocks that changed most recently, newest first.
    recent: [(u32, u32); RECENT],
    recent_count: u8,
    /// A range received twice, if one is to be reported.
    pub(crate) duplicate: (u32, u32),
}

impl Reassembly {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Adds `[start, end)`, which lies beyond `next`. Returns whether any of it is new.
    pub(crate) fn insert(&mut self, start: u32, end: u32) -> bool {
        let first = self.ranges.partition_point(|&(_, to)| before(to, start));
        let mut merged = (start, end);
        let mut last = first;
        while let Some(&(from, to)) = self.ranges.get(last) {
            if before(end, from) {
                break;
            }
            if at_or_before(from, start) && at_or_before(end, to) {
                return false;
            }
            merged = (earlier(merged.0, from), later(merged.1, to));
            last += 1;
        }
        if first == last {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..last);
        }
        self.report(start, end);
        true
    }

    /// `[start, end)` arrived again: the block that holds it is reported first (RFC 2018, section 4; Linux).
    pub(crate) fn repeat(&mut self, start: u32, end: u32) {
        self.report(start, end);
    }

    /// Puts `[start, end)` first in the list to report, merged with blocks it touches. A block that fell off the list
    /// is reported again only when touched again, as in Linux and ns-3.
    fn report(&mut self, mut start: u32, mut end: u32) {
        let mut count = usize::from(self.recent_count);
        let mut i = 0;
        while i < count {
            let old = self.recent[i];
            if at_or_before(old.0, end) && at_or_before(start, old.1) {
                (start, end) = (earlier(old.0, start), later(old.1, end));
                self.recent.copy_within(i + 1..count, i);
                count -= 1;
                i = 0;
            } else {
                i += 1;
            }
        }
        count = count.min(RECENT - 1);
        self.recent.copy_within(..count, 1);
        self.recent[0] = (start, end);
        self.recent_count = count as u8 + 1;
    }

    /// Removes the ranges contiguous with `next`; returns the new `next`.
    pub(crate) fn advance(&mut self, mut next: u32) -> u32 {
        let mut done = 0;
        while let Some(&(from, to)) = self.ranges.get(done) {
            if before(next, from) {
                break;
            }
            next = later(next, to);
            done += 1;
        }
        if done > 0 {
            self.ranges.drain(..done);
        }
        let mut count = 0;
        for i in 0..usize::from(self.recent_count) {
            if before(next, self.recent[i].1) {
                self.recent[count] = self.recent[i];
                count += 1;
            }
        }
        self.recent_count = count as u8;
        next
    }

    /// The blocks to report, newest first.
    #[inline]
    pub(crate) fn blocks(&self) -> &[(u32, u32)] {
        &self.recent[..usize::from(self.recent_count)]
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.ranges.capacity() * size_of::<(u32, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_merge_and_the_newest_is_reported_first() {
        let mut held = Reassembly::default();
        assert!(held.insert(20, 30) && held.insert(40, 50) && held.insert(60, 70));
        assert_eq!(held.blocks(), [(60, 70), (40, 50), (20, 30)]);
        assert!(!held.insert(42, 48), "nothing new");
        held.repeat(42, 48);
        assert_eq!(held.blocks(), [(40, 50), (60, 70), (20, 30)]);
        assert!(held.insert(30, 40), "fills the gap between two");
        assert_eq!(held.blocks(), [(20, 50), (60, 70)]);
        assert_eq!(held.advance(20), 50);
        assert_eq!(held.blocks(), [(60, 70)]);
        assert_eq!(held.advance(55), 55);
    }

    #[test]
    fn ranges_across_the_wrap_stay_in_order() {
        let mut held = Reassembly::default();
        held.insert(5, 10);
        held.insert(u32::MAX - 4, u32::MAX);
        assert_eq!(held.advance(u32::MAX - 4), u32::MAX);
        held.insert(u32::MAX, 5);
        assert_eq!(held.advance(u32::MAX), 10);
        assert!(held.is_empty());
    }
}
