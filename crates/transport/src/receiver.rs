//! The receiving half: payload in, acknowledgements due.

use weft_units::Time;

use crate::config::{Config, EcnMode, LossRecovery};
use crate::endpoint::{Endpoint, State, fact, todo};
use crate::segment::{Ecn, Flags, Segment, window};
use crate::seq::{at_or_before, before, earlier, later, span};

impl Endpoint {
    /// Takes the payload and the FIN of an acceptable segment (RFC 9293, section 3.10.7.4, steps 7 and 8).
    #[inline]
    pub(crate) fn on_data(&mut self, cfg: &Config, now: Time, seg: &Segment) {
        let end = seg.seq.wrapping_add(u32::from(seg.len));
        if !seg.retransmission {
            self.stats.first_transmissions_received = self.stats.first_transmissions_received.wrapping_add(1);
            if before(seg.seq, self.rcv_high) {
                self.stats.out_of_order = self.stats.out_of_order.wrapping_add(1);
            }
        }
        let plain = seg.seq == self.rcv_nxt
            && !self.is(fact::HOLES)
            && u32::from(seg.len) <= self.rcv_wnd
            && !seg.flags.has(Flags::FIN)
            && !self.is(fact::PEER_FINISHED);
        if plain {
            self.rcv_high = later(self.rcv_high, end);
            self.take(cfg, end);
            self.acknowledge(cfg, now);
        } else {
            self.on_odd_data(cfg, now, seg, end);
        }
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

    /// Processes data that is out of order, duplicate, beyond the window, or the last.
    #[cold]
    fn on_odd_data(&mut self, cfg: &Config, now: Time, seg: &Segment, end: u32) {
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
        self.take_fin(cfg, now);
        let advanced = span(old, self.rcv_nxt);
        let in_order = advanced > 0 && advanced == u32::from(seg.len) && !self.is(fact::HOLES);
        if in_order {
            self.acknowledge(cfg, now);
        } else {
            // RFC 5681, section 4.2: at once when out of order, repeated or filling a gap.
            self.todo |= todo::ACK;
        }
        if cfg.loss_recovery == LossRecovery::Ns3v37
            && self.state == State::CloseWait
            && seg.flags.has(Flags::FIN)
        {
            // ns-3 acknowledges the data of this segment before it notifies the application.
            self.todo |= todo::ACK_FIRST;
        }
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
            self.duplicate = (start, end);
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

    /// Acts on the FIN once everything before it was received (RFC 9293, section 3.10.7.4, step 8).
    fn take_fin(&mut self, cfg: &Config, now: Time) {
        if !self.is(fact::PEER_FINISHED) || self.rcv_nxt != self.rcv_fin {
            return;
        }
        self.state = match self.state {
            State::SynReceived | State::Established => State::CloseWait,
            State::FinWait1 if self.is(fact::FIN_ACKED) => State::TimeWait,
            State::FinWait1 => State::Closing,
            State::FinWait2 => State::TimeWait,
            _ => return,
        };
        self.rcv_nxt = self.rcv_nxt.wrapping_add(1);
        self.todo |= todo::ACK;
        if self.state == State::TimeWait {
            self.wait_before_closing(cfg, now);
        }
    }

    /// Echoes the mark of the segment (RFC 3168, section 6.1.3; RFC 8257, section 3.2).
    #[inline]
    pub(crate) fn on_ecn(&mut self, cfg: &Config, seg: &Segment) {
        let marked = seg.ecn == Ecn::Ce;
        if marked {
            self.stats.ecn_marks = self.stats.ecn_marks.wrapping_add(1);
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
            self.todo |= todo::ACK_FIRST;
            self.todo &= !todo::ACK;
            self.delayed = 0;
            self.ack_timer_at = Time::MAX;
        }
        self.facts ^= fact::ECHO;
        debug_assert_eq!(marked, self.is(fact::ECHO));
    }

    /// RFC 7323, section 4.3: which timestamp to echo.
    #[inline]
    pub(crate) fn on_timestamp(&mut self, cfg: &Config, seg: &Segment) {
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
