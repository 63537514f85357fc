//! Pacing: data segments leave no faster than at the controller's pacing rate.
//!
//! Modelled on Linux's internal pacing (`tcp_pacing_check`, `tcp_update_skb_after_send`): a segment may leave once the
//! one before it has taken its time at the rate. A segment that leaves late shortens the next gap by as much, at most by
//! half. The first ten segments are not spaced, nor is anything before the first round-trip sample.

use weft_units::Time;

use crate::config::Config;
use crate::endpoint::Endpoint;

/// Segments at the start of a connection that are not spaced.
const UNPACED: u32 = 10;

impl Endpoint {
    /// Whether data has to wait for its time; if so, [`Self::next_timeout`] includes that time.
    #[inline]
    pub(crate) fn waits_for_pace(&mut self, cfg: &Config, now: Time) -> bool {
        let waits = cfg.pacing && now < self.next_send;
        if waits {
            self.paced_until = self.next_send;
        }
        waits
    }

    /// Spaces the next segment from one of `len` bytes of payload that leaves now. A segment that is truncated later
    /// counts in full.
    #[cold]
    pub(crate) fn pace(&mut self, now: Time, len: u16) {
        let late = now.saturating_since(self.next_send);
        self.next_send = self.next_send.max(now);
        if self.stats.data_segments_sent >= UNPACED
            && let Some(rate) = self.pacing_rate()
        {
            let gap = rate.time_of(u64::from(len));
            self.next_send += gap - late.min(gap / 2);
        }
    }
}
