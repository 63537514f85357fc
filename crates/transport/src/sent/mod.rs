//! [`Sent`]: the scoreboard of RFC 6675: the state of each segment between SND.UNA and SND.MAX.
//!
//! Separate from the sender because it exists only when needed: from the first sign of loss until
//! recovery is complete or, with RACK, always, but then as runs of segments sent at the same instant. A
//! run is split into segments at the first sign of loss. Sums are updated as segments change, so that an
//! ACK never walks the whole flight.

mod losses;
mod reports;
mod retransmissions;

use std::collections::VecDeque;

use crate::news::News;
use crate::sent_segment::{EVER, Entry, LOST, RETRANS, SACKED};
use crate::seq::{at_or_before, before, earlier, later, span};
use crate::tick::Tick;

/// The scoreboard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent {
    entries: VecDeque<Entry>,
    /// End of the last entry.
    end: u32,
    /// Entries are single segments.
    split: bool,
    /// The last segment sent was a full one.
    last_is_full: bool,
    /// Bytes with [`SACKED`].
    sacked: u32,
    /// Bytes with [`LOST`].
    lost: u32,
    /// Bytes with [`RETRANS`].
    retrans: u32,
    /// Counts entries removed from the front: index of an entry = position + base, wrapping.
    base: u32,
    /// No entry before this index is lost and not yet retransmitted.
    repair_from: u32,
    /// Entries before this index have been judged by the count of SACKs above them.
    judged: u32,
    /// SACKed entries at or after `judged`.
    above: u32,
    /// No entry before this index (except the head) can be chosen next by [`Sent::guess_sack`].
    guess_from: u32,
    /// Start of the highest SACKed entry, if any.
    highest: Option<u32>,
    /// The blocks of the last ACK, to skip known ranges.
    known: [(u32, u32); 4],
}

impl Sent {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes considered in flight: sent, not reported and not lost, plus retransmissions.
    #[inline]
    pub(crate) fn pipe(&self, flight: u32) -> u32 {
        flight.wrapping_sub(self.sacked).wrapping_sub(self.lost).wrapping_add(self.retrans)
    }

    #[inline]
    pub(crate) fn sacked(&self) -> u32 {
        self.sacked
    }

    #[inline]
    pub(crate) fn lost(&self) -> u32 {
        self.lost
    }

    #[inline]
    pub(crate) fn retrans(&self) -> u32 {
        self.retrans
    }

    /// Whether nothing is SACKed, lost or retransmitted.
    #[inline]
    pub(crate) fn is_clean(&self) -> bool {
        self.sacked | self.lost | self.retrans == 0
    }

    #[inline]
    fn len_at(&self, position: usize) -> u32 {
        let end = self.entries.get(position + 1).map_or(self.end, |next| next.start);
        span(self.entries[position].start, end)
    }

    #[inline]
    fn position(&self, index: u32) -> usize {
        (index.wrapping_sub(self.base) as i32).max(0) as usize
    }

    #[inline]
    fn index(&self, position: usize) -> u32 {
        self.base.wrapping_add(position as u32)
    }

    /// Records the first transmission of the segment `[start, end)`. In a run only the last may have fewer than `mss`
    /// bytes, so that the run can be split again.
    #[inline]
    pub(crate) fn push(&mut self, start: u32, end: u32, sent: Tick, mss: u32) {
        let joins = !self.split && self.last_is_full;
        self.end = end;
        self.last_is_full = span(start, end) == mss;
        if joins && self.entries.back().is_some_and(|last| last.sent == sent) {
            return;
        }
        self.entries.push_back(Entry { start, sent, flags: 0 });
    }

    /// Splits `[from, to)` into one entry per segment of `mss` bytes; existing entries keep their times.
    pub(crate) fn split(&mut self, from: u32, to: u32, mss: u32, now: Tick) {
        if self.split {
            return;
        }
        if self.entries.is_empty() && from != to {
            self.entries.push_back(Entry { start: from, sent: now, flags: 0 });
        }
        self.end = to;
        for _ in 0..self.entries.len() {
            let Some(run) = self.entries.pop_front() else { break };
            let end = match self.entries.front() {
                Some(next) if next.start != from => next.start,
                _ => to,
            };
            let mut start = run.start;
            while before(start, end) {
                self.entries.push_back(Entry { start, sent: run.sent, flags: 0 });
                start = start.wrapping_add(mss);
            }
        }
        self.split = true;
        self.base = 0;
        self.repair_from = 0;
        self.judged = 0;
        self.above = 0;
        self.guess_from = 0;
        self.highest = None;
        self.known = [(from, from); 4];
    }

    /// Discards the flags; with `keep_runs`, keeps the send times as runs. The flight must be clean.
    pub(crate) fn merge(&mut self, keep_runs: bool, mss: u32) {
        debug_assert!(self.is_clean());
        self.split = false;
        self.highest = None;
        if keep_runs {
            let mut last: Option<Entry> = None;
            self.entries.retain(|entry| {
                let before = last.replace(*entry);
                before
                    .is_none_or(|before| before.sent != entry.sent || span(before.start, entry.start) != mss)
            });
        } else {
            self.entries.clear();
        }
    }

    /// Removes runs up to `ack`; returns the send times of the first and the last acknowledged segments.
    #[inline]
    pub(crate) fn pop_runs(&mut self, ack: u32) -> Option<(Tick, Tick)> {
        let first = self.entries.front()?.sent;
        let mut last = first;
        loop {
            let next = self.entries.get(1).map_or(self.end, |next| next.start);
            let front = self.entries.front_mut()?;
            last = if before(front.start, ack) { front.sent } else { last };
            if before(ack, next) {
                front.start = later(front.start, ack);
                return Some((first, last));
            }
            self.entries.pop_front();
            if self.entries.is_empty() {
                return Some((first, last));
            }
        }
    }

    fn account(&mut self, flags: u8, len: u32, sign: i32) {
        let delta = if sign < 0 { len.wrapping_neg() } else { len };
        if flags & SACKED != 0 {
            self.sacked = self.sacked.wrapping_add(delta);
        }
        if flags & LOST != 0 {
            self.lost = self.lost.wrapping_add(delta);
        }
        if flags & RETRANS != 0 {
            self.retrans = self.retrans.wrapping_add(delta);
        }
    }

    fn set(&mut self, position: usize, set: u8, clear: u8) {
        let old = self.entries[position].flags;
        let new = (old | set) & !clear;
        if old == new {
            return;
        }
        let len = self.len_at(position);
        self.account(old & !new, len, -1);
        self.account(new & !old, len, 1);
        self.entries[position].flags = new;
        let index = self.index(position);
        if new & LOST != 0 && new & (SACKED | RETRANS) == 0 && before(index, self.repair_from) {
            self.repair_from = index;
        }
        if (old ^ new) & SACKED != 0 && !before(index, self.judged) {
            self.above = if new & SACKED != 0 { self.above + 1 } else { self.above.saturating_sub(1) };
        }
    }

    /// Removes everything that `ack` covers.
    pub(crate) fn discard_to(&mut self, ack: u32, news: &mut News) {
        while let Some(&front) = self.entries.front() {
            if at_or_before(ack, front.start) {
                break;
            }
            let len = self.len_at(0);
            let end = front.start.wrapping_add(len);
            let covered = span(front.start, earlier(ack, end));
            news.ambiguous |= front.flags & EVER != 0;
            self.account(front.flags, covered, -1);
            if front.flags & SACKED == 0 {
                news.delivered += covered;
                news.retransmitted |= front.flags & RETRANS != 0;
                news.note(front.start, front, end, false);
            }
            if before(ack, end) {
                self.entries[0].start = ack;
                break;
            }
            if front.flags & SACKED != 0 && !before(self.base, self.judged) {
                self.above = self.above.saturating_sub(1);
            }
            self.entries.pop_front();
            self.base = self.base.wrapping_add(1);
        }
        for mark in [&mut self.repair_from, &mut self.judged, &mut self.guess_from] {
            *mark = later(*mark, self.base);
        }
        if self.highest.is_some_and(|start| at_or_before(start.wrapping_add(1), ack)) {
            self.highest = None;
        }
    }

    /// Position of the first entry that does not start before `seq`; the number of entries if there is none.
    fn find(&self, seq: u32) -> usize {
        self.entries.partition_point(|entry| before(entry.start, seq))
    }

    pub(crate) fn head_flags(&self) -> u8 {
        self.entries.front().map_or(0, |head| head.flags)
    }

    /// When the head was last sent.
    pub(crate) fn head_sent(&self) -> Option<Tick> {
        self.entries.front().map(|head| head.sent)
    }

    /// The first segment.
    pub(crate) fn head(&self) -> Option<(u32, u32)> {
        self.entries.front().map(|head| (head.start, self.len_at(0)))
    }

    /// The last segment of at most `mss` bytes.
    pub(crate) fn tail(&self, mss: u32) -> Option<(u32, u32)> {
        let last = self.entries.back()?;
        let len = span(last.start, self.end);
        let tail = if len > mss && !len.is_multiple_of(mss) { len % mss } else { len.min(mss) };
        Some((self.end.wrapping_sub(tail), tail))
    }

    /// The last segment was truncated: the flight ends at `end`.
    pub(crate) fn cut_end(&mut self, end: u32) {
        if !self.entries.is_empty() {
            self.end = end;
            self.last_is_full = false;
        }
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }
}
