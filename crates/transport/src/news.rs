//! [`News`]: the information about the flight in an ACK.

use crate::send_order::SendOrder;
use crate::sent_segment::{EVER, Entry};
use crate::seq::{earlier, later};
use crate::tick::Tick;

/// New information about the flight from an ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct News {
    /// Bytes acknowledged cumulatively or selectively for the first time.
    pub(crate) delivered: u32,
    /// Bytes among them reported by SACK.
    pub(crate) sacked: u32,
    /// A segment with a retransmission in flight, not reported before, was acknowledged cumulatively.
    pub(crate) retransmitted: bool,
    /// The lowest sequence number of the originals delivered that were never retransmitted.
    pub(crate) lowest_original: Option<u32>,
    /// The highest end of the originals delivered that were never retransmitted.
    pub(crate) highest_original: Option<u32>,
    /// Send times of the first and the last of the segments acknowledged cumulatively, among those never retransmitted
    /// or reported before.
    acked: Option<(Tick, Tick)>,
    /// Send times of the first and the last of the segments reported by SACK for the first time, among those never
    /// retransmitted.
    reported: Option<(Tick, Tick)>,
    /// A segment that was ever retransmitted was acknowledged cumulatively.
    pub(crate) ambiguous: bool,
    /// The most recently sent segment among those delivered, without ambiguous deliveries.
    pub(crate) latest: Option<SendOrder>,
    /// Round-trip time of the last delivery, picoseconds, without ambiguous deliveries; 0: none.
    pub(crate) rtt: u64,
    /// When the ACK arrived.
    now: Tick,
    /// Minimum round-trip time so far, picoseconds.
    least: u64,
    /// The ACK's timestamp cannot echo a segment sent more recently than this many picoseconds ago.
    after_echo: u64,
}

impl News {
    /// No news yet from an ACK that arrives at `now`; `least` is the minimum round-trip time so far, and the ACK's
    /// timestamp echoes nothing sent in the last `after_echo`, picoseconds.
    pub(crate) fn at(now: Tick, least: u64, after_echo: u64) -> Self {
        Self { now, least, after_echo, ..Self::default() }
    }

    /// Send times of the first and the last segment that give round-trip samples. Karn's algorithm as in Linux
    /// (`tcp_clean_rtx_queue`): an ACK that covers a retransmitted segment gives samples only by its SACK blocks.
    pub(crate) fn timed(&self) -> Option<(Tick, Tick)> {
        let acked = if self.ambiguous { None } else { self.acked };
        acked.or(self.reported)
    }

    /// Whether a reported segment was sent before `head`.
    pub(crate) fn reports_older(&self, head: Tick) -> bool {
        self.reported.is_some_and(|(first, _)| head.after(first))
    }

    /// A segment was delivered: reported by SACK, or acknowledged cumulatively.
    pub(crate) fn note(&mut self, start: u32, entry: Entry, end: u32, reported: bool) {
        let ever = entry.flags & EVER != 0;
        if !ever {
            let times = if reported { &mut self.reported } else { &mut self.acked };
            *times = Some((times.map_or(entry.sent, |(first, _)| first), entry.sent));
            self.lowest_original = Some(self.lowest_original.map_or(start, |s| earlier(s, start)));
            self.highest_original = Some(self.highest_original.map_or(end, |e| later(e, end)));
        }
        let rtt = self.now.since(entry.sent).max(1);
        // A retransmission acknowledged sooner than any round trip, or by an older timestamp than its own (Linux:
        // `tcp_skb_spurious_retrans`): the original arrived.
        if ever && (rtt < self.least || rtt + Tick::LENGTH <= self.after_echo) {
            return;
        }
        self.rtt = rtt;
        let place = SendOrder { sent: entry.sent, end };
        if self.latest.is_none_or(|latest| place.is_after(latest)) {
            self.latest = Some(place);
        }
    }
}
