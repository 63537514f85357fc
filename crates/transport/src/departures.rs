//! Data that leaves: the piece that may go next, and the changes when it goes.

use weft_units::Time;

use crate::config::{Config, EcnMode, LossRecovery, RttSource};
use crate::segment::{Ecn, Flags, Segment};
use crate::sender::{Phase, Sender, Timer, fact};
use crate::seq::{at_or_before, before, earlier, later, span};
use crate::tick::Tick;
use crate::todo;

/// A piece of data to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Piece {
    /// This many bytes from SND.NXT on: new data, or a retransmission after going back.
    Next(u32),
    /// Bytes from a sequence number on, again. The scoreboard is already updated.
    Again { start: u32, len: u32 },
}

impl Sender {
    /// The next `len` bytes, if they fit the other side's window and do not have to wait.
    #[inline]
    pub(crate) fn next_if_allowed(&mut self, cfg: &Config, now: Time, len: u32) -> Option<Piece> {
        if len > self.room() {
            self.window_is_full(cfg, now);
            return None;
        }
        let waits = cfg.nagle && len < cfg.segment() && self.snd_una != self.snd_nxt;
        if waits && !self.is(fact::FINISHED)
            || self.hold_for_pace(cfg, now)
            || self.hold_for_interface(cfg, now, 1)
        {
            return None;
        }
        Some(Piece::Next(len))
    }

    /// The next piece that recovery sends regardless of the window.
    pub(crate) fn next_forced(&mut self, cfg: &Config, now: Time) -> Option<Piece> {
        if self.todo & todo::FORCED == 0 || self.hold_for_pace(cfg, now) {
            return None;
        }
        while let Some((start, len)) = self.loss.as_mut().and_then(|loss| loss.next_forced()) {
            if len > 0 && cfg.pacing && !self.take_held(now, start) {
                continue;
            }
            if len > 0 {
                return Some(Piece::Again { start, len });
            }
            let len = self.next_len(cfg);
            if len > 0 && len <= self.room() {
                return Some(Piece::Next(len));
            }
        }
        self.todo &= !todo::FORCED;
        None
    }

    /// If the retransmission that pacing held is still outstanding, records that it leaves now. Returns whether it is.
    fn take_held(&mut self, now: Time, start: u32) -> bool {
        self.loss.as_mut().is_some_and(|loss| loss.sent.resent_late(start, Tick::at(now)))
    }

    /// Completes `out`, whose header is written, with a piece of data that leaves now.
    #[inline]
    pub(crate) fn send(&mut self, cfg: &Config, now: Time, out: &mut Segment, piece: Piece) {
        match piece {
            Piece::Next(len) => self.send_next(cfg, now, out, len),
            Piece::Again { start, len } => self.send_again(cfg, now, out, start, len),
        }
    }

    #[inline]
    fn send_next(&mut self, cfg: &Config, now: Time, out: &mut Segment, len: u32) {
        let start = self.snd_nxt;
        let end = start.wrapping_add(len);
        let again = before(start, self.snd_max);
        if before(self.snd_max, end) {
            self.unsent = self.unsent.saturating_sub(u64::from(span(self.snd_max, end)));
            self.snd_max = end;
        }
        self.snd_nxt = end;
        out.len = len as u16;
        out.retransmission = again;
        self.data_leaves(cfg, now, out, end, again);
        if !again {
            self.note_sent(cfg, now, start, end, len);
        }
        let idle = self.timer_at == Time::MAX || self.timer == Timer::WindowProbe;
        if idle {
            if cfg.loss_recovery == LossRecovery::Ns3v23 && self.backoff == 0 {
                // ns-3.23 doubles the timeout whenever it starts the timer.
                self.backoff = 1;
            }
            self.start_timer(cfg, now);
        } else if cfg.tail_loss_probe && self.timer == Timer::TailProbe {
            self.start_timer(cfg, now);
        }
    }

    /// Records new data sent.
    #[inline]
    fn note_sent(&mut self, cfg: &Config, now: Time, start: u32, end: u32, len: u32) {
        if cfg.rack || self.is(fact::SPLIT) {
            let loss = self.loss.get_or_insert_default();
            loss.sent.push(start, end, Tick::at(now), cfg.segment());
            if self.phase.is_reducing() {
                loss.reduction.sent(len);
            }
        } else if self.phase == Phase::Reduced
            && let Some(loss) = &mut self.loss
        {
            loss.reduction.sent(len);
        }
        if cfg.rtt_source == RttSource::SendTimes && !cfg.rack && !self.is(fact::TIMED) {
            self.time_segment(end, now);
        }
    }

    fn send_again(&mut self, cfg: &Config, now: Time, out: &mut Segment, start: u32, len: u32) {
        let start = later(start, self.snd_una);
        let end = earlier(start.wrapping_add(len), self.snd_max);
        let len = if at_or_before(end, start) { 0 } else { span(start, end).min(cfg.segment()) };
        let end = start.wrapping_add(len);
        out.seq = start;
        out.len = len as u16;
        out.retransmission = true;
        if self.is(fact::TIMED) && at_or_before(start, self.timed_seq) {
            self.clear(fact::TIMED);
        }
        self.data_leaves(cfg, now, out, end, true);
        if self.timer_at == Time::MAX {
            self.start_timer(cfg, now);
        }
    }

    /// Common to new and retransmitted data.
    #[inline]
    fn data_leaves(&mut self, cfg: &Config, now: Time, out: &mut Segment, end: u32, again: bool) {
        self.segments = self.segments.wrapping_add(1);
        self.last_sent = now;
        if let Some(controller) = self.congestion.existing_mut() {
            controller.on_sent(now, u32::from(out.len));
        }
        if cfg.pacing {
            self.pace(now, out.len);
        }
        if again {
            self.retransmissions = self.retransmissions.wrapping_add(1);
        }
        if self.is(fact::ECN) {
            // RFC 3168, section 6.1.5: a retransmission is not ECN-capable. RFC 8257, section 3.5, requires all to be.
            if !again || cfg.ecn == EcnMode::Dctcp {
                out.ecn = Ecn::Ect0;
            }
            if !again && self.is(fact::CWR_DUE) {
                self.clear(fact::CWR_DUE);
                out.flags |= Flags::CWR;
            }
        }
        if self.unsent == 0 && end == self.snd_max {
            out.flags |= Flags::PSH;
            if self.is(fact::FINISHED) {
                out.flags |= Flags::FIN;
                self.fin_leaves();
            }
        }
    }

    /// A FIN leaves, with data or without.
    pub(crate) fn fin_leaves(&mut self) {
        self.set(fact::FIN_SENT);
        self.todo &= !todo::FIN;
    }

    /// Truncates the segment just written into `out` to its first `len` bytes. The rest counts as not sent: new data is
    /// still new, lost data still lost, a FIN still due.
    #[cold]
    pub(crate) fn cut(&mut self, cfg: &Config, out: &mut Segment, len: u16) {
        let was = u32::from(out.len);
        let rest = was - u32::from(len);
        let end = out.seq.wrapping_add(u32::from(len));
        let at_end = self.snd_nxt == out.seq.wrapping_add(was);
        if !out.retransmission {
            self.snd_nxt = end;
            self.snd_max = end;
            self.unsent += u64::from(rest);
            if self.is(fact::TIMED) && before(end, self.timed_seq) {
                self.timed_seq = end;
            }
            if out.flags.has(Flags::FIN) {
                self.clear(fact::FIN_SENT);
            }
        } else if at_end && cfg.loss_recovery.inflates() {
            self.snd_nxt = end;
        }
        let reducing = self.phase.is_reducing();
        if let Some(loss) = &mut self.loss {
            loss.cut(out.seq, was, end, !out.retransmission, reducing);
        }
        out.len = len;
        out.flags = Flags(out.flags.0 & !(Flags::FIN | Flags::PSH).0);
    }
}
