//! [`Receiver`]: the receiving half of a connection: payload in, acknowledgements due.
//!
//! It knows nothing of the state of the connection or of the sending half: it reports when everything before the other
//! side's FIN has arrived.

use weft_units::Time;

use crate::config::{Config, EcnMode, LossRecovery};
use crate::reassembly::Reassembly;
use crate::segment::{Ecn, Flags, Segment, window};
use crate::seq::{at_or_before, before, earlier, later, span};
use crate::todo;

/// Ticks by which a timestamp may be older than the newest (Linux: reordering within a tick).
const PAWS_SLACK: i32 = 1;

/// Flags of the receiver.
pub(crate) mod fact {
    /// The other side's FIN is known, at `rcv_fin`.
    pub(crate) const PEER_FINISHED: u8 = 1;
    /// ECN was agreed on.
    pub(crate) const ECN: u8 = 1 << 1;
    /// ACKs carry ECE.
    pub(crate) const ECHO: u8 = 1 << 2;
    /// `held` holds ranges.
    pub(crate) const HOLES: u8 = 1 << 3;
    /// An ACK up to `prior_ack` with the previous mark state is due (DCTCP).
    pub(crate) const PRIOR_ACK: u8 = 1 << 4;
    /// The next ACK reports a duplicate.
    pub(crate) const DUPLICATE: u8 = 1 << 5;
}

/// The receiving half. The fields used for every segment come last, next to the sender's.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Receiver {
    /// Bytes received in order.
    pub(crate) delivered: u64,
    /// Out-of-order ranges; the allocation is kept when empty.
    pub(crate) held: Option<Box<Reassembly>>,
    /// Own window.
    pub(crate) rcv_wnd: u32,
    /// Sequence number after the highest payload received.
    rcv_high: u32,
    pub(crate) last_ack_sent: u32,
    /// The number that an ACK due before the next one acknowledges (DCTCP).
    pub(crate) prior_ack: u32,
    rcv_fin: u32,
    /// Segments with payload received that were not retransmissions.
    pub(crate) first_transmissions: u32,
    /// First transmissions that arrived below `rcv_high`.
    pub(crate) out_of_order: u32,
    /// Segments received with a congestion mark.
    pub(crate) marks: u32,
    /// When the delayed ACK is due.
    pub(crate) ack_timer_at: Time,
    /// Next sequence number expected.
    pub(crate) rcv_nxt: u32,
    /// Timestamp to echo.
    pub(crate) ts_recent: u32,
    facts: u8,
    pub(crate) todo: u8,
    /// Segments in order since the last ACK.
    pub(crate) delayed: u8,
    /// Remaining segments to acknowledge at once.
    pub(crate) quick: u8,
}

impl Receiver {
    pub(crate) fn new(cfg: &Config) -> Self {
        let most = cfg.initial_receive_window.0.min(cfg.receive_buffer.0);
        Self { rcv_wnd: window(most), ack_timer_at: Time::MAX, quick: cfg.quick_acks, ..Self::default() }
    }

    /// Starts with the other side's SYN, which agreed on `ecn` or not.
    pub(crate) fn synchronise(&mut self, seg: &Segment, ecn: bool) {
        self.rcv_nxt = seg.seq.wrapping_add(1);
        self.rcv_high = self.rcv_nxt;
        self.last_ack_sent = self.rcv_nxt;
        self.echo(seg);
        if ecn {
            self.set(fact::ECN);
        }
    }

    /// The timestamp of a SYN is the one to echo.
    pub(crate) fn echo(&mut self, seg: &Segment) {
        if seg.flags.has(Flags::TS) {
            self.ts_recent = seg.ts_val;
        }
    }

    /// Cancels the ACKs due and discards the held ranges.
    pub(crate) fn abort(&mut self) {
        self.forget_acks();
        self.held = None;
    }

    /// No ACK is due any more.
    pub(crate) fn forget_acks(&mut self) {
        self.todo = 0;
        self.ack_timer_at = Time::MAX;
    }

    #[inline]
    pub(crate) fn is(&self, facts: u8) -> bool {
        self.facts & facts != 0
    }

    #[inline]
    fn set(&mut self, facts: u8) {
        self.facts |= facts;
    }

    #[inline]
    pub(crate) fn clear(&mut self, facts: u8) {
        self.facts &= !facts;
    }

    /// Whether part of the segment lies in the window (RFC 9293, section 3.10.7.4, first table). A pure ACK that
    /// later data has overtaken is acceptable, too; a window probe is not, because it needs a reply.
    #[inline]
    pub(crate) fn is_acceptable(&self, seg: &Segment) -> bool {
        let len = u32::from(seg.len) + u32::from(seg.flags.any(Flags::FIN | Flags::SYN));
        let offset = span(self.rcv_nxt, seg.seq);
        if len == 0 {
            let overtaken = before(seg.seq.wrapping_add(1), self.rcv_nxt) && !seg.flags.has(Flags::RST);
            return offset < self.rcv_wnd.max(1) || overtaken;
        }
        offset < self.rcv_wnd || span(self.rcv_nxt, seg.seq.wrapping_add(len - 1)) < self.rcv_wnd
    }

    /// Old or invalid: answered with an ACK, and reported as a duplicate with DSACK (RFC 2883).
    #[cold]
    pub(crate) fn on_unacceptable(&mut self, cfg: &Config, seg: &Segment) {
        if seg.flags.has(Flags::RST) {
            return;
        }
        if seg.len > 0 {
            self.count(seg);
            self.on_ecn(cfg, seg);
            if before(seg.seq, self.rcv_nxt) {
                self.note_duplicate(cfg, seg.seq, seg.seq.wrapping_add(u32::from(seg.len)));
            }
        }
        self.todo |= todo::ACK;
    }

    /// Counts a segment with payload.
    #[inline]
    fn count(&mut self, seg: &Segment) {
        if !seg.retransmission {
            self.first_transmissions = self.first_transmissions.wrapping_add(1);
            if before(seg.seq, self.rcv_high) {
                self.out_of_order = self.out_of_order.wrapping_add(1);
            }
        }
    }

    /// Takes the payload and the FIN of an acceptable segment (RFC 9293, section 3.10.7.4, steps 7 and 8). Returns whether
    /// the FIN and everything before it have arrived now.
    #[inline]
    pub(crate) fn on_data(&mut self, cfg: &Config, now: Time, seg: &Segment) -> bool {
        let end = seg.seq.wrapping_add(u32::from(seg.len));
        self.count(seg);
        let plain = seg.seq == self.rcv_nxt
            && !self.is(fact::HOLES)
            && u32::from(seg.len) <= self.rcv_wnd
            && !seg.flags.has(Flags::FIN)
            && !self.is(fact::PEER_FINISHED);
        if plain {
            self.rcv_high = later(self.rcv_high, end);
            self.take(cfg, end);
            self.acknowledge(cfg, now);
            return false;
        }
        self.on_odd_data(cfg, now, seg)
    }

    /// Moves RCV.NXT to `next`.
    #[inline]
    fn take(&mut self, cfg: &Config, next: u32) {
        let bytes = span(self.rcv_nxt, next);
        self.rcv_nxt = next;
        self.delivered += u64::from(bytes);
        let most = window(cfg.receive_buffer.0);
        if self.rcv_wnd < most {
            self.rcv_wnd = self.rcv_wnd.saturating_add(bytes.saturating_mul(2)).min(most);
        }
    }

    /// Acknowledges an in-order segment, delaying the ACK if allowed (RFC 9293, section 3.8.6.3).
    #[inline]
    fn acknowledge(&mut self, cfg: &Config, now: Time) {
        self.delayed = self.delayed.saturating_add(1);
        if self.delayed >= cfg.delayed_ack_segments || self.quick > 0 {
            self.todo |= todo::ACK;
        } else if self.ack_timer_at == Time::MAX {
            self.ack_timer_at = now + cfg.delayed_ack_timeout;
        }
    }

    /// Like [`Self::on_data`] for data that is out of order, duplicate, beyond the window, or the last, and for a FIN
    /// without data. It counts no segment.
    #[cold]
    pub(crate) fn on_odd_data(&mut self, cfg: &Config, now: Time, seg: &Segment) -> bool {
        let end = seg.seq.wrapping_add(u32::from(seg.len));
        let limit = self.rcv_nxt.wrapping_add(self.rcv_wnd);
        let (start, stop) = (later(seg.seq, self.rcv_nxt), earlier(end, limit));
        if seg.flags.has(Flags::FIN) && at_or_before(self.rcv_nxt, end) && at_or_before(end, limit) {
            self.note_fin(end);
        }
        let stop = if self.is(fact::PEER_FINISHED) { earlier(stop, self.rcv_fin) } else { stop };
        let old = self.rcv_nxt;
        if before(start, stop) {
            self.rcv_high = later(self.rcv_high, stop);
            let duplicate = self.store(cfg, start, stop);
            if duplicate {
                self.note_duplicate(cfg, seg.seq, end);
                if cfg.dsack
                    && let Some(held) = &mut self.held
                {
                    held.repeat(seg.seq, end);
                }
            }
        } else if seg.len > 0 && before(seg.seq, self.rcv_nxt) {
            self.note_duplicate(cfg, seg.seq, end);
        }
        let finishes = self.is(fact::PEER_FINISHED) && self.rcv_nxt == self.rcv_fin;
        if finishes {
            self.rcv_nxt = self.rcv_nxt.wrapping_add(1);
        }
        let advanced = span(old, self.rcv_nxt);
        let in_order = advanced > 0 && advanced == u32::from(seg.len) && !self.is(fact::HOLES);
        if in_order {
            self.acknowledge(cfg, now);
        }
        if !in_order || finishes {
            // RFC 5681, section 4.2: at once when out of order, repeated or filling a gap.
            self.todo |= todo::ACK;
        }
        finishes
    }

    /// Stores `[start, stop)` and delivers data that is in order. Returns whether all of it was held already.
    fn store(&mut self, cfg: &Config, start: u32, stop: u32) -> bool {
        if start != self.rcv_nxt {
            self.set(fact::HOLES);
            return !self.held.get_or_insert_default().insert(start, stop);
        }
        let mut next = stop;
        if self.is(fact::HOLES)
            && let Some(held) = &mut self.held
        {
            next = held.advance(stop);
            if held.is_empty() {
                self.clear(fact::HOLES);
            }
        }
        self.take(cfg, next);
        false
    }

    fn note_duplicate(&mut self, cfg: &Config, start: u32, end: u32) {
        if cfg.dsack {
            self.held.get_or_insert_default().duplicate = (start, end);
            self.set(fact::DUPLICATE);
        }
    }

    /// The other side's FIN has sequence number `seq`. The first one counts.
    fn note_fin(&mut self, seq: u32) {
        if !self.is(fact::PEER_FINISHED) && at_or_before(self.rcv_high, seq) {
            self.set(fact::PEER_FINISHED);
            self.rcv_fin = seq;
        }
    }

    /// Echoes the mark of the segment (RFC 3168, section 6.1.3; RFC 8257, section 3.2).
    #[inline]
    pub(crate) fn on_ecn(&mut self, cfg: &Config, seg: &Segment) {
        let marked = seg.ecn == Ecn::Ce;
        if marked {
            self.marks = self.marks.wrapping_add(1);
        }
        if !self.is(fact::ECN) || seg.len == 0 {
            return;
        }
        if cfg.ecn == EcnMode::Dctcp {
            if marked != self.is(fact::ECHO) {
                self.mark_changes(marked);
            }
        } else {
            if seg.flags.has(Flags::CWR) {
                self.clear(fact::ECHO);
            }
            if marked {
                self.set(fact::ECHO);
            }
        }
    }

    /// RFC 8257, section 3.2: a delayed ACK is sent at once, with the previous mark state.
    #[cold]
    fn mark_changes(&mut self, marked: bool) {
        if self.delayed > 0 {
            self.set(fact::PRIOR_ACK);
            self.prior_ack = self.rcv_nxt;
            self.todo = todo::ACK_FIRST;
            self.delayed = 0;
            self.ack_timer_at = Time::MAX;
        }
        self.facts ^= fact::ECHO;
        debug_assert_eq!(marked, self.is(fact::ECHO));
    }

    /// Returns whether the timestamp of a segment is recent enough (RFC 7323, section 5.3). An old one is answered by
    /// an ACK.
    #[inline(always)]
    pub(crate) fn check_timestamp(&mut self, cfg: &Config, seg: &Segment) -> bool {
        let old = cfg.paws && (seg.ts_val.wrapping_sub(self.ts_recent) as i32) < -PAWS_SLACK;
        if old {
            self.todo |= todo::ACK;
        }
        !old
    }

    /// Notes the timestamp of a segment to echo it, as in Linux (`tcp_ack`) only with an ACK that is valid and not old.
    #[inline(always)]
    pub(crate) fn take_timestamp(&mut self, cfg: &Config, seg: &Segment, is_valid: bool) {
        if seg.flags.has(Flags::TS) && (is_valid || cfg.loss_recovery != LossRecovery::Standard) {
            self.on_timestamp(cfg, seg);
        }
    }

    /// RFC 7323, section 4.3: which timestamp to echo.
    #[inline]
    fn on_timestamp(&mut self, cfg: &Config, seg: &Segment) {
        let exact = cfg.loss_recovery != LossRecovery::Standard;
        let at_edge = if exact {
            seg.seq == self.rcv_nxt && self.rcv_nxt == self.last_ack_sent
        } else {
            at_or_before(seg.seq, self.last_ack_sent)
        };
        if at_edge && at_or_before(self.ts_recent, seg.ts_val) {
            self.ts_recent = seg.ts_val;
        }
    }
}
