//! Arrivals that the receiver reports by SACK, or that the sender assumes from a duplicate ACK without SACK.

use std::ops::Range;

use super::Sent;
use crate::news::News;
use crate::sent_segment::{LOST, RETRANS, SACKED};
use crate::seq::{at_or_before, before};

impl Sent {
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
                self.mark_sacked(left..right, left..l, keep_retrans, news);
                self.mark_sacked(left..right, r..right, keep_retrans, news);
            }
            None => self.mark_sacked(left..right, left..right, keep_retrans, news),
        }
    }

    /// Marks the segments inside `block` that overlap `part` of it; both may wrap around.
    fn mark_sacked(&mut self, block: Range<u32>, part: Range<u32>, keep_retrans: bool, news: &mut News) {
        if !before(part.start, part.end) {
            return;
        }
        let clear = if keep_retrans { LOST } else { LOST | RETRANS };
        let mut first = self.find(part.start);
        if first > 0 && !before(self.entries[first - 1].start, block.start) {
            first -= 1;
        }
        for position in first..self.entries.len() {
            let entry = self.entries[position];
            let len = self.len_at(position);
            let end = entry.start.wrapping_add(len);
            if before(block.end, end) || !before(entry.start, part.end) {
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
}
