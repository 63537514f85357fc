//! [`Loss`]: the state of recovery, allocated at the first sign of loss (with RACK: with the first data).

use super::reduction::Reduction;
use crate::congestion::Window;
use crate::segment::{Flags, Segment};
use crate::send_order::SendOrder;
use crate::sent::Sent;
use crate::seq::{at_or_before, before, span};
use crate::small_queue::SmallQueue;
use crate::tick::Tick;

/// State of recovery.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loss {
    pub(crate) sent: Sent,
    pub(crate) reduction: Reduction,
    pub(crate) undo: Undo,
    pub(crate) rack: Rack,
    pub(crate) probe: TailProbe,
    pub(crate) frto: Frto,
    pub(crate) small_queue: SmallQueue,
    /// Segments to send regardless of the window: start and length; length 0: new data.
    forced: [(u32, u32); 2],
    pub(super) forced_count: u8,
}

impl Loss {
    pub(super) fn force(&mut self, start: u32, len: u32) {
        if let Some(slot) = self.forced.get_mut(usize::from(self.forced_count)) {
            *slot = (start, len);
            self.forced_count += 1;
        }
    }

    /// Records that `[start, start + len)` is retransmitted now, in segments with the timestamp `ts`.
    pub(super) fn resent(&mut self, start: u32, len: u32, now: Tick, ts: u32, reducing: bool) {
        self.sent.resent(start, now);
        self.undo.resent(ts);
        if reducing {
            self.reduction.sent(len);
        }
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.sent.heap_bytes() + self.small_queue.heap_bytes()
    }

    /// Corrects the record of `[start, start + was)`: only the part before `end` was sent, as new data or a
    /// retransmission.
    pub(crate) fn cut(&mut self, start: u32, was: u32, end: u32, new: bool, reducing: bool) {
        if new {
            self.sent.cut_end(end);
        } else {
            self.sent.cut(start, end);
        }
        if reducing {
            self.reduction.unsent(was - span(start, end));
        }
    }

    pub(crate) fn next_forced(&mut self) -> Option<(u32, u32)> {
        if self.forced_count == 0 {
            return None;
        }
        let first = self.forced[0];
        self.forced[0] = self.forced[1];
        self.forced_count -= 1;
        Some(first)
    }
}

/// State for undoing a reduction (RFC 3522, 3708 and 4015).
#[derive(Clone, Debug, Default)]
pub(crate) struct Undo {
    /// SND.UNA at the reduction; `None`: there is none that can be undone.
    pub(super) marker: Option<u32>,
    /// The window before; `None`: it stays reduced, because of a mark.
    pub(super) prior: Option<Window>,
    /// Retransmissions not yet known to have been unnecessary; `None`: there were none.
    pub(super) pending: Option<u32>,
    /// Timestamp of the first retransmission since the reduction.
    first: Option<u32>,
}

impl Undo {
    fn resent(&mut self, ts: u32) {
        self.pending = Some(self.pending.unwrap_or(0) + 1);
        self.first.get_or_insert(ts);
    }

    /// A reduction at SND.UNA `una`, from the window `prior`, with `sent` retransmissions in flight.
    pub(super) fn start(&mut self, una: u32, prior: Option<Window>, sent: u32) {
        let first = if sent > 0 { self.first } else { None };
        *self = Self { marker: Some(una), prior, pending: (sent > 0).then_some(sent), first };
    }

    /// The receiver reported `[left, right)` as a duplicate. Data below the marker was resent before.
    pub(super) fn duplicate(&mut self, left: u32, right: u32, mss: u32) {
        if let Some(pending) = &mut self.pending
            && self.marker.is_some_and(|marker| before(marker, right))
        {
            *pending = pending.saturating_sub(span(left, right).div_ceil(mss).max(1));
        }
    }

    /// Whether the original of a segment must have arrived: the timestamp that it echoes is older than the first
    /// retransmission (RFC 3522, section 3.2).
    pub(super) fn is_original(&self, seg: &Segment) -> bool {
        self.marker.is_some()
            && seg.flags.has(Flags::TS)
            && self.first.is_some_and(|first| before(seg.ts_ecr, first))
    }
}

/// RACK's state (RFC 8985, section 5.2).
#[derive(Clone, Debug, Default)]
pub(crate) struct Rack {
    /// The most recently sent segment among those delivered.
    pub(super) latest: Option<SendOrder>,
    /// Its round-trip time, picoseconds.
    pub(super) rtt: u64,
    /// Minimum round-trip time, picoseconds; 0: none.
    pub(super) least: u64,
    /// Highest end delivered.
    pub(super) highest: Option<u32>,
    pub(super) reordering: bool,
    /// Reordering window in quarters of the minimum round-trip time, minus one.
    pub(super) patience: u8,
    /// Remaining recoveries before `patience` is reset.
    pub(super) persist: u8,
    /// End of the round in which a duplicate was reported.
    pub(super) dsack_round: Option<u32>,
}

/// A tail loss probe (RFC 8985, section 7.1).
#[derive(Clone, Debug, Default)]
pub(crate) struct TailProbe {
    /// SND.NXT when it was sent.
    pub(super) end: Option<u32>,
    pub(super) retransmission: bool,
}

impl TailProbe {
    #[inline]
    pub(crate) fn is_out(&self) -> bool {
        self.end.is_some()
    }

    /// A plain ACK that reaches a probe of new data ends it: nothing was lost.
    #[inline]
    pub(super) fn acked(&mut self, ack: u32) {
        if self.end.is_some_and(|end| at_or_before(end, ack)) {
            *self = Self::default();
        }
    }
}

/// F-RTO's state (RFC 5682, section 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Frto {
    /// Not in use.
    #[default]
    Off,
    /// The next ACKs decide.
    Head,
    /// The next ACKs decide, and new data is sent before lost data.
    New,
}
