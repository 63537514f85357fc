//! Opening and closing a connection: RFC 9293, section 3.10.7, segment arrives.

use weft_units::Time;

use crate::config::{Config, EcnMode, LossRecovery, RttSource};
use crate::congestion::Controller;
use crate::endpoint::{Endpoint, State, fact, todo};
use crate::segment::{Flags, Segment};
use crate::seq::{at_or_before, before, span};
use crate::timers::Timer;

/// Ticks by which a timestamp may be older than the newest (Linux: reordering within a tick).
const PAWS_SLACK: i32 = 1;

impl Endpoint {
    /// Processes a segment from the other side. Never panics, whatever the segment contains; ignores what
    /// RFC 9293 and RFC 5961 require to be ignored.
    #[inline]
    pub fn on_segment(&mut self, cfg: &Config, now: Time, seg: &Segment) {
        let usual = seg.flags.0 & (Flags::SYN | Flags::FIN | Flags::RST | Flags::ACK).0 == Flags::ACK.0;
        if usual && self.state == State::Established {
            self.on_usual(cfg, now, seg);
        } else {
            self.on_unusual(cfg, now, seg);
        }
    }

    /// Whether the timestamp of a segment is not too old (RFC 7323, section 5.3). One that is gets an ACK.
    #[inline(always)]
    fn is_recent(&mut self, cfg: &Config, seg: &Segment) -> bool {
        let old = cfg.paws && (seg.ts_val.wrapping_sub(self.ts_recent) as i32) < -PAWS_SLACK;
        if old {
            self.todo |= todo::ACK;
        }
        !old
    }

    /// Notes the timestamp of a segment to echo it, as in Linux (`tcp_ack`) only with an ACK that is valid and not old.
    #[inline(always)]
    fn take_timestamp(&mut self, cfg: &Config, seg: &Segment, is_valid: bool) {
        if seg.flags.has(Flags::TS) && (is_valid || cfg.loss_recovery != LossRecovery::Standard) {
            self.on_timestamp(cfg, seg);
        }
    }

    /// An ACK, with or without data, on an open connection.
    #[inline]
    fn on_usual(&mut self, cfg: &Config, now: Time, seg: &Segment) {
        if !self.is_acceptable(seg) {
            self.on_unacceptable(cfg, seg);
            return;
        }
        if seg.flags.has(Flags::TS) && !self.is_recent(cfg, seg) {
            return;
        }
        let ahead = span(self.snd_una, seg.ack);
        let flight = span(self.snd_una, self.snd_max);
        self.take_timestamp(cfg, seg, ahead <= flight);
        if ahead <= flight {
            // A duplicate may be reported after everything was acknowledged.
            if ahead > 0 || flight > 0 || seg.window != self.snd_wnd || seg.sack_count > 0 {
                self.on_ack(cfg, now, seg, seg.ack);
            }
        } else if before(self.snd_una, seg.ack) {
            // It acknowledges data that was never sent.
            self.todo |= todo::ACK;
            return;
        }
        if seg.len > 0 {
            self.on_ecn(cfg, seg);
            self.on_data(cfg, now, seg);
        }
    }

    #[cold]
    #[inline(never)]
    fn on_unusual(&mut self, cfg: &Config, now: Time, seg: &Segment) {
        match self.state {
            // In ns-3 the listener silently absorbs segments of a closed connection.
            State::Closed if cfg.loss_recovery == LossRecovery::Ns3v37 => {}
            State::Closed => self.refuse(seg),
            State::Listen => self.on_listen(cfg, now, seg),
            State::SynSent => self.on_syn_sent(cfg, now, seg),
            _ => self.on_synchronised(cfg, now, seg),
        }
    }

    /// RFC 9293, section 3.10.7.1.
    fn refuse(&mut self, seg: &Segment) {
        if !seg.flags.has(Flags::RST) {
            self.snd_nxt = seg.ack;
            self.todo = todo::RST;
        }
    }

    /// Answers a SYN with a reset, for good (RFC 9293, section 3.10.7.1).
    pub(crate) fn refuse_syn(&mut self, seg: &Segment) {
        self.todo = todo::RST;
        self.abort();
        self.snd_nxt = 0;
        self.rcv_nxt = seg.seq.wrapping_add(1);
    }

    /// RFC 9293, section 3.10.7.2.
    fn on_listen(&mut self, cfg: &Config, now: Time, seg: &Segment) {
        if seg.flags.any(Flags::RST | Flags::ACK | Flags::FIN) || !seg.flags.has(Flags::SYN) {
            return;
        }
        self.on_syn(cfg, seg);
        self.state = State::SynReceived;
        self.todo |= todo::SYN;
        self.timed_at = now;
    }

    /// Processes the contents of a SYN.
    fn on_syn(&mut self, cfg: &Config, seg: &Segment) {
        self.rcv_nxt = seg.seq.wrapping_add(1);
        self.rcv_high = self.rcv_nxt;
        self.last_ack_sent = self.rcv_nxt;
        self.snd_wnd = seg.window;
        if seg.flags.has(Flags::TS) {
            self.ts_recent = seg.ts_val;
        }
        let asks = seg.flags.has(Flags::ECE | Flags::CWR);
        let agrees = seg.flags.has(Flags::ECE | Flags::ACK);
        if cfg.ecn != EcnMode::Off && (asks || agrees) {
            self.set(fact::ECN);
        }
    }

    /// RFC 9293, section 3.10.7.3.
    fn on_syn_sent(&mut self, cfg: &Config, now: Time, seg: &Segment) {
        let acks = seg.flags.has(Flags::ACK);
        if acks && seg.ack != self.snd_una {
            return;
        }
        if seg.flags.has(Flags::RST) {
            if acks {
                self.abort();
            }
            return;
        }
        if !seg.flags.has(Flags::SYN) {
            return;
        }
        self.on_syn(cfg, seg);
        if !acks {
            // Both sides open at once.
            self.state = State::SynReceived;
            self.todo |= todo::SYN;
            return;
        }
        self.first_sample(cfg, now, seg);
        let echoes_first = seg.flags.has(Flags::TS) && seg.ts_ecr == Self::clock(cfg, self.timed_at);
        if cfg.loss_recovery == LossRecovery::Standard && self.retries > 1 && !echoes_first {
            // RFC 5681, section 3.1: a lost SYN leaves one segment. As in Linux (`tcp_init_cwnd`), one lost SYN does
            // not, nor do needless retransmissions.
            self.congestion.controller(cfg).on_recovery(cfg.segment());
        }
        self.establish();
        self.todo |= todo::ACK_FIRST;
    }

    /// Takes the first round-trip sample from the handshake. With timestamps a retransmitted SYN counts, too: the other
    /// side echoes the one that it answers. ns-3 echoes the first one again after a lost SYN+ACK, so it measures a round
    /// trip of seconds.
    fn first_sample(&mut self, cfg: &Config, now: Time, seg: &Segment) {
        let sample = if cfg.loss_recovery == LossRecovery::Ns3v23 {
            // ns-3.23 takes no sample from the handshake.
            0
        } else if cfg.rtt_source == RttSource::Timestamps && seg.flags.has(Flags::TS) {
            self.elapsed(cfg, now, seg.ts_ecr)
        } else if self.is(fact::TIMED) {
            now.saturating_since(self.timed_at).ps()
        } else if cfg.loss_recovery == LossRecovery::Standard && seg.flags.has(Flags::TS) {
            self.elapsed(cfg, now, seg.ts_ecr)
        } else {
            0
        };
        if sample > 0 {
            self.measured(cfg, sample);
        } else if cfg.loss_recovery == LossRecovery::Standard && self.retries > 0 {
            self.rtt.stays_unknown(cfg);
        }
        self.clear(fact::TIMED);
    }

    fn establish(&mut self) {
        self.state = State::Established;
        self.todo &= !todo::SYN;
        self.backoff = 0;
        self.retries = 0;
        self.send_timer_at = Time::MAX;
        self.timer = Timer::Retransmit;
        self.note_fin_due();
    }

    /// Whether part of the segment lies in the window (RFC 9293, section 3.10.7.4, first table). A pure ACK that
    /// later data has overtaken is acceptable, too; a window probe is not, because it needs a reply.
    #[inline]
    fn is_acceptable(&self, seg: &Segment) -> bool {
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
    fn on_unacceptable(&mut self, cfg: &Config, seg: &Segment) {
        if seg.flags.has(Flags::RST) {
            return;
        }
        if seg.len > 0 {
            if !seg.retransmission {
                self.stats.first_transmissions_received += 1;
                self.stats.out_of_order += u32::from(before(seg.seq, self.rcv_high));
            }
            self.on_ecn(cfg, seg);
            let end = seg.seq.wrapping_add(u32::from(seg.len));
            if cfg.dsack && before(seg.seq, self.rcv_nxt) {
                self.duplicate = (seg.seq, end);
                self.set(fact::DUPLICATE);
            }
        }
        self.todo |= todo::ACK;
    }

    /// RFC 9293, section 3.10.7.4, for everything except plain ACKs in ESTABLISHED.
    fn on_synchronised(&mut self, cfg: &Config, now: Time, seg: &Segment) {
        if cfg.loss_recovery == LossRecovery::Ns3v37 && self.is_past_caring(seg) {
            return;
        }
        if self.state == State::SynReceived && seg.flags.has(Flags::SYN) && !seg.flags.has(Flags::RST) {
            // The other side did not receive the SYN+ACK, or both opened at once.
            if seg.seq.wrapping_add(1) == self.rcv_nxt {
                let crossed = seg.flags.has(Flags::ACK) && seg.ack == self.snd_una;
                if crossed {
                    self.establish();
                    self.todo |= todo::ACK_FIRST;
                } else {
                    self.repeat_syn(cfg, seg);
                }
            }
            return;
        }
        if seg.flags.has(Flags::SYN | Flags::ACK) && cfg.loss_recovery != LossRecovery::Standard {
            // ns-3 does not answer a repeated SYN+ACK: the next data completes the other side's handshake.
            if cfg.loss_recovery == LossRecovery::Ns3v37 {
                // But it resets the windows to their initial values, even after a timeout. Data that they allow is sent
                // at once here, in ns-3 with the next ACK.
                if let Some(controller) = self.congestion.existing_mut() {
                    controller.on_restart(cfg);
                }
                self.snd_wnd = seg.window;
            }
            return;
        }
        if !self.is_acceptable(seg) {
            if self.state == State::TimeWait {
                self.wait_before_closing(cfg, now);
            }
            self.on_unacceptable(cfg, seg);
            return;
        }
        if seg.flags.has(Flags::RST) {
            // RFC 5961, section 3: only the exact number resets; others in the window get a challenge ACK.
            if seg.seq == self.rcv_nxt {
                self.abort();
            } else {
                self.todo |= todo::ACK;
            }
            return;
        }
        if seg.flags.has(Flags::SYN) {
            // RFC 5961, section 4.
            self.todo |= todo::ACK;
            return;
        }
        if !seg.flags.has(Flags::ACK) {
            return;
        }
        let early = self.state == State::SynReceived && seg.flags.has(Flags::FIN) && seg.seq != self.rcv_nxt;
        if early && cfg.loss_recovery == LossRecovery::Ns3v37 {
            // ns-3.37 drops a FIN that overtook the end of the handshake, with its data.
            return;
        }
        if seg.flags.has(Flags::TS) && !self.is_recent(cfg, seg) {
            return;
        }
        let flight = span(self.snd_una, self.snd_max) + u32::from(self.is(fact::FIN_SENT));
        self.take_timestamp(cfg, seg, span(self.snd_una, seg.ack) <= flight);
        if !self.take_ack(cfg, now, seg) {
            return;
        }
        let receives = matches!(self.state, State::Established | State::FinWait1 | State::FinWait2);
        if (seg.len > 0 || seg.flags.has(Flags::FIN)) && receives {
            self.on_ecn(cfg, seg);
            if seg.len > 0 {
                self.on_data(cfg, now, seg);
            } else {
                self.on_bare_fin(cfg, now, seg);
            }
        } else if seg.len > 0 || seg.flags.has(Flags::FIN) {
            self.todo |= todo::ACK;
        }
    }

    /// Answers a repeated SYN.
    fn repeat_syn(&mut self, cfg: &Config, seg: &Segment) {
        self.todo |= todo::SYN;
        if cfg.loss_recovery != LossRecovery::Standard {
            // ns-3 echoes the first SYN's timestamp.
            self.clear(fact::TIMED);
        } else if seg.flags.has(Flags::TS) {
            self.ts_recent = seg.ts_val;
        }
    }

    /// Whether ns-3.37 ignores a segment without data because the connection is closing: all of them in TIME-WAIT, in
    /// LAST-ACK all but the next expected. (It also ignores data in TIME-WAIT, which the peer then retransmits
    /// forever.)
    fn is_past_caring(&self, seg: &Segment) -> bool {
        let other = self.state == State::LastAck && seg.seq != self.rcv_nxt;
        seg.len == 0 && (self.state == State::TimeWait || other)
    }

    fn on_bare_fin(&mut self, cfg: &Config, now: Time, seg: &Segment) {
        let counts = self.stats;
        self.on_data(cfg, now, seg);
        self.stats = counts;
    }

    /// Processes the ACK of a segment, in any state. Returns whether to process the rest of it.
    fn take_ack(&mut self, cfg: &Config, now: Time, seg: &Segment) -> bool {
        let fin = u32::from(self.is(fact::FIN_SENT) && !self.is(fact::FIN_ACKED));
        let ahead = span(self.snd_una, seg.ack);
        let flight = span(self.snd_una, self.snd_max);
        let of_fin = fin == 1 && ahead == flight + 1;
        if self.is(fact::FIN_ACKED) && seg.ack == self.snd_max.wrapping_add(1) {
            return true;
        }
        if ahead > flight && !of_fin {
            if before(self.snd_una, seg.ack) {
                self.todo |= todo::ACK;
                return false;
            }
            return self.state != State::SynReceived;
        }
        if self.state == State::SynReceived {
            self.snd_wnd = seg.window;
            self.first_sample(cfg, now, seg);
            self.establish();
        }
        if of_fin {
            self.fin_acked();
        }
        let ack = if of_fin { self.snd_max } else { seg.ack };
        self.on_ack(cfg, now, seg, ack);
        if of_fin {
            self.after_fin_acked(cfg, now);
        }
        true
    }

    fn fin_acked(&mut self) {
        self.set(fact::FIN_ACKED);
        self.backoff = 0;
        self.retries = 0;
        self.todo &= !todo::FIN;
    }

    fn after_fin_acked(&mut self, cfg: &Config, now: Time) {
        self.send_timer_at = Time::MAX;
        self.loss = None;
        self.clear(fact::SPLIT);
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => {
                self.state = State::TimeWait;
                self.wait_before_closing(cfg, now);
            }
            State::LastAck => {
                self.state = State::Closed;
                self.ack_timer_at = Time::MAX;
                self.todo = 0;
            }
            _ => {}
        }
    }

    pub(crate) fn wait_before_closing(&mut self, cfg: &Config, now: Time) {
        self.timer = Timer::TimeWait;
        self.send_timer_at = now + cfg.time_wait;
        debug_assert!(at_or_before(self.snd_una, self.snd_max));
    }
}
