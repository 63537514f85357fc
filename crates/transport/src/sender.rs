//! The sending half: selects and writes the next segment.
//!
//! Normally that is the next piece of data, if the windows have room. Once the scoreboard holds single
//! segments, [`crate::recovery`] decides.

use weft_units::Time;

use crate::config::{Config, EcnMode, LossRecovery, RttSource, TimestampClock};
use crate::congestion::Controller;
use crate::endpoint::{Endpoint, Phase, State, fact, todo};
use crate::recovery::Loss;
use crate::segment::{Ecn, Flags, Segment};
use crate::sent::Tick;
use crate::seq::{at_or_before, before, earlier, later, span};
use crate::timers::Timer;

/// Maximum window in a SYN, which is not scaled (RFC 7323, section 2.2).
pub(crate) const SYN_WINDOW: u32 = 65_535;

impl Endpoint {
    /// Writes the next segment to send into `out` and returns `true`, or returns `false` if there is none.
    /// Only the first `sack_count` of `out.sacks` are written.
    #[inline]
    pub fn poll_transmit(&mut self, cfg: &Config, now: Time, out: &mut Segment) -> bool {
        if cfg.small_queues && self.held_until <= now {
            self.held_until = Time::MAX;
        }
        if cfg.pacing {
            self.paced_until = Time::MAX;
        }
        if self.todo & !todo::ACK != 0 && self.poll_special(cfg, now, out) {
            return true;
        }
        let data = self.unsent != 0 || self.snd_nxt != self.snd_max || self.is(fact::SPLIT);
        if data && self.carries_data() && self.poll_data(cfg, now, out) {
            return true;
        }
        if self.todo & todo::ACK != 0 {
            self.emit_ack(cfg, now, out);
            return true;
        }
        false
    }

    /// Whether the state allows sending data, or at least retransmitting it.
    #[inline]
    fn carries_data(&self) -> bool {
        (self.state as u8).wrapping_sub(State::Established as u8)
            <= State::LastAck as u8 - State::Established as u8
    }

    /// Bytes considered in flight.
    #[inline]
    pub(crate) fn pipe(&self) -> u32 {
        let flight = span(self.snd_una, self.snd_nxt);
        match &self.loss {
            Some(loss) if self.is(fact::SPLIT) => loss.sent.pipe(flight),
            _ => flight,
        }
    }

    /// Bytes left in the other side's window.
    #[inline]
    pub(crate) fn room(&self) -> u32 {
        self.snd_wnd.saturating_sub(span(self.snd_una, self.snd_nxt))
    }

    /// Bytes of the next new segment; 0 if there is no data, or the send buffer is full.
    #[inline]
    pub(crate) fn next_len(&self, cfg: &Config) -> u32 {
        let waiting = self.unsent + u64::from(span(self.snd_nxt, self.snd_max));
        let len = waiting.min(u64::from(cfg.mss));
        if u64::from(span(self.snd_una, self.snd_nxt)) + len > cfg.send_buffer.0 { 0 } else { len as u32 }
    }

    /// Whether `len` bytes in addition to those waiting would be sent at once, as far as is known before recovery
    /// decides.
    #[inline]
    pub(crate) fn has_room_for(&self, cfg: &Config, len: u32) -> bool {
        let lost = match &self.loss {
            Some(loss) if self.is(fact::SPLIT) => loss.sent.lost().saturating_sub(loss.sent.retrans()),
            _ => 0,
        };
        let waiting = u64::from(lost) + u64::from(span(self.snd_nxt, self.snd_max)) + self.unsent;
        let ahead = waiting + u64::from(len);
        self.carries_data()
            && u64::from(self.pipe()) + ahead <= u64::from(self.congestion.state(cfg).cwnd())
            && ahead <= u64::from(self.room())
    }

    #[inline]
    fn poll_data(&mut self, cfg: &Config, now: Time, out: &mut Segment) -> bool {
        if self.is(fact::SPLIT) {
            return self.poll_scoreboard(cfg, now, out);
        }
        let used = span(self.snd_una, self.snd_nxt);
        let len = self.next_len(cfg);
        if len == 0 {
            return false;
        }
        if used == 0 {
            self.restart_after_idle(cfg, now);
        }
        if used.saturating_add(len) > self.congestion.controller(cfg).window() {
            return false;
        }
        self.poll_new(cfg, now, out, len)
    }

    /// Sends `len` bytes of new data if they fit the other side's window.
    pub(crate) fn poll_new(&mut self, cfg: &Config, now: Time, out: &mut Segment, len: u32) -> bool {
        if len > self.room() {
            self.window_is_full(cfg, now);
            return false;
        }
        let waits = cfg.nagle && len < cfg.segment() && self.snd_una != self.snd_nxt;
        if waits && !self.is(fact::FINISHED)
            || self.waits_for_pace(cfg, now)
            || self.waits_for_interface(cfg, now, 1)
        {
            return false;
        }
        self.emit_new(cfg, now, out, len);
        true
    }

    /// RFC 5681, section 4.1, before the first data after an idle time.
    pub(crate) fn restart_after_idle(&mut self, cfg: &Config, now: Time) {
        let idle = now.saturating_since(self.last_sent);
        if cfg.restart_after_idle && self.acked > 0 && idle > self.rtt.timeout(cfg, 0) {
            self.congestion.controller(cfg).on_idle(cfg);
        }
    }

    /// With nothing in flight, only a probe can detect that a closed window has opened (RFC 9293, section 3.8.6.1).
    pub(crate) fn window_is_full(&mut self, cfg: &Config, now: Time) {
        if self.snd_una == self.snd_nxt && self.send_timer_at == Time::MAX {
            self.timer = Timer::WindowProbe;
            self.send_timer_at = self.rtt.deadline(cfg, now, self.backoff);
        }
    }

    /// Sends segments with priority over data, except ACKs that may wait.
    #[cold]
    fn poll_special(&mut self, cfg: &Config, now: Time, out: &mut Segment) -> bool {
        if self.todo & todo::RST != 0 {
            self.todo = 0;
            self.header(cfg, now, out);
            out.flags = Flags::RST | Flags::ACK;
            return true;
        }
        if self.todo & todo::SYN != 0 {
            self.emit_syn(cfg, now, out);
            return true;
        }
        if self.todo & todo::ACK_FIRST != 0 {
            if self.is(fact::PRIOR_ACK) {
                self.emit_prior_ack(cfg, now, out);
            } else {
                self.emit_ack(cfg, now, out);
                self.quick = cfg.quick_acks;
            }
            return true;
        }
        if self.todo & todo::FORCED != 0 && !self.waits_for_pace(cfg, now) {
            while let Some((start, len)) = self.loss.as_mut().and_then(|loss| loss.next_forced()) {
                if len > 0 && cfg.pacing && !self.is_still_due(now, start) {
                    continue;
                }
                if len > 0 {
                    self.emit_again(cfg, now, out, start, len);
                    return true;
                }
                let len = self.next_len(cfg);
                if len > 0 && len <= self.room() {
                    self.emit_new(cfg, now, out, len);
                    return true;
                }
            }
            self.todo &= !todo::FORCED;
        }
        if self.todo & todo::WINDOW_PROBE != 0 {
            self.todo &= !todo::WINDOW_PROBE;
            self.header(cfg, now, out);
            out.seq = self.snd_una.wrapping_sub(1);
            return true;
        }
        if self.todo & todo::TAIL_PROBE != 0 {
            self.todo &= !todo::TAIL_PROBE;
            if self.poll_tail_probe(cfg, now, out) {
                return true;
            }
        }
        if self.todo & todo::FIN != 0 && self.carries_data() {
            self.todo &= !todo::FIN;
            self.header(cfg, now, out);
            out.seq = self.snd_max;
            out.flags |= Flags::FIN;
            if cfg.loss_recovery == LossRecovery::Ns3v37 && self.state == State::CloseWait {
                // ns-3 acknowledges the other side's FIN after its own.
                self.todo |= todo::ACK;
            }
            self.fin_leaves();
            if cfg.loss_recovery == LossRecovery::Ns3v37 && self.state == State::LastAck {
                self.timer = Timer::Retransmit;
                self.send_timer_at = now + self.rtt.bare_timeout(cfg);
            } else if self.send_timer_at == Time::MAX {
                self.start_timer(cfg, now);
            }
            return true;
        }
        false
    }

    /// Schedules a FIN without data if all data was sent and no segment carried the FIN.
    pub(crate) fn note_fin_due(&mut self) {
        let sendable = matches!(self.state, State::Established | State::CloseWait);
        if sendable && self.is(fact::FINISHED) && !self.is(fact::FIN_SENT) && self.unsent == 0 {
            self.todo |= todo::FIN;
        }
    }

    fn fin_leaves(&mut self) {
        self.set(fact::FIN_SENT);
        self.todo &= !todo::FIN;
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            state => state,
        };
    }

    /// Ticks of the timestamp clock.
    #[inline]
    pub(crate) fn clock(cfg: &Config, now: Time) -> u32 {
        match cfg.timestamp_clock {
            TimestampClock::Millisecond => (now.ps() / 1_000_000_000) as u32,
            TimestampClock::Microsecond => (now.ps() / 1_000_000) as u32,
        }
    }

    /// Writes the fields common to all segments after the handshake, including the ACK.
    #[inline]
    fn header(&mut self, cfg: &Config, now: Time, out: &mut Segment) {
        let mut flags = Flags::ACK;
        if cfg.timestamps {
            flags |= Flags::TS;
            out.ts_val = Self::clock(cfg, now);
            out.ts_ecr = self.ts_recent;
        }
        if self.is(fact::ECHO) {
            flags |= Flags::ECE;
        }
        out.seq = self.snd_nxt;
        out.ack = self.rcv_nxt;
        out.window = self.rcv_wnd;
        out.len = 0;
        out.flags = flags;
        out.ecn = Ecn::NotEct;
        out.sack_count = 0;
        out.options = cfg.plain_options();
        out.retransmission = false;
        self.todo &= !(todo::ACK | todo::ACK_FIRST);
        self.delayed = 0;
        self.ack_timer_at = Time::MAX;
        self.last_ack_sent = self.rcv_nxt;
    }

    fn emit_syn(&mut self, cfg: &Config, now: Time, out: &mut Segment) {
        self.todo &= !todo::SYN;
        let answer = self.state == State::SynReceived;
        self.header(cfg, now, out);
        out.seq = self.snd_una.wrapping_sub(1);
        out.window = self.rcv_wnd.min(SYN_WINDOW);
        out.flags = Flags::SYN;
        if answer {
            out.flags |= Flags::ACK;
        } else {
            out.ack = 0;
        }
        if cfg.timestamps {
            out.flags |= Flags::TS;
        }
        // RFC 3168, section 6.1.1: a SYN requests ECN with both bits, the SYN+ACK agrees with one.
        if cfg.ecn != EcnMode::Off && !answer {
            out.flags |= Flags::ECE | Flags::CWR;
        } else if self.is(fact::ECN) {
            out.flags |= Flags::ECE;
        }
        out.options = syn_options(cfg);
        if self.send_timer_at != Time::MAX {
            return;
        }
        self.timer = Timer::Retransmit;
        self.send_timer_at =
            now + (cfg.syn_timeout * (1 << self.backoff.min(32))).min(cfg.max_rto.max(cfg.syn_timeout));
        if self.backoff > 0 {
            self.clear(fact::TIMED);
        } else {
            self.time_segment(self.snd_una, now);
        }
    }

    pub(crate) fn time_segment(&mut self, end: u32, now: Time) {
        self.timed_seq = end;
        self.timed_at = now;
        self.set(fact::TIMED);
    }

    /// An ACK without data, with SACK blocks for out-of-order data.
    #[inline]
    fn emit_ack(&mut self, cfg: &Config, now: Time, out: &mut Segment) {
        self.header(cfg, now, out);
        self.quick = self.quick.saturating_sub(1);
        out.seq = self.snd_max.wrapping_add(u32::from(self.is(fact::FIN_SENT)));
        if cfg.sack && self.is(fact::HOLES | fact::DUPLICATE) {
            self.report(cfg, out);
        }
    }

    /// RFC 2018, section 4, with a duplicate first (RFC 2883).
    #[cold]
    fn report(&mut self, cfg: &Config, out: &mut Segment) {
        let most = if cfg.timestamps { 3 } else { 4 };
        let mut count = 0;
        if self.is(fact::DUPLICATE) {
            self.clear(fact::DUPLICATE);
            out.sacks[0] = self.duplicate;
            count = 1;
        }
        if let Some(held) = &self.held {
            for &block in held.blocks().iter().take(most - count) {
                out.sacks[count] = block;
                count += 1;
            }
        }
        if count > 0 {
            out.sack_count = count as u8;
            out.options = sack_options(cfg, count as u8);
        }
    }

    /// RFC 8257, section 3.2: acknowledges the data before the mark changed, with the previous mark state.
    fn emit_prior_ack(&mut self, cfg: &Config, now: Time, out: &mut Segment) {
        let (delayed, due, at) = (self.delayed, self.todo & todo::ACK, self.ack_timer_at);
        self.emit_ack(cfg, now, out);
        self.clear(fact::PRIOR_ACK);
        self.delayed = delayed;
        self.todo |= due;
        self.ack_timer_at = at;
        self.last_ack_sent = self.prior_ack;
        out.ack = self.prior_ack;
        out.flags = Flags(out.flags.0 ^ Flags::ECE.0);
    }

    /// Sends the next `len` bytes from SND.NXT on: new data, or a retransmission after going back.
    #[inline]
    pub(crate) fn emit_new(&mut self, cfg: &Config, now: Time, out: &mut Segment, len: u32) {
        self.header(cfg, now, out);
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
        let idle = self.send_timer_at == Time::MAX || self.timer == Timer::WindowProbe;
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
            if matches!(self.phase, Phase::Recovery | Phase::Reduced) {
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

    /// Retransmits `[start, start + len)`; the scoreboard is already updated.
    pub(crate) fn emit_again(&mut self, cfg: &Config, now: Time, out: &mut Segment, start: u32, len: u32) {
        self.header(cfg, now, out);
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
        if self.send_timer_at == Time::MAX {
            self.start_timer(cfg, now);
        }
    }

    /// Whether a retransmission recorded before pacing held it is still needed; if so, it leaves now.
    fn is_still_due(&mut self, now: Time, start: u32) -> bool {
        self.loss.as_mut().is_some_and(|loss| loss.sent.resent_late(start, Tick::at(now)))
    }

    /// Common to new and retransmitted data.
    #[inline]
    fn data_leaves(&mut self, cfg: &Config, now: Time, out: &mut Segment, end: u32, again: bool) {
        self.stats.data_segments_sent = self.stats.data_segments_sent.wrapping_add(1);
        self.last_sent = now;
        if let Some(controller) = self.congestion.existing_mut() {
            controller.on_sent(now, u32::from(out.len));
        }
        if cfg.pacing {
            self.pace(now, out.len);
        }
        if again {
            self.stats.retransmissions = self.stats.retransmissions.wrapping_add(1);
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

    /// Truncates the segment just written into `out` to its first `len` bytes. The rest counts as not sent: new data is
    /// still new, lost data still lost.
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
                self.state = if self.state == State::LastAck { State::CloseWait } else { State::Established };
            }
        } else if at_end && cfg.loss_recovery.inflates() {
            self.snd_nxt = end;
        }
        let reducing = matches!(self.phase, Phase::Recovery | Phase::Reduced);
        if let Some(loss) = &mut self.loss {
            loss.cut(out.seq, was, end, !out.retransmission, reducing);
        }
        out.len = len;
        out.flags = Flags(out.flags.0 & !(Flags::FIN | Flags::PSH).0);
    }

    /// Marks a segment on the scoreboard as retransmitted.
    pub(crate) fn note_resent(&mut self, now: Time, start: u32, len: u32, ts: u32) {
        let reducing = matches!(self.phase, Phase::Recovery | Phase::Reduced);
        let loss = self.loss.get_or_insert_default();
        loss.resent(start, len, Tick::at(now), ts, reducing);
    }
}

impl Loss {
    fn resent(&mut self, start: u32, len: u32, now: Tick, ts: u32, reducing: bool) {
        self.sent.resent(start, now);
        self.undo.resent(ts);
        if reducing {
            self.reduction.sent(len);
        }
    }
}

/// Option bytes of a SYN. ns-3 sends timestamps (10), window scale (3) and SACK-permitted (2); the other profiles
/// also send the MSS (4).
fn syn_options(cfg: &Config) -> u8 {
    let mut bytes = 3;
    if cfg.timestamps {
        bytes += 10;
    }
    if cfg.sack {
        bytes += 2;
    }
    if cfg.loss_recovery == LossRecovery::Standard {
        bytes += 4;
    }
    (bytes + 3) & !3
}

/// Option bytes of an ACK with `count` SACK blocks: Linux aligns timestamps and blocks, ns-3 only the sum.
pub(crate) fn sack_options(cfg: &Config, count: u8) -> u8 {
    if cfg.loss_recovery == LossRecovery::Standard {
        cfg.plain_options() + 4 + 8 * count
    } else {
        let bytes = if cfg.timestamps { 10 } else { 0 } + 2 + 8 * count;
        (bytes + 3) & !3
    }
}
