//! Which segments are lost: by the reports above them (RFC 6675), by time (RACK), after a timeout.

use super::Sent;
use crate::send_order::SendOrder;
use crate::sent_segment::{EVER, Entry, LOST, RETRANS, SACKED};
use crate::seq::{before, later};
use crate::tick::Tick;

impl Sent {
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

    /// After a timeout: everything not reported is lost, including retransmissions.
    pub(crate) fn lose_all(&mut self) {
        for position in 0..self.entries.len() {
            let lost = if self.entries[position].flags & SACKED == 0 { LOST } else { 0 };
            self.set(position, lost, RETRANS);
        }
        self.repair_from = self.base;
    }

    /// RACK (RFC 8985, section 6.2, step 5): marks segments as lost that were sent before `latest` and at least
    /// `rtt + window` ps ago. Returns the ps from `now` until further segments may be lost.
    pub(crate) fn lose_older(&mut self, latest: SendOrder, rtt: u64, window: u64, now: Tick) -> Option<u64> {
        let young = |head: &Entry| head.flags & (SACKED | EVER) == 0 && now.since(head.sent) < rtt + window;
        if self.lost | self.retrans == 0 && self.entries.front().is_some_and(young) {
            return self.wait_for_youngest(latest, rtt + window, now);
        }
        let mut wait = None;
        for position in 0..self.entries.len() {
            let entry = self.entries[position];
            if entry.flags & EVER == 0 && entry.sent.after(latest.sent) {
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
    fn sent_before(&self, position: usize, latest: SendOrder) -> bool {
        let entry = self.entries[position];
        let end = entry.start.wrapping_add(self.len_at(position));
        latest.is_after(SendOrder { sent: entry.sent, end })
    }

    /// [`Self::lose_older`] without retransmissions and with a head that is too recent: then nothing is lost, and
    /// the entry with the longest wait is the last one not reported.
    fn wait_for_youngest(&self, latest: SendOrder, patience: u64, now: Tick) -> Option<u64> {
        let below = self.find(latest.end);
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
}
