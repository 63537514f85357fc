//! When data that the windows allow has to wait: pacing, and small queues.
//!
//! Pacing is modelled on Linux's internal pacing (`tcp_pacing_check`, `tcp_update_skb_after_send`): a segment may leave
//! once the one before it has taken its time at the rate. A segment that leaves late shortens the next gap by as much, at
//! most by half. The first ten segments are not spaced, nor is anything before the first round-trip sample.

use weft_units::{Duration, Time};

use crate::config::Config;
use crate::congestion::PacingRate;
use crate::sender::Sender;

/// Segments at the start of a connection that are not spaced.
const UNPACED: u32 = 10;

/// Linux's millisecond, 2^-10 s (`sk_pacing_shift`).
const MILLISECOND: Duration = Duration::from_ps(1_000_000_000_000 >> 10);

impl Sender {
    /// The controller's pacing rate; `None` before the first data or the first round-trip sample.
    pub(crate) fn pacing_rate(&self) -> Option<PacingRate> {
        self.congestion.existing()?.pacing_rate(self.used(), self.rtt.srtt())
    }

    /// Holds data until its time, `paced_until`. Returns whether it has to wait.
    #[inline]
    pub(crate) fn hold_for_pace(&mut self, cfg: &Config, now: Time) -> bool {
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
        if self.segments >= UNPACED
            && let Some(rate) = self.pacing_rate()
        {
            let gap = rate.time_of(u64::from(len));
            self.next_send += gap - late.min(gap / 2);
        }
    }

    /// Holds data until `held_until` if at least `parts` times the limit is queued at the interface. Returns whether it
    /// has to wait. The limit is two segments, or one millisecond of data at the pacing rate. A segment alone in flight
    /// never waits, as in Linux.
    #[inline]
    pub(crate) fn hold_for_interface(&mut self, cfg: &Config, now: Time, parts: u64) -> bool {
        if !cfg.small_queues {
            return false;
        }
        self.held_until = Time::MAX;
        let Some(loss) = &mut self.loss else { return false };
        loss.small_queue.release(now);
        let least = 2 * u64::from(cfg.mss);
        if loss.small_queue.bytes() < parts * least || self.used() <= cfg.segment() {
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
