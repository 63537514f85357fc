//! The next retransmission, and the record of earlier ones.

use super::Sent;
use crate::sent_segment::{EVER, Entry, LOST, RETRANS, SACKED};
use crate::seq::{before, earlier, span};
use crate::tick::Tick;

impl Sent {
    /// Whether the head ends at `end`, was retransmitted and is not reported.
    pub(crate) fn head_in_repair(&self, end: u32) -> bool {
        !self.entries.is_empty()
            && self.entries[0].start.wrapping_add(self.len_at(0)) == end
            && self.entries[0].flags & (RETRANS | SACKED) == RETRANS
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
}
