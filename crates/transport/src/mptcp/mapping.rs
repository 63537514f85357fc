//! [`Mappings`]: maps bytes of a subflow to bytes of the data (RFC 8684, section 3.3.1).
//!
//! A sender keeps one per subflow for unacknowledged bytes, so that a retransmitted segment carries the same mapping; a
//! receiver keeps one for bytes received beyond a hole of the subflow. Neighbours that are contiguous on both levels
//! are merged.

use std::collections::VecDeque;

use crate::seq::{at_or_before, before, later, span};

/// `len` bytes of the subflow from sequence number `start` are the data from offset `data`. The other side may send any
/// value, so all arithmetic wraps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mapping {
    pub(crate) start: u32,
    pub(crate) len: u32,
    pub(crate) data: u64,
}

impl Mapping {
    #[inline]
    fn end(&self) -> u32 {
        self.start.wrapping_add(self.len)
    }

    #[inline]
    fn continues_at(&self, start: u32, data: u64) -> bool {
        self.end() == start && self.data.wrapping_add(u64::from(self.len)) == data
    }
}

/// Disjoint mappings of a subflow, in the order of its sequence numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mappings(VecDeque<Mapping>);

impl Mappings {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the bytes after all others.
    #[inline]
    pub(crate) fn push(&mut self, start: u32, len: u32, data: u64) {
        match self.0.back_mut() {
            Some(last) if last.continues_at(start, data) => last.len += len,
            _ => self.0.push_back(Mapping { start, len, data }),
        }
    }

    /// The data offset of byte `seq`, and the number of bytes from there on that the mapping covers.
    #[inline]
    pub(crate) fn find(&self, seq: u32) -> Option<(u64, u32)> {
        let last = self.0.back()?;
        let found = if at_or_before(last.start, seq) {
            last
        } else {
            let above = self.0.partition_point(|mapping| at_or_before(mapping.start, seq));
            self.0.get(above.checked_sub(1)?)?
        };
        let offset = span(found.start, seq);
        (offset < found.len).then(|| (found.data.wrapping_add(u64::from(offset)), found.len - offset))
    }

    /// Removes mappings before `seq`.
    #[inline]
    pub(crate) fn release(&mut self, seq: u32) {
        while let Some(first) = self.0.front_mut() {
            if at_or_before(seq, first.start) {
                return;
            }
            if before(seq, first.end()) {
                let gone = span(first.start, seq);
                first.start = seq;
                first.len -= gone;
                first.data = first.data.wrapping_add(u64::from(gone));
                return;
            }
            self.0.pop_front();
        }
    }

    /// Adds bytes anywhere. Bytes that are already mapped keep their first mapping.
    pub(crate) fn insert(&mut self, mut start: u32, len: u32, mut data: u64) {
        let end = start.wrapping_add(len);
        let mut at = self.0.partition_point(|mapping| before(mapping.start, start));
        if let Some(previous) = at.checked_sub(1).and_then(|at| self.0.get(at)) {
            let from = later(start, previous.end());
            data = data.wrapping_add(u64::from(span(start, from)));
            start = from;
        }
        while before(start, end) {
            let (to, resume) = match self.0.get(at) {
                Some(next) if before(next.start, end) => (next.start, next.end()),
                _ => (end, end),
            };
            if before(start, to) {
                let joined = match at.checked_sub(1).and_then(|at| self.0.get_mut(at)) {
                    Some(previous) if previous.continues_at(start, data) => {
                        previous.len += span(start, to);
                        true
                    }
                    _ => false,
                };
                if !joined {
                    self.0.insert(at, Mapping { start, len: span(start, to), data });
                    at += 1;
                }
            }
            data = data.wrapping_add(u64::from(span(start, later(resume, start))));
            start = later(resume, start);
            at += 1;
        }
    }

    /// Removes everything up to `to`, calls `take` for each data piece in `[from, to)`, and returns the number of
    /// mapped bytes.
    pub(crate) fn take(&mut self, from: u32, to: u32, mut take: impl FnMut(u64, u32)) -> u32 {
        self.release(from);
        let mut bytes = 0;
        while let Some(first) = self.0.front()
            && before(first.start, to)
        {
            let len = first.len.min(span(first.start, to));
            take(first.data, len);
            bytes += len;
            self.release(first.start.wrapping_add(len));
        }
        bytes
    }

    /// All mappings.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mapping> {
        self.0.iter()
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.0.capacity() * size_of::<Mapping>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mappings: &Mappings) -> Vec<(u32, u32, u64)> {
        mappings.iter().map(|m| (m.start, m.len, m.data)).collect()
    }

    #[test]
    fn what_continues_on_both_sides_is_one_mapping() {
        let mut mappings = Mappings::default();
        mappings.push(u32::MAX - 9, 10, 100);
        mappings.push(0, 10, 110);
        mappings.push(10, 10, 500);
        assert_eq!(all(&mappings), [(u32::MAX - 9, 20, 100), (10, 10, 500)]);
        assert_eq!(mappings.find(5), Some((115, 5)));
        assert_eq!(mappings.find(10), Some((500, 10)));
        assert_eq!(mappings.find(20), None);
        assert_eq!(mappings.find(u32::MAX - 10), None);
        mappings.release(4);
        assert_eq!(all(&mappings), [(4, 6, 114), (10, 10, 500)]);
        mappings.release(40);
        assert!(mappings.is_empty());
    }

    #[test]
    fn of_bytes_mapped_twice_the_first_mapping_holds() {
        let mut mappings = Mappings::default();
        mappings.insert(20, 10, 1020);
        mappings.insert(40, 10, 1040);
        mappings.insert(10, 50, 7010);
        let expected = [(10, 10, 7010), (20, 10, 1020), (30, 10, 7030), (40, 10, 1040), (50, 10, 7050)];
        assert_eq!(all(&mappings), expected);
        mappings.insert(15, 40, 9999);
        assert_eq!(all(&mappings), expected);
        mappings.insert(55, 10, 7055);
        assert_eq!(all(&mappings).last(), Some(&(50, 15, 7050)));
        let mut taken = Vec::new();
        assert_eq!(mappings.take(12, 45, |data, len| taken.push((data, len))), 33);
        assert_eq!(taken, [(7012, 8), (1020, 10), (7030, 10), (1040, 5)]);
        assert_eq!(all(&mappings), [(45, 5, 1045), (50, 15, 7050)]);
    }
}
