//! [`Sender`]: the sending half of a connection: the send sequence variables, windows, round-trip time and timer.
//!
//! It knows nothing of the state of the connection or of the receiving half. Files build on it in this order:
//! `samples.rs` and `pacing.rs`, `departures.rs` (segments that leave), `recovery/` (ACKs and timeouts).

use weft_units::{Duration, Time};

use crate::config::{Config, LossRecovery};
use crate::congestion::any::Congestion;
use crate::recovery::loss::Loss;
use crate::rtt::Rtt;
use crate::seq::{before, span};

/// The congestion state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub(crate) enum Phase {
    /// No sign of loss or congestion.
    #[default]
    Open,
    /// Duplicate ACKs or SACKs arrived, too few for a loss.
    Disorder,
    /// The window is being reduced after a mark.
    Reduced,
    /// Fast recovery.
    Recovery,
    /// Recovery from a timeout.
    Loss,
}

impl Phase {
    /// Whether the window is being reduced.
    #[inline]
    pub(crate) fn is_reducing(self) -> bool {
        matches!(self, Self::Recovery | Self::Reduced)
    }
}

/// The purpose of the sender's timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub(crate) enum Timer {
    /// Retransmission (RFC 6298) of a SYN, data or a FIN.
    #[default]
    Retransmit,
    /// RACK's reordering timer (RFC 8985, section 6.2).
    Reorder,
    /// Tail loss probe (RFC 8985, section 7).
    TailProbe,
    /// Zero-window probe (RFC 9293, section 3.8.6.1).
    WindowProbe,
    /// The end of TIME-WAIT.
    TimeWait,
}

/// Flags of the sender.
pub(crate) mod fact {
    /// The application has closed.
    pub(crate) const FINISHED: u16 = 1;
    /// A FIN was sent.
    pub(crate) const FIN_SENT: u16 = 1 << 1;
    /// It was acknowledged.
    pub(crate) const FIN_ACKED: u16 = 1 << 2;
    /// ECN was agreed on.
    pub(crate) const ECN: u16 = 1 << 3;
    /// The next new segment carries CWR.
    pub(crate) const CWR_DUE: u16 = 1 << 4;
    /// No round-trip samples up to `hold` (Karn).
    pub(crate) const HOLD_RTT: u16 = 1 << 5;
    /// `recover` guards against a second reduction.
    pub(crate) const GUARD: u16 = 1 << 6;
    /// A partial ACK was seen in this recovery.
    pub(crate) const PARTIAL_SEEN: u16 = 1 << 7;
    /// `timed_seq` was sent at `timed_at`.
    pub(crate) const TIMED: u16 = 1 << 8;
    /// The scoreboard holds single segments.
    pub(crate) const SPLIT: u16 = 1 << 9;
}

/// The ACK delay that a tail loss probe allows for with one segment in flight (Linux: the minimum RTO).
const TAIL_PROBE_ACK_DELAY: Duration = Duration::from_ms(200);
/// Added to two round-trip times otherwise (Linux: two ticks).
const TAIL_PROBE_SLACK: Duration = Duration::from_ms(2);

/// The sending half. The fields used for every segment come first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Sender {
    /// When the timer expires.
    pub(crate) timer_at: Time,
    /// Oldest sequence number not acknowledged; SYN and FIN are not counted among data.
    pub(crate) snd_una: u32,
    /// Next to send.
    pub(crate) snd_nxt: u32,
    /// Lowest number never sent: larger than `snd_nxt` only after going back.
    pub(crate) snd_max: u32,
    /// The other side's window.
    pub(crate) snd_wnd: u32,
    /// When data held by pacing may be sent; [`Time::MAX`]: none is held.
    pub(crate) paced_until: Time,
    /// Bytes written and never sent.
    pub(crate) unsent: u64,
    pub(crate) facts: u16,
    pub(crate) todo: u8,
    pub(crate) phase: Phase,
    /// How often the timeout is doubled: until the next round-trip sample.
    pub(crate) backoff: u8,
    pub(crate) timer: Timer,
    /// Consecutive timeouts without progress.
    pub(crate) retries: u8,

    pub(crate) rtt: Rtt,
    pub(crate) congestion: Congestion,
    pub(crate) loss: Option<Box<Loss>>,
    /// Bytes acknowledged.
    pub(crate) acked: u64,
    pub(crate) last_sent: Time,

    /// Sequence number at which recovery ends.
    pub(crate) recover: u32,
    /// Bytes acknowledged that do not yet fill a segment (ns-3).
    pub(crate) remainder: u32,
    /// No round-trip samples up to here.
    pub(crate) hold: u32,
    pub(crate) timed_seq: u32,
    pub(crate) timed_at: Time,
    /// End of the round trip whose largest deviation counts for the timeout.
    pub(crate) rtt_round: u32,
    /// Marks up to here were answered.
    pub(crate) cwr_end: u32,
    pub(crate) dup_acks: u32,
    /// Segments with payload sent, including retransmissions.
    pub(crate) segments: u32,
    /// Segments with payload retransmitted.
    pub(crate) retransmissions: u32,
    /// Number of fast recoveries.
    pub(crate) recoveries: u32,
    /// When data held for the interface may be sent.
    pub(crate) held_until: Time,
    /// When pacing allows the next segment.
    pub(crate) next_send: Time,
}

impl Sender {
    /// The first byte will have sequence number `first`.
    pub(crate) fn new(first: u32) -> Self {
        Self {
            timer_at: Time::MAX,
            paced_until: Time::MAX,
            held_until: Time::MAX,
            snd_una: first,
            snd_nxt: first,
            snd_max: first,
            recover: first,
            hold: first,
            rtt_round: first,
            cwr_end: first,
            ..Self::default()
        }
    }

    /// Cancels everything due and discards the unsent data.
    pub(crate) fn abort(&mut self) {
        self.todo = 0;
        self.timer_at = Time::MAX;
        self.held_until = Time::MAX;
        self.paced_until = Time::MAX;
        self.loss = None;
        self.unsent = 0;
    }

    #[inline]
    pub(crate) fn is(&self, facts: u16) -> bool {
        self.facts & facts != 0
    }

    #[inline]
    pub(crate) fn set(&mut self, facts: u16) {
        self.facts |= facts;
    }

    #[inline]
    pub(crate) fn clear(&mut self, facts: u16) {
        self.facts &= !facts;
    }

    /// Bytes between the oldest number not acknowledged and the next to send.
    #[inline]
    pub(crate) fn used(&self) -> u32 {
        span(self.snd_una, self.snd_nxt)
    }

    /// Bytes considered in flight.
    #[inline]
    pub(crate) fn pipe(&self) -> u32 {
        match &self.loss {
            Some(loss) if self.is(fact::SPLIT) => loss.sent.pipe(self.used()),
            _ => self.used(),
        }
    }

    /// Bytes left in the other side's window.
    #[inline]
    pub(crate) fn room(&self) -> u32 {
        self.snd_wnd.saturating_sub(self.used())
    }

    /// Bytes of the next new segment; 0 if there is no data, or the send buffer is full.
    #[inline]
    pub(crate) fn next_len(&self, cfg: &Config) -> u32 {
        let waiting = self.unsent + u64::from(span(self.snd_nxt, self.snd_max));
        let len = waiting.min(u64::from(cfg.mss));
        if u64::from(self.used()) + len > cfg.send_buffer.0 { 0 } else { len as u32 }
    }

    /// Whether `len` bytes in addition to those waiting fit the windows, as far as is known before recovery decides.
    #[inline]
    pub(crate) fn has_room_for(&self, cfg: &Config, len: u32) -> bool {
        let lost = match &self.loss {
            Some(loss) if self.is(fact::SPLIT) => loss.sent.lost().saturating_sub(loss.sent.retrans()),
            _ => 0,
        };
        let waiting = u64::from(lost) + u64::from(span(self.snd_nxt, self.snd_max)) + self.unsent;
        let ahead = waiting + u64::from(len);
        u64::from(self.pipe()) + ahead <= u64::from(self.congestion.state(cfg).cwnd())
            && ahead <= u64::from(self.room())
    }

    /// Moves SND.UNA. ns-3 then computes the timeout anew; otherwise it stays doubled until a sample (RFC 6298,
    /// section 5.7).
    #[inline]
    pub(crate) fn advance(&mut self, cfg: &Config, ack: u32, advanced: u32) {
        self.snd_una = ack;
        self.acked += u64::from(advanced);
        self.retries = 0;
        if cfg.loss_recovery != LossRecovery::Standard {
            self.backoff = 0;
        }
        if before(self.snd_nxt, ack) {
            self.snd_nxt = ack;
        }
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
        if self.snd_una == self.snd_nxt && self.timer_at == Time::MAX {
            self.timer = Timer::WindowProbe;
            self.timer_at = self.rtt.deadline(cfg, now, self.backoff);
        }
    }

    #[inline]
    pub(crate) fn awaits_fin_ack(&self) -> bool {
        self.facts & (fact::FIN_SENT | fact::FIN_ACKED) == fact::FIN_SENT
    }

    /// Restarts the timer after an ACK (RFC 6298, sections 5.2 and 5.3) or starts it after sending (5.1).
    #[inline]
    pub(crate) fn start_timer(&mut self, cfg: &Config, now: Time) {
        if self.snd_una == self.snd_max && !self.awaits_fin_ack() {
            self.timer_at = Time::MAX;
            return;
        }
        self.timer = Timer::Retransmit;
        let timeout = self.rtt.deadline(cfg, now, self.backoff);
        self.timer_at = timeout;
        if cfg.tail_loss_probe && self.may_probe_tail() {
            self.timer = Timer::TailProbe;
            self.timer_at = timeout.min(now + self.probe_timeout(cfg));
        }
    }

    /// RFC 8985, section 7.2: no reordering, nothing reported, no probe outstanding, a round-trip time known.
    #[inline]
    fn may_probe_tail(&self) -> bool {
        self.phase == Phase::Open
            && !self.is(fact::SPLIT)
            && self.snd_una != self.snd_nxt
            && self.rtt.srtt() > Duration::ZERO
            && self.loss.as_ref().is_some_and(|loss| !loss.probe.is_out())
    }

    #[inline]
    fn probe_timeout(&self, cfg: &Config) -> Duration {
        let twice = self.rtt.srtt() * 2;
        twice + if self.used() <= cfg.segment() { TAIL_PROBE_ACK_DELAY } else { TAIL_PROBE_SLACK }
    }

    /// Counts a timeout; returns whether it is one more than `retries`.
    pub(crate) fn count_timeout(&mut self, retries: u8) -> bool {
        if self.retries >= retries && retries < u8::MAX {
            return true;
        }
        self.retries = self.retries.saturating_add(1);
        self.backoff = self.backoff.saturating_add(1);
        false
    }
}
