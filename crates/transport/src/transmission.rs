//! Segments out: selects and writes the next one, from everything due and the data that the
//! [`Sender`](crate::sender::Sender) may send.
//!
//! Normally that is the next piece of data, if the windows have room. Once the scoreboard holds single
//! segments, [`crate::recovery`] decides.

use weft_units::Time;

use crate::config::{Config, EcnMode, LossRecovery};
use crate::departures::Piece;
use crate::endpoint::{Endpoint, State};
use crate::segment::{Ecn, Flags, Segment};
use crate::sender::{Phase, Timer, fact};
use crate::{receiver, todo};

/// Maximum window in a SYN, which is not scaled (RFC 7323, section 2.2).
pub(crate) const SYN_WINDOW: u32 = 65_535;

impl Endpoint {
    /// Writes the next segment to send into `out` and returns `true`, or returns `false` if there is none.
    /// Only the first `sack_count` of `out.sacks` are written.
    #[inline]
    pub fn poll_transmit(&mut self, cfg: &Config, now: Time, out: &mut Segment) -> bool {
        if cfg.small_queues && self.tx.held_until <= now {
            self.tx.held_until = Time::MAX;
        }
        if cfg.pacing {
            self.tx.paced_until = Time::MAX;
        }
        let due = self.todo | self.tx.todo | self.rx.todo;
        if due & !todo::ACK != 0 && self.poll_special(cfg, now, out) {
            return true;
        }
        let tx = &self.tx;
        let data = tx.unsent != 0 || tx.snd_nxt != tx.snd_max || tx.is(fact::SPLIT);
        if data
            && self.carries_data()
            && let Some(piece) = self.next_data(cfg, now)
        {
            self.emit(cfg, now, out, piece);
            return true;
        }
        if self.rx.todo & todo::ACK != 0 {
            self.emit_ack(cfg, now, out);
            return true;
        }
        false
    }

    #[inline]
    fn next_data(&mut self, cfg: &Config, now: Time) -> Option<Piece> {
        let tx = &mut self.tx;
        if tx.is(fact::SPLIT) {
            // ns-3 sends nothing in FIN-WAIT-1 before it detects a loss.
            let stops = cfg.loss_recovery != LossRecovery::Standard && tx.phase == Phase::Open;
            let stops = stops && self.state == State::FinWait1;
            return if stops { None } else { tx.next_by_scoreboard(cfg, now) };
        }
        let used = tx.used();
        let len = tx.next_len(cfg);
        if len == 0 {
            return None;
        }
        if used == 0 {
            tx.restart_after_idle(cfg, now);
        }
        if used.saturating_add(len) > tx.congestion.controller(cfg).window() {
            return None;
        }
        tx.next_if_allowed(cfg, now, len)
    }

    /// Sends segments with priority over data, except ACKs that may wait.
    #[cold]
    fn poll_special(&mut self, cfg: &Config, now: Time, out: &mut Segment) -> bool {
        if self.todo & todo::RST != 0 {
            self.todo = 0;
            self.tx.todo = 0;
            self.header(cfg, now, out);
            out.flags = Flags::RST | Flags::ACK;
            return true;
        }
        if self.todo & todo::SYN != 0 {
            self.emit_syn(cfg, now, out);
            return true;
        }
        if self.rx.todo & todo::ACK_FIRST != 0 {
            if self.rx.is(receiver::fact::PRIOR_ACK) {
                self.emit_prior_ack(cfg, now, out);
            } else {
                self.emit_ack(cfg, now, out);
                self.rx.quick = cfg.quick_acks;
            }
            return true;
        }
        if let Some(piece) = self.tx.next_forced(cfg, now) {
            self.emit(cfg, now, out, piece);
            return true;
        }
        if self.tx.todo & todo::WINDOW_PROBE != 0 {
            self.tx.todo &= !todo::WINDOW_PROBE;
            self.header(cfg, now, out);
            out.seq = self.tx.snd_una.wrapping_sub(1);
            return true;
        }
        if self.tx.todo & todo::TAIL_PROBE != 0 {
            self.tx.todo &= !todo::TAIL_PROBE;
            if let Some(piece) = self.tx.tail_probe(cfg, now) {
                self.emit(cfg, now, out, piece);
                self.tx.tail_probe_left(cfg, now, piece);
                return true;
            }
        }
        if self.tx.todo & todo::FIN != 0 && self.carries_data() {
            self.emit_fin(cfg, now, out);
            return true;
        }
        false
    }

    /// Writes the fields common to all segments after the handshake, including the ACK.
    #[inline]
    fn header(&mut self, cfg: &Config, now: Time, out: &mut Segment) {
        self.rx.write_ack(cfg, now, out);
        out.seq = self.tx.snd_nxt;
        out.len = 0;
        out.ecn = Ecn::NotEct;
        out.sack_count = 0;
        out.options = cfg.plain_options();
        out.retransmission = false;
    }

    #[inline]
    fn emit(&mut self, cfg: &Config, now: Time, out: &mut Segment, piece: Piece) {
        self.header(cfg, now, out);
        self.tx.send(cfg, now, out, piece);
        if out.flags.has(Flags::FIN) {
            self.note_fin_sent();
        }
    }

    fn emit_syn(&mut self, cfg: &Config, now: Time, out: &mut Segment) {
        self.todo &= !todo::SYN;
        let answer = self.state == State::SynReceived;
        self.header(cfg, now, out);
        out.seq = self.tx.snd_una.wrapping_sub(1);
        out.window = self.rx.rcv_wnd.min(SYN_WINDOW);
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
        } else if self.tx.is(fact::ECN) {
            out.flags |= Flags::ECE;
        }
        out.options = syn_options(cfg);
        let tx = &mut self.tx;
        if tx.timer_at != Time::MAX {
            return;
        }
        tx.timer = Timer::Retransmit;
        tx.timer_at =
            now + (cfg.syn_timeout * (1 << tx.backoff.min(32))).min(cfg.max_rto.max(cfg.syn_timeout));
        if tx.backoff > 0 {
            tx.clear(fact::TIMED);
        } else {
            tx.time_segment(tx.snd_una, now);
        }
    }

    /// An ACK without data, with SACK blocks for out-of-order data.
    #[inline]
    fn emit_ack(&mut self, cfg: &Config, now: Time, out: &mut Segment) {
        self.header(cfg, now, out);
        out.seq = self.tx.snd_max.wrapping_add(u32::from(self.tx.is(fact::FIN_SENT)));
        self.rx.write_sacks(cfg, out);
    }

    /// RFC 8257, section 3.2: acknowledges the data before the mark changed, with the previous mark state.
    fn emit_prior_ack(&mut self, cfg: &Config, now: Time, out: &mut Segment) {
        let (delayed, due, at) = (self.rx.delayed, self.rx.todo & todo::ACK, self.rx.ack_timer_at);
        self.emit_ack(cfg, now, out);
        let rx = &mut self.rx;
        rx.clear(receiver::fact::PRIOR_ACK);
        (rx.delayed, rx.ack_timer_at, rx.last_ack_sent) = (delayed, at, rx.prior_ack);
        rx.todo |= due;
        out.ack = rx.prior_ack;
        out.flags = Flags(out.flags.0 ^ Flags::ECE.0);
    }

    /// A FIN without data.
    fn emit_fin(&mut self, cfg: &Config, now: Time, out: &mut Segment) {
        self.header(cfg, now, out);
        out.seq = self.tx.snd_max;
        out.flags |= Flags::FIN;
        if cfg.loss_recovery == LossRecovery::Ns3v37 && self.state == State::CloseWait {
            // ns-3 acknowledges the other side's FIN after its own.
            self.rx.todo |= todo::ACK;
        }
        self.tx.fin_leaves();
        self.note_fin_sent();
        if cfg.loss_recovery == LossRecovery::Ns3v37 && self.state == State::LastAck {
            self.tx.timer = Timer::Retransmit;
            self.tx.timer_at = now + self.tx.rtt.bare_timeout(cfg);
        } else if self.tx.timer_at == Time::MAX {
            self.tx.start_timer(cfg, now);
        }
    }

    fn note_fin_sent(&mut self) {
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            state => state,
        };
    }

    /// Truncates the segment just written into `out` to its first `len` bytes, see [`Sender::cut`].
    ///
    /// [`Sender::cut`]: crate::sender::Sender::cut
    #[cold]
    pub(crate) fn cut(&mut self, cfg: &Config, out: &mut Segment, len: u16) {
        if !out.retransmission && out.flags.has(Flags::FIN) {
            self.state = if self.state == State::LastAck { State::CloseWait } else { State::Established };
        }
        self.tx.cut(cfg, out, len);
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
