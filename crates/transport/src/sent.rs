//! [`Sent`]: the scoreboard of RFC 6675: the state of each segment between SND.UNA and SND.MAX.
//!
//! Separate from the sender because it exists only when needed: from the first sign of loss until
//! recovery is complete or, with RACK, always, but then as runs of segments sent at the same instant. A
//! run is split into segments at the first sign of loss. Sums are updated as segments change, so that an
//! ACK never walks the whole flight.

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

    /// Marks the segments that lie wholly inside `[left, right)`. With `keep_retrans` a retransmission
    /// in flight stays counted (ns-3). Blocks outside the flight are ignored.
    pub(crate) fn sack(&mut self, left: u32, right: u32, keep_retrans: bool, news: &mut News) {
        let Some(front) = self.entries.front() else { return };
        if !before(left, right) || before(left, front.start) || before(self.end, right) {
            return;
        }
        let old = self.known.iter().copied().find(|&(l, r)| {
            before(l, r) && at_or_before(left, l) && at_or_before(r, right) && before(front.start, r)
        });
        match old {
            Some((l, r)) => {
                self.mark_sacked((left, right), (left, l), keep_retrans, news);
                self.mark_sacked((left, right), (r, right), keep_retrans, news);
            }
            None => self.mark_sacked((left, right), (left, right), keep_retrans, news),
        }
    }

    /// Marks the segments inside `block` that overlap `part` of it.
    fn mark_sacked(&mut self, block: (u32, u32), part: (u32, u32), keep_retrans: bool, news: &mut News) {
        if !before(part.0, part.1) {
            return;
        }
        let clear = if keep_retrans { LOST } else { LOST | RETRANS };
        let mut first = self.find(part.0);
        if first > 0 && !before(self.entries[first - 1].start, block.0) {
            first -= 1;
        }
        for position in first..self.entries.len() {
            let entry = self.entries[position];
            let len = self.len_at(position);
            let end = entry.start.wrapping_add(len);
            if before(block.1, end) || !before(entry.start, part.1) {
                break;
            }
            if entry.flags & SACKED != 0 {
                continue;
            }
            news.delivered += len;
            news.sacked += len;
            news.note(entry.start, entry, end, true);
            self.set(position, SACKED, clear);
            // ns-3 treats a segment right below the highest as the highest.
            let reach = if keep_retrans { end.wrapping_add(1) } else { entry.start };
            if self.highest.is_none_or(|highest| before(highest, reach)) {
                self.highest = Some(entry.start);
            }
        }
    }

    /// Stores the blocks of an ACK, so that the next one processes only new ranges.
    #[inline]
    pub(crate) fn remember(&mut self, blocks: &[(u32, u32)]) {
        for (known, block) in self.known.iter_mut().zip(blocks) {
            *known = *block;
        }
    }

    /// RFC 6675, IsLost: marks each segment with `threshold` SACKed segments above it as lost.
    pub(crate) fn judge(&mut self, threshold: u32) {
        while self.above >= threshold {
            let position = self.position(self.judged);
            if position >= self.entries.len() {
                self.above = 0;
                return;
            }
            let flags = self.entries[position].flags;
            self.judged = self.judged.wrapping_add(1);
            if flags & SACKED != 0 {
                self.above -= 1;
            } else if flags & LOST == 0 {
                self.set(position, LOST, 0);
            }
        }
    }

    /// Marks lost segments as ns-3 counts them: from the segment that it treats as the highest reported.
    pub(crate) fn judge_from_highest(&mut self, threshold: u32) {
        let Some(highest) = self.highest else { return };
        let mut position = self.find(highest.wrapping_add(1));
        let mut count = 0;
        while count < threshold {
            if position == 0 {
                return;
            }
            position -= 1;
            count += u32::from(self.entries[position].flags & SACKED != 0);
        }
        for lower in self.position(self.judged)..position {
            if self.entries[lower].flags & (SACKED | LOST) == 0 {
                self.set(lower, LOST, 0);
            }
        }
        self.judged = later(self.judged, self.index(position));
    }

    /// Marks the head as lost, whatever its state.
    pub(crate) fn lose_head(&mut self) {
        if !self.entries.is_empty() {
            self.set(0, LOST, SACKED | RETRANS);
        }
    }

    pub(crate) fn head_flags(&self) -> u8 {
        self.entries.front().map_or(0, |head| head.flags)
    }

    /// When the head was last sent.
    pub(crate) fn head_sent(&self) -> Option<Tick> {
        self.entries.front().map(|head| head.sent)
    }

    /// Whether the head ends at `end`, was retransmitted and is not reported.
    pub(crate) fn head_in_repair(&self, end: u32) -> bool {
        !self.entries.is_empty()
            && self.entries[0].start.wrapping_add(self.len_at(0)) == end
            && self.entries[0].flags & (RETRANS | SACKED) == RETRANS
    }

    /// Whether the first lost or reported segment after the head is lost, and the second segment is below
    /// the highest reported (ns-3's condition for entering recovery before the third duplicate).
    pub(crate) fn second_is_lost(&self) -> bool {
        let Some(highest) = self.highest else { return false };
        if self.entries.len() < 2 || !before(self.entries[1].start, highest) {
            return false;
        }
        self.entries
            .iter()
            .skip(1)
            .find(|entry| entry.flags & (LOST | SACKED) != 0)
            .is_some_and(|entry| entry.flags & LOST != 0)
    }

    /// Without SACK, a duplicate ACK means that some segment arrived: assumes the first after the head.
    pub(crate) fn guess_sack(&mut self) {
        let first = self.position(self.guess_from).max(1);
        let found = (first..self.entries.len()).find(|&i| self.entries[i].flags & SACKED == 0);
        if let Some(position) = found {
            self.set(position, SACKED, 0);
            self.highest = Some(self.entries[position].start);
            self.guess_from = self.index(position + 1);
        } else {
            self.guess_from = self.index(self.entries.len());
        }
    }

    /// Undoes the assumption that the head arrived. Returns whether there was one.
    pub(crate) fn unguess_head(&mut self) -> bool {
        let guessed = self.head_flags() & SACKED != 0;
        if guessed {
            self.set(0, 0, SACKED);
        }
        guessed
    }

    /// Discards all reports: they were assumptions, or the receiver reneged.
    pub(crate) fn forget_sacks(&mut self) {
        for position in 0..self.entries.len() {
            self.set(position, 0, SACKED);
        }
        self.highest = None;
        self.above = 0;
        self.judged = self.base;
        self.guess_from = self.base;
        self.known = [(0, 0); 4];
    }

    /// After a timeout: everything not reported is lost, including retransmissions.
    pub(crate) fn lose_all(&mut self) {
        for position in 0..self.entries.len() {
            let lost = if self.entries[position].flags & SACKED == 0 { LOST } else { 0 };
            self.set(position, lost, RETRANS);
        }
        self.repair_from = self.base;
    }

    /// The first segment that is lost and not yet retransmitted.
    pub(crate) fn next_lost(&mut self) -> Option<(u32, u32)> {
        if self.lost == 0 {
            return None;
        }
        let from = self.position(self.repair_from);
        for position in from..self.entries.len() {
            if self.entries[position].flags & (LOST | RETRANS | SACKED) == LOST {
                self.repair_from = self.index(position);
                return Some((self.entries[position].start, self.len_at(position)));
            }
        }
        self.repair_from = self.index(self.entries.len());
        None
    }

    /// The first segment, below the highest reported if `below_highest`, that is neither reported nor
    /// retransmitted (rule 3 of NextSeg).
    pub(crate) fn next_unreported(&self, below_highest: bool) -> Option<(u32, u32)> {
        let found = self.entries.iter().position(|entry| entry.flags & (SACKED | RETRANS) == 0)?;
        let start = self.entries[found].start;
        if below_highest && !self.highest.is_some_and(|highest| before(start, highest)) {
            return None;
        }
        Some((start, self.len_at(found)))
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

    /// Records a retransmission of the segment at `start`.
    pub(crate) fn resent(&mut self, start: u32, now: Tick) {
        let position = self.find(start);
        if position < self.entries.len() && self.entries[position].start == start {
            self.set(position, RETRANS | EVER, 0);
            self.entries[position].sent = now;
        }
    }

    /// The recorded retransmission of the segment at `start` leaves only now. Returns whether it is still outstanding.
    pub(crate) fn resent_late(&mut self, start: u32, now: Tick) -> bool {
        let position = self.find(start);
        let entry = self.entries.get_mut(position).filter(|entry| entry.start == start);
        let due = entry.filter(|entry| entry.flags & (RETRANS | SACKED) == RETRANS);
        due.map(|entry| entry.sent = now).is_some()
    }

    /// The last segment was truncated: the flight ends at `end`.
    pub(crate) fn cut_end(&mut self, end: u32) {
        if !self.entries.is_empty() {
            self.end = end;
            self.last_is_full = false;
        }
    }

    /// The retransmission of the segment at `start` was truncated at `end`: the rest keeps its previous state.
    pub(crate) fn cut(&mut self, start: u32, end: u32) {
        let position = self.find(start);
        if self.entries.get(position).is_none_or(|entry| entry.start != start) {
            return;
        }
        let entry = self.entries[position];
        let rest = self.len_at(position).saturating_sub(span(start, end));
        if rest == 0 {
            // It was truncated there before.
            return;
        }
        self.account(entry.flags & RETRANS, rest, -1);
        let flags = entry.flags & !RETRANS;
        self.entries.insert(position + 1, Entry { start: end, flags, ..entry });
        let index = self.index(position);
        for mark in [&mut self.judged, &mut self.guess_from, &mut self.repair_from] {
            *mark = if before(index, *mark) { mark.wrapping_add(1) } else { *mark };
        }
        if flags & LOST != 0 {
            self.repair_from = earlier(self.repair_from, index.wrapping_add(1));
        }
    }

    /// RACK (RFC 8985, section 6.2, step 5): marks segments as lost that were sent before `latest` and at least
    /// `rtt + window` ps ago. Returns the ps from `now` until further segments may be lost.
    pub(crate) fn lose_older(
        &mut self,
        latest: (Tick, u32),
        rtt: u64,
        window: u64,
        now: Tick,
    ) -> Option<u64> {
        let young = |head: &Entry| head.flags & (SACKED | EVER) == 0 && now.since(head.sent) < rtt + window;
        if self.lost | self.retrans == 0 && self.entries.front().is_some_and(young) {
            return self.wait_for_youngest(latest, rtt + window, now);
        }
        let mut wait = None;
        for position in 0..self.entries.len() {
            let entry = self.entries[position];
            if entry.flags & EVER == 0 && entry.sent.after(latest.0) {
                break;
            }
            if entry.flags & SACKED != 0 || entry.flags & (LOST | RETRANS) == LOST {
                continue;
            }
            if !self.sent_before(position, latest) {
                continue;
            }
            let age = now.since(entry.sent);
            if age >= rtt + window {
                self.set(position, LOST, RETRANS);
            } else {
                let left = rtt + window - age;
                wait = Some(wait.map_or(left, |wait: u64| wait.max(left)));
            }
        }
        wait
    }

    /// Whether the entry was sent before `latest` (RFC 8985, section 6.2, step 2).
    fn sent_before(&self, position: usize, latest: (Tick, u32)) -> bool {
        let entry = self.entries[position];
        let end = entry.start.wrapping_add(self.len_at(position));
        latest.0.after(entry.sent) || (latest.0 == entry.sent && before(end, latest.1))
    }

    /// [`Self::lose_older`] without retransmissions and with a head that is too recent: then nothing is lost, and
    /// the entry with the longest wait is the last one not reported.
    fn wait_for_youngest(&self, latest: (Tick, u32), patience: u64, now: Tick) -> Option<u64> {
        let below = self.find(latest.1);
        let open = |&position: &usize| self.entries[position].flags & SACKED == 0;
        let position = (0..below).rev().filter(open).find(|&position| self.sent_before(position, latest))?;
        Some(patience.saturating_sub(now.since(self.entries[position].sent)))
    }

    /// After a timeout with RACK: the head, and segments at least `rtt + window` old, are lost.
    pub(crate) fn lose_overdue(&mut self, rtt: u64, window: u64, now: Tick) {
        for position in 0..self.entries.len() {
            let entry = self.entries[position];
            if entry.flags & SACKED != 0 || entry.flags & (LOST | RETRANS) == LOST {
                continue;
            }
            if position == 0 || now.since(entry.sent) >= rtt + window {
                self.set(position, LOST, RETRANS);
            }
        }
    }

    /// Undoes all loss marks (RFC 5682 and undo): the segments are in flight after all.
    pub(crate) fn unlose_all(&mut self) {
        for position in 0..self.entries.len() {
            self.set(position, 0, LOST);
        }
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }
}
