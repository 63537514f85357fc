//! [`SmallQueue`]: limits how much of a connection's data is queued at its own host's interface, so that other
//! connections of the host do not wait behind it. The caller reports when a segment will have left; the endpoint holds
//! data back.
//!
//! Modelled on Linux's `tcp_small_queue_check`, but counts payload instead of segment memory.

use std::collections::VecDeque;

use weft_units::{Duration, Time};

use crate::config::Config;
use crate::endpoint::Endpoint;
use crate::seq::span;

/// Linux's millisecond, 2^-10 s (`sk_pacing_shift`).
const MILLISECOND: Duration = Duration::from_ps(1_000_000_000_000 >> 10);

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
    fn push(&mut self, leaves: Time, bytes: u32) {
        let leaves = self.waiting.back().map_or(leaves, |&(last, _)| leaves.max(last));
        self.waiting.push_back((leaves, bytes));
        self.bytes += u64::from(bytes);
    }

    /// Removes segments that have left by `now`.
    fn release(&mut self, now: Time) {
        while let Some(&(leaves, bytes)) = self.waiting.front()
            && leaves <= now
        {
            self.bytes -= u64::from(bytes);
            self.waiting.pop_front();
        }
    }

    /// When fewer than `limit` bytes will be queued; `None` if that is already the case.
    fn below(&self, limit: u64) -> Option<Time> {
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

impl Endpoint {
    /// With `small_queues`, call this for each segment of `len` bytes of payload that [`Self::poll_transmit`] returned
    /// at `now`: its last bit leaves the host's interface at `leaves`.
    pub fn leaves_at(&mut self, now: Time, leaves: Time, len: u16) {
        let queue = &mut self.loss.get_or_insert_default().small_queue;
        queue.release(now);
        if now < leaves {
            queue.push(leaves, u32::from(len));
        }
    }

    /// When data held for the interface may be sent: call [`Self::poll_transmit`] again then. [`Time::MAX`]: none is
    /// held.
    #[inline]
    pub fn held_until(&self) -> Time {
        self.held_until
    }

    /// Whether data has to wait because at least `parts` times the limit is queued at the interface. The limit is two
    /// segments, or one millisecond of data at the pacing rate. A segment alone in flight never waits, as in Linux.
    #[inline]
    pub(crate) fn waits_for_interface(&mut self, cfg: &Config, now: Time, parts: u64) -> bool {
        if !cfg.small_queues {
            return false;
        }
        self.held_until = Time::MAX;
        let Some(loss) = &mut self.loss else { return false };
        loss.small_queue.release(now);
        let least = 2 * u64::from(cfg.mss);
        if loss.small_queue.bytes < parts * least || span(self.snd_una, self.snd_nxt) <= cfg.segment() {
            return false;
        }
        let paced = self.pacing_rate().map_or(u64::MAX, |rate| rate.bytes_in(MILLISECOND));
        let limit = parts.saturating_mul(paced.max(least));
        let Some(loss) = &self.loss else { return false };
        if let Some(at) = loss.small_queue.below(limit) {
            self.held_until = at;
        }
        self.held_until != Time::MAX
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
