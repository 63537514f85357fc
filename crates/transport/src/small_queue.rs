//! [`SmallQueue`]: limits how much of a connection's data is queued at its own host's interface, so that other
//! connections of the host do not wait behind it. The caller reports when a segment will have left; the endpoint holds
//! data back.
//!
//! Modelled on Linux's `tcp_small_queue_check`, but counts payload instead of segment memory.

use std::collections::VecDeque;

use weft_units::Time;

/// Data of a connection that has not left the interface.
#[derive(Clone, Debug, Default)]
pub(crate) struct SmallQueue {
    /// Departure time and bytes of each segment.
    waiting: VecDeque<(Time, u32)>,
    bytes: u64,
}

impl SmallQueue {
    /// Adds a segment. If the connection has moved to an interface that is free earlier, the segment still counts as
    /// long as those before it.
    pub(crate) fn push(&mut self, leaves: Time, bytes: u32) {
        let leaves = self.waiting.back().map_or(leaves, |&(last, _)| leaves.max(last));
        self.waiting.push_back((leaves, bytes));
        self.bytes += u64::from(bytes);
    }

    /// Removes segments that have left by `now`.
    pub(crate) fn release(&mut self, now: Time) {
        while let Some(&(leaves, bytes)) = self.waiting.front()
            && leaves <= now
        {
            self.bytes -= u64::from(bytes);
            self.waiting.pop_front();
        }
    }

    /// Bytes queued.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// When fewer than `limit` bytes will be queued; `None` if that is already the case.
    pub(crate) fn below(&self, limit: u64) -> Option<Time> {
        let mut left = self.bytes;
        if left < limit {
            return None;
        }
        self.waiting.iter().find_map(|&(leaves, bytes)| {
            left -= u64::from(bytes);
            (left < limit).then_some(leaves)
        })
    }

    /// Whether the last data sent is still queued at `now`.
    pub(crate) fn holds_last(&self, now: Time) -> bool {
        self.waiting.back().is_some_and(|&(leaves, _)| now < leaves)
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<(Time, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_never_waits_until_a_time_that_has_passed() {
        let at = Time::from_ps;
        let mut queue = SmallQueue::default();
        // The second segment leaves by another interface, before the first.
        queue.push(at(10), 1_000);
        queue.push(at(5), 1_000);
        queue.release(at(7));
        assert_eq!((queue.below(2_000), queue.below(1_000)), (Some(at(10)), Some(at(10))));
        queue.release(at(10));
        assert_eq!((queue.bytes, queue.below(1)), (0, None));
    }
}
